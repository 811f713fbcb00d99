"""The agent gets its task, plan and checks readable; what is stored and shown of them is masked."""

import sys
from pathlib import Path

from ralph.decision.limits import Limits
from ralph.loop.runner import Runner
from ralph.store import MemoryStore
from ralph.system.secrets import MASK, Redactor
from ralph.testing import ScriptedExecutor, SeenEvents
from ralph.verifiers import CommandVerifier, ReviewVerifier
from ralph.workspace import open_workspace

TASK = '`curl -u admin:admin1 http://localhost/` must return 200. The label is password: "Kennwort".'
BLOCK = "---RALPH_STATUS---\nEXIT_SIGNAL: {}\nREASON: {}\n---END_RALPH_STATUS---"
DONE = BLOCK.format("true", "all is done")
PRINTED = "assert {'password': 'Passwort'} == {'password': 'Kennwort'}; Set-Cookie: theme=light"
KNOWN = "hunter2-hunter2"
CHECK = f"""
import pathlib
print({PRINTED!r}, {KNOWN!r})
print("name: DB_PASSWORD")
print("value: battery9staple")
raise SystemExit(not pathlib.Path("ok").exists())
"""
SECRETS = ("admin1", "Kennwort", "Passwort", "theme=light", "swordfish1", "battery9staple", KNOWN)


async def test_the_agent_is_told_what_is_stored_masked(tmp_path: Path) -> None:
    (tmp_path / "fix_plan.md").write_text('- [ ] Set password: "swordfish1" in the form\n')
    store, seen, redactor = MemoryStore(), SeenEvents(), Redactor([KNOWN])
    executor = ScriptedExecutor(then=lambda _prompt, _turn: DONE)
    (tmp_path / "check.py").write_text(CHECK)
    check = CommandVerifier([sys.executable, "check.py"], redactor=redactor)
    async with Runner(
        executor=executor,
        store=store,
        hooks=[seen],
        redactor=redactor,
        verify=[check],
        workspace=open_workspace(tmp_path, state_dir=tmp_path.parent / "state"),
        limits=Limits(max_iterations=3),
    ) as runner:
        run = await runner.run(TASK)
        prompts = tuple(prompt.text for prompt in executor.prompts)
        kept = [event.model_dump_json() async for event in store.events(run.id)]
        kept += [record.model_dump_json() async for record in store.iterations(run.id)]
        found = await store.run(run.id)
    assert all(TASK in prompt and 'password: "swordfish1"' in prompt for prompt in prompts)
    assert f"{PRINTED} {MASK}" in prompts[2], "the first claim is doubted, as the plan is open"
    assert "> value: battery9staple" in prompts[2]
    stored = "\n".join((*kept, found.model_dump_json() if found else "", repr(seen.events), repr(run)))
    assert f"'password': '{MASK}'" in stored
    assert not [secret for secret in SECRETS if secret in stored]
    assert seen.events[0].type == "run_started"
    assert any("the agent gets *** in its place" in event.text for event in seen.of("diagnosed"))


async def test_a_reviewer_is_given_the_task_as_written_and_its_words_reach_the_agent() -> None:
    said = BLOCK.format("false", 'the label is still password: "Passwort"')
    executor = ScriptedExecutor(then=lambda _prompt, turn: said if turn.read_only else DONE)
    store = MemoryStore()
    limits = Limits(max_iterations=2)
    async with Runner(executor=executor, store=store, verify=[ReviewVerifier(executor)], limits=limits) as runner:
        run = await runner.run(TASK)
        kept = [record.model_dump_json() async for record in store.iterations(run.id)]
    work, review, again, *_ = (prompt.text for prompt in executor.prompts)
    assert all(TASK in prompt for prompt in (work, review, again))
    assert 'password: "Passwort"' in again
    assert "Passwort" not in "".join(kept)


MASKED = (
    "The task is stored masked, so the agent gets *** in the place of what looked like a secret. "
    "`ralph tell` cannot bring it back: put it into a file of the workspace, and name the file by `ralph tell`."
)


async def test_after_a_resume_the_agent_gets_the_task_as_it_is_stored() -> None:
    store, executor = MemoryStore(), ScriptedExecutor(then=lambda _prompt, _turn: DONE)
    async with Runner(executor=executor, store=store, limits=Limits(max_iterations=1), verify=["false"]) as runner:
        run = await runner.run(TASK)
    seen, limits = SeenEvents(), Limits(max_iterations=2)
    async with Runner(executor=executor, store=store, limits=limits, verify=["false"], hooks=[seen]) as runner:
        await runner.resume(run.id)
        plain = await runner.run("Say that *** stands for emphasis.")
    (said,) = [event for event in seen.of("diagnosed") if "stored masked" in event.text]
    assert (said.run_id, said.text) == (run.id, MASKED)
    assert said.run_id != plain.id
    assert TASK in executor.prompts[0].text
    assert Redactor()(TASK) in executor.prompts[1].text

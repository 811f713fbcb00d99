"""Real agents from npm against a scripted model."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from ralph.executors import Confinement, PermissionPolicy, Timeouts, Turn
from ralph.prompt import Prompt
from ralph.system.sandbox import Sandbox
from ralph.testing import Call, Fail, Hang, ModelRequest, ModelServer, Say, Shell, Step, WriteFile
from ralph.types.output import Answered, Output, TimedOut
from ralph_acp import AGENTS, AcpExecutor

PROMPT = Prompt(text="Do the work, é.", task="work")


def for_the_turn(*steps: Step) -> Callable[[ModelRequest], Step]:
    """Steps for the requests that have tools; those without are for a title."""
    left = iter(steps)
    return lambda request: next(left, Say("The script has ended.")) if request.tools else Say("A title")


async def turned(executor: AcpExecutor, workspace: Path, **arguments: Any) -> Output:
    return await executor.execute(PROMPT, Turn(workspace=workspace, **arguments))


async def with_copilot(program: Path, workspace: Path, *steps: Step, **arguments: Any) -> Output:
    async with ModelServer(for_the_turn(*steps)) as server, copilot_at(program, server) as executor:
        return await turned(executor, workspace, **arguments)


def copilot_at(program: Path, server: ModelServer, **options: Any) -> AcpExecutor:
    agent = AGENTS["copilot"]()
    return AcpExecutor(agent, [str(program), *agent.arguments], model="m", base_url=server.base_url, **options)


def marked_sleepers() -> list[psutil.Process]:
    return [each for each in psutil.process_iter() if _command(each) == ["sleep", "31415"]]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def test_copilot_works_and_goes_on_with_its_session(copilot: Path, workspace: Path):
    steps = [WriteFile("hello.txt", "hi\n", "I write."), Shell("cat hello.txt"), Say("All done, é."), Say("Two.")]
    async with ModelServer(for_the_turn(*steps)) as server, copilot_at(copilot, server) as executor:
        first = await turned(executor, workspace)
        second = await turned(executor, workspace, session_id=first.session_id)
        went_on = "All done" in str(server.requests[-1].messages)
    assert (first.outcome, first.text) == (Answered(), "All done, é.")
    assert (workspace / "hello.txt").read_text() == "hi\n"
    assert [(call.name, call.success) for call in first.tool_calls] == [("edit", True), ("execute", True)]
    assert (second.text, second.session_id, went_on) == ("Two.", first.session_id, True)
    assert 0 < (second.usage.tokens or 0) < 0.7 * (first.usage.tokens or 0)


@pytest.mark.long
async def test_copilot_works_within_a_sandbox(copilot: Path, workspace: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    confinement = Confinement(sandbox=Sandbox(kind="bwrap"), workspace=workspace)
    options: dict[str, Any] = {"confinement": confinement, "permissions": PermissionPolicy(mode="approve-all")}
    script = for_the_turn(Shell(f"echo x > {outside}; echo x > inside"), Say("Done."))
    async with ModelServer(script) as server, copilot_at(copilot, server, **options) as executor:
        output = await turned(executor, workspace)
    assert output.outcome == Answered(), output.diagnostics
    assert (outside.exists(), (workspace / "inside").exists()) == (False, True)


@pytest.mark.long
async def test_copilot_is_denied_what_the_policy_denies(copilot: Path, workspace: Path):
    output = await with_copilot(copilot, workspace, Shell("git push origin main"), Say("Pushed."))
    assert output.outcome == Answered()
    assert [call.denied for call in output.tool_calls] == [True]
    assert output.text == ""


@pytest.mark.parametrize(
    ("step", "failure", "retry_after"),
    [(Fail(401), "auth", None), (Fail(429, retry_after=1), "rate_limited", 1.0), (Fail(400), "refused", None)],
    ids=["401", "429", "400"],
)
@pytest.mark.long
async def test_copilots_failures(copilot: Path, workspace: Path, step: Step, failure: str, retry_after: float | None):
    output = await with_copilot(copilot, workspace, *[step] * 6)
    assert output.failure is not None
    assert (output.failure.failure, output.failure.retry_after) == (failure, retry_after)
    assert output.text == ""


@pytest.mark.long
async def test_copilot_says_error_and_means_it_as_an_answer(copilot: Path, workspace: Path):
    output = await with_copilot(copilot, workspace, Say("Error: none is left."))
    assert (output.outcome, output.text) == (Answered(), "Error: none is left.")


@pytest.mark.long
async def test_copilot_only_looks(copilot: Path, workspace: Path):
    (workspace / "notes.md").write_text("x")
    policy = PermissionPolicy(mode="approve-all")
    async with (
        ModelServer(for_the_turn(Call("view", {"path": str(workspace / "notes.md")}), Say("Read."))) as server,
        copilot_at(copilot, server, permissions=policy) as executor,
    ):
        output = await turned(executor, workspace, read_only=True)
        asked = server.requests[0]
    assert (output.outcome, output.text) == (Answered(), "Read.")
    assert set(asked.tools) == {"glob", "grep", "view"}


@pytest.mark.long
async def test_copilot_hangs_and_its_shell_does_not_outlive_it(copilot: Path, workspace: Path):
    began = time.monotonic()
    steps = [Shell("setsid sleep 31415 >/dev/null 2>&1 & echo begun"), Hang()]
    output = await with_copilot(copilot, workspace, *steps, timeouts=Timeouts(idle=3.0))
    assert output.outcome == TimedOut(limit="idle", after=3.0)
    assert not marked_sleepers()
    assert time.monotonic() - began < 30


@pytest.mark.long
async def test_copilot_is_killed(copilot: Path, workspace: Path):
    async with ModelServer(for_the_turn(Hang())) as server, copilot_at(copilot, server) as executor:
        output: list[Output] = []

        async def turn() -> None:
            output.append(await turned(executor, workspace))

        async with anyio.create_task_group() as group:
            group.start_soon(turn)
            with anyio.fail_after(30):
                while not server.requests:  # noqa: ASYNC110 (nothing tells)
                    await anyio.sleep(0.02)
            for process in psutil.Process().children():
                if str(copilot) in _command(process):
                    process.kill()
    assert output[0].failure is not None
    assert output[0].failure.failure == "crashed"
    assert "signal 9" in output[0].failure.message


@pytest.mark.timeout(240)
@pytest.mark.long
async def test_opencode_works_and_goes_on_with_its_session(opencode: Path, workspace: Path):
    steps = [
        Call("write", {"filePath": "hello.txt", "content": "hi\n"}, "I write."),
        Shell("cat hello.txt"),
        Say("All done, é."),
        Shell("git push"),
        Say("Pushed."),
    ]
    async with ModelServer(for_the_turn(*steps)) as server, opencode_at(opencode, server) as executor:
        first = await turned(executor, workspace)
        second = await turned(executor, workspace, session_id=first.session_id)
        went_on = "All done" in str(server.requests[-1].messages)
    assert (first.outcome, first.text) == (Answered(), "All done, é.")
    assert (workspace / "hello.txt").read_text() == "hi\n"
    assert [(call.name, call.success) for call in first.tool_calls] == [("edit", True), ("execute", True)]
    assert (second.session_id, went_on, second.denials) == (first.session_id, True, 1)
    assert second.text == ""


@pytest.mark.timeout(240)
@pytest.mark.long
async def test_opencodes_key_is_not_accepted(opencode: Path, workspace: Path):
    async with ModelServer(for_the_turn(Fail(401))) as server, opencode_at(opencode, server) as executor:
        output = await turned(executor, workspace)
    assert output.failure is not None
    assert (output.failure.failure, output.text) == ("auth", "")


def opencode_at(program: Path, server: ModelServer) -> AcpExecutor:
    return AcpExecutor(
        AGENTS["opencode"](), [str(program), "acp"], model="m", base_url=server.base_url, start_timeout=120.0
    )

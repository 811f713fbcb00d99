"""What a run does for its workspace: checkpoints in the records, protected paths, commits."""

import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

import ralph.loop.checkpointing
from ralph.decision.limits import Limits
from ralph.errors import WorkspaceError
from ralph.executors.base import Turn
from ralph.hooks import Hooks
from ralph.loop.runner import Runner, new_run_id
from ralph.prompt import Prompt
from ralph.records.events import Diagnosed, Event, IterationStarted, ProtectedRestored, RunFinished
from ralph.store import MemoryStore
from ralph.testing import FakeClock, ScriptedExecutor
from ralph.types.output import Changes, Checkpoint
from ralph.verifiers import CommandVerifier
from ralph.workspace import Workspace, open_workspace
from ralph.workspace.base import NoWorkspace, Snapshot

WORKING = "I wrote it.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: more to do\n---END_RALPH_STATUS---"
DONE = "I wrote the rest.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"


class Seen(Hooks):
    def __init__(self) -> None:
        self.events: list[Event] = []

    async def on_event(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def writes(answer: str, **files: str) -> Any:
    """A reply that writes files first; a name's double underscore is a slash."""

    def reply(_prompt: Prompt, turn: Turn) -> str:
        for name, text in files.items():
            path = turn.workspace / name.replace("__", "/").replace("dotgit", ".git")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return answer

    return reply


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "config", "user.name", "A Person")
    git(folder, "config", "user.email", "person@localhost")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    return folder


async def ran(
    folder: Path, tmp_path: Path, replies: Sequence[Any], store: MemoryStore | None = None, **settings: Any
) -> tuple[Any, Seen, list[Any]]:
    """A run of so many replies: its record, what was told, and its iterations' records."""
    seen, store = Seen(), store or MemoryStore()
    workspace = open_workspace(folder, state_dir=tmp_path / "state")
    runner = Runner(
        executor=ScriptedExecutor(replies),
        workspace=workspace,
        store=store,
        hooks=[seen],
        limits=Limits(max_iterations=len(replies)),
        **settings,
    )
    async with runner:
        record = await runner.run("Write it.")
        return record, seen, [each async for each in store.iterations(record.id)]


async def test_records_and_events_name_the_checkpoints(folder: Path, tmp_path: Path) -> None:
    replies = [writes(WORKING, a="1\n"), WORKING, writes(DONE, b="2\n")]
    record, seen, iterations = await ran(folder, tmp_path, replies)
    commits = [record.checkpoint, *(each.checkpoint.commit for each in iterations)]
    (own,) = (tmp_path / "state/checkpoints").iterdir()
    held = [git(own, "ls-tree", "--name-only", commit).split() for commit in commits]
    assert held == [[], ["a"], ["a"], ["a", "b"]]
    assert commits[1] == commits[2]
    assert [event.checkpoint for event in seen.of(IterationStarted)] == commits[:3]


async def test_what_cannot_be_held_is_told_once(folder: Path, tmp_path: Path) -> None:
    (folder / "inner").mkdir()
    git(folder / "inner", "init", "-q")
    _, seen, iterations = await ran(folder, tmp_path, [writes(WORKING, a="1\n"), writes(DONE, a="2\n")])
    told = [event.text for event in seen.of(Diagnosed)]
    assert told == ["The checkpoint does not contain inner (it is a repository of its own)."]
    assert iterations[-1].checkpoint.problem == told[0]


async def test_a_protected_path_is_given_back_before_it_counts_as_a_change(folder: Path, tmp_path: Path) -> None:
    replies = [writes(WORKING, **{"ralph.toml": "verify = []\n", "dotgit__hooks__pre-push": "#!/bin/sh\n"}), DONE]
    _, seen, iterations = await ran(folder, tmp_path, replies)
    (restored,) = seen.of(ProtectedRestored)
    assert restored.paths == (".git/hooks/pre-push", "ralph.toml")
    assert restored.iteration == 1
    assert (Path(restored.aside) / "ralph.toml").read_text() == "verify = []\n"
    assert iterations[0].changes.files == ()
    assert not (folder / "ralph.toml").exists()


async def test_what_a_leftover_of_the_agent_does_after_the_last_iteration_is_taken_back(
    folder: Path, tmp_path: Path
) -> None:
    hook = folder / ".git/hooks/pre-push"

    class Leftover(Hooks):
        async def on_iteration_finished(self, event: Event) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            hook.write_text("#!/bin/sh\n")

    workspace = open_workspace(folder, state_dir=tmp_path / "state")
    executor = ScriptedExecutor([writes(DONE, a="1\n")])
    async with Runner(executor=executor, workspace=workspace, hooks=[Leftover()]) as runner:
        assert (await runner.run("Write it.")).stop_reason == "completed"
    assert not hook.exists()


async def test_who_stops_a_run_does_not_wait_for_a_slow_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ralph.loop.checkpointing, "_HURRY", 0.05)

    class Slow(NoWorkspace):
        async def checkpoint(self, run_id: str, iteration: int, moment: str, **_: Any) -> Checkpoint:
            if (iteration, moment) == (1, "after"):
                await anyio.sleep_forever()
            return Checkpoint()

    async def stops(_prompt: Prompt, _turn: Turn) -> str:
        runner.cancel("SIGINT")
        await anyio.sleep_forever()
        return DONE

    with anyio.fail_after(10):
        async with Runner(executor=ScriptedExecutor([stops]), workspace=Slow(Path("/"))) as runner:
            record = await runner.run("Write it.")
    assert (record.stop_reason, record.iterations) == ("cancelled", 1)
    assert "no time left" in record.history[0].checkpoint.problem


async def test_after_the_run_protected_paths_are_a_persons_again(folder: Path, tmp_path: Path) -> None:
    store = MemoryStore()
    record, _, _ = await ran(folder, tmp_path, [WORKING], store)
    (folder / "ralph.toml").write_text("")
    seen = Seen()
    workspace = open_workspace(folder, state_dir=tmp_path / "state")
    limits = Limits(max_iterations=2)
    async with Runner(
        executor=ScriptedExecutor([DONE]), workspace=workspace, store=store, hooks=[seen], limits=limits
    ) as runner:
        await runner.resume(record.id)
    assert seen.of(ProtectedRestored) == []
    assert (folder / "ralph.toml").exists()


async def test_what_the_agents_tests_do_to_a_protected_path_is_taken_back(folder: Path, tmp_path: Path) -> None:
    """A verifier runs code of the agent, and the next iteration takes what is there for the user's."""
    check = CommandVerifier("if [ -e a ]; then echo evil > .git/hooks/pre-push; exit 1; fi")
    _, seen, _ = await ran(folder, tmp_path, [writes(DONE, a="1\n"), WORKING], verify=[check])
    assert [(event.iteration, event.paths) for event in seen.of(ProtectedRestored)] == [(1, (".git/hooks/pre-push",))]
    assert not (folder / ".git/hooks/pre-push").exists()


@pytest.mark.parametrize(("ago", "stays"), [(5, False), (60, True)], ids=["the agent's", "the user's"])
async def test_after_a_crash_the_agent_may_have_continued_for_half_a_minute(
    folder: Path, tmp_path: Path, ago: float, stays: bool
) -> None:
    store, clock = MemoryStore(), FakeClock(datetime.now(UTC) - timedelta(seconds=ago))
    record, _, _ = await ran(folder, tmp_path, [WORKING], store, clock=clock)
    workspace = open_workspace(folder, state_dir=tmp_path / "state")
    await workspace.guard(record.id)  # the record of the paths, which a crash leaves
    (folder / "ralph.toml").write_text("")
    async with Runner(executor=ScriptedExecutor([DONE]), workspace=workspace, store=store) as runner:
        await runner.resume(record.id)
    assert (folder / "ralph.toml").exists() is stays


async def test_each_iteration_is_committed_and_no_commit_of_ralph_is_the_agents(folder: Path, tmp_path: Path) -> None:
    (folder / "dirty").write_text("mine\n")
    replies = [writes(WORKING, a="1\n"), WORKING, writes(DONE, b="2\n")]
    record, _, iterations = await ran(folder, tmp_path, replies, commit="iteration")
    subjects = git(folder, "log", "--format=%s|%an").splitlines()
    assert [subject.partition("|")[2] for subject in subjects] == ["A Person", "A Person", "t"]
    assert f"Ralph-Run: {record.id}" in git(folder, "log", "-1", "--format=%B")
    assert git(folder, "status", "--porcelain") == "?? dirty"
    assert [each.changes.commits for each in iterations] == [0, 0, 0]
    assert [each.progressed for each in iterations] == [True, False, True]


@pytest.mark.parametrize(("last", "commits"), [(DONE, 2), (WORKING, 1)])
async def test_at_completion_there_is_one_commit(folder: Path, tmp_path: Path, last: str, commits: int) -> None:
    record, _, _ = await ran(folder, tmp_path, [writes(WORKING, a="1\n"), writes(last, b="2\n")], commit="completion")
    assert record.stop_reason == ("completed" if last == DONE else "limit_reached")
    assert git(folder, "rev-list", "--count", "HEAD") == str(commits)
    assert "committed" not in record.detail.lower(), "why a run ended is no place for what went well"


@pytest.mark.parametrize("when", ["completion", "iteration"])
async def test_the_end_of_a_run_says_that_nothing_is_committed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: Any
) -> None:
    monkeypatch.setattr("ralph.workspace.branch._PATIENCE", 0.2)
    (folder / ".git/index.lock").touch()
    record, seen, _ = await ran(folder, tmp_path, [writes(DONE, a="1\n")], commit=when)
    assert record.stop_reason == "completed"
    assert "; the changes are not committed: " in record.detail
    assert "index.lock' cannot be made (File exists): another git holds it" in record.detail
    assert seen.of(RunFinished)[0].detail == record.detail
    (folder / ".git/index.lock").unlink()
    record, _, _ = await ran(folder, tmp_path, [writes(DONE, a="2\n")], commit=when)
    assert "not committed" not in record.detail


async def test_without_a_name_for_commits_no_run_begins(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    git(folder, "config", "--unset", "user.email")
    git(folder, "config", "user.useConfigOnly", "true")
    store = MemoryStore()
    with pytest.raises(WorkspaceError, match="git names no one for commits"):
        await ran(folder, tmp_path, [DONE], store, commit="completion")
    assert not await store.runs()
    record, _, _ = await ran(folder, tmp_path, [writes(DONE, a="1\n")], store)
    assert record.stop_reason == "completed"


async def test_who_stops_a_run_does_not_wait_for_the_hooks_of_its_commit(folder: Path, tmp_path: Path) -> None:
    hook, began = folder / ".git/hooks/pre-commit", folder / ".git/began"
    hook.write_text("#!/bin/sh\ntouch .git/began\nsleep 50\n")
    hook.chmod(0o755)
    workspace = open_workspace(folder, state_dir=tmp_path / "state", commit_hooks=True)
    seen = Seen()
    runner = Runner(
        executor=ScriptedExecutor([writes(DONE, a="1\n")]), workspace=workspace, hooks=[seen], commit="completion"
    )

    async def stop() -> None:
        while not began.exists():  # noqa: ASYNC110
            await anyio.sleep(0.02)
        runner.cancel("SIGINT")

    with anyio.fail_after(30):
        async with runner, anyio.create_task_group() as group:
            group.start_soon(stop)
            assert (await runner.run("Write it.")).stop_reason == "completed"
    assert [event.text for event in seen.of(Diagnosed)][-1].startswith("The run was stopped during the commit")
    assert git(folder, "status", "--porcelain") == "?? a"


async def test_a_run_that_could_never_commit_does_not_begin(folder: Path, tmp_path: Path) -> None:
    plain, store = tmp_path / "plain", MemoryStore()
    plain.mkdir()
    with pytest.raises(WorkspaceError, match=r"plain is not under git\. Run `git init` there, or leave out --commit"):
        await ran(plain, tmp_path, [DONE], store, commit="iteration")
    workspace = open_workspace(folder, checkpoints=False, state_dir=tmp_path / "state")
    runner = Runner(executor=ScriptedExecutor([DONE]), workspace=workspace, store=store, commit="completion")
    with pytest.raises(WorkspaceError, match=r"these are off\. Set `checkpoints = true`, or leave out --commit"):
        async with runner:
            await runner.run("Write it.")
    assert not await store.runs()


async def test_a_workspace_that_only_sees_goes_on_working(tmp_path: Path) -> None:
    class Own(Workspace):
        async def snapshot(self) -> Snapshot:
            return Snapshot(fingerprint="same")

        async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
            return Changes(fingerprint="same")

    store = MemoryStore()
    workspace = Own(tmp_path, state_dir=tmp_path / "state")
    async with Runner(executor=ScriptedExecutor([DONE, DONE]), workspace=workspace, store=store) as runner:
        record = await runner.run("Look.")
        iterations = [each async for each in store.iterations(record.id)]
    assert record.checkpoint is None
    assert {each.checkpoint for each in iterations} == {Checkpoint()}


async def test_a_run_can_be_named_before_it_begins(folder: Path, tmp_path: Path) -> None:
    from datetime import UTC, datetime

    name = new_run_id(datetime(2026, 7, 3, 2, 15, tzinfo=UTC))
    assert name.startswith("20260703-021500-")
    workspace = open_workspace(folder, state_dir=tmp_path / "state")
    async with Runner(executor=ScriptedExecutor([DONE, DONE]), workspace=workspace) as runner:
        assert (await runner.run("Look.", run_id=name)).id == name

"""The number of git processes that an iteration starts: each takes milliseconds, in every iteration of a night."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import Repository
from ralph.types.output import Changes
from ralph.workspace import Workspace, gate, nested, open_workspace

SUBMODULES = 10


class Processes:
    """The calls of git."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commands: list[str] = []
        run, now = gate.run, subprocess.run

        async def counted(argv: list[str], **how: Any) -> Any:
            self.commands.append(" ".join(argv))
            return await run(argv, **how)

        def counted_now(argv: list[str], **how: Any) -> Any:
            self.commands.append(" ".join(argv))
            return now(argv, **how)

        monkeypatch.setattr(gate, "run", counted)
        monkeypatch.setattr(gate.subprocess, "run", counted_now)

    async def of(self, workspace: Workspace, turn: Callable[[], object]) -> tuple[int, Changes]:
        """Return the number of processes in an iteration with this turn, and what has changed."""
        self.commands.clear()
        before = await workspace.snapshot()
        await workspace.guard("run-1")
        await workspace.checkpoint("run-1", 1, "before", seen=before)
        counted = len(self.commands)
        turn()
        commands, self.commands = self.commands, []
        after = await workspace.snapshot()
        changes = await workspace.changes(before, after)
        await workspace.checkpoint("run-1", 1, "after", seen=after)
        await workspace.restore_protected("run-1")
        self.commands = [*commands[:counted], *self.commands]
        return len(self.commands), changes


async def test_submodules_cost_a_process_each_only_if_changed(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested, "SETTLED", 0)
    subprocess.run(["git", "clone", "--quiet", str(repo.path), str(tmp_path / "other")], check=True)  # noqa: ASYNC221
    for each in range(SUBMODULES):
        added = ("submodule", "--quiet", "add", str(tmp_path / "other"), f"sub{each}")
        repo.git("-c", "protocol.file.allow=always", *added)
    repo.commit("submodules")
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    processes = Processes(monkeypatch)
    first, _ = await processes.of(workspace, lambda: None)
    assert first <= 4 + 30, "their settings and states are looked at once"
    inner = repo.path / "sub1"

    def edit_two() -> None:
        repo.write("sub1/a.txt", "edited\n")
        repo.write("sub2/new.txt", "new\n")

    def delete() -> None:
        (inner / "a.txt").unlink()

    def commit() -> None:
        Repository(inner).commit()

    turns: dict[Callable[[], object], tuple[int, tuple[str, ...]]] = {
        (lambda: repo.write("a.txt", "1\n")): (0, ("a.txt",)),
        edit_two: (2, ("sub1/a.txt", "sub2/new.txt")),
        (lambda: repo.write("a.txt", "12\n")): (0, ("a.txt",)),
        delete: (1, ("sub1/a.txt",)),
        commit: (1, ("sub1", "sub1/a.txt")),
    }
    for turn, (more, files) in turns.items():
        number, changes = await processes.of(workspace, turn)
        assert changes.files == files
        assert number <= 4 + more, processes.commands

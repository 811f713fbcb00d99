"""What a run has changed, and the way back; here in a folder without git."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.executors.base import Turn
from ralph.prompt import Prompt
from ralph.records.record import RunRecord
from ralph.store import open_store
from ralph.testing import Repository, ScriptedExecutor
from ralph.types.output import Checkpoint, Output

DONE = "It is done.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"
WORKING = "I go on.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: more to do\n---END_RALPH_STATUS---\n"


class Writing(ScriptedExecutor):
    """Writes its iteration's number into a file, with what a terminal would obey."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        (turn.workspace / "a.txt").write_text(f"{turn.iteration}\x1b[2J\n")
        return await super().execute(prompt, turn)


@pytest.fixture
def run(kept_run: Callable[..., RunRecord], workspace: Path) -> RunRecord:
    (workspace / "a.txt").write_text("0\n")
    return kept_run(executor=Writing([WORKING, DONE]))


def test_the_whole_run_and_one_iteration_are_shown(ralph: Callable[..., Any], run: RunRecord) -> None:
    whole, second = ralph("diff").out, ralph("diff", run.id, "--iteration", "2").out
    assert "-0\n" in whole
    assert "+2\n" in whole
    assert "-1\n" in second
    assert "\x1b" not in whole + second
    told = json.loads(ralph("diff", "--json").out)
    assert told["files"] == [{"path": "a.txt", "added": 1, "removed": 1}]
    assert told["before"] == run.checkpoint
    assert told["iteration"] is None


def test_a_patch_in_a_file_has_every_byte(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord], workspace: Path, tmp_path: Path
) -> None:
    """What a terminal would obey, other line ends, binary files and other encodings come through `git apply`."""
    made = {
        "a.txt": b"one\ntwo\x1b[31mred\x0c\xe2\x80\xae\n",
        "crlf.txt": b"one\r\ntwo\r\n",
        "latin.txt": b"caf\xe9 \x85 \n",
        "b.bin": bytes(range(256)),
        "no end": b"x",
    }

    class Odd(ScriptedExecutor):
        async def execute(self, prompt: Prompt, turn: Turn) -> Output:
            for name, content in made.items():
                (turn.workspace / name).write_bytes(content)
            return await super().execute(prompt, turn)

    repository = Repository.begin(workspace)
    repository.write("a.txt", "one\n")
    repository.commit("a")
    kept_run(executor=Odd([WORKING, DONE]))
    patch, other = tmp_path / "ralph.patch", tmp_path / "other"
    subprocess.run(["git", "clone", "-q", workspace, other], check=True)
    assert "Wrote" in ralph("diff", "last", "--output", str(patch)).out
    subprocess.run(["git", "apply", "--index", patch], cwd=other, check=True)
    assert {name: (other / name).read_bytes() for name in made} == made
    ended = ralph("diff", "--output", str(tmp_path / "none" / "x"))
    assert (ended.code, "The patch cannot be written" in ended.err) == (2, True)


def test_a_run_ends_with_the_last_checkpoint_that_there_is(ralph: Callable[..., Any], run: RunRecord) -> None:
    async def without_a_checkpoint() -> None:
        async with open_store() as store:
            last = await store.iteration(run.id, 2)
            assert last
            more = last.model_copy(update={"number": 3, "checkpoint": Checkpoint(problem="The disk was full.")})
            await store.append(run.id, (), iteration=more)

    anyio.run(without_a_checkpoint)
    assert "+2\n" in ralph("diff").out


def test_repositories_inside_that_changed_are_named_as_no_part_of_it(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord], workspace: Path
) -> None:
    class Inside(Writing):
        async def execute(self, prompt: Prompt, turn: Turn) -> Output:
            (turn.workspace / "libs" / "own" / f"{turn.iteration}.txt").write_text("x\n")
            return await super().execute(prompt, turn)

    top = Repository.begin(workspace)
    inner = Repository.begin(workspace / "libs" / "own")
    for repository in (inner, top):
        repository.write("a.txt", "0\n")
        repository.commit("a")
    run = kept_run(executor=Inside([WORKING, DONE]))
    said = "libs/own is a repository of its own: what the run changed in it is not part of this."
    for words in (("diff",), ("diff", "--iteration", "2")):
        ended = ralph(*words)
        assert ("+2\n" in ended.out, said in " ".join(ended.err.split())) == (True, True)
        assert json.loads(ralph(*words, "--json").out)["repositories_changed"] == ["libs/own"]
    assert said in " ".join(ralph("rollback", run.id, "--to", "1", "--yes").out.split())
    assert (workspace / "libs" / "own" / "2.txt").exists()
    told = json.loads(ralph("rollback", run.id, "--to", "2", "--yes", "--json").out)
    assert told["repositories_changed"] == []


def test_in_a_terminal_a_difference_has_colours(
    ralph: Callable[..., Any], run: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = ralph("diff").out
    assert "\x1b[32m+2\x1b[0m" in shown
    assert "\x1b[2J" not in shown


def test_an_iteration_that_is_not_there_is_told(ralph: Callable[..., Any], run: RunRecord) -> None:
    ended = ralph("diff", "last", "--iteration", "9")
    assert ended.code == 2
    assert f"Run {run.id} has no iteration 9" in ended.err


def test_there_and_back_again(ralph: Callable[..., Any], run: RunRecord, workspace: Path) -> None:
    file = workspace / "a.txt"
    told = json.loads(ralph("rollback", "last", "--to", "1", "--json").out)
    assert file.read_text() == "1\x1b[2J\n"
    assert (told["written"], told["removed"], told["commits_since"]) == (1, 0, 0)
    said = ralph("rollback", "last", "--to", told["before"][:12]).out
    assert file.read_text() == "2\x1b[2J\n"
    assert "To undo this: ralph rollback" in said
    assert "The files are already in that state." in ralph("rollback", "last", "--to", "2").out
    file.write_text("mine\n")
    refused = ralph("rollback", "last", "--to", "0")
    assert refused.code == 2
    assert "has changes that no checkpoint contains: a.txt" in refused.err
    assert ralph("rollback", "last", "--to", "0", "--force").code == 0
    assert file.read_text() == "0\n"


def test_the_store_that_is_read_stays_though_the_checkpoint_knows_nothing_of_it(
    ralph: Callable[..., Any], run: RunRecord, workspace: Path, tmp_path: Path
) -> None:
    file, other = str(tmp_path / "run.jsonl"), str(workspace / "other.db")
    for words in (("export", "last", "-o", file), ("import", file, "--store", other)):
        assert ralph(*words).code == 0
    told = json.loads(ralph("rollback", run.id, "--to", "0", "--json", "--store", other).out)
    assert (told["written"], told["removed"]) == (1, 0)
    assert ralph("rollback", run.id, "--to", told["before"][:12], "--store", other).code == 0
    assert (workspace / "a.txt").read_text() == "2\x1b[2J\n"


def test_it_stays_also_where_the_checkpoint_holds_it_as_a_file_like_any_other(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord], workspace: Path, tmp_path: Path
) -> None:
    file, other = str(tmp_path / "run.jsonl"), str(workspace / "other.db")
    kept_run(DONE)
    for words in (("export", "last", "-o", file), ("import", file, "--store", other)):
        assert ralph(*words).code == 0
    run = kept_run(executor=Writing([DONE]))
    for words in (("export", run.id, "-o", f"{file}.2"), ("import", f"{file}.2", "--store", other)):
        assert ralph(*words).code == 0
    told = json.loads(ralph("rollback", run.id, "--to", "0", "--json", "--force", "--store", other).out)
    assert (told["written"], told["removed"], told["aside"]) == (0, 1, None)
    assert ralph("show", run.id, "--store", other).code == 0


def test_without_git_there_is_no_branch_to_reset(ralph: Callable[..., Any], run: RunRecord) -> None:
    ended = ralph("rollback", "last", "--to", "1", "--reset-branch")
    assert ended.code == 2
    assert "is not under git" in ended.err


def test_a_workspace_that_is_gone_and_checkpoints_that_are_gone_are_told(
    ralph: Callable[..., Any], run: RunRecord, workspace: Path, home: Path
) -> None:
    (own,) = (home / "state/ralph/checkpoints").iterdir()
    own.rename(home / "elsewhere")
    for words in (("diff",), ("rollback", "last", "--to", "0")):
        ended = ralph(*words)
        assert ended.code == 2
        assert "no longer exists" in ended.err
    workspace.rename(workspace.with_name("moved"))
    ended = ralph("rollback", run.id, "--to", "0", "--store", str(home / "state/ralph/ralph.db"))
    assert ended.code == 2
    assert "Traceback" not in ended.err


def test_a_run_that_is_at_work_is_not_disturbed(ralph: Callable[..., Any], run: RunRecord) -> None:
    async def revive() -> None:
        async with open_store() as store:
            await store.append(run.id, (), run=run.model_copy(update={"state": "running"}))

    anyio.run(revive)
    ended = ralph("rollback", "last", "--to", "0")
    assert ended.code == 2
    assert "is running" in ended.err


def test_pruning_takes_the_checkpoints_along(ralph: Callable[..., Any], run: RunRecord, home: Path) -> None:
    (own,) = (home / "state/ralph/checkpoints").iterdir()
    assert list((own / "refs/ralph").iterdir())
    ended = ralph("runs", "prune", "--keep", "0")
    assert ended.code == 0, ended.err
    assert not (own / "refs/ralph" / run.id).exists()


def test_pruning_a_copy_leaves_the_checkpoints_to_the_original(
    ralph: Callable[..., Any], run: RunRecord, tmp_path: Path
) -> None:
    file, other = str(tmp_path / "run.jsonl"), str(tmp_path / "other.db")
    for words in (("export", "last", "-o", file), ("import", file, "--store", other)):
        assert ralph(*words).code == 0
    assert ralph("runs", "prune", "--keep", "0", "--store", other).out == f"{run.id}\n1 removed, 0 kept.\n"
    assert "+2\n" in ralph("diff", run.id).out


def test_pruning_counts_the_worktrees_of_a_folder_and_leaves_them(
    ralph: Callable[..., Any], run: RunRecord, tmp_path: Path
) -> None:
    origin, tree, branch = tmp_path / "origin", tmp_path / "tree", f"ralph/{run.id}"
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (
        ("init", "-q", str(origin)),
        ("-C", str(origin), *identity, "commit", "-q", "--allow-empty", "-m", "start"),
        ("-C", str(origin), "worktree", "add", "-q", "-b", branch, str(tree)),
    ):
        subprocess.run(["git", *words], check=True, capture_output=True)
    (tree / "left.txt").write_text("not committed\n")

    async def move() -> None:
        async with open_store() as store:
            where = {"workspace": str(tree), "origin": str(origin)}
            await store.append(run.id, (), run=run.model_copy(update=where))

    anyio.run(move)
    would = ralph("runs", "prune", "--keep", "0", "-C", str(origin), "--dry-run", "--json")
    assert json.loads(would.out) == {"removed": [run.id], "kept": 0, "worktrees": [str(tree)], "dry_run": True}
    assert f"The worktree of run {run.id} would stay." in would.err
    ended = ralph("runs", "prune", "--keep", "0", "-C", str(origin))
    assert ended.out == f"{run.id}\n1 removed, 0 kept.\n"
    assert f"The worktree of run {run.id} stays." in ended.err
    assert f"git worktree remove {tree} && git branch -d {branch}" in ended.err
    assert (tree / "left.txt").exists()

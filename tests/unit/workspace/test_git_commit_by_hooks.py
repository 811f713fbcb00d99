"""A commit by the user's own git, with hooks: whatever they do, and whenever they are interrupted."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from ralph.testing import Repository
from ralph.workspace import Workspace, open_workspace

FORMATS = "#!/bin/sh\nsed -i s/edited/formatted/ a.txt\necho made > made.txt\ngit add a.txt made.txt\n"


@pytest.fixture
def hooked(repo: Repository, tmp_path: Path) -> Workspace:
    return open_workspace(repo.path, state_dir=tmp_path / "state", commit_hooks=True)


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(30):
        while not holds():  # noqa: ASYNC110
            await anyio.sleep(0.05)


async def held(workspace: Workspace) -> str:
    made = await workspace.checkpoint("run-1", 0, "after", seen=await workspace.snapshot())
    assert made.commit is not None, made.problem
    return made.commit


async def test_what_a_hook_formats_and_adds_is_not_staged_backwards(repo: Repository, hooked: Workspace) -> None:
    repo.write(".git/hooks/pre-commit", FORMATS).chmod(0o755)
    repo.write("staged.txt", "mine\n")
    repo.git("add", "staged.txt")
    since = await held(hooked)
    repo.write("a.txt", "edited\n")
    (repo.path / "src/b.txt").unlink()
    made = await hooked.commit(since, "x")
    assert made.commit, made.message
    assert repo.git("show", "HEAD:a.txt") == "formatted"
    assert repo.git("status", "--porcelain") == "A  staged.txt"


async def test_what_the_user_stages_after_a_commit_stays_so(repo: Repository, hooked: Workspace) -> None:
    since, before = await held(hooked), (repo.path / "a.txt").read_text()
    repo.write("a.txt", "edited\n")
    assert (await hooked.commit(since, "x")).commit
    repo.write("a.txt", before)
    repo.git("add", "a.txt")
    await hooked.guard("run-1")
    assert repo.git("status", "--porcelain") == "M  a.txt"


async def test_a_commit_that_is_interrupted_leaves_no_lock_and_stages_nothing(
    repo: Repository, hooked: Workspace
) -> None:
    lock, head = repo.path / ".git/index.lock", repo.git("rev-parse", "HEAD")
    since = await held(hooked)
    repo.write("a.txt", "edited\n")
    for hook, committed in {"pre-commit": False, "post-commit": True}.items():
        path = repo.write(f".git/hooks/{hook}", "#!/bin/sh\ntouch .git/began\nsleep 30\n")
        path.chmod(0o755)
        async with anyio.create_task_group() as group:
            group.start_soon(hooked.commit, since, "x")
            await until((repo.path / ".git/began").exists)
            assert not lock.exists(), "the user's git waits for a hook"
            group.cancel_scope.cancel()
        assert not lock.exists()
        assert (repo.git("rev-parse", "HEAD") != head) is committed
        assert repo.git("status", "--porcelain") == ("" if committed else "M a.txt")
        (repo.path / ".git/began").unlink()
        path.unlink()


COMMITS = """
import anyio, sys
from ralph.workspace import open_workspace

async def commit():
    workspace = open_workspace(sys.argv[1], state_dir=sys.argv[2], commit_hooks=True)
    print(await workspace.commit(sys.argv[3], "x"))

anyio.run(commit)
"""


async def test_a_killed_ralph_leaves_no_lock_and_no_reversal(
    repo: Repository, hooked: Workspace, tmp_path: Path
) -> None:
    formats = FORMATS.replace("sed", "touch .git/began; sleep 1\nsed", 1)
    repo.write(".git/hooks/pre-commit", formats).chmod(0o755)
    since = await held(hooked)
    repo.write("a.txt", "edited\n")
    argv = [sys.executable, "-c", COMMITS, str(repo.path), str(tmp_path / "state"), since]
    async with await anyio.open_process(argv) as ralph:
        await until((repo.path / ".git/began").exists)
        assert not (repo.path / ".git/index.lock").exists()
        ralph.kill()
    # the user's git has no part in that, and ends what it does
    await until(lambda: repo.git("log", "-1", "--format=%s") == "x" and not repo.git("status", "--porcelain"))
    assert not (repo.path / ".git/index.lock").exists()


async def test_an_index_that_is_locked_meanwhile_is_said(
    repo: Repository, hooked: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph.workspace.branch._PATIENCE", 0.3)
    lock = repo.path / ".git/index.lock"
    since = await held(hooked)
    repo.write("a.txt", "edited\n")
    lock.touch()
    made = await hooked.commit(since, "x")
    assert (made.commit, lock.exists()) == (None, True)
    assert "index.lock' cannot be made (File exists): another git holds it, or left it" in made.message
    lock.unlink()
    repo.write(".git/hooks/post-commit", "#!/bin/sh\ntouch .git/index.lock\n").chmod(0o755)
    made = await hooked.commit(since, "x")
    assert made.commit == repo.git("rev-parse", "HEAD")
    assert "git could not write the index, so it still has the files from before" in made.message
    assert "git reset" in made.message


KILLS = '#!/bin/sh\nall=; p=$PPID; for i in 1 2 3 4; do all="$p $all"; p=$(ps -o ppid= -p $p); done; kill -9 $all\n'
"""Kills git, the script that it was started by, and Ralph."""


@pytest.mark.parametrize("staged", [False, True])
async def test_a_commit_after_which_all_was_killed_is_followed_at_the_next_start(
    repo: Repository, hooked: Workspace, tmp_path: Path, staged: bool
) -> None:
    repo.write(".git/hooks/post-commit", KILLS).chmod(0o755)
    since = await held(hooked)
    repo.write("a.txt", "edited\n")
    argv = [sys.executable, "-c", COMMITS, str(repo.path), str(tmp_path / "state"), since]
    assert (await anyio.run_process(argv, check=False)).returncode == -signal.SIGKILL
    assert repo.git("log", "-1", "--format=%s") == "x"
    assert repo.git("status", "--porcelain") == "MM a.txt"
    if staged:
        repo.write("a.txt", "mine\n")
        repo.git("add", "a.txt")
    await hooked.guard("run-1")
    assert repo.git("status", "--porcelain") == ("M  a.txt".strip() if staged else "")
    assert repo.git("show", ":a.txt") == ("mine" if staged else "edited")

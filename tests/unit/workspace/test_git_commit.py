"""What a run has changed is committed, and nothing else; commits are taken off a branch and stay reachable."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.errors import WorkspaceError
from ralph.testing import Repository
from ralph.workspace import Workspace, open_workspace
from ralph.workspace.branch import Branch
from ralph.workspace.worktree import make_worktree


async def held(workspace: Workspace, iteration: int = 0) -> str:
    made = await workspace.checkpoint("run-1", iteration, "after", seen=await workspace.snapshot())
    assert made.commit is not None, made.problem
    return made.commit


async def test_what_was_dirty_or_staged_before_stays_so(repo: Repository, workspace: Workspace) -> None:
    repo.write("dirty.txt", "mine\n")
    repo.write("staged.txt", "mine\n")
    repo.git("add", "staged.txt")
    since = await held(workspace)
    repo.write("a.txt", "the agent's\n")
    repo.write("new.txt", "the agent's\n")
    (repo.path / "src/b.txt").unlink()
    repo.git("rm", "-q", "--cached", "src/b.txt")
    made = await workspace.commit(since, "What was done\n\nRalph-Run: run-1\n")
    assert made.message == f"Committed as {repo.git('rev-parse', '--short=12', 'HEAD')}: What was done"
    assert repo.git("show", "--format=", "--name-status", "HEAD").split() == [
        "M",
        "a.txt",
        "A",
        "new.txt",
        "D",
        "src/b.txt",
    ]
    assert repo.git("status", "--porcelain").splitlines() == ["A  staged.txt", "?? dirty.txt"]


async def test_names_with_control_characters_are_told_with_escapes(repo: Repository, workspace: Workspace) -> None:
    repo.git("config", "filter.big.clean", "cat")
    repo.write(".gitattributes", "*.bin filter=big\n")
    repo.commit()
    since = await held(workspace)
    repo.write("we\n ird\x1b[31m\tx.bin", "the agent's\n")
    repo.write("größe.txt", "the agent's\n")
    made = await workspace.commit(since, "What was done\n")
    assert "(without we\\n ird\\x1b[31m\\tx.bin:" in made.message
    assert repo.git("-c", "core.quotePath=no", "show", "--format=", "--name-only", "HEAD") == "größe.txt"


async def test_an_edit_in_the_second_of_the_index_is_not_staged_backwards(
    repo: Repository, workspace: Workspace
) -> None:
    since = await held(workspace)
    for _ in range(5):
        await anyio.sleep(1 - time.time() % 1)
        then = int(repo.write("a.txt", "1\n").stat().st_mtime)
        repo.git("add", "a.txt")
        if int(repo.write("a.txt", "2\n").stat().st_mtime) == then:
            break
    await anyio.sleep(1)
    assert (await workspace.commit(since, "x")).commit
    assert (repo.git("show", "HEAD:a.txt"), repo.git("status", "--porcelain")) == ("2", "")


async def test_a_folder_that_has_become_a_file_is_committed(repo: Repository, workspace: Workspace) -> None:
    since = await held(workspace)
    (repo.path / "src/b.txt").unlink()
    (repo.path / "src").rmdir()
    repo.write("src", "a file now\n")
    made = await workspace.commit(since, "x")
    assert made.commit, made.message
    assert (repo.git("ls-files"), repo.git("status", "--porcelain")) == ("a.txt\nsrc", "")


async def test_a_file_that_has_become_a_folder_is_committed(repo: Repository, workspace: Workspace) -> None:
    since = await held(workspace)
    (repo.path / "a.txt").unlink()
    repo.write("a.txt/inner", "x\n")
    made = await workspace.commit(since, "x")
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["a.txt/inner", "src/b.txt"], made.message


@pytest.mark.parametrize("staged", [True, False])
async def test_a_new_nested_repository_is_not_committed(
    repo: Repository, submodule: Path, workspace: Workspace, staged: bool
) -> None:
    since = await held(workspace)
    for name in ("own", "a.txt"):
        (repo.path / name).unlink(missing_ok=True)
        inner = Repository.begin(repo.path / name)
        inner.write("inner.txt", "x\n")
        inner.commit("inner")
        if staged:
            repo.git("add", name)
    only = await workspace.commit(since, "x")
    assert (only.commit, "own: a new nested repository" in only.message) == (None, True)
    repo.write("new.txt", "the agent's\n")
    inner = Repository(submodule)
    inner.write("more.txt", "more\n")
    inner.commit("more")
    made = await workspace.commit(since, "x")
    assert made.commit, made.message
    assert "own: a new nested repository" in made.message
    listed = repo.git("ls-tree", "-r", "HEAD").splitlines()
    assert [line.split("\t")[1] for line in listed if line.startswith("160000")] == ["sub"]


@pytest.mark.parametrize("condition", ["gitdir:{}/", "hasconfig:remote.*.url:ssh://host/**"])
async def test_the_name_is_the_one_that_the_user_has_for_this_repository(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    repo.git("remote", "add", "a.b", 'ssh://host/\\a "b".git')
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name)
    (tmp_path / "work").write_text("[user]\n\tname = At Work\n")
    users = tmp_path / "users"
    users.write_text(
        f'[user]\n\tname = At Home\n\temail = x@y\n[includeIf "{condition.format(repo.path)}"]\n\tpath = work\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(users))
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    since = await held(workspace)
    repo.write("a.txt", "the agent's\n")
    assert (await workspace.commit(since, "x")).commit
    assert repo.git("log", "-1", "--format=%an") == "At Work"


async def test_nothing_changed_is_no_commit(repo: Repository, workspace: Workspace) -> None:
    repo.write("dirty.txt", "mine\n")
    since = await held(workspace)
    made = await workspace.commit(since, "x")
    assert (made.commit, made.message) == (None, "")


async def test_what_the_agent_has_committed_itself_needs_no_commit(repo: Repository, workspace: Workspace) -> None:
    since = await held(workspace)
    repo.write("a.txt", "the agent's\n")
    head = repo.commit("the agent's own")
    assert await workspace.commit(since, "x") == (None, "")
    assert repo.git("rev-parse", "HEAD") == head


async def test_a_repository_stays_as_open_to_its_group_as_it_is(repo: Repository, tmp_path: Path) -> None:
    repo.git("init", "--quiet", "--shared=group")
    folders = [repo.path / ".git", *(path for path in (repo.path / ".git").rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o2775)
    (repo.path / ".git/logs/HEAD").unlink()
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    since = await held(workspace)
    repo.write("a.txt", "the agent's\n")
    assert (await workspace.commit(since, "x")).commit
    for path in (repo.path / ".git").rglob("*"):
        mode = path.stat().st_mode & 0o7777
        assert mode == 0o2775 or not path.is_dir(), path
    for name, mode in {"index": 0o664, "logs/HEAD": 0o664, "refs/heads/main": 0o664}.items():
        assert (repo.path / ".git" / name).stat().st_mode & 0o777 == mode, name
    commit = repo.git("rev-parse", "HEAD")
    assert (repo.path / ".git/objects" / commit[:2] / commit[2:]).stat().st_mode & 0o777 == 0o444


async def test_the_first_commit_of_a_repository(empty: Repository, tmp_path: Path) -> None:
    workspace = open_workspace(empty.path, state_dir=tmp_path / "state")
    since = await held(workspace)
    empty.write("a.txt", "a\n")
    assert (await workspace.commit(since, "first")).commit == empty.git("rev-parse", "HEAD")


@pytest.fixture
def hooked(repo: Repository, tmp_path: Path) -> Workspace:
    """The repository as Ralph sees it, with its hooks and filters run."""
    return open_workspace(repo.path, state_dir=tmp_path / "state", commit_hooks=True)


async def test_hooks_are_run_only_by_request(repo: Repository, workspace: Workspace) -> None:
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch ran\nexit 1\n").chmod(0o755)
    since = await held(workspace)
    repo.write("a.txt", "the agent's\n")
    assert (await workspace.commit(since, "x")).commit == repo.git("rev-parse", "HEAD")
    assert not (repo.path / "ran").exists()


async def test_hooks_and_signing_that_are_left_out_are_named_once(repo: Repository, tmp_path: Path) -> None:
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n").chmod(0o755)
    repo.write(".git/hooks/post-commit", "#!/bin/sh\n").chmod(0o755)
    repo.git("config", "commit.gpgSign", "true")
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    since = await held(workspace)
    for number, named in enumerate((" (without the hooks pre-commit, post-commit and signing; ", "")):
        repo.write("a.txt", f"{number}\n")
        made = await workspace.commit(since, "x")
        assert made.message.partition(": x")[2].startswith(named), made.message
        assert ("--commit-hooks" in made.message) is bool(named)
        since = await held(workspace)
    repo.git("config", "core.hooksPath", "elsewhere")
    repo.git("config", "commit.gpgSign", "false")
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    repo.write("a.txt", "2\n")
    assert (await workspace.commit(since, "x")).message.endswith(": x")


async def test_what_needs_a_filter_is_not_committed_without_it(repo: Repository, workspace: Workspace) -> None:
    since = await held(workspace)
    repo.write(".gitattributes", "*.bin filter=lfs\n")
    repo.write("large.bin", "the content, which only the filter may store\n")
    (repo.path / os.fsdecode(b"m\xf6re.bin")).write_bytes(b"more of it\n")
    repo.write("a.txt", "2\n")
    made = await workspace.commit(since, "x")
    assert made.commit
    left = "large.bin, m\\xf6re.bin: only --commit-hooks runs the filter that git has for them"
    assert made.message.endswith(f"(without {left})")
    assert repo.git("show", "--name-only", "--format=", "HEAD").split() == [".gitattributes", "a.txt"]
    assert repo.git("status", "--short").split() == ["??", "large.bin", "??", '"m\\366re.bin"']
    again = await workspace.commit(since, "x")
    assert (again.commit, again.message) == (None, f"Not committed: {left}.")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "by git itself")
    since = await held(workspace)
    (repo.path / "large.bin").unlink()
    assert (await workspace.commit(since, "x")).commit, "what is removed needs no filter"


async def test_a_repository_with_refs_that_cannot_be_pinned_is_refused_by_name(
    repo: Repository, tmp_path: Path, hooked: Workspace
) -> None:
    await hooked.require_author()
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.refStorage", "reftable")  # which this git need not know
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    with pytest.raises(WorkspaceError, match="in the reftable format") as raised:
        await workspace.require_author()
    assert "--commit-hooks" in raised.value.remedy


async def test_work_in_a_submodule_that_is_not_committed_there_is_named(
    repo: Repository, submodule: Path, workspace: Workspace
) -> None:
    (submodule / "old.txt").write_text("from before the run\n")
    since = await held(workspace)
    await workspace.snapshot()
    assert await workspace.commit(since, "x") == (None, "")
    (submodule / "new.txt").write_text("1\n")
    await workspace.snapshot()
    left = "sub: work in a repository of its own, which is not committed there"
    assert await workspace.commit(since, "x") == (None, f"Not committed: {left}.")
    repo.write("a.txt", "2\n")
    await workspace.snapshot()
    made = await workspace.commit(since, "x")
    assert made.commit
    assert made.message.endswith(f"(without {left})")
    assert repo.git("show", "--name-only", "--format=", "HEAD").split() == ["a.txt"]


@pytest.mark.parametrize("named", ["", "~/others", "the repository's"])
async def test_the_users_own_attributes_hold_below_those_of_the_repository(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    attributes = tmp_path / ("others" if named else ".config/git/attributes")
    attributes.parent.mkdir(parents=True, exist_ok=True)
    attributes.write_text("*.ipynb filter=strip\n*.bat text eol=crlf\n*.txt filter=strip\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    if named:
        where = ["--file", str(tmp_path / ".gitconfig")] if named.startswith("~") else []
        repo.git("config", *where, "core.attributesFile", "~/others")
    repo.write(".gitattributes", "*.txt -filter\n")
    repo.write("x.bat", "1\r\n2\r\n")
    repo.commit("rules")
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    since = await held(workspace)
    repo.write("a.txt", "2\n")
    repo.write("x.bat", "1\r\n2\r\n3\r\n")
    assert (await workspace.commit(since, "x")).commit
    assert repo.git("diff", "--numstat", "HEAD^", "x.bat") == "1\t0\tx.bat"
    repo.write("n.ipynb", "only the filter may store it\n")
    made = await workspace.commit(since, "x")
    assert "only --commit-hooks runs the filter that git has for them" in made.message
    assert (made.commit is None, "n.ipynb" in made.message) == (True, True)
    repo.git("add", "n.ipynb")
    repo.git("commit", "-q", "-m", "by git itself")
    with pytest.raises(WorkspaceError, match=r"n\.ipynb"):
        await make_worktree(repo.path, "run-2", state_dir=tmp_path / "state")


async def test_a_lock_of_a_moment_is_waited_for(repo: Repository, workspace: Workspace, hooked: Workspace) -> None:
    since = await held(workspace)
    for number, each in enumerate((workspace, hooked, workspace)):
        name = "refs/heads/main.lock" if number == 2 else "index.lock"
        lock = repo.write(f".git/{name}", "")
        repo.write("a.txt", f"{number}\n")
        async with anyio.create_task_group() as group:
            group.start_soon(each.commit, since, f"commit {number}")
            await anyio.sleep(0.7)
            assert repo.git("log", "-1", "--format=%s") != f"commit {number}"
            lock.unlink()
        assert repo.git("log", "-1", "--format=%s") == f"commit {number}"
        assert repo.git("status", "--porcelain") == ""


async def test_without_a_name_a_run_that_commits_is_refused(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{who}_{what}", raising=False)
    monkeypatch.delenv("EMAIL", raising=False)
    users = tmp_path / "users"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(users))
    users.write_text("[user]\n\tuseConfigOnly = true\n")
    for hooks in (False, True):
        workspace = open_workspace(repo.path, state_dir=tmp_path / "state", commit_hooks=hooks)
        with pytest.raises(WorkspaceError, match=r"git names no one for commits in .*identity unknown") as caught:
            await workspace.require_author()
        assert "git config --global user.email" in caught.value.remedy
    users.write_text("[user]\n\tname = A\n\temail = a@b\n")
    await open_workspace(repo.path, state_dir=tmp_path / "state").require_author()


async def test_the_subject_counts_the_files_of_the_commit(repo: Repository, workspace: Workspace) -> None:
    since = await held(workspace)
    for name in ("a.txt", "b", "c"):
        repo.write(name, "x\n")
    assert (await workspace.commit(since, "Modified 2 files, 3 tests passing\n\nRalph-Run: run-1\n")).commit
    assert repo.git("log", "-1", "--format=%s") == "Changed 3 files, 3 tests passing"
    since = await held(workspace, 1)
    repo.write("d", "x\n")
    repo.write("e", "x\n")
    assert (await workspace.commit(since, "Changed 1 file\n\nRalph-Run: run-1\n")).commit
    assert repo.git("log", "-1", "--format=%s") == "Added 2 files"


async def test_an_empty_folder_in_the_place_of_a_packed_branch_is_removed(
    repo: Repository, workspace: Workspace
) -> None:
    repo.git("pack-refs", "--all")
    place = repo.path / ".git/refs/heads/main"
    (place / "old" / "topic").mkdir(parents=True)
    since = await held(workspace)
    repo.write("a.txt", "1\n")
    made = await workspace.commit(since, "x")
    assert made.commit, made.message
    assert place.read_text().strip() == made.commit
    place.unlink()
    (place / "old").mkdir(parents=True)
    (place / "old" / "a file").touch()
    repo.write("a.txt", "2\n")
    assert (await workspace.commit(since, "x")).commit is None
    assert (place / "old" / "a file").exists()


async def test_what_is_staged_while_a_commit_is_made_stays_so(
    repo: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("mine.txt", "the user's\n")
    since, put = await held(workspace), Branch._put_objects
    repo.write("a.txt", "the agent's\n")

    def staging(branch: Branch, *folder: Any) -> None:
        repo.git("add", "mine.txt")
        put(branch, *folder)

    monkeypatch.setattr(Branch, "_put_objects", staging)
    assert (await workspace.commit(since, "x")).commit
    assert repo.git("show", "--format=", "--name-only", "HEAD") == "a.txt"
    assert repo.git("status", "--porcelain") == "A  mine.txt"


async def test_an_index_that_another_git_holds_is_no_commit(
    repo: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = await held(workspace)
    head = repo.git("rev-parse", "HEAD")
    repo.write("a.txt", "the agent's\n")
    lock = repo.write(".git/index.lock", "")
    monkeypatch.setattr("ralph.workspace.branch._PATIENCE", 0.3)
    made = await workspace.commit(since, "x")
    assert made.commit is None
    assert "index.lock' cannot be made (File exists): another git holds it, or left it" in made.message
    assert (repo.git("rev-parse", "HEAD"), lock.exists()) == (head, True)
    lock.unlink()
    assert repo.git("status", "--porcelain") == "M a.txt"
    assert (await workspace.commit(since, "x")).commit
    assert repo.git("status", "--porcelain") == ""


KILLED = """
import anyio, os, shutil, signal, sys
from ralph.workspace import branch, open_workspace

def killed(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[4] == "objects":
    shutil.copyfileobj = killed
elif sys.argv[4] == "before":
    os.fsync = killed
else:
    branch._append = killed
workspace = open_workspace(sys.argv[1], state_dir=sys.argv[2])
if sys.argv[4] == "rollback":
    os.fsync = killed
    anyio.run(workspace.reset_branch, "run-1", sys.argv[3])
anyio.run(workspace.commit, sys.argv[3], "x")
"""


@pytest.mark.parametrize("when", ["objects", "before", "after"])
async def test_the_locks_of_a_killed_ralph_are_removed_and_no_others(
    repo: Repository, tmp_path: Path, when: str
) -> None:
    lock, ref = repo.path / ".git/index.lock", repo.path / ".git/refs/heads/main.lock"
    state, head = str(tmp_path / "state"), repo.git("rev-parse", "HEAD")
    for whose in ("ours", "theirs"):
        workspace = open_workspace(repo.path, state_dir=state)
        since = await held(workspace)
        repo.write("a.txt", f"{whose}\n")
        ended = await anyio.run_process([sys.executable, "-c", KILLED, str(repo.path), state, since, when], check=False)
        assert ended.returncode == -signal.SIGKILL
        assert (lock.exists(), ref.exists()) == (when != "objects", when == "before")
        assert (repo.git("rev-parse", "HEAD") == head) is (when != "after")
        if whose == "theirs":
            lock.touch()
            os.utime(lock, (1, 1))
        workspace = open_workspace(repo.path, state_dir=state)
        workspace.acquire("run-1")
        workspace.release()
        assert (lock.exists(), ref.exists()) == (whose == "theirs", False)
        if whose == "ours":
            assert repo.git("status", "--porcelain") == ("" if when == "after" else "M a.txt")
        head = repo.git("rev-parse", "HEAD")
    lock.unlink()
    repo.write("a.txt", "ours\n")
    repo.write("new.txt", "new\n")
    assert (await workspace.commit(since, "x")).commit, "what was left is in nobody's way"
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    repo.git("gc", "--quiet", "--prune=now")
    assert not [*(repo.path / ".git").rglob("tmp_*")]


async def test_the_locks_of_a_killed_rollback_are_removed(
    repo: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    since, state = await held(workspace), str(tmp_path / "state")
    repo.write("a.txt", "committed\n")
    head = repo.commit()
    await anyio.run_process([sys.executable, "-c", KILLED, str(repo.path), state, since, "rollback"], check=False)
    assert (repo.path / ".git/index.lock").exists()
    workspace.acquire("run-1")
    assert not [*(repo.path / ".git").rglob("*.lock")]
    assert (repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")) == (head, "")
    assert await workspace.reset_branch("run-1", since) == head
    workspace.release()


async def test_a_hook_that_refuses_is_told_and_the_index_is_as_it_was(repo: Repository, hooked: Workspace) -> None:
    workspace = hooked
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\necho no >&2\nexit 1\n").chmod(0o755)
    since = await held(workspace)
    repo.write("a.txt", "the agent's\n")
    commit, told = await workspace.commit(since, "x")
    assert commit is None
    assert told == (
        "The changes are not committed: `git commit`, which runs the repository's hook pre-commit, refused: no. "
        "Fix that, then commit it yourself: the files are as the run left them."
    )
    assert repo.git("status", "--porcelain") == "M a.txt"


async def test_what_git_itself_refuses_is_told_as_git_s(repo: Repository, hooked: Workspace) -> None:
    workspace = hooked
    repo.git("config", "gpg.program", "false")
    repo.git("config", "commit.gpgSign", "true")
    since = await held(workspace)
    repo.write("a.txt", "the agent's\n")
    _, told = await workspace.commit(since, "x")
    assert told.startswith("The changes are not committed: `git commit` refused: gpg failed to sign")


async def test_hooks_in_the_workspace_are_the_agents_and_are_not_run(repo: Repository, hooked: Workspace) -> None:
    workspace = hooked
    repo.git("config", "core.hooksPath", "hooks")
    since = await held(workspace)
    repo.write("hooks/pre-commit", "#!/bin/sh\ntouch owned\n").chmod(0o755)
    made = await workspace.commit(since, "x")
    assert "without the hooks, which lie in the workspace" in made.message
    assert not (repo.path / "owned").exists()


async def test_in_the_middle_of_a_merge_nothing_is_committed(repo: Repository, workspace: Workspace) -> None:
    repo.git("checkout", "-q", "-b", "other")
    repo.write("a.txt", "theirs\n")
    other = repo.commit()
    repo.git("checkout", "-q", "main")
    since = await held(workspace)
    repo.git("merge", "-q", "--no-commit", "--no-ff", other)
    assert await workspace.commit(since, "x") == (None, "The changes are not committed: a merge is in progress.")


async def test_without_git_nothing_is_committed(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    workspace = open_workspace(tmp_path / "plain", state_dir=tmp_path / "state")
    since = await held(workspace)
    assert "not under git" in (await workspace.commit(since, "x")).message


async def test_commits_are_taken_off_and_kept(repo: Repository, workspace: Workspace) -> None:
    start = repo.git("rev-parse", "HEAD")
    then = await held(workspace)
    repo.write("a.txt", "1\n")
    repo.commit()
    repo.write("a.txt", "2\n")
    head = repo.commit()
    assert await workspace.commits_since(then) == 2
    assert await workspace.reset_branch("run-1", then) == head
    assert repo.git("rev-parse", "main") == start
    assert (repo.path / "a.txt").read_text() == "2\n"
    assert repo.git("status", "--porcelain") == "M a.txt"
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert repo.git("cat-file", "-t", head) == "commit"
    assert await workspace.reset_branch("run-1", then) == ""
    assert workspace.checkpoints
    assert await workspace.checkpoints.find("run-1", head) is None, "it is no checkpoint"
    await workspace.forget("run-1")
    assert repo.git("for-each-ref", "refs/ralph") == ""


async def test_what_is_staged_stays_so_when_commits_are_taken_off(repo: Repository, workspace: Workspace) -> None:
    then = await held(workspace)
    repo.write("a.txt", "1\n")
    repo.write("made.txt", "1\n")
    (repo.path / "src/b.txt").unlink()
    repo.write("src/b.txt/inner", "1\n")
    repo.write("c.txt", "1\n")
    repo.commit()
    for name in ("mine.txt", "c.txt"):
        repo.write(name, "staged\n")
        repo.git("add", name)
        repo.write(name, "not staged\n")
    assert await workspace.reset_branch("run-1", then)
    assert repo.git("show", ":mine.txt") == repo.git("show", ":c.txt") == "staged"
    assert repo.git("diff", "--cached", "--name-only").split() == ["c.txt", "mine.txt"]
    repo.commit()
    (repo.path / ".git/index").unlink()
    assert await workspace.reset_branch("run-1", then)
    assert repo.git("diff", "--cached", "--name-only") == ""
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


async def test_commits_kept_in_the_old_place_go_with_the_run_that_made_them(
    repo: Repository, workspace: Workspace
) -> None:
    kept: dict[str, str] = {}
    for run_id in ("run-1", "run-2"):
        repo.write("a.txt", f"{run_id}\n")
        kept[run_id] = repo.commit()
        made = repo.git("commit-tree", "-p", "HEAD", "-m", "as it was made then", "HEAD^{tree}")
        repo.git("update-ref", f"refs/ralph/{run_id}/1/after", made)
        repo.git("update-ref", f"refs/ralph/heads/{kept[run_id][:12]}", kept[run_id])
    await workspace.forget("run-1")
    assert repo.git("for-each-ref", "--format=%(objectname)", "refs/ralph/heads") == kept["run-2"]
    await workspace.forget("run-2")
    assert repo.git("for-each-ref", "refs/ralph") == ""


async def test_a_commit_kept_in_the_old_place_is_no_checkpoint(repo: Repository, workspace: Workspace) -> None:
    then = await held(workspace)
    repo.write("a.txt", "1\n")
    head = repo.commit()
    repo.git("update-ref", f"refs/ralph/heads/{head[:12]}", head)
    restored = await workspace.restore(then, force=True)
    assert workspace.checkpoints
    assert await workspace.checkpoints.find("run-1", str(restored.saved)) == restored.saved


async def test_a_branch_that_went_elsewhere_is_not_moved(repo: Repository, workspace: Workspace) -> None:
    repo.write("a.txt", "1\n")
    repo.commit()
    then = await held(workspace)
    repo.git("reset", "-q", "--hard", "HEAD^")
    repo.write("src/b.txt", "another way\n")
    head = repo.commit()
    with pytest.raises(WorkspaceError, match="does not come after"):
        await workspace.reset_branch("run-1", then)
    assert repo.git("rev-parse", "HEAD") == head

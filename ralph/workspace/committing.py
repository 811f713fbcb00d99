"""Committing what a run has changed to the branch that is checked out, as its user would.

Here the user's own git is at work, with the user's identity, settings, filters and hooks: the protected paths among
them have been given back before. Hooks that lie in the workspace itself are the agent's to change, so they are not run.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ralph.errors import UsageError
from ralph.process import run
from ralph.workspace.git_program import complaint, environment
from ralph.workspace.repository import Repository

__all__ = ["Committed", "commit_paths", "under_way_in"]

_PATIENCE = 300.0
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")


class Committed(NamedTuple):
    """What came of it.

    Attributes:
        commit: the new commit's id; None where there is none.
        told: what a person should know of it; empty where there was nothing to commit.
    """

    commit: str | None = None
    told: str = ""


class _FailedError(Exception):
    """Git did not do it, with what it says."""


async def commit_paths(
    repository: Repository, workspace: Path, paths: Sequence[bytes], message: str, *, index: Path
) -> Committed:
    """Commits the files at these paths as they are; what else is changed or staged stays so. It never raises.

    Args:
        paths: from the repository's top.
        index: where an index can be made that is there only meanwhile.
    """
    if under_way := under_way_in(repository):
        return Committed(told=f"What was changed is not committed: {under_way} is under way.")
    git = _UsersGit(repository)
    listed = b"".join(path + b"\0" for path in paths)
    update = ("update-index", "--add", "--remove", "-z", "--stdin")
    meanwhile = {"GIT_INDEX_FILE": str(index)}
    try:
        hooks, note = await _hooks(git, repository, workspace)
        head = await git("rev-parse", "--quiet", "--verify", "HEAD", fails=True)
        await git("read-tree", *([head] if head else ["--empty"]), more=meanwhile)
        await git(*update, stdin=listed, more=meanwhile)
        await git(*hooks, "commit", "--quiet", "--message", message, more=meanwhile)
        await git(*update, stdin=listed)
        commit = await git("rev-parse", "HEAD")
    except _FailedError as error:
        return Committed(told=f"What was changed is not committed: {error}.")
    finally:
        for left in (index, index.with_name(f"{index.name}.lock")):
            left.unlink(missing_ok=True)
    return Committed(commit, f"Committed{note} as {commit[:12]}: {message.partition(chr(10))[0]}")


def under_way_in(repository: Repository) -> str:
    """What a repository is in the middle of, such as "a merge"; empty where it is in the middle of nothing."""
    name = next((name for name in _UNDER_WAY if (repository.git_dir / name).exists()), "")
    return f"a {name.partition('_HEAD')[0].partition('-')[0].lower().replace('_', '-')}" if name else ""


async def _hooks(git: "_UsersGit", repository: Repository, workspace: Path) -> tuple[Sequence[str], str]:
    """The words that keep hooks from being run which the agent can change, and those that say so."""
    folder = (repository.top / await git("rev-parse", "--git-path", "hooks")).resolve()
    if folder.is_relative_to(workspace) and not folder.is_relative_to(repository.common):
        return ("-c", f"core.hooksPath={os.devnull}"), " without the hooks, which lie in the workspace,"
    return (), ""


class _UsersGit:
    """Git in the repository, as its user would call it; nobody is asked for anything."""

    def __init__(self, repository: Repository) -> None:
        self._top = repository.top
        self._env = environment() | {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.top)}

    async def __call__(
        self, *arguments: str, stdin: bytes = b"", more: Mapping[str, str] | None = None, fails: bool = False
    ) -> str:
        """What it prints. Raises `_FailedError` where it fails, unless that only means that there is nothing."""
        env = self._env | dict(more or {})
        try:
            done = await run(["git", *arguments], cwd=self._top, env=env, stdin=stdin or None, timeout=_PATIENCE)
        except UsageError as error:
            raise _FailedError(error.problem) from error
        if done.timed_out:
            raise _FailedError(f"git took more than {_PATIENCE:.0f} s")
        if done.code and not fails:
            raise _FailedError(complaint(done.stderr or done.stdout) or f"git ended with status {done.code}")
        return "" if done.code else done.stdout.strip()

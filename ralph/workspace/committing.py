"""Committing what a run has changed to the branch that is checked out, as its user would."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ralph.workspace.repository import Repository
from ralph.workspace.users_git import GitFailedError, UsersGit, under_way_in

__all__ = ["Committed", "commit_paths"]


_REMEDY = "Fix that, then commit it yourself: the files are as the run left them."


class Committed(NamedTuple):
    """What came of it.

    Attributes:
        commit: the new commit's id; None where there is none.
        told: what a person should know of it; empty where there was nothing to commit.
    """

    commit: str | None = None
    told: str = ""


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
    git = UsersGit(repository)
    listed = b"".join(path + b"\0" for path in paths)
    update = ("update-index", "--add", "--remove", "-z", "--stdin")
    meanwhile = {"GIT_INDEX_FILE": str(index)}
    _remove(index)
    try:
        head = await git("rev-parse", "--quiet", "--verify", "HEAD", fails=True)
        await git("read-tree", *([head] if head else ["--empty"]), more=meanwhile)
        await git(*update, stdin=listed, more=meanwhile)
        quietly = ("--quiet", "--message", message)
        note = await git.with_hooks("commit", *quietly, workspace=workspace, more=meanwhile)
        await git(*update, stdin=listed)
        commit = await git("rev-parse", "HEAD")
    except GitFailedError as error:
        return Committed(told=f"What was changed is not committed: {error}. {_REMEDY}")
    finally:
        _remove(index)
    return Committed(commit, f"Committed{note} as {commit[:12]}: {message.partition(chr(10))[0]}")


def _remove(index: Path) -> None:
    """Removes an index, and the lock that a killed git may have left on it."""
    index.unlink(missing_ok=True)
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)

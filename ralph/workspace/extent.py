"""Folders that are too wide for a run: the whole disk, a home folder, and those of very many files."""

from pathlib import Path

import anyio

from ralph.errors import WorkspaceError
from ralph.system.files import home_folders
from ralph.workspace.base import Workspace
from ralph.workspace.repository import GitError, find_repository

MOST_FILES = 100_000
"""The most files that the first checkpoint may have to read."""

_PATIENCE = 20.0
"""Seconds after which a listing that has not ended counts as one of too many files."""

_PRIVATE = (".ssh", ".aws", ".gnupg")


async def require_narrow(workspace: Workspace) -> None:
    """Raise `WorkspaceError` for a workspace that is too wide to work in unless the user insists.

    Files that git has, or ignores, do not count.
    """
    folder = workspace.path
    remedy = "Name the project's own folder with -C, or add --force if you mean all of this."
    if folder == folder.parent:
        raise WorkspaceError(f"{folder} is the whole disk: an agent that works in it may change everything.", remedy)
    within = {home for home in home_folders() if home.is_relative_to(folder)}
    if within and not (within == {folder} and await _is_project(folder)):
        problem = "it has your keys, settings and other projects, and all of them could be changed and saved"
        raise WorkspaceError(f"{folder} is, or contains, your home folder: {problem}.", remedy)
    if workspace.checkpoints is None:
        return
    number: int | None = None
    with anyio.move_on_after(_PATIENCE):
        try:
            number = await workspace.checkpoints.count_new()
        except (GitError, OSError):
            return  # the first checkpoint reports it
    if number is None or number > MOST_FILES:
        has = f"files that take more than {_PATIENCE:.0f} seconds to list" if number is None else f"{number:,} files"
        raise WorkspaceError(
            f"{folder} has {has} that are neither in git nor ignored. Ralph would read and save all of them before "
            "the first iteration.",
            f"List what is not yours to keep in .gitignore, or turn checkpoints off (checkpoints = false). {remedy}",
        )


async def _is_project(home: Path) -> bool:
    """Return whether a home folder is just a project, as in a container: a repository with files, and no keys."""
    if any((home / name).exists() for name in _PRIVATE):
        return False
    try:
        repository, within = find_repository(home) or (None, "")
        head = await repository.head() if repository and not within else None
        return bool(repository and head and await repository.git("ls-tree", "--name-only", head))
    except (GitError, WorkspaceError, OSError):
        return False

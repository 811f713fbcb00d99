"""Workspaces: the folder that the agent works in, seen through git or without it, and locked for one run at a time."""

import os
import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ralph.errors import WorkspaceError
from ralph.settings.sources import workspace_folder
from ralph.system.patterns import relative_patterns
from ralph.workspace.base import PlainWorkspace, Snapshot, Workspace
from ralph.workspace.gate import GitError, read_settings, require_git
from ralph.workspace.git import GitWorkspace
from ralph.workspace.git_settings import harmless_text, listed, users_settings
from ralph.workspace.repository import Repository, find_repository

__all__ = ["GitWorkspace", "PlainWorkspace", "Snapshot", "Workspace", "git_folders", "open_workspace", "users_git"]


def open_workspace(
    path: str | Path,
    *,
    noise: Iterable[str] = (),
    protect: Iterable[str] = (),
    checkpoints: bool = True,
    own_files: Iterable[Path] = (),
    state_dir: str | Path | None = None,
    commit_hooks: bool = False,
    confined: bool = False,
) -> GitWorkspace | PlainWorkspace:
    """Return the workspace in a folder: with git if the folder is under git and not ignored, else without.

    Args:
        path: the folder.
        noise: globs of paths that do not count as work, in addition to the usual caches.
        protect: globs of paths that are restored if the agent changes them, in addition to git's hooks and settings and
            ralph.toml.
        checkpoints: make checkpoints possible.
        own_files: files that Ralph writes itself, such as the store, in any folder. Changes of those in the workspace
            do not count, and no checkpoint and no commit contains them. A link in place of one is not followed: the
            agent may have made it.
        state_dir: the folder for locks and checkpoints; None for the user's state folder.
        commit_hooks: run the repository's hooks and filters, with the user's settings, when Ralph commits.
        confined: run git in a sandbox (bubblewrap), except for a commit with hooks.

    Raises:
        WorkspaceError: the folder does not exist, cannot be read, or has no files checked out by git; or git does not
            work in the sandbox.
        UsageError: a glob leads out of the folder.
    """
    folder = workspace_folder(path)
    noise, protect = relative_patterns(noise, folder), relative_patterns(protect, folder)
    state = Path(state_dir) if state_dir is not None else None
    places = [Path(os.path.realpath(file.parent), file.name) for file in own_files]
    own = [place.relative_to(folder).as_posix() for place in places if place.is_relative_to(folder)]
    if confined:
        require_git(folder)
    if (found := find_repository(folder, state_dir=state, confined=confined)) is None:
        opened = PlainWorkspace(folder, noise=noise, protect=protect, own_files=own, state_dir=state, confined=confined)
    else:
        repository, within = found
        opened = GitWorkspace(
            folder,
            repository,
            within=within,
            noise=noise,
            protect=protect,
            own_files=own,
            state_dir=state,
            checkpoints=checkpoints,
            hooks=commit_hooks,
        )
    if not checkpoints:
        opened.checkpoints = None
    return opened


def git_folders(path: Path) -> tuple[Path, ...]:
    """Return git's own folders outside of a workspace that is a worktree or a subfolder of a repository.

    Empty for a subfolder of a repository around the home folder or all temporary files, which are not to be seen.

    Raises:
        WorkspaceError: the repository in the workspace names a folder that does not name the workspace in turn.
    """
    from ralph.system.bubblewrap import repository_around

    if (found := find_repository(path)) is None or (found[1] and repository_around(path) is None):
        return ()
    repository = found[0]
    folders = dict.fromkeys((repository.common, repository.git_dir))
    outside = tuple(folder for folder in folders if not folder.is_relative_to(path))
    if outside and not _belongs(repository):
        raise WorkspaceError(
            f"{str(repository.top / '.git')!r} leads to {str(outside[0])!r}, which does not name it in turn: "
            "the agent could change another repository of yours.",
            f"If it is, say so: `git -C {shlex.quote(str(repository.top))} worktree repair` for a worktree, "
            f"`git config --file {shlex.quote(str(repository.common / 'config'))} core.worktree "
            f"{shlex.quote(str(repository.top))}` otherwise. Else remove what leads there: the file `.git`, or "
            "`commondir` in that folder.",
        )
    return outside


def users_git(path: Path) -> str:
    """Return the text of the settings of the user's git that start no program, for a sandbox, which hides all."""
    found = find_repository(path)
    own = (found[0].git_dir, found[0].common) if found else (path / ".git", path / ".git")
    return harmless_text(users_settings(*own))


def _belongs(repository: Repository) -> bool:
    """Return whether git's folders name the repository's top, as those of worktrees and submodules do."""
    git_dir, common, dot_git = repository.git_dir, repository.common, repository.top / ".git"
    if git_dir != common:
        back = os.fsdecode(read_settings(git_dir / "gitdir")).strip()
        return git_dir.parent == common / "worktrees" and os.path.realpath(git_dir / back) == str(dot_git)
    if git_dir == dot_git:
        return True
    for name in ("config.worktree", "config"):
        with suppress(GitError):
            if named := dict(listed(read_settings(git_dir / name))).get("core.worktree"):
                return os.path.realpath(git_dir / named) == str(repository.top)
    return False

"""Git as its user would call it: with the user's identity, settings, filters and hooks.

The protected paths among them have been given back before. Hooks that lie in the workspace itself are the agent's to
change, so they are not run.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from ralph.errors import UsageError
from ralph.system.process import run
from ralph.workspace.git_program import complaint, environment
from ralph.workspace.repository import Repository

__all__ = ["GitFailedError", "UsersGit", "under_way_in"]

_PATIENCE = 300.0
_HOOKS = {
    "commit": ("pre-commit", "prepare-commit-msg", "commit-msg"),
    "merge": ("pre-merge-commit", "prepare-commit-msg", "commit-msg"),
    "worktree": ("post-checkout",),
}
"""Those that a command runs and that can make it fail."""

_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")


class GitFailedError(Exception):
    """Git did not do it, with what it says of it in a line."""


class UsersGit:
    """Git in a repository; nobody is asked for anything, and it has five minutes for each call."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._top = repository.top
        who = {name: value for name, value in os.environ.items() if name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_"))}
        where = {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.top)}
        self._env = environment() | who | where

    async def __call__(
        self, *arguments: str, stdin: bytes = b"", more: Mapping[str, str] | None = None, fails: bool = False
    ) -> str:
        """What it prints. Raises `GitFailedError` where it fails, unless that only means that there is nothing."""
        env = self._env | dict(more or {})
        try:
            done = await run(["git", *arguments], cwd=self._top, env=env, stdin=stdin or None, timeout=_PATIENCE)
        except UsageError as error:
            raise GitFailedError(error.problem) from error
        if done.timed_out:
            raise GitFailedError(f"git took more than {_PATIENCE:.0f} s")
        if done.code and not fails:
            raise GitFailedError(complaint(done.stderr or done.stdout) or f"git ended with status {done.code}")
        return "" if done.code else done.stdout.strip()

    async def with_hooks(
        self,
        command: Literal["commit", "merge", "worktree"],
        *arguments: str,
        workspace: Path,
        more: Mapping[str, str] | None = None,
    ) -> str:
        """Does what runs the repository's hooks, but for those that the agent can change.

        Returns the words that tell a person that hooks were left out; empty where none were. Raises `GitFailedError`,
        which names the hooks that may be why, where there are any: what a hook says need not name it.
        """
        folder = (self._top / await self("rev-parse", "--git-path", "hooks")).resolve()
        if folder.is_relative_to(workspace) and not folder.is_relative_to(self._repository.common):
            await self("-c", f"core.hooksPath={os.devnull}", command, *arguments, more=more)
            return " without the hooks, which lie in the workspace,"
        try:
            await self(command, *arguments, more=more)
        except GitFailedError as error:
            hooks = [name for name in _HOOKS[command] if os.access(folder / name, os.X_OK)]
            runs = f", which runs the repository's hook {' and '.join(hooks)}," if hooks else ""
            raise GitFailedError(f"`git {command}`{runs} refused: {error}") from error
        return ""


def under_way_in(repository: Repository) -> str:
    """What a repository is in the middle of, such as "a merge"; empty where it is in the middle of nothing."""
    name = next((name for name in _UNDER_WAY if (repository.git_dir / name).exists()), "")
    return f"a {name.partition('_HEAD')[0].partition('-')[0].lower().replace('_', '-')}" if name else ""

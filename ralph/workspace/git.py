"""A workspace under git: its commit, what differs from that, and what is new in it."""

import os
from collections import deque
from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread

from ralph.types import evolve
from ralph.types.changes import Changes
from ralph.workspace.base import Snapshot, Workspace, fingerprint, summed
from ralph.workspace.branch import commits_since, take_off
from ralph.workspace.checkpoints import Checkpoints
from ralph.workspace.committing import Committed, commit_paths
from ralph.workspace.content_hash import Marks
from ralph.workspace.file_index import FileIndex
from ralph.workspace.git_program import shown
from ralph.workspace.ignore import Noise
from ralph.workspace.looking import go_on
from ralph.workspace.plain import PlainWorkspace
from ralph.workspace.protection import Protection
from ralph.workspace.repository import Repository, Status, UnreadableError

__all__ = ["GitWorkspace"]

NESTED = 16

_CLEAN = "clean"
_Between = dict[str, tuple[str, str]]
"""The content marks in two commits, by path."""


class GitWorkspace(Workspace):
    """A folder in a git repository: its top, or a folder below, and then only what lies there counts.

    A snapshot costs one `git status`, and another one for each submodule and for each repository that lies inside
    without being tracked: at most 16. What git ignores does not count; neither does what was only staged.
    When git cannot read the repository any more, the folder is compared without git, and the snapshot says why.

    Args:
        repository: the one that the folder belongs to.
        within: the folder's path in it; empty at its top.
        noise: globs of what says nothing of the agent's work, in addition to the usual ones.
        protect: globs of what the agent must not change, in addition to what is git's and ralph.toml.
        apart: paths in the folder that Ralph writes itself.
    """

    def __init__(
        self,
        path: Path,
        repository: Repository,
        *,
        within: str = "",
        noise: Iterable[str] = (),
        protect: Iterable[str] = (),
        apart: Iterable[str] = (),
        state_dir: Path | None = None,
    ) -> None:
        super().__init__(path, state_dir=state_dir)
        noise = tuple(noise)
        self._plain = PlainWorkspace(path, noise=noise, apart=apart, state_dir=state_dir)
        self.apart = self._plain.apart
        index = FileIndex(path, repository, within=within, apart=self.apart, state_dir=state_dir)
        self.checkpoints = self._checkpoints = Checkpoints(index)
        servers = repository.common / "info" / "refs"  # which git writes by itself when it cleans up
        self.protection = Protection(
            path, _gits_own(path, repository), protect, self._checkpoints.folder, but=[servers]
        )
        self._repository = repository
        self._within = within
        self._noise = Noise(noise, self.apart)
        self._marks = Marks(path, repository.algorithm)

    async def snapshot(self) -> Snapshot:
        try:
            head, paths, commits = await self._look()
        except UnreadableError as error:
            return await self._without_git(str(error))
        marks = await anyio.to_thread.run_sync(self._marks, paths, abandon_on_cancel=True) if paths else {}
        files = {shown(path): mark for path, mark in (marks | commits).items()}
        return Snapshot(fingerprint=fingerprint(head, files), head=head, files=files, seen_by="git")

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        if before.fingerprint is None or after.fingerprint is None or before.seen_by != after.seen_by:
            problem = after.problem or before.problem or "The folder was not read in the same way before."
            return summed(after, (), problem=problem)
        if after.seen_by == "folder":
            return await self._plain.changes(before, after)
        between, commits, problem = await self._between(before.head, after.head)
        paths = before.files.keys() | after.files.keys() | between.keys()
        changed = (path for path in paths if not _unchanged(path, before, after, between))
        return summed(after, changed, commits=commits, problem=problem)

    async def commits_since(self, commit: str) -> int:
        return await commits_since(self._repository, commit)

    async def take_off(self, run_id: str, commit: str) -> str:
        return await take_off(self._repository, commit, kept_at=self._checkpoints.heads(run_id))

    async def commit(self, since: str, message: str) -> Committed:
        try:
            dirty = set((await self._repository.status(self._within)).paths)
        except UnreadableError as error:
            return Committed(told=f"What was changed is not committed: {error}.")
        paths = [path for path in await self._checkpoints.changed(since) if path in dirty]
        if not paths:
            return Committed()
        index = self._checkpoints.folder / "commit.index"
        return await commit_paths(self._repository, self.path, paths, message, index=index)

    async def _look(self) -> tuple[str | None, list[bytes], dict[bytes, str]]:
        """The commit, what differs from it, and the commits of repositories inside; by path from the workspace."""
        head, found, _ = await self._repository.status(self._within)
        paths = {path.removesuffix(b"/") for path in found}
        commits: dict[bytes, str] = {}
        queue = deque(_inside(self._repository, b"", found))
        for _ in range(NESTED):
            if not queue:
                break
            path = queue.popleft()
            inner = self._repository.at(path) if self._own([path]) else None
            if inner is None:
                continue
            try:
                status = await inner.status()
            except UnreadableError:
                status = Status(None, [])
            if path in paths:
                commits[path] = f"160000 {status.head}"
            paths.update(path + b"/" + name.removesuffix(b"/") for name in status.paths)
            queue.extend(_inside(inner, path + b"/", status.paths))
        own = await anyio.to_thread.run_sync(self._own, paths)
        return head, sorted(own), {own_path: commits[path] for own_path, path in own.items() if path in commits}

    def _own(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """Of paths from the repository's top those that count, by how they are called from the workspace."""
        prefix = os.fsencode(f"{self._within}/") if self._within else b""
        own = {path[len(prefix) :]: path for path in paths if path.startswith(prefix)}
        counted: dict[bytes, bytes] = {}
        for number, (short, path) in enumerate(own.items()):
            go_on(number)
            if not self._noise(shown(short)):
                counted[short] = path
        return counted

    async def _without_git(self, reason: str) -> Snapshot:
        snapshot = await self._plain.snapshot()
        problem = f"Git cannot read the workspace ({reason}), so its files are compared without it."
        return evolve(snapshot, problem=f"{problem} {snapshot.problem}".strip())

    async def _between(self, before: str | None, after: str | None) -> tuple[_Between, int, str]:
        """What two commits differ in, how many commits the later one adds, and why that could not be told."""
        if after is None or before == after:
            return {}, 0, ""
        try:
            found = await self._repository.differences(before, after, self._within)
            own = self._own(found)
            between = {shown(short): found[path] for short, path in own.items()}
            return between, await self._repository.commits(before, after), ""
        except UnreadableError as error:
            return {}, 0, f"Git cannot tell what was committed ({error})."


def _gits_own(path: Path, repository: Repository) -> list[Path]:
    """What of a repository would be run, or says what is, when a person uses git the next time."""
    shared = [repository.common / name for name in ("hooks", "config", "info")]
    leads = [path / ".git"] if (path / ".git").is_file() else []  # in a worktree
    return [*shared, repository.git_dir / "config.worktree", *leads]


def _inside(repository: Repository, base: bytes, found: Iterable[bytes]) -> list[bytes]:
    """The paths of the repositories in one: those that it does not track, and its submodules."""
    untracked = [path.removesuffix(b"/") for path in found if path.endswith(b"/")]
    return [base + path for path in (*untracked, *repository.nested())]


def _unchanged(path: str, before: Snapshot, after: Snapshot, between: _Between) -> bool:
    """Whether a path holds what it held before. What differs from neither commit is as the commits have it."""
    old, new = between.get(path, (_CLEAN, _CLEAN))
    return before.files.get(path, old) == after.files.get(path, new)

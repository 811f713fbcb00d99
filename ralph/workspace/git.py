"""A workspace under git: its commit, the files that differ from it, and new files."""

import os
from collections import deque
from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread

from ralph.errors import WorkspaceError
from ralph.types import evolve
from ralph.types.output import Changes
from ralph.workspace.base import CommitResult, PlainWorkspace, Snapshot, fingerprint, summarize
from ralph.workspace.checkpoints import Checkpoints
from ralph.workspace.file_index import FileIndex
from ralph.workspace.protection import Protection
from ralph.workspace.repository import ANY, GitError, Repository, Status, display_path, operation_in_progress
from ralph.workspace.scan import ContentHashes, check_cancelled

NESTED = 16

_CLEAN = "clean"
_Between = dict[str, tuple[str, str]]
"""The content hashes in two commits, by path."""

_REMEDY = "Fix that, then commit it yourself: the files are as the run left them."


class GitWorkspace(PlainWorkspace):
    """A folder in a git repository: its top, or a subfolder, and then only files below it count.

    A snapshot costs one `git status`, and one more for each submodule and each untracked nested repository, at most 16.
    Ignored files do not count, and neither does staging. If git can no longer read the repository, the folder is
    compared without git, and the snapshot says why.

    Args:
        path: the folder.
        repository: its repository.
        within: the folder's path in it; empty at its top.
        noise: globs of paths that do not count as work, in addition to the usual ones.
        protect: globs of paths that the agent must not change, in addition to git's own and ralph.toml.
        own_files: paths in the folder that Ralph writes itself.
        state_dir: the folder for locks and checkpoints; None for the user's state folder.
    """

    def __init__(
        self,
        path: Path,
        repository: Repository,
        *,
        within: str = "",
        noise: Iterable[str] = (),
        protect: Iterable[str] = (),
        own_files: Iterable[str] = (),
        state_dir: Path | None = None,
    ) -> None:
        super().__init__(path, noise=noise, own_files=own_files, state_dir=state_dir)
        index = FileIndex(path, repository, within=within, own_files=self.own_files, state_dir=state_dir)
        self.checkpoints = self._checkpoints = Checkpoints(index)
        servers = repository.common / "info" / "refs"  # which git writes by itself when it cleans up
        self.protection = Protection(path, _gits_own(path, repository), protect, index.folder, but=[servers])
        self._repository = repository
        self._within = within
        self._hashes = ContentHashes(path, repository.algorithm)

    async def snapshot(self) -> Snapshot:
        try:
            head, paths, commits = await self._look()
        except GitError as error:
            seen = await super().snapshot()
            problem = f"Git cannot read the workspace ({error}), so its files are compared without it."
            return evolve(seen, problem=f"{problem} {seen.problem}".strip())
        hashes = await anyio.to_thread.run_sync(self._hashes, paths, abandon_on_cancel=True) if paths else {}
        files = {display_path(path): mark for path, mark in (hashes | commits).items()}
        return Snapshot(fingerprint=fingerprint(head, files), head=head, files=files, seen_by="git")

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        if before.fingerprint is None or after.fingerprint is None or before.seen_by != after.seen_by:
            problem = after.problem or before.problem or "The folder was not read in the same way before."
            return summarize(after, (), problem=problem)
        if after.seen_by == "folder":
            return await super().changes(before, after)
        between, commits, problem = await self._between(before.head, after.head)
        paths = before.files.keys() | after.files.keys() | between.keys()
        changed = (path for path in paths if not _unchanged(path, before, after, between))
        return summarize(after, changed, commits=commits, problem=problem)

    async def commits_since(self, commit: str) -> int:
        git = self._repository.users_git
        then = await git.line("rev-parse", "--quiet", "--verify", f"{commit}^", none=ANY)
        return int(await git.line("rev-list", "--count", f"{then}..HEAD", "--", none=ANY) or 0) if then else 0

    async def reset_branch(self, run_id: str, commit: str) -> str:
        repository, git = self._repository, self._repository.users_git
        remedy = "The branch stays as it is; you can move it with `git reset`."
        if operation := operation_in_progress(repository):
            raise WorkspaceError(f"The branch cannot be moved: {operation} is in progress in {repository.top}.", remedy)
        try:
            then = await git.line("rev-parse", "--quiet", "--verify", f"{commit}^", none=ANY)
            now = await git.line("rev-parse", "--quiet", "--verify", "HEAD", none=ANY)
            if then == now:
                return ""
            common = await git.line("merge-base", then, now, none=ANY) if then and now else ""
            if not then or common != then:
                why = "the current commit does not come after the commit of the checkpoint"
                raise WorkspaceError(f"The branch cannot be moved: {why}.", remedy)
            await git("update-ref", f"{self._checkpoints.heads(run_id)}{now[:12]}", now)
            await git("update-ref", "-m", "ralph rollback", "HEAD", then, now)
            await git("read-tree", then)  # the index moves, too; the files stay
        except GitError as error:
            raise WorkspaceError(f"The branch could not be moved: {error}.", remedy) from error
        return now

    async def commit(self, since: str, message: str) -> CommitResult:
        try:
            dirty = set((await self._repository.status(self._within)).paths)
        except GitError as error:
            return CommitResult(message=f"The changes are not committed: {error}.")
        paths = [path for path in await self._checkpoints.changed(since) if path in dirty]
        if not paths:
            return CommitResult()
        if operation := operation_in_progress(self._repository):
            return CommitResult(message=f"The changes are not committed: {operation} is in progress.")
        index = self._checkpoints.folder / "commit.index"
        _remove(index)
        try:
            return await self._commit(paths, message, {"GIT_INDEX_FILE": str(index)})
        except GitError as error:
            return CommitResult(message=f"The changes are not committed: {error}. {_REMEDY}")
        finally:
            _remove(index)

    async def _commit(self, paths: Iterable[bytes], message: str, meanwhile: dict[str, str]) -> CommitResult:
        """Commit these files through an index of its own; other changes and staged files stay as they are."""
        git = self._repository.users_git
        listed = b"".join(path + b"\0" for path in paths)
        update = ("update-index", "--add", "--remove", "-z", "--stdin")
        head = await git.line("rev-parse", "--quiet", "--verify", "HEAD", none=ANY)
        await git("read-tree", head or "--empty", env=meanwhile)
        await git(*update, stdin=listed, env=meanwhile)
        words = ("--quiet", "--message", message)
        note = await self._repository.with_hooks("commit", *words, workspace=self.path, env=meanwhile)
        await git(*update, stdin=listed)
        commit = await git.line("rev-parse", "HEAD")
        return CommitResult(commit, f"Committed{note} as {commit[:12]}: {message.partition(chr(10))[0]}")

    async def _look(self) -> tuple[str | None, list[bytes], dict[bytes, str]]:
        """Return the commit, the paths that differ from it, and the commits of nested repositories."""
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
            except GitError:
                status = Status(None, [])
            if path in paths:
                commits[path] = f"160000 {status.head}"
            paths.update(path + b"/" + name.removesuffix(b"/") for name in status.paths)
            queue.extend(_inside(inner, path + b"/", status.paths))
        own = await anyio.to_thread.run_sync(self._own, paths)
        return head, sorted(own), {own_path: commits[path] for own_path, path in own.items() if path in commits}

    def _own(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return those paths that count, by their names from the workspace."""
        prefix = os.fsencode(f"{self._within}/") if self._within else b""
        counted: dict[bytes, bytes] = {}
        for number, path in enumerate(paths):
            check_cancelled(number)
            if path.startswith(prefix) and not self._noise(display_path(path[len(prefix) :])):
                counted[path[len(prefix) :]] = path
        return counted

    async def _between(self, before: str | None, after: str | None) -> tuple[_Between, int, str]:
        """Return the difference of two commits, the number of new commits, and any problem."""
        if after is None or before == after:
            return {}, 0, ""
        try:
            found = await self._repository.differences(before, after, self._within)
            between = {display_path(short): found[path] for short, path in self._own(found).items()}
            return between, await self._repository.commits(before, after), ""
        except GitError as error:
            return {}, 0, f"Git cannot tell what was committed ({error})."


def _gits_own(path: Path, repository: Repository) -> list[Path]:
    """Return the parts of a repository that git executes, or that choose what it executes."""
    shared = [repository.common / name for name in ("hooks", "config", "info")]
    leads = [path / ".git"] if (path / ".git").is_file() else []  # in a worktree
    return [*shared, repository.git_dir / "config.worktree", *leads]


def _inside(repository: Repository, base: bytes, found: Iterable[bytes]) -> list[bytes]:
    """Return the paths of nested repositories: untracked ones and submodules."""
    untracked = [path.removesuffix(b"/") for path in found if path.endswith(b"/")]
    return [base + path for path in (*untracked, *repository.nested())]


def _unchanged(path: str, before: Snapshot, after: Snapshot, between: _Between) -> bool:
    """Return whether a path has its old content. A path that differs from neither commit is compared by them."""
    old, new = between.get(path, (_CLEAN, _CLEAN))
    return before.files.get(path, old) == after.files.get(path, new)


def _remove(index: Path) -> None:
    """Remove an index, and the lock of a killed git."""
    index.unlink(missing_ok=True)
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)

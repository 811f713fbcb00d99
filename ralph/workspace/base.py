"""The workspace interface: snapshots, changes, checkpoints, protection and the lock; and a folder without git."""

import hashlib
import os
from collections import deque
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self

import anyio.to_thread
from pydantic import BaseModel

from ralph.errors import WorkspaceError
from ralph.system.files import create_file
from ralph.types.output import Changes, Checkpoint
from ralph.types.plan import TaskPlan, read_plan
from ralph.workspace.checkpoints import Checkpoints, Restored
from ralph.workspace.file_index import FileIndex
from ralph.workspace.lock import WorkspaceLock
from ralph.workspace.nested import Nested
from ralph.workspace.protection import Protection, RestoredPaths
from ralph.workspace.repository import display_path
from ralph.workspace.scan import ContentHashes, Noise, ScanProgress, check_cancelled, in_thread, reporting_progress

FILES_NAMED = 200
FILES = 20_000
ENTRIES = 200_000

FOLDER = ".ralph"
RESPONSE = "last-response.md"
_NEW = RESPONSE + ".new"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Snapshot(BaseModel, frozen=True):
    """The state of a workspace at one moment.

    Attributes:
        fingerprint: equal for equal states; None if the workspace could not be read.
        head: the commit that is checked out; None in a plain folder or before the first commit.
        files: content hashes by path, of the files that differ from `head` (of all files in a plain folder). Two
            snapshots are compared by them.
        seen_by: the reader. Only snapshots with the same reader can be compared file by file.
        problem: why the workspace could not be read, or only in part.
    """

    fingerprint: str | None = None
    head: str | None = None
    files: dict[str, str] = {}
    seen_by: Literal["git", "checkpoint", "folder"] = "folder"
    problem: str = ""


class CommitResult(NamedTuple):
    """The result of committing a run's changes.

    Attributes:
        commit: the new commit's id; None if no commit was made.
        message: a sentence for the user; empty if there was nothing to commit.
    """

    commit: str | None = None
    message: str = ""


class Workspace:
    """The folder that the agent works in. Leaving `async with` releases it.

    Subclass it and implement `snapshot` and `changes`.

    Args:
        path: the folder; absolute.
        state_dir: the folder for the lock; None for the user's state folder.

    Attributes:
        own_files: paths in the folder that Ralph writes itself. They do not count as work, and no checkpoint contains
            them. Resuming a run adds those of its earlier processes.
        origin: the folder for which Ralph made this worktree; None if this is not one.
        onto: the branch that was checked out in `origin`; None if there was none.
        on_progress: called with the progress of scans that take longer than a second; see `reporting_progress`.
        checkpoints: the workspace's checkpoints; None if it supports none.
        protection: restores protected paths; None if the workspace has none.
    """

    origin: Path | None = None
    onto: str | None = None
    on_progress: ScanProgress | None = None
    checkpoints: Checkpoints | None = None
    protection: Protection | None = None
    _guarded = False

    def __init__(self, path: Path, *, state_dir: Path | None = None) -> None:
        self.path = path
        self.own_files: set[str] = set()
        self._lock = WorkspaceLock(path, state_dir)

    def reporting_progress(self) -> AbstractContextManager[None]:
        """Call `on_progress` every second while the block scans the workspace."""
        if self.on_progress is None:
            return nullcontext()
        return reporting_progress(self.on_progress, lambda: self.checkpoints.read if self.checkpoints else (0, 0))

    async def snapshot(self) -> Snapshot:
        """Return the present state. Never raises because of what an agent did to the folder."""
        raise NotImplementedError

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        """Return the changes between two snapshots."""
        raise NotImplementedError

    async def checkpoint(
        self, run_id: str, iteration: int, moment: Literal["before", "after"], *, seen: Snapshot | None = None
    ) -> Checkpoint:
        """Save the files as they are, except ignored ones, so that they can be restored.

        Never raises because of what an agent did. If nothing has changed since the run's last checkpoint, returns that
        one.

        Args:
            run_id: the run that the checkpoint belongs to.
            iteration: its iteration.
            moment: the moment within the iteration.
            seen: the last snapshot, which has the commit that is checked out.
        """
        if self.checkpoints is None:
            return Checkpoint()
        head = seen.head if seen is not None and seen.seen_by == "git" else None
        return await self.checkpoints.take(run_id, f"{iteration}/{moment}", head=head)

    async def difference(self, before: str, after: str | None = None, *, limit: int | None = None) -> str:
        """Return the diff of two checkpoints as git shows it; empty if one of them does not exist.

        Args:
            before: the earlier checkpoint's commit.
            after: the later one's; None for the present files.
            limit: in characters; a longer text is cut, and a last line says so.
        """
        return await self.checkpoints.difference(before, after, limit=limit) if self.checkpoints else ""

    async def restore(self, commit: str, *, force: bool = False) -> Restored:
        """Restore the files of a checkpoint, and remove those that it does not contain.

        The branch, its commits, the index and ignored files stay as they are.

        Args:
            commit: the checkpoint's.
            force: restore even if no checkpoint has the present files, or a file that no checkpoint can contain is in
                the way. The former are saved first, the latter is moved aside.

        Raises:
            WorkspaceError: the checkpoint does not exist, the files cannot be restored, or `force` is required.
        """
        if self.checkpoints is None:
            raise WorkspaceError(
                f"{self.path} has no checkpoints.", "Turn them on, or use a workspace that supports them."
            )
        return await self.checkpoints.restore(commit, force=force)

    async def commits_since(self, commit: str) -> int:
        """Return the number of commits since a checkpoint; 0 if it is unknown."""
        return 0

    async def reset_branch(self, run_id: str, commit: str) -> str:
        """Move the current branch back to its commit at a run's checkpoint; the files stay.

        Returns the former commit, which is kept as long as the run's checkpoints are; empty if nothing had to be done.

        Raises:
            WorkspaceError: other work would be lost.
        """
        raise WorkspaceError(f"{self.path} has no branch: it is not under git.", "Leave out --reset-branch.")

    async def require_author(self) -> None:
        """Check what commits need: git, checkpoints, a name and an address. Raises `WorkspaceError`."""
        if type(self).commit is Workspace.commit:
            problem = f"The run would commit, but {self.path} is not under git."
            raise WorkspaceError(problem, "Run `git init` there, or leave out --commit.")
        if self.checkpoints is None:
            problem = "The run would commit, but a commit is made from checkpoints, and these are off."
            raise WorkspaceError(problem, "Set `checkpoints = true`, or leave out --commit.")

    async def commit(self, since: str, message: str) -> CommitResult:
        """Commit the changes since a checkpoint to the current branch. Never raises.

        Changes from before the checkpoint stay uncommitted.
        """
        return CommitResult(message="The changes are not committed: the workspace is not under git.")

    async def guard(self, run_id: str) -> str:
        """Record the protected paths before an iteration.

        Returns why that failed or, the first time, the user's patterns that match nothing; else the empty string.
        """
        if self.protection is None:
            return ""
        try:
            await in_thread(self.protection.many, self.protection.remember, run_id)
        except OSError as error:
            return f"The protected paths could not be recorded: {error.strerror or error}."
        if self._guarded:
            return ""
        self._guarded = True
        unmatched = " or ".join(map(repr, self.protection.without_match()))
        return f"Nothing matches {unmatched} yet, so --protect restores nothing there." if unmatched else ""

    async def unguard(self) -> None:
        """Discard the record of `guard`: from now on the user may change these paths."""
        if self.protection is not None:
            await anyio.to_thread.run_sync(self.protection.forget)

    async def restore_protected(self, run_id: str, *, until: float | None = None) -> RestoredPaths:
        """Restore the protected paths that differ from their state before the run's last iteration.

        Args:
            run_id: the run.
            until: seconds since the epoch; later changes are left alone.
        """
        if self.protection is None or not await in_thread(self.protection.many, self.protection.differs, run_id):
            return RestoredPaths()
        return await anyio.to_thread.run_sync(partial(self.protection.restore, run_id, until=until))

    async def forget(self, run_id: str, *, free: bool = True) -> None:
        """Delete a run's checkpoints. Only who has the lock may `free` their space."""
        if self.checkpoints is not None:
            await self.checkpoints.forget(run_id, free=free)

    def plan(self, name: str | None) -> TaskPlan | None:
        """Return the task plan, or None if none exists; see `read_plan`."""
        return read_plan(self.path, name)

    def acquire(self, run_id: str) -> None:
        """Lock the workspace for a run. Raises `WorkspaceBusyError` if another run has locked it."""
        self._lock.acquire(run_id)

    def release(self) -> None:
        """Release the lock, if this run has it."""
        self._lock.release()

    def keep_response(self, text: str) -> str:
        """Write the agent's last answer to `.ralph/last-response.md`; see the function `keep_response`."""
        return keep_response(self.path, text)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class NoWorkspace(Workspace):
    """The absence of a workspace: no changes are seen, nothing is written, nothing is locked."""

    async def snapshot(self) -> Snapshot:
        return Snapshot()

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        return Changes()

    def plan(self, name: str | None) -> TaskPlan | None:
        return None

    def acquire(self, run_id: str) -> None: ...

    def keep_response(self, text: str) -> str:
        return ""


def fingerprint(head: str | None, hashes: Mapping[str, str]) -> str:
    """Return one name for a commit and content hashes by path, independent of their order."""
    digest = hashlib.blake2b((head or "").encode(), digest_size=16)
    for path, mark in sorted(hashes.items()):
        digest.update(f"\0{path}\0{mark}".encode())
    return digest.hexdigest()


def summarize(after: Snapshot, paths: Iterable[str], *, commits: int = 0, problem: str = "") -> Changes:
    """Return the changes that led to a snapshot, from the paths that differ."""
    files = sorted(paths)
    return Changes(
        fingerprint=after.fingerprint,
        files=tuple(files[:FILES_NAMED]),
        files_changed=len(files),
        commits=commits,
        problem=problem or after.problem,
    )


class PlainWorkspace(Workspace):
    """A folder without git.

    A scan reads at most 20,000 files, those nearest to the top first, and at most 200,000 folder entries. It does not
    follow links, and does not read a file again that has not changed since the last snapshot.

    Its arguments are those of `open_workspace`, with `own_files` as paths in the folder.
    """

    def __init__(
        self,
        path: Path,
        *,
        noise: Iterable[str] = (),
        protect: Iterable[str] = (),
        own_files: Iterable[str] = (),
        state_dir: Path | None = None,
        confined: bool = False,
    ) -> None:
        super().__init__(path, state_dir=state_dir)
        self.own_files.update(own_files)
        index = FileIndex(path, own_files=self.own_files, state_dir=state_dir, confined=confined)
        self.checkpoints = Checkpoints(index)
        self.protection = Protection(path, (), protect, self.checkpoints.folder)
        self._noise = Noise(noise, self.own_files)
        self._hashes = ContentHashes(path)
        self._repositories = Nested(path)

    async def guard(self, run_id: str) -> str:
        if self.protection is not None and not self.protection.recorded:  # later, what is new is never recorded here
            await self._find_inner()
        return await super().guard(run_id)

    async def restore_protected(self, run_id: str, *, until: float | None = None) -> RestoredPaths:
        await self._find_inner()
        return await super().restore_protected(run_id, until=until)

    async def _find_inner(self) -> None:
        """Find the git folders of nested repositories, which are protected like the repository's own."""
        if self.protection is not None:
            self.protection.inner = await in_thread(True, self._repositories.find, self._apart())  # noqa: FBT003

    def _apart(self) -> Collection[bytes]:
        return ()

    async def snapshot(self) -> Snapshot:
        return await anyio.to_thread.run_sync(self._scan, abandon_on_cancel=True)

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        if before.fingerprint is None or after.fingerprint is None:
            return summarize(after, (), problem=after.problem or before.problem)
        changed = {path for path, _ in before.files.items() ^ after.files.items()}
        for looked in (before, after):
            if looked.problem and looked.files:  # what lies behind its end may only have moved into the look, or out
                end = _place(next(reversed(looked.files)))
                changed = {path for path in changed if _place(path) <= end}
        return summarize(after, changed)

    def _scan(self) -> Snapshot:
        try:
            paths, whole = self._paths()
        except OSError as error:
            return Snapshot(problem=f"{str(self.path)!r} cannot be read: {error.strerror}.")
        files = {display_path(path): mark for path, mark in self._hashes(paths).items()}
        problem = "" if whole else f"Only the first {len(paths):,} files of {str(self.path)!r} are compared."
        return Snapshot(fingerprint=fingerprint(None, files), files=files, problem=problem)

    def _paths(self) -> tuple[list[bytes], bool]:
        """Return the files' paths, level by level, and whether they are all. Raises if the top is unreadable."""
        paths: list[bytes] = []
        folders = deque([b""])
        left = ENTRIES
        while folders:
            check_cancelled()
            folder = folders.popleft()
            prefix = folder + b"/" if folder else b""
            try:
                with os.scandir(os.path.join(os.fsencode(self.path), folder)) as found:  # noqa: PTH118  bytes are no Path
                    listed = islice(found, left)
                    entries = sorted((prefix + entry.name, entry.is_dir(follow_symlinks=False)) for entry in listed)
            except OSError:
                if not folder:
                    raise
                continue
            left -= len(entries)
            for path, is_folder in entries:
                if self._noise(display_path(path) + "/" * is_folder):
                    continue
                (folders if is_folder else paths).append(path)
            if left <= 0 or len(paths) > FILES:
                return paths[:FILES], False
        return paths, True


def _place(path: str) -> tuple[int, list[str]]:
    """Return a path's place in the order of the scan: level by level."""
    parts = path.split("/")
    return len(parts), parts


def keep_response(workspace: Path, text: str) -> str:
    """Write the agent's last answer to `.ralph/last-response.md`, by rename and never through a link.

    The agent can change the folder at any time: every step uses the descriptor of a folder that is not a link, so that
    nothing outside the workspace is written. If this creates the folder, it hides it from git.

    Returns why it could not be written, or the empty string.
    """
    content = text.encode("utf-8", "replace")
    try:
        if os.open in os.supports_dir_fd:
            _keep(workspace, content)
        else:
            _keep_by_name(workspace / FOLDER, content)
    except OSError as error:
        return f"{FOLDER}/{RESPONSE} could not be written: {error.strerror or error}."
    return ""


def _keep(workspace: Path, content: bytes) -> None:
    with _folder(str(workspace)) as top:
        made = False
        with suppress(FileExistsError):
            os.mkdir(FOLDER, dir_fd=top)
            made = True
        with _folder(FOLDER, top) as folder:
            if made:
                with suppress(FileExistsError):
                    create_file(".gitignore", b"*\n", folder=folder)
            with suppress(FileNotFoundError):
                os.unlink(_NEW, dir_fd=folder)
            create_file(_NEW, content, folder=folder)
            os.rename(_NEW, RESPONSE, src_dir_fd=folder, dst_dir_fd=folder)


@contextmanager
def _folder(name: str, parent: int | None = None) -> Generator[int]:
    handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK, dir_fd=parent)
    try:
        yield handle
    finally:
        os.close(handle)


def _keep_by_name(folder: Path, content: bytes) -> None:
    """Write the answer on systems without file access relative to a folder; a link is detected only before."""
    if folder.is_symlink():
        raise OSError(None, f"{FOLDER} is a link")
    made = not folder.exists()
    folder.mkdir(exist_ok=True)
    if made:
        (folder / ".gitignore").write_bytes(b"*\n")
    (folder / _NEW).unlink(missing_ok=True)
    create_file(folder / _NEW, content)
    (folder / _NEW).replace(folder / RESPONSE)

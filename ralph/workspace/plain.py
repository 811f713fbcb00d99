"""A workspace without git: a bounded scan of every file."""

import os
from collections import deque
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import anyio.to_thread

from ralph.types.output import Changes
from ralph.workspace.base import Snapshot, Workspace, fingerprint, summarize
from ralph.workspace.checkpoints import Checkpoints
from ralph.workspace.file_index import FileIndex
from ralph.workspace.ignore import Noise
from ralph.workspace.protection import Protection
from ralph.workspace.repository import display_path
from ralph.workspace.scan import ContentHashes, check_cancelled

__all__ = ["PlainWorkspace"]

FILES = 20_000
ENTRIES = 200_000


class PlainWorkspace(Workspace):
    """A folder without git.

    A scan reads at most 20,000 files, those nearest to the top first, and at most 200,000 folder entries. It does not
    follow links, and does not read a file again that has not changed since the last snapshot.

    Args:
        path: the folder.
        noise: globs of paths that do not count as work, in addition to the usual ones.
        protect: globs of paths that the agent must not change, in addition to ralph.toml.
        own_files: paths in the folder that Ralph writes itself.
        state_dir: the folder for locks and checkpoints; None for the user's state folder.
    """

    def __init__(
        self,
        path: Path,
        *,
        noise: Iterable[str] = (),
        protect: Iterable[str] = (),
        own_files: Iterable[str] = (),
        state_dir: Path | None = None,
    ) -> None:
        super().__init__(path, state_dir=state_dir)
        self.own_files.update(own_files)
        self.checkpoints = Checkpoints(FileIndex(path, own_files=self.own_files, state_dir=state_dir))
        self.protection = Protection(path, (), protect, self.checkpoints.folder)
        self._noise = Noise(noise, self.own_files)
        self._hashes = ContentHashes(path)

    async def snapshot(self) -> Snapshot:
        return await anyio.to_thread.run_sync(self._look, abandon_on_cancel=True)

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        if before.fingerprint is None or after.fingerprint is None:
            return summarize(after, (), problem=after.problem or before.problem)
        changed = {path for path, _ in before.files.items() ^ after.files.items()}
        for looked in (before, after):
            if looked.problem and looked.files:  # what lies behind its end may only have moved into the look, or out
                end = _place(next(reversed(looked.files)))
                changed = {path for path in changed if _place(path) <= end}
        return summarize(after, changed)

    def _look(self) -> Snapshot:
        try:
            paths, whole = self._paths()
        except OSError as error:
            return Snapshot(problem=f"{str(self.path)!r} cannot be read: {error.strerror}.")
        files = {display_path(path): mark for path, mark in self._hashes(paths).items()}
        problem = "" if whole else f"Only the first {len(paths):,} files of {str(self.path)!r} are looked at."
        return Snapshot(fingerprint=fingerprint(None, files), files=files, problem=problem)

    def _paths(self) -> tuple[list[bytes], bool]:
        """Return the files' paths, level by level, and whether they are all. Raises if the top is unreadable."""
        paths: list[bytes] = []
        folders = deque([b""])
        left = ENTRIES
        while folders:
            check_cancelled()
            folder = folders.popleft()
            try:
                entries = self._entries(folder, left)
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

    def _entries(self, folder: bytes, limit: int) -> list[tuple[bytes, bool]]:
        """Return a folder's entries in order, as paths from the top, and whether each is a folder."""
        prefix = folder + b"/" if folder else b""
        with os.scandir(os.path.join(os.fsencode(self.path), folder)) as found:  # noqa: PTH118  bytes are no Path
            return sorted((prefix + entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(found, limit))


def _place(path: str) -> tuple[int, list[str]]:
    """Return a path's place in the order of the scan: level by level."""
    parts = path.split("/")
    return len(parts), parts

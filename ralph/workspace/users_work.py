"""The user's uncommitted work at the start of a run, and their repository: whether both are still there."""

import json
import os
import stat
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ralph.workspace.base import Snapshot
from ralph.workspace.gate import read_list
from ralph.workspace.scan import ABSENT

_MOST = 200


class UsersWork:
    """What of the user's a run may edit but should not remove. It is kept in a file, for when the run is resumed.

    Args:
        folder: Ralph's own for the workspace.
        git: the folders of the repository, and the file that leads to it.

    Attributes:
        head: the commit that was checked out at the start.
    """

    def __init__(self, folder: Path, git: Sequence[Path]) -> None:
        self._file = folder / "users-work.json"
        self._git = tuple(dict.fromkeys(git))
        for place in self._git:  # held open, so that no other folder gets its number
            with suppress(OSError, AttributeError):
                weakref.finalize(self, os.close, os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))
        self._there = self._look()
        self._run = ""
        self.head: str | None = None
        self._files: dict[str, str] = {}

    def note(self, run_id: str, snapshot: Snapshot) -> None:
        """Note what differs from the commit at the start of a run; for a resumed run, what was noted then."""
        if self._run == run_id:
            return
        with suppress(OSError, ValueError, KeyError, TypeError):
            noted = json.loads(self._file.read_text())
            if noted["run"] == run_id:
                self._run, self.head, self._files = run_id, noted["head"], dict(noted["files"])
                return
        files = {path: mark for path, mark in snapshot.files.items() if mark != ABSENT}
        self._run, self.head, self._files = run_id, snapshot.head, files
        with suppress(OSError):
            self._file.write_text(json.dumps({"run": run_id, "head": snapshot.head, "files": files}))

    def replaced(self) -> list[str]:
        """Return `.git` if it was removed, or something else has taken its place, since this was last asked."""
        before, self._there = self._there, self._look()
        return [".git"] if before != self._there else []

    def missing(self, before: Snapshot, after: Snapshot) -> list[str]:
        """Return the files of the work that are gone or unmodified since a snapshot."""
        return [path for path in self._files if self._in(before, path) and not self._in(after, path)]

    def lost(
        self, missing: Sequence[str], after: Snapshot, between: Mapping[str, tuple[str, str]] | None
    ) -> tuple[str, ...]:
        """Return those whose content is neither committed since the start nor in another file.

        Args:
            missing: the files.
            after: the present state.
            between: the content hashes in the commit at the start and in the present one, by path; None if unknown.
        """
        kept = {*after.files.values(), *(new for _, new in (between or {}).values())}
        gone = (path for path in missing if self._files[path] not in kept)
        return tuple(path for path in gone if path in after.files or not (between is None or path in between))[:_MOST]

    def _in(self, snapshot: Snapshot, path: str) -> bool:
        """Return whether a file is there with uncommitted work; if its commit is unknown, whether it is not gone."""
        return snapshot.files.get(path, "" if snapshot.seen_by == "git" else "unchanged") not in {"", ABSENT}

    def _look(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(map(_identity, self._git))


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISREG(found.st_mode):  # in a worktree; git may write it anew
        return stat.S_IFMT(found.st_mode), 0, hash(read_list(path))
    return stat.S_IFMT(found.st_mode), found.st_dev, found.st_ino

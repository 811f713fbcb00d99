"""Content marks: what one path of a workspace holds, in a short string that is equal for equal contents.

A mark is git's own, a mode and the id of a blob (`100644 8baef1b4…`), so that a file can be compared with a commit
without asking git. To stay bounded, a file of more than 4 MiB is known by its size, its time of change and its first
and last 64 KiB, and so is, without a look inside, every file after the first 20,000 or after 64 MiB that had to be
read at once. What is neither a file nor a link is never opened.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterable

from ralph.system.files import read_regular
from ralph.workspace.looking import go_on

__all__ = ["ABSENT", "Marks"]

ABSENT = "000000"
"""The mark of a path where nothing is."""

WHOLE_FILE = 4 * 1024 * 1024
READ_AT_ONCE = 64 * 1024 * 1024
READ_ENTRIES = 20_000
_END = 64 * 1024
_SETTLED = 2_000_000_000
"""Nanoseconds after its last change from which a file's size and times are trusted: file systems' clocks are coarse."""

_Known = tuple[tuple[int, ...], str]


class Marks:
    """Marks the paths below one folder, and remembers them: a file that was not touched is not read again.

    Args:
        root: the folder.
        algorithm: that of the repository's ids, sha1 or sha256.
    """

    def __init__(self, root: os.PathLike[str], algorithm: str = "sha1") -> None:
        self._root = os.fsencode(root)
        self._algorithm = algorithm
        self._known: dict[bytes, _Known] = {}

    def __call__(self, paths: Iterable[bytes]) -> dict[bytes, str]:
        """The marks of paths relative to the root. It blocks; it never raises on what it finds."""
        known: dict[bytes, _Known] = {}
        budget = READ_AT_ONCE
        now = time.time_ns()
        marks: dict[bytes, str] = {}
        for number, path in enumerate(paths):
            go_on(number)
            try:
                found = os.lstat(self._root + b"/" + path)
            except (OSError, ValueError):
                marks[path] = ABSENT
                continue
            state = (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
            before = self._known.get(path)
            if before and before[0] == state:
                mark = before[1]
            else:
                readable = number < READ_ENTRIES and budget > 0
                budget -= min(found.st_size, WHOLE_FILE)
                mark = self._mark(self._root + b"/" + path, found, readable=readable)
            marks[path] = mark
            if now - max(found.st_mtime_ns, found.st_ctime_ns) > _SETTLED:
                known[path] = (state, mark)
        self._known = known
        return marks

    def _mark(self, path: bytes, found: os.stat_result, *, readable: bool) -> str:
        if stat.S_ISDIR(found.st_mode):
            return "040000"
        try:
            if stat.S_ISLNK(found.st_mode):
                return f"120000 {self._blob_id(os.readlink(path))}"  # noqa: PTH115  bytes are no Path
            if not stat.S_ISREG(found.st_mode):
                return f"{stat.S_IFMT(found.st_mode):06o}"
            mode = "100755" if found.st_mode & stat.S_IXUSR else "100644"
            return f"{mode} {self._content(path, found, readable=readable)}"
        except OSError as error:
            return f"{stat.S_IFMT(found.st_mode):06o} {error.strerror}"

    def _content(self, path: bytes, found: os.stat_result, *, readable: bool) -> str:
        outside = f"{found.st_size}:{found.st_mtime_ns}"
        if not readable:
            return outside
        if found.st_size <= WHOLE_FILE:
            return self._blob_id(read_regular(path, WHOLE_FILE))
        ends = read_regular(path, _END) + read_regular(path, _END, offset=found.st_size - _END)
        return f"{outside}:{self._blob_id(ends)}"

    def _blob_id(self, content: bytes) -> str:
        digest = hashlib.new(self._algorithm, b"blob %d\0" % len(content), usedforsecurity=False)
        digest.update(content)
        return digest.hexdigest()

"""Content hashes: what one path of a workspace holds, in a short string that is equal for equal contents.

A mark is git's own, a mode and the id of a blob (`100644 8baef1b4…`), so that a file can be compared with a commit
without asking git. To stay bounded, a file of more than 4 MiB is known by its size, its time of change and its first
and last 64 KiB, and so is, without a look inside, every file after the first 20,000 or after 64 MiB that had to be
read at once. What is neither a file nor a link is never opened.
"""

import asyncio
import hashlib
import os
import stat
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import NamedTuple

import anyio.from_thread

from ralph.system.files import read_regular

__all__ = [
    "ABSENT",
    "LARGEST",
    "MOST_AT_ONCE",
    "Classified",
    "ContentHashes",
    "ScanProgress",
    "check_cancelled",
    "classify",
    "passes_link",
    "reporting_progress",
]

ABSENT = "000000"
"""The mark of a path where nothing is."""

WHOLE_FILE = 4 * 1024 * 1024
READ_AT_ONCE = 64 * 1024 * 1024
READ_ENTRIES = 20_000
_END = 64 * 1024
_SETTLED = 2_000_000_000
"""Nanoseconds after its last change from which a file's size and times are trusted: file systems' clocks are coarse."""

_Known = tuple[tuple[int, ...], str]


class ContentHashes:
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
        """The hashes of paths relative to the root. It blocks; it never raises on what it finds."""
        known: dict[bytes, _Known] = {}
        budget = READ_AT_ONCE
        now = time.time_ns()
        hashes: dict[bytes, str] = {}
        for number, path in enumerate(paths):
            check_cancelled(number)
            try:
                found = os.lstat(self._root + b"/" + path)
            except (OSError, ValueError):
                hashes[path] = ABSENT
                continue
            state = (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
            before = self._known.get(path)
            if before and before[0] == state:
                mark = before[1]
            else:
                readable = number < READ_ENTRIES and budget > 0
                budget -= min(found.st_size, WHOLE_FILE)
                mark = self._hash(self._root + b"/" + path, found, readable=readable)
            hashes[path] = mark
            if now - max(found.st_mtime_ns, found.st_ctime_ns) > _SETTLED:
                known[path] = (state, mark)
        self._known = known
        return hashes

    def _hash(self, path: bytes, found: os.stat_result, *, readable: bool) -> str:
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


LARGEST = 100 * 1024 * 1024
"""Bytes of a file that is held; larger ones are left out."""

MOST_AT_ONCE = 4 * 1024 * 1024 * 1024
"""Bytes that one checkpoint reads; what is beyond that is left to the next one."""


class Classified(NamedTuple):
    """Paths by what is to be done with them.

    Attributes:
        held: files and links that can be held as they are.
        inner: folders that are repositories of their own.
        gone: where nothing is any more that could be held.
        left_out: why what is there is not held, by path.
    """

    held: list[bytes]
    inner: list[bytes]
    gone: list[bytes]
    left_out: dict[bytes, str]


def classify(top: os.PathLike[str], paths: Iterable[bytes]) -> Classified:
    """Sorts paths below a folder; it blocks, and opens nothing."""
    found = Classified([], [], [], {})
    root = os.fsencode(top) + b"/"
    budget = MOST_AT_ONCE
    links: dict[bytes, bool] = {b"": False}
    for number, path in enumerate(dict.fromkeys(path.removesuffix(b"/") for path in paths)):
        check_cancelled(number)
        try:
            state = os.lstat(root + path)
        except (OSError, ValueError):
            found.gone.append(path)
            continue
        if passes_link(root, path, links):
            found.gone.append(path)
        elif stat.S_ISDIR(state.st_mode):
            (found.inner if os.path.lexists(root + path + b"/.git") else found.gone).append(path)
        elif reason := _unheld(root + path, state, budget):
            found.left_out[path] = reason
        else:
            budget -= state.st_size
            found.held.append(path)
    return found


def passes_link(root: bytes, path: bytes, links: dict[bytes, bool]) -> bool:
    """Whether a folder on the way to a path is a link; `links` remembers what was found, with `b""` for the root."""
    folder = path.rpartition(b"/")[0]
    if folder not in links:
        links[folder] = stat.S_ISLNK(os.lstat(root + folder).st_mode) or passes_link(root, folder, links)
    return links[folder]


def _unheld(path: bytes, state: os.stat_result, budget: int) -> str:
    """Why something is not held, or the empty string."""
    if stat.S_ISLNK(state.st_mode):
        return ""
    if not stat.S_ISREG(state.st_mode):
        return "it is neither a file nor a link"
    if state.st_size > LARGEST:
        return f"it has {state.st_size / 1e6:,.0f} MB"
    if state.st_size > budget:
        return "it is too much at once"
    return "" if os.access(path, os.R_OK) else "it cannot be read"


ScanProgress = Callable[[int, int], None]
"""Told how many files were read, and of how many; of 0 where that is not known yet."""

_MOMENT = 1.0
"""Seconds after which somebody is told, and then again."""


def check_cancelled(number: int = 0) -> None:
    """Ends the work of the worker thread that calls it, if it was cancelled; in any other thread it does nothing.

    Args:
        number: of what is looked at; it finds out at every 256th only, for that takes as long as to look at a file.
    """
    if number % 256 == 0:
        with suppress(RuntimeError):
            anyio.from_thread.check_cancelled()


@contextmanager
def reporting_progress(tell: ScanProgress, read: Callable[[], tuple[int, int]]) -> Generator[None]:
    """Tells every second how far the block is, from the first second on."""
    loop = asyncio.get_running_loop()

    def told() -> None:
        nonlocal timer
        tell(*read())
        timer = loop.call_later(_MOMENT, told)

    timer = loop.call_later(_MOMENT, told)
    try:
        yield
    finally:
        timer.cancel()

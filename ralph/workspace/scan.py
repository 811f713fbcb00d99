"""Scans of many files: ignored paths, content hashes, git objects, the files that a checkpoint can contain, progress.

A content hash is git's: a mode and a blob's id (`100644 8baef1b4…`), so that a file can be compared with a commit
without git. To bound the work, a file of more than 4 MiB is identified by its size, its modification time and its first
and last 64 KiB. After 20,000 files or 64 MiB in one scan, size and time alone identify a file. Only regular files and
links are opened.
"""

import asyncio
import hashlib
import os
import re
import stat
import time
import zlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar, TypeVarTuple

import anyio.from_thread
import anyio.to_thread

from ralph.system.files import read_regular
from ralph.system.patterns import path_matcher

ABSENT = "000000"
"""The content hash of a path that does not exist."""

WHOLE_FILE = 4 * 1024 * 1024
READ_AT_ONCE = 64 * 1024 * 1024
READ_ENTRIES = 20_000
_END = 64 * 1024
SETTLED = 2_000_000_000
"""Nanoseconds after its last change until a file's size and times are trusted: file systems' clocks are coarse."""

_Known = tuple[tuple[int, ...], str]


class ContentHashes:
    """Content hashes of the paths below a folder. A file that has not changed is not read again.

    Args:
        algorithm: of the repository's ids, sha1 or sha256.
    """

    def __init__(self, root: os.PathLike[str], algorithm: str = "sha1") -> None:
        self._root = os.fsencode(root)
        self._algorithm = algorithm
        self._known: dict[bytes, _Known] = {}

    def __call__(self, paths: Iterable[bytes]) -> dict[bytes, str]:
        """Return the hashes of paths relative to the root. Blocks; never raises because of a file."""
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
            if now - max(found.st_mtime_ns, found.st_ctime_ns) > SETTLED:
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


SMALL = 64 * 1024
"""Bytes of the largest file that is not left to git."""

_TREE = "40000"
_TREE_READ = 1024 * 1024
_PACKED_AT_ONCE = 64 * 1024 * 1024
_NOT_ASCII = re.compile(rb"[^ -~]+")
_GITS_TO_JUDGE = re.compile(rb"\.git|~", re.IGNORECASE)
"""The parts of a path that git may take for another name of .git, besides characters that a file system may ignore."""


class Objects:
    """The loose objects and the refs of a repository that no one else writes to, written without git.

    Starting git takes longer than all the work of a small checkpoint. The methods block for less than that; they raise
    `OSError`.

    Args:
        algorithm: of its ids, sha1 or sha256.
    """

    def __init__(self, folder: Path, algorithm: str) -> None:
        self._folder = folder
        self._algorithm = algorithm
        self._entry = re.compile(rb"(\d+) ([^\0]+)\0(.{%d})" % hashlib.new(algorithm).digest_size, re.DOTALL)

    def commit(self, body: bytes, ref: str) -> str:
        """Write a commit, and a ref to it; return its id."""
        commit = self._write(b"commit", body)
        self._put(self._folder / ref, f"{commit}\n".encode())
        return commit

    def blob(self, top: bytes, path: bytes) -> str:
        """Write a file or a link below a folder; return its content hash.

        Raises:
            ValueError: it is for git to judge, or large.
        """
        if _GITS_TO_JUDGE.search(_NOT_ASCII.sub(b"", path)):
            raise ValueError("its name may be another one of .git")
        *parts, name = path.split(b"/")
        with ExitStack() as opened:  # an agent may put a link in the place of a folder at any time
            opened.callback(os.close, folder := os.open(top, os.O_RDONLY | os.O_DIRECTORY))
            for part in parts:
                folder = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                opened.callback(os.close, folder)
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                return f"120000 {self._write(b'blob', os.readlink(name, dir_fd=folder))}"
            content = read_regular(name, SMALL + 1, folder=folder)
        if len(content) > SMALL:
            raise ValueError("it is large")
        return f"{'100755' if mode & stat.S_IXUSR else '100644'} {self._write(b'blob', content)}"

    def tree(self, before: str, changes: Mapping[bytes, str]) -> str:
        """Write the tree that follows from another one by content hashes; return its id.

        Raises:
            ValueError: a tree that is needed is large or damaged.
            FileNotFoundError: one is in a pack.
        """
        entries = {path: hash_.split(" ") if hash_ != ABSENT else None for path, hash_ in changes.items()}
        return self._follow(before, entries) or self._write(b"tree", b"")

    def _follow(self, before: str, changes: Mapping[bytes, list[str] | None]) -> str:
        """Write the tree that follows; return its id, empty for one without entries."""
        entries = self._entries(before) if before else {}
        inner: dict[bytes, dict[bytes, list[str] | None]] = {}
        for path, entry in changes.items():
            name, below, rest = path.partition(b"/")
            if below:
                inner.setdefault(name, {})[rest] = entry
            elif entry is None and name in entries and entries[name][0] != _TREE:
                del entries[name]
        for name, within in inner.items():
            mode, old = entries.get(name, ("", ""))
            if mode == _TREE or any(within.values()):
                entries[name] = [_TREE, self._follow(old if mode == _TREE else "", within)]
        entries |= {path: entry for path, entry in changes.items() if entry and b"/" not in path}
        order = sorted((name + b"/" * (mode == _TREE), name) for name, (mode, id_) in entries.items() if id_)
        found = (b"%b %b\0%b" % (entries[name][0].encode(), name, bytes.fromhex(entries[name][1])) for _, name in order)
        return self._write(b"tree", b"".join(found)) if order else ""

    def _entries(self, tree: str) -> dict[bytes, list[str]]:
        reading = zlib.decompressobj()
        loose = reading.decompress(read_regular(self._path(tree), _TREE_READ), _TREE_READ)
        kind, _, body = loose.partition(b"\0")
        if kind != b"tree %d" % len(body) or not reading.eof:
            raise ValueError(f"the tree {tree} is large or damaged")
        return {name: [mode.decode(), id_.hex()] for mode, name, id_ in self._entry.findall(body)}

    def _write(self, kind: bytes, body: bytes) -> str:
        loose = b"%b %d\0%b" % (kind, len(body), body)
        name = hashlib.new(self._algorithm, loose, usedforsecurity=False).hexdigest()
        if not _holds(path := self._path(name), loose):
            self._put(path, zlib.compress(loose, 1))
        return name

    def remove_emptied(self) -> None:
        """Remove objects without content: git takes each that is there for whole."""
        for path in (self._folder / "objects").glob("??/*"):
            if not path.stat().st_size:
                path.unlink()

    def _path(self, name: str) -> Path:
        return self._folder / "objects" / name[:2] / name[2:]

    def _put(self, path: Path, content: bytes) -> None:
        new = self._folder / f"new.{os.getpid()}"
        new.write_bytes(content)
        try:
            new.replace(path)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            new.replace(path)


def _holds(path: Path, loose: bytes) -> bool:
    """Return whether an object is whole: a power cut may have emptied it."""
    with suppress(OSError, ValueError, zlib.error):
        return zlib.decompress(read_regular(path, _TREE_READ)) == loose
    return False


def blobs(top: Path, paths: Iterator[bytes]) -> bytes:
    """Return the next small files in the format of `git fast-import`; empty after the last."""
    root = os.fsencode(top) + b"/"
    found: list[bytes] = []
    room = _PACKED_AT_ONCE
    while room > 0 and (path := next(paths, None)) is not None:
        check_cancelled()
        with suppress(OSError):
            content = read_regular(root + path, SMALL + 1)
            if len(content) <= SMALL:
                found.append(b"blob\ndata %d\n%b\n" % (len(content), content))
                room -= len(content)
    return b"".join(found)


LARGEST = 100 * 1024 * 1024
"""Bytes of the largest file in a checkpoint; larger ones are left out."""

MOST_AT_ONCE = 4 * 1024 * 1024 * 1024
"""The most bytes that one checkpoint reads; the rest is left to the next one."""


class Classified(NamedTuple):
    """Paths by what a checkpoint does with them.

    Attributes:
        held: files and links to save.
        inner: folders that are repositories of their own.
        gone: paths where nothing exists that could be saved.
        left_out: the reason why an existing file is not saved, by path.
    """

    held: list[bytes]
    inner: list[bytes]
    gone: list[bytes]
    left_out: dict[bytes, str]


def classify(top: os.PathLike[str], paths: Iterable[bytes]) -> Classified:
    """Classify paths below a folder; blocks, and opens nothing."""
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
    """Return whether a link is among a path's parents; `links` caches results, with `b""` for the root."""
    folder = path.rpartition(b"/")[0]
    if folder not in links:
        links[folder] = stat.S_ISLNK(os.lstat(root + folder).st_mode) or passes_link(root, folder, links)
    return links[folder]


def _unheld(path: bytes, state: os.stat_result, budget: int) -> str:
    """Return why a file is not saved, or the empty string."""
    if stat.S_ISLNK(state.st_mode):
        return ""
    if not stat.S_ISREG(state.st_mode):
        return "it is neither a file nor a link"
    if state.st_size > LARGEST:
        return f"it has {state.st_size / 1e6:,.0f} MB"
    if state.st_size > budget:
        return "it is too much at once"
    return "" if os.access(path, os.R_OK) else "it cannot be read"


_Given = TypeVarTuple("_Given")
_Result = TypeVar("_Result")


async def in_thread(many: bool, function: Callable[[*_Given], _Result], *args: *_Given) -> _Result:  # noqa: FBT001
    """Call a function that reads files: in a thread if they are many; for a few, the way there would take longer."""
    return await anyio.to_thread.run_sync(function, *args, abandon_on_cancel=True) if many else function(*args)


ScanProgress = Callable[[int, int], None]
"""A callback for the number of files read, and of files to read; 0 if that is not known yet."""

_MOMENT = 1.0
"""Seconds until the first report, and between reports."""


def check_cancelled(number: int = 0) -> None:
    """End the calling worker thread's work if it was cancelled; do nothing in other threads.

    Only every 256th number of a file is checked, because a check takes as long as a file.
    """
    if number % 256 == 0:
        with suppress(RuntimeError):
            anyio.from_thread.check_cancelled()


@contextmanager
def reporting_progress(tell: ScanProgress, read: Callable[[], tuple[int, int]]) -> Generator[None]:
    """Call `tell` with the progress every second while the block runs, after the first second."""
    loop = asyncio.get_running_loop()

    def report() -> None:
        nonlocal timer
        tell(*read())
        timer = loop.call_later(_MOMENT, report)

    timer = loop.call_later(_MOMENT, report)
    try:
        yield
    finally:
        timer.cancel()


NOISE = (
    *(".ralph", ".git/", "__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/"),
    *(".coverage", ".tox/", ".nox/", ".venv/", "venv/", "node_modules/", ".gradle/"),
    *(".DS_Store", "Thumbs.db", "*.swp", "*~"),
)
"""The patterns that are always ignored. Git's own folder is included for broken repositories."""


class Noise:
    """A predicate on paths: true for those to ignore.

    Args:
        patterns: in addition to `NOISE`; see `ralph.system.patterns`.
        paths: exact paths to ignore, relative to the workspace; read anew at each call.
    """

    def __init__(self, patterns: Iterable[str] = (), paths: Collection[str] = ()) -> None:
        self._matches = path_matcher((*NOISE, *patterns))
        self._paths = paths

    def __call__(self, path: str) -> bool:
        """Return whether to ignore a path, relative to the workspace; a folder's ends in a slash."""
        return path in self._paths or self._matches(path)

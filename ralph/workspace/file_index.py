"""Ralph's own repository for a workspace: its index of the files, and trees, commits and refs made from that.

It lies in Ralph's folder in the user's state folder and holds every object that its trees need, so that neither
`rm -rf .git` nor `git gc` loses one. The index remembers each file's state, so that only changed files are read;
attributes turn every conversion off. So neither line-ending rules and filters of the repository nor an agent's
changes to its index affect a tree. The user's objects are only read, to compare the files with the commit that is
checked out.
"""

import os
import re
import shutil
import stat
import time
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.to_thread

from ralph.system.files import read_if_regular, read_regular
from ralph.system.process_tree import machine
from ralph.workspace.gate import OURS, READING, Git, GitError, environment, first_line, in_sandbox, read_list
from ralph.workspace.lock import folder_key, state_folder
from ralph.workspace.repository import STATUS, Look, Repository, display_path, read_look, unquote_path
from ralph.workspace.scan import (
    ABSENT,
    NOISE,
    SMALL,
    Classified,
    ContentHashes,
    Objects,
    blobs,
    classify,
    in_thread,
    passes_link,
)

LISTED = 512 * 1024 * 1024
"""The most bytes of a list of files, or of a diff, that are read."""

_AT_ONCE = 20_000
_MANY = 1000
"""The number of files from which packing pays: single objects cost ten times the disk work."""

_FEW = 100
_AHEAD = 32
"""Paths in which the last tree may be ahead of the index: git reads those again at each look."""

_SLOW = 0.1
"""Seconds of a look from which it pays that git keeps what it saw for the next one."""

_NAMES_READ = 128 * 1024 * 1024
_INNER = 16
_SPECIAL = re.compile(rb"(filemode|symlinks)\s*=\s*false|ignorecase\s*=\s*true", re.IGNORECASE)
"""Settings by which git sees other files than the system does."""

_UNCONVERTED = "* -text -crlf -eol -ident -filter -working-tree-encoding !diff !merge\n"
_SETTINGS = tuple(
    word
    for key, value in (
        *OURS,
        ("core.sparseCheckout", "false"),
        ("core.untrackedCache", "true"),
        ("status.showUntrackedFiles", "all"),
        ("index.version", "4"),
    )
    for word in ("-c", f"{key}={value}")
)
_ROOMY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_TOP_PAD_": str(1 << 24)}
"""Settings that make the C library keep memory: git allocates 256 KiB for each file that it adds, half of the time."""

_AUTHOR = "Ralph <ralph@localhost>"
_NO_COMMIT = "ref: refs/heads/none\n"


class Tree(NamedTuple):
    """A git tree of the files, and the files that it leaves out, with the reason."""

    id: str
    left_out: dict[bytes, str]


class FileIndex:
    """The index of one workspace. Only the process that has locked the workspace may use it.

    Args:
        repository: its repository; None for a folder without git.
        within: the workspace's path in it; empty at its top.
        own_files: paths in the workspace that no tree contains because Ralph writes them; the set may grow.
        state_dir: the parent of Ralph's own folder; None for the user's state folder.
        keeps: contents are kept; without, files can only be compared.

    Attributes:
        top: the folder that the tree's paths start from.
        folder: Ralph's own folder for the workspace, out of the agent's reach.
        read, to_read: the number of files that the current scan has read, and has to read.
        removed: pipes that git waited for, which were removed; it may be cleared.
    """

    read = to_read = 0

    def __init__(
        self,
        path: Path,
        repository: Repository | None = None,
        *,
        within: str = "",
        own_files: set[str] | None = None,
        state_dir: Path | None = None,
        keeps: bool = True,
        confined: bool = False,
    ) -> None:
        self.folder = (state_dir or state_folder()) / "checkpoints" / folder_key(path)
        if repository is None:  # it may have been one in which the folder was not the top
            within = first_line(self.folder / "within")
        self.top = path.parents[within.count("/")] if within else path
        self.repository = repository
        self._theirs = repository.borrowed if repository else {}
        own = environment(GIT_DIR=str(self.folder), GIT_WORK_TREE=str(self.top))
        if not keeps:
            own["GIT_INDEX_FILE"] = str(self.folder / "seen.index")
        confine = repository.confine if repository else partial(in_sandbox, readable=(path,)) if confined else None
        writable = (self.folder, self.top)
        words = (*_SETTINGS, *READING)
        self._git = Git(own, words, timeout=900.0, confine=confine, writable=writable, remove=self._remove)
        self._path = path
        self._keeps = keeps
        self._within = (within,) if within else ()
        self.own_files = set[str]() if own_files is None else own_files
        self._lock = anyio.Lock()
        self._taken_out: set[bytes] = set()
        self._ready = False
        self._excluded: bytes | None = None
        self._head: str | None = None
        self._pointed = False
        self._inner: set[bytes] = set()
        self._left_out: dict[bytes, str] = {}
        self._tree: str | None = None
        self._ahead: dict[bytes, str] = {}
        self._objects, self._hashes = Objects(self.folder, "sha1"), ContentHashes(self.top)
        self._left_to_git = self._slow = False
        self._forced: list[bytes] = []
        self.removed: list[str] = []

    @property
    def kept_folders(self) -> frozenset[str]:
        """The folders that stay even if empty: the workspace and its parents."""
        return frozenset(str(folder) for within in self._within for folder in (Path(within), *Path(within).parents))

    @property
    def own_files_from_top(self) -> set[bytes]:
        """The paths that no tree contains, from `top`."""
        return {os.fsencode("/".join((*self._within, path))) for path in self.own_files}

    def shown(self, path: bytes) -> str:
        """Return a path of a tree as it is named from the workspace."""
        return os.path.relpath(self.top / display_path(path), self._path)

    @property
    def apart(self) -> frozenset[bytes]:
        """The paths that the last tree has left out, and those of nested repositories."""
        return frozenset((*self._left_out, *self._inner))

    async def look(self, head: str | None) -> Look:
        """Return how the files differ from a commit and from the last tree. The first time, all files are read.

        Args:
            head: the commit, usually the user's; None for none.

        Raises:
            GitError: git cannot read the files, or the commit.
            OSError: Ralph's folder cannot be used.
        """
        async with self._lock:
            await self._begin()
            if not self._keeps and not (self._pointed and self._head == head and (self.folder / "seen.index").exists()):
                await self._git("read-tree", *(("-i", "-m", head) if head else ("--empty",)), env=self._theirs)
            return await self._status(head)

    async def tree(self, look: Look | None = None) -> Tree:
        """Return the files as they are now, or were at a look a moment ago. Rebuilds a broken index, once.

        Raises:
            GitError: git cannot read the files.
            OSError: Ralph's folder cannot be used.
        """
        async with self._lock:
            try:
                await self._begin()
                if look is None:
                    head = self._head
                    with suppress(GitError):
                        head = await self.repository.head() if self.repository else head
                    look = await self._status(head)
                return await self._take(look)
            except GitError:
                await anyio.to_thread.run_sync(self._begin_anew)
                await self._begin()
                return await self._take(await self._status(None))
            finally:
                self.read = self.to_read = 0

    async def commit(self, tree: str, message: str, ref: str) -> str:
        """Write a commit of the last tree, and a ref to it; note it for the next scan. Raises `OSError`."""
        who = f"{_AUTHOR} {int(time.time())} +0000"
        body = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{message}"
        commit = self._objects.commit(body.encode("utf-8", "replace"), ref)
        last = os.open(self.folder / "last", os.O_WRONLY | os.O_CREAT, 0o600)  # one that was emptied is written at once
        with os.fdopen(last, "wb") as file:
            file.write(b"%b\n%b" % (commit.encode(), b"\0".join(self._ahead)))
            file.truncate()
        if self.repository is None:  # the next scan is compared with it
            self._point(commit)
        return commit

    async def count_new(self) -> int:
        """Return the number of files that git and the checkpoints lack, without ignored ones. Raises `GitError`."""
        words = ("ls-files", "--others", "--exclude-standard")
        if self.repository is not None:
            return len(await self.repository.git(*words, "--", *self._within, max_output=_NAMES_READ))
        return len(await self.own_git(*words, *(f"--exclude={glob}" for glob in NOISE), max_output=_NAMES_READ))

    @property
    def last(self) -> str:
        """The commit of the last tree, also an earlier process's; empty if none was made."""
        return first_line(self.folder / "last")

    async def own_git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        none: Collection[int] = (),
        env: Mapping[str, str] | None = None,
        max_output: int = LISTED,
    ) -> list[str]:
        """Run git in Ralph's own repository. It finds the user's objects, too: older checkpoints are there."""
        await self._prepare()
        return await self._git(
            *arguments, stdin=stdin, none=none, env={**self._theirs, **(env or {})}, max_output=max_output
        )

    async def refs(self, form: str, prefix: str) -> list[str]:
        """Return the refs below a prefix, formatted by `git for-each-ref`: Ralph's own, and older ones."""
        words = ("for-each-ref", f"--format={form}", prefix)
        found = await self.own_git(*words)
        with suppress(GitError):
            found += await self.repository.git(*words, max_output=LISTED) if self.repository else []
        return found

    async def forget(self, refs: list[str], *, free: bool) -> None:
        """Delete refs, and `free` the space of what only they, or refs that are gone, kept.

        That would remove what another process is writing.
        """
        if refs:
            await self.own_git("update-ref", "--stdin", stdin="".join(f"delete {ref}\n" for ref in refs).encode())
        if refs and free:
            self._point(None)
            if not await self.own_git("for-each-ref", "--count=1"):
                await anyio.to_thread.run_sync(self._begin_anew)  # the index holds the present files
            await self.own_git("prune", "--expire=now")  # frees most at once, also if packing takes too long
            await self.own_git("-c", "core.bigFileThreshold=1m", "gc", "--quiet", "--prune=now")

    async def _begin(self) -> None:
        await self._prepare()
        self._make_ready_to_write()
        fresh = not (self.folder / "index").exists()
        if self._keeps and (fresh or self._forced):
            look = await self._status(None if fresh else self._head)
            look.missing += self._forced
            await self._take(look)
        self._forced = []

    async def _status(self, head: str | None) -> Look:
        if self.repository is not None:
            self._point(head)
        began, keep = time.monotonic(), {"GIT_OPTIONAL_LOCKS": str(int(self._slow))}
        lines = await self._git(*STATUS, *self._within, env=self._theirs | keep, max_output=LISTED)
        self._slow = time.monotonic() - began > _SLOW
        look = await in_thread(len(lines) > _MANY, read_look, lines)
        if ahead := self._ahead:
            links: dict[bytes, bool] = {b"": False}
            root = os.fsencode(self.top) + b"/"
            for path, mark in self._hashes(ahead).items():
                look.hashes[path] = ABSENT if mark != ABSENT and passes_link(root, path, links) else mark
            look.changed = [path for path in look.changed if path not in ahead]
            look.changed += [path for path, mark in ahead.items() if look.hashes[path] != mark]
            look.missing = [path for path in look.missing if path not in ahead]
        return look

    def _remove(self, pipes: Sequence[Path]) -> None:
        for pipe in pipes:  # it holds nothing
            pipe.unlink(missing_ok=True)
            self.removed.append(str(pipe))

    def _point(self, commit: str | None) -> None:
        if not self._pointed or self._head != commit:
            self._pointed = False
            (self.folder / "HEAD").write_text(f"{commit}\n" if commit else _NO_COMMIT)
            self._head, self._pointed = commit, True

    async def _take(self, look: Look) -> Tree:
        """Write the tree of a look, without git if little has changed since the last one."""
        own_files = self.own_files_from_top
        paths = [path for path in (*look.changed, *look.missing) if path not in own_files]
        before, self._tree = self._tree, None  # should this be ended on the way, what it has done is in the index
        tree = self._next_tree(before, paths) if before and own_files <= self._taken_out else None
        self._tree = tree or await self._through_index(before, look, [*paths, *self._ahead.keys() - own_files])
        return Tree(self._tree, self._left_out | dict.fromkeys(self._inner, "it is a repository of its own"))

    def _next_tree(self, before: str, paths: list[bytes]) -> str | None:
        """Write the tree that follows from another one, and leave the index behind; None if that takes git."""
        if self._left_to_git or len(self._ahead.keys() | paths) > _AHEAD:
            return None
        found = classify(self.top, paths)
        if found.inner:
            return None
        marks = dict.fromkeys((*found.gone, *found.left_out), ABSENT)
        try:
            marks |= {path: self._objects.blob(os.fsencode(self.top), path) for path in found.held}
            tree = self._objects.tree(before, marks)  # it is not there if the run that it was made in was removed
        except (OSError, ValueError, zlib.error):
            return None
        self._ahead |= marks
        self._inner.difference_update(found.gone)
        self._left_out = found.left_out
        return tree

    async def _through_index(self, before: str | None, look: Look, paths: list[bytes]) -> str:
        """Update the index by a look, and write its tree."""
        own_files = self.own_files_from_top
        found = await in_thread(len(paths) > _FEW, classify, self.top, paths)
        await self._name_inner(found)
        absent = look.untracked.union(look.missing)
        gone = [path for path in (*found.gone, *found.left_out) if path not in absent]
        gone += own_files - self._taken_out  # an earlier run's trees may have held them
        held = [*found.held, *found.inner]
        if gone:
            nothing = b"0" * (40 if self._algorithm == "sha1" else 64)
            lines = b"".join(b"0 %b\t%b\0" % (nothing, path) for path in gone)
            await self._git("update-index", "-z", "--index-info", stdin=lines)
        self._taken_out, self._left_out = own_files, found.left_out
        if held:
            await self._add_files(held)
        if before and not gone and not held and not self._ahead:
            return before
        (tree,) = await self._git("write-tree")
        self._ahead = {}
        return tree

    async def _add_files(self, paths: list[bytes]) -> None:
        """Read files into the objects and the index. An interrupted call keeps what it has read."""
        update = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        self.to_read = len(paths)
        try:
            for start in range(0, len(paths), _AT_ONCE):
                self.read = start
                some = paths[start : start + _AT_ONCE]
                if len(some) >= _MANY and not any((self.folder / "objects" / "pack").glob("*.keep")):
                    await self._pack(some)
                await self._git(*update, stdin=b"".join(path + b"\0" for path in some), env=_ROOMY)
        except GitError:  # one of them may have become unreadable: all the others, then
            await self._git("add", "--all", "--ignore-errors", "--", *self._within, none=(1,))

    async def _pack(self, paths: list[bytes]) -> None:
        """Write small files into packs, where git finds them when it reads the files."""
        rest = iter(paths)
        try:
            while packed := await anyio.to_thread.run_sync(blobs, self.top, rest):
                await self._git("-c", "core.fsync=none", "fast-import", "--quiet", "--depth=0", stdin=packed)
        except GitError:
            return
        finally:
            for unfinished in (self.folder / "objects" / "pack").glob("tmp_*"):
                unfinished.unlink(missing_ok=True)

    async def _name_inner(self, found: Classified) -> None:
        """Leave out nested repositories without a commit, and those beyond the first few."""
        here = self.repository or Repository(self.top, self.folder)
        for number, path in enumerate(tuple(found.inner)):
            inner = here.at(path) if number < _INNER else None
            with suppress(GitError):
                if inner is not None and await inner.head():
                    continue
            found.inner.remove(path)
            found.left_out[path] = "it is a repository of its own"
        self._inner.update(found.inner)
        self._inner.difference_update(found.gone)

    @property
    def _algorithm(self) -> str:
        if self.repository is not None:
            return self.repository.algorithm
        return "sha256" if b"sha256" in read_if_regular(self.folder / "config", SMALL) else "sha1"

    async def _prepare(self) -> None:
        if self._ready:
            return
        folder = self.folder
        await anyio.to_thread.run_sync(lambda: folder.mkdir(parents=True, exist_ok=True, mode=0o700))
        if not (folder / "config").exists():
            words = ("init", "--quiet", "--bare", "--template=", f"--object-format={self._algorithm}", str(folder))
            await Git(environment(), _SETTINGS, confine=self._git.confine, writable=(folder,))(*words)
        await anyio.to_thread.run_sync(self._set_up)
        ahead = read_list(folder / "last").partition(b"\n")[2][:-1]
        self._forced = ahead.split(b"\0") if ahead and self._keeps else []
        if (folder / "index").exists():
            staged = await self._git("ls-files", "--stage", max_output=LISTED)
            self._inner = {unquote_path(line.partition("\t")[2]) for line in staged if line.startswith("160000 ")}
        if self.repository is not None and self._keeps:
            words = ("ls-files", "--cached", "--ignored", "--exclude-standard", "--", *self._within)
            with suppress(GitError):  # an index that the agent has broken
                listed = await self.repository.git(*words, max_output=LISTED)
                self._forced += map(unquote_path, listed)
        self._ready = True

    def _set_up(self) -> None:
        info = self.folder / "info"
        info.mkdir(exist_ok=True)
        if read_list(info / "attributes")[:-1] != _UNCONVERTED.encode():  # another process may read it now
            (info / "attributes").write_text(_UNCONVERTED)
        (self.folder / "workspace").write_bytes(os.fsencode(self._path))
        self._objects = Objects(self.folder, self._algorithm)
        if first_line(self.folder / "boot") != machine():  # a power cut may have emptied the newest files
            self._objects.remove_emptied()
            (self.folder / "boot").write_text(machine())
        self._hashes = ContentHashes(self.top, self._algorithm)
        config = read_regular(self.folder / "config", SMALL)
        self._left_to_git = os.open not in os.supports_dir_fd or bool(_SPECIAL.search(config))
        if self.repository is not None:
            (self.folder / "within").write_text("".join(self._within))
            if self._keeps and not (self.folder / "index").exists():
                _take_packs(self.repository.common / "objects" / "pack", self.folder / "objects" / "pack")

    def _make_ready_to_write(self) -> None:
        """Remove the lock of a killed git, and update the list of ignored paths: the repository's own, or the noise."""
        if self._excluded is None:  # a process that only reads must leave the lock of a writer alone
            for index in ("index", "seen.index"):
                (self.folder / f"{index}.lock").unlink(missing_ok=True)
        here = _literally(os.fsencode("/".join(("", *self._within, ""))))
        own_files = [os.fsencode(path) for path in sorted(self.own_files) if "\n" not in path]  # it is a list of lines
        own = b"".join(here + path + b"\n" for path in (b".ralph/", *map(_literally, own_files)))
        if self.folder.is_relative_to(self.top):
            own += os.fsencode(f"/{self.folder.parent.parent.relative_to(self.top)}/checkpoints/\n")
            own += os.fsencode(f"/{self.folder.parent.parent.relative_to(self.top)}/git/\n")
        content = self.repository.excluded if self.repository else b"".join(glob.encode() + b"\n" for glob in NOISE)
        if self._excluded != content + own:
            (self.folder / "info" / "exclude").write_bytes(content + own)
            self._excluded = content + own

    def _begin_anew(self) -> None:
        """Discard the index, which is only a cache, and repair everything else at the next use."""
        for name in ("index", "index.lock", "seen.index", "seen.index.lock", "config", "config.lock"):
            (self.folder / name).unlink(missing_ok=True)
        self._pointed = False
        with suppress(FileNotFoundError):
            self._point(None)
        self._ready, self._tree, self._ahead = False, None, {}
        self._inner, self._taken_out = set(), set()


def _literally(path: bytes) -> bytes:
    return re.sub(rb"[\\*?\[ ]", rb"\\\g<0>", path)


_COPIED_AT_MOST = 64 * 1024 * 1024
"""Bytes of the user's packs that are copied; more are hard links, which an agent can still overwrite in place."""


def _take_packs(theirs: Path, ours: Path) -> None:
    """Keep the packs that a repository has: copies of small ones, hard links to large ones; else git writes objects."""
    packs = [path for path in theirs.glob("pack-*.pack") if stat.S_ISREG(path.lstat().st_mode)]
    put = shutil.copyfile if sum(path.lstat().st_size for path in packs) <= _COPIED_AT_MOST else os.link
    ours.mkdir(parents=True, exist_ok=True)
    for path in packs:
        index = path.with_suffix(".idx")
        with suppress(OSError):
            if stat.S_ISREG(index.lstat().st_mode):
                put(path, ours / path.name, follow_symlinks=False)
                (ours / path.name).with_suffix(".keep").touch()
                put(index, ours / index.name, follow_symlinks=False)

"""Ralph's own index of a workspace's files: writes them byte for byte as a tree of git objects.

The objects go to the user's repository, if there is one. Everything else lies in Ralph's folder in the user's state
folder: the index, which remembers each file's state so that only changed files are read; empty settings; attributes
that turn every conversion off. So neither line-ending rules and filters of the repository nor an agent's changes to its
index affect the tree. For a folder without git, the objects and refs lie in Ralph's folder, too.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread

from ralph.system.files import read_regular
from ralph.workspace.lock import folder_key, state_folder
from ralph.workspace.repository import SAFE, STATUS, Git, GitError, Repository, environment, read_status, unquote_path
from ralph.workspace.scan import NOISE, Classified, check_cancelled, classify

LISTED = 512 * 1024 * 1024
"""The most bytes of a list of files, or of a diff, that are read."""

_AT_ONCE = 20_000
_MANY = 1000
"""The number of files from which packing pays: single objects cost ten times the disk work."""

_SMALL = 64 * 1024
_PACKED_AT_ONCE = 64 * 1024 * 1024
_NAMES_READ = 128 * 1024 * 1024
_INNER = 16
_EXCLUDES_READ = 256 * 1024
_UNCONVERTED = "* -text -crlf -eol -ident -filter -working-tree-encoding\n"
_HEAD = ("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
_SETTINGS = (
    *SAFE,
    *("-c", "core.bare=false"),
    *("-c", "core.sparseCheckout=false"),
    *("-c", "core.untrackedCache=true"),
    *("-c", "status.showUntrackedFiles=all"),
    *("-c", "submodule.recurse=false"),
    *("-c", "index.version=4"),
)
_ROOMY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_TOP_PAD_": str(1 << 24)}
"""Settings that make the C library keep memory: git allocates 256 KiB for each file, half of the time."""

_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ralph"), ("EMAIL", "ralph@localhost"))
}


class Tree(NamedTuple):
    """A git tree of the files, and the files that it leaves out, with the reason."""

    id: str
    left_out: dict[bytes, str]


class FileIndex:
    """The index of one workspace. Only the process that has locked the workspace may use it.

    Args:
        path: the workspace.
        repository: its repository; None for a folder without git.
        within: the workspace's path in it; empty at its top.
        own_files: paths in the workspace that no tree contains because Ralph writes them; the set may grow.
        state_dir: the parent of Ralph's own folder; None for the user's state folder.

    Attributes:
        top: the folder that the tree's paths start from.
        own_files: the given set.
        folder: Ralph's own folder for the workspace, out of the agent's reach.
        users_git: git in the repository that has the refs: the user's, if there is one.
        read, to_read: the number of files that the current scan has read, and has to read.
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
    ) -> None:
        self.top = repository.top if repository else path
        self.folder = (state_dir or state_folder()) / "checkpoints" / folder_key(path)
        self.repository = repository
        refs = repository.git.env if repository else environment() | {"GIT_DIR": str(self.folder)}
        self.users_git = Git(self.top, {**refs, **_IDENTITY})
        own = {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.top), **_ROOMY}
        if repository is not None:
            own["GIT_OBJECT_DIRECTORY"] = str(repository.common / "objects")
        self._git = Git(self.top, environment() | own, (*_SETTINGS, "--literal-pathspecs"), timeout=900.0)
        self._path = path
        self._within = (within,) if within else ()
        self.own_files = set[str]() if own_files is None else own_files
        self._taken_out: set[bytes] = set()
        self._ready = False
        self._excluded: bytes | None = None
        self._users_index: tuple[str | None, int] | None = None
        self._inner: set[bytes] = set()
        self._tree: str | None = None

    @property
    def kept_folders(self) -> frozenset[str]:
        """The folders that stay even if empty: the workspace and its parents."""
        return frozenset(str(folder) for within in self._within for folder in (Path(within), *Path(within).parents))

    @property
    def own_files_from_top(self) -> set[bytes]:
        """The paths that no tree contains, from `top`."""
        return {os.fsencode("/".join((*self._within, path))) for path in self.own_files}

    async def tree(self, head: str | None = None) -> Tree:
        """Return the files as they are now. Rebuilds a broken index, once.

        Args:
            head: the commit that is checked out, if it is known.

        Raises:
            GitError: git cannot read the files.
            OSError: Ralph's folder cannot be used.
        """
        try:
            return await self._look(head)
        except GitError:
            await anyio.to_thread.run_sync(self._begin_anew)
            return await self._look(head)
        finally:
            self.read = self.to_read = 0

    async def count_new(self) -> int:
        """Return the number of files that are neither in git, nor in a checkpoint, nor ignored.

        Raises:
            GitError: git cannot list them.
        """
        words = ("ls-files", "--others", "--exclude-standard")
        if self.repository is not None:
            return len(await self.repository.git(*words, "--", *self._within, max_output=_NAMES_READ))
        return len(await self.own_git(*words, *(f"--exclude={glob}" for glob in NOISE), max_output=_NAMES_READ))

    async def remember(self, commit: str) -> None:
        """Compare the next scan with a commit of the last tree."""
        await anyio.to_thread.run_sync((self.folder / "HEAD").write_text, f"{commit}\n")

    async def own_git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        none: Collection[int] = (),
        env: Mapping[str, str] | None = None,
        max_output: int = LISTED,
    ) -> list[str]:
        """Run git with Ralph's own index, settings and attributes, and the user's objects.

        Ralph's own objects can be read, too: the folder may have come under git since they were made.
        """
        await self._prepare()
        both = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.folder / "objects"), **(env or {})}
        return await self._git(*arguments, stdin=stdin, none=none, env=both, max_output=max_output)

    async def refs(self, form: str, prefix: str) -> list[str]:
        """Return the refs below a prefix, formatted by `git for-each-ref`: the user's and Ralph's own."""
        words = ("for-each-ref", f"--format={form}", prefix)
        theirs = await self.users_git(*words, max_output=LISTED)
        return theirs if self.repository is None else [*theirs, *await self.own_git(*words)]

    async def _look(self, head: str | None) -> Tree:
        await self._prepare()
        await anyio.to_thread.run_sync(self._make_ready_to_write)
        lines = await self._git(*STATUS, *self._within, max_output=LISTED)
        status = await anyio.to_thread.run_sync(read_status, lines)
        own_files = self.own_files_from_top
        paths = [path for path in (*status.paths, *await self._tracked_but_ignored(head)) if path not in own_files]
        found = await anyio.to_thread.run_sync(classify, self.top, paths)
        await self._name_inner(found)
        untracked = {path.removesuffix(b"/") for path in status.untracked}
        gone = [path for path in (*found.gone, *found.left_out) if path not in untracked]
        gone += own_files - self._taken_out  # an earlier run's trees may have held them
        held = [*found.held, *found.inner]
        tree = self._tree if not gone and not held else None
        self._tree = None  # should the look be ended on the way, what it has done is in the index
        if gone:
            nothing = b"0" * (40 if self._algorithm == "sha1" else 64)
            lines = b"".join(b"0 %b\t%b\0" % (nothing, path) for path in gone)
            await self._git("update-index", "-z", "--index-info", stdin=lines)
        self._taken_out = own_files
        if held:
            await self._add_files(held)
        if tree is None:
            (tree,) = await self._git("write-tree")
        self._tree = tree
        left_out = found.left_out | dict.fromkeys(self._inner, "it is a repository of its own")
        return Tree(tree, left_out)

    async def _add_files(self, paths: list[bytes]) -> None:
        """Read files into the objects and the index. An interrupted call keeps what it has read."""
        update = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        self.to_read = len(paths)
        try:
            for start in range(0, len(paths), _AT_ONCE):
                self.read = start
                some = paths[start : start + _AT_ONCE]
                if self.repository is None and len(some) >= _MANY:
                    await self._pack(some)
                await self._git(*update, stdin=b"".join(path + b"\0" for path in some))
        except GitError:  # one of them may have become unreadable: all the others, then
            await self._git("add", "--all", "--ignore-errors", "--", *self._within, none=(1,))

    async def _pack(self, paths: list[bytes]) -> None:
        """Write small files into packs, where git finds them when it reads the files."""
        rest = iter(paths)
        try:
            while blobs := await anyio.to_thread.run_sync(_blobs, self.top, rest):
                await self._git("-c", "core.fsync=none", "fast-import", "--quiet", "--depth=0", stdin=blobs)
        except GitError:
            return
        finally:
            for unfinished in (self.folder / "objects" / "pack").glob("tmp_*"):
                unfinished.unlink(missing_ok=True)

    async def _name_inner(self, found: Classified) -> None:
        """Leave out nested repositories without a commit, and those beyond the first few."""
        for number, path in enumerate(tuple(found.inner)):
            inner = self.top / os.fsdecode(path)
            git = Git(inner, environment() | {"GIT_DIR": str(inner / ".git")})
            if number >= _INNER or not await git(*_HEAD, none=(1,)):
                found.inner.remove(path)
                found.left_out[path] = "it is a repository of its own"
        self._inner.update(found.inner)
        self._inner.difference_update(found.gone)

    async def _tracked_but_ignored(self, head: str | None) -> list[bytes]:
        """Return tracked files that are ignored, if there may be more than in the last scan."""
        if self.repository is None:
            return []
        with suppress(OSError):
            state = (head, (self.repository.git_dir / "index").stat().st_size)
            if state != self._users_index:
                words = ("ls-files", "--cached", "--ignored", "--exclude-standard", "--", *self._within)
                lines = await self.users_git(*words, max_output=LISTED)
                self._users_index = state
                return [unquote_path(line) for line in lines]
        return []

    @property
    def _algorithm(self) -> str:
        return self.repository.algorithm if self.repository else "sha1"

    async def _prepare(self) -> None:
        if self._ready:
            return
        folder = self.folder
        await anyio.to_thread.run_sync(lambda: folder.mkdir(parents=True, exist_ok=True, mode=0o700))
        if not (folder / "config").exists():
            words = ("init", "--quiet", "--bare", "--template=", f"--object-format={self._algorithm}", str(folder))
            await Git(folder, environment(), SAFE)(*words)
        await anyio.to_thread.run_sync(self._set_up)
        if self.repository is not None and (
            named := await self.users_git.line("config", "--type=path", "--get", "core.excludesFile", none=(1,))
        ):
            options = (*_SETTINGS, "-c", f"core.excludesFile={named}", "--literal-pathspecs")
            self._git = replace(self._git, options=options)
        if (folder / "index").exists():
            staged = await self._git("ls-files", "--stage", max_output=LISTED)
            self._inner = {unquote_path(line.partition("\t")[2]) for line in staged if line.startswith("160000 ")}
        self._ready = True

    def _set_up(self) -> None:
        info = self.folder / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(_UNCONVERTED)
        (self.folder / "workspace").write_bytes(os.fsencode(self._path))

    def _make_ready_to_write(self) -> None:
        """Remove the lock of a killed git, and update the list of ignored paths.

        Besides .gitignore, those are in the repository's own list, or the usual noise.
        """
        if self._excluded is None:  # a process that only reads must leave the lock of a writer alone
            (self.folder / "index.lock").unlink(missing_ok=True)
        here = _literally(os.fsencode("/".join(("", *self._within, ""))))
        own_files = [os.fsencode(path) for path in sorted(self.own_files) if "\n" not in path]  # it is a list of lines
        own = b"".join(here + path + b"\n" for path in (b".ralph/", *map(_literally, own_files)))
        if self.folder.is_relative_to(self.top):
            own += os.fsencode(f"/{self.folder.parent.relative_to(self.top)}/\n")
        if self.repository is None:
            content = b"".join(glob.encode() + b"\n" for glob in NOISE)
        else:
            try:
                content = read_regular(self.repository.common / "info" / "exclude", _EXCLUDES_READ) + b"\n"
            except OSError:
                content = b""
        if self._excluded != content + own:
            (self.folder / "info" / "exclude").write_bytes(content + own)
            self._excluded = content + own

    def _begin_anew(self) -> None:
        """Discard the index, which is only a cache, and repair everything else at the next use."""
        for name in ("index", "index.lock", "config", "config.lock"):
            (self.folder / name).unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            (self.folder / "HEAD").write_text("ref: refs/heads/none\n")
        self._ready, self._tree, self._users_index = False, None, None
        self._inner, self._taken_out = set(), set()


def _literally(path: bytes) -> bytes:
    """Escape a path for a list of ignored paths."""
    return re.sub(rb"[\\*?\[ ]", rb"\\\g<0>", path)


def _blobs(top: Path, paths: Iterator[bytes]) -> bytes:
    """Return the next small files in the format of `git fast-import`; empty after the last."""
    root = os.fsencode(top) + b"/"
    found: list[bytes] = []
    room = _PACKED_AT_ONCE
    while room > 0 and (path := next(paths, None)) is not None:
        check_cancelled()
        with suppress(OSError):
            content = read_regular(root + path, _SMALL + 1)
            if len(content) <= _SMALL:
                found.append(b"blob\ndata %d\n%b\n" % (len(content), content))
                room -= len(content)
    return b"".join(found)

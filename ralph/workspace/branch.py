"""The branch that is checked out, moved to another commit together with the user's index.

An agent may exchange anything in a repository for a link at any time, also between a check and the write after it. So
git writes nothing there: it makes objects, and a copy of the index, in a folder of Ralph's. They are put in place, with
the ref and its log, from folders that were opened first: no path is followed again. No lock of git's is held before.
"""

import os
import re
import shutil
import stat
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, NamedTuple

import anyio
import anyio.to_thread

from ralph.workspace.gate import ANY, Git, GitError, first_line, read_list
from ralph.workspace.git_settings import is_on
from ralph.workspace.repository import EMPTY_TREES, Repository, unquote_path
from ralph.workspace.scan import ABSENT

_UPDATE = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LOCK = "{!r} cannot be made ({}): another git holds it, or left it"
_PATIENCE = 5.0
"""Seconds for which another git may hold a lock, or change the index."""

_PAUSE = 0.1
_SAME = 5_000_000_000
"""Nanoseconds between the note of a lock and its last change."""

_FOLLOW = """{ git diff-tree --quiet "$then" HEAD ||
git diff-tree -r -z --name-only --no-renames "$then" HEAD |
git --literal-pathspecs reset --quiet --pathspec-from-file=- --pathspec-file-nul; }"""
"""Sets the entries of the files that were committed; without one of them, `git reset` would set all."""

_COMMIT = f"""c() {{ then=$1; shift
git commit "$@" || return
unset GIT_INDEX_FILE
for i in 1 2 3 4 5; do {_FOLLOW} && return; sleep 1; done; return 1; }}; c"""
"""A commit by the user's git, which the user's index then follows. One script does both, should Ralph be killed."""

_SETTLE = f"""s() {{ then=$1
git diff-tree -r -z --name-only --no-renames "$then" HEAD |
xargs -0 git --literal-pathspecs diff-index --cached --quiet "$then" -- && {_FOLLOW}; }}; s"""
"""The same where the script was ended in between, unless the user has staged one of the files since."""

_RALPH = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ralph"), ("EMAIL", "ralph@localhost"))
}
_UNSETTLED = (
    ". But git could not write the index, so it still has the files from before, as `git status` shows: "
    "run `git reset` when no other git runs."
)


class _BusyError(GitError):
    """Another git holds a lock, or has changed the index since it was copied."""


class _Folder(NamedTuple):
    path: Path
    handle: int


class Branch:
    """The branch that is checked out, or HEAD, and the user's index.

    Args:
        repository: the user's. Its folders must stay the ones that they are now.
        scratch: a folder of Ralph's for what is being made; it exists only meanwhile.
    """

    def __init__(self, repository: Repository, scratch: Path) -> None:
        self._repository = repository
        self._scratch = scratch
        self._before = scratch.with_name("commit.before")
        places = (repository.git_dir, repository.common, repository.common / "objects")
        self._places = [(path, path.stat() if path.is_dir() else None) for path in places]

    async def commit(self, listed: bytes, message: str) -> str | None:
        """Commit files as they are, other changes and staged files stay; return the commit.

        Returns None if the files are as in the last commit. Paths end in a zero byte. Raises `GitError`.
        """
        head = await self._repository.head()
        async with self._working() as git:
            await self._fill(git, head, listed)
            (tree,) = await git("write-tree", "--missing-ok")
            if head and tree == await git.line("rev-parse", f"{head}^{{tree}}"):
                return None
            parent = ("-p", head) if head else ()
            (commit,) = await git("commit-tree", tree, *parent, "-F", "-", stdin=message.encode("utf-8", "replace"))
            why = f"commit{'' if head else ' (initial)'}: {message.partition(chr(10))[0]}"
            await self._move(git, head, commit, *_UPDATE, stdin=listed, why=why)
            return commit

    async def commit_with_hooks(self, listed: bytes, message: str, workspace: Path) -> tuple[str, str, str]:
        """Commit files as the user's git does, with hooks, and without a lock while one runs. Raises `GitError`.

        Returns the commit, a phrase if hooks were left out, and any problem.
        """
        repository = self._repository
        head, until = await repository.head(), time.monotonic() + _PATIENCE
        while (lock := repository.git_dir / "index.lock").exists():
            if time.monotonic() > until:
                raise GitError(_NO_LOCK.format(str(lock), "File exists"))
            await anyio.sleep(_PAUSE)
        await self.settle()
        async with self._working() as own:
            index = {"GIT_INDEX_FILE": own.env["GIT_INDEX_FILE"]}
            await self._fill(replace(repository.open_git, env={**repository.open_git.env, **index}), head, listed)
            then = head or EMPTY_TREES[repository.algorithm]
            words = (then, "--quiet", "--message", message)
            note = problem = ""
            self._before.write_text(then)
            try:
                note = await repository.with_hooks("commit", *words, workspace=workspace, env=index, alias=_COMMIT)
            except GitError:
                if await repository.head() == head:
                    raise
                problem = "" if await self.settle() else _UNSETTLED
            except BaseException:  # git was ended, perhaps after it had committed
                with anyio.CancelScope(shield=True):
                    await self.settle()
                raise
        self._before.unlink(missing_ok=True)
        return await repository.head() or "", note, problem

    async def settle(self) -> bool:
        """Let the index follow a commit with hooks in which Ralph was stopped or killed; return whether it did."""
        if not self._before.exists():
            return True
        then = self._before.read_text()
        self._before.unlink()
        with suppress(GitError, OSError):
            head = await self._repository.head()
            before = await self._repository.git.line("rev-parse", "--quiet", "--verify", f"{head}^", none=ANY)
            if head and head != then and then in (before, EMPTY_TREES[self._repository.algorithm]):
                async with self._working() as git:
                    words = ("-c", f"alias.ralph-settle=!{_SETTLE}", "ralph-settle", then)
                    await self._move(git, head, head, *words, why="ralph: settle the index")
                return True
        return False

    async def move_back(self, then: str, now: str, kept: str) -> None:
        """Move the branch to an earlier commit, and keep the present one by a ref. Raises `GitError`.

        The index follows, except for what is staged.
        """
        staged = await self._repository.git("diff-index", "--cached", "--name-only", now, "--")
        found = await self._repository.differences(now, then)
        nothing = f"0 {'0' * len(now)}"
        paths = found.keys() - set(map(unquote_path, staged))
        marks = ((nothing if found[path][1] == ABSENT else found[path][1], path) for path in sorted(paths))
        listed = b"".join(b"%b\t%b\0" % (mark.encode(), path) for mark, path in marks)
        async with self._working() as git:
            words = ("update-index", "-z", "--index-info") if self._index() else ("read-tree", then)
            await self._move(git, now, then, *words, stdin=listed, why="ralph rollback", kept=kept)

    async def merge(self, branch: str) -> None:
        """Bring the commits of another branch in, with their files. Raises `GitError`; then nothing has changed."""
        head, git = await self._repository.head(), self._repository.git
        theirs = await git.line("rev-parse", "--verify", f"refs/heads/{branch}")
        if head is None:
            raise GitError("there is no commit yet")
        async with self._working(self._repository.top) as working:
            commit, why = theirs, "Fast-forward"
            if await git.line("merge-base", head, theirs, none=ANY) != head:
                tree = await working.line("merge-tree", "--write-tree", head, theirs)
                words = ("commit-tree", tree, "-p", head, "-p", theirs, "-m", f"Merge branch '{branch}'")
                commit, why = await working.line(*words), "Merge made by Ralph."
            files = ("read-tree", "-m", "-u", head, commit)
            await self._move(working, head, commit, *files, why=f"merge {branch}: {why}", held=True)

    async def delete(self, branch: str, tip: str) -> None:
        """Delete another branch, if it still is at a commit. Raises `GitError` or `OSError`."""
        name = f"refs/heads/{branch}"
        self.clear()
        self._scratch.mkdir(parents=True, mode=0o700)
        with ExitStack() as stack:
            common = stack.enter_context(_opened(*self._places[1]))
            if (first_line(common.path / name) or self._repository.packed().get(name)) != tip:
                raise GitError(f"{branch} was moved by another git")
            if self._repository.packed().get(name):
                with self._locked(common, "packed-refs") as file:
                    line = rb"^[0-9a-f]+ %b\n(?:\^[0-9a-f]+\n)?" % re.escape(os.fsencode(name))
                    file.write(re.sub(line, b"", read_list(common.path / "packed-refs")[:-1], flags=re.MULTILINE))
            for each in (name, f"logs/{name}"):
                with suppress(FileNotFoundError), _parent(common, each) as (at, last):
                    os.unlink(last, dir_fd=at)
        shutil.rmtree(self._scratch, ignore_errors=True)

    async def keep(self, own: Path, checkpoint: str, entries: str, ref: str, on: str) -> str:
        """Return a new commit with a checkpoint's files and some entries, which a ref keeps. Raises `GitError`.

        Args:
            own: Ralph's repository with the checkpoint.
            on: its parent.
        """
        async with self._working(own) as git:
            allowed = ("-c", "protocol.file.allow=always", "-c", "fetch.fsckObjects=true")
            words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", str(own), checkpoint)
            await git(*allowed, *words, env={"GIT_ALLOW_PROTOCOL": "file"})
            await git("read-tree", f"{checkpoint}^{{tree}}")
            await git("update-index", "--index-info", stdin=entries.encode("utf-8", "surrogateescape"))
            tree = await git.line("write-tree", "--missing-ok")
            (kept,) = await git("commit-tree", "-p", on, "-m", f"Ralph run {ref.split('/')[2]}", tree, env=_RALPH)
            with ExitStack() as stack:
                folders = [stack.enter_context(_opened(*place)) for place in self._places]
                await anyio.to_thread.run_sync(self._put_objects, folders[2])
                with self._locked(folders[1], ref) as file:
                    file.write(f"{kept}\n".encode())
            return kept

    def remove(self, worktree: Path, git_dir: Path, before: os.stat_result) -> None:
        """Remove a worktree that still is the folder from before, and git's folder of it; blocks.

        Raises:
            GitError: it is another folder.
            OSError: it cannot be removed whole.
        """
        with _opened(worktree.parent, worktree.parent.stat()) as (_, at):
            aside = f"removed-{token_hex(8)}"
            os.rename(worktree.name, aside, src_dir_fd=at, dst_dir_fd=at)
            same = os.path.samestat(os.stat(aside, dir_fd=at, follow_symlinks=False), before)
            try:
                if same:
                    shutil.rmtree(aside, dir_fd=at)
            finally:
                with suppress(FileNotFoundError):
                    os.rename(aside, worktree.name, src_dir_fd=at, dst_dir_fd=at)
            if not same:
                raise GitError(f"{str(worktree)!r} is another folder than before")
        with _opened(*self._places[1]) as common, _parent(common, f"worktrees/{git_dir.name}") as (at, name):
            shutil.rmtree(name, dir_fd=at)
        with suppress(OSError):
            (self._repository.common / "worktrees").rmdir()

    def clear(self) -> None:
        """Remove what a killed Ralph has left: files of its own, and locks of git's that are still its own.

        Blocks. If the branch was moved by then, the index follows.
        """
        with suppress(OSError, ValueError, GitError):
            commit, *notes = (self._scratch / "locks").read_text().splitlines()
            moved = self._repository.tip()[1] == commit
            for inode, when, name in (note.split(" ", 2) for note in notes):
                lock = Path(name)
                found = lock.lstat() if os.path.lexists(lock) else None  # it is in place
                if found and found.st_ino == int(inode) and abs(found.st_mtime_ns - int(when)) < _SAME:
                    lock.replace(lock.with_suffix("")) if moved and lock.name == "index.lock" else lock.unlink()
        shutil.rmtree(self._scratch, ignore_errors=True)

    @asynccontextmanager
    async def _working(self, *more: Path) -> AsyncGenerator[Git]:
        """Make the scratch folder; yield a git that writes an index and objects in it, and in `more` folders."""
        self.clear()
        (self._scratch / "objects").mkdir(parents=True, mode=0o700)
        names = {"GIT_INDEX_FILE": "index", "GIT_OBJECT_DIRECTORY": "objects"}
        own = {key: str(self._scratch / name) for key, name in names.items()} | self._repository.borrowed
        users = self._repository.users_git
        try:
            yield replace(users, env={**users.env, **own}, writable=(self._scratch, *more), require=None)
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)

    async def _fill(self, git: Git, head: str | None, listed: bytes) -> None:
        await git("read-tree", head or "--empty")
        await git(*_UPDATE, stdin=listed)

    async def _move(
        self,
        git: Git,
        old: str | None,
        new: str,
        *words: str,
        why: str,
        stdin: bytes = b"",
        kept: str = "",
        held: bool = False,
    ) -> None:
        """Move the branch, and the user's index by a call of git that is made on a copy of it; `held`, under its lock.

        Raises `GitError` also if another git holds a lock for seconds.
        """
        who = await git.line("var", "GIT_COMMITTER_IDENT", none=ANY) or f"Ralph <> {int(time.time())} +0000"
        log = f"{old or '0' * len(new)} {new} {who}\t{why}\n".encode("utf-8", "surrogateescape")
        copy, until = self._scratch / "users.index", time.monotonic() + _PATIENCE
        own = replace(git, env={**git.env, "GIT_INDEX_FILE": str(copy)})
        make = partial(own.now, *words, check=True, timeout=git.timeout) if held else None
        while True:
            before = await anyio.to_thread.run_sync(self._copy_index, copy)
            if not held:
                await own(*words, stdin=stdin)
            try:
                with ExitStack() as stack:
                    folders = [stack.enter_context(_opened(*place)) for place in self._places]
                    (self._scratch / "locks").write_text(f"{new if new != old else ''}\n")
                    await anyio.to_thread.run_sync(self._put_objects, folders[2])
                    if kept:
                        with self._locked(folders[1], kept) as file:
                            file.write(f"{old}\n".encode())
                    move = partial(self._move_ref, folders[0], folders[1], old, new, log)
                    return await anyio.to_thread.run_sync(self._put_index, folders[0], copy, before, make, move)
            except _BusyError:
                if time.monotonic() > until:
                    raise
            await anyio.sleep(_PAUSE)

    def _copy_index(self, copy: Path) -> tuple[bytes, int] | None:
        """Copy the user's index with its time, by which git knows which files may have changed since; return both."""
        if (found := self._index()) is not None:
            copy.write_bytes(found[0])
            os.utime(copy, ns=(found[1], found[1]))
        return found

    def _put_index(
        self,
        folder: _Folder,
        copy: Path,
        before: tuple[bytes, int] | None,
        make: Callable[[], object] | None,
        move: Callable[[], None],
    ) -> None:
        """Put the changed copy in the place of the user's index, and move the branch under the same lock."""
        with self._locked(folder, "index") as file:
            if self._index() != before:
                raise _BusyError("another git changes the index all the time")
            if make is not None:
                make()
            file.write(copy.read_bytes())
            file.flush()
            when = copy.stat().st_mtime_ns
            os.utime(file.fileno(), ns=(when, when))
            move()

    def _move_ref(self, own: _Folder, common: _Folder, old: str | None, new: str, log: bytes) -> None:
        name, _ = self._repository.tip()
        if not name:
            if self._repository.confine is None:
                raise GitError(self._repository.unpinned)
            words = ("update-ref", "-m", "ralph", "HEAD", new, old or "0" * len(new))
            self._repository.users_git.now(*words, check=True)
            return
        place = own if name == "HEAD" else common
        with self._locked(place, name) as file:
            if self._repository.tip() != (name, old):
                raise GitError(f"{name} was moved by another git")
            file.write(f"{new}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        if is_on(self._repository.settings, "core.logallrefupdates", default="true"):
            _append(place, f"logs/{name}", log)
            if name != "HEAD":
                _append(own, "logs/HEAD", log)

    def _put_objects(self, objects: _Folder) -> None:
        made = self._scratch / "objects"
        files = [path for path in made.rglob("*") if path.is_file()]
        for path in sorted(files, key=lambda path: path.suffix == ".idx"):  # a pack before its index
            mode = stat.S_IMODE(path.stat().st_mode)
            name, new = str(path.relative_to(made)), f"tmp_obj_{token_hex(8)}"  # git removes a forgotten one
            with path.open("rb") as source, _replacing(objects, name, new, mode) as file:
                shutil.copyfileobj(source, file)

    @contextmanager
    def _locked(self, folder: _Folder, name: str) -> Generator[BinaryIO]:
        """Replace a file under git's lock, and note that the lock is Ralph's."""
        with _replacing(folder, name) as file:
            about = os.fstat(file.fileno())
            with (self._scratch / "locks").open("a") as notes:
                notes.write(f"{about.st_ino} {about.st_mtime_ns} {folder.path / name}.lock\n")
            yield file

    def _index(self) -> tuple[bytes, int] | None:
        try:
            handle = os.open(self._repository.git_dir / "index", os.O_RDONLY | _NO_LINK)
        except FileNotFoundError:
            return None
        with os.fdopen(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise GitError("the index is no file")
            return file.read(), about.st_mtime_ns


@contextmanager
def _opened(path: Path, before: os.stat_result | None) -> Generator[_Folder]:
    """Open a folder, if it still is the one that it was."""
    handle = os.open(path, _FOLDER)
    try:
        if before is None or not os.path.samestat(os.fstat(handle), before):
            raise GitError(f"{str(path)!r} is another folder than when Ralph started")
        yield _Folder(path, handle)
    finally:
        os.close(handle)


@contextmanager
def _parent(folder: _Folder, name: str) -> Generator[tuple[int, str]]:
    """Open the folder of a file below another, made if it does not exist. No link is followed."""
    *parts, last = name.split("/")
    with ExitStack() as stack:
        at = folder.handle
        for part in parts:
            mode, new = _mode(at), False
            with suppress(FileExistsError):
                os.mkdir(part, mode, dir_fd=at)
                new = True
            at = os.open(part, _FOLDER | _NO_LINK, dir_fd=at)
            stack.callback(os.close, at)
            if new:
                os.fchmod(at, mode)
        yield at, last


def _mode(folder: int) -> int:
    """Return the permissions of a folder, which new ones in it get, too: a repository may be shared with a group."""
    return stat.S_IMODE(os.fstat(folder).st_mode)


@contextmanager
def _replacing(folder: _Folder, name: str, new: str = "", mode: int = 0) -> Generator[BinaryIO]:
    """Open a new file next to another, which it replaces at the end of the block; if that raises, it is removed."""
    with _parent(folder, name) as (at, last):
        new = new or f"{last}.lock"
        try:
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600, dir_fd=at)
        except OSError as error:
            kind = _BusyError if isinstance(error, FileExistsError) else GitError
            raise kind(_NO_LOCK.format(str((folder.path / name).with_name(new)), error.strerror)) from error
        try:
            with os.fdopen(handle, "wb") as file:
                os.fchmod(handle, mode or _mode(at) & 0o666)
                yield file
            try:
                os.replace(new, last, src_dir_fd=at, dst_dir_fd=at)
            except IsADirectoryError:
                _remove_empty(last, at)
                os.replace(new, last, src_dir_fd=at, dst_dir_fd=at)
        except BaseException:
            os.unlink(new, dir_fd=at)
            raise


def _remove_empty(name: str, at: int, depth: int = 8) -> None:
    """Remove a folder with nothing but folders in it, as git leaves them where it packs refs. Raises `OSError`."""
    handle = os.open(name, _FOLDER | _NO_LINK, dir_fd=at)
    try:
        for folder in os.listdir(handle) if depth else ():  # noqa: PTH208  a handle is no Path
            _remove_empty(folder, handle, depth - 1)
    finally:
        os.close(handle)
    os.rmdir(name, dir_fd=at)


def _append(folder: _Folder, name: str, line: bytes) -> None:
    """Add a line to a log, unless that is a link or no file of its own."""
    with suppress(OSError), _parent(folder, name) as (at, last):
        handle = os.open(last, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_LINK, 0o600, dir_fd=at)
        with os.fdopen(handle, "ab") as file:
            about = os.fstat(handle)
            if stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
                file.write(line)
                if not about.st_size:
                    os.fchmod(handle, _mode(at) & 0o666)

"""Checkpoints: the files of a workspace as they were, kept byte for byte as commits on private refs.

The commits lie in the user's repository under `refs/ralph/<run>/…`, and their parent is the commit that was checked
out, so that git's own clean-up keeps what they need. All else that git needs for them is in a folder of Ralph's own
in the user's state folder: the index, which remembers the state of each file so that only changed ones are read; the
settings, which are none; the attributes, which turn every conversion off. The user's branch, index, stash, settings
and hooks have no part in it. A folder that is under no git has its objects and refs in that folder of Ralph's own.
"""

import json
import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import anyio
import anyio.to_thread

from ralph.changes import Checkpoint
from ralph.regular_file import read_regular
from ralph.workspace.git_program import UnreadableError, ask, environment, unquoted
from ralph.workspace.hold import folder_key, state_folder
from ralph.workspace.noise import NOISE
from ralph.workspace.repository import STATUS, Repository, read_status
from ralph.workspace.sorting import Sorted, sort

__all__ = ["Checkpoints"]

_MOMENT = 1.0
"""Seconds for which a checkpoint counts as one of now, before an iteration."""

_LISTED = 512 * 1024 * 1024
_PATIENCE = 900.0
_NAMED = 5
_NOTED = 1000
_INNER = 16
_EXCLUDES_READ = 256 * 1024
_NOTE = "Left-Out: "
_HEAD = ("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
_UNCONVERTED = "* -text -crlf -eol -ident -filter -working-tree-encoding\n"
_SETTINGS = (
    *("-c", "core.bare=false"),
    *("-c", "core.sparseCheckout=false"),
    *("-c", "core.untrackedCache=true"),
    *("-c", "status.showUntrackedFiles=all"),
    *("-c", "submodule.recurse=false"),
    *("-c", "index.version=4"),
)
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ralph"), ("EMAIL", "ralph@localhost"))
}
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_PLAIN_NAME = re.compile(r"[0-9A-Za-z_-]{1,100}", re.ASCII)


class _Tree(NamedTuple):
    """The files as git's tree, and which of them it does not hold, with the reason."""

    id: str
    left_out: dict[bytes, str]


class _Last(NamedTuple):
    """The last checkpoint, with the run that it is of, the commit that was checked out, its tree and its time."""

    run_id: str
    head: str | None
    tree: str
    checkpoint: Checkpoint
    at: float


class Checkpoints:
    """The checkpoints of one workspace.

    Args:
        path: the workspace.
        repository: the one that it belongs to; None for a folder without git.
        within: the workspace's path in it; empty at its top.
        state_dir: where Ralph's own folder lies; None for the user's state folder.
    """

    def __init__(
        self, path: Path, repository: Repository | None = None, *, within: str = "", state_dir: Path | None = None
    ) -> None:
        self._path = path
        self._top = repository.top if repository else path
        self._within = within
        self._repository = repository
        self._state_dir = state_dir
        self._lock = anyio.Lock()
        self._ready = False
        self._excludes: tuple[str, ...] = ()
        self._excluded: bytes | None = None
        self._users_index: tuple[str | None, int] | None = None
        self._inner: set[bytes] = set()
        self._known_tree: str | None = None
        self._last: _Last | None = None

    @property
    def folder(self) -> Path:
        """Ralph's own folder for the workspace."""
        return (self._state_dir or state_folder()) / "checkpoints" / folder_key(self._path)

    async def take(self, run_id: str, name: str, *, head: str | None = None) -> Checkpoint:
        """Holds the files as they are now; the last checkpoint again where nothing has changed since.

        It never raises on what an agent may have done, and leaves out what it cannot hold.

        Args:
            name: of the checkpoint within its run, such as "3/after".
            head: the commit that is checked out.
        """
        async with self._lock:
            last = self._last
            if (
                last is not None
                and last.run_id == run_id
                and monotonic() - last.at < _MOMENT
                and name.endswith("before")
            ):
                return last.checkpoint
            try:
                tree = await self._tree(head)
                problem = _told(tree.left_out)
                if last is not None and last[:3] == (run_id, head, tree.id):
                    commit = last.checkpoint.commit
                else:
                    commit = await self._keep(tree, f"refs/ralph/{_safe(run_id)}/{name}", head)
            except (UnreadableError, OSError) as error:
                return Checkpoint(problem=f"No checkpoint could be made: {error}.")
            self._last = _Last(run_id, head, tree.id, Checkpoint(commit=commit, problem=problem), monotonic())
            return self._last.checkpoint

    async def difference(self, before: str, after: str | None = None, *, limit: int | None = None) -> str:
        """What two checkpoints differ in, as git shows it; empty where one of them is not there any more.

        Args:
            after: None for the files as they are now.
            limit: in characters; of a longer text the beginning is given, and a line that says so.
        """
        async with self._lock:
            try:
                await self._prepare()
                later = after or (await self._tree()).id
                if not _ID.fullmatch(before) or not _ID.fullmatch(later):
                    return ""
                lines = await self._own(
                    *("diff-tree", "-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv", before, later),
                    max_output=4 * limit if limit else _LISTED,
                )
            except (UnreadableError, OSError):
                return ""
        text = "".join(f"{line}\n" for line in lines)
        if limit is None or len(text) <= limit:
            return text
        return f"{text[:limit]}\n[the rest of the difference is left out]\n"

    async def _tree(self, head: str | None = None) -> _Tree:
        """The files as they are now. What of Ralph's own folder is broken is made anew, once."""
        try:
            return await self._look(head)
        except UnreadableError:
            await anyio.to_thread.run_sync(self._begin_anew)
            return await self._look(head)

    async def _look(self, head: str | None) -> _Tree:
        await self._prepare()
        await anyio.to_thread.run_sync(self._copy_excludes)
        within = [self._within] if self._within else []
        status = read_status(await self._own(*STATUS, *within, max_output=_LISTED))
        paths = [*status.paths, *await self._tracked_but_ignored(head)]
        found = await anyio.to_thread.run_sync(sort, self._top, paths)
        await self._name_inner(found)
        untracked = {path.removesuffix(b"/") for path in status.untracked}
        gone = [path for path in (*found.gone, *found.left_out) if path not in untracked]
        if gone:
            nothing = b"0" * (40 if self._algorithm == "sha1" else 64)
            lines = b"".join(b"0 %b\t%b\0" % (nothing, path) for path in gone)
            await self._own("update-index", "-z", "--index-info", stdin=lines)
        if held := [*found.held, *found.inner]:
            await self._hold(held)
        if gone or held or self._known_tree is None:
            (self._known_tree,) = await self._own("write-tree")
        left_out = found.left_out | dict.fromkeys(self._inner, "it is a repository of its own")
        return _Tree(self._known_tree, left_out)

    async def _hold(self, paths: list[bytes]) -> None:
        """Reads files into the objects and the index."""
        update = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        try:
            await self._own(*update, stdin=b"".join(path + b"\0" for path in paths))
        except UnreadableError:  # one of them may have become unreadable: all the others, then
            within = [self._within] if self._within else []
            await self._own("add", "--all", "--ignore-errors", "--", *within, none=1)

    async def _name_inner(self, found: Sorted) -> None:
        """Leaves out those repositories inside that have no commit yet, and those beyond the first few."""
        for number, path in enumerate(tuple(found.inner)):
            inner = self._top / os.fsdecode(path)
            env = environment() | {"GIT_DIR": str(inner / ".git")}
            found_head = number < _INNER and await ask(*_HEAD, cwd=inner, env=env, none=1)
            if not found_head:
                found.inner.remove(path)
                found.left_out[path] = "it is a repository of its own"
        self._inner.update(found.inner)
        self._inner.difference_update(found.gone)

    async def _tracked_but_ignored(self, head: str | None) -> list[bytes]:
        """What the user's index has although it is ignored, where there may be more of that than at the last look."""
        if self._repository is None:
            return []
        with suppress(OSError):
            state = (head, (self._repository.git_dir / "index").stat().st_size)
            if state != self._users_index:
                within = [self._within] if self._within else []
                lines = await self._users("ls-files", "--cached", "--ignored", "--exclude-standard", "--", *within)
                self._users_index = state
                return [unquoted(line) for line in lines]
        return []

    async def _keep(self, tree: _Tree, ref: str, head: str | None) -> str:
        """A commit of the tree on a private ref."""
        parent = ["-p", head] if head else []
        message = f"{ref}\n\n{_noted(tree.left_out)}"
        (commit,) = await self._users("commit-tree", tree.id, *parent, stdin=message.encode())
        try:
            await self._users("update-ref", ref, commit)
        except UnreadableError:  # a killed git may have left its lock on that very name
            await self._users("update-ref", f"{ref}-{commit[:12]}", commit)
        await anyio.to_thread.run_sync((self.folder / "HEAD").write_text, f"{commit}\n")
        return commit

    async def _own(self, *arguments: str, stdin: bytes = b"", none: int = 0, max_output: int = 1 << 20) -> list[str]:
        """Asks git with Ralph's own index, settings and attributes, and the user's objects."""
        env = environment() | {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self._top)}
        if self._repository is not None:
            env["GIT_OBJECT_DIRECTORY"] = str(self._repository.common / "objects")
        settings = (*_SETTINGS, *self._excludes, "--literal-pathspecs")
        return await ask(
            *settings,
            *arguments,
            cwd=self._top,
            env=env,
            stdin=stdin,
            none=none,
            patience=_PATIENCE,
            max_output=max_output,
        )

    async def _users(self, *arguments: str, stdin: bytes = b"", none: int = 0) -> list[str]:
        """Asks git about the repository that has the refs: the user's, where there is one."""
        env = self._repository.env if self._repository else environment() | {"GIT_DIR": str(self.folder)}
        return await ask("--literal-pathspecs", *arguments, cwd=self._top, env=env | _IDENTITY, stdin=stdin, none=none)

    @property
    def _algorithm(self) -> str:
        return self._repository.algorithm if self._repository else "sha1"

    async def _prepare(self) -> None:
        """Makes Ralph's own folder where it is not there yet."""
        if self._ready:
            return
        folder = self.folder
        await anyio.to_thread.run_sync(lambda: folder.mkdir(parents=True, exist_ok=True, mode=0o700))
        if not (folder / "config").exists():
            words = ("init", "--quiet", "--bare", "--template=", f"--object-format={self._algorithm}", str(folder))
            await ask(*words, cwd=folder, env=environment())
        await anyio.to_thread.run_sync(self._set_up)
        if self._repository is not None:
            named = await self._users("config", "--type=path", "--get", "core.excludesFile", none=1)
            self._excludes = ("-c", f"core.excludesFile={named[0]}") if named else ()
        if (folder / "index").exists():
            staged = await self._own("ls-files", "--stage", max_output=_LISTED)
            self._inner = {unquoted(line.partition("\t")[2]) for line in staged if line.startswith("160000 ")}
        self._ready = True

    def _set_up(self) -> None:
        info = self.folder / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(_UNCONVERTED)
        (self.folder / "index.lock").unlink(missing_ok=True)

    def _copy_excludes(self) -> None:
        """What is ignored beside what .gitignore says: what the repository's own list has, or what is noise."""
        own = b"/.ralph/\n" if not self._within else os.fsencode(f"/{self._within}/.ralph/\n")
        if self._repository is None:
            content = b"".join(glob.encode() + b"\n" for glob in NOISE)
        else:
            try:
                content = read_regular(self._repository.common / "info" / "exclude", _EXCLUDES_READ) + b"\n"
            except OSError:
                content = b""
        if self._excluded != content + own:
            (self.folder / "info" / "exclude").write_bytes(content + own)
            self._excluded = content + own

    def _begin_anew(self) -> None:
        """Forgets the index, which is only a memory of what was read."""
        for name in ("index", "index.lock"):
            (self.folder / name).unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            (self.folder / "HEAD").write_text("ref: refs/heads/none\n")
        self._ready, self._known_tree, self._users_index, self._inner = False, None, None, set()


def _safe(run_id: str) -> str:
    """A run's id as part of a ref's name."""
    return run_id if _PLAIN_NAME.fullmatch(run_id) else sha256(run_id.encode("utf-8", "replace")).hexdigest()


def _noted(left_out: dict[bytes, str]) -> str:
    """What a checkpoint leaves out, for those who go back to it."""
    return "".join(f"{_NOTE}{json.dumps(os.fsdecode(path))}\n" for path in sorted(left_out)[:_NOTED])


def _told(left_out: dict[bytes, str]) -> str:
    """What a checkpoint leaves out, for a person."""
    if not left_out:
        return ""
    named = [
        f"{path.decode('utf-8', 'backslashreplace')} ({reason})" for path, reason in sorted(left_out.items())[:_NAMED]
    ]
    more = f" and {len(left_out) - _NAMED:,} more" if len(left_out) > _NAMED else ""
    return f"The checkpoint does not hold {', '.join(named)}{more}."

"""The user's uncommitted work, ignored files and history at the start of a run, and their repository: is all there?"""

import json
import os
import stat
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from ralph.workspace.base import Snapshot
from ralph.workspace.gate import GitError, first_line, read_list
from ralph.workspace.repository import ID, Repository
from ralph.workspace.scan import ABSENT

_MOST = 200
_NAMES = 10_000
_REFS = 5000
"""Refs that are watched."""

_USERS = ("refs/heads/", "refs/tags/", "refs/stash ")
_NOT_THE_USERS = "refs/heads/ralph/"
_STASH = "refs/stash "


class History:
    """The history that a run found in a repository, read from its files; git is asked only if an object's file is gone.

    A ref that has moved is no loss while the commit that it was at exists: that is what amending, rebasing and
    resetting leave. Refs of other repositories, which a fetch may remove, do not count.

    Attributes:
        refs: the ids of the refs at the start that have not been lost since, by name.
    """

    def __init__(self, repository: Repository) -> None:
        self.refs: dict[str, str] = {}
        self._repository = repository
        self._common = repository.common
        self._sizes: dict[Path, int] = {}

    def note(self, head: str | None, earlier: Mapping[str, str] | None = None) -> None:
        """Note the refs at the start of a run, or for a resumed one those of the earlier ones that are still there."""
        present = self._listed() | ({"HEAD": head} if head else {})
        self.refs = {name: tip for name, tip in (present if earlier is None else earlier).items() if name in present}
        self._sizes = self._objects()

    async def lost(self, head: str | None) -> list[str]:
        """Return the names of refs that are gone, or whose old commit is; a renamed one is not gone."""
        gone = {name for name in self.refs if not (head if name == "HEAD" else self._tip(name))}
        if gone:
            new = {tip for name, tip in self._listed().items() if name not in self.refs}
            gone = {name for name in gone if name == "HEAD" or self.refs[name] not in new}
        if any(_size(path) != size for path, size in self._sizes.items()):
            missing = await self._missing()
            gone |= {name for name, tip in self.refs.items() if tip in missing}
        found = [name for name in self.refs if name in gone]
        if found:
            self.refs = {name: tip for name, tip in self.refs.items() if name not in gone}
        return found

    def _listed(self) -> dict[str, str]:
        """Return the present branches, tags and stashes, at most as many as are watched."""
        loose = chain.from_iterable(_files(self._common, Path("refs", name)) for name in ("heads", "tags"))
        names = dict.fromkeys(chain(islice(loose, _REFS), self._repository.packed(), self._stashes()))
        users = (name for name in names if name.startswith(_USERS) and not name.startswith(_NOT_THE_USERS))
        return {name: tip for name in islice(users, _REFS) if ID.fullmatch(tip := self._tip(name))}

    def _tip(self, name: str) -> str:
        """Return a ref's id, or the name of the ref that it stands for; empty if it is gone."""
        if name.startswith(_STASH):
            return self._stashes().get(name, "")
        text = first_line(self._common / name) or self._repository.packed().get(name, "")
        return text if text.startswith("ref:") or ID.fullmatch(text) else ""

    def _stashes(self) -> dict[str, str]:
        """Return the ids of the stashes, by names that stay when others are added or removed."""
        lines = os.fsdecode(read_list(self._common / "logs" / "refs" / "stash")).split("\n")
        found = [line.split(" ", 2)[1] for line in lines if line.count(" ") > 1]
        found.append(first_line(self._common / "refs" / "stash"))
        return {f"{_STASH}{tip[:12]}": tip for tip in found if ID.fullmatch(tip)}

    def _objects(self) -> dict[Path, int]:
        """Return the sizes of the files that have the noted commits: their own, and all packs."""
        objects = self._common / "objects"
        own = {objects / tip[:2] / tip[2:] for tip in self.refs.values()}
        sizes = {path: _size(path) for path in (*own, *objects.glob("pack/*.pack"), *objects.glob("pack/*.idx"))}
        return {path: size for path, size in sizes.items() if size is not None}

    async def _missing(self) -> set[str]:
        """Return the noted ids of objects that do not exist; if git fails, those that have no file of their own."""
        tips = dict.fromkeys(self.refs.values())
        try:
            lines = await self._repository.git("cat-file", "--batch-check", stdin="\n".join(tips).encode())
            found = {line.partition(" ")[0] for line in lines if line.endswith(" missing")}
        except GitError:
            objects = self._common / "objects"
            found = {tip for tip in tips if not _size(objects / tip[:2] / tip[2:])}
        self._sizes = self._objects()
        return found


def _files(common: Path, below: Path) -> list[str]:
    return [
        Path(folder, name).relative_to(common).as_posix()
        for folder, _, names in os.walk(common / below)
        for name in names
        if not name.endswith(".lock")
    ]


def _size(path: Path) -> int | None:
    try:
        return path.lstat().st_size
    except OSError:
        return None


class UsersWork:
    """The user's work that a run may edit but should not remove. It is kept in a file, for when the run is resumed.

    Args:
        git: the folders of the repository, and the file that leads to it.
        history: its branches, tags and stashes.

    Attributes:
        head: the commit that was checked out at the start.
    """

    def __init__(self, folder: Path, git: Sequence[Path], history: History) -> None:
        self._file = folder / "users-work.json"
        self._git = tuple(dict.fromkeys(git))
        for place in self._git:  # held open, so that no other folder gets its number
            with suppress(OSError, AttributeError):
                weakref.finalize(self, os.close, os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))
        self._there = tuple(map(_identity, self._git))
        self._run = ""
        self.head: str | None = None
        self._history = history
        self._files: dict[str, str] = {}
        self._ignored: dict[str, list[int]] = {}

    async def note(self, run_id: str, snapshot: Snapshot, ignored: Callable[[], Awaitable[Iterable[str]]]) -> None:
        """Note what differs from the commit at the start of a run; for a resumed run, what was noted then.

        Args:
            ignored: returns the absolute paths of ignored files and folders; called if there is nothing noted.
        """
        if self._run == run_id:
            return
        with suppress(OSError, ValueError, KeyError, TypeError):
            noted = json.loads(self._file.read_text())
            if noted["run"] == run_id:
                self._run, self.head, self._files = run_id, noted["head"], dict(noted["files"])
                self._ignored = {path: mark for path in noted.get("ignored", {}) if (mark := _mark(path))}
                self._history.note(snapshot.head, noted.get("refs"))
                return
        files = {path: mark for path, mark in snapshot.files.items() if mark != ABSENT}
        self._run, self.head, self._files = run_id, snapshot.head, files
        self._ignored = {path: mark for path in islice(await ignored(), _MOST) if (mark := _mark(path))}
        self._history.note(snapshot.head)
        noted = {"run": run_id, "head": snapshot.head, "files": files, "refs": self._history.refs}
        with suppress(OSError):
            self._file.write_text(json.dumps(noted | {"ignored": self._ignored}))

    def ignored_gone(self) -> list[str]:
        """Return the ignored paths that are gone since this was last asked; one renamed in its folder is not gone."""
        now = {path: _mark(path) for path in self._ignored}
        gone = [path for path, mark in now.items() if not mark]
        for folder in {os.path.dirname(path) for path in gone}:  # noqa: PTH120
            with suppress(OSError), os.scandir(folder) as entries:
                there = {tuple(_mark(entry.path)): entry.path for entry in islice(entries, _NAMES)}
                renamed = {path: there.get(tuple(self._ignored[path])) for path in gone}
                gone = [path for path in gone if not renamed[path]]
                now |= {path: _mark(path) for path in renamed.values() if path}
        self._ignored = {path: mark for path, mark in now.items() if mark}
        return gone

    async def of_git(self, after: Snapshot) -> list[str]:
        """Return what was removed of the repository since this was last asked.

        It is `.git` if that was removed, or something else has taken its place; else the refs that are lost.
        """
        before, self._there = self._there, tuple(map(_identity, self._git))
        if before != self._there:
            self._history.refs = {}
            return [".git"]
        head = after.head if after.seen_by == "git" else self._history.refs.get("HEAD")
        return (await self._history.lost(head))[:_MOST]

    def missing(self, before: Snapshot, after: Snapshot) -> list[str]:
        """Return the files of the work that are gone or unmodified since a snapshot."""
        return [path for path in self._files if self._in(before, path) and not self._in(after, path)]

    def lost(
        self, missing: Sequence[str], after: Snapshot, between: Mapping[str, tuple[str, str]] | None
    ) -> tuple[str, ...]:
        """Return those whose content is neither committed since the start nor in another file.

        Args:
            between: the content hashes in the commit at the start and in the present one, by path; None if unknown.
        """
        kept = {*after.files.values(), *(new for _, new in (between or {}).values())}
        gone = (path for path in missing if self._files[path] not in kept)
        return tuple(path for path in gone if path in after.files or not (between is None or path in between))[:_MOST]

    def _in(self, snapshot: Snapshot, path: str) -> bool:
        """Return whether a file is there with uncommitted work; if its commit is unknown, whether it is not gone."""
        return snapshot.files.get(path, "" if snapshot.seen_by == "git" else "unchanged") not in {"", ABSENT}


def _mark(path: str) -> list[int]:
    """Return what a file or folder keeps when it is renamed; empty if it is gone."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return []
    return [found.st_ino, stat.S_IFMT(found.st_mode), found.st_size, found.st_mtime_ns]


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISREG(found.st_mode):  # in a worktree; git may write it anew
        return stat.S_IFMT(found.st_mode), 0, hash(read_list(path))
    return stat.S_IFMT(found.st_mode), found.st_dev, found.st_ino

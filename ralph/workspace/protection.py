"""Protected paths: remembered before an iteration, compared after it, and given back where they differ.

They are what would run, or change what runs, when a person uses git or Ralph the next time: `hooks`, `config` and
`info` of the repository, `ralph.toml`, and what the user adds. What is new in such a place, or was changed, is moved
into Ralph's own folder in the user's state folder, so that nothing is lost. The memory is kept there, too: after a
crash the comparison is made up for. No step follows a link.
"""

import base64
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ralph.system.files import read_regular
from ralph.workspace.ignore import Noise, glob_matcher

__all__ = ["Protection", "RestoredPaths"]

LARGEST = 4 * 1024 * 1024
"""Bytes of a file that can be given back; of a larger one it is only noticed that it changed."""

MOST = 32 * 1024 * 1024
ENTRIES = 20_000
_NAMED = 100


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was at a path.

    Attributes:
        state: its type, mode, size, inode and times: while they are the same, nobody has touched it.
        content: of a file, or where a link leads; None for a folder and for what is too large or cannot be read.
    """

    state: tuple[int, ...]
    content: bytes | None = None

    @property
    def type(self) -> int:
        return stat.S_IFMT(self.state[0])

    def same(self, other: "_Kept | None") -> bool:
        """Whether a path still has what it had."""
        if other is None or self.state[0] != other.state[0]:
            return False
        if self.type == stat.S_IFDIR:
            return True
        return self.state == other.state or (self.content is not None and self.content == other.content)


class RestoredPaths(NamedTuple):
    """What a comparison led to.

    Attributes:
        restored: the paths that are as they were again, as a person calls them.
        aside: the folder to which was moved what was found there instead; None where nothing was.
        left: paths that changed and could not be given back, or were left alone on purpose.
    """

    restored: tuple[str, ...] = ()
    aside: Path | None = None
    left: tuple[str, ...] = ()


class Protection:
    """The protected paths of one workspace. Everything here blocks.

    Args:
        workspace: its folder.
        own: further paths, absolute; of folders all that is in them.
        but: what is in them and is not protected.
        globs: of what the user adds, relative to the workspace, as in `Noise`.
        memory: the folder for the memory and for what is moved out of the way.
    """

    def __init__(
        self,
        workspace: Path,
        own: Sequence[Path],
        globs: Iterable[str],
        memory: Path,
        *,
        but: Sequence[Path] = (),
    ) -> None:
        self._workspace = workspace
        self._own = tuple(own)
        self._but = frozenset(map(str, but))
        self._globs = tuple(glob for glob in globs if glob.strip("/"))
        self._noise = Noise()
        self._memory = memory
        self._kept: dict[str, _Kept] = {}
        self._written = ""

    def remember(self, run_id: str) -> None:
        """Takes note of everything that is protected, as it is now. Raises `OSError` where that cannot be written."""
        self._kept = self._look()
        paths = {
            path: [list(kept.state), base64.b64encode(kept.content).decode() if kept.content is not None else None]
            for path, kept in self._kept.items()
        }
        text = json.dumps({"run": run_id, "paths": paths})
        if text != self._written:
            self._memory.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = self._memory / "protected.new"
            new.write_text(text)
            new.replace(self._memory / "protected.json")
            self._written = text

    def forget(self) -> None:
        """Forgets all of it."""
        self._kept, self._written = {}, ""
        with suppress(OSError):
            (self._memory / "protected.json").unlink()

<<<<<<< HEAD
    def restore_protected(self, run_id: str, *, until: float | None = None) -> RestoredPaths:
=======
    def restore(self, run_id: str, *, until: float | None = None) -> RestoredPaths:
>>>>>>> 4c28bd3 (Merge modules of workspace and testing that are read together)
        """Gives back what differs from the memory, which may be that of a process that is gone.

        Args:
            until: changes from after this time (seconds since the epoch, by the file system) are left alone.
        """
        before = self._kept or self._remembered(run_id)
        if not before:
            return RestoredPaths()
        now = self._look()
        new = [path for path in now if path not in before]
        changed = [path for path, kept in before.items() if not kept.same(now.get(path))]
        if not new and not changed:
            return RestoredPaths()
        aside = self._memory / "aside" / f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
        restored: list[str] = []
        left: list[str] = []
        for path in sorted([*new, *changed]):
            there = now.get(path)
            late = until is not None and _changed_at(path) > until
            done = not late and self._restore_path(Path(path), before.get(path), there, aside)
            (restored if done else left).append(self._called(path))
        return RestoredPaths(tuple(restored[:_NAMED]), aside if aside.exists() else None, tuple(left[:_NAMED]))

    def _restore_path(self, path: Path, before: _Kept | None, now: _Kept | None, aside: Path) -> bool:
        """Whether a path is as it was."""
        if before is not None and before.content is None and before.type != stat.S_IFDIR:
            return False
        try:
            if before is not None and not any(path.is_relative_to(own) for own in self._own):
                _make_way(path.parent)
            if path.parent.resolve() != path.parent or not path.parent.is_dir():
                return before is None and not os.path.lexists(path)
            if now is not None and (before is None or (now.type, now.content) != (before.type, before.content)):
                with suppress(FileNotFoundError):  # it went with its folder
                    _move(path, aside / self._called(str(path)).lstrip("/"))
            if before is not None:
                _put(path, before)
        except (OSError, RuntimeError):  # the latter for links in a circle
            return False
        return True

    def _look(self) -> dict[str, _Kept]:
        """Everything that is protected, by its absolute path."""
        known = self._kept
        found: dict[str, _Kept] = {}
        budget = MOST
        for path in self._paths():
            if len(found) >= ENTRIES:
                break
            try:
                there = os.lstat(path)
            except (OSError, ValueError):
                continue
            state = (there.st_mode, there.st_size, there.st_ino, there.st_mtime_ns, there.st_ctime_ns)
            before = known.get(path)
            if before is None or before.state != state:
                before = _Kept(state=state, content=_content(path, there, budget))
            budget -= len(before.content or b"")
            found[path] = before
        return found

    def _paths(self) -> Iterator[str]:
        for own in (*self._own, self._workspace / "ralph.toml"):
            yield from (path for path in _below(str(own)) if path not in self._but)
        if self._globs:
            protected = glob_matcher(self._globs)
            top = f"{self._workspace}/"
            for start in sorted({_start(glob) for glob in self._globs}):
                below = _below(f"{top}{start}".rstrip("/"), skip=lambda path: self._noise(f"{path.removeprefix(top)}/"))
                yield from (path for path in below if protected(path.removeprefix(top)) and not _is_folder(path))

    def _remembered(self, run_id: str) -> dict[str, _Kept]:
        """The memory that a process of that run has left behind; none where it cannot be read."""
        try:
            memory = json.loads((self._memory / "protected.json").read_text())
            if memory["run"] != run_id:
                return {}
            return {
                path: _Kept(state=tuple(state), content=None if content is None else base64.b64decode(content))
                for path, (state, content) in memory["paths"].items()
            }
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _called(self, path: str) -> str:
        """A path as a person calls it: from the workspace, where it is in it."""
        display_path = path.removeprefix(f"{self._workspace}/")
        return os.fsencode(display_path).decode("utf-8", "backslashreplace")


def _below(path: str, *, skip: Callable[[str], bool] | None = None) -> Iterator[str]:
    """A path and, where it is a folder, all that is in it; folders first, no link followed."""
    waiting = [path]
    for _ in range(ENTRIES):
        if not waiting:
            return
        path = waiting.pop()
        yield path
        with suppress(OSError):
            if _is_folder(path) and not (skip and skip(path)):
                waiting += sorted(map(str, Path(path).iterdir()), reverse=True)


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _start(glob: str) -> str:
    """The folder that a glob's matches are all in; empty for the workspace."""
    parts = glob.strip("/").split("/")
    plain = next((number for number, part in enumerate(parts) if set(part) & set("*?")), len(parts))
    return "/".join(parts[:plain]) if "/" in glob.rstrip("/") else ""


def _content(path: str, there: os.stat_result, budget: int) -> bytes | None:
    with suppress(OSError):
        if stat.S_ISLNK(there.st_mode):
            return os.fsencode(Path(path).readlink())
        if stat.S_ISREG(there.st_mode) and there.st_size <= min(LARGEST, budget):
            return read_regular(path, LARGEST)
    return None


def _changed_at(path: str) -> float:
    """When a path, or for one that is gone its folder, was last changed; nobody can set that time back."""
    for place in (path, str(Path(path).parent)):
        with suppress(OSError):
            return os.lstat(place).st_ctime
    return 0.0


def _make_way(folder: Path) -> None:
    """Makes the folders that lead to a file, unless the way leads elsewhere."""
    there = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    if there.resolve() == there:
        folder.mkdir(parents=True, exist_ok=True)


def _move(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, to)


def _put(path: Path, kept: _Kept) -> None:
    """Puts something where nothing, or the same with another mode, is."""
    mode = stat.S_IMODE(kept.state[0])
    if kept.type == stat.S_IFDIR:
        path.mkdir(exist_ok=True)
        path.chmod(mode)
        return
    new = path.with_name(f"{path.name}.ralph-new")
    new.unlink(missing_ok=True)
    if kept.type == stat.S_IFLNK:
        new.symlink_to(os.fsdecode(kept.content or b""))
    else:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)
        with os.fdopen(handle, "wb") as file:
            file.write(kept.content or b"")
        new.chmod(mode)
    new.replace(path)

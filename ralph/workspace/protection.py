"""Protected paths: recorded before an iteration, compared after it, and restored if they differ.

They are executed, or choose what is executed, when the user next uses git or Ralph: `hooks`, `config` and `info` of the
repository and of nested ones, `ralph.toml`, `[tool.ralph]` in pyproject.toml, and the user's additions. Of git's
settings, only keys that may start programs or lead git elsewhere are restored. A new or changed file in such a place is
moved to Ralph's folder in the user's state folder, so that nothing is lost. The record lies there, too, so that the
comparison can be made after a crash. No step follows a link.
"""

import base64
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ralph.settings.sources import with_settings_of
from ralph.system.files import create_file, read_regular
from ralph.system.patterns import is_literal, path_matcher
from ralph.system.text import some_of
from ralph.workspace.git_settings import SETTINGS, settings_with_programs_of
from ralph.workspace.repository import display_path
from ralph.workspace.scan import Noise

if TYPE_CHECKING:
    from ralph.workspace.nested import Inner

LARGEST = 4 * 1024 * 1024
"""Bytes of the largest file that can be restored; a change of a larger one is only reported."""

MOST = 32 * 1024 * 1024
ENTRIES = 20_000
_NAMED = 100
_FEW = 200
_KEYS = 20


@dataclass(frozen=True, slots=True)
class _Kept:
    """The recorded state of a path.

    Attributes:
        state: its type, mode, size, inode and times; while these are the same, it has not changed.
        content: of a file, or a link's target; None for a folder and for a file that is too large or unreadable.
    """

    state: tuple[int, ...]
    content: bytes | None = None

    @property
    def type(self) -> int:
        return stat.S_IFMT(self.state[0])

    def same(self, other: "_Kept | None") -> bool:
        if other is None or self.state[0] != other.state[0]:
            return False
        if self.type == stat.S_IFDIR:
            return True
        return self.state == other.state or (self.content is not None and self.content == other.content)


class RestoredPaths(NamedTuple):
    """The result of a comparison.

    Attributes:
        restored: the restored paths, as shown to the user.
        aside: the folder with the files that were moved away; None if there are none.
        left: changed paths that could not be restored, or were left alone on purpose.
        parts: what of a path was restored, if not all of it.
    """

    restored: tuple[str, ...] = ()
    aside: Path | None = None
    left: tuple[str, ...] = ()
    parts: Mapping[str, str] = {}


class Protection:
    """The protected paths of one workspace. Its methods block.

    Args:
        own: further paths, absolute; a folder stands for everything in it.
        patterns: the user's additions; see `ralph.system.patterns`.
        memory: the folder for the record and for files that are moved away.
        but: exceptions.

    Attributes:
        also: further files, absolute, with the reason in words; they exist, so that no new file is moved away for them.
        inner: git's folders of nested repositories; see `Nested`.
        folder: of the record; Ralph's own.
        recorded: True from the first record until it is discarded.
    """

    def __init__(
        self, workspace: Path, own: Sequence[Path], patterns: Iterable[str], memory: Path, *, but: Sequence[Path] = ()
    ) -> None:
        self.also: Mapping[Path, str] = {}
        self.inner: Inner | None = None
        self.folder = memory
        self.recorded = False
        self._workspace = workspace
        self._project = workspace / "pyproject.toml"
        self._own = tuple(own)
        self._but = frozenset(map(str, but))
        self._patterns = tuple(patterns)
        self._protected = path_matcher(self._patterns)
        self._noise = Noise()
        self._kept: dict[str, _Kept] = {}
        self._within: set[str] = set()
        self._written = ""

    @property
    def many(self) -> bool:
        """True if looking at the paths takes long, or may: it is not known yet how many they are."""
        return bool(self._patterns or any(self.inner or ())) or not 0 < len(self._kept) <= _FEW

    def remember(self, run_id: str) -> None:
        """Record the present state of the protected paths. Raises `OSError` if that cannot be written.

        In nested repositories, what was not there the first time is recorded once `restore` has found it harmless.
        """
        now, known = self._look(), self._kept
        new = self._within - known.keys() if self.recorded else set[str]()
        self._kept = {
            path: known.get(path, kept) if path in self._within else kept
            for path, kept in now.items()
            if path not in new
        }
        paths = {
            path: [list(kept.state), base64.b64encode(kept.content).decode() if kept.content is not None else None]
            for path, kept in self._kept.items()
        }
        self.recorded = True
        text = json.dumps({"run": run_id, "paths": paths, "within": sorted(self._within & paths.keys())})
        if text != self._written:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = self.folder / "protected.new"
            new.write_text(text)
            new.replace(self.folder / "protected.json")
            self._written = text

    def without_match(self) -> list[str]:
        """Return the user's patterns that no existing file matches."""
        names = [path.removeprefix(f"{self._workspace}/") for path in self._kept]
        found = ((each, path_matcher([each])) for each in self._patterns if not each.startswith("!"))
        return [pattern for pattern, matches in found if not any(map(matches, names))]

    def forget(self) -> None:
        """Discard the record."""
        self._kept, self.recorded, self._written = {}, False, ""
        with suppress(OSError):
            (self.folder / "protected.json").unlink()

    def restore(self, run_id: str, *, until: float | None = None) -> RestoredPaths:
        """Restore paths that differ from the run's record, which may be that of an earlier process.

        Changes after `until`, in seconds since the epoch by the file system, are left alone.
        """
        changed = self._changed(run_id)
        aside = new_aside(self.folder)
        restored: list[str] = []
        left: list[str] = []
        parts: dict[str, str] = {}
        for path, there in sorted(changed.items()):
            due, part = self._due(Path(path), self._kept.get(path), there)
            if due is there:
                self._kept |= {path: there} if there and path in self._within else {}
                continue
            late = until is not None and _changed_at(path) > until
            done = not late and self._restore_path(Path(path), due, there, aside)
            if done or there is not None or os.path.lexists(os.path.dirname(path)):  # noqa: PTH120  many paths
                (restored if done else left).append(self._called(path))
                parts |= {self._called(path): part} if done and part else {}
        left += map(self._called, self.inner.beyond if self.inner else ())
        return RestoredPaths(tuple(restored[:_NAMED]), aside if aside.exists() else None, tuple(left[:_NAMED]), parts)

    def differs(self, run_id: str) -> bool:
        """Return whether a path differs from the run's record."""
        return bool(self._changed(run_id) or (self.inner and self.inner.beyond))

    def _changed(self, run_id: str) -> dict[str, _Kept | None]:
        if not self.recorded and (kept := self._remembered(run_id)) is not None:
            self._kept, self.recorded = kept, True
        now = self._look() if self.recorded else {}
        found = {path: (self._kept.get(path), now.get(path)) for path in {*self._kept, *now}}
        return {path: there for path, (before, there) in found.items() if not (before and before.same(there))}

    def _due(self, path: Path, before: _Kept | None, now: _Kept | None) -> tuple[_Kept | None, str]:
        """Return the state that a changed path should have, and what of it is restored if not all is."""
        inner = str(path) in self._within
        one = before or now
        if None in {before, now} and one and one.type == stat.S_IFDIR and not (inner or self._is_own(path)):
            return now, ""  # what is protected is in it
        if inner and (now is None or (self.inner and not self.inner.is_live(path, now.state[0]))):
            return now, ""
        old, new = (each.content if each and each.type == stat.S_IFREG else None for each in (before, now))
        if path in self.also:
            return before, ""
        if path == self._project:
            made, part = with_settings_of(old or b"", new or b""), "[tool.ralph]"
        elif new is not None and path.name in SETTINGS and (inner or path in self._own):
            leads = self.inner.folders.get(path.parent, path.parent) if self.inner else path.parent
            fitting = [("core.bare", "false"), ("core.worktree", os.path.relpath(leads, path.parent))]
            if inner and leads == path.parent:
                fitting[1] = ("core.bare", "true")
            fitting += [] if self._dormant(path.parent) else [("extensions.worktreeconfig", "true")]
            made, undone = settings_with_programs_of(old or b"", new, fitting)
            part = some_of(undone, _KEYS)
        elif path.name == "sparse-checkout" and path.parent in self._own and (new is not None or now is None):
            return now, ""
        else:
            return before, ""
        if made == (new or b""):
            return now, ""
        if made == (old or b"") or now is None or now.type != stat.S_IFREG:
            return before, part if new else ""
        return replace(now, content=made), part

    def _dormant(self, git: Path) -> bool:
        """Return whether settings of worktrees may start programs once the repository's settings turn them on."""
        for place in (git / "config.worktree", *git.glob("worktrees/*/config.worktree")):
            kept = self._kept.get(str(place))
            if kept is None and (place in self._own or str(place) in self._within):
                continue
            content = kept.content if kept and kept.type == stat.S_IFREG else None
            if content is None or settings_with_programs_of(b"", content) != (content, []):
                return True
        return False

    def _restore_path(self, path: Path, before: _Kept | None, now: _Kept | None, aside: Path) -> bool:
        """Restore a path; return whether it has its recorded state."""
        if before is not None and before.content is None and before.type != stat.S_IFDIR:
            return False
        try:
            if before is not None and not self._is_own(path):
                there = next(place for place in path.parents if os.path.lexists(place))
                if there.resolve() == there:
                    path.parent.mkdir(parents=True, exist_ok=True)
            if path.parent.resolve() != path.parent or not path.parent.is_dir():
                return before is None and not os.path.lexists(path)
            if now is not None and (before is None or (now.type, now.content) != (before.type, before.content)):
                with suppress(FileNotFoundError):  # it went with its folder
                    to = aside / self._called(str(path)).lstrip("/")
                    to.parent.mkdir(parents=True, exist_ok=True)
                    if before is not None and now.type == before.type == stat.S_IFREG:  # it is never missing
                        shutil.copy2(path, to, follow_symlinks=False)
                    else:
                        shutil.move(path, to)
            if before is not None:
                _put(path, before)
        except (OSError, RuntimeError):  # the latter for links in a circle
            return False
        return True

    def _is_own(self, path: Path) -> bool:
        return any(path.is_relative_to(own) for own in self._own)

    def _look(self) -> dict[str, _Kept]:
        known = self._kept
        found: dict[str, _Kept] = {}
        budget = MOST
        within = self.inner.paths() if self.inner else []
        self._within.update(within)
        for path in chain(self._paths(), within):
            if len(found) >= ENTRIES:
                break
            if path in found:
                self._within.discard(path)
                continue
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
        for own in (*self._own, self._workspace / "ralph.toml", self._project, *self.also):
            if own.name == ".git" and is_folder(str(own)):  # only what takes its place matters
                continue
            yield from (path for path in below(str(own)) if path not in self._but)
        top, seen = f"{self._workspace}/", set[str]()
        for start in sorted({_start(pattern) for pattern in self._patterns if not pattern.startswith("!")}):
            inside = below(f"{top}{start}".rstrip("/"), skip=lambda path: self._noise(f"{path.removeprefix(top)}/"))
            for path in inside:
                if path in self._kept or (self._protected(path.removeprefix(top)) and not is_folder(path)):
                    yield from self._way_to(path, seen)

    def _way_to(self, path: str, seen: set[str]) -> Iterator[str]:
        """Yield the folders that lead to a path in the workspace, and the path; nothing beyond a link or a file."""
        for folder in [str(each) for each in reversed(Path(path).parents) if self._workspace in each.parents]:
            if folder not in seen:
                yield folder
                if not is_folder(folder):
                    return
                seen.add(folder)
        yield path

    def _remembered(self, run_id: str) -> dict[str, _Kept] | None:
        """Return the record of an earlier process of the run; None if it cannot be read."""
        try:
            memory = json.loads((self.folder / "protected.json").read_text())
            if memory["run"] != run_id:
                return None
            self._within.update(memory.get("within", ()))
            return {
                path: _Kept(state=tuple(state), content=None if content is None else base64.b64decode(content))
                for path, (state, content) in memory["paths"].items()
            }
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _called(self, path: str) -> str:
        """Return a path as shown to the user: from the workspace, if it is inside."""
        return display_path(os.fsencode(path.removeprefix(f"{self._workspace}/")))


def below(path: str, *, skip: Callable[[str], bool] | None = None) -> Iterator[str]:
    """Yield a path and everything below it, folders first, without following links."""
    waiting = [path]
    for _ in range(ENTRIES):
        if not waiting:
            return
        path = waiting.pop()
        yield path
        with suppress(OSError):
            if is_folder(path) and not (skip and skip(path)):
                waiting += sorted(map(str, Path(path).iterdir()), reverse=True)


def is_folder(path: str | bytes) -> bool:
    """Return whether a path is a folder and no link."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _start(pattern: str) -> str:
    """Return the folder that contains all of a pattern's matches; empty for the workspace."""
    if "/" not in pattern.rstrip("/"):
        return ""
    return "/".join(takewhile(is_literal, pattern.removeprefix("./").strip("/").split("/")))


def _content(path: str, there: os.stat_result, budget: int) -> bytes | None:
    with suppress(OSError):
        if stat.S_ISLNK(there.st_mode):
            return os.fsencode(Path(path).readlink())
        if stat.S_ISREG(there.st_mode) and there.st_size <= min(LARGEST, budget):
            return read_regular(path, LARGEST)
    return None


def _changed_at(path: str) -> float:
    """Return the time of the last change of a path, or of its folder if it is gone. It cannot be set back."""
    for place in (path, str(Path(path).parent)):
        with suppress(OSError):
            return os.lstat(place).st_ctime
    return 0.0


def new_aside(folder: Path) -> Path:
    """Return the path of a new folder, in Ralph's own, for files that are moved away."""
    return folder / "aside" / f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"


def _put(path: Path, kept: _Kept) -> None:
    """Write something at a path where nothing is, or the same with another mode."""
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
        create_file(new, kept.content or b"", mode)
        new.chmod(mode)
    new.replace(path)

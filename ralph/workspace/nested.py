"""Nested repositories, found without git: git enters them under their own settings and hooks.

They are those that an index names, and those in any folder of the workspace: ignored ones, bare ones, and those within
a git folder.
"""

import hashlib
import os
import stat
import struct
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ralph.system.files import read_regular
from ralph.workspace.git_settings import SETTINGS
from ralph.workspace.protection import below, is_folder
from ralph.workspace.repository import Repository
from ralph.workspace.scan import SETTLED, Noise, check_cancelled

_REPOSITORIES = 2000
_FOLDERS = 200_000
_UNREAD = 10
"""Folders beyond `_FOLDERS` that are named."""
_LEAD_READ = 64 * 1024
_INDEX_READ = 1024 * 1024 * 1024


class Inner(NamedTuple):
    """Git's folders of nested repositories, which git enters under their own settings.

    Attributes:
        folders: git's folders, with the folders that lead to them.
        strays: what leads git out of reach: a link or a file in the place of `.git`, or a `commondir`.
        beyond: folders that are not looked at, because they are too many.
    """

    folders: Mapping[Path, Path]
    strays: frozenset[Path]
    beyond: Sequence[str] = ()

    def paths(self) -> list[str]:
        """Return the paths that may choose programs."""
        found = [str(folder / ".git") for folder in set(self.folders.values()) if (folder / ".git").is_file()]
        found += map(str, self.strays)
        for folder in self.folders:
            found += [str(folder / name) for name in SETTINGS]
            found += [path for path in below(str(folder / "hooks")) if not path.endswith(".sample")]
        return list(dict.fromkeys(found))

    def is_live(self, path: Path, mode: int) -> bool:
        """Return whether one of the paths may start programs, or lead git out of reach, as it is now."""
        if path.name in (".git", "commondir"):
            return path in self.strays
        runs = not stat.S_ISDIR(mode) and bool(mode & 0o111)  # a link has all of these bits
        return runs or (path.name in SETTINGS and path.parent in self.folders)


class _Folder(NamedTuple):
    """A folder as it was read: its folders, and how git would take it."""

    state: tuple[int, ...]
    inner: list[str]
    kind: str = ""


class Nested:
    """The nested repositories of a repository, found without git.

    Args:
        git: its git folders, or none without one; one of a nested repository lies there or in the folder.
        walked: the folder that is searched with the git folders; the repository's own without one.
    """

    def __init__(self, top: Path, *git: Path, walked: Path | None = None) -> None:
        self._top = top
        self._git = git
        self._walked = list(map(str, dict.fromkeys((walked or top, *git))))
        self._folders: dict[str, _Folder] = {}
        self._links: dict[Path, tuple[tuple[int, ...], list[bytes]]] = {}

    def find(self, paths: Iterable[bytes]) -> Inner:
        """Return git's folders of the repositories at paths, in the index and in any folder, theirs included; blocks.

        A folder is read again only if it has changed.
        """
        found: dict[Path, Path] = {}
        strays: set[Path] = set()
        listed = [*paths, *(self.in_index(self._git[0] / "index") if self._git else ())]
        held, bare, unread = self._walk()
        queue = deque((*(self._top / os.fsdecode(path.rstrip(b"/")) for path in listed), *held, *bare))
        seen: set[Path] = set()
        while queue and len(seen) < _REPOSITORIES:
            folder = queue.popleft()
            is_bare = folder in bare
            if folder in seen or folder in found or folder in self._git or folder.resolve() != folder:
                continue
            if not is_bare and (folder / ".git" in self._git or not os.path.lexists(folder / ".git")):
                continue
            seen.add(folder)
            leader = folder if is_bare else folder / ".git"
            git_dir = common = leader if is_folder(str(leader)) else _lead(leader, b"gitdir: ")
            if git_dir is not None and os.path.lexists(git_dir / "commondir"):
                leader, common = git_dir / "commondir", _lead(git_dir / "commondir")
            if git_dir is None or common is None or not self._reaches(git_dir) or not self._reaches(common):
                strays.add(folder / ".git" if git_dir is None or not self._reaches(git_dir) else leader)
                continue
            for each in {git_dir, common}.difference(self._git):
                found.setdefault(each, self._leads(folder) if is_bare else folder)
            queue.extend(folder / os.fsdecode(path) for path in self.in_index(git_dir / "index"))
        beyond = [*map(str, dict.fromkeys(queue).keys() - seen - found.keys()), *unread]
        return Inner(found, frozenset(strays), beyond)

    def _walk(self) -> tuple[list[Path], dict[Path, None], list[str]]:
        """Return the folders with a `.git`, those that are a git folder by their content, and the first unread ones."""
        known, self._folders = self._folders, {}
        waiting, now = list(self._walked), time.time_ns()
        kinds: dict[str, list[Path]] = {"work tree": [], "bare": []}
        for number, path in enumerate(waiting):
            check_cancelled(number)
            if number >= _FOLDERS:
                break
            if path in self._folders:
                continue
            state, folder = _state(path), known.get(path)
            if folder is None or folder.state != state:
                folder = _folder(path, state if now - max(state[-2:]) > SETTLED else ())
            self._folders[path] = folder
            waiting += folder.inner
            if folder.kind:
                kinds[folder.kind].append(Path(path))
        held = [folder for folder in kinds["work tree"] if folder / ".git" not in self._git]
        return held, dict.fromkeys(kinds["bare"]), waiting[_FOLDERS:][:_UNREAD]

    def _leads(self, bare: Path) -> Path:
        """Return the folder of a submodule whose git folder is there; a bare repository is its own."""
        for modules in (git / "modules" for git in self._git):
            if bare.is_relative_to(modules):
                return self._top / str(bare.relative_to(modules)).replace("/modules/", "/")
        return bare

    def _reaches(self, folder: Path) -> bool:
        return any(folder.is_relative_to(place) for place in (self._top, *self._git))

    def in_index(self, index: Path) -> list[bytes]:
        """Return the paths in an index that git takes for nested repositories; of a changed index anew."""
        state = _state(index)
        if state != self._links.get(index, ((),))[0]:
            self._links[index] = state, _gitlinks(index)
        return self._links[index][1]


def state_of(repository: Repository, noise: Noise, top: Path) -> tuple[object, ...] | None:
    """Return a value that changes with a repository's commit, index and files; no file is read, and blocks.

    Returns None if something has changed so lately that a further change may not show.

    Noise below the workspace, `top`, does not count.

    Raises:
        GitError: it is no longer a repository.
    """
    now, newest, pending = time.time_ns(), 0, [str(repository.top)]
    digest = hashlib.blake2b(digest_size=16)
    for number, folder in enumerate(pending):
        check_cancelled(number)
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                is_dir = entry.is_dir(follow_symlinks=False)
                if entry.name == ".git" or (is_dir and noise(f"{os.path.relpath(entry.path, top)}/")):
                    continue
                there = entry.stat(follow_symlinks=False)
                newest = max(newest, there.st_mtime_ns, there.st_ctime_ns)
                state = (there.st_mode, there.st_size, there.st_mtime_ns, there.st_ctime_ns, there.st_ino)
                digest.update(f"{entry.path}\0{state}\0".encode("utf-8", "surrogateescape"))
                pending += [entry.path] if is_dir else []
    index = _state(repository.git_dir / "index")
    exclude = _state(repository.common / "info" / "exclude")
    settled = now - max(newest, index[-1], exclude[-1]) > SETTLED
    return (*repository.tip(), index, exclude, digest.digest()) if settled else None


def _folder(path: str, state: tuple[int, ...]) -> _Folder:
    names, inner = set[str](), list[str]()
    with suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            names.add(entry.name.lower())
            if entry.is_dir(follow_symlinks=False):
                inner.append(entry.path)
    is_bare = not path.endswith("/.git") and "head" in names and ("commondir" in names or {"objects", "refs"} <= names)
    return _Folder(state, inner, "bare" if is_bare else "work tree" if ".git" in names else "")


def _state(path: Path | str) -> tuple[int, ...]:
    try:
        there = os.lstat(path)
    except OSError:
        return (0,)
    return there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns


def _lead(path: Path, prefix: bytes = b"") -> Path | None:
    """Return the folder that a file of git's names; None for a link, and for more than one name."""
    with suppress(OSError, ValueError):
        text = read_regular(path, _LEAD_READ).rstrip(b"\r\n")
        if text.startswith(prefix) and not {*b"\r\n"} & {*text}:
            return Path(os.path.realpath(path.parent / os.fsdecode(text.removeprefix(prefix))))
    return None


def _gitlinks(index: Path) -> list[bytes]:
    """Return the nested repositories in an index, and in those that share its entries; never waits."""
    found: list[bytes] = []
    for path in (index, *index.parent.glob("sharedindex.*")):
        with suppress(OSError):
            content = read_regular(path, _INDEX_READ)
            if _GITLINK in content:
                for width in (20, 32):  # bytes of an id
                    with suppress(struct.error, ValueError, IndexError):
                        found += _gitlinks_in(content, width)
                        break
    return found


_GITLINK = struct.pack(">L", 0o160000)


def _gitlinks_in(content: bytes, width: int) -> list[bytes]:
    """Return the paths of the entries with the mode of a nested repository, as gitformat-index describes them."""
    _, version, count = struct.unpack_from(">4sLL", content)
    found: list[bytes] = []
    at, path = 12, b""
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", content, at + 40 + width)
        name = at + 42 + width + (2 if flags & 0x4000 else 0)
        kept = 0
        if version == 4:  # only the end of a path is there, after the number of bytes to remove from the one before
            number = content[name] & 127
            while content[name] & 128:
                name += 1
                number = ((number + 1) << 7) + (content[name] & 127)
            kept, name = len(path) - number, name + 1
        end = content.index(b"\0", name)
        path = path[:kept] + content[name:end]
        if min(len(path), 0xFFF) != flags & 0xFFF:
            raise ValueError("ids have another width")
        if content[at + 24 : at + 28] == _GITLINK:
            found.append(path)
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    return found

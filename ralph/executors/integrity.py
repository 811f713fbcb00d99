"""Programs in a cache, checked before each start: as they were fetched, and in folders that no one else may write.

Ralph keeps the checksums of what it fetches in the user's state folder, which a sandboxed agent cannot reach. For a
program that was fetched before there were any, or that unpacks itself, the first start records them.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from ralph.errors import ProvisionError
from ralph.executors.program_output import mapping
from ralph.system.files import parsed, read_if_regular

_MOST_BYTES = 4_000_000
_NAMED = 3


def record(staging: Path, folder: Path) -> None:
    """Store the checksums of a program that is about to be moved into its folder. Blocks.

    A state folder that cannot be used is ignored.
    """
    _store(_place(folder), _look(staging, {}))


def require_unchanged(folder: Path, label: str, *, unpacked: Path | None = None) -> None:
    """Require that a program's folder is as it was fetched, and that no other user may write it. Blocks.

    A file is read only if its size, times or inode differ from the last look: its change time cannot be set back.

    Args:
        folder: the program's.
        label: its name in messages.
        unpacked: the folder around it, for a program that has unpacked itself there; it is compared to its first start.

    Raises:
        ProvisionError: something differs, or others may write the folder.
    """
    require_private(folder, label)
    place = _place(folder)
    read = mapping(parsed(read_if_regular(place, _MOST_BYTES))).items()
    known: dict[str, list[Any]] = {name: about for name, about in read if _is_record(about)}
    found = _look(folder, known)
    sums = [{(name, about[-1]) for name, about in files.items()} for files in (known, found)]
    names = sorted({name for name, _ in sums[0] ^ sums[1]})
    if known and names:
        was = "what it was when Ralph first saw it" if unpacked else "what Ralph fetched"
        again = f"{unpacked}: it unpacks itself" if unpacked else "that folder: Ralph fetches the program"
        raise ProvisionError(
            f"{label} in {folder} is no longer {was}: {', '.join(names[:_NAMED])} differs.",
            f"Find out who changed it, then remove {again} again.",
        )
    if found != known:
        _store(place, found)


def require_private(folder: Path, label: str) -> None:
    """Raise `ProvisionError` if others than this user and the superuser may change a folder, or what is in it."""
    if os.name != "posix":
        return
    top = folder.resolve()
    for place in (*_entries(top), top, *top.parents):
        found = place.lstat()
        inside = place == top or place.is_relative_to(top)
        if not stat.S_ISLNK(found.st_mode) and _others_may_write(found, inside=inside):
            raise ProvisionError(
                f"{label} is not started: other users may write {place}.",
                f"`chmod go-w {place}`, and make sure that it is yours; then remove {folder}: Ralph fetches it again.",
            )


def _others_may_write(found: os.stat_result, *, inside: bool) -> bool:
    """Return whether another user may write a path, or replace what is in it: in a sticky folder only their own."""
    if found.st_uid not in {os.getuid(), 0}:
        return True
    if found.st_mode & stat.S_ISVTX and not inside:
        return False
    return bool(found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _is_own(found.st_gid)))


def _is_own(group: int) -> bool:
    """Return whether a group is the superuser's, or the one that many systems make for each user alone."""
    import grp
    import pwd

    try:
        name, found = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return group in {os.getuid(), 0}
    return group == 0 or (found.gr_name == name and {*found.gr_mem} <= {name})


def _is_record(about: object) -> bool:  # a damaged one does not count
    return isinstance(about, list) and len(cast("list[object]", about)) == 5 and isinstance(about[-1], str)


def _entries(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        yield from (Path(where, name) for name in (*folders, *files))


def _look(folder: Path, known: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return size, times, inode and checksum of each file; the checksum from before if the rest is the same."""
    found: dict[str, list[Any]] = {}
    for path in _entries(folder):
        if stat.S_ISDIR((there := path.lstat()).st_mode):
            continue
        state = [there.st_size, there.st_mtime_ns, there.st_ctime_ns, there.st_ino]
        before = known.get(name := path.relative_to(folder).as_posix())
        found[name] = before if before and before[:-1] == state else [*state, _checksum(path, there)]
    return found


def _checksum(path: Path, found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return f"link to {path.readlink()}"
    if not stat.S_ISREG(found.st_mode):
        return "neither a file nor a link"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() + ("x" if found.st_mode & stat.S_IXUSR else "")


def _place(folder: Path) -> Path:
    from platformdirs import user_state_path

    key = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return user_state_path("ralph", appauthor=False) / "programs" / f"{key}.json"


def _store(place: Path, files: dict[str, list[Any]]) -> None:
    with suppress(OSError):
        place.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        draft = place.with_name(f"{place.name}.{os.getpid()}")
        draft.write_text(json.dumps(files), encoding="utf-8")
        draft.replace(place)

"""An agent's files, read and written for it: regular ones in the workspace, of a bounded size, through no link.

Ralph itself is not confined as the agent may be, so that an agent must not get through it where it cannot go by
itself. A path is resolved first, and then opened folder by folder, following nothing: a link that is put in between is
an error. What is read goes to the agent as it is, for it writes back what it was given.
"""

import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["read_file", "write_file"]

_LARGEST = 10_000_000
"""Bytes of one file."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def read_file(workspace: Path, said: str, *, line: int | None = None, limit: int | None = None) -> str:
    """Return the text of a file; bytes that are not UTF-8 are replaced. A missing file is empty, as agents expect.

    Args:
        workspace: the folder that the file has to be in.
        said: the path as the agent wrote it.
        line: the first line, counted from 1.
        limit: how many lines.

    Raises:
        OSError: it is no regular file in the workspace, or larger than 10 MB.
    """
    try:
        with _opened_folder(workspace, said) as (folder, name):
            handle = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
    except FileNotFoundError:
        return ""
    with os.fdopen(handle, "rb") as file:
        _require_plain(handle, said)
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise OSError(f"{said} is larger than 10 MB.")
    text = content.decode("utf-8", "replace")
    if line is None and limit is None:
        return text
    first = max(line or 1, 1) - 1
    return "".join(text.splitlines(keepends=True)[first : None if limit is None else first + max(limit, 0)])


def write_file(workspace: Path, said: str, content: str) -> None:
    """Replace a file's content; create it and its folders if they do not exist.

    Raises:
        OSError: it is no regular file in the workspace, or would be larger than 10 MB.
    """
    data = content.encode("utf-8", "replace")
    if len(data) > _LARGEST:
        raise OSError(f"{said} would be larger than 10 MB.")
    with _opened_folder(workspace, said, make=True) as (folder, name):
        mode = _mode_of(name, folder, said)
        fresh = f".{secrets.token_hex(8)}.ralph"
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                if mode is not None:
                    os.fchmod(handle, mode)
                file.write(data)
            os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(fresh, dir_fd=folder)
            raise


@contextmanager
def _opened_folder(workspace: Path, said: str, *, make: bool = False) -> Generator[tuple[int, str]]:
    """Open the folder of a file; yield its descriptor and the file's name in it."""
    *folders, name = _parts(workspace, said)
    handle = os.open(workspace.resolve(), _FOLDER)
    try:
        for folder in folders:
            if make:
                _make(folder, handle)
            inner = os.open(folder, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, name
    finally:
        os.close(handle)


def _parts(workspace: Path, said: str) -> tuple[str, ...]:
    """Return the path from the workspace to the file, links resolved."""
    if "\0" in said or len(said) > 4_096:
        raise OSError("That is not the path of a file.")
    if ".." in Path(said).parts:
        raise OSError(f"{said} goes up; name the file by a path without '..'.")
    root = workspace.resolve()
    try:
        parts = Path(os.path.realpath(root / said)).relative_to(root).parts
    except ValueError:
        raise OSError(f"{said} lies outside the workspace {root}.") from None
    if not parts:
        raise OSError(f"{said} is a folder.")
    return parts


def _make(folder: str, within: int) -> None:
    try:
        os.mkdir(folder, dir_fd=within)
    except FileExistsError:
        return


def _mode_of(name: str, folder: int, said: str) -> int | None:
    """Return the permissions of the existing file; None if none exists."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{said} is not a regular file.")
    return stat.S_IMODE(found.st_mode)


def _require_plain(handle: int, said: str) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise OSError(f"{said} is not a regular file.")

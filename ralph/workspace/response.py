"""The agent's last answer, kept in a folder that the agent can change at any time.

Every step uses the descriptor of a folder that is not a link, so that nothing outside the workspace is ever written.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["FOLDER", "RESPONSE", "keep_response"]

FOLDER = ".ralph"
RESPONSE = "last-response.md"
_NEW = RESPONSE + ".new"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def keep_response(workspace: Path, text: str) -> str:
    """Write `.ralph/last-response.md`, by rename. If it creates the folder, it hides it from git.

    Returns why it could not be written, or the empty string.
    """
    content = text.encode("utf-8", "replace")
    try:
        if os.open in os.supports_dir_fd:
            _keep(workspace, content)
        else:
            _keep_by_name(workspace / FOLDER, content)
    except OSError as error:
        return f"{FOLDER}/{RESPONSE} could not be written: {error.strerror or error}."
    return ""


def _keep(workspace: Path, content: bytes) -> None:
    with _folder(str(workspace)) as top:
        made = False
        with suppress(FileExistsError):
            os.mkdir(FOLDER, dir_fd=top)
            made = True
        with _folder(FOLDER, top) as folder:
            if made:
                with suppress(FileExistsError):
                    _write(".gitignore", b"*\n", folder)
            with suppress(FileNotFoundError):
                os.unlink(_NEW, dir_fd=folder)
            _write(_NEW, content, folder)
            os.rename(_NEW, RESPONSE, src_dir_fd=folder, dst_dir_fd=folder)


@contextmanager
def _folder(name: str, parent: int | None = None) -> Generator[int]:
    handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK, dir_fd=parent)
    try:
        yield handle
    finally:
        os.close(handle)


def _write(name: str, content: bytes, folder: int) -> None:
    """Write a new file. Any existing file or link, even a dangling one, is an error."""
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666, dir_fd=folder)
    with os.fdopen(handle, "wb", buffering=0) as file:
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]


def _keep_by_name(folder: Path, content: bytes) -> None:
    """Write the answer on systems without file access relative to a folder; a link is detected only before."""
    if folder.is_symlink():
        raise OSError(None, f"{FOLDER} is a link")
    made = not folder.exists()
    folder.mkdir(exist_ok=True)
    if made:
        (folder / ".gitignore").write_bytes(b"*\n")
    (folder / _NEW).unlink(missing_ok=True)
    with (folder / _NEW).open("xb") as file:
        file.write(content)
    (folder / _NEW).replace(folder / RESPONSE)

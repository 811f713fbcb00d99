"""Files as documents, and the files of a folder. Links in a folder are not followed: they may lead anywhere."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ralph.errors import UsageError
from ralph_grounding.ground_truth.documents import Document, text_document
from ralph_grounding.ground_truth.html_document import html_document
from ralph_grounding.ground_truth.markdown_document import markdown_document
from ralph_grounding.ground_truth.pages import ReadingLimits
from ralph_grounding.ground_truth.pdf_document import UnreadableError, pdf_document
from ralph_grounding.ground_truth.readable import decoded

__all__ = ["NO_PAGES", "FoundFile", "Kind", "files_in", "kind_of", "parsed", "read_bytes", "read_file", "read_text"]

Kind = str
"""One of "html", "markdown", "pdf", "text"; empty for other files."""

_KINDS = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mkd"), "markdown"),
    **dict.fromkeys((".txt", ".text", ".rst", ".adoc", ".asciidoc"), "text"),
    ".pdf": "pdf",
}
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "venv"})
NO_PAGES = frozenset({"robots.txt", "humans.txt", "security.txt", "ads.txt"})
"""Files of a site for programs, in lower case."""
_MOST_ENTRIES = 200_000
_LARGEST_TEXT = 64 * 1024 * 1024


class FoundFile(NamedTuple):
    """A file of a folder: its path, and its relative path with slashes. `problem` says why it is not read."""

    path: Path
    name: str
    problem: str = ""


def kind_of(path: Path) -> Kind:
    """Return the kind of a file by its extension."""
    return _KINDS.get(path.suffix.lower(), "")


def files_in(folder: Path) -> Iterator[FoundFile]:
    """Yield the readable files in a folder and below, by name. Skips hidden folders and those of tools."""
    entries = 0
    for below, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _PASSED_OVER)
        entries += len(names) + len(folders)
        if entries > _MOST_ENTRIES:
            yield FoundFile(folder, folder.name, f"holds more than {_MOST_ENTRIES} files; the rest was left out")
            return
        for name in sorted(names):
            path = Path(below, name)
            if kind_of(path) and not name.startswith(".") and name.lower() not in NO_PAGES:
                linked = "is a link, which is not followed" if path.is_symlink() else ""
                yield FoundFile(path, path.relative_to(folder).as_posix(), linked)


async def read_file(
    path: Path, limits: ReadingLimits, *, kind: Kind = "", follow: bool = False
) -> tuple[Document, str]:
    """Read a file as a document; also return what the user should know about the reading, usually nothing.

    Args:
        path: the file.
        limits: how much to read.
        kind: the kind of the file, if its name does not say.
        follow: the file may be a link, because the user named it.

    Raises:
        UnreadableError: the file cannot be read; the text gives the reason.
    """
    from anyio import to_thread

    kind = kind_of(path) or kind
    most = limits.pdf_bytes if kind == "pdf" else limits.file_bytes
    try:
        content = await to_thread.run_sync(lambda: read_bytes(path, most + 1, follow=follow))
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    return await parsed(content, kind, limits)


async def parsed(content: bytes, kind: Kind, limits: ReadingLimits, declared: str = "") -> tuple[Document, str]:
    """Parse bytes into a document and a note for the user. Raises `UnreadableError`."""
    from anyio import to_thread

    if kind == "pdf":
        if len(content) > limits.pdf_bytes:
            raise UnreadableError(f"is larger than {limits.pdf_bytes} bytes")
        document = await pdf_document(content, timeout=limits.pdf_seconds)
        unread = document.metadata["unread_pages"]
        return document, f"has {unread} of {document.metadata['pages']} pages that were not read" if unread else ""
    text = decoded(content[: limits.file_bytes], declared)
    if text is None:
        raise UnreadableError("is not text, despite its name")
    read = {"html": html_document, "markdown": markdown_document}.get(kind, text_document)
    document = await to_thread.run_sync(read, text.text)
    notes = [f"was read only up to {limits.file_bytes} bytes"] if len(content) > limits.file_bytes else []
    if text.guessed:
        notes.append(f"is not UTF-8 and names no encoding; it was read as {text.guessed}")
    return document, ", and ".join(notes)


def read_bytes(path: Path, most: int, *, follow: bool = False) -> bytes:
    """Read the beginning of a regular file. Anything else, such as a pipe, raises `OSError`; this never blocks."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags if follow else flags | getattr(os, "O_NOFOLLOW", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(None, "it is not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def read_text(path: Path | str) -> str:
    """Read a text file that the user named, such as an expected answer. Raises `UsageError`."""
    try:
        content = read_bytes(Path(path), _LARGEST_TEXT + 1, follow=True)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The file {str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}.",
            "Name a file that exists and is readable.",
        ) from error
    if len(content) > _LARGEST_TEXT:
        raise UsageError(f"The file {str(path)!r} is larger than {_LARGEST_TEXT // 1024**2} MiB.", "Use a part of it.")
    text = decoded(content)
    if text is None:
        raise UsageError(f"The file {str(path)!r} is not text.", "Name a text file.")
    return text.text

"""PDF. It is read in a separate process, which is ended if it takes too much time or memory."""

import json
import re
import sys
from contextlib import suppress
from itertools import pairwise
from subprocess import DEVNULL
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, cast

from ralph_grounding.ground_truth.documents import Document, text_document
from ralph_grounding.ground_truth.readable import cleaned, one_line

if TYPE_CHECKING:
    from anyio.abc import Process

__all__ = ["UnreadableError", "pdf_document"]

_MOST_PAGES = 500
_MOST_CHARACTERS = 5_000_000
_MEMORY = 2 * 1024**3
_DIVIDED = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zäöüß])")
_FULL = 0.6
"""The share of the longest line; a shorter line ends before the margin."""


class UnreadableError(Exception):
    """A file that cannot be read; the text gives the reason, as the end of a sentence."""


async def pdf_document(content: bytes, *, timeout: float = 30.0) -> Document:
    """Read the text of a PDF, at most 500 pages; the metadata count its `pages` and `unread_pages`.

    Raises:
        UnreadableError: it is broken, encrypted, has no text, or takes longer than `timeout` seconds.
    """
    try:
        told_text = await _ask_process(content, timeout)
    except TimeoutError:
        raise UnreadableError(f"could not be read within {timeout:g} s") from None
    try:
        said: Any = json.loads(told_text)
    except ValueError:
        raise UnreadableError("is not a readable PDF, or takes too much memory") from None
    told = cast("dict[str, Any]", said)
    if problem := told.get("problem"):
        raise UnreadableError(str(problem))
    document = text_document(_parted(cleaned(str(told["text"]))))
    if not document.blocks:
        raise UnreadableError("has no text; its pages may be pictures")
    return document._replace(
        title=one_line(str(told["title"]), 300), metadata={"pages": told["pages"], "unread_pages": told["unread"]}
    )


def _parted(text: str) -> str:
    """Put a blank line after each line that ends early: a heading, or the last line of a paragraph.

    A word that is divided at the end of a line is joined.
    """
    lines = _DIVIDED.sub("", text).split("\n")
    full = _FULL * max(map(len, lines))
    pieces: list[str] = []
    for line, following in pairwise((*lines, "")):
        ends = len(line) < full and not following.lstrip()[:1].islower()
        pieces.append(f"{line}\n\n" if ends else f"{line}\n")
    return "".join(pieces)


async def _ask_process(content: bytes, timeout: float) -> bytes:
    """Run the process on a file and return its output. The process always ends. Raises `TimeoutError`."""
    import anyio
    from anyio import to_thread

    command = [sys.executable, "-P", "-W", "ignore", "-m", __name__]
    # It comes from a file rather than through a pipe, which breaks if the process ends before it has read everything.
    with TemporaryFile() as file:
        await to_thread.run_sync(file.write, content)
        file.seek(0)
        process: Process | None = None
        with anyio.CancelScope(shield=True):  # a process that is still starting could not be ended
            process = await anyio.open_process(command, stdin=file, stderr=DEVNULL)
        assert process is not None
        assert process.stdout is not None
        async with process:
            try:
                with anyio.fail_after(timeout):
                    return b"".join([chunk async for chunk in process.stdout])
            finally:
                with suppress(ProcessLookupError):
                    process.kill()


def _read(content: bytes) -> dict[str, Any]:
    """Extract the text or the problem, inside the process."""
    from io import BytesIO

    from pypdf import PdfReader

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        return {"problem": "is encrypted with a password"}
    texts: list[str] = []
    length = unread = 0
    for page in reader.pages[:_MOST_PAGES]:
        try:
            texts.append(page.extract_text())
        except Exception:  # noqa: BLE001 - as below; the other pages may be sound
            unread += 1
            continue
        length += len(texts[-1])
        if length > _MOST_CHARACTERS:
            break
    if unread and not length:
        return {"problem": "has no readable page"}
    title = reader.metadata.title if reader.metadata else ""
    text = "\n\n".join(texts)[:_MOST_CHARACTERS]
    return {"text": text, "title": title or "", "pages": len(reader.pages), "unread": len(reader.pages) - len(texts)}


def _main() -> None:
    import logging

    logging.disable()
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    except (ImportError, OSError, ValueError):
        pass  # the time is bounded anyway
    try:
        said = _read(sys.stdin.buffer.read())
    except Exception as error:  # noqa: BLE001 - a library that reads hostile files may raise anything
        said = {"problem": f"is not a readable PDF ({type(error).__name__})"}
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    _main()

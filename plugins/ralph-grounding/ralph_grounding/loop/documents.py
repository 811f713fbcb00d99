"""The documents of a workspace, as an agent left them: bounded, never through a link, never from outside."""

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

from ralph.errors import VerifierError

__all__ = ["Documents", "changed", "matching"]

_KINDS = {".md", ".markdown", ".rst", ".txt", ".adoc", ".html", ".htm", ".mdx"}
_MOST_FILES = 200
_WITH_COMMENTS = {".md", ".markdown", ".html", ".htm", ".mdx"}
_UNSEEN = re.compile(r"^ {0,3}\[[^\]\n]{1,99}\]:[ \t]*(?:#|<>)[^\n]*$", re.MULTILINE)
"""In Markdown, the definition of a link that leads nowhere, as in `[//]: # (a note)`."""
_BETWEEN = "\n\n"
_MOST_SEEN = 50_000
_MOST_PROBLEMS = 10
_MOST_BYTES = 2_000_000
_CHANGED = re.compile(r'^--- [^\n]*\n\+\+\+ ("?)b/([^\n]{1,1000}?)\1\t?$', re.MULTILINE)


class Documents(NamedTuple):
    """The documents to judge.

    Attributes:
        names: relative to the workspace.
        text: all of them, one after another.
        problems: what could not be read, a sentence each.
        starts: where each begins in the text.
    """

    names: tuple[str, ...]
    text: str
    problems: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()

    def place(self, position: int) -> str:
        """Return the document and the line of a position in the text, such as "FAQ.md:12"."""
        number = max(bisect_right(self.starts, position) - 1, 0)
        if number >= len(self.names):
            return "it"
        return f"{self.names[number]}:{self.text.count(chr(10), self.starts[number], position) + 1}"


def matching(workspace: Path, patterns: Sequence[str], kept_out: Iterable[str]) -> Documents:
    """Read the files that match patterns such as "docs/**/*.md", in the order of their names.

    Raises:
        VerifierError: a pattern is not valid, or leads out of the workspace.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        try:
            for path in islice(workspace.glob(pattern), _MOST_SEEN):
                found[str(path.relative_to(workspace))] = None
        except (ValueError, NotImplementedError, OSError) as error:
            raise VerifierError(
                f"The pattern {pattern!r} is not valid: {error}.",
                "Use one relative to the workspace, such as docs/**/*.md.",
            ) from error
    return _read(workspace, sorted(found), set(map(os.path.normpath, kept_out)))


def changed(workspace: Path, difference: str | None, kept_out: Iterable[str]) -> Documents:
    """Read the documents that a unified diff changes; without a diff all of them, except in hidden folders."""
    if difference is None:
        names = sorted(islice(_all(workspace), _MOST_SEEN))
    else:
        names = sorted({_unquoted(quote, name) for quote, name in _CHANGED.findall(difference)})
    documents = (name for name in names if Path(name).suffix.lower() in _KINDS)
    return _read(workspace, documents, set(map(os.path.normpath, kept_out)))


def _unquoted(quote: str, name: str) -> str:
    """Decode a name from a diff: git quotes it and writes non-ASCII characters as octal numbers."""
    if not quote:
        return name
    try:
        return name.encode("ascii").decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")
    except UnicodeError:
        return name


def _all(workspace: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(workspace):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in files:
            yield os.path.relpath(Path(folder, name), workspace)


def _read(workspace: Path, names: Iterable[str], kept_out: set[str]) -> Documents:
    read: list[str] = []
    texts: list[str] = []
    problems: list[str] = []
    left, root = _MOST_BYTES, workspace.resolve()
    for name in names:
        path = workspace / name
        if os.path.normpath(name) in kept_out:
            continue
        if left <= 0:
            break
        if len(read) == _MOST_FILES:
            problems.append(f"Only the first {len(read)} documents were judged.")
            break
        try:
            content = _content(path, left) if _is_within(path, root) else None
        except OSError:
            content = None
        if content is None:
            if not path.is_dir() and len(problems) < _MOST_PROBLEMS:
                problems.append(f"{name} was not judged: it is a link, or cannot be read.")
            continue
        left -= len(content)
        if left <= 0:
            problems.append(f"Only the first {_MOST_BYTES:,} bytes were judged: those up to within {name}.")
        read.append(name)
        text = content.decode("utf-8", "replace")
        texts.append(_visible(text) if path.suffix.lower() in _WITH_COMMENTS else text)
    starts = accumulate((len(text) + len(_BETWEEN) for text in texts), initial=0)
    return Documents(tuple(read), _BETWEEN.join(texts), tuple(problems), tuple(starts)[: len(texts)])


def _visible(text: str) -> str:
    """Replace comments by spaces: what no reader sees says nothing. Positions and lines stay."""
    pieces: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        close = text.find("-->", start + 2)
        if close < 0 and text[text.rfind("\n", 0, start) + 1 : start].strip():
            break  # within a line, an open comment is text
        close = close + 3 if close >= 0 else len(text)
        pieces += [text[end:start], _blank(text[start:close])]
        end = close
    pieces.append(text[end:])
    return _UNSEEN.sub(lambda match: _blank(match[0]), "".join(pieces))


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))


def _is_within(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # links in a circle
        return False


def _content(path: Path, most: int) -> bytes:
    """Read the beginning of a regular file; a link or a pipe raises `OSError`, and nothing blocks."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is not a regular file")
        return stream.read(most)

"""Preparation of HTML for the parser: without invisible parts, and without what makes parsing slow.

Python's parser takes more than linear time for tags and comments that are opened and never closed. So comments, scripts
and styles are removed beforehand, and an angle bracket that opens nothing becomes a character. Beyond 100,000 tags the
rest are dropped: each takes a kilobyte of memory.
"""

import re
from typing import NamedTuple

__all__ = ["Sifted", "sift"]

_LONGEST_TAG = 10_000
_MOST_TAGS = 100_000
_RAW = re.compile(r"<(script|style|textarea|title|xmp|iframe|noembed|noframes|plaintext)(?=[\s/>])", re.IGNORECASE)
_ENDS = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext")
}
_LINKED_DATA = re.compile(r"application/ld\+json", re.IGNORECASE)
_OPENS = re.compile(r"</?[a-zA-Z]")


class Sifted(NamedTuple):
    """HTML without comments, scripts and styles, and the contents of its JSON-LD scripts."""

    markup: str
    linked_data: tuple[str, ...]


class _Sieve:
    def __init__(self, markup: str) -> None:
        self._markup = markup
        self._close = -1
        self._tags = 0
        self.kept: list[str] = []
        self.linked_data: list[str] = []

    def run(self) -> None:
        """Scan the markup once, from one angle bracket to the next."""
        markup, at = self._markup, 0
        while (found := markup.find("<", at)) >= 0:
            self.kept.append(markup[at:found])
            at = self._take(found)
        self.kept.append(markup[at:])

    def _take(self, at: int) -> int:
        """Consume what begins with the bracket; return the next position."""
        markup = self._markup
        if markup.startswith("<!--", at):
            return self._after(markup.find("-->", at + 4), 3)
        close = self._next_close(at)
        if markup.startswith(("<!", "<?"), at):
            return self._after(close, 1)
        if close < 0 or close - at > _LONGEST_TAG or not _OPENS.match(markup, at):
            self.kept.append("&lt;")
            return at + 1
        if raw := _RAW.match(markup, at):
            return self._raw(raw[1].lower(), at, close + 1)
        self._tags += 1
        self.kept.append(markup[at : close + 1] if self._tags <= _MOST_TAGS else " ")
        return close + 1

    def _raw(self, name: str, at: int, body: int) -> int:
        """Consume an element without markup in it; if it is not closed, it reaches to the end."""
        end = _ENDS[name].search(self._markup, body)
        stop = end.start() if end else len(self._markup)
        if name == "title":
            self.kept.append(f"<title>{self._markup[body : min(stop, body + 1_000)].replace('<', '&lt;')}</title>")
        elif name == "script" and _LINKED_DATA.search(self._markup, at, body):
            self.linked_data.append(self._markup[body:stop])
        return self._after(self._next_close(stop), 1)

    def _after(self, found: int, length: int) -> int:
        return found + length if found >= 0 else len(self._markup)

    def _next_close(self, at: int) -> int:
        """Find the next closing bracket; searched once for any number of opening ones before it."""
        if 0 <= self._close < at or self._close == -1:
            self._close = self._markup.find(">", at)
            if self._close < 0:
                self._close = -2
        return self._close


def sift(markup: str) -> Sifted:
    """Return HTML that can be parsed in linear time."""
    sieve = _Sieve(markup)
    sieve.run()
    return Sifted("".join(sieve.kept), tuple(sieve.linked_data))

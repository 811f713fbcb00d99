"""Sitemaps: the addresses of a site's pages, each with its priority. A file that declares entities is not read."""

from typing import NamedTuple
from xml.parsers import expat

__all__ = ["Sitemap", "SitemapError", "read_sitemap"]

_MOST = 50_000
_LONGEST = 2_000
_USUAL = 0.5


class SitemapError(Exception):
    """A file that is not a valid sitemap; the text gives the reason, as the end of a sentence."""


class Sitemap(NamedTuple):
    """The content of a sitemap: pages with their priorities (0–1, by default 0.5), and further sitemaps."""

    pages: dict[str, float]
    sitemaps: list[str]


def read_sitemap(content: bytes) -> Sitemap:
    """Parse a sitemap or an index of them. A broken file gives nothing: what precedes the error may be wrong, too.

    Raises:
        SitemapError: it is not XML, not a sitemap, or declares a document type.
    """
    reader = _Reader()
    try:
        reader.parser.Parse(content, True)  # noqa: FBT003 - it has no names for its arguments
    except expat.ExpatError as error:
        raise SitemapError(f"is not XML: {expat.ErrorString(error.code)} in line {error.lineno}") from error
    except (ValueError, LookupError) as error:
        raise SitemapError("is in an unknown encoding") from error
    if reader.root not in {"urlset", "sitemapindex"}:
        raise SitemapError("is not a sitemap")
    return Sitemap(reader.pages, reader.sitemaps)


class _Reader:
    def __init__(self) -> None:
        self.root = ""
        self.pages: dict[str, float] = {}
        self.sitemaps: list[str] = []
        self._within: list[str] = []
        self._text: list[str] = []
        self._address, self._priority = "", _USUAL
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def _refuse(self, *_: object) -> None:
        raise SitemapError("declares a document type, which is not allowed")

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        name = name.rsplit(":", 1)[-1]
        self.root = self.root or name
        self._within.append(name)
        if len(self._within) > 20:
            raise SitemapError("is nested too deeply")
        if len(self._within) == 2:
            self._address, self._priority = "", _USUAL
        self._text.clear()

    def _characters(self, text: str) -> None:
        if len(self._within) == 3 and sum(map(len, self._text)) < _LONGEST:
            self._text.append(text)

    def _end(self, _name: str) -> None:
        name, depth = self._within[-1], len(self._within)
        text = "".join(self._text).strip()
        if depth == 3 and name == "loc":
            self._address = text
        elif depth == 3 and name == "priority":
            self._priority = _unit(text)
        elif depth == 2 and self._address and len(self._address) <= _LONGEST:
            if name == "url" and len(self.pages) < _MOST:
                self.pages[self._address] = self._priority
            elif name == "sitemap" and len(self.sitemaps) < _MOST:
                self.sitemaps.append(self._address)
        self._within.pop()
        self._text.clear()


def _unit(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return _USUAL
    return number if 0 <= number <= 1 else _USUAL

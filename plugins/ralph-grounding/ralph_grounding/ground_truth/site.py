"""The pages of a site: those in its sitemap, else those that its start page links to.

A sitemap that declares entities is not read.
"""

import zlib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit
from xml.parsers import expat

from ralph_grounding.ground_truth.documents import Document
from ralph_grounding.ground_truth.fetching import (
    Answer,
    FetchError,
    Site,
    SiteClient,
    joined,
    page_key,
    resolved,
    site_client,
    site_of,
)
from ralph_grounding.ground_truth.files import NO_PAGES, Kind, parsed
from ralph_grounding.ground_truth.pages import ReadingLimits
from ralph_grounding.ground_truth.pdf_document import UnreadableError

__all__ = ["FoundPage", "SiteReading", "Sitemap", "SitemapError", "group_by_site", "read_site", "read_sitemap"]

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


_KINDS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/plain": "text",
    "application/pdf": "pdf",
}
_MOST_SITEMAPS = 50
_SITEMAP_BYTES = 20_000_000


class FoundPage(NamedTuple):
    """A page of a site; the priority is the sitemap's, None if none exists."""

    url: str
    document: Document
    priority: float | None = None


class SiteReading:
    """The pages read so far. It is filled as pages come, so that a time-out keeps what there is."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.problems: list[str] = []
        self._found: dict[int, FoundPage] = {}
        self._seen: set[str] = set()
        self._asked = 0

    @property
    def pages(self) -> list[FoundPage]:
        """The pages in the order in which they were found."""
        return [self._found[number] for number in sorted(self._found)]

    @property
    def asked(self) -> int:
        """The number of requested addresses."""
        return self._asked

    def is_new(self, url: str) -> bool:
        """Return True if an address belongs to the site and is seen for the first time; marks it as seen."""
        if not self.site.has(url):
            return False
        key = page_key(url)
        new = key not in self._seen
        self._seen.add(key)
        return new

    def number(self) -> int:
        """Return the place of the next page."""
        self._asked += 1
        return self._asked

    def put(self, number: int, page: FoundPage) -> None:
        self._found[number] = page

    def add_problem(self, url: str, problem: object) -> None:
        self.problems.append(f"{url[:300]}: {problem}.")


async def read_site(urls: Sequence[str], limits: ReadingLimits, *, most: int, follow: bool) -> SiteReading:
    """Read pages of one site.

    Args:
        urls: the pages, all of one site; with `follow` the starting point for others.
        limits: how much to read.
        most: maximum number of pages to request.
        follow: read the pages below the first address, too.

    Raises:
        UsageError: an address is not valid, or has a password in it.
    """
    import anyio

    site = site_of(urls[0])
    urls = [joined(url, "") or url for url in urls]
    reading = SiteReading(site)
    with anyio.move_on_after(limits.site_seconds) as scope:
        async with site_client(site, limits) as visitor:
            try:
                await visitor.read_robots(urls[0])
            except FetchError as error:
                reading.add_problem(urls[0], error)
                return reading
            await _Crawl(reading, visitor, limits, most).read(urls, follow=follow)
    if scope.cancelled_caught:
        reading.add_problem(
            urls[0], f"the time limit of {limits.site_seconds:g} s was reached; {len(reading.pages)} pages were read"
        )
    return reading


class _Crawl:
    """Traversal of a site, from one set of addresses to those that they link to."""

    def __init__(self, reading: SiteReading, visitor: SiteClient, limits: ReadingLimits, most: int) -> None:
        self._reading, self._visitor, self._limits, self._most = reading, visitor, limits, most

    async def read(self, urls: Sequence[str], *, follow: bool) -> None:
        start = urls[0]
        listed = await self._listed(start) if follow else {}
        if listed:
            await self._read_all({start: listed.get(start), **_by_priority(listed)})
            return
        if follow:
            self._reading.add_problem(start, "no sitemap lists the pages below it, so its links were followed")
        waiting: Mapping[str, float | None] = dict.fromkeys(urls)
        below = _folder(start)
        while waiting:
            links = await self._read_all(waiting)
            waiting = dict.fromkeys(link for link in links if _path(link).startswith(below)) if follow else {}

    async def _read_all(self, urls: Mapping[str, float | None]) -> list[str]:
        """Read the new ones; return the targets of their links."""
        import anyio

        pages = [url for url in urls if _path(url).rpartition("/")[2].lower() not in NO_PAGES]
        new = [url for url in pages if self._reading.is_new(url)]
        room = max(0, self._most - self._reading.asked)
        if new[room:]:
            self._reading.add_problem(
                new[room], f"this page and {len(new) - room - 1} more were left out: at most {self._most} are read"
            )
        places = [(self._reading.number(), url) for url in new[:room]]
        leads: dict[int, list[str]] = {}
        limiter = anyio.CapacityLimiter(self._limits.concurrency)

        async def one(number: int, url: str) -> None:
            async with limiter:
                leads[number] = await self._read_page(number, url, urls[url])

        async with anyio.create_task_group() as group:
            for number, url in places:
                group.start_soon(one, number, url)
        return [link for number in sorted(leads) for link in leads[number]]

    async def _read_page(self, number: int, url: str, priority: float | None) -> list[str]:
        try:
            answer = await self._visitor.get(
                url, self._limits.pdf_bytes if _kind_by_name(url) == "pdf" else self._text_bytes
            )
            document, note = await parsed(answer.content, _kind(answer), self._limits, answer.encoding)
        except (FetchError, UnreadableError) as error:
            self._reading.add_problem(url, error)
            return []
        if note:
            self._reading.add_problem(answer.url, note)
        if page_key(answer.url) != page_key(url) and not self._reading.is_new(answer.url):
            return []
        self._reading.put(number, FoundPage(answer.url, document, priority))
        return [
            link for each in document.links if (link := resolved(answer.url, each)) and self._reading.site.has(link)
        ]

    @property
    def _text_bytes(self) -> int:
        return self._limits.file_bytes + 1

    async def _listed(self, start: str) -> dict[str, float]:
        """Return the pages that the site's sitemaps list below the start page; empty if it has none."""
        named = self._visitor.robots.sitemaps
        waiting = deque(named or ["/sitemap.xml"])
        seen: set[str] = set()
        listed: dict[str, float] = {}
        while waiting and len(seen) < _MOST_SITEMAPS:
            url = joined(start, waiting.popleft())
            if url is None or url in seen or not self._reading.site.has(url):
                continue
            seen.add(url)
            try:
                content = _unpacked((await self._visitor.get(url, _SITEMAP_BYTES)).content)
                sitemap = read_sitemap(content)
            except (FetchError, SitemapError) as error:
                if named or len(seen) > 1 or not isinstance(error, FetchError):
                    self._reading.add_problem(url, error)
                continue
            listed.update(sitemap.pages)
            waiting += sitemap.sitemaps
        return self._own(listed, start)

    def _own(self, listed: Mapping[str, float], start: str) -> dict[str, float]:
        """Return those of the site below the start page; report the number of the others."""
        below = _folder(start)
        pages = {page: each for url, each in listed.items() if (page := resolved(start, url))}
        own = {url: each for url, each in pages.items() if self._reading.site.has(url)}
        if foreign := len(pages) - len(own):
            self._reading.add_problem(start, f"its sitemap lists {foreign} pages of other hosts, which were left out")
        return {url: each for url, each in own.items() if _path(url).startswith(below)}


def _by_priority(listed: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(listed.items(), key=lambda entry: -entry[1]))


def _path(url: str) -> str:
    return urlsplit(url).path or "/"


def _folder(start: str) -> str:
    """Return the common beginning of the paths below an address."""
    return _path(start).rpartition("/")[0] + "/"


def _kind_by_name(url: str) -> Kind:
    path = _path(url).lower()
    return "pdf" if path.endswith(".pdf") else "markdown" if path.endswith((".md", ".markdown")) else ""


def _kind(answer: Answer) -> Kind:
    """Return the kind of a page, by its type, else by its name. Raises `FetchError` for unsupported kinds."""
    named = _kind_by_name(answer.url)
    if answer.content_type in {"", "application/octet-stream"}:
        return named or "html"
    kind = _KINDS.get(answer.content_type)
    if kind is None:
        raise FetchError(f"it is {answer.content_type[:60]}, which is not supported")
    return named if kind == "text" and named == "markdown" else kind


def _unpacked(content: bytes) -> bytes:
    """Unpack a compressed sitemap, up to the size limit."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(content, _SITEMAP_BYTES)
    except zlib.error as error:
        raise SitemapError("is compressed and cannot be decompressed") from error


def group_by_site(urls: Iterable[str]) -> dict[Site, list[str]]:
    """Group addresses by their site, in order. Raises `UsageError` if one is not valid."""
    grouped: dict[Site, list[str]] = {}
    for url in urls:
        grouped.setdefault(site_of(url), []).append(url)
    return grouped

"""Addresses of pages, and requests to one site: polite, as its robots.txt demands, bounded, never to another site."""

import math
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from ralph.errors import UsageError
from ralph_grounding.ground_truth.pages import ReadingLimits
from ralph_grounding.retrying import named_wait

if TYPE_CHECKING:
    import httpx

__all__ = [
    "AGENT",
    "USER_AGENT",
    "Answer",
    "FetchError",
    "Robots",
    "Site",
    "SiteClient",
    "is_address",
    "joined",
    "page_key",
    "resolved",
    "site_client",
    "site_of",
    "without_www",
]

_PORTS = {"http": 80, "https": 443}
_LONGEST = 2_000
_NO_PAGES_WORDS = (
    "7z avi bin bmp bz2 css csv dmg doc docx eot exe gif gz ico iso jar jpeg jpg js json m4a mjs mov mp3 mp4 mpeg "
    "ogg otf png ppt pptx rar rss svg tar tgz tif tiff ttf wav webm webp wmv woff woff2 xls xlsx xml zip"
)
_NO_PAGES = frozenset(_NO_PAGES_WORDS.split())


class Site(NamedTuple):
    """The part of the web to read for one address: its host and port, with or without "www."."""

    host: str
    port: int | None

    def has(self, url: str) -> bool:
        """Return True if an address belongs to the site. HTTP and HTTPS on their default ports are the same."""
        parts = _split(url)
        return parts is not None and _site(parts) == self


def is_address(place: str) -> bool:
    """Return True if a place is an address rather than a file."""
    return place.lower().startswith(("http://", "https://"))


def site_of(url: str) -> Site:
    """Return the site of an address that the user named. Raises `UsageError` if the address is not valid."""
    parts = _split(url)
    if parts is None or not parts.hostname:
        raise UsageError(f"{url[:200]!r} is not the address of a page.", "Write one such as https://example.com/docs.")
    if parts.username or parts.password:
        raise UsageError(
            f"The address of {parts.hostname} has a user name or a password in it.", "Name pages that anyone may read."
        )
    return _site(parts)


def without_www(host: str) -> str:
    """Return a host's name in lower case, without "www."."""
    return host.lower().strip(".").removeprefix("www.")


def joined(base: str, link: str) -> str | None:
    """Resolve a link, without its fragment; None for what HTTP cannot request, such as mail."""
    try:
        url = urljoin(base, link.strip())
    except ValueError:
        return None
    parts = _split(url)
    if parts is None or parts.username or parts.password or not parts.hostname or not url.isprintable():
        return None
    return parts._replace(path=parts.path or "/", fragment="").geturl()


def resolved(base: str, link: str) -> str | None:
    """Resolve a link of a page, without its fragment; None unless it may lead to a page: mail, pictures, programs."""
    url = joined(base, link)
    if url is None:
        return None
    last = urlsplit(url).path.rsplit("/", 1)[-1].lower()
    return None if "." in last and last.rsplit(".", 1)[-1] in _NO_PAGES else url


def page_key(url: str) -> str:
    """Return one key for addresses that differ only in scheme, "www.", a trailing slash or the fragment."""
    parts = urlsplit(url)
    site = _site(parts)
    query = f"?{parts.query}" if parts.query else ""
    return f"{site.host}:{site.port or ''}{parts.path.rstrip('/')}{query}"


def _split(url: str) -> SplitResult | None:
    if len(url) > _LONGEST:
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in _PORTS else None


def _site(parts: SplitResult) -> Site:
    port = None if parts.port == _PORTS.get(parts.scheme) else parts.port
    return Site(without_www(parts.hostname or ""), port)


AGENT = "ralph-grounding"
USER_AGENT = f"{AGENT}/0.1 (reads pages as ground truth; obeys robots.txt)"

_LONGEST_DELAY = 30.0
_MOST_SITEMAPS = 20


class Robots:
    """The rules of one site.

    Args:
        text: the file; None if the site has none, and so allows everything.
    """

    def __init__(self, text: str | None) -> None:
        from protego import Protego

        self._rules = Protego.parse(text or "")

    def allow(self, url: str) -> bool:
        """Return True if a page may be read."""
        return self._rules.can_fetch(url, AGENT)

    @property
    def delay(self) -> float:
        """The seconds between requests that the site demands, at most 30."""
        asked = self._rules.crawl_delay(AGENT)
        return min(asked, _LONGEST_DELAY) if asked and math.isfinite(asked) and asked > 0 else 0.0

    @property
    def sitemaps(self) -> list[str]:
        """The sitemaps that it names."""
        return [url for url, _ in zip(self._rules.sitemaps, range(_MOST_SITEMAPS), strict=False)]


_MOST_REDIRECTS = 5
_BUSY = frozenset({429, 503})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FIRST_WAIT = 1.0


class FetchError(Exception):
    """A page that cannot be fetched; the text gives the reason, as the end of a sentence.

    `status` is 0 without a response.
    """

    def __init__(self, problem: str, status: int = 0) -> None:
        super().__init__(problem)
        self.status = status


class Answer(NamedTuple):
    """A page as received: its final address, its type, its bytes and the encoding that its server declares."""

    url: str
    content_type: str
    encoding: str
    content: bytes


class _Pace:
    """The earliest time for the next request, shared by all tasks."""

    def __init__(self) -> None:
        self.delay = 0.0
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until the caller may send its request."""
        import anyio

        at = max(anyio.current_time(), self._next)
        self._next = at + self.delay
        await anyio.sleep_until(at)

    def hold(self, seconds: float) -> None:
        """Delay the next request by some seconds."""
        import anyio

        self._next = max(self._next, anyio.current_time() + seconds)


class SiteClient:
    """A client of one site. It follows at most five redirects within the site and obeys robots.txt."""

    def __init__(self, client: "httpx.AsyncClient", site: Site, limits: ReadingLimits) -> None:
        self._client, self._site, self._limits = client, site, limits
        self._pace = _Pace()
        self.robots = Robots(None)

    async def read_robots(self, start: str) -> None:
        """Read the site's robots.txt. Raises `FetchError` if the site fails to answer, which forbids everything."""
        try:
            answer = await self.get(urljoin(start, "/robots.txt"), 500_000)
        except FetchError as error:
            if 400 <= error.status < 500 and error.status not in _BUSY:
                return
            raise FetchError(f"its robots.txt cannot be read ({error}), so nothing may be read") from error
        self.robots = Robots(answer.content.decode("utf-8", "replace"))
        self._pace.delay = self.robots.delay

    async def get(self, url: str, most: int) -> Answer:
        """Fetch a page, or its first `most` bytes. Raises `FetchError`."""
        usual = _FIRST_WAIT
        for attempt in range(1, self._limits.tries + 1):
            try:
                return await self._follow(url, most)
            except _BusyError as busy:
                wait, usual = usual if busy.wait is None else busy.wait, 2 * usual
                if attempt == self._limits.tries or wait > self._limits.wait_seconds:
                    raise FetchError(f"the site is too busy ({busy.status})", busy.status) from busy
                self._pace.hold(wait)
        raise AssertionError("there is at least one try")

    async def _follow(self, url: str, most: int) -> Answer:
        for _ in range(_MOST_REDIRECTS + 1):
            if not self.robots.allow(url):
                raise FetchError("its robots.txt does not allow reading it")
            await self._pace.turn()
            answer = await self._ask(url, most)
            if isinstance(answer, Answer):
                return answer
            if not self._site.has(answer):
                raise FetchError(f"it leads to another host, which was not named: {answer[:200]}")
            url = answer
        raise FetchError(f"it is redirected more than {_MOST_REDIRECTS} times")

    async def _ask(self, url: str, most: int) -> Answer | str:
        """Send one request; return a page, or the address that it redirects to."""
        import anyio
        import httpx

        try:
            with anyio.fail_after(self._limits.request_seconds):
                async with self._client.stream("GET", url) as response:
                    if response.status_code in _REDIRECTS and (target := response.headers.get("location")):
                        return urljoin(url, target)
                    if response.status_code in _BUSY:
                        raise _BusyError(response.status_code, named_wait(response.headers.get("retry-after", "")))
                    if response.status_code >= 400:
                        raise FetchError(f"the site answers {response.status_code}", response.status_code)
                    return Answer(
                        url,
                        response.headers.get("content-type", "").split(";")[0].strip().lower(),
                        response.charset_encoding or "",
                        await _body(response, most),
                    )
        except TimeoutError:
            raise FetchError(f"the site does not answer within {self._limits.request_seconds:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise FetchError(f"the site cannot be reached: {str(error)[:200] or type(error).__name__}") from error


class _BusyError(Exception):
    def __init__(self, status: int, wait: float | None) -> None:
        super().__init__(status)
        self.status, self.wait = status, wait


@asynccontextmanager
async def site_client(site: Site, limits: ReadingLimits) -> AsyncGenerator[SiteClient]:
    """Open a visitor of a site; its connections are closed with the block."""
    import httpx

    headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate", "Accept": "text/html,*/*;q=0.5"}
    async with httpx.AsyncClient(headers=headers, timeout=limits.request_seconds, follow_redirects=False) as client:
        yield SiteClient(client, site, limits)


async def _body(response: "httpx.Response", most: int) -> bytes:
    """Read the beginning of a body. It is unpacked here, because a packed one may be a thousand times as large."""
    packed = response.headers.get("content-encoding", "identity").strip().lower()
    if packed not in {"", "identity", "gzip", "x-gzip", "deflate"}:
        raise FetchError(f"the site uses an unrequested compression ({packed[:40]})")
    unpacked = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed not in {"", "identity"} else None
    content = bytearray()
    async for chunk in response.aiter_raw():
        try:
            content += unpacked.decompress(chunk, most - len(content)) if unpacked else chunk
        except zlib.error as error:
            raise FetchError("the site's compressed page cannot be decompressed") from error
        if len(content) >= most:
            break
    return bytes(content[:most])

"""Addresses of pages: one spelling for each, and the site it belongs to."""

from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from ralph.errors import UsageError

__all__ = ["Site", "is_address", "joined", "page_key", "resolved", "site_of", "without_www"]

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

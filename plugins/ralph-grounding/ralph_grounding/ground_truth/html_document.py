"""HTML: the main content, and the page's metadata. Hidden content is not read.

Python's parser takes more than linear time for tags and comments that are opened and never closed. So comments, scripts
and styles are removed beforehand, and an angle bracket that opens nothing becomes a character. Beyond 100,000 tags the
rest are dropped: each takes a kilobyte of memory.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from ralph_grounding.ground_truth.documents import Block, BlockKind, Document
from ralph_grounding.ground_truth.linked_data import items_in
from ralph_grounding.ground_truth.readable import one_line

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

__all__ = ["Preprocessed", "html_document", "preprocess"]

_LONGEST_TAG = 10_000
_MOST_TAGS = 100_000
_RAW = re.compile(r"<(script|style|textarea|title|xmp|iframe|noembed|noframes|plaintext)(?=[\s/>])", re.IGNORECASE)
_ENDS = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext")
}
_LINKED_DATA = re.compile(r"application/ld\+json", re.IGNORECASE)
_OPENS = re.compile(r"</?[a-zA-Z]")


class Preprocessed(NamedTuple):
    """HTML without comments, scripts and styles, and the contents of its JSON-LD scripts."""

    markup: str
    linked_data: tuple[str, ...]


class _Scanner:
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


def preprocess(markup: str) -> Preprocessed:
    """Return HTML that can be parsed in linear time."""
    sieve = _Scanner(markup)
    sieve.run()
    return Preprocessed("".join(sieve.kept), tuple(sieve.linked_data))


_LEFT_OUT_WORDS = "nav footer aside form button select input iframe svg canvas object dialog template noscript head"
_LEFT_OUT = frozenset(_LEFT_OUT_WORDS.split())
_ROLES_WORDS = "navigation banner contentinfo search complementary menu menubar dialog alertdialog"
_ROLES = frozenset(_ROLES_WORDS.split())
_BESIDE = re.compile(
    r"(?:^|\s|(?<!has)(?<!with)(?<!no)[_-])(?:left|right|page|site|main)?"
    r"(?:side-?bar|nav-?bar|nav|navigation|breadcrumbs?|footer|pagination|newsletter|"
    r"(?:cookies?|consent|gdpr)[_-](?:banner|consent|notice|bar|popup)|"
    r"(?:share|sharing|social)[_-](?:buttons?|links?|icons?|bar|media)|"
    r"related[_-](?:posts?|articles?|links?|pages?)|skip[_-](?:link|to|nav))(?:[\s_-]|$)"
)
"""A class or an id that usually names what stands beside the content, on pages that mark no content as such."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS_WORDS = (
    "p div section article main header ul ol dl dt dd blockquote figure figcaption table caption tbody thead tfoot "
    "address details summary hgroup fieldset center body html hr"
)
_BLOCKS = frozenset(_BLOCKS_WORDS.split())
_KINDS: dict[str, BlockKind] = {"li": "item", "tr": "row", "pre": "code"}
_LONGEST_VALUE = 1_000
_MOST_META = 40
_MOST_LINKS = 5_000
_LITTLE = 80
"""Below so many characters the main element counts as a shell for a script to fill."""


def html_document(markup: str) -> Document:
    """Parse a page of HTML in linear time. Accepts any text."""
    from bs4 import BeautifulSoup

    sifted = preprocess(markup)
    # The line end keeps the parser from warning about a text that looks like a file's name.
    soup = BeautifulSoup(sifted.markup + "\n", "html.parser")
    tags = _meta(soup)
    blocks = _main_blocks(soup)
    return Document(
        blocks=blocks,
        title=_title(soup, tags),
        language=_language(soup),
        site_name=tags.get("og:site_name", "")[:200],
        metadata=_metadata(soup, tags),
        items=items_in(sifted.linked_data),
        links=tuple(_links(soup)),
    )


def _meta(soup: "BeautifulSoup") -> dict[str, str]:
    """Return the page's `<meta>` tags, the first of each name."""
    tags: dict[str, str] = {}
    for tag in soup.find_all("meta", limit=500):
        name = one_line(_attribute(tag, "property") or _attribute(tag, "name"), 80).lower()
        value = one_line(_attribute(tag, "content"), _LONGEST_VALUE)
        if name and value and len(tags) < _MOST_META:
            tags.setdefault(name, value)
    return tags


def _title(soup: "BeautifulSoup", tags: Mapping[str, str]) -> str:
    element = soup.find("title")
    written = one_line(element.get_text(), 300) if element else ""
    return written or tags.get("og:title", "")[:300]


def _language(soup: "BeautifulSoup") -> str:
    element = soup.find("html")
    declared = _attribute(element, "lang").lower() if element else ""
    code = declared[:2]
    return code if code.isalpha() and code.isascii() and declared[2:3] in {"", "-", "_"} else ""


def _metadata(soup: "BeautifulSoup", tags: Mapping[str, str]) -> dict[str, Any]:
    graph = {name.removeprefix("og:"): value for name, value in tags.items() if name.startswith("og:")}
    others = {name: value for name, value in tags.items() if not name.startswith("og:")}
    canonical = next(
        (_attribute(link, "href") for link in soup.find_all("link", limit=200) if "canonical" in _words(link, "rel")),
        "",
    )
    said: dict[str, Any] = {"canonical": one_line(canonical, _LONGEST_VALUE), "open_graph": graph, "meta": others}
    return {name: value for name, value in said.items() if value}


def _links(soup: "BeautifulSoup") -> Iterator[str]:
    """Yield the targets of the page's links, as written, or resolved against the page's base."""
    base = soup.find("base", href=True)
    below = _attribute(base, "href").strip() if base else ""
    for link in soup.find_all("a", href=True, limit=_MOST_LINKS):
        address = _attribute(link, "href").strip()
        if len(address) <= 2_000 and "nofollow" not in _words(link, "rel"):
            with suppress(ValueError):
                yield urljoin(below, address) if below else address


def _main_blocks(soup: "BeautifulSoup") -> tuple[Block, ...]:
    """Return the blocks of the main element if it has content, else of the page without what stands beside it."""
    articles = soup.find_all("article", limit=2)
    for root in (soup.find("main"), soup.find(role="main"), articles[0] if len(articles) == 1 else None):
        if root is not None:
            blocks = _blocks(root, whole=False)
            if _length(blocks) >= _LITTLE:
                return blocks
    kept = {id(around) for title in soup.find_all("h1", limit=20) for around in title.parents}
    beside = {id(tag) for tag in soup.find_all(_is_beside) if id(tag) not in kept}
    whole = _blocks(soup, whole=True)
    rest = _blocks(soup, whole=True, without=beside) if beside else whole
    return rest if _length(rest) >= min(_LITTLE, _length(whole)) else whole


def _length(blocks: Iterable[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _is_beside(tag: "Tag") -> bool:
    named = f"{' '.join(_words(tag, 'class'))} {_attribute(tag, 'id').lower()}"
    return tag.name not in {"html", "body"} and _BESIDE.search(named) is not None


def _blocks(root: "Tag", *, whole: bool, without: Container[int] = ()) -> tuple[Block, ...]:
    """Collect the visible text below an element, in order; without recursion, because pages may nest without limit."""
    from bs4.element import NavigableString, Tag

    writer = _Writer()
    ways: list[tuple[str, Iterator[Any]]] = [("", iter(root.contents))]
    while ways:
        name, children = ways[-1]
        node = next(children, None)
        if node is None:
            ways.pop()
            writer.leave(name)
        elif isinstance(node, Tag):
            if id(node) not in without and not _is_left_out(node, whole=whole):
                writer.enter(node.name)
                ways.append((node.name, iter(node.contents)))
        elif type(node) is NavigableString:
            writer.write(str(node))
    return tuple(writer.blocks())


def _is_left_out(tag: "Tag", *, whole: bool) -> bool:
    """Return True if an element is not content: navigation, or hidden from readers."""
    if tag.name in _LEFT_OUT:
        return True
    if whole and tag.name == "header" and tag.parent is not None and tag.parent.name == "body":
        return tag.find("h1") is None
    if not tag.attrs:
        return False
    if "hidden" in tag.attrs or _attribute(tag, "aria-hidden").lower() == "true":
        return True
    style = _attribute(tag, "style").replace(" ", "").lower()
    return _attribute(tag, "role").lower() in _ROLES or "display:none" in style or "visibility:hidden" in style


class _Writer:
    """Collector of text into blocks."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._text: list[str] = []
        self._kinds: list[tuple[BlockKind, int]] = [("paragraph", 0)]

    def enter(self, name: str) -> None:
        """Begin an element."""
        if name == "br":
            self._text.append("\n" if self._kinds[-1][0] == "code" else " ")
        elif name in {"td", "th"} and any(map(str.strip, self._text)):
            self._text.append(" | ")
        if (kind := self._kind(name)) is not None:
            self._close()
            self._kinds.append(kind)

    def leave(self, name: str) -> None:
        """End an element."""
        if self._kind(name) is not None:
            self._close()
            self._kinds.pop()

    def write(self, text: str) -> None:
        self._text.append(text)

    def blocks(self) -> list[Block]:
        """Return all blocks at the end."""
        self._close()
        return self._blocks

    def _kind(self, name: str) -> tuple[BlockKind, int] | None:
        """Return the kind of an element's text; None if it belongs to the text around it."""
        if name in _HEADINGS:
            return "heading", _HEADINGS[name]
        if name in _KINDS:
            return _KINDS[name], 0
        if name in _BLOCKS and self._kinds[-1][0] not in {"row", "code"}:
            return ("item", 0) if self._kinds[-1][0] == "item" and name in {"p", "div"} else ("paragraph", 0)
        return None

    def _close(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        kind, level = self._kinds[-1]
        text = text.strip("\n") if kind == "code" else " ".join(text.split())
        if kind == "heading":
            text = text.rstrip("¶#").rstrip()[:300]
        if text.strip():
            self._blocks.append(Block(kind, text, level))


def _attribute(tag: Any, name: str) -> str:
    value: object = tag.attrs.get(name)
    return value if isinstance(value, str) else ""


def _words(tag: Any, name: str) -> list[str]:
    value: Any = tag.attrs.get(name) or ()
    return (value if isinstance(value, str) else " ".join(value)).lower().split()

"""Passages of a page: at most 750 tokens of one section, each beginning with the last 100 tokens of the one before.

A token counts as four characters.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from ralph_grounding.ground_truth.documents import Block, text_document, text_of
from ralph_grounding.ground_truth.pages import Chunk, Page

__all__ = ["CHUNK_TOKENS", "OVERLAP_TOKENS", "chunks_of", "page_of_text", "token_count"]

CHUNK_TOKENS = 750
OVERLAP_TOKENS = 100
_LETTERS = 4
_HEADING = 200
_ENDS = ("\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", "; ", ", ", "、", " ")


def token_count(text: str) -> int:
    """Estimate the tokens of a text for a language model: a quarter of its characters, rounded up."""
    return -(-len(text) // _LETTERS)


def page_of_text(text: str, *, url: str, title: str = "") -> Page:
    """Make a page from a plain text: passages, without claims or entities."""
    return Page(url=url, title=title, text=text, chunks=chunks_of(text_document(text).blocks, url))


def chunks_of(blocks: Sequence[Block], url: str) -> tuple[Chunk, ...]:
    """Cut a page into passages, in order. No passage crosses a heading."""
    chunks: list[Chunk] = []
    seen: dict[str, int] = {}
    for path, body in _sections(blocks):
        for piece in _pieces(text_of(body) or path[-1]):
            name = sha256(f"{url}\0{piece}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
            seen[name] = seen.get(name, 0) + 1
            chunks.append(
                Chunk(
                    id=name if seen[name] == 1 else f"{name}-{seen[name]}",
                    text=piece,
                    heading=" › ".join(path),
                    depth=len(path),
                    tokens=token_count(piece),
                )
            )
    return tuple(chunks)


def _sections(blocks: Sequence[Block]) -> Iterator[tuple[tuple[str, ...], list[Block]]]:
    """Yield the headings above and the blocks below them; a heading with nothing below stands alone."""
    path: list[tuple[int, str]] = []
    body: list[Block] = []
    bare = False
    for block in blocks:
        if block.kind != "heading":
            body.append(block)
            continue
        deeper = bool(path) and block.level > path[-1][0]
        if body or (bare and not deeper):
            yield tuple(text for _, text in path), body
        while path and path[-1][0] >= block.level:
            path.pop()
        path.append((block.level, block.text[:_HEADING]))
        body, bare = [], True
    if body or bare:
        yield tuple(text for _, text in path), body


def _pieces(text: str) -> Iterator[str]:
    size, overlap = CHUNK_TOKENS * _LETTERS, OVERLAP_TOKENS * _LETTERS
    start = 0
    while len(text) - start > size:
        end = _last_end(text, start + size // 2, start + size)
        if piece := text[start:end].strip():
            yield piece
        start = _first_start(text, end - overlap, end)
    if piece := text[start:].strip():
        yield piece


def _last_end(text: str, low: int, high: int) -> int:
    """Find where to cut: after the last paragraph that ends between the two, else line, sentence, word, character."""
    for end in _ENDS:
        if (at := text.rfind(end, low, high)) >= 0:
            return at + len(end)
    return high


def _first_start(text: str, low: int, high: int) -> int:
    """Find where the next passage begins: at the first paragraph between the two, else line, sentence, word."""
    for end in _ENDS:
        if 0 <= (at := text.find(end, low, high)) < high - len(end):
            return at + len(end)
    return low

"""The common result of all readers of files and pages, blocks of text in order; and the reader of plain text."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

__all__ = ["Block", "BlockKind", "Document", "text_document", "text_of"]

BlockKind = Literal["heading", "paragraph", "item", "row", "code"]


class Block(NamedTuple):
    """A heading, a paragraph, a list item, a table row, or code; never empty.

    Attributes:
        level: of a heading, 1 being the outermost; 0 for everything else.
    """

    kind: BlockKind
    text: str
    level: int = 0


class Document(NamedTuple):
    """A file or a page as its reader saw it.

    Attributes:
        language: as the document declares it, such as "en"; empty if it does not.
        site_name: as the document declares it.
        metadata: its other declarations, bounded.
        items: its structured data (JSON-LD), one by one.
        links: the targets of its links, as written.
    """

    blocks: tuple[Block, ...] = ()
    title: str = ""
    language: str = ""
    site_name: str = ""
    metadata: Mapping[str, Any] = {}
    items: tuple[Mapping[str, Any], ...] = ()
    links: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The title, or the first heading."""
        return self.title or next((block.text for block in self.blocks if block.kind == "heading"), "")


def text_of(blocks: Sequence[Block]) -> str:
    """Join blocks into one text: blank lines between them, except between list items and table rows."""
    pieces: list[str] = []
    before = ""
    for block in blocks:
        if pieces:
            pieces.append("\n" if block.kind == before and before in {"item", "row"} else "\n\n")
        pieces.append(f"- {block.text}" if block.kind == "item" else block.text)
        before = block.kind
    return "".join(pieces)


_GAP = re.compile(r"\n[ \t\r]*\n\s*")
_UNDERLINE = re.compile(r"([=\-~^])\1{2,}")
_BULLET = re.compile(r"\s*[-*•]\s+")
_LEVELS = {"=": 1, "-": 2, "~": 3, "^": 4}


def text_document(text: str) -> Document:
    """Parse plain text into blocks: paragraphs between blank lines, underlined lines as headings, and lists."""
    blocks: list[Block] = []
    for paragraph in _GAP.split(text):
        blocks += _blocks(paragraph.strip("\n").split("\n"))
    return Document(tuple(blocks))


def _blocks(lines: list[str]) -> list[Block]:
    blocks: list[Block] = []
    gathered: list[str] = []
    kind = "paragraph"

    def close() -> None:
        nonlocal kind
        if text := "\n".join(gathered).strip():
            blocks.append(Block("item" if kind == "item" else "paragraph", text))
        gathered.clear()
        kind = "paragraph"

    for line in lines:
        mark = _UNDERLINE.fullmatch(line.strip()) if len(line) <= 200 else None
        if mark and gathered and gathered[-1].strip() and len(gathered[-1]) <= 200:
            title = gathered.pop().strip()
            close()
            blocks.append(Block("heading", title, _LEVELS[mark[1]]))
        elif bullet := _BULLET.match(line):
            close()
            kind = "item"
            gathered.append(line[bullet.end() :])
        else:
            gathered.append(line)
    close()
    return blocks

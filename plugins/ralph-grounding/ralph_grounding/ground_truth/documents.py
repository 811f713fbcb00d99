"""The common result of all readers of files and pages: blocks of text in order."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

__all__ = ["Block", "BlockKind", "Document", "text_of"]

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

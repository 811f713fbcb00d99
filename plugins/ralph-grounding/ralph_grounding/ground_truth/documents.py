"""What every reader makes of a file or a page: blocks of text in their order."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

__all__ = ["Block", "BlockKind", "Document", "text_of"]

BlockKind = Literal["heading", "paragraph", "item", "row", "code"]


class Block(NamedTuple):
    """A heading, a paragraph, an item of a list, a row of a table, or code; never empty.

    Attributes:
        level: of a heading, 1 being the outermost; 0 for all else.
    """

    kind: BlockKind
    text: str
    level: int = 0


class Document(NamedTuple):
    """A file or a page as its reader saw it.

    Attributes:
        language: as it declares itself, such as "en"; empty where it does not.
        site_name: as it declares that of its site.
        metadata: what else it says of itself, bounded.
        items: its structured data (JSON-LD), one by one.
        links: where it leads to, as written.
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
    """Blocks as one text: set apart by blank lines, but for the items of a list and the rows of a table."""
    pieces: list[str] = []
    before = ""
    for block in blocks:
        if pieces:
            pieces.append("\n" if block.kind == before and before in {"item", "row"} else "\n\n")
        pieces.append(f"- {block.text}" if block.kind == "item" else block.text)
        before = block.kind
    return "".join(pieces)

"""Markdown, with tables and front matter. Its HTML is read as HTML; its code is kept apart from its prose."""

import re
from typing import TYPE_CHECKING, Any

from ralph_grounding.ground_truth.documents import Block, BlockKind, Document, text_document
from ralph_grounding.ground_truth.html_document import html_document
from ralph_grounding.ground_truth.readable import one_line

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["markdown_document"]

_FRONT = re.compile(r"---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_ENTRY = re.compile(r"^([A-Za-z][\w-]{0,40}):[ \t]*(\S.{0,500})$", re.MULTILINE)
_LONGEST_INLINE = 20_000
_MOST_INLINE = 1_000_000
_MOST_LINES = 100_000
"""Beyond these sizes no one wrote the text by hand: a longer paragraph keeps its marks, and so do all after that many
characters; after that many lines the rest is plain text.
"""


def markdown_document(text: str) -> Document:
    """Parse a text in Markdown. Accepts any text."""
    front = _FRONT.match(text)
    entries = {
        name.lower(): one_line(said.strip(" \"'"), 300) for name, said in _ENTRY.findall(front[1] if front else "")
    }
    reader = _Reader()
    lines = text[front.end() if front else 0 :].split("\n")
    reader.read("\n".join(lines[:_MOST_LINES]))
    reader.blocks += text_document("\n".join(lines[_MOST_LINES:])).blocks
    metadata = {"front_matter": entries} if entries else {}
    language = entries.get("lang", entries.get("language", ""))[:2].lower()
    return Document(tuple(reader.blocks), title=entries.get("title", ""), language=language, metadata=metadata)


class _Reader:
    """Converter of the parser's tokens into blocks."""

    def __init__(self) -> None:
        from markdown_it import MarkdownIt

        self.blocks: list[Block] = []
        self._parser = MarkdownIt("commonmark").enable("table")
        # The content of a paragraph is parsed separately, so that one without end costs no more than its length.
        self._parser.disable(["inline", "text_join"])
        self._named: dict[str, Any] = {}
        self._kinds: list[tuple[BlockKind, int]] = [("paragraph", 0)]
        self._cells: list[str] = []
        self._left = _MOST_INLINE

    def read(self, text: str) -> None:
        for token in self._parser.parse(text, self._named):
            self._take(token)

    def _take(self, token: "Token") -> None:
        match token.type:
            case "heading_open":
                self._kinds.append(("heading", int(token.tag[1:])))
            case "list_item_open":
                self._kinds.append(("item", 0))
            case "tr_open":
                self._kinds.append(("row", 0))
            case "heading_close" | "list_item_close":
                self._kinds.pop()
            case "tr_close":
                self._kinds.pop()
                self._put("row", " | ".join(filter(None, self._cells)))
                self._cells.clear()
            case "inline":
                self._paragraph(" ".join(self._shown(token.content).split()))
            case "fence" | "code_block":
                self._put("code", token.content.strip("\n"))
            case "html_block":
                self.blocks += html_document(token.content).blocks
            case _:
                pass

    def _paragraph(self, text: str) -> None:
        kind, level = self._kinds[-1]
        if kind == "row":
            self._cells.append(text)
        else:
            self._put(kind, text, level)

    def _put(self, kind: BlockKind, text: str, level: int = 0) -> None:
        if text.strip():
            self.blocks.append(Block(kind, text[:300] if kind == "heading" else text, level))

    def _shown(self, content: str) -> str:
        """Return a paragraph as readers see it: the words, without marks and addresses."""
        self._left -= len(content)
        if len(content) > _LONGEST_INLINE or self._left < 0:
            return content
        tokens: list[Token] = []
        self._parser.inline.parse(content, self._parser, self._named, tokens)
        return "".join(
            " " if token.type in {"softbreak", "hardbreak"} else token.content
            for token in tokens
            if token.type in {"text", "text_special", "code_inline", "softbreak", "hardbreak"}
        )

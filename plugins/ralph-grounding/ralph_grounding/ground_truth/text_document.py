"""Plain text: paragraphs and underlined headings."""

import re

from ralph_grounding.ground_truth.documents import Block, Document

__all__ = ["text_document"]

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

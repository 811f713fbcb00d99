"""Text as a terminal shows it: without the codes that colour it."""

from bisect import bisect_right
from typing import NamedTuple

from ralph.system.text import pattern

__all__ = ["Uncoloured", "is_coloured", "uncoloured"]

_CODE = pattern(
    r"\x1b(?:\[[0-9;?]{0,20}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])|\[\d{1,3}(?:;\d{1,3}){0,4}m"
)


class Uncoloured(NamedTuple):
    """A text without colours.

    Attributes:
        text: what is left.
        cuts: where something was cut out, as positions in `text`, ascending.
        before: how many characters the original has more before each of them.
    """

    text: str
    cuts: tuple[int, ...] = ()
    before: tuple[int, ...] = ()

    def place(self, position: int) -> int:
        """Where a character is in the original."""
        index = bisect_right(self.cuts, position)
        return position + self.before[index - 1] if index else position

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a span is in the original: from its first character to its last."""
        return (self.place(start), self.place(end - 1) + 1) if end > start else (0, 0)


def is_coloured(text: str) -> bool:
    """Whether there is anything to take out. Codes are also known in a log that has lost its control characters."""
    return "\x1b" in text or ("[" in text and ("[0m" in text or "[39m" in text))


def uncoloured(text: str) -> Uncoloured:
    """The text without colours."""
    pieces: list[str] = []
    cuts: list[int] = []
    before: list[int] = []
    at = removed = 0
    for code in _CODE.finditer(text):
        pieces.append(text[at : code.start()])
        cuts.append(code.start() - removed)
        removed += code.end() - code.start()
        before.append(removed)
        at = code.end()
    return Uncoloured("".join((*pieces, text[at:])), tuple(cuts), tuple(before))

"""What of a verifier's output is kept: hostile text, made readable and short."""

import re

from ralph.system.redact import Redactor
from ralph.system.text import storable

__all__ = ["SHOWN", "SIGNATURE", "clipped", "readable"]

SHOWN = 4_000
"""Characters of the output that are kept: its beginning, and three times as much of its end."""

SIGNATURE = 200
"""Characters of a failure's signature."""

_LOOKED_AT = 512 * 1024
_STEERING = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_])|[\x00-\x08\x0b-\x1f\x7f]"
)


def readable(text: str, mask: Redactor) -> str:
    """The text without what steers a terminal, masked and storable. Of a huge one, the middle is left out."""
    kept = clipped(text, _LOOKED_AT)
    return mask(storable(_STEERING.sub("", kept.replace("\r\n", "\n")))).strip("\n")


def clipped(text: str, room: int = SHOWN) -> str:
    """The text in so many characters: where it is longer, its beginning and three times as much of its end."""
    if len(text) <= room:
        return text
    note = f"\n[… {len(text) - room:,} characters left out …]\n"
    head = (room - len(note)) // 4
    return f"{text[:head]}{note}{text[len(text) - (room - len(note) - head) :]}"

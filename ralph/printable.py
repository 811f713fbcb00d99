"""Texts and numbers as people can read them.

Agent text is hostile: `printable` takes the control characters out of whatever goes to a terminal.
"""

import re

__all__ = ["duration", "printable"]

_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|.)?|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
)
_UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
"""Unicode's format characters, but for those that are drawn, and its line and paragraph separators."""


def printable(text: str, most: int = 4_000) -> str:
    """Text without escape sequences, control characters, and characters that are not seen but turn, break or hide what
    is; line ends stay.
    """
    clean = _UNSEEN.sub("", _CONTROL.sub("", text[: 2 * most].replace("\r\n", "\n").replace("\r", "\n")))
    return clean if len(clean) <= most and len(text) <= 2 * most else f"{clean[:most]} …"


def duration(seconds: float) -> str:
    """Seconds as people say them: 4.2 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"

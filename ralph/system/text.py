"""Text that is safe to store, to show and to pass on; durations in words; patterns that are compiled on first use.

Agent text is hostile: `storable` removes what no store can hold, `printable` what must not reach a terminal.
"""

import codecs
import math
import re
from collections.abc import Mapping
from typing import Any, cast

SPELT_OUT = "ralph.spelt-out"
"""The error handler for encodings that lack a character: those of Ralph's own sentences are written with others, any
other becomes a question mark.
"""

_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|.)?|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
)
_UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
"""Unicode's format characters, but for those that are drawn, and its line and paragraph separators."""


_IN_ASCII = {"“": '"', "”": '"', "…": "...", "×": "x", "–": "-", "→": "->", "·": "-"}


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_IN_ASCII.get(character, "?") for character in missing), error.end


codecs.register_error(SPELT_OUT, _spell_out)


def printable(text: str, most: int = 4_000) -> str:
    """Return text without escape sequences, control characters and invisible characters that turn or hide text.

    Line ends stay.
    """
    clean = _UNSEEN.sub("", _CONTROL.sub("", text[: 2 * most].replace("\r\n", "\n").replace("\r", "\n")))
    return clean if len(clean) <= most and len(text) <= 2 * most else f"{clean[:most]} …"


def one_line(text: str, most: int = 200) -> str:
    """Return untrusted text as one printable line of at most `most` characters."""
    words = " ".join(printable(text, 4 * most).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def counted(count: int, what: str) -> str:
    """Return a number with its noun: 1 file, 2 files."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def duration(seconds: float) -> str:
    """Return seconds in words: 4.2 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 59.95 or not math.isfinite(seconds):  # an imported run may hold anything
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def additions(added: Mapping[str, float]) -> str:
    """Return what was added to which limits: max iterations by 10, max duration by 1 h 30 min."""
    amounts = {name: duration(more) if name == "max_duration" else f"{more:,.15g}" for name, more in added.items()}
    return ", ".join(f"{name.replace('_', ' ')} by {amount}" for name, amount in amounts.items())


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` gives, compiled when it is first used.

    Compiling the patterns of all detectors takes longer than importing everything else, and most replies need few of
    them. A mistake in the source therefore shows on first use.
    """
    return cast("re.Pattern[str]", _Late(source, flags))


class _Late:
    """A stand-in for a compiled pattern. It keeps each attribute once used, so it is as fast as the pattern itself."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found


_UNSTORABLE = pattern(r"[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with a replacement character for each NUL and lone surrogate, which no store can hold."""
    if "\0" not in text:
        if text.isascii():
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return _UNSTORABLE.sub("\ufffd", text)

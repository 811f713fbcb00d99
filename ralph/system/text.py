"""Text that is safe to store, to show and to pass on; durations in words; patterns that are compiled on first use.

Agent text is hostile: `storable` removes what no store can hold, `printable` what must not reach a terminal.
"""

import codecs
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO, cast

SPELT_OUT = "ralph.spelt-out"
"""The error handler for encodings that lack a character: those of Ralph's own sentences are written with others, any
other becomes a question mark.
"""

_IN_ASCII = {"“": '"', "”": '"', "…": "...", "×": "x", "–": "-", "→": "->", "·": "-"}


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_IN_ASCII.get(character, "?") for character in missing), error.end


codecs.register_error(SPELT_OUT, _spell_out)


def one_line(text: str, most: int = 200) -> str:
    """Return untrusted text as one printable line of at most `most` characters."""
    words = " ".join(printable(text, 4 * most).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def counted(count: int, what: str) -> str:
    """Return a number with its noun: 1 file, 2 files."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def some_of(names: Sequence[str], most: int = 5) -> str:
    """Return the first of some names, with escapes for control characters, and the number of the others."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), ", ".join(names[:most])) + more


def duration(seconds: float) -> str:
    """Return seconds in words: 4.2 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 59.95 or not math.isfinite(seconds):  # an imported run may hold anything
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def limits_text(limits: Mapping[str, float], between: str = " ") -> str:
    """Return limits with their amounts in words: max iterations 10, max duration 1 h 30 min."""
    amounts = {name: duration(most) if name == "max_duration" else f"{most:,.15g}" for name, most in limits.items()}
    return ", ".join(f"{name.replace('_', ' ')}{between}{amount}" for name, amount in amounts.items())


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


_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
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


_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff"
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
"""Characters that are drawn as nothing or turn the text: format characters, fillers, selectors, and separators."""

_EMOJI = "[\u00a9\u00ae\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_ESCAPE = r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|[\]PX^_][^\x07\x1b\n]{0,1000}(?:\x07|\x1b\\))?"
_COLOURS = pattern(r"(\x1b\[(?:(?:[0-4]|2[2-4]|3[1-79]|9[1-7])(?:;|(?=m))){0,8}m)")
"""The colours and weights of text that hide nothing: no background, nothing concealed, no black."""

CONTEXT = 8  # characters before a piece of text that tell what is visible of it; the most marks of a letter

_MARK = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31-\u0e4e\u17d2\u1dc0-\u1dff\u20d0-\u20ff]"
)
_STACKED = pattern(_MARK)
_SUSPECT = pattern(f"[{_CONTROLS}{_UNSEEN}\u200d\ufe0e\ufe0f]")
_HIDDEN = pattern(
    f"{_ESCAPE}|[{_CONTROLS}{_UNSEEN}]|(?<!{_EMOJI})(?:(?<!{_EMOJI}\ufe0f)\u200d|[\ufe0e\ufe0f])"
    f"|(?<={_MARK * CONTEXT}){_MARK}"
)
_UNFINISHED = pattern(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}|[\]PX^_][^\x07\x1b\n]{0,1000}\x1b?)?\Z")


_ASCII_CONTROLS = bytes((*range(9), 11, 12, *range(14, 32), 127))


def visible(text: str) -> str:
    """Return text without escape sequences, control characters, and characters that are not seen or turn the text.

    Tabs and line ends stay, what joins and marks emoji behind an emoji, and up to eight marks of a letter.
    """
    return visible_part(text, 0, final=True)[0]


def plain(text: str) -> str:
    """Return what is visible of the text, in a form that a store can hold."""
    return visible(storable(text))


def visible_part(text: str, start: int, *, final: bool) -> tuple[str, int]:
    """Return what `visible` makes of a text from `start` on, and where that ends.

    Unless it is `final`, this is where an escape sequence begins that has not ended yet. The `CONTEXT` characters
    before `start` count, too.
    """
    if not _hides(text[start:]):
        return text[start:], len(text)
    unfinished = None if final else _UNFINISHED.search(text, start)
    end = unfinished.start() if unfinished else len(text)
    pieces: list[str] = []
    for hidden in _HIDDEN.finditer(text, start, end):
        pieces.append(text[start : hidden.start()])
        start = hidden.end()
    return "".join((*pieces, text[start:end])), end


def escaped(text: str) -> str:
    """Return JSON text with escapes for what is not visible in its strings; it stands for the same value."""
    return _SUSPECT.sub(lambda found: json.dumps(found[0])[1:-1], text) if _hides(text) else text


def _hides(text: str) -> bool:
    """Return True if the text may hold what is not visible."""
    if text.isascii():
        return len(text.encode().translate(None, _ASCII_CONTROLS)) < len(text)
    return bool(_SUSPECT.search(text) or _STACKED.search(text))


def printable(text: str, most: int = 4_000) -> str:
    """Return what is visible of at most `most` characters of a text; line ends stay, in the form of Unix."""
    clean = visible(_with_unix_ends(text[: 2 * most]))
    return clean if len(clean) <= most and len(text) <= 2 * most else f"{clean[:most]} …"


def _with_unix_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class PrintableStream:
    """A text stream that writes what is visible, and colours. All else is as the stream itself has it.

    Attributes:
        unfiltered: the stream itself, for what filters by itself or draws on the terminal.
        buffer: None, since what is written there would not be filtered.
    """

    buffer = None

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        """Write what is visible of a text; each call by itself."""
        if "\r" in text or _hides(text):
            pieces = _COLOURS.split(_with_unix_ends(text))
            pieces[::2] = map(visible, pieces[::2])
            self.unfiltered.write("".join(pieces))
        else:
            self.unfiltered.write(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write what is visible of each text."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)

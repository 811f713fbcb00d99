"""The similarity of two replies, and the repetition within one."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ralph.system.text import pattern

__all__ = ["SIMILAR", "Repetition", "find_repetition", "similarity"]

SIMILAR = 0.75
"""Share of common pairs of words from which two replies are nearly the same."""

_COMPARED = 20_000
_SHORT = 500
"""Bytes of both replies together below which they are short."""
_LONGER = 1.6
"""Ratio of lengths above which two replies cannot have the same words."""
_SAMPLES, _SAMPLE = 6, 12
"""Samples of the shorter reply that are searched in the longer one, and their length in characters."""
_EDGE, _DRIFT = 8, 24
"""Characters that two short replies share at one end, and by which one of them may be longer."""
_DENSE = 1.5
"""Bytes per character from which a text is most likely of a language without spaces between words."""

_NTH = r"(?:\d{1,6}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next)"
_ROUND = r"(?:loop|iteration|attempt|pass|try|retry|round|cycle|turn|check|intento|iteración|vuelta|ciclo|ronda)"
_TAKEN = (
    r"(?:\b(?:in|for|after|took|taken|elapsed|uptime|runtime|about|another|en|tras|durante|desde hace)[: ]{1,2}"
    r"|[(\[~≈]|已(?:运行|運行|执行|執行|经|經)? ?)"
)
_UNIT = r"(?:(?:ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|segundos?|minutos?|horas?)\b|秒|分|小时|小時|天)"
_MOMENTS = pattern(
    "|".join((
        r"\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d[\d:.]{0,12})?z?\b",
        r"\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?[ap]m\b)?",
        rf"{_TAKEN}\d{{1,6}}(?:[.,]\d{{1,6}})? ?{_UNIT}",
        rf"\b{_ROUND} ?(?:no\. ?|number |#|:)? ?\d{{1,6}}\b(?! ?(?:of|/|de|out) ?\d)",
        rf"\b{_NTH} {_ROUND}\b",
        r"第 ?[\d一二三四五六七八九十]{1,4} ?[次轮輪回遍]",
        r"\b(?:req|request|msg|message|trace|call|run|session)_\w{1,64}",
        r"\b(?:pid|process|proceso|进程|進程) ?\d{1,9}\b",
        r"\b0x[0-9a-f]{1,16}\b",
        r"\b(?=\d{0,40}[a-f])(?=[a-f]{0,40}\d)[0-9a-f]{7,40}(?:-[0-9a-f]{4,12}){0,4}\b",
        r"\b\d{9,20}\b",
    ))
)
"""Dates, times, durations, the number of an iteration or attempt, and ids; not counts, nor "3 of 8"."""


def similarity(left: str, right: str) -> float:
    """Return the share of pairs of neighbouring words that two replies have in common, 0–1.

    Short replies are alike only if they are the same except for what differs in every reply, such as the time of day:
    one other word makes another command, and one other number another error.
    """
    if left == right:
        return 1.0
    short, long = left[:_COMPARED], right[:_COMPARED]
    if (len(short), short) > (len(long), long):
        short, long = long, short
    if len(short) + len(long) < _SHORT and _size(short) + _size(long) < _SHORT:
        return float(_share_an_end(short, long) and _without_moments(short) == _without_moments(long))
    if len(long) > _LONGER * len(short) or not _share_samples(short, long):
        return 0.0
    ours, theirs = _pairs(short), _pairs(long)
    return 2 * len(ours & theirs) / max(len(ours) + len(theirs), 1)


def _share_an_end(short: str, long: str) -> bool:
    """Return whether two short replies can be the same except for what differs in every reply: a quick check."""
    same_edge = short[:_EDGE] == long[:_EDGE] or short[-_EDGE:] == long[-_EDGE:]
    return same_edge and len(long) - len(short) <= _DRIFT


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _share_samples(short: str, long: str) -> bool:
    """Return whether some samples of one reply occur in the other: a quick check."""
    step = len(short) // (_SAMPLES + 1)
    found = 0
    for place in range(step, step * _SAMPLES + 1, step):
        if short[place : place + _SAMPLE] in long:
            found += 1
            if found >= _SAMPLES // 3:
                return True
    return False


@lru_cache(maxsize=16)
def _without_moments(text: str) -> str:
    """Return a reply without what differs in every one: dates, times, durations, ids, the number of the attempt."""
    return _MOMENTS.sub("#", text.lower())


@lru_cache(maxsize=16)
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighbouring words, or of characters in a language without spaces.

    Cached, as every reply is compared with several later ones.
    """
    words = text.lower().split()
    dense = _size(text) > _DENSE * len(text)
    return frozenset(pairwise("".join(words) if dense else words))


_READ = 5_000
"""Characters at the end of a reply that are read."""
_LONG = 400
"""Characters below which no text counts as repetitive."""
_FENCE = "```"
_STRETCH = 40
_TIMES = 6
_SHARE = 0.6
_PHRASE = 20
"""Words (or characters, in a language without spaces) in a row that must be the same: more than items of a list or
lines of a log have in common before they differ in a name or a number."""


class Repetition(NamedTuple):
    """A phrase that a reply repeats, and how often."""

    phrase: str
    times: int


class _Rounds(NamedTuple):
    """The rounds of a repeated phrase.

    Attributes:
        first: the index of its first piece.
        period: pieces from there to its next beginning.
        times: how often it begins.
        places: how many pieces begin a phrase that occurs `_TIMES` times.
    """

    first: int
    period: int
    times: int
    places: int


def find_repetition(text: str) -> Repetition | None:
    """Return the phrase that makes up most of the end of a long reply; None if none does.

    Code, tables and lines without words do not count.
    """
    tail = text[-_READ:]
    if len(tail) < _LONG or not _may_repeat(tail):
        return None
    tail = _without_code(text, tail)
    pieces = tail.split()
    if len(tail.encode(errors="replace")) > 2 * len(tail):  # most likely of a language that sets no words apart
        pieces = list("".join(pieces))
    return _repeated(pieces) if len(pieces) >= _PHRASE * 2 else None


def _may_repeat(tail: str) -> bool:
    """Return whether a sample from the middle or near an end occurs again and again: a quick check."""
    for place in (len(tail) // 5, len(tail) // 2, 4 * len(tail) // 5):
        if tail.count(tail[place : place + _STRETCH]) >= _TIMES - 2:
            return True
    return False


def _without_code(text: str, tail: str) -> str:
    """Return the end of a text without its fences and tables."""
    within = text.count(_FENCE, 0, len(text) - len(tail)) % 2
    prose = "\n".join(tail.split(_FENCE)[within::2])
    return "\n".join(line for line in prose.split("\n") if not line.lstrip().startswith("|"))


def _repeated(pieces: Sequence[str]) -> Repetition | None:
    """Return the repetition among some words or characters."""
    found = _exactly(pieces) or _nearly(pieces)
    if found is None or found.times < _TIMES or found.places < _SHARE * (len(pieces) - _PHRASE + 1):
        return None
    phrase = _joined(pieces[found.first : found.first + found.period])
    return Repetition(phrase, found.times) if sum(map(str.isalpha, phrase)) * 2 > len(phrase) else None


def _exactly(pieces: Sequence[str]) -> _Rounds | None:
    """Return the rounds of one phrase and nothing else. They follow from its period, so no piece has to be hashed."""
    for period in range(1, _PHRASE + 1):
        if pieces[period] == pieces[0] and pieces[period:] == pieces[:-period]:
            whole, more = divmod(len(pieces) - _PHRASE + 1, period)
            times = whole + (more > 0)
            return _Rounds(0, period, times, whole * period + more if whole >= _TIMES else more * times)
    return None


def _nearly(pieces: Sequence[str]) -> _Rounds | None:
    """Return the rounds of the phrase that occurs most often."""
    if 2 * len(set(pieces)) > len(pieces):
        return None
    rows = [hash(tuple(pieces[index : index + _PHRASE])) for index in range(len(pieces) - _PHRASE + 1)]
    counts = Counter(rows)
    most, times = counts.most_common(1)[0]
    if times < _TIMES:
        return None
    first = rows.index(most)
    again = rows.index(most, first + 1)
    return _Rounds(first, again - first, times, sum(count for count in counts.values() if count >= _TIMES))


def _joined(pieces: Sequence[str]) -> str:
    return ("" if all(len(piece) == 1 for piece in pieces) else " ").join(pieces)[:200]

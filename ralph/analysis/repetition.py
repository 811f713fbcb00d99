"""How alike two replies are, and how often one of them repeats itself."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ralph.system.text import pattern

__all__ = ["SIMILAR", "Repetition", "find_repetition", "similarity"]

SIMILAR = 0.75
"""Share of pairs of words in common from which two replies are nearly the same."""

_COMPARED = 20_000
_SHORT = 500
"""Bytes that two replies have together, below which they are short."""
_LONGER = 1.6
"""How much longer one of two replies is whose words cannot be the same."""
_SAMPLES, _SAMPLE = 6, 12
"""Stretches of the shorter reply that are looked for in the longer one, and how many characters each has."""
_EDGE, _DRIFT = 8, 24
"""Characters that two short replies have in common at either end, and that one of them may have more."""
_DENSE = 1.5
"""Bytes for a character from which a text is most likely of a language that does not set its words apart."""

_NTH = r"(?:\d{1,6}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next)"
_ROUND = r"(?:loop|iteration|attempt|pass|try|retry|round|cycle|turn|check|intento|iteración|vuelta|ciclo|ronda)"
_TAKEN = (
    r"(?:\b(?:in|for|after|took|taken|elapsed|uptime|runtime|about|another|en|tras|durante|desde hace)[: ]{1,2}"
    r"|[(\[~≈]|已(?:运行|運行|执行|執行|经|經)? ?)"
)
_UNIT = r"(?:(?:ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|segundos?|minutos?|horas?)\b|秒|分|小时|小時|天)"
_PASSING = pattern(
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
"""Dates, times, durations, the number of an iteration or attempt, and ids; not what is counted, nor "3 of 8"."""


def similarity(left: str, right: str) -> float:
    """How many of their pairs of words two replies have in common, 0–1, however often each has them. Short ones are
    alike only when they are the same but for what differs in every reply, such as the time of day: a single word of a
    command makes another command of it, and a number that moves in an error another error.
    """
    if left == right:
        return 1.0
    short, long = left[:_COMPARED], right[:_COMPARED]
    if (len(short), short) > (len(long), long):
        short, long = long, short
    if len(short) + len(long) < _SHORT and _size(short) + _size(long) < _SHORT:
        return float(_close(short, long) and _lasting(short) == _lasting(long))
    if len(long) > _LONGER * len(short) or not _akin(short, long):
        return 0.0
    ours, theirs = _pairs(short), _pairs(long)
    return 2 * len(ours & theirs) / max(len(ours) + len(theirs), 1)


def _close(short: str, long: str) -> bool:
    """Whether two short replies can be the same but for what differs in every reply: a quick look."""
    same_edge = short[:_EDGE] == long[:_EDGE] or short[-_EDGE:] == long[-_EDGE:]
    return same_edge and len(long) - len(short) <= _DRIFT


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _akin(short: str, long: str) -> bool:
    """Whether a few stretches of one reply stand in the other: a quick look."""
    step = len(short) // (_SAMPLES + 1)
    found = 0
    for place in range(step, step * _SAMPLES + 1, step):
        if short[place : place + _SAMPLE] in long:
            found += 1
            if found >= _SAMPLES // 3:
                return True
    return False


@lru_cache(maxsize=16)
def _lasting(text: str) -> str:
    """A reply without what differs in every one: dates, times, durations, ids, and which iteration or attempt it is."""
    return _PASSING.sub("#", text.lower())


@lru_cache(maxsize=16)
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """The pairs of neighbouring words, or characters where words are not set apart. Every reply is compared with a few
    that come after it.
    """
    words = text.lower().split()
    dense = _size(text) > _DENSE * len(text)
    return frozenset(pairwise("".join(words) if dense else words))


_READ = 5_000
"""Characters of a reply's end that are looked at."""
_LONG = 400
"""Characters below which nothing is a chant."""
_FENCE = "```"
_STRETCH = 40
_TIMES = 6
_SHARE = 0.6
_PHRASE = 20
"""Words, or characters where words are not set apart, that have to be the same in a row: more than items of a list or
lines of a log have in common before they differ in a name or a number."""


class Repetition(NamedTuple):
    """What is repeated, and how often."""

    phrase: str
    times: int


class _Rounds(NamedTuple):
    """How a phrase goes round.

    Attributes:
        first: the first piece of it.
        period: pieces from there until it begins anew.
        times: how often it begins.
        places: of all places where something begins that begins `_TIMES` times.
    """

    first: int
    period: int
    times: int
    places: int


def find_repetition(text: str) -> Repetition | None:
    """The phrase that makes up most of the end of a long reply; None where none does. Code, tables and lines without
    words say nothing.
    """
    tail = text[-_READ:]
    if len(tail) < _LONG or not _suspect(tail):
        return None
    tail = _spoken(text, tail)
    pieces = tail.split()
    if len(tail.encode(errors="replace")) > 2 * len(tail):  # most likely of a language that sets no words apart
        pieces = list("".join(pieces))
    return _repeated(pieces) if len(pieces) >= _PHRASE * 2 else None


def _suspect(tail: str) -> bool:
    """Whether a stretch from the middle or from near an end comes again and again: a quick look."""
    for place in (len(tail) // 5, len(tail) // 2, 4 * len(tail) // 5):
        if tail.count(tail[place : place + _STRETCH]) >= _TIMES - 2:
            return True
    return False


def _spoken(text: str, tail: str) -> str:
    """The end of a text without what stands in its fences and tables."""
    within = text.count(_FENCE, 0, len(text) - len(tail)) % 2
    prose = "\n".join(tail.split(_FENCE)[within::2])
    return "\n".join(line for line in prose.split("\n") if not line.lstrip().startswith("|"))


def _repeated(pieces: Sequence[str]) -> Repetition | None:
    """A chant is found from each of its places: where one phrase begins anew the same words follow as before."""
    found = _exactly(pieces) or _nearly(pieces)
    if found is None or found.times < _TIMES or found.places < _SHARE * (len(pieces) - _PHRASE + 1):
        return None
    phrase = _joined(pieces[found.first : found.first + found.period])
    return Repetition(phrase, found.times) if sum(map(str.isalpha, phrase)) * 2 > len(phrase) else None


def _exactly(pieces: Sequence[str]) -> _Rounds | None:
    """The rounds of one phrase and nothing else. Its places come in turns, so that none of them has to be read."""
    for period in range(1, _PHRASE + 1):
        if pieces[period] == pieces[0] and pieces[period:] == pieces[:-period]:
            whole, more = divmod(len(pieces) - _PHRASE + 1, period)
            times = whole + (more > 0)
            return _Rounds(0, period, times, whole * period + more if whole >= _TIMES else more * times)
    return None


def _nearly(pieces: Sequence[str]) -> _Rounds | None:
    """The rounds of the phrase that comes most often."""
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

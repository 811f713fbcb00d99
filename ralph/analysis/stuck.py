"""Whether the loop goes in circles.

Every way to do so is a function of the last passes, which tells what repeats, or None. A pass that is known to have
moved workspace or plan breaks every circle; where that is unknown, one whose status block counts changed files breaks
all but the circle of the very same words.

Error patterns that repeat are always told and counted; by themselves they decide only where nothing else is known:
productive loops meet the same error again and again.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from operator import attrgetter
from typing import NamedTuple

from ralph.analysis.result import PAST_KEPT, Evidence, Past, Stuck
from ralph.analysis.text import PrefilteredPattern, Reading
from ralph.system.text import pattern, storable
from ralph.types.output import Failed

__all__ = [
    "REPEATS",
    "SIMILAR",
    "TESTING",
    "WATCHING",
    "WINDOW",
    "Repetition",
    "detect_stuck_loop",
    "error_signature",
    "error_signatures",
    "failure_signature",
    "find_repetition",
    "find_stuck",
    "not_stuck",
    "similarity",
]

SIGNATURES = 20
_LENGTH = 120
_STRONG_LINES = 60
_LINE = 300

_NAMES = ("error", "exception", "panic", "fatal")
_SAID = (
    *("traceback (most recent call last)", "command not found", "segmentation fault", "permission denied"),
    "no such file or directory",
)
_STRONG = PrefilteredPattern(
    (*(f"{name}{end}" for name in _NAMES for end in (": ", "[")), *_SAID, "exit code ", "exit status "),
    rf"""(?:{"|".join(_NAMES)})(?:\[\w{{1,12}}\])?:[ ]
        |exit[ ](?:code|status)[ ][1-9]
        |{"|".join(map(re.escape, _SAID))}""",
)
_DROPPED = (
    (pattern(r"0x[0-9a-f]+|\b[0-9a-f]{7,64}\b"), " "),
    (pattern(r"(?<![\w.~@+-])(?:[a-z]:)?(?:[\w.~@+-]{0,80}[/\\]){1,40}[\w.~@+-]{0,80}"), "path"),
    (pattern(r"\d+(?:[.:,]\d+)*"), " "),
    (pattern(r"[\"'`“”‘’]"), ""),
    (pattern(r"\s+"), " "),
)


def error_signatures(reading: Reading, errors: Iterable[str] = (), failure: Failed | None = None) -> tuple[str, ...]:
    """What went wrong, made comparable: error lines of the reply (those in fences too), errors from outside it, and
    the executor's failure. Distinct, at most twenty.
    """
    found: dict[str, None] = {}
    for error in errors:
        found[error_signature(error)] = None
    if failure is not None:
        found[failure_signature(failure)] = None
    for line in _strong_lines(reading):
        found[error_signature(line)] = None
    if not found:
        return ()
    found.pop("", None)
    return tuple(found)[:SIGNATURES]


def failure_signature(failure: Failed) -> str:
    """Such as "failed:unavailable:503"."""
    return f"failed:{failure.failure}" + (f":{failure.status}" if failure.status is not None else "")


def error_signature(error: str) -> str:
    """An error without what differs from one time to the next: paths, numbers, hexadecimal, quotes, case."""
    text = storable(error[: 4 * _LENGTH]).lower()
    for dropped, instead in _DROPPED:
        text = dropped.sub(instead, text)
    return text.strip(" .:,;-")[:_LENGTH]


def _strong_lines(reading: Reading) -> Iterable[str]:
    after = count = 0
    for match in _STRONG.finditer(reading.lower):
        if match.start() < after:
            continue
        begin = max(reading.lower.rfind("\n", max(0, match.start() - _LINE), match.start()) + 1, match.start() - _LINE)
        end = reading.lower.find("\n", match.end(), match.end() + _LINE)
        after = end if end >= 0 else match.end() + _LINE
        yield reading.text[begin:after]
        count += 1
        if count >= _STRONG_LINES:
            return


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


REPEATS = 3
WINDOW = 5
WATCHING = "watching"
"""The circle of replies that only watch what still runs. By itself it may end without anybody's doing."""
TESTING = "test-only loop"
"""The circle of iterations that only ran tests. The decision has a number of its own for them."""
_TURNS = 4
"""Passes of two replies in turns."""
_SHOWN = 120
_NUMBER = pattern(r"\d+")
_PROGRESSED = attrgetter("progressed")


class _Loop(NamedTuple):
    """One way in which the loop goes in circles.

    Attributes:
        name: such as "repeated output".
        why: what repeats and how often, in a few words.
        times: the iterations that it takes in.
        text: what repeats.
    """

    name: str
    why: str
    times: int
    text: str = ""


def not_stuck() -> Stuck:
    """What is found of a loop that does not go in circles; a new one each time, for its counts can be changed."""
    return Stuck(error_frequency={})  # a default would be copied, which takes as long again


def detect_stuck_loop(error_history: Sequence[str], *, window: int = WINDOW, repeats: int = REPEATS) -> Stuck:
    """Nity Loop's rule by itself: the same error pattern so many times among the last errors.

    Args:
        error_history: one error text an iteration, oldest first.
        window: how many of them are looked at.
    """
    recent = [pattern for error in error_history[-window:] if (pattern := error_signature(error))]
    return _found(Counter(recent), (), len(recent), repeats, by_errors=True)


def find_stuck(
    passes: Sequence[Past],
    errors: Iterable[str] = (),
    *,
    chanted: Repetition | None = None,
    window: int = WINDOW,
    repeats: int = REPEATS,
    no_progress: int = REPEATS,
) -> Stuck:
    """Whether the last iterations go in circles.

    Args:
        passes: the iterations, oldest first, the one at hand last.
        errors: error patterns from outside, counted as often as they stand there.
        chanted: what the reply at hand says over and over.
        window: iterations whose errors are counted.
        no_progress: iterations in a row without progress that are a circle; never fewer than `repeats`.
    """
    recent = passes[-window:]
    patterns = [*chain.from_iterable(one.error_signatures for one in recent), *errors]
    finders = _FINDERS if len(passes) >= min(repeats, _TURNS) else ()
    circles = [circle for find in finders if (circle := find(passes, repeats))]
    if chanted:
        circles.append(_Loop("chant", f"one reply says the same {chanted.times} times", 1, chanted.phrase))
    still = max(repeats, no_progress)
    if len(passes) >= still and (circle := _no_progress(passes, still)):
        circles.append(circle)
    if not circles and not patterns:
        return not_stuck()
    only_errors = not circles and all(one.progressed is None for one in recent) and not _varied(recent)
    return _found(Counter(patterns), circles, len(recent), repeats, by_errors=only_errors)


def _same_words(passes: Sequence[Past], repeats: int) -> _Loop | None:
    """The same reply, or nearly the same: of the last few all but one."""
    *before, last = passes[-repeats - 1 :]
    others = 0
    for one in reversed(before):
        others += not _same(one, last)
        if others > len(before) + 1 - repeats or one.progressed:
            return None
    times = len(before) + 1 - others
    if times < repeats or last.progressed or not last.text.strip():
        return None
    exactly = 1 + sum(one.text == last.text for one in before)
    what = "the same output" if exactly >= times else "nearly the same output"
    return _Loop("repeated output", f"{what} {times} times", times, last.text)


def _in_turns(passes: Sequence[Past], repeats: int) -> _Loop | None:
    """A, B, A, B, or a longer cycle for the third time. A round of three is often work: read, edit, test."""
    for length in range(2, PAST_KEPT // 3 + 1):
        rounds = 2 if length == 2 else 3
        cycle = passes[-length * rounds :]
        if len(cycle) < length * rounds or True in map(_PROGRESSED, cycle):
            continue
        pairs = zip(cycle, cycle[length:], strict=False)
        same = all(one.text.strip() and _same(one, other, nearly=length == 2) for one, other in pairs)
        if same and _varied(cycle):
            return _Loop("outputs in turns", f"{length} outputs in turns, {rounds} times", len(cycle), cycle[-1].text)
    return None


def _only_tests(passes: Sequence[Past], repeats: int) -> _Loop | None:
    last = passes[-repeats:]
    if len(last) < repeats or not all(one.test_only for one in last) or any(one.progressed for one in last):
        return None
    return _Loop(TESTING, f"{repeats} iterations in a row only ran tests", repeats)


def _no_progress(passes: Sequence[Past], repeats: int) -> _Loop | None:
    last = passes[-repeats:]
    if not all(one.moved is False for one in last):
        return None
    known = all(one.progressed is False for one in last)
    what = "changed neither workspace nor plan" if known else "changed nothing, by their own count"
    return _Loop("no progress", f"{repeats} iterations in a row {what}", repeats)


def _standing_still(passes: Sequence[Past], repeats: int) -> _Loop | None:
    """Replies that say, in whatever words, that they moved nothing: all of the last few; or all but one, unless they
    are tests or errors.
    """
    last = passes[-repeats - 1 :]
    ways = [_standstill(one) for one in last]
    in_a_row = len(ways) - max((index + 1 for index, way in enumerate(ways) if not way), default=0)
    resting = sum(way in _RESTING for way in ways) if ways[-1] in _RESTING else 0
    times = in_a_row if in_a_row >= repeats else resting
    if times < repeats or any(one.progressed for one in last):
        return None
    way, count = Counter(filter(None, reversed(ways))).most_common(1)[0]
    if way == "tests" and (_only_tests(passes, repeats) or not _same_numbers(last[-repeats:])):
        return None
    name, told = _STANDSTILLS[way]
    others = f" and {times - count} more moved nothing" if count < times else ""
    return _Loop(name, f"{count} iterations {told}{others}", times, passes[-1].text)


_STANDSTILLS = {
    "done": ("already done", "say that everything is done already"),
    "waiting": ("waiting for a person", "wait for a person"),
    "unchanged": ("nothing changed", "say that they changed nothing"),
    "watching": (WATCHING, "only watch what still runs"),
    "tests": ("the same tests", "tell of the same tests and of nothing else"),
    "error": ("only errors", "are errors and nothing else"),
}
"""For each way in which a reply stands still, the circle's name and what the replies of one do."""
_RESTING = frozenset({"done", "waiting", "unchanged", "watching"})


def _standstill(one: Past) -> str:
    """In which way a reply moved nothing; empty where it does not say so. A program's error may be put as a question,
    too: "Did you mean …?". An agent that asks at the end of its work has not waited: it tells of that work, or used
    many tools with an effect that nobody knows.
    """
    if one.moved:
        return ""
    asks = one.state == "question" and not one.error_signatures and (one.denied or not one.worked)
    if (one.state == "blocked" or asks) and (one.moved is False or not one.busy):
        return "waiting"
    return "error" if one.state == "error" else one.standstill


def _same_numbers(passes: Sequence[Past]) -> bool:
    """Whether replies have a number in common: so many tests, each time."""
    first, *others = [{number[0] for number in _NUMBER.finditer(one.text[:_SHOWN])} for one in passes]
    return bool(first.intersection(*others))


def _at_a_limit(passes: Sequence[Past], repeats: int) -> _Loop | None:
    last = passes[-repeats:]
    if len(last) < repeats or not all(one.state == "limited" for one in last):
        return None
    return _Loop("at a limit", f"{repeats} iterations in a row met a limit", repeats, last[-1].text)


def _denied(passes: Sequence[Past], repeats: int) -> _Loop | None:
    last = passes[-repeats:]
    if len(last) < repeats or not all(one.denied and not _went_on(one) for one in last):
        return None
    return _Loop("permission denied", f"tools were denied in {repeats} iterations in a row", repeats)


def _went_on(one: Past) -> bool:
    """Whether it moved something or, where nobody knows, has most likely: of many calls one may well be turned down."""
    return one.worked or one.busy if one.moved is None else one.moved


_FINDERS: tuple[Callable[[Sequence[Past], int], _Loop | None], ...] = (
    _same_words,
    _in_turns,
    _only_tests,
    _standing_still,
    _at_a_limit,
    _denied,
)
"""Each takes `repeats` passes to find anything, or `_TURNS`."""


def _same(one: Past, other: Past, *, nearly: bool = True) -> bool:
    """Whether two replies are the same, or nearly so and neither counts any changes."""
    if one.text == other.text:
        return True
    return nearly and not (one.reported or other.reported) and similarity(one.text, other.text) >= SIMILAR


def _varied(recent: Sequence[Past]) -> bool:
    """Whether the replies are known to differ."""
    texts = {one.text.strip() for one in recent if one.text.strip()}
    return len(texts) > 1


def _found(frequency: Counter[str], circles: Sequence[_Loop], size: int, repeats: int, *, by_errors: bool) -> Stuck:
    ranked = frequency.most_common()
    repeated = [pattern for pattern, count in ranked if count >= repeats]
    counts = [*(min(circle.times, size) for circle in circles), *(frequency[pattern] for pattern in repeated[:1])]
    most = max(counts, default=0)
    return Stuck(
        detected=bool(circles) or (by_errors and bool(repeated)),
        repeated_patterns=(*(circle.name for circle in circles), *repeated),
        error_frequency=dict(ranked[:50]),
        confidence=min(100.0, round(100 * most / max(size, most, 1), 1)),
        evidence=(
            *(_piece(circle.why, circle.text) for circle in circles),
            *(_piece(f"the same error {frequency[pattern]} times", pattern) for pattern in repeated),
        ),
    )


def _piece(why: str, text: str) -> Evidence:
    line = " ".join(storable(text[: 4 * _SHOWN]).split())
    return Evidence(signal="stuck", why=why, text=line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")

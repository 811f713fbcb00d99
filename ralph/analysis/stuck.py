"""Loops that go in circles.

Every way to do so is a function of the last iterations, which returns what repeats, or None. An iteration that is known
to have moved workspace or plan breaks every circle; if that is unknown, one whose status block counts changed files
breaks all but the circle of the very same words.

Error patterns that repeat are always reported and counted; by themselves they decide only if nothing else is known:
productive loops meet the same error again and again.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from ralph.analysis.repetition import SIMILAR, Repetition, similarity
from ralph.analysis.result import PAST_KEPT, Evidence, Past, Stuck
from ralph.analysis.text import PrefilteredPattern, Reading
from ralph.system.text import pattern, storable
from ralph.types.output import Failed

__all__ = [
    "REPEATS",
    "TESTING",
    "WATCHING",
    "WINDOW",
    "detect_stuck_loop",
    "error_signature",
    "error_signatures",
    "failure_signature",
    "find_stuck",
    "not_stuck",
]

REPEATS = 3
WINDOW = 5
WATCHING = "watching"
"""The circle of replies that only watch what still runs. By itself it may end without anyone's doing."""
TESTING = "test-only loop"
"""The circle of iterations that only ran tests. The decision has a number of its own for them."""

_TURNS = 4
"""Iterations of two replies in turns."""
_SHOWN = 120
_NUMBER = pattern(r"\d+")
_PROGRESSED = attrgetter("progressed")


class _Loop(NamedTuple):
    """One way in which the loop goes in circles.

    Attributes:
        name: such as "repeated output".
        why: what repeats and how often, in a few words.
        times: the iterations in it.
        text: the text that repeats.
    """

    name: str
    why: str
    times: int
    text: str = ""


def not_stuck() -> Stuck:
    """Return the result for a loop that does not go in circles; a new one each time, as its counts can be changed."""
    return Stuck(error_frequency={})  # pydantic copies a default, which doubles the time


def detect_stuck_loop(error_history: Sequence[str], *, window: int = WINDOW, repeats: int = REPEATS) -> Stuck:
    """Apply Nity Loop's rule by itself: the same error pattern `repeats` times among the last errors.

    Args:
        error_history: one error text an iteration, oldest first.
        window: how many of the last errors count.
        repeats: how often a pattern must occur.
    """
    recent = [pattern for error in error_history[-window:] if (pattern := error_signature(error))]
    return _found(Counter(recent), (), len(recent), repeats, by_errors=True)


def find_stuck(
    passes: Sequence[Past],
    errors: Iterable[str] = (),
    *,
    repetition: Repetition | None = None,
    window: int = WINDOW,
    repeats: int = REPEATS,
    no_progress: int = REPEATS,
) -> Stuck:
    """Find the circles in which the last iterations go.

    Args:
        passes: the iterations, oldest first, the current one last.
        errors: error patterns from outside the replies, counted as often as they are given.
        repetition: the phrase that the current reply repeats.
        window: iterations with errors that count.
        repeats: how often something must repeat.
        no_progress: iterations in a row without progress that are a circle; never fewer than `repeats`.
    """
    recent = passes[-window:]
    patterns = [*chain.from_iterable(one.error_signatures for one in recent), *errors]
    finders = _FINDERS if len(passes) >= min(repeats, _TURNS) else ()
    circles = [circle for find in finders if (circle := find(passes, repeats))]
    if repetition:
        circles.append(_Loop("chant", f"one reply says the same {repetition.times} times", 1, repetition.phrase))
    still = max(repeats, no_progress)
    if len(passes) >= still and (circle := _no_progress(passes, still)):
        circles.append(circle)
    if not circles and not patterns:
        return not_stuck()
    only_errors = not circles and all(one.progressed is None for one in recent) and not _varied(recent)
    return _found(Counter(patterns), circles, len(recent), repeats, by_errors=only_errors)


def _same_words(passes: Sequence[Past], repeats: int) -> _Loop | None:
    """Find the same reply, or nearly the same, in all but one of the last iterations."""
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
    """Find A, B, A, B, or a longer cycle for the third time: a round of three is often work (read, edit, test)."""
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
    """Find replies that say in any words that they moved nothing.

    These are all of the last ones, or all but one unless they are tests or errors.
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
"""The circle's name and what its replies do, for each way in which a reply stands still."""
_RESTING = frozenset({"done", "waiting", "unchanged", "watching"})


def _standstill(one: Past) -> str:
    """Return the way in which a reply moved nothing; empty if it does not say so.

    A program's error can be a question, too ("Did you mean …?"). An agent that asks at the end of its work has not
    waited: it reports that work, or used many tools with an unknown effect.
    """
    if one.moved:
        return ""
    asks = one.state == "question" and not one.error_signatures and (one.denied or not one.worked)
    if (one.state == "blocked" or asks) and (one.moved is False or not one.busy):
        return "waiting"
    return "error" if one.state == "error" else one.standstill


def _same_numbers(passes: Sequence[Past]) -> bool:
    """Return whether the replies have a number in common, such as the same number of tests each time."""
    first, *others = [{number[0] for number in _NUMBER.finditer(one.text[:_SHOWN])} for one in passes]
    return bool(first.intersection(*others))


def _at_a_limit(passes: Sequence[Past], repeats: int) -> _Loop | None:
    last = passes[-repeats:]
    if len(last) < repeats or not all(one.state == "limited" for one in last):
        return None
    return _Loop("at a limit", f"{repeats} iterations in a row met a limit", repeats, last[-1].text)


def _denied(passes: Sequence[Past], repeats: int) -> _Loop | None:
    last = passes[-repeats:]
    if len(last) < repeats or not all(one.denied and not _worked(one) for one in last):
        return None
    return _Loop("permission denied", f"tools were denied in {repeats} iterations in a row", repeats)


def _worked(one: Past) -> bool:
    """Return whether it moved something or, if that is unknown, most likely did: of many calls one may be denied."""
    return one.worked or one.busy if one.moved is None else one.moved


_FINDERS: tuple[Callable[[Sequence[Past], int], _Loop | None], ...] = (
    _same_words,
    _in_turns,
    _only_tests,
    _standing_still,
    _at_a_limit,
    _denied,
)
"""Each needs `repeats` iterations to find anything, or `_TURNS`."""


def _same(one: Past, other: Past, *, nearly: bool = True) -> bool:
    """Return whether two replies are the same, or nearly the same and neither counts any changes."""
    if one.text == other.text:
        return True
    return nearly and not (one.reported or other.reported) and similarity(one.text, other.text) >= SIMILAR


def _varied(recent: Sequence[Past]) -> bool:
    """Return whether the replies are known to differ."""
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
    """Return the distinct signatures of all errors, at most twenty.

    These are error lines of the reply (those in fences too), errors from outside it, and the executor's failure.
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
    """Return the signature of an executor's failure, such as "failed:unavailable:503"."""
    return f"failed:{failure.failure}" + (f":{failure.status}" if failure.status is not None else "")


def error_signature(error: str) -> str:
    """Return an error without what differs from one time to the next: paths, numbers, hexadecimal, quotes, case."""
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

"""Loops that go in circles.

Every way to do so is a function of the last iterations, which returns what repeats, or None. An iteration that is known
to have moved workspace or plan breaks every circle, unless its reply calls itself a no-op and asks for the end:
bookkeeping changes files, too. If it is unknown, one whose status block counts changed files breaks all but the circle
of the very same words.

Error patterns that repeat are always reported and counted; by themselves they decide only if nothing else is known:
productive loops meet the same error again and again.

Below these are the similarity of two replies and the repetition within one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from ralph.analysis import REPEATS, WINDOW
from ralph.analysis.metrics import error_signature
from ralph.analysis.result import PAST_KEPT, Evidence, Past, Stuck
from ralph.system.text import pattern, storable

WATCHING = "watching"
"""The circle of replies that only watch what still runs. By itself it may end without anyone's doing."""
TESTING = "test-only loop"
"""The circle of iterations that only ran tests. The decision has a number of its own for them."""

NO_OP = "no-op"
"""The circle of replies that say that there was nothing to do for them, and ask to be stopped."""
CIRCLES = frozenset({
    *("repeated output", "outputs in turns", "one piece of work", "already done", "waiting for a person"),
    *("nothing changed", "the same tests", "only errors", NO_OP),
})
"""The circles that say what the agent did instead of progress."""

_TURNS = 4
"""Iterations of two replies in turns."""
_SHOWN = 120
_NUMBER = pattern(r"\d+")


class Repetition(NamedTuple):
    """A phrase that a reply repeats, and how often."""

    phrase: str
    times: int


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
    if circle := _no_progress(passes, max(repeats, no_progress)):
        circles.append(circle)
    if not circles and not patterns:
        return Stuck()
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
        if len(cycle) < length * rounds or any(one.progressed for one in cycle):
            continue
        pairs = zip(cycle, cycle[length:], strict=False)
        same = all(one.text.strip() and _same(one, other, nearly=length == 2) for one, other in pairs)
        if same and _varied(cycle):
            return _Loop("outputs in turns", f"{length} outputs in turns, {rounds} times", len(cycle), cycle[-1].text)
    return None


def _in_a_row(passes: Sequence[Past], times: int, holds: Callable[[Past], bool]) -> bool:
    """Return whether something holds for each of the last iterations."""
    return len(passes) >= times and all(map(holds, passes[-times:]))


def _only_tests(passes: Sequence[Past], repeats: int) -> _Loop | None:
    if not _in_a_row(passes, repeats, lambda one: one.test_only and not one.progressed):
        return None
    return _Loop(TESTING, f"{repeats} iterations in a row only ran tests", repeats)


def _at_a_limit(passes: Sequence[Past], repeats: int) -> _Loop | None:
    if not _in_a_row(passes, repeats, lambda one: one.state == "limited"):
        return None
    return _Loop("at a limit", f"{repeats} iterations in a row met a limit", repeats, passes[-1].text)


def _denied(passes: Sequence[Past], repeats: int) -> _Loop | None:
    if not _in_a_row(passes, repeats, lambda one: one.denied and not _worked(one)):
        return None
    return _Loop("permission denied", f"tools were denied in {repeats} iterations in a row", repeats)


def _worked(one: Past) -> bool:
    """Return whether it moved something or, if that is unknown, most likely did: of many calls one may be denied."""
    return one.worked or one.busy if one.moved is None else one.moved


def _no_progress(passes: Sequence[Past], repeats: int) -> _Loop | None:
    if not _in_a_row(passes, repeats, lambda one: one.moved is False):
        return None
    known = _in_a_row(passes, repeats, lambda one: one.progressed is False)
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
    if times < repeats or any(one.progressed and one.standstill != NO_OP for one in last):
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
    "no-op": (NO_OP, "say that there was nothing to do"),
    "watching": (WATCHING, "only watch what still runs"),
    "tests": ("the same tests", "tell of the same tests and of nothing else"),
    "error": ("only errors", "are errors and nothing else"),
}
"""The circle's name and what its replies do, for each way in which a reply stands still."""
_RESTING = frozenset({"done", "waiting", "unchanged", "watching", "no-op"})


def _standstill(one: Past) -> str:
    """Return the way in which a reply moved nothing; empty if it does not say so.

    A program's error can be a question, too ("Did you mean …?"). An agent that asks at the end of its work has not
    waited: it reports that work, or used many tools with an unknown effect.
    """
    if one.moved:
        return one.standstill if one.standstill == NO_OP else ""
    asks = one.state == "question" and not one.error_signatures and (one.denied or not one.worked)
    if (one.state == "blocked" or asks) and (one.moved is False or not one.busy):
        return "waiting"
    return one.standstill


def _same_numbers(passes: Sequence[Past]) -> bool:
    """Return whether the replies have a number in common, such as the same number of tests each time."""
    first, *others = [{number[0] for number in _NUMBER.finditer(one.text[:_SHOWN])} for one in passes]
    return bool(first.intersection(*others))


_PIECE = pattern(
    r"\b(?:phase|step|story|task|sprint|epic|milestone|stage|fase|etapa|tarea|paso|aufgabe|schritt|meilenstein)"
    r"\s#?\d[\w-]*(?:\.\d+)*|(?:阶段|階段|任[务務]|步[骤驟])\s?\d{1,3}|第[一二三四五六七八九十\d]{1,3}(?:阶段|階段|步)"
)
_FINISHED = pattern(
    r"\b(?:complete|completed|done|finished|complet[ao]|completad[ao]|terminad[ao]|abgeschlossen|fertig|erledigt)\b|完成"
)
_SENTENCES = pattern(r"[.!?](?=\s|\Z)|[\n。！？]")
_PIECES_READ = 1_000  # characters of a reply in which they are named


def _finished_pieces(text: str) -> frozenset[str]:
    """Return the numbered pieces of work in sentences that call something finished."""
    told = filter(_FINISHED.search, _SENTENCES.split(text[:_PIECES_READ].lower()))
    return frozenset(piece for sentence in told for piece in _PIECE.findall(sentence))


def _same_piece(passes: Sequence[Past], repeats: int) -> _Loop | None:
    """Find replies that call the same numbered pieces finished, and no others: each iteration has its own."""
    *before, last = [_finished_pieces(one.text) for one in passes[-repeats - 1 :]]
    times = 1 + before.count(last)
    if not last or times < repeats or any(one.progressed or one.reported for one in passes[-repeats - 1 :]):
        return None
    named = ", ".join(sorted(last))
    return _Loop("one piece of work", f"{times} iterations say that {named} is finished", times, passes[-1].text)


_FINDERS: tuple[Callable[[Sequence[Past], int], _Loop | None], ...] = (
    _same_words,
    _in_turns,
    _same_piece,
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
    found = _rounds(pieces)
    if found is None or found.times < _TIMES or found.places < _SHARE * (len(pieces) - _PHRASE + 1):
        return None
    phrase = _joined(pieces[found.first : found.first + found.period])
    return Repetition(phrase, found.times) if sum(map(str.isalpha, phrase)) * 2 > len(phrase) else None


def _rounds(pieces: Sequence[str]) -> _Rounds | None:
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

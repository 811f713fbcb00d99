"""Conflicts between a statement and a similar claim: numbers, dates, negations, opposites, names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, takewhile

from ralph.types import evolve
from ralph_grounding.result import Conflict, TextPosition
from ralph_grounding.similarity.denials import denials
from ralph_grounding.similarity.quantities import Date, Measured, Quantity, dates, measured, quantities
from ralph_grounding.similarity.statement import Statement, statement
from ralph_grounding.similarity.thesaurus import opposites, synonyms
from ralph_grounding.text.language import guess_language
from ralph_grounding.text.tokens import is_designation

__all__ = ["find_conflicts", "other_designations", "swapped", "turned_round"]


def other_designations(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """Yield designations that differ beside the same word, if the claim's own is missing and the rest is similar."""
    expected = _designations(ours)
    said = _designations(theirs) if expected else []
    if not said or not theirs.says_most_of(ours, without=expected):
        return
    known = {theirs.words[place].stem for place in said}
    for place in expected:
        word = ours.words[place]
        if word.stem in known:
            continue
        other = next((other for other in said if _beside_the_same(ours, place, theirs, other)), None)
        if other is not None and theirs.words[other].stem not in ours.at:
            name = theirs.words[other]
            yield theirs.conflict("entity", ours.text[word.start : word.end], name.start, name.end)


def _designations(said: Statement) -> list[int]:
    return [place for place in range(len(said.words)) if is_designation(said.text, said.words, place, said.language)]


def _beside_the_same(ours: Statement, place: int, theirs: Statement, other: int) -> bool:
    """Return True if the words before are the same, or the content words after."""
    if place and other and ours.words[place - 1].stem == theirs.words[other - 1].stem:
        return True
    last = place + 1 >= len(ours.words) or other + 1 >= len(theirs.words)
    return not last and ours.content[place + 1] and ours.words[place + 1].stem == theirs.words[other + 1].stem


def swapped(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """Yield two or more numbers that are the same in both, in another order, with the words between them in the same.

    Numbers without a word between them, as in "9, 12 and 15", may stand in any order.
    """
    known = {word.stem for place, word in enumerate(ours.words) if ours.content[place]}
    mine = [place for place in range(len(ours.words)) if ours.content[place]]
    other = [place for place in range(len(theirs.words)) if theirs.words[place].stem in known]
    if len(mine) != len(other) or not any(ours.words[place].number for place in mine):
        return
    pairs = list(zip(mine, other, strict=True))
    unlike = [pair for pair in pairs if ours.words[pair[0]].stem != theirs.words[pair[1]].stem]
    if not all(ours.words[one].number and theirs.words[two].number for one, two in unlike):
        return
    if len(unlike) < 2 or Counter(ours.words[one].stem for one, _ in unlike) != Counter(
        theirs.words[two].stem for _, two in unlike
    ):
        return
    if any(not ours.words[one].number for one, _ in pairs[pairs.index(unlike[0]) : pairs.index(unlike[-1])]):
        for one, two in unlike:
            expected, said = ours.words[one], theirs.words[two]
            yield theirs.conflict("number", ours.text[expected.start : expected.end], said.start, said.end)


_LESS_ALIKE = 0.4
"""The required share of a claim's other words if a number stands between the same two words in both."""
_REACH = 1
"""Content words on each side; two words in the same place have one of them in common."""
_MOST = 20
_APPROXIMATELY = (
    "about almost nearly around approximately roughly over more than under less up least most some circa ca etwa rund "
    "fast über unter mehr weniger environ près plus moins unos casi más menos"
)
_ABOUT = frozenset(_APPROXIMATELY.split())
_ROUNDED = 0.05
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
_SHORTEST = 4


def find_conflicts(
    claim: str, statement_text: str, start: int = 0, language: str | None = None
) -> tuple[Conflict, ...]:
    """Find the differences between a statement and a claim; none if it is about something else, as far as words show.

    A missed conflict is better than a false one. So each kind requires the rest of the claim to be there, and the two
    things to stand in the same place.

    Args:
        claim: the claim.
        statement_text: the statement, usually a sentence; the first 4,000 characters of both are used.
        start: the statement's position in its text, added to the positions.
        language: an ISO code; guessed if None.

    Returns:
        The first twenty; with one the claim is not made.
    """
    if language is None:
        language = guess_language(f"{statement_text[:2_000]} {claim[:2_000]}")
    return tuple(_moved(conflict, start) for conflict in _conflicts(claim, statement_text, language))


@lru_cache(maxsize=64)
def _conflicts(claim: str, statement_text: str, language: str) -> tuple[Conflict, ...]:
    ours, theirs = statement(claim, language), statement(statement_text, language)
    our_dates, their_dates = dates(ours), dates(theirs)
    found = chain(
        _dates(ours, theirs, our_dates, their_dates),
        _numbers(ours, theirs, our_dates, their_dates),
        _units(ours, theirs),
        swapped(ours, theirs),
        denials(ours, theirs),
        _contraries(ours, theirs),
        other_designations(ours, theirs),
        _names(ours, theirs, our_dates),
    )
    return tuple(islice(_once_each(found), _MOST))


def _once_each(found: Iterable[Conflict]) -> Iterator[Conflict]:
    seen: set[tuple[str, int]] = set()
    for conflict in found:
        key = (conflict.kind, conflict.position.start)
        if key not in seen:
            seen.add(key)
            yield conflict


def _moved(conflict: Conflict, by: int) -> Conflict:
    start, end = conflict.position.start + by, conflict.position.end + by
    return evolve(conflict, position=TextPosition(start=start, end=end))


def _dates(ours: Statement, theirs: Statement, expected: Sequence[Date], said: Sequence[Date]) -> Iterator[Conflict]:
    if not expected or not said or not theirs.says_most_of(ours, without=_parts(ours, expected)):
        return
    for date in expected:
        others = [other for other in said if date.comparable(other)]
        if others and not any(date.agrees(other) for other in others):
            yield theirs.conflict("date", ours.text[date.start : date.end], others[0].start, others[0].end)


def _parts(said: Statement, dates: Sequence[Date]) -> set[int]:
    """Return the places of words that are parts of dates."""
    return {
        place for place, word in enumerate(said.words) if any(date.start <= word.start < date.end for date in dates)
    }


def _numbers(
    ours: Statement, theirs: Statement, our_dates: Sequence[Date], their_dates: Sequence[Date]
) -> Iterator[Conflict]:
    expected = quantities(ours, our_dates)
    places = {place for place, word in enumerate(ours.words) if word.number}
    if not expected or not theirs.says_most_of(ours, without=places, least=_LESS_ALIKE):
        return
    alike = theirs.says_most_of(ours, without=places)
    said = quantities(theirs, their_dates)
    values = {number.value for number in expected}
    taken: set[int] = set()
    for number in expected:
        if any(_same(number, other, theirs) for other in said):
            continue
        for other in said:
            same_thing = _same_thing(number, other, ours.language, alike=alike)
            if same_thing and other.value not in values and other.start not in taken:
                taken.add(other.start)
                yield theirs.conflict("number", ours.text[number.start : number.end], other.start, other.end)
                break


def _same(number: Quantity, other: Quantity, theirs: Statement) -> bool:
    """Return True for the same number, also if one is rounded and says so."""
    if number.value == other.value:
        return True
    if isinstance(number.value, str) or isinstance(other.value, str):
        return False
    close = abs(number.value - other.value) <= _ROUNDED * abs(number.value)
    before = theirs.text[max(0, other.start - 24) : other.start].casefold().split()
    return close and any(word in _ABOUT for word in before)


def _same_thing(number: Quantity, other: Quantity, language: str, *, alike: bool) -> bool:
    """Return True if both count the same thing: the same word after them, or the same name or sign before.

    Args:
        number: the claim's number.
        other: the statement's number.
        language: an ISO code.
        alike: the rest of the two statements is similar; if not, the words on both sides must be the same.
    """
    if number.unit != other.unit:
        return False
    after = number.after and (number.after == other.after or other.after in synonyms(number.after, language))
    before = number.before and (number.before == other.before or other.before in synonyms(number.before, language))
    if not alike:
        return bool(after and before)
    return bool(after or (before and (number.named or number.unit or not number.after or not other.after)))


def _units(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """Yield the places with the same number in another unit of its kind."""
    expected, said = list(measured(ours)), list(measured(theirs))
    if not expected or not said or not theirs.says_most_of(ours, without=_with_units(ours, expected)):
        return
    units = {(number.value, number.dimension, number.unit) for number in said}
    others = {(number.value, number.dimension): number for number in reversed(said)}
    for number in expected:
        other = others.get((number.value, number.dimension))
        if other and (number.value, number.dimension, number.unit) not in units:
            yield theirs.conflict("number", ours.text[number.start : number.end], other.start, other.end)


def _with_units(said: Statement, numbers: Sequence[Measured]) -> set[int]:
    """Return the places of the words that are parts of those numbers."""
    return {
        place
        for number in numbers
        for place in takewhile(
            lambda place, end=number.end: said.words[place].start < end, range(number.place, len(said.words))
        )
    }


def _contraries(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    for place, word in enumerate(ours.words):
        if word.number or theirs.has(word.stem):
            continue
        others = list(_contrary_places(ours, theirs, place))
        if not others or not theirs.says_most_of(ours, without={place}):
            continue
        for other in others:
            agree = (place in ours.doubtful) == (other in theirs.doubtful)
            if agree and _same_place(ours, place, theirs, other):
                said = theirs.words[other]
                yield theirs.conflict("antonym", ours.text[word.start : word.end], said.start, said.end)
                break


def _contrary_places(ours: Statement, theirs: Statement, place: int) -> Iterator[int]:
    word = ours.words[place]
    for root in opposites(word.stem, ours.language):
        if root not in ours.at:
            yield from theirs.at.get(root, ())
    for root in turned_round(word.stem):
        if root not in ours.at:
            yield from theirs.at.get(root, ())


def turned_round(root: str) -> Iterator[str]:
    """Yield the root with, or without, a prefix that reverses it, as in "available" and "unavailable"."""
    for prefix in _PREFIXES if len(root) >= _SHORTEST else ():
        yield prefix + root
        if root.startswith(prefix) and len(root) >= _SHORTEST + len(prefix):
            yield root.removeprefix(prefix)


def _same_place(ours: Statement, place: int, theirs: Statement, other: int) -> bool:
    """Return True if two words have a neighbour in common."""
    beside = {theirs.words[at].stem for at in theirs.beside(other, _REACH)}
    return any(ours.words[at].stem in beside for at in ours.beside(place, _REACH))


def _names(ours: Statement, theirs: Statement, our_dates: Sequence[Date]) -> Iterator[Conflict]:
    names = {place for place in range(len(ours.words)) if ours.is_name(place)} - _parts(ours, our_dates)
    if names and theirs.says_most_of(ours, without=names):
        yield from _other_names(ours, theirs, names)
    if ours.is_name(0) and theirs.is_name(0) and _other_subject(ours, theirs):
        word, said = ours.words[0], theirs.words[0]
        yield theirs.conflict("entity", ours.text[word.start : word.end], said.start, said.end)


def _other_names(ours: Statement, theirs: Statement, names: Iterable[int]) -> Iterator[Conflict]:
    for place in sorted(names):
        word = ours.words[place]
        if place == 0 or theirs.has(word.stem):
            continue
        for other, said in enumerate(theirs.words):
            if (
                other
                and theirs.is_name(other)
                and said.stem not in ours.at
                and _same_words_before(ours, place, theirs, other)
            ):
                yield theirs.conflict("entity", ours.text[word.start : word.end], said.start, said.end)
                break


def _same_words_before(ours: Statement, place: int, theirs: Statement, other: int) -> bool:
    if place < 2 or other < 2:
        return False
    before = [word.stem for word in ours.words[place - 2 : place]]
    return before == [word.stem for word in theirs.words[other - 2 : other]]


def _other_subject(ours: Statement, theirs: Statement) -> bool:
    """Return True if each begins with a different unknown word, and both continue similarly."""
    word, said = ours.words[0], theirs.words[0]
    after = [word.stem for word in ours.words[1:3]]
    return (
        not theirs.has(word.stem)
        and said.stem not in ours.at
        and not synonyms(word.stem, ours.language)
        and not synonyms(said.stem, ours.language)
        and len(after) == 2
        and after == [word.stem for word in theirs.words[1:3]]
        and theirs.says_most_of(ours, without={0}, least=1.0)
    )

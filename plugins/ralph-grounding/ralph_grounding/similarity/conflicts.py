"""In what a statement goes against a claim that it is like: numbers, dates, negations, contraries, names."""

from collections.abc import Container, Iterable, Iterator, Sequence

from ralph_grounding.result import Conflict, ConflictKind, TextPosition
from ralph_grounding.similarity.quantities import Date, Quantity, dates, quantities
from ralph_grounding.similarity.statement import Statement, statement
from ralph_grounding.similarity.thesaurus import opposites, synonyms
from ralph_grounding.text.negations import DENYING_ENDINGS, DENYING_MARKS
from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.stems import guess_language

__all__ = ["find_conflicts"]

_ALIKE = 0.6
"""The share of the claim's other words that the statement must have: else it is about something else."""
_LESS_ALIKE = 0.4
"""The same, where a number stands between the same two words in both."""
_REACH = 1
"""Words with a meaning, on each side, of which two words must have one in common to stand in the same place."""
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
    """In what the statement goes against the claim; nothing where it is about something else, as far as words tell.

    It is better to miss a conflict than to see one that is none, so that each kind asks for the rest of the claim to be
    there, and for the two things to stand in the same place.

    Args:
        statement_text: what is said, mostly a sentence; the first 4,000 characters of both are looked at.
        start: where the statement begins in its text, added to the positions.
        language: an ISO code; guessed where it is None.
    """
    if language is None:
        language = guess_language(f"{statement_text} {claim}")
    ours, theirs = statement(claim, language), statement(statement_text, language)
    our_dates, their_dates = dates(ours), dates(theirs)
    found = [
        *_dates(ours, theirs, our_dates, their_dates),
        *_numbers(ours, theirs, our_dates, their_dates),
        *_negations(ours, theirs),
        *_denied_characters(ours, theirs),
        *_denied_endings(ours, theirs),
        *_contraries(ours, theirs),
        *_names(ours, theirs, our_dates),
    ]
    return tuple(
        conflict.model_copy(
            update={"position": TextPosition(start=conflict.position.start + start, end=conflict.position.end + start)}
        )
        for conflict in found
    )


def _conflict(kind: ConflictKind, expected: str, said: Statement, start: int, end: int) -> Conflict:
    return Conflict(
        kind=kind, expected=expected, said=said.text[start:end], position=TextPosition(start=start, end=end)
    )


def _alike(ours: Statement, theirs: Statement, without: Container[int] = (), least: float = _ALIKE) -> bool:
    """Whether the statement has most of the claim's words with a meaning, and at least one; apart from some places."""
    rest = [word.stem for place, word in enumerate(ours.words) if ours.content[place] and place not in without]
    shared = sum(theirs.has(root) for root in rest)
    return shared > 0 and shared >= least * len(rest)


def _dates(ours: Statement, theirs: Statement, expected: Sequence[Date], said: Sequence[Date]) -> Iterator[Conflict]:
    if not expected or not said or not _alike(ours, theirs, without=_parts(ours, expected)):
        return
    for date in expected:
        others = [other for other in said if date.comparable(other)]
        if others and not any(date.agrees(other) for other in others):
            yield _conflict("date", ours.text[date.start : date.end], theirs, others[0].start, others[0].end)


def _parts(said: Statement, dates: Sequence[Date]) -> set[int]:
    """The places of words that are parts of dates."""
    return {
        place for place, word in enumerate(said.words) if any(date.start <= word.start < date.end for date in dates)
    }


def _numbers(
    ours: Statement, theirs: Statement, our_dates: Sequence[Date], their_dates: Sequence[Date]
) -> Iterator[Conflict]:
    expected = quantities(ours, our_dates)
    places = {place for place, word in enumerate(ours.words) if word.number}
    if not expected or not _alike(ours, theirs, without=places, least=_LESS_ALIKE):
        return
    alike = _alike(ours, theirs, without=places)
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
                yield _conflict("number", ours.text[number.start : number.end], theirs, other.start, other.end)
                break


def _same(number: Quantity, other: Quantity, theirs: Statement) -> bool:
    """Whether they are the same number, also where one is rounded and says so."""
    if number.value == other.value:
        return True
    if isinstance(number.value, str) or isinstance(other.value, str):
        return False
    close = abs(number.value - other.value) <= _ROUNDED * abs(number.value)
    before = theirs.text[max(0, other.start - 24) : other.start].casefold().split()
    return close and any(word in _ABOUT for word in before)


def _same_thing(number: Quantity, other: Quantity, language: str, *, alike: bool) -> bool:
    """Whether both count the same: the word after them is, or the name or sign before.

    Args:
        alike: whether the rest of the two statements is alike; if not, the words on both sides must be.
    """
    if number.unit != other.unit:
        return False
    after = number.after and (number.after == other.after or other.after in synonyms(number.after, language))
    before = number.before and (number.before == other.before or other.before in synonyms(number.before, language))
    if not alike:
        return bool(after and before)
    return bool(after or (before and (number.named or number.unit or not number.after or not other.after)))


def _negations(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    if theirs.text.rstrip().endswith("?") or not _alike(ours, theirs):
        return
    for place in range(len(ours.words)):
        if not ours.content[place]:
            continue
        places = theirs.places(ours.words[place].stem)
        denied = [other for other in places if other in theirs.denied_by]
        if place in ours.denied_by:
            if (
                places
                and not any(other in theirs.doubtful for other in places)
                and len(theirs.denied_by) < len(ours.denied_by)
            ):
                negation = ours.words[ours.denied_by[place]].start
                word = theirs.words[places[0]]
                yield _conflict("negation", ours.text[negation : ours.words[place].end], theirs, word.start, word.end)
        elif (
            place not in ours.doubtful
            and denied
            and len(denied) == len(places)
            and len(ours.denied_by) < len(theirs.denied_by)
        ):
            negation = theirs.words[theirs.denied_by[denied[0]]].start
            yield _conflict(
                "negation",
                ours.text[ours.words[place].start : ours.words[place].end],
                theirs,
                negation,
                theirs.words[denied[0]].end,
            )


def _denied_characters(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """The same in Chinese, where the negation is the character before."""
    for root, places in ours.at.items():
        others = theirs.at.get(root, ())
        if not others or root[0] in DENYING_MARKS or root.isascii():
            continue
        ours_denied = {_denied(ours, place) for place in places}
        theirs_denied = {_denied(theirs, place) for place in others}
        if len(ours_denied) == len(theirs_denied) == 1 and ours_denied != theirs_denied:
            if not _alike(ours, theirs):
                return
            word, other = ours.words[places[0]], theirs.words[others[0]]
            yield _conflict(
                "negation",
                ours.text[word.start - (True in ours_denied) : word.end],
                theirs,
                other.start - (True in theirs_denied),
                other.end,
            )
            return


def _denied_endings(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """The same in Japanese and Korean, where the negation is at the end."""
    our_denial, their_denial = DENYING_ENDINGS.search(ours.text), DENYING_ENDINGS.search(theirs.text)
    if (our_denial is None) == (their_denial is None) or not _alike(ours, theirs):
        return
    if len(sentences(theirs.text)) > 1:
        return
    start, end = their_denial.span() if their_denial else (0, len(theirs.text))
    yield _conflict("negation", our_denial.group() if our_denial else ours.text, theirs, start, end)


def _denied(said: Statement, place: int) -> bool:
    start = said.words[place].start
    return said.text[start - 1 : start] in DENYING_MARKS if start else False


def _contraries(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    for place, word in enumerate(ours.words):
        if theirs.has(word.stem) or word.number:
            continue
        for other in _contrary_places(ours, theirs, place):
            agree = (place in ours.doubtful) == (other in theirs.doubtful)
            if agree and _same_place(ours, place, theirs, other) and _alike(ours, theirs, without={place}):
                said = theirs.words[other]
                yield _conflict("antonym", ours.text[word.start : word.end], theirs, said.start, said.end)
                break


def _contrary_places(ours: Statement, theirs: Statement, place: int) -> Iterator[int]:
    word = ours.words[place]
    for root in opposites(word.stem, ours.language):
        if root not in ours.at:
            yield from theirs.at.get(root, ())
    for root in _turned_round(word.stem):
        if root not in ours.at:
            yield from theirs.at.get(root, ())


def _turned_round(root: str) -> Iterator[str]:
    """The root with, or without, a prefix that makes it its contrary, as in "available" and "unavailable"."""
    for prefix in _PREFIXES if len(root) >= _SHORTEST else ():
        yield prefix + root
        if root.startswith(prefix) and len(root) >= _SHORTEST + len(prefix):
            yield root.removeprefix(prefix)


def _same_place(ours: Statement, place: int, theirs: Statement, other: int) -> bool:
    """Whether two words have one of their neighbours in common."""
    beside = {theirs.words[at].stem for at in theirs.beside(other, _REACH)}
    return any(ours.words[at].stem in beside for at in ours.beside(place, _REACH))


def _names(ours: Statement, theirs: Statement, our_dates: Sequence[Date]) -> Iterator[Conflict]:
    names = {place for place in range(len(ours.words)) if _is_name(ours, place)} - _parts(ours, our_dates)
    if names and _alike(ours, theirs, without=names):
        yield from _other_names(ours, theirs, names)
    if ours.words and theirs.words and _is_name(ours, 0) and _is_name(theirs, 0) and _other_subject(ours, theirs):
        word, said = ours.words[0], theirs.words[0]
        yield _conflict("entity", ours.text[word.start : word.end], theirs, said.start, said.end)


def _other_names(ours: Statement, theirs: Statement, names: Iterable[int]) -> Iterator[Conflict]:
    for place in sorted(names):
        word = ours.words[place]
        if place == 0 or theirs.has(word.stem):
            continue
        for other, said in enumerate(theirs.words):
            if (
                other
                and _is_name(theirs, other)
                and said.stem not in ours.at
                and _same_words_before(ours, place, theirs, other)
            ):
                yield _conflict("entity", ours.text[word.start : word.end], theirs, said.start, said.end)
                break


def _is_name(said: Statement, place: int) -> bool:
    """Whether a word is written like a name."""
    word = said.words[place]
    return said.content[place] and not word.number and said.text[word.start].isupper()


def _same_words_before(ours: Statement, place: int, theirs: Statement, other: int) -> bool:
    if place < 2 or other < 2:
        return False
    before = [word.stem for word in ours.words[place - 2 : place]]
    return before == [word.stem for word in theirs.words[other - 2 : other]]


def _other_subject(ours: Statement, theirs: Statement) -> bool:
    """Whether each begins with a word of its own, which no list has, and both go on alike."""
    word, said = ours.words[0], theirs.words[0]
    after = [word.stem for word in ours.words[1:3]]
    return (
        not theirs.has(word.stem)
        and said.stem not in ours.at
        and not synonyms(word.stem, ours.language)
        and not synonyms(said.stem, ours.language)
        and len(after) == 2
        and after == [word.stem for word in theirs.words[1:3]]
        and _alike(ours, theirs, without={0}, least=1.0)
    )

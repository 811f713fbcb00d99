"""The comparison of a claim with one clause of a text."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ralph_grounding.result import Conflict, ConflictKind, TextPosition
from ralph_grounding.similarity.amounts import Amount, same_amount
from ralph_grounding.similarity.analysed import Analysed, analysed, spelt_alike
from ralph_grounding.similarity.bounds import Bound
from ralph_grounding.similarity.clauses import Clause
from ralph_grounding.similarity.conflicts import find_conflicts, turned_round
from ralph_grounding.similarity.quantities import Date
from ralph_grounding.similarity.roles import exchanged, other_name
from ralph_grounding.similarity.thesaurus import opposites, synonyms
from ralph_grounding.text.sentences import Span
from ralph_grounding.text.structure import Stated
from ralph_grounding.text.words import LINKS, is_negation

__all__ = ["Compared", "Place", "Ruling"]

Outcome = Literal["present", "contradicted", "lacking", "unsure"]

_ABOUT = 0.6
"""The share of a claim's other words from which a clause is about the same."""
_SAYS = 0.74
"""The share from which a clause says it."""
_SYNONYM = 0.9
_ALIKE = 0.75
_SCOPE = 2
_SHORT = 7
"""The number of content words up to which each must be there."""
_IMPLIED = {
    "cost": "money", "price": "money", "pay": "money", "charg": "money", "fee": "money",
    "last": "time", "take": "time", "durat": "time", "weigh": "weight", "weight": "weight",
}  # fmt: skip
"""What an amount says by its unit alone: 12 euros are a price, and 90 minutes a duration."""
_HEDGES = re.compile(
    r"\b(?:may|might|could|perhaps|maybe|possibly|probably|likely|reportedly|allegedly|rumou?r\w*|expected|plan(?:s|ned)?"
    r"|intends?|hopes?|claims?|denie[sd]|deny|doubts?|some|if|unless|should|proposed|considering|vielleicht|könnte"
    r"|wenn|soll|geplant|peut-être|pourrait|quizás|podría|forse|potrebbe)\b",
    re.IGNORECASE,
)
_CERTAIN = re.compile(
    r"\b(?:certainly|definitely|always|all|every|guaranteed|immer|alle|toujours|siempre)\b", re.IGNORECASE
)
_ONLY = re.compile(
    r"(?<!not )(?<!nicht )\b(?:only|solely|exclusively|nur|ausschließlich|seulement|solamente|solo|soltanto)\b"
    r"(?! *\W?\d)",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"\b(?:just|sole|reserved|restricted|limited|except|unless|but|no|not|nobody|none|kein\w*|nicht|außer|ne|sauf|non)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What may say the same as "only": "no one but members", "reserved for members"."""


class Ruling(NamedTuple):
    """The verdict on a claim.

    Attributes:
        outcome: "lacking" if something of the claim is missing where most of it stands; "unsure" if little is there.
        share: 0–1, of the claim's words that the clause says, without amounts.
        span: the sentence, list item or table row.
        conflicts: what differs there, with positions in the text.
        lacking: what of the claim is missing: "amount", "name", "date", "bound", "hedge", "certainty", "subject" or
            "word".
        own: the share of the words that the clause has itself.
    """

    outcome: Outcome
    share: float
    span: Span
    conflicts: tuple[Conflict, ...] = ()
    lacking: tuple[str, ...] = ()
    own: float = 0.0


class Place(NamedTuple):
    """A clause, and where it stands.

    Attributes:
        theirs: the statement of the clause.
        each: its place in the text.
        context: the stems of a subject that it takes over from the sentence before.
        asked: the question that it answers.
        text: the whole text.
    """

    theirs: Analysed
    clause: Clause
    each: Stated
    context: frozenset[str]
    asked: Analysed | None
    text: str

    def conflict(self, kind: ConflictKind, expected: str, start: int = 0, end: int = 0) -> Conflict:
        """Make a conflict with a part of the statement, or with the whole one where no part is given."""
        first, last = self.each.span
        if self.each.exact and end > start:
            first, last = self.each.span.start + start, self.each.span.start + end
        position = TextPosition(start=first, end=last)
        return Conflict(kind=kind, expected=expected, said=self.text[first:last], position=position)


def _once_each(found: Iterator[Conflict]) -> tuple[Conflict, ...]:
    kept: dict[tuple[int, int], Conflict] = {}
    for conflict in found:
        kept.setdefault((conflict.position.start, conflict.position.end), conflict)
    return tuple(kept.values())


class Compared:
    """A claim and one clause."""

    def __init__(self, ours: Analysed, weights: Mapping[int, float], place: Place) -> None:
        self._ours, self._weights, self._place = ours, weights, place
        self._theirs, self._clause, self._each = place.theirs, place.clause, place.each
        self._language = ours.said.language
        self._asked, self._context = place.asked, place.context
        words = self._theirs.said.words
        self._here = (
            self._theirs.said.at.keys()
            if len(self._theirs.clauses) == 1
            else {word.stem for at, word in enumerate(words) if self._clause.has(at)}
        )
        self._flipped: dict[int, int] = {}
        self._dimensions = {_dimension(amount) for amount in self._amounts()[0]}
        self._credits = {place: self._credit(place) for place in weights}

    def ruling(self, *, retracted: bool) -> Ruling:
        """Return the verdict of the clause; one that is taken back supports nothing."""
        rest = {place: weight for place, weight in self._weights.items() if place not in self._ours.measured}
        total = sum(rest.values())
        share = sum(weight * min(1.0, self._credits[place]) for place, weight in rest.items()) / total if total else 1.0
        grounded = any(self._credits[place] and not self._is_context(place) for place in self._weights)
        matched, unmatched = self._amounts()
        if not (grounded or matched or (self._asked and unmatched and self._theirs.amounts)):
            return Ruling("unsure", 0.0, self._each.span)
        missing = self._missing_names()
        own = sum(w for place, w in rest.items() if self._is_own(place)) / total if total else 1.0
        found = () if retracted else _once_each(self._conflicts(share, unmatched, missing))
        if found:
            return Ruling("contradicted", share, self._each.span, found, own=own)
        lacking = self._lacking(unmatched, missing)
        if retracted and share >= _SAYS and self._is_brief() and not set(lacking) - {"hedge", "word"}:
            conflict = self._place.conflict("negation", self._ours.said.text)
            return Ruling("contradicted", share, self._each.span, (conflict,), own=own)
        if lacking or retracted:
            return Ruling("lacking", share, self._each.span, lacking=lacking, own=own)
        enough = _ABOUT if self._each.cell else _SAYS
        return Ruling("present" if share >= enough else "unsure", share, self._each.span, own=own)

    def _lacking(self, unmatched: Sequence[Amount], missing: Sequence[int]) -> tuple[str, ...]:
        reasons = {
            "amount": bool(unmatched),
            "name": bool(missing),
            "hedge": self._hedged(),
            "certainty": self._is_too_certain(),
            "date": self._undated(),
            "bound": bool(self._opposed()),
            "subject": self._competes(),
            "word": self._headless(),
        }
        return tuple(name for name, holds in reasons.items() if holds)

    def _is_own(self, place: int) -> bool:
        """Return True if the clause has the word itself, as it is or in another form."""
        stem = self._ours.said.words[place].stem
        roots = {stem, *synonyms(stem, self._language)}
        return any(self._clause.owns(at) for root in roots for at in self._theirs.said.at.get(root, ()))

    def _credit(self, place: int) -> float:
        word = self._ours.said.words[place]
        if word.stem in self._here:
            return 1.0
        if any(other in self._here for other in synonyms(word.stem, self._language)):
            return _SYNONYM
        if word.number:
            return float(place not in self._ours.measured and word.stem in self._context)
        if self._opposite(place):
            return 1.0
        if _IMPLIED.get(word.stem) in self._dimensions:
            return _SYNONYM
        if word.stem in self._context or self._is_asked(place):
            return 1.0
        head = word.stem[:4]
        return _ALIKE if any(other[:4] == head and spelt_alike(word.stem, other) for other in self._here) else 0.0

    def _is_asked(self, place: int) -> bool:
        if self._asked is None:
            return False
        stem = self._ours.said.words[place].stem
        known = self._asked.said.at
        return stem in known or any(other in known for other in synonyms(stem, self._language))

    def _is_context(self, place: int) -> bool:
        stem = self._ours.said.words[place].stem
        return self._credits[place] == 1.0 and stem not in self._here and place not in self._flipped

    def _opposite(self, place: int) -> bool:
        if place in self._ours.measured:
            return False
        stem = self._ours.said.words[place].stem
        for other in (*opposites(stem, self._language), *turned_round(stem)):
            if other in self._here and other not in self._ours.said.at:
                there = self._theirs.said.at[other][0]
                if self._is_beside(place, there):
                    self._flipped[place] = there
                    return True
        return False

    def _is_beside(self, place: int, there: int) -> bool:
        """Return True if two words have a neighbour in common."""
        beside = {self._theirs.said.words[at].stem for at in self._theirs.said.beside(there, 2)}
        return any(self._ours.said.words[at].stem in beside for at in self._ours.said.beside(place, 2))

    def _amounts(self) -> tuple[list[Amount], list[Amount]]:
        """Return the claim's amounts that are here, and those that are not."""
        matched: list[Amount] = []
        unmatched: list[Amount] = []
        own = [a for a in self._theirs.amounts if self._clause.owns(a.first)]
        if not own:
            own = [a for a in self._theirs.amounts if len(self._theirs.clauses) == 1]
        for amount in self._ours.amounts:
            measured = [other for other in own if amount.dimension and other.dimension == amount.dimension]
            same = any(same_amount(amount, other) for other in measured or own) or self._named_in_question(amount)
            (matched if same else unmatched).append(amount)
        return matched, unmatched

    def _opposed(self) -> list[tuple[Bound, Bound]]:
        """Return the bounds of the claim, each with the opposite one here: "at most 12" and "at least 12"."""
        ours, theirs = self._ours, self._theirs
        if not ours.bounds or not theirs.bounds:
            return []
        alike = [(a.start, b.start) for a in ours.amounts for b in theirs.amounts if same_amount(a, b)]
        alike += [(a.start, b.start) for a in ours.dates for b in theirs.dates if _carries(b, a)]
        single = len(theirs.clauses) == 1
        pairs = [
            (ours.bounds[one], theirs.bounds[other])
            for one, other in alike
            if one in ours.bounds and other in theirs.bounds and (single or self._clause.owns(self._place_of(other)))
        ]
        agreed = {mine for mine, yours in pairs if mine.upper is yours.upper}
        return [(mine, yours) for mine, yours in pairs if mine not in agreed]

    def _named_in_question(self, amount: Amount) -> bool:
        """Return True for a number without a unit that the question or the context has, as in "the Petrel 520"."""
        stem = self._ours.said.words[amount.first].stem
        if amount.dimension or amount.first == 0 or not self._ours.said.is_name(amount.first - 1):
            return False
        return stem in self._context or (self._asked is not None and stem in self._asked.said.at)

    def _missing_names(self) -> list[int]:
        said = self._ours.said
        return [
            place
            for place in self._weights
            if place not in self._ours.measured and said.is_name(place) and self._credits[place] < _ALIKE
            and (place > 0 or said.is_name(1))
        ]  # fmt: skip

    def _undated(self) -> bool:
        """Return True if a date of the claim is not here in all its parts."""
        single = len(self._theirs.clauses) == 1
        theirs = [d for d in self._theirs.dates if single or self._clause.owns(self._place_of(d.start))]
        return any(not any(_carries(other, date) for other in theirs) for date in self._ours.dates if _settled(date))

    def _place_of(self, start: int) -> int:
        return next((at for at, word in enumerate(self._theirs.said.words) if word.start >= start), 0)

    def _hedged(self) -> bool:
        theirs, ours = self._theirs.said.text, self._ours.said.text
        return not _HEDGES.search(ours) and _HEDGES.search(theirs) is not None

    def _is_too_certain(self) -> bool:
        ours, theirs = self._ours.said.text, self._theirs.said.text
        if _ONLY.search(ours) and not _ONLY.search(theirs) and not _CLOSED.search(theirs):
            return True
        return _CERTAIN.search(ours) is not None and not _CERTAIN.search(theirs)

    def _competes(self) -> bool:
        """Return True if the clause has a subject of its own, while the claim's comes from the context."""
        said = self._ours.said
        taken = [place for place in self._weights if said.is_name(place) and self._is_context(place)]
        if not taken or all(self._is_asked(place) for place in taken):
            return False
        theirs = self._theirs.said
        start = self._clause.first
        return any(
            theirs.is_name(place) and theirs.words[place].stem not in said.at and place not in self._theirs.measured
            for place in range(start + (start == 0), self._clause.last)
        )

    def _headless(self) -> bool:
        """Return True if a content word of a short claim is not here at all."""
        places = [place for place in self._weights if place not in self._ours.measured]
        return 0 < len(places) <= _SHORT and not all(self._credits[place] for place in places)

    def _conflicts(self, share: float, unmatched: Sequence[Amount], missing: Sequence[int]) -> Iterator[Conflict]:
        if (cell := self._each.cell) is not None:
            yield from self._of_cell(cell.column, share)
            return
        if share < _ABOUT or self._theirs.said.text.rstrip().endswith(("?", "？")):
            if share >= _ABOUT / 2 and missing and self._is_brief():
                yield from self._of_names(missing)
            return
        if missing:
            if self._is_brief():
                yield from self._of_names(missing)
            return
        if not self._is_brief():
            yield from self._known()
            return
        undated = self._undated()
        if not undated:
            yield from self._of_amounts(unmatched)
        if not unmatched and not undated and not self._competes():
            if share >= _SAYS or self._flipped:
                yield from self._of_negation(share)
            for start, end in exchanged(self._ours.said, self._theirs.said, self._clause):
                yield self._place.conflict("entity", self._ours.said.text, start, end)
        if not (unmatched and undated):
            yield from self._known()

    def _is_brief(self) -> bool:
        """Return True if the clause says little else: about half of its words are the claim's."""
        theirs, ours = self._theirs.said, self._ours.said
        places = [
            place for place in range(len(theirs.words))
            if self._clause.owns(place) and theirs.content[place]
            and place not in self._theirs.measured and not theirs.is_name(place)
        ]  # fmt: skip
        known = sum(ours.has(theirs.words[place].stem) or place in self._flipped.values() for place in places)
        return 2 * known >= len(places) - 1

    def _known(self) -> Iterator[Conflict]:
        """Yield the differences that do not need clauses."""
        start = self._theirs.said.words[self._clause.first].start
        end = self._theirs.said.words[self._clause.last - 1].end
        if len(self._theirs.clauses) == 1:
            start, end = 0, len(self._theirs.said.text)
        same = [a for a in self._ours.amounts if any(same_amount(a, other) for other in self._theirs.amounts)]
        written = {self._ours.said.text[a.start : a.end] for a in same}
        for one in find_conflicts(self._ours.said.text, self._theirs.said.text[start:end], start, self._language):
            if one.kind == "number" and any(one.expected in each or each in one.expected for each in written):
                continue
            if one.kind in {"negation", "antonym"}:
                continue
            yield self._place.conflict(one.kind, one.expected, one.position.start, one.position.end)

    def _of_amounts(self, unmatched: Sequence[Amount]) -> Iterator[Conflict]:
        for amount in unmatched:
            for other in self._theirs.amounts:
                owned = self._clause.owns(other.first) or len(self._theirs.clauses) == 1
                if not owned or any(same_amount(other, mine) for mine in self._ours.amounts):
                    continue
                if other.dimension != amount.dimension and not (_money(other) and _money(amount)):
                    continue
                if not amount.dimension and not self._counts_the_same(amount, other):
                    continue
                yield self._of_amount(amount, other)
                break

    def _of_amount(self, amount: Amount, other: Amount) -> Conflict:
        """Return the conflict of two amounts: the numbers alone if they have the same unit."""
        start, end, first, last = amount.start, amount.end, other.start, other.end
        if amount.dimension == other.dimension != "clock" and amount.factor == other.factor:
            ours, theirs = self._ours.said.words, self._theirs.said.words
            start, end = ours[amount.first].start, ours[amount.first].end
            first, last = theirs[other.first].start, theirs[other.first].end
        return self._place.conflict("number", self._ours.said.text[start:end], first, last)

    def _counts_the_same(self, amount: Amount, other: Amount) -> bool:
        ours, theirs = self._ours.said, self._theirs.said
        after = next((p for p in range(amount.last + 1, len(ours.words)) if ours.content[p]), -1)
        following = next((p for p in range(other.last + 1, len(theirs.words)) if theirs.content[p]), -1)
        if after < 0 or following < 0:
            return False
        stem, there = ours.words[after].stem, theirs.words[following].stem
        return stem == there or there in synonyms(stem, self._language)

    def _of_names(self, missing: Sequence[int]) -> Iterator[Conflict]:
        others = [
            place for place in self._weights
            if place not in missing and place not in self._ours.measured
        ]  # fmt: skip
        if not others or any(not self._credits[place] for place in others) or self._hedged():
            return
        found = other_name(self._ours.said, missing, self._theirs.said, self._clause)
        if found is not None:
            name, start, end = found
            yield self._place.conflict("entity", name, start, end)

    def _of_negation(self, share: float) -> Iterator[Conflict]:
        ours, theirs = self._ours.said, self._theirs.said
        mine = _negations(self._ours, range(len(ours.words)), self._here | {ours.words[p].stem for p in self._flipped})
        places = [place for place in range(len(theirs.words)) if self._clause.owns(place)]
        yours = _negations(self._theirs, places, set(ours.at) | {theirs.words[p].stem for p in self._flipped.values()})
        opposed = self._opposed()
        if (bool(mine) + bool(yours) + len(self._flipped) + bool(opposed)) % 2 == 0 or self._hedged():
            return
        if opposed:
            (bound, other), *_ = opposed
            yield self._place.conflict("number", ours.text[bound.start : bound.end], other.start, other.end)
            return
        if self._flipped and share < _SAYS:
            return
        kind = "negation" if bool(mine) != bool(yours) else "antonym"
        at = yours[0] if yours else next(iter(self._flipped.values()), places[0])
        end = theirs.words[min(at + 1, len(theirs.words) - 1)].end if yours else theirs.words[at].end
        yield self._place.conflict(kind, ours.text, theirs.words[at].start, end)

    def _of_cell(self, column: Collection[str], share: float) -> Iterator[Conflict]:
        """Yield the value of a cell if the claim gives its row the value of another one."""
        cell = self._each.cell
        assert cell is not None
        ours = self._ours.said
        keys = [word.stem for word in analysed(cell.key, self._language).said.words]
        if not keys or not all(key in ours.at for key in keys):
            return
        if _in(self._ours, cell.value):
            return
        if any(_in(self._ours, other) for other in column):
            yield self._place.conflict("entity", cell.value)
            return
        header = analysed(cell.header, self._language).said.words
        if self._flipped or not any(ours.has(word.stem) or self._is_like(word.stem) for word in header):
            return
        here = self._theirs.amounts
        if any(a.dimension == b.dimension and not same_amount(a, b) for a in self._ours.amounts for b in here):
            yield self._place.conflict("number", cell.value)
        elif share >= _ABOUT:
            yield from self._of_negation(share)

    def _is_like(self, stem: str) -> bool:
        return any(spelt_alike(stem, other) for other in self._ours.said.at)


def _in(theirs: Analysed, value: str) -> bool:
    """Return True if a statement has the value of a cell."""
    cell = analysed(value, theirs.said.language)
    if cell.amounts:
        return all(any(same_amount(one, other) for other in theirs.amounts) for one in cell.amounts)
    return bool(cell.said.words) and all(word.stem in theirs.said.at for word in cell.said.words)


def _dimension(amount: Amount) -> str:
    return "money" if _money(amount) else amount.dimension


def _money(amount: Amount) -> bool:
    return amount.dimension in {"dollar", "euro", "pound", "yen", "franc"}


def _settled(date: Date) -> bool:
    return bool(date.year or date.month or date.day or date.weekday)


def _carries(date: Date, wanted: Date) -> bool:
    return all(one == two for one, two in zip(date[:4], wanted[:4], strict=True) if two)


def _negations(whole: Analysed, places: Sequence[int], shared: set[str]) -> list[int]:
    """Return the negations about one of those stems: among the next content words, or just before an end."""
    found: list[int] = []
    said = whole.said
    for place in places:
        word = said.words[place]
        if not is_negation(word.word, said.language) or place in whole.measured:
            continue
        if place == 0 and said.text[word.end : word.end + 1] == ",":
            continue
        reach = 1 if word.word in LINKS["local negation"] else _SCOPE
        following = [p for p in range(place + 1, len(said.words)) if said.content[p]][:reach]
        if any(said.words[p].stem in shared for p in following) or (not following and place):
            found.append(place)
    return found

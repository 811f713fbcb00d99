"""The verdict on a claim, sentence by sentence: a text supports it, contradicts it, or does neither.

A clause supports a claim only if it carries its amounts, dates, names and negation, and if they belong together there
as in the claim. What is the subject of the sentence before counts for one that refers to it, and the question for the
answer.
"""

import re
from collections.abc import Iterator
from functools import cached_property

from ralph_grounding.similarity.amounts import same_amount
from ralph_grounding.similarity.analysed import Analysed, analysed, spelt_alike
from ralph_grounding.similarity.claim import Claim
from ralph_grounding.similarity.compared import Compared, Place, Ruling
from ralph_grounding.similarity.statement import statement
from ralph_grounding.similarity.thesaurus import synonyms
from ralph_grounding.text.sentences import Span
from ralph_grounding.text.structure import Stated, stated
from ralph_grounding.text.words import is_having, is_negation

__all__ = ["Ruling", "Verdicts"]

_READ = 4
_READ_ALL = 200
_OUTRIGHT = 0.74
_RELATED = 0.34
"""The share of a claim's words that a sentence must have to be read."""
_RETRACTED = re.compile(
    r"\b(?:myth|used to|earlier versions?|was planned|were planned|no longer true|"
    r"instead of|früher|mistaken(?:ly)?|wrongly|incorrectly|it is (?:false|wrong|not true) that)\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\W*(?:that|this|which|das|dies)\s+(?:is|was|are|ist|war)\s+"
    r"(?:wrong|false|incorrect|not true|outdated|falsch)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\W*(?:it|its|each|he|she|his|her|they|their|this|these|that|the|both|er|sie|es|sein|seine|ihr|ihre|der|die|das"
    r"|dieser|diese|dieses|il|elle|son|sa|ses|le|la|él|ella|su|el|esso|suo|sua)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"\W*(?:yes|ja|oui|sí|si|sì|sim)\b\s*(?:[,.!–—-]|$)", re.IGNORECASE)
_NO = re.compile(r"\W*(?:no|nein|non|não)\b\s*(?:[,.!–—-]|$)", re.IGNORECASE)

_UNSURE = Ruling("unsure", 0.0, Span(0, 0))


class Verdicts:
    """A text in which claims are looked for.

    Args:
        text: the text.
        language: an ISO code.
        question: what the text answers; it tells what "it" is, but says nothing itself.
    """

    def __init__(self, text: str, language: str, question: str = "") -> None:
        self._language = language
        self._stated = stated(text)
        self._text = text
        self._asked = analysed(question, language) if question.strip() else None
        self._by_stem: dict[str, list[int]] = {}
        for number, each in enumerate(self._stated):
            for stem in statement(each.text, language).at:
                self._by_stem.setdefault(stem, []).append(number)

    def on(self, claim: Claim) -> Ruling:
        """Return the verdict on a claim: what contradicts it prevails over what says the same in as many words."""
        ours = analysed(claim.text, self._language)
        weights = self._weights(ours, claim)
        if not weights:
            return _UNSURE
        found = [
            ruling for number in self._candidates(ours, weights) for ruling in self._rulings(ours, weights, number)
        ]
        return max(found, key=_order, default=_UNSURE)

    def against(self, claim: Claim) -> list[Ruling]:
        """Return each statement that contradicts a claim outright, also if another one supports it.

        One about another day or another name is about something else.
        """
        ours = analysed(claim.text, self._language)
        weights = self._weights(ours, claim)
        rulings = [
            ruling
            for number in self._candidates(ours, weights, _READ_ALL)
            if not self._is_about_other(ours, number)
            for ruling in self._rulings(ours, weights, number)
        ]
        best = {ruling.span: ruling for ruling in sorted(rulings, key=_order)}
        return [ruling for ruling in best.values() if ruling.outcome == "contradicted" and ruling.share >= _OUTRIGHT]

    def _is_about_other(self, ours: Analysed, number: int) -> bool:
        theirs = analysed(self._stated[number].text, self._language)
        if theirs.dates and not ours.dates:
            return True
        own = {word.stem for place, word in enumerate(theirs.said.words) if place and theirs.said.is_name(place)}
        mine = {word.stem for place, word in enumerate(ours.said.words) if place and ours.said.is_name(place)}
        return bool(mine) and bool(own) and not mine & own

    def _weights(self, ours: Analysed, claim: Claim) -> dict[int, float]:
        words = claim.tokens[: len(ours.said.words)]
        found = {place: word.weight for place, word in enumerate(words) if ours.said.content[place]}
        said = [*(word.word for word in ours.said.words), ""]
        rest = {at: found[at] for at in found if not is_having(said[at], said[at + 1], self._language)}
        return rest if len(rest) > 1 else found

    def is_nowhere(self, claim: Claim, ruling: Ruling) -> bool:
        """Return True if what the best sentence lacks of a claim is nowhere else in the text either."""
        ours = analysed(claim.text, self._language)
        said, lacking = ours.said, set(ruling.lacking)
        if lacking & {"certainty", "bound"}:
            return True
        if "amount" in lacking:
            there = [amount for each in self._all for amount in each.amounts]
            if not all(any(same_amount(one, other) for other in there) for one in ours.amounts):
                return True
        if "date" in lacking:
            dated = [date for each in self._all for date in each.dates]
            if not all(any(date.agrees(other) and date.comparable(other) for other in dated) for date in ours.dates):
                return True
        return "name" in lacking and any(
            said.is_name(place) and word.stem not in self._by_stem and not self._has_alike(word.stem)
            for place, word in enumerate(said.words)
            if place and place not in ours.measured
        )

    @cached_property
    def _all(self) -> list[Analysed]:
        return [analysed(each.text, self._language) for each in self._stated]

    def _has_alike(self, stem: str) -> bool:
        return any(spelt_alike(stem, other) for other in self._by_stem) or any(
            other in self._by_stem for other in synonyms(stem, self._language)
        )

    def _candidates(self, ours: Analysed, weights: dict[int, float], most: int = _READ) -> list[int]:
        worth: dict[int, float] = {}
        for place, weight in weights.items():
            stem = ours.said.words[place].stem
            having = {
                number for root in {stem, *synonyms(stem, self._language)} for number in self._by_stem.get(root, ())
            }
            for number in having:
                worth[number] = worth.get(number, 0.0) + weight
        if self._asked or len(self._stated) <= _READ:
            for number in range(min(len(self._stated), 2 if self._asked else _READ)):
                worth.setdefault(number, 0.0)
        for number in list(worth):
            if self._stated[number].text.rstrip().endswith(("?", "？")) and number + 1 < len(self._stated):
                worth[number + 1] = max(worth.get(number + 1, 0.0), worth.pop(number))
        least = _RELATED * sum(weights.values()) if len(self._stated) > _READ else 0.0
        worth = {number: value for number, value in worth.items() if value >= least or (self._asked and number < 2)}
        return sorted(worth, key=lambda number: (-worth[number], number))[:most]

    def _rulings(self, ours: Analysed, weights: dict[int, float], number: int) -> Iterator[Ruling]:
        each = self._stated[number]
        theirs = analysed(each.text, self._language)
        context = self._context(number)
        asked = self._question(number)
        if asked is not None and (answered := self._answered(ours, each, asked)):
            yield answered
            return
        retracted = self._retracted(number)
        for clause in theirs.clauses:
            place = Place(theirs, clause, each, context, asked, self._text)
            yield Compared(ours, weights, place).ruling(retracted=retracted)

    def _question(self, number: int) -> Analysed | None:
        """Return what a statement answers: a question before it in the text, or that of the whole text."""
        if number and self._stated[number - 1].text.rstrip().endswith(("?", "？")):
            return analysed(self._stated[number - 1].text, self._language)
        return self._asked

    def _context(self, number: int) -> frozenset[str]:
        """Return the stems of the subject that a sentence takes over from the one before."""
        each = self._stated[number]
        if not number or each.cell or not _REFERS.match(each.text):
            return frozenset()
        stems: set[str] = set()
        for before in range(number - 1, max(number - 4, -1), -1):
            said = analysed(self._stated[before].text, self._language).said
            opening = next((place for place in range(len(said.words)) if said.content[place]), -1)
            stems.update(word.stem for place, word in enumerate(said.words) if said.is_name(place) or place == opening)
            if not _REFERS.match(self._stated[before].text) or any(map(said.is_name, range(1, len(said.words)))):
                break
        return frozenset(stems)

    def _retracted(self, number: int) -> bool:
        if _RETRACTED.search(self._stated[number].text):
            return True
        return number + 1 < len(self._stated) and bool(_TAKEN_BACK.match(self._stated[number + 1].text))

    def _answered(self, ours: Analysed, each: Stated, theirs: Analysed) -> Ruling | None:
        """Return the verdict of a "yes" or "no" to a question that asks for the claim."""
        if not ((yes := _YES.match(each.text)) or _NO.match(each.text)):
            return None
        wanted = [word.stem for place, word in enumerate(ours.said.words) if ours.said.content[place]]
        answer = analysed(each.text, self._language)
        said = set(theirs.said.at)
        if not all(any(same_amount(one, other) for other in theirs.amounts) for one in ours.amounts):
            return None  # the answer names an amount of its own: "No, it costs €3,450."
        if not yes and any(stem not in said and stem in answer.said.at for stem in wanted):
            return None
        said |= answer.said.at.keys()
        known = sum(stem in said or any(o in said for o in synonyms(stem, self._language)) for stem in wanted)
        if known < 0.8 * len(wanted):
            return None
        denied = any(is_negation(word.word, self._language) for word in ours.said.words)
        if bool(yes) != denied:
            return Ruling("present", 1.0, each.span)
        place = Place(theirs, theirs.clauses[0], each, frozenset(), None, self._text)
        return Ruling("contradicted", 1.0, each.span, (place.conflict("negation", ours.said.text),))


_RANK = {"contradicted": 3, "present": 2, "lacking": 1, "unsure": 0}


def _order(ruling: Ruling) -> tuple[bool, float, float, int]:
    decided = ruling.outcome in {"contradicted", "present"}
    return decided, round(ruling.share, 3), round(ruling.own, 3), _RANK[ruling.outcome]

"""Claims of completion that are more than one word: who says that what is finished.

| claim | such as | counts |
|---|---|---|
| of the whole | "All acceptance criteria are met", "Everything is in place", 所有任务已完成 | very high |
| that nothing is left | "Zero unchecked items", "Nothing left to do" | very high |
| of an achievement that has the task's name, or is called the task, the feature, the issue … | "I've successfully \
implemented US-012", "Issue #7 has been fixed" | very high where it is said to be a success, else high |
| of another achievement, at the beginning or the end of the reply | "Implemented the parser." | high |
| of a title | "## Story 15.1 Implementation Complete" | high |

All are subject to the same objections as keywords. The name of a claim is that of its predicate, so that one word that
is both a keyword and the predicate of a claim is one signal.
"""

from collections.abc import Iterable, Iterator, Sequence

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import IDENTIFIER
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["detect_claims"]

_LOOKED_AT = 40
"""Words of one role that are looked at, from the beginning and as many from the end."""
_LEAD, _CLOSE = 600, 400
"""Characters of a reply that are its beginning, and its end."""
_ITEM = pattern(r"\s{0,8}(?:[-*+•]\s|\d{1,3}[.)]\s|\|)")
_OPENING = pattern(r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also)\b)*$")
_TITLE_END = pattern(r"[\s*_!.✅✓🎉☑️)-]*(?:successfully)?[\s*_!.✅✓🎉☑️)-]*$")


def detect_claims(reply: Reply) -> Iterable[Signal]:
    """Every claim that nothing speaks against."""
    return _Claims(reply).found()


class _Claims:
    def __init__(self, reply: Reply) -> None:
        self.reply, self.scope = reply, reply.scope
        self.prose = reply.reading.prose
        self.objections = Objections(reply)
        self.counted = {signal.start for signal in reply.signals.of("completion_keyword")}
        self.begin = announced(reply)
        first = len(self.prose) - len(self.prose[self.begin :].lstrip())
        self.edges = first + _LEAD, len(self.prose.rstrip()) - _CLOSE

    def found(self) -> Iterator[Signal]:
        claims = [
            *self._of_the_whole(),
            *self._of_nothing_left(),
            *self._of_achievements(),
            *self._of_titles(),
        ]
        yield from claims or self._of_parts()

    def _of_the_whole(self) -> Iterator[Signal]:
        told: set[str] = set()
        for predicate in self._predicates():
            if predicate.name in told or not (claim := self._whole(predicate)):
                continue
            if not self._objection(claim, predicate):
                told.add(predicate.name)
                yield _claim(claim, VERY_HIGH, "It is said of the whole.")

    def _whole(self, predicate: Hit) -> Hit | None:
        """The claim that "all" makes of a predicate before or behind it, if it is of what makes a task."""
        scope = self.scope
        if everything := scope.before("everything", predicate, 4):
            return _joined(everything, predicate) if not self._is_keyword(predicate) else None
        if quantity := scope.before("all", predicate, 9):
            between = scope.within("goal", (quantity.end, predicate.start)) or scope.before("goal", quantity, 3)
            return _joined(quantity, predicate) if between else None
        quantity = scope.after("all", predicate, 1)
        goal = scope.after("goal", quantity, 5) if quantity else None
        return Hit(predicate.name, predicate.start, goal.end) if goal else None

    def _objection(self, claim: Hit, predicate: Hit) -> bool:
        scope = self.scope
        inside = (claim.start, predicate.start)
        turned = scope.within("negation", inside) or scope.within("proviso", inside)
        turned = turned or scope.before("future", predicate, 3)
        return turned or scope.reading.in_heading(claim.start) or bool(self.objections.to(claim))

    def _of_nothing_left(self) -> Iterator[Signal]:
        for hit in self._bounded(self.scope.of("needless")):
            if not self._objected(hit):
                yield _claim(hit, HIGH, "Nothing is said to be needed.")
                break
        for hit in self._bounded(self.scope.of("nothing left")):
            if not (self.scope.reading.in_heading(hit.start) or self.objections.to(hit)):
                yield _claim(Hit("nothing left", hit.start, hit.end), VERY_HIGH, "Nothing is said to be left.")

    def _of_achievements(self) -> Iterator[Signal]:
        for predicate in self._achievements():
            if self._objected(predicate):
                continue
            sentence = self.objections.sentence(predicate)
            strong = self._is_of_the_task(predicate, sentence)
            outright = self._is_outright(predicate) and not self.scope.within("yours", sentence)
            if strong or self._is_at_an_edge(predicate):
                weight = VERY_HIGH if strong and outright else HIGH
                yield _claim(predicate, weight, "It is told as achieved.")

    def _achievements(self) -> Iterator[Hit]:
        """Predicates that an agent says of itself, or that are said to have been done; in a list those of the task."""
        words = [*self.scope.of("achieve"), *self._keywords()]
        if self.objections.task.given:
            words += self.scope.of("work")
        words += [hit for hit in self.scope.of("closed") if self.scope.before("passive", hit, 1)]
        for hit in self._bounded(sorted(words, key=lambda hit: hit.start)):
            if self._is_told(hit) and (not self._in_list(hit) or self._names_task(hit)):
                yield hit

    def _is_told(self, hit: Hit) -> bool:
        """ "I've implemented …", "… has been fixed", "Implemented …", "Bug fixed"; not "the implemented parser"."""
        scope = self.scope
        if scope.before("agent", hit, 2) or scope.before("passive", hit, 1):
            return True
        if self._is_keyword(hit):
            return bool(self._success_beside(hit))
        begin, _ = self.objections.sentence(hit)
        if (subject := scope.before("goal", hit, 1)) and _within_words(self.prose[begin : subject.start], 2):
            return True
        return _OPENING.match(self.prose, begin, hit.start) is not None and self.prose[hit.end : hit.end + 1] != ":"

    def _is_outright(self, hit: Hit) -> bool:
        return bool(self._success_beside(hit) or self.scope.before("agent", hit, 2))

    def _success_beside(self, hit: Hit) -> Hit | None:
        scope = self.scope
        inside = next(iter(scope.within("outright", (hit.start, hit.end))), None)
        return inside or scope.before("outright", hit, 1) or scope.after("outright", hit, 0)

    def _objected(self, hit: Hit) -> bool:
        if self._is_keyword(hit):
            return hit.start not in self.counted
        return self.scope.reading.in_heading(hit.start) or bool(self.objections.to_word(hit))

    def _is_of_the_task(self, hit: Hit, sentence: Span) -> bool:
        """Whether a sentence is about the task: by its name, by a name like that of a task, or by what it is called."""
        if self._names_task(hit):
            return True
        near = self.prose[max(sentence[0], hit.start - 80) : min(sentence[1], hit.end + 80)]
        if self.scope.before("goal", hit, 8) or self.scope.after("goal", hit, 8):
            return True
        return IDENTIFIER.search(near) is not None

    def _names_task(self, hit: Hit) -> bool:
        task = self.objections.task
        return task.given and task.is_named(self.prose[slice(*self.objections.sentence(hit))])

    def _is_at_an_edge(self, hit: Hit) -> bool:
        return hit.start < self.edges[0] or hit.end > self.edges[1]

    def _of_titles(self) -> Iterator[Signal]:
        """The first headings, where they end in a keyword behind what they are about."""
        for begin, end in self.scope.reading.headings[:3]:
            if begin < self.begin:
                continue
            for hit in self.scope.within("keyword", (begin, end)):
                about = self.scope.within("goal", (begin, hit.start)) or IDENTIFIER.search(self.prose, begin, hit.start)
                if about and _TITLE_END.match(self.prose, hit.end, end) and not self.objections.to(hit):
                    yield _claim(hit, HIGH, "The title says so.")

    def _of_parts(self) -> Iterator[Signal]:
        """What contradicts passing tests where nothing but a part is said to be complete."""
        known, counted = self.reply.words.keywords, self.reply.signals.of("completion_keyword")
        if self.objections.task.given or not counted or any(known[signal.name.lower()].points for signal in counted):
            return
        for hit in self._bounded(self._keywords()):
            if self.objections.is_partial(hit):
                yield Signal("part_claim", hit.name, hit.start, hit.end, AGAINST, "Only a part is said to be complete.")
                return

    def _predicates(self) -> Sequence[Hit]:
        return self._bounded(sorted((*self._keywords(), *self.scope.of("closed")), key=lambda hit: hit.start))

    def _keywords(self) -> list[Hit]:
        known = self.reply.words.keywords
        return [hit for hit in self.scope.of("keyword") if known[hit.name].group == "done"]

    def _is_keyword(self, hit: Hit) -> bool:
        keyword = self.reply.words.keywords.get(hit.name)
        return keyword is not None and keyword.group == "done"

    def _in_list(self, hit: Hit) -> bool:
        line = self.prose.rfind("\n", max(0, hit.start - 300), hit.start) + 1
        return _ITEM.match(self.prose, line) is not None

    def _bounded(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        hits = [hit for hit in hits if hit.start >= self.begin]
        return hits if len(hits) <= 2 * _LOOKED_AT else (*hits[:_LOOKED_AT], *hits[-_LOOKED_AT:])


def _claim(hit: Hit, weight: int, why: str) -> Signal:
    return Signal("completion_claim", hit.name, hit.start, hit.end, weight, why, "done")


def _within_words(text: str, most: int) -> bool:
    """Whether a text has at most so many words."""
    return len(text.split(maxsplit=most)) <= most


def _joined(first: Hit, last: Hit) -> Hit:
    return Hit(last.name, first.start, last.end)

"""Achievements: that something was implemented, fixed, migrated, outside of lists.

| achievement | such as | counts |
|---|---|---|
| of what has the task's name, or is called a task, a feature, an issue … | "I've successfully built SHOP-31", \
"Issue #7 has been fixed" | very high where it is called a success or the agent says it of itself, else high |
| of anything else, at the beginning or the end of the reply | "Implemented the parser." | high |

They are subject to the same objections as keywords. What is called the person's own ("your booking") is told to a
customer: it counts as high at most, and only where the agent says it of itself.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property

from ralph.analysis.detectors.assignment import IDENTIFIER
from ralph.analysis.detectors.claims import bounded, claim
from ralph.analysis.detectors.lines import in_list
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["detect_achievements"]

_LEAD, _CLOSE = 600, 400
"""Characters of a reply that are its beginning, and its end."""
_NEAR = 80
_ACHIEVED: frozenset[Role] = frozenset({"achieve"})
_FINISHED: frozenset[Role] = frozenset({"finished"})
_TELLING: frozenset[Role] = frozenset({"agent", "passive", "outright"})
_CLOSED: frozenset[Role] = frozenset({"closed"})
_PASSIVE: frozenset[Role] = frozenset({"passive"})
_CHANGED: frozenset[Role] = frozenset({"changed"})
_OUTRIGHT: frozenset[Role] = frozenset({"outright"})
"""Words of achievements: some are one by themselves, some only where a word of another kind stands beside them."""
_OPENING = pattern(r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also|this|that|it)\b)*$")


def detect_achievements(reply: Reply) -> Iterable[Signal]:
    """Every achievement that nothing speaks against; none where a claim is enough by itself."""
    if not _may_tell(reply) or any(signal.weight >= VERY_HIGH for signal in reply.signals.of("completion_claim")):
        return ()
    told = _Told(reply)
    return [
        claim(hit, weight, "It is told as achieved.") for hit in told.achievements() if (weight := told.weight(hit))
    ]


def _may_tell(reply: Reply) -> bool:
    """Whether it has the words of an achievement."""
    has = reply.scope.has
    if has(_ACHIEVED) or (has(_FINISHED) and has(_TELLING)):
        return True
    if (has(_CLOSED) and has(_PASSIVE)) or (has(_CHANGED) and has(_OUTRIGHT)):
        return True
    return bool(reply.scope.of("work")) and Objections.of(reply).task.given


class _Told:
    """What a reply tells."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = Objections.of(reply)
        self._keywords = frozenset(self._scope.of("finished"))
        self._counted = {signal.start for signal in reply.signals.of("completion_keyword")}

    @cached_property
    def _edges(self) -> Span:
        """Where the beginning ends, and where the end begins."""
        first = len(self._prose) - len(self._prose[self._objections.since :].lstrip())
        return first + _LEAD, len(self._prose.rstrip()) - _CLOSE

    def achievements(self) -> Iterator[Hit]:
        """Words that the agent says of itself, or that are said to have been done; in a list only those of the task."""
        scope = self._scope
        words = [*(scope.of("finished") if scope.has(_TELLING) else ()), *scope.of("achieve")]
        if scope.has(_PASSIVE):
            words += [hit for hit in scope.of("closed") if scope.before("passive", hit, 1)]
        if scope.has(_OUTRIGHT):
            words += [hit for hit in scope.of("changed") if self._is_own_success(hit)]
        if self._objections.task.given:
            words += scope.of("work")
        for hit in bounded(self._reply, {hit.start: hit for hit in words}.values()):
            if self._is_told(hit) and (not in_list(self._prose, hit.start) or self._names_task(hit)):
                yield hit

    def weight(self, hit: Hit) -> int:
        """How much an achievement counts; 0 where it does not."""
        if self._is_objected(hit):
            return 0
        own = bool(self._scope.before("agent", hit, 2))
        if self._scope.within("yours", self._objections.sentence(hit)):
            return HIGH if own else 0
        if self._names_task(hit) and hit.start < self._edges[0]:
            return VERY_HIGH
        if self._is_of_the_task(hit):
            return VERY_HIGH if own or self._is_success(hit) else HIGH
        return HIGH if hit.start < self._edges[0] or hit.end > self._edges[1] else 0

    def _is_told(self, hit: Hit) -> bool:
        """ "I've implemented …", "… has been fixed", "Implemented …", "Bug fixed"; not "the implemented parser"."""
        scope = self._scope
        if scope.before("agent", hit, 2) or scope.before("passive", hit, 1):
            return True
        if hit in self._keywords:
            return scope.has(_OUTRIGHT) and self._is_success(hit)
        begin, _ = self._objections.sentence(hit)
        if subject := scope.before("goal", hit, 1):
            return len(self._prose[begin : subject.start].split()) <= 2
        return _OPENING.match(self._prose, begin, hit.start) is not None and self._prose[hit.end : hit.end + 1] != ":"

    def _is_success(self, hit: Hit) -> bool:
        scope = self._scope
        inside = scope.within("outright", (hit.start, hit.end))
        return bool(inside or scope.before("outright", hit, 1) or scope.after("outright", hit, 0))

    def _is_own_success(self, hit: Hit) -> bool:
        """ "I've successfully added"; not "was successfully added"."""
        success = self._scope.before("outright", hit, 0)
        return success is not None and self._scope.before("agent", success, 0) is not None

    def _is_objected(self, hit: Hit) -> bool:
        if hit in self._keywords:
            return hit.start not in self._counted
        if self._scope.after("negation", hit, 0):
            return True  # "I have changed nothing"
        return self._scope.reading.in_heading(hit.start) or bool(self._objections.to(hit))

    def _is_of_the_task(self, hit: Hit) -> bool:
        """Whether it is about a task: by its name, by a name as tasks have it, or by what it is called."""
        if self._scope.before("goal", hit, 8) or self._scope.after("goal", hit, 8) or self._names_task(hit):
            return True
        begin, end = self._objections.sentence(hit)
        return IDENTIFIER.search(self._prose, max(begin, hit.start - _NEAR), min(end, hit.end + _NEAR)) is not None

    def _names_task(self, hit: Hit) -> bool:
        task = self._objections.task
        return task.given and task.is_named(self._reply.reading.lower[slice(*self._objections.sentence(hit))])

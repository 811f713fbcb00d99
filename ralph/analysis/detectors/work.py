"""Words that tell of work: done, going on, to come."""

from collections.abc import Iterable

from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.vocabulary import Hit

__all__ = ["detect_work"]

_LOOKED_AT, _TOLD = 50, 3
"""Words of one role that are looked at, and that are told of."""
_OF_WORK: frozenset[Role] = frozenset({"work", "ongoing", "more"})


def detect_work(reply: Reply) -> Iterable[Signal]:
    """The first words of each kind; of work that is done, those that are neither negated nor still to come."""
    scope = reply.scope
    if not scope.has(_OF_WORK):
        return ()
    ongoing, more = scope.of("ongoing")[:_TOLD], scope.of("more")[:_TOLD]
    return [
        *(Signal.at(hit, "work", 0, "Tells of work.", state="progress") for hit in _done(scope)),
        *(Signal.at(hit, "ongoing", 0, "Speaks of work at hand.", state="progress") for hit in ongoing),
        *(Signal.at(hit, "more_to_come", 0, "Tells of work to come.", state="progress") for hit in more),
    ]


def _done(scope: Scope) -> list[Hit]:
    found: list[Hit] = []
    for hit in scope.of("work")[:_LOOKED_AT]:
        if not (scope.before("negation", hit, 3) or scope.before("future", hit, 4)):
            found.append(hit)
            if len(found) == _TOLD:
                break
    return found

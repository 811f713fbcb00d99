"""Words that tell of work: done, going on, to come."""

from collections.abc import Iterable
from itertools import islice

from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.vocabulary import Hit

__all__ = ["detect_work"]

_LOOKED_AT, _TOLD = 50, 3
"""Words of one role that are looked at, and that are told of."""


def detect_work(reply: Reply) -> Iterable[Signal]:
    """The first words of each kind; of work that is done, those that are neither negated nor still to come."""
    scope = reply.scope
    done = (hit for hit in scope.of("work")[:_LOOKED_AT] if _is_done(scope, hit))
    for hit in islice(done, _TOLD):
        yield Signal.at(hit, "work", 0, "Tells of work.", state="progress")
    for hit in scope.of("ongoing")[:_TOLD]:
        yield Signal.at(hit, "ongoing", 0, "Speaks of work at hand.", state="progress")
    for hit in scope.of("more")[:_TOLD]:
        yield Signal.at(hit, "more_to_come", 0, "Tells of work to come.", state="progress")


def _is_done(scope: Scope, hit: Hit) -> bool:
    return not (scope.negated(hit) or scope.before("future", hit, 4))

"""Sentences that say that the agent cannot go on without a person."""

from collections.abc import Iterable

from ralph.analysis.signals import Reply, Signal

__all__ = ["detect_blocks"]

_LOOKED_AT = 50


def detect_blocks(reply: Reply) -> Iterable[Signal]:
    """The first word that says so, and is neither negated nor a condition."""
    scope = reply.scope
    for hit in scope.of("blocked")[-_LOOKED_AT:]:
        if not scope.negated(hit, 3) and not scope.before("future", hit, 4):
            yield Signal.at(hit, "blocked", -40, "Says that only a person can go on.", state="blocked")
            return

"""Words by which an agent says that it did nothing: that there was nothing to do, that it changed nothing, or that it
only watches what still runs.
"""

from collections.abc import Iterable

from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.vocabulary import Hit

__all__ = ["detect_idleness"]

_LOOKED_AT = 20
_OF_IDLENESS: frozenset[Role] = frozenset({"idle", "change", "watching"})


def detect_idleness(reply: Reply) -> Iterable[Signal]:
    """The first of each kind or name: `idle` is "nothing to do", or "already" beside a word of completion; `unchanged`
    a word of change that is negated, such as "did not modify"; `watching` is "still running".
    """
    if reply.scope.has(_OF_IDLENESS) or reply.signals.first("completion_keyword"):
        return _told(reply)
    return ()


def _told(reply: Reply) -> Iterable[Signal]:
    scope = reply.scope
    yield from _idle(reply)
    for hit in scope.of("change")[:_LOOKED_AT]:
        if scope.negated(hit) and not scope.before("condition", hit, 4):
            yield Signal.at(hit, "unchanged", 0, "Says that nothing was changed.")
            break
    for hit in scope.of("watching")[:_LOOKED_AT]:
        if not scope.negated(hit, 1) and not scope.before("future", hit, 4):
            yield Signal.at(hit, "watching", 0, "Says that something still runs.")
            break


def _idle(reply: Reply) -> Iterable[Signal]:
    """The first word of each name; else a keyword that says that no work is left."""
    if idle := reply.scope.of("idle"):
        first = {hit.name: hit for hit in reversed(idle[:_LOOKED_AT]) if _counts(reply.scope, hit)}
        for hit in first.values():
            yield Signal.at(hit, "idle", 0, "Says that there was nothing to do.")
        if first:
            return
    for signal in reply.signals.of("completion_keyword"):
        keyword = reply.words.keywords.get(signal.name)
        if keyword and keyword.group == "no_more_work":
            yield signal._replace(kind="idle", weight=0, why="Says that there was nothing to do.", state=None)
            return


def _counts(scope: Scope, hit: Hit) -> bool:
    """ "Already" is idle talk only where it stands before a word of completion."""
    if scope.negated(hit, 1) or scope.before("future", hit, 4) or scope.before("condition", hit, 4):
        return False
    return hit.name != "already" or scope.after("keyword", hit, 2) is not None

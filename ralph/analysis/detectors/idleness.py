"""Words by which an agent says that it found nothing to do, as against what it did."""

from collections.abc import Iterable

from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.vocabulary import Hit

__all__ = ["detect_idleness"]

_LOOKED_AT = 20


def detect_idleness(reply: Reply) -> Iterable[Signal]:
    """The first such word: "nothing to do", or "already" beside a word of completion."""
    scope = reply.scope
    for hit in scope.of("idle")[:_LOOKED_AT]:
        if _counts(scope, hit):
            yield Signal.at(hit, "idle", 0, "Says that there was nothing to do.")
            return
    for signal in reply.signals.of("completion_keyword"):
        if signal.name == "no more work":
            yield signal._replace(kind="idle", weight=0, why="Says that there was nothing to do.", state=None)
            return


def _counts(scope: Scope, hit: Hit) -> bool:
    """ "Already" is idle talk only where it stands before a word of completion."""
    if scope.negated(hit, 1) or scope.before("future", hit, 4) or scope.before("condition", hit, 4):
        return False
    return hit.name != "already" or scope.after("keyword", hit, 2) is not None

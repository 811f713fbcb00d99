"""Whether an iteration moved nothing, in the reply's own words. The first that applies:

| standstill | the reply |
|---|---|
| done | reports the whole as done, and says that it was before, or that nothing was or is to be done |
| unchanged | tells of no work, and says that it changed nothing or found nothing to do |
| watching | tells of no work, and says that something still runs |
| tests | is short, tells of no work, and of tests that pass |

By itself none of them is bad; one after another they are a loop that stands still. A status block that counts changes
outweighs them all.
"""

from ralph.analysis.result import Standstill, State
from ralph.analysis.signals import Reply
from ralph.status import StatusReport

__all__ = ["standstill"]

_SHORT = 400
"""Characters up to which a reply can be a report of tests and nothing else."""
_NEEDLESS = frozenset({"nothing left", "needless"})
_EARLIER = frozenset({"already", "in an earlier run"})
"""Words that say so of the whole only: parts are done already in every productive loop."""


def standstill(reply: Reply, state: State, *, reported: bool | None) -> Standstill:
    """How a reply stands still; empty where it does not say so.

    Args:
        reported: whether the status block counts any changes; None where it counts none.
    """
    if reported or state in {"blocked", "question", "limited", "error"}:
        return ""
    if state == "done" and _was_done(reply, reported=reported):
        return "done"
    return "" if _tells_of_work(reply) else _inactive(reply)


def _was_done(reply: Reply, *, reported: bool | None) -> bool:
    signals = reply.signals
    explicit = isinstance(reply.status, StatusReport) and reply.status.exit_signal is True
    if explicit or reported is False or signals.first("idle") or signals.first("unchanged"):
        return True
    return any(claim.name in _NEEDLESS for claim in signals.of("completion_claim")) and not _tells_of_work(reply)


def _tells_of_work(reply: Reply) -> bool:
    return reply.signals.first("work") is not None


def _inactive(reply: Reply) -> Standstill:
    signals = reply.signals
    if signals.first("unchanged") or any(idle.name not in _EARLIER for idle in signals.of("idle")):
        return "unchanged"
    if signals.first("watching"):
        return "watching"
    tests = signals.first("tests_passed") and not signals.first("announcement")
    return "tests" if tests and len(reply.output.text) <= _SHORT else ""

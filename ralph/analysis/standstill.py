"""Whether an iteration moved nothing, in the reply's own words. The first that applies:

| standstill | the reply |
|---|---|
| done | reports the whole as done, and says that it was before, or that nothing was or is to be done |
| unchanged | tells of no work, and says that it changed nothing or found nothing to do |
| watching | tells of no work, and says that something still runs |
| tests | tells of tests that pass, in each of its few clauses |

By itself none of them is bad; one after another they are a loop that stands still. A status block that counts changes
outweighs them all.
"""

from ralph.analysis.result import Standstill, State
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply
from ralph.analysis.text import Span
from ralph.status import StatusReport
from ralph.system.text import pattern

__all__ = ["standstill"]

_SHORT = 400
"""Characters up to which a reply can be a report of tests and nothing else."""
_CLAUSE = pattern(r"[^.;,:!?()\n—–、，。；：（）]*[^\W\d_][^.;,:!?()\n—–、，。；：（）]*")
_NUMBER = pattern(r"\d")
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
    return "tests" if signals.first("tests_passed") and _only_of_tests(reply) else ""


def _only_of_tests(reply: Reply) -> bool:
    """Whether every clause of a short reply has a word of tests."""
    prose, scope = reply.reading.prose, reply.scope
    if len(prose) > _SHORT:
        return False
    return all(_is_of_tests(scope, clause.span()) for clause in _CLAUSE.finditer(prose))


def _is_of_tests(scope: Scope, clause: Span) -> bool:
    """Whether a clause names a check, or has a verdict with a number; "the export works" has neither."""
    if scope.within("check", clause):
        return True
    judged = any(scope.within(role, clause) for role in ("passes", "failing", "verified"))
    return judged and _NUMBER.search(scope.reading.prose, *clause) is not None

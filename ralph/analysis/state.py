"""What a reply amounts to, as one word; decided on the strongest sign there is."""

from typing import NamedTuple

from ralph.analysis.result import Completion, State
from ralph.analysis.signals import Reply, Signal
from ralph.output import Completed, Outcome
from ralph.status import StatusReport

__all__ = ["Standing", "standing"]

_AROUND = 400
"""Characters of a sentence that are shown on either side of the word that decided."""


class Standing(NamedTuple):
    """The state, and the question asked of a person, where there is one."""

    state: State
    question: str = ""


def standing(reply: Reply, completion: Completion, *, worked: bool = False) -> Standing:
    """The state of a reply: the executor's failure first, then the status block, then the words.

    Args:
        worked: tools were used, files changed, or work is told.
    """
    outcome, status, signals = reply.output.outcome, reply.status, reply.signals
    if not isinstance(outcome, Completed) and (failed := _failed(outcome, reply)):
        return Standing(failed)
    question, blocked = _said(reply, signals.first("question")), _sentence(reply, signals.first("blocked"))
    if signals.first("status_blocked"):
        reason = status.reason if isinstance(status, StatusReport) else ""
        return Standing("blocked", question or blocked or reason or "")
    explicit = status.exit_signal if isinstance(status, StatusReport) else None
    if explicit:
        return Standing("done")
    if question:
        return Standing("question", question)
    if completion.detected and explicit is None and not _open_items(reply):
        return Standing("done")
    if blocked:
        return Standing("blocked", blocked)
    return Standing(_plain(reply, worked=worked or explicit is False))


def _failed(outcome: Outcome, reply: Reply) -> State | None:
    if outcome.kind == "failed":
        return "limited" if outcome.failure == "rate_limited" else "error"
    return None if reply.reading.text.strip() else "error"


def _said(reply: Reply, signal: Signal | None) -> str:
    return reply.reading.text[signal.start : signal.end].strip() if signal else ""


def _sentence(reply: Reply, signal: Signal | None) -> str:
    """The sentence around a signal."""
    if signal is None:
        return ""
    begin, end = reply.reading.sentence(signal.start)
    return reply.reading.text[max(begin, signal.start - _AROUND) : min(end, signal.end + _AROUND)].strip()


def _open_items(reply: Reply) -> bool:
    """Boxes that are not ticked in the plan, or else in the reply's own checklist."""
    plan = reply.context.plan
    return bool(plan.open) if plan is not None else reply.signals.first("open_boxes") is not None


def _plain(reply: Reply, *, worked: bool) -> State:
    signals = reply.signals
    if not reply.reading.prose.strip():
        return "progress" if worked else "unknown"
    if signals.first("only_error"):
        return "error"
    told = signals.of("work", "more_to_come", "completion_keyword", "discounted_keyword", "reply_boxes")
    return "progress" if worked or told else "unknown"

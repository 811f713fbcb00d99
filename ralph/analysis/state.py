"""What a reply amounts to, as one word; decided on the strongest sign there is."""

from typing import NamedTuple

from ralph.analysis.result import Completion, State
from ralph.analysis.scope import Scope
from ralph.analysis.text import Reading, Span
from ralph.output import Completed, Outcome
from ralph.status import Status, StatusReport

__all__ = ["Standing", "standing"]

_SHORT = 400
"""Characters up to which a reply that opens with an error is nothing but that error."""
_TAIL = 400
_ASKS = "?？"
_LOOKED_AT = 50


class Standing(NamedTuple):
    """The state, and the question asked of a person, where there is one."""

    state: State
    question: str = ""


def standing(
    scope: Scope, status: Status, outcome: Outcome, completion: Completion, *, open_items: int = 0, worked: bool = False
) -> Standing:
    """The state of a reply: the executor's failure first, then the status block, then the words.

    Args:
        open_items: boxes not ticked in the plan, or else in the reply's own checklist.
        worked: tools were used, files changed, or work is told.
    """
    if not isinstance(outcome, Completed) and (failed := _failed(outcome, scope)):
        return Standing(failed)
    question = _question(scope, completion)
    if isinstance(status, StatusReport):
        if status.status and status.status.strip().upper().startswith("BLOCKED"):
            return Standing("blocked", question or _blocked(scope) or status.reason or "")
        if status.exit_signal:
            return Standing("done")
    vetoed = isinstance(status, StatusReport) and status.exit_signal is False
    if question:
        return Standing("question", question)
    if completion.detected and not vetoed and not open_items:
        return Standing("done")
    if blocked := _blocked(scope):
        return Standing("blocked", blocked)
    return Standing(_plain(scope, worked=worked or vetoed))


def _failed(outcome: Outcome, scope: Scope) -> State | None:
    if outcome.kind == "failed":
        return "limited" if outcome.failure == "rate_limited" else "error"
    return None if scope.reading.text.strip() else "error"


def _question(scope: Scope, completion: Completion) -> str:
    """The question that the reply ends with, if it asks a person; an offer after finished work is none.

    A plea for the answer may stand behind it ("Please let me know."), or alone ("Please confirm that I may …").
    """
    reading = scope.reading
    end = _end(reading, len(reading.prose))
    begin = _begin(reading, end)
    if end and reading.prose[end - 1] not in _ASKS and scope.within("plea", (begin, end)):
        before = _end(reading, begin)
        if before and reading.prose[before - 1] in _ASKS:
            begin = _begin(reading, before)
        elif not scope.within("pleading", (begin, end)) or completion.detected:
            return ""
    elif not end or reading.prose[end - 1] not in _ASKS or not _to_person(scope, (begin, end)):
        return ""
    if scope.within("offer", (begin, end)) and completion.detected:
        return ""
    return reading.text[begin:end].strip()


def _to_person(scope: Scope, span: Span) -> bool:
    return bool(scope.within("person", span) or scope.within("offer", span))


def _end(reading: Reading, before: int) -> int:
    """Where the last word or mark before a position ends."""
    return len(reading.prose[max(0, before - _TAIL) : before].rstrip(" \t\n*_)")) + max(0, before - _TAIL)


def _begin(reading: Reading, end: int) -> int:
    """Where the sentence that ends there begins, at most so far back."""
    return max(reading.sentence(end - 1)[0], end - _TAIL) if end else 0


def _blocked(scope: Scope) -> str:
    """The sentence that says that the agent cannot go on."""
    for hit in scope.of("blocked")[-_LOOKED_AT:]:
        if not scope.negated(hit, 3) and not scope.before("future", hit, 4):
            begin, end = scope.reading.sentence(hit.start)
            return scope.reading.text[max(begin, hit.start - _TAIL) : min(end, hit.end + _TAIL)].strip()
    return ""


def _plain(scope: Scope, *, worked: bool) -> State:
    prose = scope.reading.prose.strip()
    if not prose:
        return "progress" if worked else "unknown"
    if _only_error(scope.reading):
        return "error"
    return "progress" if worked or scope.of("work") or scope.of("keyword") or scope.of("more") else "unknown"


def _only_error(reading: Reading) -> bool:
    text = reading.prose.strip()
    opening = text.startswith(("error:", "api error", "error ", "fatal:", "traceback (most recent"))
    return opening and len(text) <= _SHORT

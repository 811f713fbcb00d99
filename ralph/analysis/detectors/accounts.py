"""Accounts of finished work that use no word of completion: what was changed, or is so now, and how it was proven.

| account | such as | counts |
|---|---|---|
| of the task | it tells of work on what the task's title names, and a check passes; or its first sentence does both | \
very high |
| of a mended fault | "Root cause: … Fix: … The suite passes" | high |
| of a change | "Added `--json`. Tests: `pytest -q` → 221 passed" | high |

Without a task an account is none where anything in it smells of a share: a loop, a phase, a plan, what is left. It is not
looked at where something is claimed, for it would add nothing, nor where something contradicts.
"""

from collections.abc import Iterable

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["detect_accounts"]

_SHORT, _LONG = 40, 20_000
"""Characters of a reply that can be an account."""
_LEAD = 700
"""Characters of a reply in which it says what it is about."""
_LOOKED_AT = 12
"""Words of one role that are looked at."""
_SHARES: tuple[Role, ...] = ("part", "pieced", "following", "begin")
_OPENING = pattern(r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also|i've|i have|we've|we have)\b)*\Z")


def detect_accounts(reply: Reply) -> Iterable[Signal]:
    """The account that the reply is, if it is one."""
    if not _may_be(reply):
        return
    account = _Account(reply)
    told, weight = account.of_the_task() if account.has_task else account.of_a_change()
    if told:
        yield Signal(
            "completion_account", told.name, told.start, told.end, weight, "It tells of work and proof.", "done"
        )


def _may_be(reply: Reply) -> bool:
    if not _SHORT <= len(reply.reading.text) <= _LONG:
        return False
    signals = [signal for signal in reply.signals.all() if signal.kind not in {"exit_signal", "status_blocked"}]
    return not any(signal.weight <= AGAINST or (signal.weight >= HIGH and signal.state == "done") for signal in signals)


class _Account:
    """What a reply tells after its last announcement."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = Objections(reply)
        self._task = assignment(reply.context.task)
        self.has_task = self._task.given
        begin = announced(reply)
        self._begin = len(self._prose) - len(self._prose[begin:].lstrip())
        self._lead = self._begin, self._begin + _LEAD
        tests = reply.signals.first("test_run")
        self._proven = reply.signals.first("verified") is not None or bool(tests and tests.weight > 0)

    def of_the_task(self) -> tuple[Hit | None, float]:
        """What is told of the task, and how much it counts."""
        told = self._told(self._lead)
        if told is None:
            return None, 0
        first = self._reply.reading.sentence(told.start)
        text = self._reply.reading.lower
        if self._task.is_named(text[first[0] : min(first[1], first[0] + _LEAD)]):
            return told, VERY_HIGH
        about = self._proven and self._task.is_named(text[self._begin : self._begin + _LONG])
        return (told, VERY_HIGH) if about else (None, 0)

    def of_a_change(self) -> tuple[Hit | None, float]:
        """What is told of a change by itself, and how much it counts."""
        whole = self._begin, len(self._prose)
        if not self._proven or any(self._scope.within(role, whole) for role in _SHARES) or self._doubts(whole):
            return None, 0
        if self._scope.within("cause", self._lead):
            return self._told(whole), HIGH
        end = self._reply.reading.sentence(self._begin)[1] if self._begin < len(self._prose) else self._begin
        return self._told((self._begin, end), opening=True), HIGH

    def _told(self, span: Span, *, opening: bool = False) -> Hit | None:
        """What is told as done, or as being so now.

        Args:
            opening: what was done has to open the span: "Added …", "I've added …".
        """
        changed = [
            hit
            for hit in self._scope.within("changed", span)[:_LOOKED_AT]
            if not opening or _OPENING.match(self._prose, span[0], hit.start)
        ]
        for hit in (*changed, *self._scope.within("news", span)[:_LOOKED_AT]):
            if not (self._objections.to(hit) or self._scope.reading.in_heading(hit.start)):
                return hit
        return None

    def _doubts(self, span: Span) -> bool:
        """Whether anything is said to be open, outside of what the work does."""
        return any(
            not (self._scope.negated(hit, 2) or self._objections.is_described(hit))
            for hit in self._scope.within("qualifier", span)[:_LOOKED_AT]
        )

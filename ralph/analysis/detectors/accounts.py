"""Accounts of finished work that use no word of completion: what was changed, or is so now, and how it was proven.

| account | such as | counts |
|---|---|---|
| of the task | work on what the task's title names, and a check passes; or one sentence does both | very high |
| of the task | any plain opening, a check that passes, and a commit, a report or the task's name | high |
| of a mended fault | "Root cause: … Fix: … The suite passes" | high |
| of a change | "Added `--json`. Tests: `pytest -q` → 221 passed" | high |

Without a task an account is none where anything in it smells of a share: a loop, a phase, a plan, what is left. It is
not looked at where something is claimed, for it would add nothing, nor where something contradicts.
"""

from collections.abc import Iterable, Iterator, Sequence

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.statements import is_stated
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["detect_accounts"]

_SHORT, _LONG = 20, 20_000
"""Characters of a reply that can be an account."""
_LEAD = 700
"""Characters of a reply in which it says what it is about."""
_HEADINGS = 3
"""Headings that are passed over at the beginning."""
_LOOKED_AT = 12
"""Words of one role that are looked at."""
_SHARES: tuple[Role, ...] = ("part", "pieced", "following", "begin")
_NOT_PLAIN: tuple[Role, ...] = ("ongoing", "future", "verified", "passes", "recap", "contrast", "unable", "lack")
"""What an opening has that tells of no finished work."""
_NEWS = frozenset({"now", "is now", "are now", "no longer", "ahora", "ya no", "不再"})
"""What tells of a new state, which may be one of several."""
_STANDING = frozenset({
    "still",
    "remain",
    "remains",
    "remaining",
    "fails",
    "failing",
    "blocked",
    "broken",
    "仍",
    "仍然",
})
"""Doubts that only count where they are said of the work, which is looked at by itself where there is a task."""
_PLAIN = 4
"""Words of an opening at least."""
_WORD = pattern(r"[^\W\d_]+")
_OF_ITSELF = pattern(r"[\s*_#>-]{0,6}i(?:'ve|'m)?\s")
_OPENING = pattern(r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also|i've|i have|we've|we have)\b)*\Z")


def detect_accounts(reply: Reply) -> Iterable[Signal]:
    """The account that the reply is, if it is one."""
    if not _may_be(reply):
        return
    account = _Account(reply)
    told, weight = account.of_the_task()
    if told is None:
        told, weight = account.of_a_change()
    if told is None:
        yield from account.as_a_report()
    else:
        span = told.start, told.end
        yield Signal("completion_account", told.name, *span, weight, "It tells of work and proof.", "done")
        if not account.proven and weight < VERY_HIGH:
            yield Signal("verified", "", *span, 25, "What was mended is held by a test or a measurement.")


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
        self._begin = self._first(announced(reply))
        self._whole = self._begin, len(self._prose)
        self._lead = self._begin, self._begin + _LEAD
        tests = reply.signals.first("test_run")
        self.proven = reply.signals.first("verified") is not None or bool(tests and tests.weight > 0)

    def _first(self, begin: int) -> int:
        """Where the first sentence begins that is no heading."""
        for _ in range(_HEADINGS):
            begin = len(self._prose) - len(self._prose[begin:].lstrip())
            if begin >= len(self._prose) or not self._reply.reading.in_heading(begin):
                break
            begin = self._reply.reading.sentence(begin)[1]
        return begin

    def of_the_task(self) -> tuple[Hit | None, float]:
        """What is told of the task, and how much it counts."""
        told = self._told(self._lead) if self._task.given else None
        if told is None:
            return self._plainly(), HIGH
        sentence, text = self._objections.sentence(told), self._reply.reading.lower
        said = text[slice(*sentence)]
        if self._task.is_named(said) and (self.proven or told.name not in _NEWS or self._task.is_named(said, share=1)):
            return told, VERY_HIGH
        if self.proven and not self._is_doubted():
            if self._task.is_named(text[self._begin :]):
                return told, VERY_HIGH
            return (None if self._is_share() else told), HIGH
        return None, 0

    def of_a_change(self) -> tuple[Hit | None, float]:
        """What is told of a change by itself, and how much it counts."""
        if self._is_share() or self._is_doubted():
            return None, 0
        if self._scope.within("cause", self._lead) and (self.proven or self._scope.within("proof", self._whole)):
            return self._told(self._whole), HIGH
        return (self._opening() if self.proven else None), HIGH

    def as_a_report(self) -> Iterable[Signal]:
        """The final report on a task, with proof: a task is what such a report is about, whatever its words."""
        report = self._reply.signals.first("completion_report")
        if report and self._task.given and self.proven and not self._is_doubted():
            why = "It is a final report on the task, with proof."
            yield Signal("completion_account", "report", report.start, report.end, HIGH, why, "done")

    def _plainly(self) -> Hit | None:
        """The opening of a proven reply to a task that says plainly how things are, in whatever words."""
        if not (self._task.given and self.proven) or self._is_doubted() or self._is_share():
            return None
        report, committed = self._reply.signals.first("completion_report"), self._scope.within("committed", self._whole)
        if not (report or committed or self._task.is_named(self._reply.reading.lower[self._begin :])):
            return None
        span = self._begin, self._reply.reading.sentence(self._begin)[1]
        opening = Hit("opening", *span)
        plain = not any(self._scope.within(role, span) for role in _NOT_PLAIN)
        words = _WORD.findall(self._reply.reading.text[slice(*span)])
        enough = len(words) >= _PLAIN or not self._prose[slice(*span)].isascii()
        return opening if plain and enough and not self._objections.to(opening, parts=False) else None

    def _opening(self) -> Hit | None:
        """What the first sentence tells: "Added …", "I've added …", "The page now …", "The error is fixed"."""
        if self._begin >= len(self._prose):
            return None
        span = self._begin, self._reply.reading.sentence(self._begin)[1]
        opening = [hit for hit in self._within("changed", span) if _OPENING.match(self._prose, self._begin, hit.start)]
        return next(self._unopposed((*opening, *self._news(span), *self._stated(span))), None)

    def _told(self, span: Span) -> Hit | None:
        """What is told as done, or as being so now."""
        return next(self._unopposed((*self._within("changed", span), *self._news(span), *self._stated(span))), None)

    def _stated(self, span: Span) -> Iterator[Hit]:
        """What is stated to be so: "is fixed", "is gone"."""
        hits = (*self._within("closed", span), *self._within("stands", span))
        return (hit for hit in hits if is_stated(self._prose, hit))

    def _news(self, span: Span) -> Iterator[Hit]:
        """What is so now, other than that the check passes."""
        for hit in self._within("news", span):
            sentence = self._objections.sentence(hit)
            if not (self._scope.within("verified", sentence) or _OF_ITSELF.match(self._prose, sentence[0])):
                yield hit

    def _within(self, role: Role, span: Span) -> Sequence[Hit]:
        return self._scope.within(role, span)[:_LOOKED_AT]

    def _unopposed(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        return (hit for hit in hits if not (self._scope.reading.in_heading(hit.start) or self._objections.to(hit)))

    def _is_share(self) -> bool:
        return any(self._scope.within(role, self._whole) for role in _SHARES)

    def _is_doubted(self) -> bool:
        """Whether anything is said to be open, outside of what the work does."""
        return any(
            not (self._scope.negated(hit, 2) or self._objections.is_described(hit))
            for hit in self._within("qualifier", self._whole)
            if not (self._task.given and hit.name in _STANDING)
        )

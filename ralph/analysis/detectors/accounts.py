"""Accounts of finished work that use no word of completion: what was changed, or is so now, and how it was proven.

| account | such as | counts |
|---|---|---|
| of the task | work on what the task's title names, and a check passes; or one sentence does both | very high |
| of the task | an opening that tells of work, in a reply of some length | very high |
| of the task | a plain opening, and a check passes | high |
| of a mended fault | "Root cause: … Fix: … The suite passes" | high |
| of a change | "Added `--json`. Tests: `pytest -q` → 221 passed"; "Done. The page now …" | high |
| in a final message | a plain opening, some length, nothing that is left, asked or doubted | very high |
| in a final report | its shape, and a check passes | high |

Without a task an account is none where anything in it smells of a share: a loop, a phase, a plan, what is left. It is
not looked at where what was found before is enough by itself, nor where something contradicts.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ralph.analysis.completion import completion
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.openings import Opening, is_ahead
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["detect_accounts"]

_SHORT, _LONG = 20, 20_000
"""Characters of a reply that can be an account."""
_SOME, _FULL = 110, 200
"""Characters of a reply that tells of finished work, not of one step: with an opening that does, and with any."""
_GOES_ON = 30
"""Characters behind "Done." that tell what is."""
_LEAD = 700
"""Characters of a reply in which it says what it is about."""
_END = 300
"""Characters of the end, in which nothing is asked."""
_LOOKED_AT = 12
"""Doubts that are looked at."""
_SHARES: tuple[Role, ...] = ("part", "pieced", "following")
_NOT_FINAL: tuple[Role, ...] = ("obstacle", "blocked", "halted", "limit", "fatal", "plea", "yours")
"""What a report on finished work has nowhere."""
_KNOWN = pattern(r"\bthe\b|\b(?:el|los|las)\b|\b(?:der|das|und)\b|[\u3400-\u9fff]{2}")
"""What a reply has that is written in a language whose words are known: of others nobody can say what is left open."""
_NEWS = frozenset({"now", "is now", "are now", "no longer", "ahora", "ya no", "不再"})
"""What tells of a new state, which may be one of several."""
_STANDING = frozenset((
    *("still", "remain", "remains", "remaining", "fails", "failing", "blocked", "broken", "apart from", "other than"),
    *("still blocked", "仍", "仍然", "部分"),
))
"""What takes a sentence back, but is no doubt by itself; what is left, and checks that fail, are found elsewhere."""


class _Told(NamedTuple):
    """What an account rests on, and how much it counts."""

    hit: Hit
    weight: float
    why: str = "It tells of work and proof."
    held: bool = False
    """Whether a test or a measurement holds what was mended."""


def detect_accounts(reply: Reply) -> Iterable[Signal]:
    """The account that the reply is, if it is one."""
    if not _may_be(reply):
        return
    account = _Account(reply)
    told = account.of_the_task() or account.of_a_change() or account.as_a_final() or account.as_a_report()
    if told is None:
        return
    hit = told.hit
    yield Signal("completion_account", hit.name, hit.start, hit.end, told.weight, told.why, "done")
    if told.held and not account.proven:
        yield Signal("verified", "", hit.start, hit.end, 25, "What was mended is held by a test or a measurement.")


def _may_be(reply: Reply) -> bool:
    """Whether nothing contradicts, and what was found so far is not enough by itself."""
    if not _SHORT <= len(reply.reading.text) <= _LONG:
        return False
    signals = (signal for signal in reply.signals.all() if signal.kind not in {"exit_signal", "status_blocked"})
    return not any(signal.weight <= AGAINST for signal in signals) and not completion(reply.signals).detected


class _Account:
    """What a reply tells after its last announcement."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = Objections(reply)
        self._opening = Opening(reply, self._objections)
        self._task = assignment(reply.context.task)
        begin = self._opening.begin
        self._whole, self._lead = (begin, len(self._prose)), (begin, begin + _LEAD)
        self._length = len(self._prose) - begin
        tests = reply.signals.first("test_run")
        self.proven = reply.signals.first("verified") is not None or bool(tests and tests.weight > 0)
        self._doubted = self._is_doubted()
        self._sure = not self._doubted and not any(self._scope.within(role, self._whole) for role in _SHARES)

    def of_the_task(self) -> _Told | None:
        """What is told of the task."""
        if not self._task.given:
            return None
        told = list(self._opening.told(self._lead))
        if named := next(filter(self._names_task, told), None):
            return _Told(named, VERY_HIGH)
        about = told and self.proven and self._task.is_named(self._reply.reading.lower[slice(*self._whole)])
        if about and not self._doubted:
            return _Told(told[0], VERY_HIGH)
        if not self._sure:
            return None
        if told and self.proven:
            return _Told(told[0], HIGH)
        if self._length >= _FULL and (opening := self._opening.tells()):
            return _Told(opening, VERY_HIGH, "It opens with what was done, and leaves nothing open.")
        plain = self._opening.plain() if self.proven else None
        return _Told(plain, HIGH) if plain else None

    def _names_task(self, told: Hit) -> bool:
        """Whether a sentence names the task, and more than a state that may be one of several."""
        said, task = self._reply.reading.lower[slice(*self._objections.sentence(told))], self._task
        return task.is_named(said) and (self.proven or told.name not in _NEWS or task.is_named(said, share=1))

    def of_a_change(self) -> _Told | None:
        """What is told of a change by itself."""
        if not self._sure:
            return None
        if self._opening.bare and self._length >= _GOES_ON:
            return _Told(self._opening.bare, HIGH, "It opens with that, and tells what is so now.")
        if self._scope.within("cause", self._lead) and (self.proven or self._scope.within("proof", self._whole)):
            mended = next(self._opening.told(self._whole), None)
            return _Told(mended, HIGH, held=True) if mended else None
        told = self._opening.tells() if self.proven else None
        return _Told(told, HIGH) if told else None

    def as_a_final(self) -> _Told | None:
        """The opening of a reply that is too long for one step of the work and leaves nothing open: no doubt, no share,
        no obstacle, nothing asked of a person, and no word of what is to come at its end.
        """
        prose = self._prose.rstrip()
        if self._length < _SOME or not self._sure or "[ ]" in prose:
            return None
        last = self._reply.reading.sentence(len(prose) - 1)
        ahead = is_ahead(self._scope, last) or self._scope.within("unable", last)
        if ahead or any(self._scope.of(role) for role in _NOT_FINAL) or any(mark in prose[-_END:] for mark in "?？"):
            return None
        known = self.proven or _KNOWN.search(prose, *self._lead) or next(self._opening.told(self._whole), None)
        if not known:
            return None
        opening = self._opening.tells() or (self._opening.plain() if self._length >= _FULL else None)
        return _Told(opening, VERY_HIGH, "It opens with how things are, and leaves nothing open.") if opening else None

    def as_a_report(self) -> _Told | None:
        """The final report with proof: a task is what such a report is about, whatever its words."""
        report = self._reply.signals.first("completion_report")
        if report and self.proven and (self._sure or (self._task.given and not self._doubted)):
            return _Told(Hit("report", report.start, report.end), HIGH, "It is a final report with proof.")
        return None

    def _is_doubted(self) -> bool:
        """Whether anything is said to be open, outside of what the work does."""
        return any(
            not (self._scope.negated(hit, 2) or self._objections.is_described(hit))
            for hit in self._scope.within("qualifier", self._whole)[:_LOOKED_AT]
            if hit.name not in _STANDING and not self._scope.within("beyond", self._objections.sentence(hit))
        )

"""Signals: the findings of detectors in a reply, from which everything else in its analysis follows.

The weight says what a signal does to the claim that the task is done: `VERY_HIGH` is enough by itself, two of `HIGH`
or more are enough together, and one of `AGAINST` or less contradicts them all. Weights in between are only reported.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from ralph.analysis.result import AnalysisContext, Evidence, State
from ralph.analysis.text import Reading
from ralph.analysis.vocabulary import Hit, Scope, Vocabulary
from ralph.status import Status
from ralph.types.output import Output

__all__ = ["AGAINST", "EVIDENCE_KEPT", "HIGH", "VERY_HIGH", "Reply", "Signal", "Signals", "collect_evidence"]

VERY_HIGH, HIGH, AGAINST = 100, 60, -50


class Signal(NamedTuple):
    """One finding of a detector.

    Attributes:
        kind: in snake_case, such as "completion_keyword".
        name: which of its kind, such as the keyword; signals of one kind and name are one signal, found twice.
        start, end: its span in `Reply.reading`; both 0 if it has no place.
        weight: how much it counts for completion (-100 to 100).
        why: one short sentence for the user.
        state: the state of the reply that it supports; None if it supports none.
        amount: the number of what it counts, such as tests.
    """

    kind: str
    name: str = ""
    start: int = 0
    end: int = 0
    weight: float = 0.0
    why: str = ""
    state: State | None = None
    amount: int = 1

    @classmethod
    def at(cls, hit: Hit, kind: str, weight: float, why: str, *, state: State | None = None) -> "Signal":
        """Return a signal at the place of a word of the vocabulary."""
        name, start, end = hit
        return cls(kind, name, start, end, weight, why, state)


class Signals:
    """The signals of one reply, by kind, in the order in which they were found."""

    def __init__(self, found: Iterable[Signal] = ()) -> None:
        self._kinds: dict[str, list[Signal]] = {}
        self.add(found)

    def add(self, found: Iterable[Signal]) -> None:
        kinds = self._kinds
        for signal in found:
            kind = signal.kind
            if kind in kinds:
                kinds[kind].append(signal)
            else:
                kinds[kind] = [signal]

    def has(self, kinds: AbstractSet[str]) -> bool:
        """Return whether there is a signal of any of the kinds."""
        return not kinds.isdisjoint(self._kinds)

    def of(self, *kinds: str) -> Sequence[Signal]:
        """Return the signals of some kinds."""
        if len(kinds) == 1:
            return self._kinds.get(kinds[0], ())
        return [signal for kind in kinds for signal in self._kinds.get(kind, ())]

    def first(self, kind: str) -> Signal | None:
        """Return the first signal of a kind."""
        found = self._kinds.get(kind)
        return found[0] if found else None

    def all(self) -> list[Signal]:
        """Return every signal."""
        return list(chain.from_iterable(self._kinds.values()))


@dataclass(frozen=True, slots=True)
class Reply:
    """The input of a detector.

    Attributes:
        output: the agent's turn; `output.text` is the whole reply.
        status: as parsed from it.
        context: the task, the plan, the earlier iterations.
        words: the vocabulary that was searched for.
        reading: the text as it is read: `prose` for words, `text` with everything in it.
        scope: the words that were found, and how far each reaches.
        signals: of the detectors before this one.
        kept: results that the built-in detectors share, by class, for them alone. They reflect the signals at the time
            of their first use.
    """

    output: Output
    status: Status
    context: AnalysisContext
    words: Vocabulary
    reading: Reading
    scope: Scope
    signals: Signals
    kept: dict[type, Any] = field(default_factory=dict[type, Any], init=False, repr=False, compare=False)


EVIDENCE_KEPT = 100
"""Pieces of evidence that are kept of one reply: those with the largest weights."""
_EVIDENCE_TEXT = 200
_IN_REPLY = frozenset({"exit_signal", "status_blocked"})
"""Signals with a place in the whole reply, not in the reading."""
_SPAN_OF = itemgetter(Signal._fields.index("start"), Signal._fields.index("end"))


def collect_evidence(reply: Reply) -> tuple[Evidence, ...]:
    """Return the signals as evidence, in the order of the text."""
    found = reply.signals.all()
    if len(found) > EVIDENCE_KEPT:
        found = sorted(found, key=lambda signal: -abs(signal.weight))[:EVIDENCE_KEPT]
    if len(reply.reading.stretches) > 1:
        found = [_placed(signal, reply.reading) for signal in found]
    found.sort(key=_SPAN_OF)
    whole, plain = reply.output.text, reply.output.text.isascii()
    pieces: list[Evidence] = []
    for kind, _, start, end, weight, why, _, _ in found:
        text = whole[start : end if end - start < _EVIDENCE_TEXT else start + _EVIDENCE_TEXT]
        if not (plain or text.isascii()):
            text = text.encode(errors="replace").decode()  # JSON has no lone surrogates
        pieces.append(Evidence(signal=kind, start=start, end=end, text=text, weight=weight, why=why))
    return tuple(pieces)


def _placed(signal: Signal, reading: Reading) -> Signal:
    """Return a signal with its place in the reply, if it has one."""
    if not signal.end or signal.kind in _IN_REPLY:
        return signal
    start, end = reading.place(signal.start, signal.end)
    return signal._replace(start=start, end=end)

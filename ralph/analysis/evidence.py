"""Signals as evidence: with their place in the reply as it was given, and what stands there."""

from operator import itemgetter

from ralph.analysis.result import Evidence
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.text import Reading

__all__ = ["MOST", "evidence"]

MOST = 100
"""Pieces of evidence that are kept of one reply: the weightiest."""
_SHOWN = 200
_IN_REPLY = frozenset({"exit_signal", "status_blocked"})
"""Signals whose place is one of the whole reply, not of the reading."""
_PLACE = itemgetter(Signal._fields.index("start"), Signal._fields.index("end"))


def evidence(reply: Reply) -> tuple[Evidence, ...]:
    """What was found, in the order of the text."""
    found = reply.signals.all()
    if len(found) > MOST:
        found = sorted(found, key=lambda signal: -abs(signal.weight))[:MOST]
    if len(reply.reading.stretches) > 1:
        found = [_placed(signal, reply.reading) for signal in found]
    found.sort(key=_PLACE)
    whole, plain = reply.output.text, reply.output.text.isascii()
    pieces: list[Evidence] = []
    for kind, _, start, end, weight, why, _, _ in found:
        text = whole[start : end if end - start < _SHOWN else start + _SHOWN]
        if not (plain or text.isascii()):
            text = text.encode(errors="replace").decode()  # JSON has no lone surrogates
        pieces.append(Evidence(signal=kind, start=start, end=end, text=text, weight=weight, why=why))
    return tuple(pieces)


def _placed(signal: Signal, reading: Reading) -> Signal:
    """A signal with its place in the reply, where it has one."""
    if not signal.end or signal.kind in _IN_REPLY:
        return signal
    start, end = reading.place(signal.start, signal.end)
    return signal._replace(start=start, end=end)

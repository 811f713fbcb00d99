"""Signals as evidence: with their place in the reply as it was given, and what stands there."""

from collections.abc import Iterable

from ralph.analysis.result import Evidence
from ralph.analysis.signals import Reply, Signal

__all__ = ["MOST", "evidence"]

MOST = 100
"""Pieces of evidence that are kept of one reply: the weightiest."""
_SHOWN = 200


def evidence(reply: Reply) -> tuple[Evidence, ...]:
    """What was found, in the order of the text."""
    heavy = sorted(reply.signals.all(), key=lambda signal: -abs(signal.weight))[:MOST]
    return tuple(_placed(heavy, reply))


def _placed(signals: Iterable[Signal], reply: Reply) -> Iterable[Evidence]:
    place, text = reply.reading.place, reply.output.text
    pieces: list[tuple[int, int, Signal]] = []
    for signal in signals:
        start, end = signal.start, signal.end
        if end and signal.kind not in {"exit_signal", "status_blocked"}:
            start, end = place(start, end)
        pieces.append((start, end, signal))
    for start, end, signal in sorted(pieces, key=lambda piece: piece[:2]):
        shown = text[start : min(end, start + _SHOWN)]
        yield Evidence(signal=signal.kind, start=start, end=end, text=shown, weight=signal.weight, why=signal.why)

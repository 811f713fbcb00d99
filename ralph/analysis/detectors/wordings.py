"""How a reply sounds, by words that no rule looks for: a second opinion beside the rules'."""

from collections.abc import Iterable

from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.wording import SOUNDS, wording
from ralph.status import StatusReport

__all__ = ["detect_wording"]

_SURE, _LIKELY, _UNLIKELY, _NEVER = 1.0, 0.2, -0.7, -1.8
"""Log odds of finished work from which it says something; in between it says nothing."""

_DOUBT = -40
"""Against a single claim, but no contradiction by itself."""

_STOPPED = 0.5
"""Log odds from which a reply sounds blocked, or asks."""

_FEW = 20
"""Words of a reply that is too short for it."""


def detect_wording(reply: Reply) -> Iterable[Signal]:
    """For or against finished work, and for a reply that is blocked or asks, where the words are clear enough. Such a
    signal stands nowhere in particular. Nobody needs it where the status block tells, nor of a reply that announces
    what comes next: that one is neither finished nor blocked, and asks nothing.
    """
    told = isinstance(reply.status, StatusReport) and reply.status.exit_signal is not None
    if told or reply.signals.first("announcement"):
        return
    heard = wording(reply.reading.prose, task=assignment(reply.context.task).given)
    if heard.count < _FEW:
        return
    done, *others = heard.odds
    if done <= _UNLIKELY:
        why = f"Sounds unfinished: {', '.join(heard.telling('done', against=True))}."
        yield Signal("wording", "sounds unfinished", weight=AGAINST if done <= _NEVER else _DOUBT, why=why)
    elif done >= _LIKELY:
        why = f"Sounds finished: {', '.join(heard.telling('done'))}."
        yield Signal("wording", "sounds finished", weight=VERY_HIGH if done >= _SURE else HIGH, why=why, state="done")
    odds, state = max(zip(others, SOUNDS[1:], strict=True))
    if odds >= _STOPPED and odds > done:
        yield Signal("tone", state, why=f"Sounds {_TONES[state]}: {', '.join(heard.telling(state))}.")


_TONES = {"blocked": "blocked", "question": "like a question"}

"""How a reply sounds, by words that no rule looks for: a second opinion beside the rules'."""

from collections.abc import Iterable

from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.wording import ear
from ralph.status import StatusReport

__all__ = ["detect_wording"]

_SURE, _LIKELY, _UNLIKELY, _NEVER = 100, 20, -70, -180
"""Hundredths of log odds of finished work from which it says something; in between it says nothing."""

_DOUBT = -40
"""Against a single claim, but no contradiction by itself."""

_STOPPED = 50
"""Hundredths of log odds from which a reply sounds blocked, or asks."""

_FEW = 20
"""Different words of a reply that is too short for it."""


def detect_wording(reply: Reply) -> Iterable[Signal]:
    """For or against finished work, and for a reply that is blocked or asks, where the words are clear enough. Such a
    signal stands nowhere in particular. Nobody needs it where the status block tells, nor of a reply that announces
    what comes next: that one is neither finished nor blocked, and asks nothing.
    """
    told = isinstance(reply.status, StatusReport) and reply.status.exit_signal is not None
    if told or reply.signals.first("announcement"):
        return
    heard = ear().wording(reply.reading.prose, task=assignment(reply.context.task).given)
    if len(heard.known) < _FEW and len(set(heard.words)) < _FEW:
        return
    done, blocked, question = heard.odds
    if done <= _UNLIKELY:
        why = f"Sounds unfinished: {', '.join(heard.telling('done', against=True))}."
        yield Signal("wording", "sounds unfinished", weight=AGAINST if done <= _NEVER else _DOUBT, why=why)
    elif done >= _LIKELY:
        why = f"Sounds finished: {', '.join(heard.telling('done'))}."
        yield Signal("wording", "sounds finished", weight=VERY_HIGH if done >= _SURE else HIGH, why=why, state="done")
    if (stopped := max(blocked, question)) >= _STOPPED and stopped > done:
        state = "blocked" if blocked > question else "question"
        yield Signal("tone", state, why=f"Sounds {_TONES[state]}: {', '.join(heard.telling(state))}.")


_TONES = {"blocked": "blocked", "question": "like a question"}

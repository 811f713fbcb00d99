"""Whether the signals of a reply say that the task is done."""

from ralph.analysis.lexicon import Keyword
from ralph.analysis.result import Completion
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Signals
from ralph.analysis.vocabulary import Vocabulary

__all__ = ["completion", "points"]


def completion(signals: Signals) -> Completion:
    """One very high signal, or two: distinct keywords, or one with passing tests or the status block's word (Nity
    Loop). Any signal that contradicts is enough against them.
    """
    counted: dict[str, float] = {}
    contradicted = False
    for signal in signals.all():
        if signal.weight >= HIGH:
            if signal.state == "done" and signal.kind != "exit_signal":
                counted[signal.name] = signal.weight
        elif signal.weight <= AGAINST and signal.kind not in {"exit_signal", "status_blocked"}:
            contradicted = True
    very_high = bool(counted) and max(counted.values()) >= VERY_HIGH
    others = sum(any(signal.weight > 0 for signal in signals.of(kind)) for kind in ("test_run", "exit_signal"))
    enough = very_high or (bool(counted) and len(counted) + others >= 2)
    return Completion(
        detected=enough and not contradicted,
        keywords=tuple(counted),
        test_only=signals.first("test_only") is not None,
        confidence=100.0 if very_high or len(counted) >= 2 else 60.0 * len(counted),
    )


def points(signals: Signals, words: Vocabulary) -> tuple[int, tuple[str, ...]]:
    """The go-ralph rule: the points of every group of keywords that has a hit, and the first hit of each."""
    groups: dict[str, Keyword] = {}
    for signal in signals.of("completion_keyword"):
        keyword = words.keywords.get(signal.name.lower())
        if keyword and keyword.points:
            groups.setdefault(keyword.indicator, keyword)
    return sum(keyword.points for keyword in groups.values()), tuple(keyword.text for keyword in groups.values())

"""Whether the signals of a reply say that the task is done."""

from ralph.analysis.lexicon import Keyword
from ralph.analysis.result import CompletionSignal
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Signals
from ralph.analysis.vocabulary import Vocabulary

__all__ = ["completion", "points"]


_BESIDE = ("test_run", "verified", "exit_signal")
"""What speaks for completion beside a word of it."""
_OF_STATUS = ("exit_signal", "status_blocked")
"""What the status block says: not a word of the reply."""
_NONE, _ONLY_TESTS = CompletionSignal(), CompletionSignal(test_only=True)


def completion(signals: Signals) -> CompletionSignal:
    """One very high signal, or two: distinct keywords, or one with passing tests or the status block's word (Nity
    Loop), with another check that passes, or with the shape of a final report. Wording that sounds finished is such a
    signal. Any signal that contradicts is enough against them; wording that sounds unfinished is against a single one.
    """
    counted: dict[str, float] = {}
    contradicted = False
    for kind, name, _, _, weight, _, state, _ in signals.all():
        if weight >= HIGH:
            if state == "done" and kind != "exit_signal":
                counted[name] = max(weight, counted.get(name, 0))
        elif weight <= AGAINST and kind not in _OF_STATUS:
            contradicted = True
    test_only = signals.first("test_only") is not None
    if not counted:
        return _ONLY_TESTS if test_only else _NONE
    strong = len(counted) >= 2 or max(counted.values()) >= VERY_HIGH
    heard = signals.first("wording")
    backed = not (heard and heard.weight < 0)
    sure = strong or (backed and signals.first("completion_report") is not None)
    enough = sure or (backed and any(signal.weight > 0 for signal in signals.of(*_BESIDE)))
    return CompletionSignal(
        detected=enough and not contradicted,
        keywords=tuple([name for name in counted if not (heard and name == heard.name)]),
        test_only=test_only,
        confidence=100.0 if sure else 60.0 * len(counted),
    )


def points(signals: Signals, words: Vocabulary) -> tuple[int, tuple[str, ...]]:
    """The go-ralph rule: the points of every group of keywords that has a hit, and the first hit of each."""
    found = signals.of("completion_keyword")
    if not found:
        return 0, ()
    groups: dict[str, Keyword] = {}
    for signal in found:
        keyword = words.keywords.get(signal.name.lower())
        if keyword and keyword.points:
            groups.setdefault(keyword.indicator, keyword)
    return sum(keyword.points for keyword in groups.values()), tuple([keyword.text for keyword in groups.values()])

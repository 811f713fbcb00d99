"""How much of the work is done, in percent: the first source that there is of plan, the reply's own checklist, a
percentage, a completion keyword, and else a neutral 50.
"""

from typing import Literal, NamedTuple

from ralph.analysis.signals import Signals

__all__ = ["Source", "WorkDone", "work_done"]

Source = Literal["plan", "checklist", "percentage", "keyword", "default"]

NEUTRAL = 50
DISAGREE = 20
"""Points that two sources may differ by before the difference is worth a warning."""


class WorkDone(NamedTuple):
    """The completion score and where it comes from."""

    score: int
    source: Source
    warnings: tuple[str, ...] = ()


_COUNTED: tuple[tuple[Source, str], ...] = (
    ("plan", "plan_boxes"),
    ("checklist", "reply_boxes"),
    ("percentage", "percentage"),
)
"""The sources that give a percentage, the first one first, each with the kind of signal that has it as its amount."""
_FINISHED = frozenset({"completion_keyword", "completion_claim", "success_word"})
"""The kinds of signals that say that all of it is done."""
_TOLD = _FINISHED | {"lost"} | {kind for _, kind in _COUNTED}
"""Those that say anything of how much is done."""
_UNKNOWN = WorkDone(NEUTRAL, "default")


def work_done(signals: Signals) -> WorkDone:
    """The completion score."""
    if not signals.has(_TOLD):
        return _UNKNOWN
    found: dict[Source, int] = {}
    for source, kind in _COUNTED:
        if signal := signals.first(kind):
            found[source] = signal.amount
    if signals.has(_FINISHED):
        found["keyword"] = 100
    elif signals.first("lost"):
        found["keyword"] = 0
    source, score = next(iter(found.items()))
    return WorkDone(score, source, _disagreements(source, score, found) if len(found) > 1 else ())


def _disagreements(source: Source, score: int, found: dict[Source, int]) -> tuple[str, ...]:
    return tuple(
        f"The {source} says {score} %, the {other} {said} %."
        for other, said in found.items()
        if abs(said - score) > DISAGREE
    )

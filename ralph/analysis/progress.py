"""How much of the work is done, in percent: the first source that there is of plan, the reply's own checklist, a
percentage, a completion keyword, and else a neutral 50.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ralph.analysis.completion import Claim
from ralph.analysis.result import Evidence
from ralph.analysis.scope import Scope
from ralph.analysis.vocabulary import Hit
from ralph.plan import TaskPlan, parse_plan

__all__ = ["Source", "WorkDone", "checklist", "work_done"]

Source = Literal["plan", "checklist", "percentage", "keyword", "default"]

NEUTRAL = 50
DISAGREE = 20
"""Points that two sources may differ by before the difference is worth a warning."""

_PERCENT = re.compile(r"(?<![\w.,])(\d{1,3})(?:\.\d{1,6})?\s?[%％]")
_NEAR = 40
_LOOKED_AT = 200


class WorkDone(NamedTuple):
    """The completion score and where it comes from."""

    score: int
    source: Source
    warnings: tuple[str, ...]
    evidence: tuple[Evidence, ...]


def checklist(unfenced: str) -> TaskPlan:
    """The reply's own checklist; without items where it has none."""
    return parse_plan(unfenced) if "[" in unfenced else TaskPlan()


def work_done(scope: Scope, plan: TaskPlan | None, boxes: TaskPlan, claims: Sequence[Claim]) -> WorkDone:
    """The completion score."""
    found: dict[Source, Evidence] = {}
    if plan is not None:
        found["plan"] = _whole(plan.score, f"{plan.done} of {plan.total} boxes of the plan are ticked.")
    if boxes.total:
        found["checklist"] = _whole(boxes.score, f"{boxes.done} of {boxes.total} boxes of the reply are ticked.")
    if percentage := _percentage(scope):
        found["percentage"] = percentage
    if keyword := _keyword(scope, claims):
        found["keyword"] = keyword
    if not found:
        return WorkDone(NEUTRAL, "default", (), ())
    source, best = next(iter(found.items()))
    return WorkDone(int(best.weight), source, _disagreements(found), tuple(found.values()))


def _percentage(scope: Scope) -> Evidence | None:
    """The last percentage that is a share of the work: beside a word of progress and not beside another quantity."""
    prose = scope.reading.prose
    matches = list(_PERCENT.finditer(prose)) if "%" in prose or "％" in prose else []
    for match in reversed(matches[-_LOOKED_AT:]):
        number = int(match[1])
        begin, end = scope.reading.sentence(match.start())
        around = (max(begin, match.start() - _NEAR), min(end, match.end() + _NEAR))
        close = (
            max(begin, match.start() - _NEAR // 2),
            around[1] - _NEAR // 2 if around[1] > match.end() + 20 else around[1],
        )
        if number <= 100 and scope.within("progress", around) and not scope.within("unrelated", close):
            why = f"The reply says {number} %."
            return Evidence(signal="percentage", start=match.start(), end=match.end(), weight=number, why=why)
    return None


def _keyword(scope: Scope, claims: Sequence[Claim]) -> Evidence | None:
    """100 for a completion word that counts, 0 where the agent does not know what to do."""
    for claim in claims:
        if not claim.objection:
            return _word(claim.hit, 100, "A completion keyword.")
    for hit in scope.of("success")[:_LOOKED_AT]:
        if not (scope.negated(hit, 5) or scope.before("future", hit, 6) or scope.taken_back(hit)):
            return _word(hit, 100, "A word of success.")
    lost = scope.of("lost")
    return _word(lost[0], 0, "The agent does not know what to do.") if lost else None


def _disagreements(found: dict[Source, Evidence]) -> tuple[str, ...]:
    first, *others = found
    score = int(found[first].weight)
    return tuple(
        f"The {first} says {score} %, the {other} {int(found[other].weight)} %."
        for other in others
        if abs(found[other].weight - score) > DISAGREE
    )


def _whole(score: int, why: str) -> Evidence:
    return Evidence(signal="boxes", weight=score, why=why)


def _word(hit: Hit, score: int, why: str) -> Evidence:
    return Evidence(signal="completion_word", start=hit.start, end=hit.end, weight=score, why=why)

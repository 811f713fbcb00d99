"""Agreement of verdicts with a user's labels: Cohen's kappa with an interval, and precision and recall by kind."""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, get_args

from pydantic import BaseModel

from ralph_grounding.result import ClaimJudgement, Outcome

__all__ = ["Agreement", "AgreementReport", "KindRates", "Labelled", "labelled", "report_agreement"]

_KINDS: tuple[Outcome, ...] = get_args(Outcome)
_RESAMPLES = 1_000
_SEED = 19
_ENOUGH = 50
_GOOD = 0.6


class Labelled(NamedTuple):
    """A labelled claim with its verdicts.

    Attributes:
        answer: what identifies the answer: claims of one answer are not independent.
        judge: None if the judge was not asked, or its verdict was not taken.
        final: the verdict that counts.
    """

    answer: str
    label: Outcome
    offline: Outcome
    judge: Outcome | None
    final: Outcome


def labelled(answer: str, label: Outcome, judgement: ClaimJudgement) -> Labelled:
    """Join a label with the judgement on its claim."""
    final, judged = judgement.outcome, judgement.judged
    return Labelled(answer, label, judged.offline if judged else final, judged.outcome if judged else None, final)


class KindRates(BaseModel, frozen=True):
    """The precision and the recall of one kind of verdict; None if there is no such verdict, or no such label."""

    precision: float | None
    recall: float | None
    labels: int


class Agreement(BaseModel, frozen=True):
    """The agreement of one verdict with the labels.

    Attributes:
        accuracy: the share of equal ones.
        kappa: Cohen's, which subtracts what chance would agree on; None if all are of one kind.
        low, high: its 95 % interval, by resampling answers.
    """

    claims: int
    accuracy: float
    kappa: float | None
    low: float | None
    high: float | None
    kinds: Mapping[Outcome, KindRates]


class AgreementReport(BaseModel, frozen=True):
    """The agreement of all verdicts with the labels.

    Attributes:
        offline: without the judge, on all labelled claims.
        final: with the judge where it was asked; None, like the next two, without a judge's verdict.
        judge: on the claims that the judge decided.
        offline_there: the offline verdict on the same claims.
        warnings: reasons not to rely on these figures, or on the verdicts.
    """

    labels: int
    answers: int
    offline: Agreement
    final: Agreement | None = None
    judge: Agreement | None = None
    offline_there: Agreement | None = None
    warnings: tuple[str, ...] = ()


def report_agreement(rows: Sequence[Labelled]) -> AgreementReport:
    """Compare the verdicts with the labels, of which there is at least one."""
    asked = [row for row in rows if row.judge is not None]
    offline = _agreement((row.answer, row.label, row.offline) for row in rows)
    judge = final = there = None
    if asked:
        judge = _agreement((row.answer, row.label, row.judge or row.final) for row in asked)
        there = _agreement((row.answer, row.label, row.offline) for row in asked)
        final = _agreement((row.answer, row.label, row.final) for row in rows)
    return AgreementReport(
        labels=len(rows),
        answers=len({row.answer for row in rows}),
        offline=offline,
        final=final,
        judge=judge,
        offline_there=there,
        warnings=tuple(_warnings("judge", judge) if judge else _warnings("offline verdict", offline)),
    )


def _warnings(name: str, found: Agreement) -> Iterable[str]:
    if found.claims < _ENOUGH:
        yield f"The {name} is uncalibrated: it has {found.claims} labelled claims, and {_ENOUGH} are needed at least."
    if found.kappa is None:
        yield f"The {name} cannot be compared with chance: all labels and verdicts are of one kind."
    elif found.kappa < _GOOD:
        yield f"The {name} agrees too little with your labels: kappa is {found.kappa:.2f}, below {_GOOD:g}."


_Counts = tuple[int, ...]
"""The numbers of claims by label and verdict, row by row."""


def _agreement(rows: Iterable[tuple[str, Outcome, Outcome]]) -> Agreement:
    by_answer: dict[str, list[int]] = {}
    for answer, label, verdict in rows:
        counts = by_answer.setdefault(answer, [0] * len(_KINDS) ** 2)
        counts[_KINDS.index(label) * len(_KINDS) + _KINDS.index(verdict)] += 1
    groups = [tuple(counts) for counts in by_answer.values()]
    total = _total(groups)
    chance = random.Random(_SEED)  # noqa: S311 - the same interval each time
    resampled = (_kappa(_total(chance.choices(groups, k=len(groups)))) for _ in range(_RESAMPLES))
    kappas = sorted(kappa for kappa in resampled if kappa is not None)
    kappa = _kappa(total)
    known = kappa is not None and bool(kappas)
    return Agreement(
        claims=sum(total),
        accuracy=sum(total[:: len(_KINDS) + 1]) / sum(total),
        kappa=kappa,
        low=kappas[int(0.025 * len(kappas))] if known else None,
        high=kappas[min(int(0.975 * len(kappas)), len(kappas) - 1)] if known else None,
        kinds={kind: _rates(total, place) for place, kind in enumerate(_KINDS)},
    )


def _total(groups: Sequence[_Counts]) -> _Counts:
    return tuple(map(sum, zip(*groups, strict=True)))


def _rows_and_columns(counts: _Counts) -> list[tuple[int, int]]:
    """Return how often each kind is a label, and how often a verdict."""
    size = len(_KINDS)
    return [(sum(counts[size * place : size * (place + 1)]), sum(counts[place::size])) for place in range(size)]


def _kappa(counts: _Counts) -> float | None:
    number = sum(counts)
    agreed = sum(counts[:: len(_KINDS) + 1]) / number
    by_chance = sum(row * column for row, column in _rows_and_columns(counts)) / number**2
    return None if by_chance >= 1 else (agreed - by_chance) / (1 - by_chance)


def _rates(counts: _Counts, place: int) -> KindRates:
    right = counts[place * (len(_KINDS) + 1)]
    labels, verdicts = _rows_and_columns(counts)[place]
    return KindRates(
        precision=right / verdicts if verdicts else None, recall=right / labels if labels else None, labels=labels
    )

"""How well the grounding plug-in judges claims and answers that people judged, with its defaults.

The labelled data is no part of the project: the argument names the folder that holds it, as files of JSON lines

- `claims.jsonl`: `response`, `claims`, `labels` (whether the response makes each claim)
- `accuracy.jsonl`: `response`, `reference`, `correct`, `question`, `source`

Prints one JSON object. Of claims: F1 of "found", precision, recall, the area under the curve of their similarity, and
how many the response is said to contradict, and does so though people say that it makes them.
Of answers: the area under the curve of the score and of the raw similarity, all collections together and each alone,
also with the question given; what each way to cut and to join comes to; and how many of the answers above and below the
decision point are right.
"""

import json
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, get_args

import anyio
from scipy.stats import rankdata  # pyright: ignore[reportMissingTypeStubs]

from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import ExpectedClaim
from ralph_grounding.result import AccuracyResult, ClaimJudgement
from ralph_grounding.scoring.accuracy import AccuracyScorer
from ralph_grounding.scoring.completeness import CompletenessScorer
from ralph_grounding.settings import AccuracySettings, ProviderSettings
from ralph_grounding.similarity.base import SimilarityProvider
from ralph_grounding.similarity.choose import provider_for

Row = dict[str, Any]

DECISION = 75
STRATEGIES = get_args(AccuracySettings.model_fields["chunking_strategy"].annotation)
AGGREGATIONS = get_args(AccuracySettings.model_fields["aggregation"].annotation)


def main(folder: Path) -> None:
    """Judges everything, and prints the figures."""
    print(json.dumps(anyio.run(measured, folder), indent=2))


async def measured(folder: Path) -> dict[str, Any]:
    async with provider_for(ProviderSettings()) as provider:
        return {
            "claims": await claims(provider, rows(folder / "claims.jsonl")),
            "accuracy": await accuracy(provider, rows(folder / "accuracy.jsonl")),
        }


async def claims(provider: SimilarityProvider, judged: Sequence[Row]) -> dict[str, Any]:
    scorer = CompletenessScorer(provider)
    labels: list[bool] = []
    judgements: list[ClaimJudgement] = []
    for row in judged:
        expected = [ExpectedClaim(statement=claim) for claim in row["claims"]]
        labels += map(bool, row["labels"])
        judgements += (await scorer.score(row["response"], expected)).matches
    right = sum(label and one.found for label, one in zip(labels, judgements, strict=True))
    found, made = sum(one.found for one in judgements), sum(labels)
    contested = [label for label, one in zip(labels, judgements, strict=True) if one.conflicts]
    return {
        "f1": round(2 * right / (found + made), 4),
        "precision": round(right / found, 4),
        "recall": round(right / made, 4),
        "auc": area(labels, [one.similarity for one in judgements]),
        "claims": len(labels),
        "contradicted": len(contested),
        "contradicted_though_made": sum(contested),
    }


async def accuracy(provider: SimilarityProvider, judged: Sequence[Row]) -> dict[str, Any]:
    results = await scored(provider, judged, AccuracySettings())
    asked = await scored(provider, judged, AccuracySettings(), asked=True)
    correct = [row["correct"] for row in judged]
    above = [label for label, result in zip(correct, results, strict=True) if result.score >= DECISION]
    ways: dict[str, float] = {}
    for cut, joined in product(STRATEGIES, AGGREGATIONS):
        settings = AccuracySettings(chunking_strategy=cut, aggregation=joined)
        ways[f"{cut} {joined}"] = area(correct, [one.score for one in await scored(provider, judged, settings)])
    return {
        "auc": area(correct, [result.score for result in results]),
        "auc_similarity": area(correct, [result.similarity for result in results]),
        "auc_with_question": area(correct, [result.score for result in asked]),
        "auc_by_source": by_source(judged, results),
        "auc_by_way": ways,
        "right_above_decision": [sum(above), len(above)],
        "right_below_decision": [sum(correct) - sum(above), len(correct) - len(above)],
    }


async def scored(
    provider: SimilarityProvider, judged: Sequence[Row], settings: AccuracySettings, *, asked: bool = False
) -> list[AccuracyResult]:
    scorer, nothing = AccuracyScorer(provider, settings), GroundTruth()
    return [
        await scorer.score(row["response"], row["reference"], nothing, row.get("question", "") if asked else "")
        for row in judged
    ]


def by_source(judged: Sequence[Row], results: Sequence[AccuracyResult]) -> dict[str, float]:
    pairs = list(zip(judged, results, strict=True))
    return {
        source: area(*zip(*((row["correct"], one.score) for row, one in pairs if row["source"] == source), strict=True))
        for source in sorted({row["source"] for row in judged})
    }


def area(labels: Sequence[bool], values: Sequence[float]) -> float:
    """How often one that is right has the higher value than one that is wrong; ties count half."""
    right = sum(labels)
    ranks = sum(rank for rank, label in zip(rankdata(values), labels, strict=True) if label)
    return round(float((ranks - right * (right + 1) / 2) / (right * (len(labels) - right))), 4)


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main(Path(sys.argv[1]))

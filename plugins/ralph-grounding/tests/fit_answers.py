"""Fits what the parts of the likeness of two answers count: `python fit_answers.py FILE`.

The file has a JSON object a line, with "reference", "response", "correct" (whether people hold the response for right),
"question" and "source" (which collection it is from). Printed are the best parameters, the area under the curve that
they reach on all lines, and what is reached on lines that took no part: of other questions, and of other collections.
"""

import json
import sys
from collections.abc import Callable, Hashable, Sequence
from hashlib import md5
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from scipy.stats import rankdata  # pyright: ignore[reportMissingTypeStubs]

from ralph_grounding.similarity.answers import AnswerParameters, raw_agreement
from ralph_grounding.similarity.fit import best_split

_GRID = [
    AnswerParameters(said=said, refused=refused, contested=contested, decision=0.5)
    for said, refused, contested in product((0.65, 0.7, 0.75, 0.8, 0.85), (0.1, 0.3, 0.5, 1.0), (0.1, 0.3, 0.5, 1.0))
]
_FOLDS = 5


class Row(NamedTuple):
    correct: bool
    question: str
    source: str
    likenesses: tuple[float, ...]


def area(correct: Sequence[bool], likenesses: Sequence[float]) -> float:
    """How often a right answer is more alike than a wrong one; ties count half."""
    right = sum(correct)
    if not right or right == len(correct):
        return float("nan")
    ranks = sum(rank for rank, label in zip(rankdata(likenesses), correct, strict=True) if label)
    return float((ranks - right * (right + 1) / 2) / (right * (len(correct) - right)))


def best(rows: Sequence[Row]) -> int:
    """The place of the parameters that tell most apart; of equal ones the first."""
    correct = [row.correct for row in rows]
    return max(range(len(_GRID)), key=lambda place: area(correct, [row.likenesses[place] for row in rows]))


def left_out(rows: Sequence[Row], group: Callable[[Row], Hashable]) -> float:
    """The area where each group is measured with the parameters that are best on the others."""
    found: list[tuple[bool, float]] = []
    for name in {group(row) for row in rows}:
        place = best([row for row in rows if group(row) != name])
        found += [(row.correct, row.likenesses[place]) for row in rows if group(row) == name]
    return area(*zip(*found, strict=True))


def fold(row: Row) -> int:
    return int(md5(row.question.encode(), usedforsecurity=False).hexdigest(), 16) % _FOLDS


def fitted(lines: Sequence[dict[str, Any]], *, asked: bool) -> dict[str, Any]:
    rows = [
        Row(
            line["correct"],
            line.get("question", ""),
            line.get("source", ""),
            tuple(
                raw_agreement(
                    line["reference"], line["response"], line.get("question", "") if asked else "", parameters
                )
                for parameters in _GRID
            ),
        )
        for line in lines
    ]
    place = best(rows)
    correct = [row.correct for row in rows]
    alike = [row.likenesses[place] for row in rows]
    split = best_split(list(zip(alike, correct, strict=True)))
    areas = [area(correct, [row.likenesses[place] for row in rows]) for place in range(len(_GRID))]
    return {
        "parameters": _GRID[place].model_dump(exclude={"decision"}) | {"decision": split and round(split.point, 3)},
        "auc": round(area(correct, alike), 4),
        "auc_worst_parameters": round(min(areas), 4),
        "auc_other_questions": round(left_out(rows, fold), 4),
        "auc_other_sources": round(left_out(rows, lambda row: row.source), 4),
    }


if __name__ == "__main__":
    read = [json.loads(line) for line in Path(sys.argv[1]).read_text("utf-8").splitlines()]
    print(
        json.dumps({"without_question": fitted(read, asked=False), "with_question": fitted(read, asked=True)}, indent=2)
    )

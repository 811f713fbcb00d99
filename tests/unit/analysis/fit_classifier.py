"""Learns the weights of `ralph.analysis.state` from the labelled replies of the test cases.

    uv run python tests/unit/analysis/fit_classifier.py          # writes ralph/analysis/classifier.json

For each state a logistic regression with a penalty on the squares of the weights, in which the replies of that state
weigh the same in all as the others, however many there are. The same cases give the same weights.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ralph.analysis import state
from ralph.analysis.state import CLASSES, FIRST, Weights, tokenize
from ralph.analysis.text import read

CASES = Path(__file__).parent / "cases"
LEARNED_FROM = ("replies", "finals", "varied", "turns", "sessions")
TARGET = Path(state.__file__).with_name("classifier.json")

RAREST = 4
"""A word that occurs in fewer cases is left out."""

PENALTY = 15.0
ROUNDS = 250


class Case(NamedTuple):
    """A labelled reply: its prose, whether its task is known, and its state."""

    prose: str
    task: bool
    state: str


class _Row(NamedTuple):
    """A case as the numbers of its features; `share` is how much it weighs."""

    numbers: tuple[int, ...]
    positive: bool
    share: float


def read_cases(path: Path) -> list[Case]:
    """The labelled replies of a file."""
    cases: list[Case] = []
    for line in path.read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        cases.append(Case(read(row["text"]).prose, bool(row.get("task")), row["state"]))
    return cases


def fit(cases: Sequence[Case], penalty: float = PENALTY) -> Weights:
    """The weights that tell the cases of each state from the others."""
    heard = [(set(words), set(words[:FIRST])) for words in (tokenize(case.prose) for case in cases)]
    counts = Counter((place, word) for both in heard for place, words in enumerate(both) for word in words)
    index = {name: number for number, name in enumerate(sorted(n for n, c in counts.items() if c >= RAREST), 2)}
    numbers: list[tuple[int, ...]] = []
    for case, both in zip(cases, heard, strict=True):
        words = (index.get((place, word)) for place, each in enumerate(both) for word in sorted(each))
        numbers.append((0, *([1] if case.task else []), *(number for number in words if number)))
    columns = [_column(cases, numbers, state, len(index) + 2, penalty) for state in CLASSES]
    rows = [tuple(round(value, 2) for value in row) for row in zip(*columns, strict=True)]
    places: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for (place, word), number in index.items():
        if any(rows[number]):
            places[place][word] = rows[number]
    return Weights(rows[0], rows[1], *places)


def _column(
    cases: Sequence[Case], numbers: Sequence[tuple[int, ...]], state: str, width: int, penalty: float
) -> list[float]:
    """The weights that tell one state from the others."""
    of_it = sum(case.state == state for case in cases)
    shares = {True: len(cases) / 2 / of_it, False: len(cases) / 2 / (len(cases) - of_it)}
    rows = [
        _Row(each, case.state == state, shares[case.state == state]) for case, each in zip(cases, numbers, strict=True)
    ]
    return _descend(rows, width, penalty)


def _descend(rows: Sequence[_Row], width: int, penalty: float) -> list[float]:
    """Accelerated gradient descent; the step is halved until it is short enough."""
    weights, ahead = [0.0] * width, [0.0] * width
    step, momentum = 1e-2, 1.0
    for _ in range(ROUNDS):
        loss, slope = _loss(rows, ahead, penalty)
        steepness = sum(value * value for value in slope)
        while True:
            new = [weight - step * value for weight, value in zip(ahead, slope, strict=True)]
            if _loss(rows, new, penalty)[0] <= loss - step * steepness / 2:
                break
            step /= 2
        following = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
        push = (momentum - 1) / following
        ahead = [weight + push * (weight - before) for weight, before in zip(new, weights, strict=True)]
        weights, momentum = new, following
    return weights


def _loss(rows: Sequence[_Row], weights: Sequence[float], penalty: float) -> tuple[float, list[float]]:
    """What is to become small, and how it grows with each weight. The base rate bears no penalty."""
    loss = penalty / 2 * sum(weight * weight for weight in weights[1:])
    slope = [penalty * weight for weight in weights]
    slope[0] = 0.0
    for row in rows:
        odds = sum(weights[number] for number in row.numbers)
        chance = 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
        loss -= row.share * math.log(max(1e-12, chance if row.positive else 1 - chance))
        error = row.share * (chance - row.positive)
        for number in row.numbers:
            slope[number] += error
    return loss, slope


def main() -> None:
    """Learns from all cases but those that are kept apart for measuring."""
    cases = [case for name in LEARNED_FROM for case in read_cases(CASES / f"{name}.jsonl")]
    learned = fit(cases)
    TARGET.write_text(written(learned), "utf-8")
    print(json.dumps({"cases": len(cases), "words": len(learned.anywhere), "first": len(learned.first)}))


def written(learned: Weights) -> str:
    """The weights as they are kept: JSON, a word a line."""
    parts: list[str] = []
    for name, value in learned._asdict().items():
        if isinstance(value, dict):
            rows = ",\n".join(
                f"  {json.dumps(word, ensure_ascii=False)}: {json.dumps(row)}" for word, row in value.items()
            )
            parts.append(f'"{name}": {{\n{rows}\n}}')
        else:
            parts.append(f'"{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main()

"""Learns the weights of `ralph.analysis.detectors.wording` from the labelled replies of the test cases.

    uv run python tests/unit/analysis/fit_fold.py            # writes ralph/analysis/fold.json
    uv run python tests/unit/analysis/fit_fold.py --check    # prints how well each hand is judged by what others teach

A multinomial logistic regression with a penalty on the squares of the weights. Most cases come from hands that had seen
no rules; the older ones, on which rules were tuned, keep real loops in the mixture. Files that only measure
(`held`, `unseen`, `hands_unread`) take no part. The same cases give the same weights.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ralph.analysis import AnalysisContext, ResponseAnalyzer, detectors
from ralph.analysis.detectors import wording
from ralph.analysis.detectors.wording import STATES, TASK_SCALE, WORDS_SCALE, Weights
from ralph.analysis.result import Reply, Signals
from ralph.status import parse_status
from ralph.types.output import Output

CASES = Path(__file__).parent / "cases"
OLDER = ("replies", "finals", "varied", "turns", "sessions")
TARGET = Path(detectors.__file__).parent.with_name("fold.json")

RAREST = 3
"""A feature of fewer cases is left out."""
PENALTY = 3.3
ROUNDS = 250
SMALLEST = 2
"""Hundredths: a word whose every weight is smaller is left out, and the others are learned anew."""
OF_LOOPS = 2.0
"""The weight of a case of `hands/fold.jsonl`, which has what real loops show and other hands do not."""
PLACES = ("any", "first", "last")

Vector = NDArray[np.float64]


class Case(NamedTuple):
    """The features of a labelled reply: facts, words by place, words of the task; and its state."""

    hand: str
    facts: frozenset[str]
    words: frozenset[str]
    task: frozenset[str]
    state: str


def read_cases() -> list[Case]:
    """The cases to learn from."""
    files = [*sorted(CASES.glob("hands/*.jsonl")), *(CASES / f"{name}.jsonl" for name in OLDER)]
    return [
        case_of(file.stem if file.parent.name == "hands" else "older", row) for file in files for row in rows_of(file)
    ]


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    # Not `str.splitlines`, which also cuts at separators that a JSON string may hold as they are.
    return [json.loads(line) for line in file.read_text("utf-8").strip().split("\n")]


def case_of(hand: str, row: dict[str, Any]) -> Case:
    """The features of a row."""
    reply = reply_of(row["text"], row.get("task") or "")
    words = wording.words_of(reply)
    facts = frozenset(wording.facts_of(reply))
    placed = frozenset(f"{place} {word}" for place, found in wording.places_of(words) for word in found)
    return Case(hand, facts, placed, frozenset(wording.task_words(reply.context.task)), row["state"])


def reply_of(text: str, task: str) -> Reply:
    """A reply with the signals of all detectors, those of the fold left out."""
    reply, _ = ResponseAnalyzer().detect(Output(text=text), parse_status(text), AnalysisContext(task=task))
    others = [signal for signal in reply.signals.all() if signal.kind not in wording.KINDS]
    return replace(reply, signals=Signals(others))


class Features:
    """The features that are kept, by number, and cases as rows of a sparse matrix."""

    def __init__(self, cases: Sequence[Case], keep: Iterable[tuple[int, str]] | None = None) -> None:
        if keep is None:
            counts = Counter((group, name) for case in cases for group, names in enumerate(case[1:4]) for name in names)
            keep = [feature for feature, count in counts.items() if count >= RAREST]
        self.names = sorted(keep)
        self._numbers = {feature: number for number, feature in enumerate(self.names, 1)}

    def matrix(self, cases: Sequence[Case]) -> "Matrix":
        """The cases as rows; each begins with a 1 for the base."""
        places, values, begins = [], [], []
        for case in cases:
            begins.append(len(places))
            places.append(0)
            values.append(1.0)
            for group, scaling in enumerate((None, WORDS_SCALE, TASK_SCALE)):
                known = sorted(filter(None, (self._numbers.get((group, name)) for name in case[1 + group])))
                value = scaling[0] / math.sqrt(max(scaling[1], len(known))) if scaling else 1.0
                places += known
                values += [value] * len(known)
        return Matrix(np.array(places), np.array(values), np.array(begins), len(self.names) + 1)


class Matrix:
    """A sparse matrix that is multiplied from both sides."""

    def __init__(self, places: NDArray[np.int64], values: Vector, begins: NDArray[np.int64], width: int) -> None:
        self.width, self.height = width, len(begins)
        self._places, self._values, self._begins = places, values, begins
        rows = np.repeat(np.arange(self.height), np.diff([*begins, len(places)]))
        order = np.argsort(places, kind="stable")
        self._rows, self._turned = rows[order], values[order]
        self._used, self._starts = np.unique(places[order], return_index=True)

    def times(self, weights: Vector) -> Vector:
        """The sums of each row."""
        return np.add.reduceat(weights[self._places] * self._values[:, None], self._begins, axis=0)

    def turned_times(self, errors: Vector) -> Vector:
        """The sums of each feature."""
        found = np.zeros((self.width, errors.shape[1]))
        found[self._used] = np.add.reduceat(errors[self._rows] * self._turned[:, None], self._starts, axis=0)
        return found


def descend(matrix: Matrix, cases: Sequence[Case], rounds: int = ROUNDS) -> Vector:
    """Accelerated gradient descent; the step is halved until it is short enough."""
    expected = np.array([[case.state == state for state in STATES] for case in cases], dtype=float)
    shares = np.array([OF_LOOPS if case.hand == "fold" else 1.0 for case in cases])[:, None]
    weights = ahead = np.zeros((matrix.width, len(STATES)))
    step, momentum = 1e-2, 1.0
    loss, slope = _loss(matrix, expected, shares, ahead)
    for _ in range(rounds):
        steepness = float((slope * slope).sum())
        while True:
            new = ahead - step * slope
            if _loss(matrix, expected, shares, new, sloped=False)[0] <= loss - step * steepness / 2:
                break
            step /= 2
        following = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
        ahead = new + (momentum - 1) / following * (new - weights)
        weights, momentum = new, following
        loss, slope = _loss(matrix, expected, shares, ahead)
    return weights


def _loss(
    matrix: Matrix, expected: Vector, shares: Vector, weights: Vector, *, sloped: bool = True
) -> tuple[float, Vector]:
    """What is to become small, and how it grows with each weight. The base bears no penalty."""
    chances = chances_of(matrix.times(weights))
    loss = -float((shares * expected * np.log(np.maximum(chances, 1e-12))).sum())
    loss += PENALTY / 2 * float((weights[1:] ** 2).sum())
    if not sloped:
        return loss, weights
    slope = matrix.turned_times(shares * (chances - expected))
    slope[1:] += PENALTY * weights[1:]
    return loss, slope


def chances_of(sums: Vector) -> Vector:
    """The softmax of each row."""
    raised = np.exp(sums - sums.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def learn(cases: Sequence[Case]) -> tuple[Features, Vector]:
    """The features that are worth their place, and their weights."""
    every = Features(cases)
    first = descend(every.matrix(cases), cases, ROUNDS // 3)
    loud = np.abs(first[1:]).max(axis=1) * 100 >= SMALLEST
    kept = Features(cases, [name for name, keep in zip(every.names, loud, strict=True) if keep or name[0] == 0])
    return kept, descend(kept.matrix(cases), cases)


def fit(cases: Sequence[Case]) -> Weights:
    """The weights that tell the cases of each state from the others."""
    features, weights = learn(cases)
    rows = [[round(100 * value) for value in row] for row in weights.tolist()]
    facts: dict[str, Any] = {}
    words: dict[str, dict[str, Any]] = {place: {} for place in PLACES}
    task: dict[str, Any] = {}
    for (group, name), row in zip(features.names, rows[1:], strict=True):
        if any(row):
            place, _, word = name.partition(" ")
            (facts, words.get(place, {}), task)[group][word if group == 1 else name] = row
    return Weights(rows[0], facts, words, task)


def written(learned: Weights) -> str:
    """The weights as they are kept: JSON, a feature a line."""
    return json.dumps(learned._asdict(), ensure_ascii=False, separators=(",", ":")).replace("],", "],\n") + "\n"


def check(cases: Sequence[Case], parts: int = 5) -> None:
    """Prints the figures of hands that are judged, by rules and fold together, with the weights that others teach."""
    hands = sorted({case.hand for case in cases} - {"older", "fold"})
    pairs: dict[str, list[tuple[str, str]]] = {hand: [] for hand in hands}
    for part in range(parts):
        apart = hands[part::parts]
        taught = [wording.Fold(fit([case for case in cases if case.hand not in apart]))]
        wording.fold = cache(taught.pop)
        analyzer = ResponseAnalyzer()
        for hand in apart:
            for row in rows_of(CASES / "hands" / f"{hand}.jsonl"):
                reply = analyzer.analyze(
                    Output(text=row["text"]), parse_status(row["text"]), AnalysisContext(task=row.get("task") or "")
                )
                pairs[hand].append((row["state"], reply.state))
    pairs["all"] = [pair for judged in pairs.values() for pair in judged]
    for hand, judged in pairs.items():
        print(json.dumps({"hand": hand, "cases": len(judged), **figures(judged)}))


def figures(judged: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Macro F1, precision and recall of done, and the share of the unfinished that are taken for done."""
    pairs = Counter(judged)
    expected, states = Counter(state for state, _ in judged), Counter(state for _, state in judged)
    scores = [2 * pairs[state, state] / (expected[state] + states[state]) for state in expected]
    return {
        "macro_f1": round(sum(scores) / len(scores), 3),
        "done_precision": round(pairs["done", "done"] / max(1, states["done"]), 3),
        "done_recall": round(pairs["done", "done"] / max(1, expected["done"]), 3),
        "unfinished_as_done": round((states["done"] - pairs["done", "done"]) / (len(judged) - expected["done"]), 3),
    }


def main() -> None:
    """Learns from all cases, or checks."""
    cases = read_cases()
    if sys.argv[1:] == ["--check"]:
        check(cases)
        return
    learned = fit(cases)
    TARGET.write_text(written(learned), "utf-8")
    sizes = {"facts": len(learned.facts), "words": sum(map(len, learned.words.values())), "task": len(learned.task)}
    print(json.dumps({"cases": len(cases), **sizes, "bytes": TARGET.stat().st_size}))


if __name__ == "__main__":
    main()

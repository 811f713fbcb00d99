"""Fits the parameters of the lexical provider on claims that people looked for in responses.

    uv run python plugins/ralph-grounding/tests/fit_lexical.py CLAIMS.jsonl [SHUFFLES] > lexical.json

A line of the file is `{"id", "response", "claims": […], "labels": […]}`: a label is true where the response makes the
claim. Rows whose ids begin alike, up to the second hyphen, are about one document; no document is both fitted on and
tested on; that is done with as many divisions of the documents as the second argument says, five if it is missing. On
standard error it says how well the claims are told apart that were not fitted on.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # pyright: ignore[reportMissingTypeStubs]
from scipy.stats import rankdata  # pyright: ignore[reportMissingTypeStubs]

from ralph_grounding.similarity.calibration import LexicalParameters, TokenWeights
from ralph_grounding.similarity.claim import Features, prepare_claims
from ralph_grounding.similarity.lexical import LexicalProvider
from ralph_grounding.similarity.windows import Place, Windows
from ralph_grounding.text import Span, guess_language

FOLDS = 9
SHUFFLES = int(sys.argv[2]) if sys.argv[2:] else 5
PENALTY = 0.002
"""For large weights: without it numbers, which are few, would count whatever the chance of the rows says."""
BLOCK = 10_000

Numbers = NDArray[np.float64]


class Tokens(NamedTuple):
    """All tokens of all claims: of which claim each is, its features, and how far the response has it."""

    claim: NDArray[np.int64]
    features: Numbers
    credit: Numbers

    def recall(self, weights: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Of each claim the share that is there; of each token its weight; of each claim the sum of those."""
        weight = np.exp(self.features @ weights)
        total = np.bincount(self.claim, weight).astype(float)
        return np.bincount(self.claim, weight * self.credit) / total, weight, total


class Data(NamedTuple):
    """The claims: their tokens, labels and documents, and which ones the response goes against."""

    tokens: Tokens
    label: NDArray[np.int64]
    document: NDArray[np.str_]
    contested: NDArray[np.bool_]


def main() -> None:
    """Fits, tests, and prints the parameters."""
    data = read(Path(sys.argv[1]))
    tested = [crossed(data, seed) for seed in range(SHUFFLES)]
    auc, f1 = np.mean(tested, axis=0)
    weights = fitted(data, np.ones(len(data.label), dtype=bool))
    raw = judged(data, weights)
    decision = best_decision(raw, data.label)
    fit = {"auc": auc_of(raw, data.label), "f1": f1_of(raw, data.label, decision)}
    print(f"{len(data.label)} claims, {len(set(data.document))} documents", file=sys.stderr)
    print(f"fitted on:     AUC {fit['auc']:.4f}, F1 {fit['f1']:.4f}", file=sys.stderr)
    print(f"not fitted on: AUC {auc:.4f}, F1 {f1:.4f}, mean of {SHUFFLES} × {FOLDS} folds", file=sys.stderr)
    named = dict(zip(Features._fields, (round(float(weight), 2) for weight in weights), strict=True))
    parameters = LexicalParameters(weights=TokenWeights(**named), decision=round(decision, 3))
    print(parameters.model_dump_json(indent=2))


def read(path: Path) -> Data:
    """The file, looked through as the provider does. Responses longer than a window are read as if they were one."""
    claim: list[int] = []
    features: list[Features] = []
    credit: list[float] = []
    labels: list[int] = []
    documents: list[str] = []
    contested: list[bool] = []
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        contested += contests(row)
        response = row["response"]
        language = guess_language(f"{response} {' '.join(row['claims'])}")
        window = Windows([Place(response, Span(0, len(response)))], language, BLOCK).window(0)
        for one, label in zip(prepare_claims(row["claims"], language), row["labels"], strict=True):
            claim += [len(labels)] * len(one.tokens)
            features += [word.features for word in one.tokens]
            credit += window.read(one).credits
            labels.append(int(label))
            documents.append("-".join(row["id"].split("-")[:2]))
    tokens = Tokens(np.array(claim), np.array(features, dtype=float), np.array(credit))
    return Data(tokens, np.array(labels), np.array(documents), np.array(contested))


def contests(row: dict[str, Any]) -> list[bool]:
    """Of each claim whether the response goes against it."""
    supports = asyncio.run(LexicalProvider().supports(row["claims"], row["response"]))
    return [bool(support.conflicts) for support in supports]


def fitted(data: Data, train: NDArray[np.bool_]) -> Numbers:
    """The weights with which a logistic curve over the recall tells most about the labels of those claims."""
    tokens, chosen, count = data.tokens, train, train.sum()

    def loss(point: Numbers) -> tuple[float, Numbers]:
        weights, slope = point[2:], np.exp(point[1])
        recall, weight, total = tokens.recall(weights)
        odds = point[0] + slope * recall
        wrong = np.where(chosen, 1 / (1 + np.exp(-odds)) - data.label, 0) / count
        surprise = np.where(chosen, np.logaddexp(0, odds) - data.label * odds, 0).sum() / count
        by_token = (wrong * slope / total)[tokens.claim] * weight * (tokens.credit - recall[tokens.claim])
        gradient = np.r_[
            wrong.sum(), (wrong * slope * recall).sum(), by_token @ tokens.features + 2 * PENALTY * weights
        ]
        return surprise + PENALTY * (weights**2).sum(), gradient

    start = np.r_[-3.0, 1.7, np.zeros(len(Features._fields))]
    return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x[2:]


def crossed(data: Data, seed: int) -> tuple[float, float]:
    """AUC and F1 over all claims, each judged by parameters that its document had no part in, the decision included."""
    documents = sorted(set(data.document))
    np.random.default_rng(seed).shuffle(documents)
    fold_of = {document: number % FOLDS for number, document in enumerate(documents)}
    folds = np.array([fold_of[document] for document in data.document])
    ranked, found = np.zeros(len(folds)), np.zeros(len(folds), dtype=bool)
    for fold in range(FOLDS):
        train = folds != fold
        raw = judged(data, fitted(data, train))
        decision = best_decision(raw[train], data.label[train])
        ranked[~train], found[~train] = raw[~train] - decision, raw[~train] > decision
    return auc_of(ranked, data.label), f1_of(found.astype(float), data.label, 0.5)


def judged(data: Data, weights: Numbers) -> Numbers:
    """The raw similarity of each claim. A contested one is brought down by about as much as the provider does."""
    recall = data.tokens.recall(weights)[0]
    return np.where(data.contested, 0.6 * recall, recall)


def best_decision(raw: Numbers, label: NDArray[np.int64]) -> float:
    """The raw similarity above which claims are best taken for found: the middle of those that are nearly best."""
    points = np.linspace(0.3, 0.9, 241)
    scores = np.array([f1_of(raw, label, point) for point in points])
    return float(np.median(points[scores >= scores.max() - 0.003]))


def f1_of(raw: Numbers, label: NDArray[np.int64], decision: float) -> float:
    """Of the claims above the decision point, as those that the response makes."""
    found = raw > decision
    return float(2 * (found & (label == 1)).sum() / (found.sum() + label.sum()))


def auc_of(raw: Numbers, label: NDArray[np.int64]) -> float:
    """How often a claim that is made is above one that is not."""
    made = int(label.sum())
    return float((rankdata(raw)[label == 1].sum() - made * (made + 1) / 2) / (made * (len(label) - made)))


if __name__ == "__main__":
    main()

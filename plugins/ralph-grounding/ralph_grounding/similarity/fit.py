"""Fits the decision points of a model to labelled answers: `python -m ralph_grounding.similarity.fit`.

Labelled claims are JSON lines with "response", "claims" and "labels" (whether the response makes each claim); labelled
answers are JSON lines with "reference", "response" and "correct". The decision point for claims maximises F1, and that
for answers the mean of the shares of right and wrong ones that are recognised.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError, model_validator

from ralph.errors import RalphError, UsageError, plainly
from ralph_grounding.settings import ProviderSettings
from ralph_grounding.similarity.base import SimilarityProvider
from ralph_grounding.similarity.calibration import UNFITTED, UNFITTED_HYBRID, DecisionPoints, read_decision_points
from ralph_grounding.similarity.choose import provider_without_fallback
from ralph_grounding.similarity.hybrid import HybridProvider

__all__ = ["Fitted", "LabelledAnswer", "LabelledClaims", "best_f1", "best_split", "fitted", "main"]

_Quality = Callable[[int, int, int, int], float]
"""The quality of a point, from the counts of true and false ones above it and of all true and false ones."""

_Row = TypeVar("_Row", bound=BaseModel)


class LabelledClaims(BaseModel, frozen=True):
    """A response, and for each claim a human label whether the response makes it."""

    response: str
    claims: tuple[str, ...]
    labels: tuple[bool, ...]

    @model_validator(mode="after")
    def _match(self) -> "LabelledClaims":
        if len(self.claims) != len(self.labels):
            raise ValueError(f"{len(self.claims)} claims have {len(self.labels)} labels")
        return self


class LabelledAnswer(BaseModel, frozen=True):
    """An answer, and a human label whether it is right."""

    reference: str
    response: str
    correct: bool
    question: str = ""


class Fitted(NamedTuple):
    """A decision point, and the quality of the decisions at it: F1, or the mean of both shares."""

    point: float
    quality: float
    rows: int


async def fitted(
    provider: SimilarityProvider, claims: Sequence[LabelledClaims], answers: Sequence[LabelledAnswer]
) -> tuple[Fitted | None, Fitted | None]:
    """Fit the decision points of a provider for claims and for answers; None without labels of both values."""
    found: list[tuple[float, bool]] = []
    alike: list[tuple[float, bool]] = []
    async with provider:
        for row in claims:
            supports = await provider.supports(row.claims, row.response)
            found += [(one.similarity.raw, label) for one, label in zip(supports, row.labels, strict=True)]
        for row in answers:
            similarity = await provider.agreement(row.reference, row.response, row.question)
            alike.append((similarity.raw, row.correct))
    return best_f1(found), best_split(alike)


def best_f1(measured: Sequence[tuple[float, bool]]) -> Fitted | None:
    """Return the point with the highest F1 of those above it."""
    return _best(measured, lambda true, false, positives, _negatives: 2 * true / (true + false + positives))


def best_split(measured: Sequence[tuple[float, bool]]) -> Fitted | None:
    """Return the point with the highest sum of true ones above it and false ones below it, as shares."""
    return _best(measured, lambda true, false, positives, negatives: (true / positives + 1 - false / negatives) / 2)


def _best(measured: Sequence[tuple[float, bool]], quality: _Quality) -> Fitted | None:
    """Return the best point between two neighbouring values, or None if no point separates any."""
    positives = sum(label for _, label in measured)
    negatives = len(measured) - positives
    if not positives or not negatives:
        return None
    ordered = sorted(measured, reverse=True)
    best = Fitted(0.0, -1.0, len(measured))
    true = false = 0
    for place, (raw, label) in enumerate(ordered):
        true, false = true + label, false + (not label)
        below = ordered[place + 1][0] if place + 1 < len(ordered) else 0.0
        reached = quality(true, false, positives, negatives)
        if below < raw and reached > best.quality:
            best = Fitted((raw + below) / 2, reached, len(measured))
    return best if best.point > 0 else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; the exit status is 2 for invalid input, and 1 if the model fails."""
    import anyio

    given = _parser().parse_args(arguments)
    try:
        entry = anyio.run(_fit, given)
    except RalphError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(json.dumps(entry) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ralph_grounding.similarity.fit",
        description="Fits a model's decision points to labelled data, and saves them in a file for "
        "plugins.grounding.providers.calibration.",
    )
    parser.add_argument("similarity", choices=("local", "endpoint", "hybrid"))
    parser.add_argument("model", help="the name of the model, or its folder")
    parser.add_argument("--embedding", choices=("local", "endpoint"), default="local", help="the model of hybrid")
    parser.add_argument("--url", default="", help="the endpoint's base URL, up to and including /v1")
    parser.add_argument("--key-variable", default="", metavar="NAME", help="the environment variable with its key")
    parser.add_argument("--download", action="store_true", help="download a missing local model")
    parser.add_argument("--claims", type=Path, metavar="FILE", help="labelled claims, as JSON lines")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="labelled answers, as JSON lines")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        required=True,
        help="the result; other models' points in it stay, except those of a hybrid with this model",
    )
    return parser


def _settings(given: argparse.Namespace) -> ProviderSettings:
    return ProviderSettings(
        similarity=given.similarity,
        embedding=given.embedding,
        embedding_model=given.model,
        url=given.url,
        download=given.download,
        api_key=SecretStr(_key(given.key_variable)),
    )


async def _fit(given: argparse.Namespace) -> dict[str, Any]:
    known = dict(read_decision_points(given.out)) if given.out.exists() else {}
    provider = provider_without_fallback(_settings(given), known)
    claims = list(_rows(given.claims, LabelledClaims))
    answers = list(_rows(given.answers, LabelledAnswer))
    by_claims, by_answers = await fitted(provider, claims, answers)
    if by_claims is None and by_answers is None:
        raise UsageError("There is no labelled data.", "Give --claims or --answers, with labels of both kinds.")
    unfitted = known.get(provider.name, UNFITTED_HYBRID if given.similarity == "hybrid" else UNFITTED)
    known[provider.name] = points = DecisionPoints(
        claims=by_claims.point if by_claims else unfitted.claims,
        agreement=by_answers.point if by_answers else unfitted.agreement,
        passages=unfitted.passages,
        rows=sum(found.rows for found in (by_claims, by_answers) if found),
    )
    if given.similarity != "hybrid":
        known.pop(HybridProvider.name_with(provider), None)  # it rests on the points that were just replaced
    _keep(known, given.out)
    return {
        "provider": provider.name,
        **points.model_dump(exclude_none=True),
        "claims_f1": by_claims and round(by_claims.quality, 4),
        "answers_balanced": by_answers and round(by_answers.quality, 4),
    }


def _key(variable: str) -> str:
    if variable and variable not in os.environ:
        raise UsageError(f"The environment has no variable {variable}.", "Set it, or leave --key-variable out.")
    return os.environ[variable] if variable else ""


def _keep(points: Mapping[str, DecisionPoints], out: Path) -> None:
    text = json.dumps({name: entry.model_dump(exclude_none=True) for name, entry in points.items()}, indent=2)
    try:
        out.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror or error}.", "Name another file.") from None


def _rows(path: Path | None, kind: type[_Row]) -> Iterator[_Row]:
    if path is None:
        return
    number = 0
    try:
        with path.open("rb") as file:
            for line in file:
                number += 1
                if line.strip():
                    yield kind.model_validate_json(line)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.", "Give a file of JSON lines.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise UsageError(f"Line {number} of {path} cannot be used: {place}: {plainly(first['msg'][:200])}.") from None


if __name__ == "__main__":
    sys.exit(main())

"""OpenTelemetry metrics of the analyses; without an SDK nothing is counted.

| instrument | kind | attributes |
|---|---|---|
| `ralph.grounding.analyses` | counter | `domain`, `run_id` |
| `ralph.grounding.score` | histogram, 0–100 | `metric`, `domain` |
| `ralph.grounding.analysis.duration` | histogram, s | `domain` |
| `ralph.grounding.embedding.tokens` | counter | `model` |
| `ralph.grounding.errors` | counter | `type` |
| `ralph.grounding.claims.precision` | gauge, 0–1 | `provider` |
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from ralph_grounding.result import AnalysisResult

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram, Meter
    from opentelemetry.metrics import _Gauge as Gauge

__all__ = ["count_embedding_tokens", "count_error", "record_analysis", "record_claim_precision"]

_SCORE_STEPS = [10 * step for step in range(1, 10)]


def record_analysis(result: AnalysisResult, *, seconds: float, run_id: str = "") -> None:
    """Count an analysis, its scores and its duration."""
    of_domain = {"domain": result.domain}
    _analyses().add(1, of_domain | ({"run_id": run_id} if run_id else {}))
    _duration().record(seconds, of_domain)
    scores = result.scores
    for metric in ("accuracy", "completeness", "attribution"):
        measured = getattr(scores, metric)
        if measured is not None:
            _score().record(measured.score, of_domain | {"metric": metric})
    if scores.combined is not None:
        _score().record(scores.combined, of_domain | {"metric": "combined"})


def count_embedding_tokens(tokens: int, *, model: str) -> None:
    """Count the tokens that an endpoint reports for embeddings."""
    _tokens().add(tokens, {"model": model})


def count_error(kind: str) -> None:
    """Count a failure by its kind, such as "rate_limit"; one that passed on a retry does not count."""
    _errors().add(1, {"type": kind})


def record_claim_precision(found: Sequence[bool], labels: Sequence[bool], *, provider: str) -> float | None:
    """Record the share of the found claims that the labels confirm; return None, without a record, if none was found.

    Args:
        found: for each claim, whether it was found.
        labels: for each claim, whether it is there according to a human judge.
        provider: the similarity provider.

    Raises:
        ValueError: the numbers of labels and findings differ.
    """
    if len(found) != len(labels):
        raise ValueError(f"{len(found)} findings do not match {len(labels)} labels")
    agreed = [label for was_found, label in zip(found, labels, strict=True) if was_found]
    if not agreed:
        return None
    precision = sum(agreed) / len(agreed)
    _precision().set(precision, {"provider": provider})
    return precision


def _meter() -> "Meter":
    from opentelemetry.metrics import get_meter

    return get_meter("ralph_grounding")


@cache
def _analyses() -> "Counter":
    return _meter().create_counter("ralph.grounding.analyses", "{analysis}", "Analyses made.")


@cache
def _score() -> "Histogram":
    return _meter().create_histogram(
        "ralph.grounding.score", "1", "Scores.", explicit_bucket_boundaries_advisory=_SCORE_STEPS
    )


@cache
def _duration() -> "Histogram":
    return _meter().create_histogram("ralph.grounding.analysis.duration", "s", "The duration of an analysis.")


@cache
def _tokens() -> "Counter":
    return _meter().create_counter("ralph.grounding.embedding.tokens", "{token}", "Tokens used for embeddings.")


@cache
def _errors() -> "Counter":
    return _meter().create_counter("ralph.grounding.errors", "{error}", "Failures, by kind.")


@cache
def _precision() -> "Gauge":
    return _meter().create_gauge(
        "ralph.grounding.claims.precision", "1", "The share of the found claims that human labels confirm."
    )

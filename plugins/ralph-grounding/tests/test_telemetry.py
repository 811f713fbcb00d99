"""What is tracked, as a real OpenTelemetry SDK sees it."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from ralph_grounding import AIResponse, BatchResult, GroundingAnalyzer, GroundTruth, ProviderError, Query, run_batch
from ralph_grounding.result import AccuracyResult, AnalysisResult, Scores
from ralph_grounding.settings import BatchSettings
from ralph_grounding.telemetry import (
    count_embedding_tokens,
    count_error,
    record_analysis,
    record_claim_precision,
)


@pytest.fixture(scope="module")
def reader() -> Iterator[InMemoryMetricReader]:
    """What all instruments of this process tell. It has one provider, so that each test has names of its own."""
    read = InMemoryMetricReader()
    provider = MeterProvider([read])
    metrics.set_meter_provider(provider)
    yield read
    provider.shutdown()


def points(reader: InMemoryMetricReader, name: str, **attributes: object) -> list[Any]:
    data = reader.get_metrics_data()
    return [
        point
        for resource in (data.resource_metrics if data else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
        if attributes.items() <= dict(point.attributes or {}).items()
    ]


def result(domain: str, score: float) -> AnalysisResult:
    scores = Scores(accuracy=AccuracyResult(score=score, tier="good", similarity=0.7, calibrated=0.75), combined=score)
    return AnalysisResult(
        id="a", query_id="q", domain=domain, response="Yes.", scores=scores, analyzed_at=datetime.now(UTC),
        analyzer_version="1",
    )  # fmt: skip


def test_analyses_are_counted_by_domain_and_run(reader: InMemoryMetricReader) -> None:  # covers: S3-169
    for run in ("r1", "r1", "r2"):
        record_analysis(result("counted.example", 80), seconds=0.1, run_id=run)
    record_analysis(result("other.example", 80), seconds=0.1)
    by_run = {point.attributes["run_id"]: point.value for point in points(reader, "ralph.grounding.analyses") if
              point.attributes["domain"] == "counted.example"}  # fmt: skip
    assert by_run == {"r1": 2, "r2": 1}
    (other,) = points(reader, "ralph.grounding.analyses", domain="other.example")
    assert (other.value, "run_id" in other.attributes) == (1, False)


def test_scores_are_a_distribution_by_metric(reader: InMemoryMetricReader) -> None:  # covers: S3-170
    for score in (5, 55, 95):
        record_analysis(result("spread.example", score), seconds=0.1)
    (accuracy,) = points(reader, "ralph.grounding.score", domain="spread.example", metric="accuracy")
    assert (accuracy.count, accuracy.sum, accuracy.min, accuracy.max) == (3, 155, 5, 95)
    assert list(accuracy.explicit_bounds) == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert list(accuracy.bucket_counts) == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert len(points(reader, "ralph.grounding.score", domain="spread.example", metric="combined")) == 1
    assert not points(reader, "ralph.grounding.score", domain="spread.example", metric="completeness")


def test_the_time_of_an_analysis_is_measured(reader: InMemoryMetricReader) -> None:  # covers: S3-171
    for seconds in (0.25, 0.75):
        record_analysis(result("timed.example", 80), seconds=seconds)
    (timed,) = points(reader, "ralph.grounding.analysis.duration", domain="timed.example")
    assert timed.sum / timed.count == 0.5


def test_tokens_and_errors_are_counted(reader: InMemoryMetricReader) -> None:  # covers: S3-172, S3-173
    count_embedding_tokens(40, model="counted-model")
    count_embedding_tokens(2, model="counted-model")
    count_error("counted_kind")
    (tokens,) = points(reader, "ralph.grounding.embedding.tokens", model="counted-model")
    (errors,) = points(reader, "ralph.grounding.errors", type="counted_kind")
    assert (tokens.value, errors.value) == (42, 1)


async def test_an_analysis_is_counted_when_it_is_made(reader: InMemoryMetricReader) -> None:  # covers: S3-169, S3-171
    query = Query(id="q", text="?", domain="made.example")
    async with GroundingAnalyzer() as analyzer:
        await analyzer.analyze(
            AIResponse(query_id="q", response="See made.example."), query, GroundTruth(), run_id="r7"
        )
    (counted,) = points(reader, "ralph.grounding.analyses", domain="made.example")
    assert (counted.value, counted.attributes["run_id"]) == (1, "r7")
    (timed,) = points(reader, "ralph.grounding.analysis.duration", domain="made.example")
    assert timed.count == 1
    assert timed.sum > 0
    (attribution,) = points(reader, "ralph.grounding.score", domain="made.example", metric="attribution")
    assert attribution.sum == 75


async def test_errors_of_a_batch_are_counted_by_their_type(reader: InMemoryMetricReader) -> None:  # covers: S3-173
    async def analyze(response: AIResponse, query: Query) -> AnalysisResult:
        raise ProviderError("Too long.", kind="too_long") if query.id != "q0" else KeyError("odd")

    queries = [Query(id=f"q{number}", text="?") for number in range(3)]
    responses = [AIResponse(query_id=query.id, response="?") for query in queries]
    *_, batch = [
        each async for each in run_batch(responses, queries, analyze, settings=BatchSettings(retry_on_failure=False))
    ]
    assert isinstance(batch, BatchResult)
    assert batch.failed == 3
    assert {
        kind: points(reader, "ralph.grounding.errors", type=kind)[0].value for kind in ("too_long", "KeyError")
    } == {
        "too_long": 2,
        "KeyError": 1,
    }


def test_the_precision_of_claims_is_that_of_those_found(reader: InMemoryMetricReader) -> None:  # covers: S3-174
    precision = record_claim_precision([True, True, True, False, True], [True, False, True, True, True], provider="me")
    (point,) = points(reader, "ralph.grounding.claims.precision", provider="me")
    assert precision == point.value == 0.75


def test_without_a_claim_found_there_is_no_precision(reader: InMemoryMetricReader) -> None:
    assert record_claim_precision([False], [True], provider="none") is None
    assert not points(reader, "ralph.grounding.claims.precision", provider="none")


def test_labels_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match="2 findings do not match 1 labels"):
        record_claim_precision([True, True], [True], provider="me")


def test_nothing_happens_where_no_sdk_is_set_up() -> None:
    code = "from ralph_grounding.telemetry import count_error; count_error('server')"
    done = subprocess.run(
        [sys.executable, "-Werror", "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

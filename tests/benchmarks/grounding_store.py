"""What it costs to stream analyses through a batch into a store and out of it again; prints JSON.

`uv run python tests/benchmarks/grounding_store.py [COUNT]`: how many responses are analysed. The analysis does nothing
but make a result of the usual size, so that what is measured is the batch and the store: `batch_per_s` (pairing, store
and summary, each result durable before it is seen), `scores_per_s` and `analyses_per_s` (reading them back, filtered
and sorted), `csv_per_s`, and `memory_growth_mb`: what all of that needs beyond what its first tenth has needed.
"""

import json
import resource
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import anyio

from ralph_grounding.batch import BatchResult, run_batch
from ralph_grounding.export import csv_lines
from ralph_grounding.filters import parse_filter
from ralph_grounding.materials import AIResponse, ExpectedClaim, Query
from ralph_grounding.result import (
    AccuracyResult,
    AnalysisResult,
    AttributionResult,
    ClaimMatch,
    CompletenessResult,
    Scores,
    TextPosition,
)
from ralph_grounding.settings import BatchSettings
from ralph_grounding.store import open_grounding_store
from ralph_grounding.store.grounding import GroundingStore

COUNT = int(sys.argv[1]) if sys.argv[1:] else 100_000
QUERIES = [Query(id=f"query {number}", text=f"what is {number}?", domain="example.com") for number in range(100)]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    """Measures, and prints the result."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(anyio.run(measured, Path(folder) / "grounding.db")))


async def measured(path: Path) -> dict[str, float]:
    async with open_grounding_store(str(path)) as store:
        await everything(store, COUNT // 10, "first")
        before = peak_mb()
        seconds = await everything(store, COUNT, "second")
        speeds = {name: round(COUNT / taken) for name, taken in seconds.items()}
        return {**speeds, "memory_growth_mb": round(peak_mb() - before, 1), "count": COUNT}


async def everything(store: GroundingStore, count: int, run_id: str) -> dict[str, float]:
    """Seconds of each step."""
    run = parse_filter(f"run={run_id}")
    steps: dict[str, Callable[[], Awaitable[int]]] = {
        "batch_per_s": lambda: analysed(store, count, run_id),
        "scores_per_s": lambda: counted(store.scores(run, order="worst")),
        "analyses_per_s": lambda: counted(store.analyses([*run, *parse_filter("accuracy>=0")])),
        "csv_per_s": lambda: counted(csv_lines(store.scores(run)), but=1),
    }
    taken: dict[str, float] = {}
    for name, step in steps.items():
        start = perf_counter()
        found = await step()
        assert found == count, (name, found)
        taken[name] = perf_counter() - start
    return taken


async def analysed(store: GroundingStore, count: int, run_id: str) -> int:
    settings = BatchSettings(concurrency=64)
    given = responses(count)
    async for each in run_batch(
        given, QUERIES, analyze, settings=settings, store=store, run_id=run_id, keep_results=False
    ):
        if isinstance(each, BatchResult):
            assert each.failed == 0
            return each.summary.query_count
    raise AssertionError


async def counted(found: AsyncIterator[object], but: int = 0) -> int:
    number = 0
    async for _ in found:
        number += 1
    return number - but


async def responses(count: int) -> AsyncIterator[AIResponse]:
    text = "an answer of some length. " * 40
    for number in range(count):
        query = QUERIES[number % len(QUERIES)]
        yield AIResponse(query_id=query.id, response=text, provider="p", model=f"m{number // len(QUERIES)}")


async def analyze(response: AIResponse, query: Query) -> AnalysisResult:
    claims = [ExpectedClaim(statement=f"claim {number} of the answer") for number in range(8)]
    found = [
        ClaimMatch(
            claim=claim,
            matched_text=response.response[:60],
            similarity=1,
            raw=1,
            position=TextPosition(start=0, end=60),
        )
        for claim in claims
    ]
    score = hash(response.model) % 101
    return AnalysisResult(
        id=f"{query.id} {response.model} {id(response)} {perf_counter()}",
        query_id=query.id,
        query=query.text,
        domain=query.domain,
        ai_provider=response.provider,
        model=response.model,
        response=response.response,
        scores=Scores(
            accuracy=AccuracyResult(score=score, tier="fair", similarity=score / 100, calibrated=score / 100),
            completeness=CompletenessResult(
                score=100, tier="excellent", claims_found=tuple(found), total_required=8, total_found=8
            ),
            attribution=AttributionResult(score=0, tier="poor"),
            combined=50,
        ),
        analyzed_at=NOW,
        analyzer_version="1",
    )


def peak_mb() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


if __name__ == "__main__":
    main()

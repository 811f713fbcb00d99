"""`--analyzer grounding`: the scores of each reply, in addition to the findings of the built-in analyzer.

A reply is judged synchronously in the loop's thread, so it is always compared by words.
"""

from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import anyio

from ralph import Analysis, Output
from ralph.analysis import AnalysisContext, Opinion
from ralph.errors import UsageError
from ralph_grounding.analyzer import GroundingAnalyzer
from ralph_grounding.ground_truth.claims_file import read_claims
from ralph_grounding.ground_truth.files import read_text
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.ground_truth.reading import read_ground_truth
from ralph_grounding.loop.shortfalls import Minimums, shortfalls
from ralph_grounding.materials import AIResponse, ExpectedAnswer, Query
from ralph_grounding.result import AnalysisResult, CompletenessResult
from ralph_grounding.settings import GroundingSettings
from ralph_grounding.similarity.lexical import LexicalProvider

__all__ = ["GroundedAnalysis", "LoopAnalyzer"]

_T = TypeVar("_T")

_MOST_MISSING = 50
_LONGEST = 300


class GroundedAnalysis(Analysis, frozen=True):
    """The scores of one reply, 0–100 each; None if the settings name nothing to hold it against.

    Attributes:
        missing: the required claims that it does not make, the first fifty.
        flags: as in `AnalysisResult`.
    """

    accuracy: float | None = None
    completeness: float | None = None
    attribution: float | None = None
    combined: float | None = None
    missing: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


class _Material(NamedTuple):
    """The material that replies are judged against."""

    query: Query
    ground: GroundTruth


class LoopAnalyzer:
    """Scorer of the agent's replies by `[plugins.grounding.loop]`.

    Raises:
        UsageError: a file that the settings name cannot be read, or they name nothing to hold a reply against.
    """

    def __init__(self, settings: GroundingSettings) -> None:
        if settings.loop.names_nothing:
            raise UsageError(
                "The analyzer 'grounding' has nothing to hold a reply against.",
                "Set claims, reference, ground_truth or domain under [plugins.grounding.loop].",
            )
        self._analyzer = GroundingAnalyzer(settings, provider=LexicalProvider())
        self._minimums = Minimums.of(settings.loop)
        self._held = _held(settings)

    def analyze(self, output: Output, status: object, context: AnalysisContext) -> GroundedAnalysis:
        """Score a reply; the minimums decide whether it supports completing the run."""
        del status, context
        response = AIResponse(query_id=self._held.query.id, response=output.text)
        result = _at_once(self._analyzer.analyze(response, self._held.query, self._held.ground, evidence=False))
        short = shortfalls(result, self._minimums)
        opinion = Opinion(on_completion="holds_back", reason="; ".join(short)[:500]) if short else Opinion()
        return _analysis(result, opinion)


def _analysis(result: AnalysisResult, opinion: Opinion) -> GroundedAnalysis:
    scores = result.scores
    return GroundedAnalysis(
        accuracy=scores.accuracy.score if scores.accuracy else None,
        completeness=scores.completeness.score if scores.completeness else None,
        attribution=scores.attribution.score if scores.attribution else None,
        combined=scores.combined,
        missing=_missing(scores.completeness) if scores.completeness else (),
        flags=result.flags,
        opinion=opinion,
    )


def _missing(completeness: CompletenessResult) -> tuple[str, ...]:
    lacking = completeness.claims_missing[:_MOST_MISSING]
    return tuple(" ".join(claim.statement.split())[:_LONGEST] for claim in lacking)


def _held(settings: GroundingSettings) -> _Material:
    loop = settings.loop
    expected = ExpectedAnswer(
        text=read_text(Path(loop.reference)) if loop.reference else "",
        claims=read_claims(Path(loop.claims)) if loop.claims else None,
    )
    ground = GroundTruth(domain=loop.domain, brands=loop.brands)
    if loop.ground_truth:
        reading = read_ground_truth(loop.ground_truth, domain=loop.domain, brands=loop.brands, limits=settings.reading)
        ground = _elsewhere(reading)
    return _Material(Query(id="reply", text="", expected=expected), ground)


def _elsewhere(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end in a separate thread, because an event loop may be running in this one."""

    async def run() -> _T:
        return await work

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, run).result()


def _at_once(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never waits, as comparing words does not."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    work.close()
    raise RuntimeError("a comparison of words waits for something")

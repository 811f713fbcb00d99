"""The analyzer: one answer, judged by three independent scorers, with feedback for readers."""

import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self, cast
from uuid import uuid4

from ralph.types import evolve
from ralph_grounding import telemetry
from ralph_grounding.batch import BatchError, BatchResult, run_batch
from ralph_grounding.errors import NoGroundTruthError
from ralph_grounding.feedback import give_feedback
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.judging.asking import Judging
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.normalize import NormalizedAnswer, normalize
from ralph_grounding.result import (
    AccuracyResult,
    AnalysisResult,
    AttributionResult,
    CompletenessResult,
    Feedback,
    JudgeUse,
    Scores,
)
from ralph_grounding.scoring.accuracy import AccuracyScorer
from ralph_grounding.scoring.attribution import AttributionScorer
from ralph_grounding.scoring.citations import cited, separated, with_citations
from ralph_grounding.scoring.completeness import CompletenessScorer
from ralph_grounding.scoring.rates import with_rates
from ralph_grounding.scoring.tiers import combined_score, tier_of
from ralph_grounding.settings import GroundingSettings
from ralph_grounding.similarity.base import SimilarityProvider
from ralph_grounding.similarity.choose import provider_for
from ralph_grounding.similarity.fallback import Fallback
from ralph_grounding.text.language import detect_language

__all__ = ["ANALYZER_VERSION", "GroundingAnalyzer"]

ANALYZER_VERSION = "2"
"""The version of the scoring; it changes whenever the same answer may get another score."""

_EXPECTED = "expected answer"


class _Case(NamedTuple):
    """An answer and the material to judge it against."""

    text: str
    query: Query
    ground: GroundTruth
    cited: tuple[str, ...]
    sources: GroundTruth
    """The texts to look statements up in: the pages, else the expected answer; empty if there is neither."""


class _Judged(NamedTuple):
    """The scores of an answer, the feedback, and what a judge was asked."""

    scores: Scores
    feedback: Feedback
    use: JudgeUse | None = None


class _Notes(NamedTuple):
    """Flags for programs, and the same findings as sentences for readers."""

    flags: dict[str, None]
    sentences: list[str]

    def add(self, flag: str, *sentences: str) -> None:
        self.flags[flag] = None
        self.sentences.extend(sentences)


class GroundingAnalyzer:
    """Scorer of answers against ground truth. Use it in `async with`, which opens its provider and its judge.

    Args:
        settings: the defaults if not given.
        provider: measures similarity; by default it is made from the settings and falls back to comparing words if it
            fails.
        judging: a judge of claims; None for the offline verdicts alone.
    """

    def __init__(
        self,
        settings: GroundingSettings | None = None,
        *,
        provider: SimilarityProvider | None = None,
        judging: Judging | None = None,
    ) -> None:
        self.settings = settings or GroundingSettings()
        self._provider = provider or provider_for(self.settings.providers)
        self._judging = judging
        self._opened = AsyncExitStack()
        self._accuracy = AccuracyScorer(self._provider, self.settings.accuracy, self.settings.tiers)
        self._completeness = CompletenessScorer(self._provider, self.settings.completeness, self.settings.tiers)
        self._attribution = AttributionScorer(self.settings.attribution, self.settings.tiers)

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._provider)
            if self._judging:
                await stack.enter_async_context(self._judging)
            self._opened = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    async def analyze(
        self,
        response: AIResponse,
        query: Query,
        ground_truth: GroundTruth,
        *,
        previous_id: str = "",
        run_id: str = "",
        evidence: bool = True,
    ) -> AnalysisResult:
        """Judge one answer.

        A metric without material is not measured: accuracy needs an expected text, completeness expected claims, and
        attribution a domain or brands.

        Args:
            response: the answer.
            query: the question and what is expected of its answer.
            ground_truth: the pages to look statements up in.
            previous_id: id of the analysis that this one repeats.
            run_id: id of the run that it belongs to, for the metrics.
            evidence: False skips the look-up in the ground truth, which takes most of the time. The scores stay the
                same, but there are no matched chunks, highlights or contradicting statements.

        Raises:
            NoGroundTruthError: there is nothing to hold the answer against.
            ProviderError: the similarity provider does not answer, and the fallback to words is not allowed.
        """
        _require_something(query, ground_truth)
        began = time.perf_counter()
        taken = normalize(response.response, self.settings.max_response, unwrap=not previous_id)
        if previous_id:
            taken = _with_first_oddities(taken, response.metadata)
        sources = ground_truth if ground_truth.pages else _of_expected(query)
        addresses = cited(response.citations, response.metadata)
        case = _Case(taken.text, query, ground_truth, addresses, sources if evidence else GroundTruth())
        judged = await (self._judged(case) if taken.text.strip() else self._empty(case))
        result = self._assembled(response, case, taken, judged, previous_id)
        telemetry.record_analysis(result, seconds=time.perf_counter() - began, run_id=run_id)
        return result

    def analyze_batch(
        self, responses: Iterable[AIResponse], queries: Iterable[Query], ground_truth: GroundTruth
    ) -> AsyncGenerator[AnalysisResult | BatchError | BatchResult]:
        """Judge many answers, each paired with its query by the query's id.

        Yields results and errors as they come, and last the `BatchResult` with all of them and the summary.
        """

        async def analyze(response: AIResponse, query: Query) -> AnalysisResult:
            return await self.analyze(response, query, ground_truth)

        return run_batch(responses, queries, analyze, settings=self.settings.batch, domain=ground_truth.domain)

    async def reanalyze(self, previous: AnalysisResult, ground_truth: GroundTruth) -> AnalysisResult:
        """Judge the same answer to the same query against other ground truth; the new analysis names the old one."""
        query = Query(id=previous.query_id, text=previous.query, domain=previous.domain, expected=previous.expected)
        response = AIResponse(
            query_id=previous.query_id,
            response=previous.response,
            provider=previous.ai_provider,
            trial=previous.trial,
            model=previous.model,
            responded_at=previous.response_at,
            metadata=previous.metadata,
        )
        return await self.analyze(response, query, ground_truth, previous_id=previous.id)

    @property
    def _trouble(self) -> str:
        """The reason for falling back to words, if known."""
        return self._provider.trouble if isinstance(self._provider, Fallback) else "It did not answer."

    async def _judged(self, case: _Case) -> _Judged:
        expected, text = case.query.expected, case.text
        accuracy = completeness = use = None
        if expected.text.strip():
            accuracy = await self._accuracy.score(text, expected.text, case.sources, case.query.text)
        if expected.claims is not None:
            completeness = await self._completeness.score(text, expected.claims, case.query.text)
            if self._judging:
                judged, use = await self._judging.judged(case.query.text, text, completeness.matches)
                completeness = self._completeness.result(expected.claims, judged, fallback=completeness.fallback)
        scores = self._scores(accuracy, completeness, self._attributed(case))
        return _Judged(scores, await self._told(completeness, case), use)

    def _attributed(self, case: _Case) -> AttributionResult | None:
        domain = case.query.domain or case.ground.domain
        brands = case.ground.brand_names
        if not domain and not brands:
            return None
        urls = [str(page.metadata.get("canonical") or page.url) for page in case.ground.pages]
        found = self._attribution.score(with_citations(case.text, case.cited), domain, brands, urls)
        return separated(found, len(case.text)) if case.cited else found

    async def _empty(self, case: _Case) -> _Judged:
        """Score an empty answer 0 on all three metrics, even those without material to measure them by."""
        tier = tier_of(0, self.settings.tiers)
        completeness = await self._completeness.score("", case.query.expected.claims or ())
        scores = self._scores(
            AccuracyResult(score=0, tier=tier, similarity=0, calibrated=0),
            evolve(completeness, score=0.0, tier=tier, note=""),
            AttributionResult(score=0, tier=tier),
        )
        return _Judged(scores, await self._told(completeness, case))

    async def _told(self, completeness: CompletenessResult | None, case: _Case) -> Feedback:
        threshold = self.settings.completeness.similarity_threshold
        return await give_feedback(completeness, case.text, case.sources, self._provider, threshold)

    def _scores(
        self,
        accuracy: AccuracyResult | None,
        completeness: CompletenessResult | None,
        attribution: AttributionResult | None,
    ) -> Scores:
        return Scores(
            accuracy=accuracy,
            completeness=completeness,
            attribution=attribution,
            combined=combined_score(accuracy, completeness, attribution, self.settings.weights),
        )

    def _assembled(
        self,
        response: AIResponse,
        case: _Case,
        taken: NormalizedAnswer,
        judged: _Judged,
        previous_id: str,
    ) -> AnalysisResult:
        told = judged.feedback
        scores = with_rates(judged.scores, told, grounded=bool(case.sources.pages and case.ground.pages))
        metadata = _metadata(response, taken, case.cited)
        notes = _noted(case, taken, scores, metadata)
        if any(part is not None and part.fallback for part in (scores.accuracy, scores.completeness, told.highlights)):
            notes.add(
                "keyword_fallback", f"Words were compared instead of using {self._provider.name}. {self._trouble}"
            )
            notes.add("needs_review")
        if judged.use and judged.use.untaken:
            notes.add("judge_fallback", _untaken(judged.use, scores.completeness))
        return AnalysisResult(
            id=uuid4().hex[:16],
            query_id=case.query.id,
            query=case.query.text,
            domain=case.query.domain or case.ground.domain,
            ai_provider=response.provider,
            trial=response.trial,
            model=response.model,
            response=case.text,
            response_at=response.responded_at,
            expected=case.query.expected,
            scores=scores,
            feedback=told,
            flags=tuple(notes.flags),
            notes=tuple(notes.sentences),
            provider=self._provider.name,
            analyzed_at=datetime.now(UTC),
            analyzer_version=ANALYZER_VERSION,
            ground_truth_version=case.ground.version if case.ground.pages else "",
            previous_id=previous_id,
            judge=judged.use,
            metadata=metadata,
        )


def _require_something(query: Query, ground: GroundTruth) -> None:
    expected = query.expected
    if ground.pages or expected.text.strip() or expected.claims is not None or query.domain or ground.domain:
        return
    if ground.brand_names:
        return
    raise NoGroundTruthError(
        "There is nothing to check the answer against.",
        "Provide ground truth, an expected answer, claims, or the domain or brands that it should name.",
    )


def _of_expected(query: Query) -> GroundTruth:
    from ralph_grounding.ground_truth.chunks import page_of_text

    text = query.expected.text
    return GroundTruth(pages=(page_of_text(text, url=_EXPECTED),) if text.strip() else ())


def _metadata(response: AIResponse, taken: NormalizedAnswer, addresses: tuple[str, ...]) -> dict[str, Any]:
    measured = {
        "tokens": response.tokens,
        "latency": response.latency,
        "truncated_from": taken.cut_from or None,
        "malformed": list(taken.oddities) or None,
        "citations": list(addresses) or None,
    }
    return {**response.metadata, **{name: value for name, value in measured.items() if value is not None}}


def _with_first_oddities(taken: NormalizedAnswer, metadata: Mapping[str, Any]) -> NormalizedAnswer:
    """Restore the oddities noted when the answer first came; only its cleaned text is stored."""
    length, oddities = metadata.get("truncated_from"), metadata.get("malformed")
    said = cast("list[object]", oddities) if isinstance(oddities, list | tuple) else []
    before = (each for each in said if isinstance(each, str))
    return taken._replace(
        oddities=tuple(dict.fromkeys((*before, *taken.oddities))),
        cut_from=max(length if isinstance(length, int) else 0, taken.cut_from),
    )


def _untaken(use: JudgeUse, completeness: CompletenessResult | None) -> str:
    matches = completeness.matches if completeness else ()
    reasons = dict.fromkeys(match.judged.trouble for match in matches if match.judged and match.judged.trouble)
    of_claims = f"{use.untaken} claim{'' if use.untaken == 1 else 's'}"
    return f"For {of_claims} the offline verdict stands, because the judge {use.judge} gave none: {'; '.join(reasons)}"


def _noted(case: _Case, taken: NormalizedAnswer, scores: Scores, metadata: Mapping[str, Any]) -> _Notes:
    """Collect what a reader should look at."""
    notes = _Notes({}, [])
    if not case.text.strip():
        notes.add("empty_response", "The answer is empty: all three scores are 0.")
        notes.add("needs_review")
    if taken.oddities:
        notes.add("malformed", *taken.oddities)
    if taken.cut_from:
        looked = f"Only the first {len(case.text):,} of {taken.cut_from:,} characters were examined."
        notes.add("truncated", looked)
    if metadata.get("finish_reason") == "length":
        notes.add("truncated", "The provider cut it off at the token limit, so part of it may be missing.")
    if scores.completeness and scores.completeness.note:
        notes.add("nothing_to_check", scores.completeness.note)
    if (said := detect_language(case.text)) and (ours := _language(case)) and said != ours:
        notes.add(
            "other_language",
            f"The answer is in {said!r}, but its expected text is in {ours!r}: it counts in no mean.",
        )
        notes.add("needs_review")
    return notes


def _language(case: _Case) -> str:
    """Return the language of most pages, else of the expected answer; empty if it cannot be detected."""
    known = Counter(page.language for page in case.ground.pages if page.language)
    if known:
        return known.most_common(1)[0][0]
    return detect_language(case.query.expected.text)

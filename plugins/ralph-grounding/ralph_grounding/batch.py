"""A batch: many responses are analysed concurrently; one failure does not stop it, and a kill loses nothing.

With a store, a result is durable before it is yielded, and the same run can be continued.
"""

import secrets
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Sized,
)
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import anyio
from pydantic import BaseModel, Field, model_validator

from ralph.errors import RalphError, StoreError, UsageError
from ralph.types import evolve
from ralph_grounding.as_completed import as_completed
from ralph_grounding.claim_rates import ClaimTally
from ralph_grounding.errors import ProviderError
from ralph_grounding.filters import Condition
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.result import AnalysisResult
from ralph_grounding.settings import BatchSettings
from ralph_grounding.store.records import BatchError, GroundingRun, QuerySet, RunStatus
from ralph_grounding.summary import APART, MOST_CLAIMS, DomainScoreSummary, Point, ScoreTally, points_of
from ralph_grounding.telemetry import count_error

if TYPE_CHECKING:
    from tenacity import AsyncRetrying

    from ralph_grounding.store.grounding import GroundingStore

__all__ = ["Analyze", "BatchError", "BatchResult", "Pair", "Pairing", "run_batch"]


class Pair(NamedTuple):
    """A response, and the query that it answers."""

    response: AIResponse
    query: Query


class Pairing:
    """Matcher of responses to queries by the query's id. Each query has one response per provider, model and trial."""

    def __init__(self, queries: QuerySet) -> None:
        self._queries = {query.id: query for query in queries.queries}
        self._kept = _Answered()
        self._seen = _Answered()

    def pass_over(self, query_id: str, provider: str, model: str, trial: int) -> None:
        """Skip that response: an earlier attempt analysed it."""
        self._kept.add(query_id, provider, model, trial)

    def pair(self, given: AIResponse | BatchError) -> Pair | BatchError | None:
        """Return the pair, or the error if none exists, or None for a response that was analysed before."""
        query = self._queries.get(given.query_id)
        if query is None:
            return _wrong(given, "No query has this id.")
        asked = (query.id, given.provider, given.model, given.trial)
        if asked in self._seen:
            return _wrong(given, "This provider and model answered this query more than once.")
        self._seen.add(*asked)
        if asked in self._kept:
            return None
        return given if isinstance(given, BatchError) else Pair(given, query)

    def unanswered(self) -> Iterator[BatchError]:
        """Yield an error for each query without an answer."""
        answered = self._seen.queries | self._kept.queries
        for query_id in self._queries:
            if query_id not in answered:
                yield BatchError(query_id=query_id, error="This query has no response.")


class _Answered:
    """The set of answered queries per provider, model and trial, in little memory."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str, int], set[str]] = {}

    @property
    def queries(self) -> set[str]:
        return set[str]().union(*self._of.values())

    def add(self, query_id: str, provider: str, model: str, trial: int) -> None:
        self._of.setdefault((provider, model, trial), set()).add(query_id)

    def __contains__(self, asked: tuple[str, str, str, int]) -> bool:
        query_id, provider, model, trial = asked
        return query_id in self._of.get((provider, model, trial), ())


def _wrong(given: AIResponse | BatchError, problem: str) -> BatchError:
    said = given.error if isinstance(given, BatchError) else problem
    return BatchError(
        query_id=given.query_id, provider=given.provider, model=given.model, trial=given.trial, error=said
    )


Analyze = Callable[[AIResponse, Query], Awaitable[AnalysisResult]]
"""Analyses a response to a query. The result has the response's query id, provider and model."""

Sleep = Callable[[float], Awaitable[None]]
"""Waits the given number of seconds."""

_FIRST_WAIT = 0.25
"""Seconds before the second attempt, doubled before each further one. The provider has already waited longer itself."""

_LONGEST_WAIT = 5.0

_STORE_RETRIES = 7
"""Attempts on a locked store, or one with a restarting server; together they wait about twenty seconds."""

_LONGEST_ERROR = 1000


class BatchResult(BaseModel, frozen=True):
    """The outcome of a batch.

    Attributes:
        status: "completed" even if some responses failed; "failed" if all did, or if the batch was to stop at the first
            failure.
        total: responses that are finished: `succeeded` + `failed`.
        results: starts with those that the same run had before; empty if results are not collected.
        errors: one for each of `failed`.
    """

    run_id: str
    domain: str
    status: RunStatus
    started_at: datetime
    completed_at: datetime
    total: int = Field(ge=0)
    succeeded: int = Field(ge=0)
    failed: int = Field(ge=0)
    results: tuple[AnalysisResult, ...] = ()
    errors: tuple[BatchError, ...] = ()
    summary: DomainScoreSummary

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        if self.total != self.succeeded + self.failed or len(self.errors) != self.failed:
            raise ValueError("a batch's numbers do not add up")
        return self


async def run_batch(
    responses: Iterable[AIResponse | BatchError] | AsyncIterable[AIResponse | BatchError],
    queries: Iterable[Query],
    analyze: Analyze,
    *,
    settings: BatchSettings | None = None,
    store: "GroundingStore | None" = None,
    run_id: str = "",
    domain: str | None = None,
    options: Mapping[str, Any] | None = None,
    keep_results: bool = True,
    sleep: Sleep | None = None,
) -> AsyncGenerator[AnalysisResult | BatchError | BatchResult]:
    """Yield results and errors as they come, and last the `BatchResult`.

    Responses are paired with queries by `query_id`. These are errors: a response to no query, a second response of the
    same provider and model to the same query and trial, and a query without a response. So is a `BatchError` among the
    responses, which says that a provider gave none. A result is durable in the store before it is yielded.

    A failed analysis is repeated up to `settings.max_retries` times, on top of a provider's own retries: a call that
    always fails for a temporary reason is made (1 + theirs) × (1 + these) times. Failures that would repeat, such as a
    wrong key or missing ground truth, are not retried.

    Leave the generator with `contextlib.aclosing`, or cancel it: nothing is left running then, and the run in the store
    is "cancelled". A run with a killed process is "interrupted". To continue either, or a run with failures, pass the
    same `run_id`, queries, options and responses again: only responses without a result are analysed.

    Args:
        responses: the responses, or errors in their place.
        queries: the questions; each id is unique.
        analyze: analyses one response.
        settings: concurrency, retries and limits.
        store: keeps the results.
        run_id: id of the run in the store to continue, or to begin under this id; empty: a new one.
        domain: the run's domain; None: that of the queries if they all have the same, else empty.
        options: what the scores depend on; stored with the run as JSON.
        keep_results: False leaves `BatchResult.results` empty, so that memory does not grow with the batch.
        sleep: waits between attempts, in seconds; None for real time.

    Raises:
        UsageError: two queries conflict, or the run was begun with other queries or options.
        StoreError: the store cannot keep a result. The run can be continued later.
    """
    settings = settings or BatchSettings()
    batch = _Batch(QuerySet.of(queries), analyze, settings, store, keep_results=keep_results, sleep=sleep)
    await batch.begin(run_id, domain, options or {}, len(responses) if isinstance(responses, Sized) else None)
    groups = as_completed(responses, batch.work, settings.concurrency)
    try:
        async for group in groups:
            for seen in await batch.take(group):
                yield seen
            if batch.errors and not settings.continue_on_error:
                break
        else:
            for seen in await batch.take(list(batch.pairing.unanswered())):
                yield seen
        await groups.aclose()
        going_on = settings.continue_on_error and batch.succeeded
        await batch.end("failed" if batch.errors and not going_on else "completed")
    except BaseException as error:
        await groups.aclose()
        await batch.give_up("failed" if isinstance(error, Exception) else "cancelled")
        raise
    yield batch.result()


class _Done(NamedTuple):
    """A result and its row for the store; the row is None without a store."""

    result: AnalysisResult
    row: Mapping[str, Any] | None


class _Batch:
    """Progress of a batch."""

    def __init__(
        self,
        queries: QuerySet,
        analyze: Analyze,
        settings: BatchSettings,
        store: "GroundingStore | None",
        *,
        keep_results: bool,
        sleep: Sleep | None,
    ) -> None:
        self.pairing = Pairing(queries)
        self.errors: list[BatchError] = []
        self.succeeded = 0
        self._queries = queries
        self._analyze = analyze
        self._retried = _again(_may_help, settings.max_retries if settings.retry_on_failure else 0, sleep)
        self._waited_for = _again(_passes, _STORE_RETRIES, sleep)
        self._store = store
        self._results: list[AnalysisResult] | None = [] if keep_results else None
        self._tally = ScoreTally()
        self._claims = ClaimTally()
        self._result: BatchResult | None = None

    async def begin(self, run_id: str, domain: str | None, options: Mapping[str, Any], total: int | None) -> None:
        """Begin the run, or load what it already has."""
        now = datetime.now(UTC)
        domains = {query.domain for query in self._queries.queries}
        self._run = GroundingRun(
            id=run_id or f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}",
            domain=(domains.pop() if len(domains) == 1 else "") if domain is None else domain,
            query_set_id=self._queries.id,
            total=len(self._queries.queries) if total is None else total,
            options=options,
            started_at=now,
        )
        if self._store is not None:
            self._run = await self._store.begin_run(self._run, self._queries)
            await self._take_up(self._store)

    async def _take_up(self, store: "GroundingStore") -> None:
        of_run = [Condition("run", "=", self._run.id)]
        async for row in store.scores(of_run, order="oldest"):
            self.pairing.pass_over(row.query_id, row.ai_provider, row.model, row.trial)
            self._count(row.flags, row.points, row.rates)
            self.succeeded += 1
        if self.succeeded:
            async for kept in store.analyses(of_run, order="oldest"):
                self._keep(kept.result)

    async def work(self, given: AIResponse | BatchError) -> _Done | BatchError | None:
        """Analyse one response; return None if there is nothing to do."""
        pair = self.pairing.pair(given)
        if not isinstance(pair, Pair):
            return pair
        try:
            result: AnalysisResult = await self._retried()(self._analyze, *pair)
            return _Done(result, self._store.row(self._run, result) if self._store else None)
        except Exception as error:  # noqa: BLE001 - one response must not stop the others
            response = pair.response
            count_error(error.kind if isinstance(error, ProviderError) else type(error).__name__)
            said = str(error) if isinstance(error, RalphError) else f"{type(error).__name__}: {error}"
            return BatchError(
                query_id=response.query_id,
                provider=response.provider,
                model=response.model,
                trial=response.trial,
                error=said[:_LONGEST_ERROR],
            )

    async def take(self, group: Sequence[_Done | BatchError | None]) -> list[AnalysisResult | BatchError]:
        """Make finished work durable and return what to yield then."""
        done = [each for each in group if isinstance(each, _Done)]
        failed = [each for each in group if isinstance(each, BatchError)]
        if self._store is not None and (done or failed):
            made = [each.row for each in done if each.row is not None]
            await self._waited_for()(self._store.keep_rows, self._run.id, made, failed)
        for each in done:
            scores = each.result.scores
            self._count(each.result.flags, points_of(scores), (scores.support_rate, scores.contradiction_rate))
            self._keep(each.result)
        self.succeeded += len(done)
        self.errors += failed
        return [*(each.result for each in done), *failed]

    def _keep(self, result: AnalysisResult) -> None:
        if APART not in result.flags:
            self._claims.add(result)
        if self._results is not None:
            self._results.append(result)

    def _count(
        self, flags: Sequence[str], points: Sequence[Point | None], rates: tuple[float | None, float | None]
    ) -> None:
        if APART in flags:
            self._tally.add_apart()
        else:
            self._tally.add(*points, rates=rates)

    async def end(self, status: RunStatus) -> None:
        """Write the summary, and the run's end in the store."""
        now = datetime.now(UTC)
        summary = self._tally.summary(
            domain=self._run.domain, run_id=self._run.id, run_at=self._run.started_at, failed=len(self.errors)
        )
        summary = evolve(summary, claims=self._claims.rates(MOST_CLAIMS))
        if self._store is not None:
            summary = await self._compared(self._store, summary)
            total = self.succeeded + len(self.errors) if status == "completed" else None
            await self._store.end_run(self._run.id, status, now, total=total, summary=summary)
        self._result = BatchResult(
            run_id=self._run.id,
            domain=self._run.domain,
            status=status,
            started_at=self._run.started_at,
            completed_at=now,
            total=self.succeeded + len(self.errors),
            succeeded=self.succeeded,
            failed=len(self.errors),
            results=tuple(self._results or ()),
            errors=tuple(self.errors),
            summary=summary,
        )

    async def _compared(self, store: "GroundingStore", summary: DomainScoreSummary) -> DomainScoreSummary:
        previous = await store.previous_run(self._run)
        if previous is None or previous.summary is None:
            return summary
        return summary.against(
            previous.summary,
            same_queries=previous.query_set_id == self._run.query_set_id,
            otherwise=_otherwise(previous.options, self._run.options),
        )

    async def give_up(self, status: RunStatus) -> None:
        """Record in the store that the run has stopped, if the store still answers."""
        if self._store is not None:
            with anyio.CancelScope(shield=True), suppress(StoreError):
                await self._store.end_run(self._run.id, status, datetime.now(UTC))

    def result(self) -> BatchResult:
        assert self._result is not None
        return self._result


def _otherwise(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """List the settings in which the earlier run differs from this one, of those that both record."""
    ways = {"similarity": "used another similarity provider", "scoring": "used other scoring settings"}
    found = [way for key, way in ways.items() if key in before and key in now and before[key] != now[key]]
    return found if before.get("judge") == now.get("judge") else [*found, "used another judge, or none"]


def _again(helps: Callable[[BaseException], bool], retries: int, sleep: Sleep | None) -> Callable[[], "AsyncRetrying"]:
    """Return a factory of retry policies for temporary errors; each call needs a new policy."""
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential

    return AsyncRetrying(
        retry=retry_if_exception(helps),
        stop=stop_after_attempt(retries + 1),
        wait=wait_exponential(multiplier=_FIRST_WAIT, max=_LONGEST_WAIT),
        sleep=sleep or anyio.sleep,
        reraise=True,
    ).copy


def _may_help(error: BaseException) -> bool:
    if isinstance(error, ProviderError):
        return error.again
    return isinstance(error, Exception) and not isinstance(error, UsageError)


def _passes(error: BaseException) -> bool:
    return isinstance(error, StoreError) and error.passing

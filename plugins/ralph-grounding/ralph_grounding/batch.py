"""A batch: many responses are analysed, some at a time; one failure does not stop it, and a kill loses nothing.

Where there is a store, a result is durable before anybody sees it, and the same run can be continued.
"""

import secrets
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import anyio
from pydantic import BaseModel, Field, model_validator

from ralph.errors import RalphError, StoreError, UsageError
from ralph_grounding.as_done import as_done
from ralph_grounding.errors import ProviderError
from ralph_grounding.filters import Condition
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.measures import count_error
from ralph_grounding.pairing import Pair, Pairing
from ralph_grounding.result import AnalysisResult
from ralph_grounding.settings import BatchSettings
from ralph_grounding.store.records import BatchError, GroundingRun, QuerySet, RunStatus
from ralph_grounding.summary import DomainScoreSummary, ScoreTally, points_of

if TYPE_CHECKING:
    from tenacity import AsyncRetrying

    from ralph_grounding.store.grounding import GroundingStore

__all__ = ["Analyze", "BatchError", "BatchResult", "run_batch"]

Analyze = Callable[[AIResponse, Query], Awaitable[AnalysisResult]]
"""Analyses a response to a query. The result has the response's query id, provider and model."""

Sleep = Callable[[float], Awaitable[None]]
"""Waits so many seconds."""

_FIRST_WAIT = 0.25
"""Seconds before the second try, doubled before each further one. A provider has waited for longer by itself before."""

_LONGEST_WAIT = 5.0

_STORE_RETRIES = 7
"""A store that is locked, or whose server starts anew, is waited for for about twenty seconds."""

_LONGEST_ERROR = 1000


class BatchResult(BaseModel, frozen=True):
    """What a batch comes to.

    Attributes:
        status: "completed" also where some responses failed; "failed" where all did, or where the first failure was to
            end it.
        total: of those that were done with: `succeeded` + `failed`.
        results: those of the same run that were there before come first; empty where they were not to be held.
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
    """Yields results and errors as they come, and last the `BatchResult`.

    Responses are paired with queries by `query_id`. A response to no query, a second one of the same provider and model
    to the same query and a query without a response are errors; so is a `BatchError` among the responses, which says
    that a provider gave none. A result is durable in the store before it is yielded.

    An analysis that fails is tried again as often as `settings.max_retries` says, which goes on beside a provider's own
    retries: a call that always fails for a passing reason is made (1 + theirs) × (1 + these) times. What would fail
    again, such as a wrong key or missing ground truth, is not tried again.

    Leave it with `contextlib.aclosing`, or cancel it: nothing is left running then, and the run in the store is
    "cancelled". A run whose process was killed is "interrupted". Both, and those with failures, are continued by giving
    the same `run_id`, queries, options and responses again: only what has no result is analysed.

    Args:
        run_id: of the run in the store that is continued, or that is begun under this id; empty: a new one.
        domain: of the run; None: that of the queries if they all have the same, else empty.
        options: what the scores hang on; they are kept with the run, as JSON.
        keep_results: False: `BatchResult.results` stays empty, so that a batch of any length needs no more memory.
        sleep: waits so many seconds between tries; None for real time.

    Raises:
        UsageError: the queries make no set, or the run was begun with others or with other options.
        StoreError: the store cannot keep a result. The run can be continued later.
    """
    settings = settings or BatchSettings()
    batch = _Batch(QuerySet.of(queries), analyze, settings, store, keep_results=keep_results, sleep=sleep)
    await batch.begin(run_id, domain, options or {}, len(responses) if isinstance(responses, Sized) else None)
    groups = as_done(responses, batch.work, settings.concurrency)
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
    """A result, and what the store keeps of it; None without a store."""

    result: AnalysisResult
    row: Mapping[str, Any] | None


class _Batch:
    """How far a batch has come."""

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
        self._result: BatchResult | None = None

    async def begin(self, run_id: str, domain: str | None, options: Mapping[str, Any], total: int | None) -> None:
        """Begins the run, or takes up what it has."""
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
            self.pairing.pass_over(row.query_id, row.ai_provider, row.model)
            self._tally.add(*row.points)
            self.succeeded += 1
        if self._results is not None and self.succeeded:
            async for kept in store.analyses(of_run, order="oldest"):
                self._results.append(kept.result)

    async def work(self, given: AIResponse | BatchError) -> _Done | BatchError | None:
        """What comes of one response; None where nothing is to be done."""
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
                error=said[:_LONGEST_ERROR],
            )

    async def take(self, group: Sequence[_Done | BatchError | None]) -> list[AnalysisResult | BatchError]:
        """Makes what has come durable; returns what is then to be shown."""
        done = [each for each in group if isinstance(each, _Done)]
        failed = [each for each in group if isinstance(each, BatchError)]
        if self._store is not None and (done or failed):
            made = [each.row for each in done if each.row is not None]
            await self._waited_for()(self._store.keep_rows, self._run.id, made, failed)
        for each in done:
            self._tally.add(*points_of(each.result.scores))
            if self._results is not None:
                self._results.append(each.result)
        self.succeeded += len(done)
        self.errors += failed
        return [*(each.result for each in done), *failed]

    async def end(self, status: RunStatus) -> None:
        """The summary, and in the store the run's end."""
        now = datetime.now(UTC)
        summary = self._tally.summary(
            domain=self._run.domain, run_id=self._run.id, run_at=self._run.started_at, failed=len(self.errors)
        )
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
        """Says in the store that the run is not at work any more, as far as that can be said."""
        if self._store is not None:
            with anyio.CancelScope(shield=True), suppress(StoreError):
                await self._store.end_run(self._run.id, status, datetime.now(UTC))

    def result(self) -> BatchResult:
        assert self._result is not None
        return self._result


def _otherwise(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What the run before did in another way than this one, of what both say."""
    ways = {"similarity": "used another similarity provider", "scoring": "used other scoring settings"}
    return [way for key, way in ways.items() if key in before and key in now and before[key] != now[key]]


def _again(helps: Callable[[BaseException], bool], retries: int, sleep: Sleep | None) -> Callable[[], "AsyncRetrying"]:
    """What calls something again after errors that are likely to pass; a new one for each call."""
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

"""Analyses in a database that any number of processes share.

One connection does quick work in a thread, one call at a time; a cancelled call completes as a whole or not at all.
Long results, such as lists of analyses, are streamed over a separate connection, so that nothing waits for their reader
and at most a page of them is in memory.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from uuid import uuid4

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Result, Row, Select, select

from ralph.errors import StoreError, StoreUnusableError
from ralph.loop.ownership import this_process
from ralph.store import Database, open_store
from ralph_grounding.filters import Condition
from ralph_grounding.judging.base import Verdict
from ralph_grounding.result import AnalysisResult, Outcome
from ralph_grounding.store import reading, rows, tables, writing
from ralph_grounding.store.reading import Order
from ralph_grounding.store.records import (
    BatchError,
    GroundingRun,
    QuerySet,
    RunStatus,
    ScoreRow,
    StoredAnalysis,
)
from ralph_grounding.summary import APART, DomainScoreSummary, Metric, ScoreTally

__all__ = ["GroundingStore"]

_T = TypeVar("_T")
_By = Metric | Literal["combined", "support", "contradiction"]

_PATIENCE = 30.0
"""Seconds to wait for another process's transaction; each of ours takes milliseconds."""

_PAGE_ROWS = 500
_PAGE_CHARACTERS = 2_000_000
_FETCHED_WHOLE = 10
"""The number of analyses to fetch at a time: each may have a megabyte."""


class GroundingStore:
    """Store of query sets, runs and analyses. Use it in `async with`.

    Every method raises `StoreError` if the store fails, and those that read raise `RecordError` if a stored row is not
    valid. When a writing method returns, its data is durable.

    Args:
        shared_as: Ralph's name for the place, if the user named it: a new database then becomes a store of Ralph's,
            too, because Ralph refuses a database with foreign tables.
    """

    def __init__(self, database: Database, *, shared_as: str | None = None) -> None:
        self._database = database
        self._shared_as = shared_as
        self._connection: Connection | None = None
        self._identity: object = None
        self._turn = anyio.Lock()

    @property
    def place(self) -> str:
        """Its location, for readers; without passwords."""
        return self._database.place

    async def __aenter__(self) -> Self:
        try:
            if self._shared_as is not None and await anyio.to_thread.run_sync(self._explained, self._is_new):
                async with open_store(self._shared_as):
                    pass
            await self._do(_nothing)
        except StoreError as error:
            await self._close()
            raise StoreUnusableError(error.problem, error.remedy, passing=error.passing) from error
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def begin_run(self, run: GroundingRun, queries: QuerySet) -> GroundingRun:
        """Add a run with its queries, or resume an existing one; return it as it is then stored.

        The run's analyses stay; its failures are deleted, to be retried. Two processes on one run do work twice, but
        store nothing twice.

        Raises:
            UsageError: it exists, and was begun with other queries or other options.
        """
        owner = this_process()
        return await self._write(lambda connection: writing.begin_run(connection, run, queries, owner))

    async def keep(
        self, run: GroundingRun, results: Sequence[AnalysisResult], failures: Sequence[BatchError] = ()
    ) -> None:
        """Add analyses and failures to a run, all or none; an existing analysis of the same response stays.

        Raises:
            ValueError: a result cannot be encoded as JSON.
        """
        await self.keep_rows(run.id, [self.row(run, result) for result in results], failures)

    @staticmethod
    def row(run: GroundingRun, result: AnalysisResult) -> Mapping[str, Any]:
        """Return the row of a result for `keep_rows`. Raises `ValueError` if it cannot be encoded as JSON."""
        return rows.analysis_row(run.id, run.query_set_id, result, datetime.now(UTC))

    async def keep_rows(
        self, run_id: str, analyses: Sequence[Mapping[str, Any]], failures: Sequence[BatchError] = ()
    ) -> None:
        """Add prepared rows like `keep`."""
        now = datetime.now(UTC)
        failed = [rows.failure_row(run_id, uuid4().hex, failure, now) for failure in failures]
        await self._write(lambda connection: writing.keep(connection, run_id, analyses, failed))

    async def end_run(
        self,
        run_id: str,
        status: RunStatus,
        at: datetime,
        *,
        total: int | None = None,
        summary: DomainScoreSummary | None = None,
    ) -> None:
        """Set a run's last state."""
        values: dict[str, Any] = {} if total is None else {"total": total}
        if summary is not None:
            values["summary"] = rows.as_json(summary)
        await self._write(lambda connection: writing.end_run(connection, run_id, status, at, **values))

    async def run(self, run_id: str) -> GroundingRun | None:
        """Return the run with that id, or the only one with that beginning; else None."""
        found = _only(run_id, await self._rows(reading.by_prefix(tables.runs, run_id)))
        return None if found is None else rows.read_run(found)

    async def runs(
        self, *, domain: str | None = None, status: RunStatus | None = None, limit: int = 100
    ) -> list[GroundingRun]:
        """Return the newest runs, newest first."""
        is_kept = status not in {"running", "interrupted"}
        statement = reading.newest_runs(domain, status if is_kept else "running", limit if is_kept else None)
        found = [rows.read_run(row) for row in await self._rows(statement)]
        return [run for run in found if status in {None, run.status}][:limit]

    async def previous_run(self, run: GroundingRun) -> GroundingRun | None:
        """Return the last completed run of the same domain that began before this one.

        A run without a domain is only compared with runs of the same queries.
        """
        started = rows.moment(run.started_at)
        found = await self._rows(reading.previous_run(run.id, run.domain, run.query_set_id, started))
        return rows.read_run(found[0]) if found else None

    async def summary(self, run: GroundingRun) -> DomainScoreSummary:
        """Return the summary of the run's scores: the stored one, or if interrupted that of the scores so far."""
        if run.summary is not None:
            return run.summary
        tally = ScoreTally()
        async for row in self.scores([Condition("run", "=", run.id)]):
            if APART in row.flags:
                tally.add_apart()
            else:
                tally.add(*row.points, rates=row.rates)
        return tally.summary(domain=run.domain, run_id=run.id, run_at=run.started_at, failed=run.failed)

    async def query_set(self, query_set_id: str) -> QuerySet | None:
        """Return the queries of a set, in their first order; None if it does not exist."""
        kept = tables.query_sets.c.id == query_set_id
        if not await self._rows(select(tables.query_sets.c.id).where(kept)):
            return None
        it = tables.queries.c
        found = await self._rows(select(tables.queries).where(it.query_set_id == query_set_id).order_by(it.place))
        return QuerySet(id=query_set_id, queries=tuple(map(rows.read_query, found)))

    async def failures(self, run_id: str) -> list[BatchError]:
        """Return the failures of the run's last attempt."""
        it = tables.failures.c
        statement = select(tables.failures).where(it.run_id == rows.storable(run_id)).order_by(it.created_at, it.id)
        return [rows.read_failure(row) for row in await self._rows(statement)]

    async def analysis(self, analysis_id: str) -> StoredAnalysis | None:
        """Return the analysis with that id, or the only one with that beginning; else None."""
        found = _only(analysis_id, await self._rows(reading.by_prefix(tables.analyses, analysis_id)))
        return None if found is None else rows.read_analysis(found)

    async def analyses(
        self,
        filters: Sequence[Condition] = (),
        *,
        order: Order = "newest",
        by: _By = "accuracy",
        limit: int | None = None,
    ) -> AsyncGenerator[StoredAnalysis]:
        """Yield analyses with all their evidence.

        "worst" and "best" sort by the score `by`; unmeasured ones come last.
        """
        pages = self._pages(reading.whole(filters, order, by, limit), _FETCHED_WHOLE)
        try:
            async for page in pages:
                for row in page:
                    yield rows.read_analysis(row)
        finally:
            await pages.aclose()

    async def scores(
        self,
        filters: Sequence[Condition] = (),
        *,
        order: Order = "newest",
        by: _By = "accuracy",
        limit: int | None = None,
    ) -> AsyncGenerator[ScoreRow]:
        """Yield the same without the evidence."""
        pages = self._pages(reading.scores(filters, order, by, limit), _PAGE_ROWS)
        try:
            async for page in pages:
                for row in page:
                    yield rows.read_scores(row)
        finally:
            await pages.aclose()

    async def verdict(self, key: str) -> Verdict | None:
        """Return the verdict of a judge that was kept with this key, if there is one."""
        found = await self._rows(select(tables.verdicts.c.body).where(tables.verdicts.c.id == key))
        return rows.read_verdict(found[0]) if found else None

    async def keep_verdict(self, key: str, judge: str, verdict: Verdict) -> None:
        """Keep the verdict of a judge; an existing one with the same key stays."""
        row = {
            "id": key,
            "judge": rows.storable(judge),
            "body": rows.as_json(verdict),
            "created_at": rows.moment(datetime.now(UTC)),
        }
        await self._write(lambda connection: writing.keep_verdict(connection, row))

    async def labels(self) -> dict[str, Outcome]:
        """Return the labels that a user gave, by the keys of their questions."""
        found = await self._rows(select(tables.labels.c.id, tables.labels.c.outcome))
        return {row.id: row.outcome for row in found}

    async def keep_label(self, key: str, outcome: Outcome | None) -> None:
        """Keep the label of a question instead of an earlier one; None removes it."""
        row = {"id": key, "outcome": outcome or "", "created_at": rows.moment(datetime.now(UTC))}
        await self._write(lambda connection: writing.keep_label(connection, row))

    def _is_new(self) -> bool:
        with closing(self._database.connect()) as connection, connection.begin():
            return not self._database.tables(connection)

    async def _write(self, work: Callable[[Connection], _T]) -> _T:
        def transaction(connection: Connection) -> _T:
            if self._database.identity() != self._identity:
                raise self._database.gone()
            with self._database.transaction(connection):
                return work(connection)

        return await self._do(transaction)

    async def _rows(self, statement: Select[*tuple[Any, ...]]) -> Sequence[Row[*tuple[Any, ...]]]:
        def read(connection: Connection) -> Sequence[Row[*tuple[Any, ...]]]:
            with connection.begin():
                return connection.execute(statement).all()

        return await self._do(read)

    async def _pages(
        self, statement: Select[*tuple[Any, ...]], fetched: int
    ) -> AsyncGenerator[list[Row[*tuple[Any, ...]]]]:
        """Yield pages of rows over a separate connection, which is released however the reading ends.

        Args:
            statement: the query.
            fetched: number of rows to fetch at a time.
        """
        stack = ExitStack()
        try:
            result = await anyio.to_thread.run_sync(self._explained, lambda: self._found(stack, statement, fetched))
            while page := await anyio.to_thread.run_sync(self._explained, lambda: _page(result)):
                yield page
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(stack.close)

    def _found(self, stack: ExitStack, statement: Select[*tuple[Any, ...]], fetched: int) -> Result[*tuple[Any, ...]]:
        connection = stack.enter_context(closing(self._database.connect()))
        streaming = statement.execution_options(stream_results=True, max_row_buffer=fetched)
        return stack.enter_context(closing(connection.execute(streaming)))

    async def _do(self, work: Callable[[Connection], _T]) -> _T:
        async with self._turn:
            return await anyio.to_thread.run_sync(self._done, work)

    def _done(self, work: Callable[[Connection], _T]) -> _T:
        """Run the work over the connection, and once more over a new one if the connection is lost."""
        try:
            return self._once(work)
        except self._database.errors as error:
            if not self._database.is_lost(error):
                raise self._database.explain(error) from error
        return self._explained(lambda: self._once(work))

    def _once(self, work: Callable[[Connection], _T]) -> _T:
        if self._connection is None:
            self._connection = self._database.open(tables.MIGRATION, patience=_PATIENCE)
            self._identity = self._database.identity()
        try:
            return work(self._connection)
        except self._database.errors as error:
            if self._database.is_lost(error):
                self._drop()
            raise

    def _explained(self, work: Callable[[], _T]) -> _T:
        try:
            return work()
        except self._database.errors as error:
            raise self._database.explain(error) from error

    async def _close(self) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._drop)

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _nothing(_: Connection) -> None:
    """Do nothing: opening the connection is enough."""


def _page(result: Result[*tuple[Any, ...]]) -> list[Row[*tuple[Any, ...]]]:
    """Fetch the next rows; their last column may be long."""
    page: list[Row[*tuple[Any, ...]]] = []
    size = 0
    while len(page) < _PAGE_ROWS and size < _PAGE_CHARACTERS and (row := result.fetchone()) is not None:
        page.append(row)
        size += len(row[-1])
    return page


def _only(name: str, found: Sequence[Row[*tuple[Any, ...]]]) -> Row[*tuple[Any, ...]] | None:
    if not name:
        return None
    return found[0] if len(found) == 1 or (found and found[0].id == rows.storable(name)) else None

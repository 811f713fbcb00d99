"""Execution of a batch, with progress.

The options of a batch are stored with its run, so that the run can be continued.
"""

import shlex
import sys
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TextIO

import anyio
import typer
from pydantic import BaseModel, ValidationError

from ralph.errors import UsageError
from ralph.types import evolve
from ralph_grounding.analyzer import GroundingAnalyzer
from ralph_grounding.batch import BatchError, BatchResult, run_batch
from ralph_grounding.cli.judge import JudgeOptions, judging_for, print_estimate, report_use
from ralph_grounding.cli.options import (
    context_of,
    continuing,
    executor_named,
    ground_truth_of,
    open_store,
    run_named,
    store_option,
)
from ralph_grounding.cli.printing import console, counted, one_line, print_json, print_line, print_rows
from ralph_grounding.filters import Condition
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.judging.asking import Judging
from ralph_grounding.lines import result_line
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.result import AnalysisResult
from ralph_grounding.settings import GroundingSettings
from ralph_grounding.store.grounding import GroundingStore
from ralph_grounding.store.records import GroundingRun

if TYPE_CHECKING:
    from ralph_grounding.responses import ResponseSource

__all__ = ["Plan", "Showing", "new_id", "run_plan", "score_all", "scored_by"]

_SCORING = {"accuracy", "completeness", "attribution", "tiers", "weights", "max_response"}


class Plan(BaseModel, frozen=True):
    """The options of a batch; paths are absolute.

    Attributes:
        responses: a file of answers; without one the answers are requested.
        ask: request the answers from the endpoint of the settings.
        executor: request the answers from this executor's agent; None: from no agent.
        trials: the number of answers of one model to each query; None: that of the settings, or 1 in an earlier run.
    """

    queries: str | None = None
    claims: str | None = None
    responses: str | None = None
    ask: bool = False
    executor: str | None = None
    trials: int | None = None
    ground_truth: tuple[str, ...] = ()
    domain: str = ""
    brands: tuple[str, ...] = ()
    limit: int = 50
    similarity: str | None = None
    judge: JudgeOptions = JudgeOptions()

    @classmethod
    def of_run(cls, run: GroundingRun) -> Self:
        """Return the plan that a run was begun with. Raises `UsageError` if another command began it."""
        try:
            return cls.model_validate(run.options.get("plan"))
        except ValidationError:
            raise UsageError(
                f"`ralph score batch` did not start the run {run.id}, so it cannot continue it.",
                "Continue it with the program that started it, or start a new run.",
            ) from None

    def require_sound(self) -> None:
        """Raise `UsageError` unless the plan names exactly one source of answers."""
        sources = {"--responses": self.responses, "--ask": self.ask, "--executor": self.executor}
        named = [name for name, value in sources.items() if value]
        if len(named) == 1:
            return
        problem = "No source of answers is given." if not named else f"{' and '.join(named)} cannot be combined."
        raise UsageError(problem, "Use one of --responses FILE, --ask and --executor NAME.")

    def read_queries(self, ground: GroundTruth) -> tuple[Query, ...]:
        """Read the queries of the file, or make them from the ground truth; add the claims of the other file.

        Raises:
            UsageError: a file is not valid, or the ground truth gives no questions.
        """
        from ralph_grounding.ground_truth.claims_file import read_claims_by_query
        from ralph_grounding.queries import make_queries, read_queries, with_claims

        found = read_queries(Path(self.queries)) if self.queries else make_queries(ground, limit=self.limit)
        return with_claims(found, read_claims_by_query(Path(self.claims))) if self.claims else found

    def options(self, settings: GroundingSettings, ground: GroundTruth, judge: Judging | None) -> dict[str, Any]:
        """Return what the scores depend on: the plan, the scoring settings and the ground truth's version."""
        # Runs from before these options continue, too.
        unused = {"judge"} if self.judge == JudgeOptions() else set[str]()
        unused |= {"trials"} if self.trials is None else set[str]()
        plan = self.model_dump(mode="json", exclude=unused)
        return {"plan": plan, **scored_by(settings, ground, judge)}


def scored_by(settings: GroundingSettings, ground: GroundTruth, judging: Judging | None) -> dict[str, Any]:
    """Return what the scores of the same answers depend on, as it is stored with a run."""
    providers = settings.providers
    return {
        **({"judge": judging.identity} if judging else {}),
        "scoring": settings.model_dump(mode="json", include=_SCORING),
        "similarity": [providers.similarity, providers.embedding, providers.embedding_model],
        "ground_truth": ground.version if ground.pages else "",
    }


Showing = Literal["people", "json", "lines"]
_MOST_ERRORS = 20
_MOST_MISSED = 5


async def run_plan(
    context: typer.Context,
    given: Plan,
    continued: str | None,
    store: str | None,
    showing: Showing,
    *,
    estimate: bool = False,
) -> bool:
    """Score the answers that a plan names; return True if none failed.

    Args:
        context: the command's context.
        given: the options of the command line.
        continued: the run to continue, with its own plan instead of `given`.
        store: the name of the store, if any was given.
        showing: the output format.
        estimate: only print what a judge would be asked.

    Raises:
        UsageError: the plan cannot be carried out as it is.
    """
    async with open_store(context, store) as kept:
        run = await run_named(kept, continued, store) if continued else None
        if run and given != Plan():
            raise UsageError(
                "--continue uses the options that the run was started with, and accepts no others.",
                "Remove the others.",
            )
        plan = Plan.of_run(run) if run else given
        plan.require_sound()
        settings = context_of(context).measured_by(plan.similarity)
        judging = judging_for(settings, plan.judge, kept, estimate=estimate)
        if estimate and not plan.responses:
            raise UsageError("--estimate needs answers that exist already.", "Add --responses FILE.")
        if not run and plan.trials is None and settings.answers.trials > 1:
            plan = plan.model_copy(update={"trials": settings.answers.trials})
        ground = await ground_truth_of(context, plan.ground_truth, plan.domain, plan.brands)
        queries = plan.read_queries(ground)
        run_id = run.id if run else new_id()

        async with AsyncExitStack() as stack:
            analyzer = await stack.enter_async_context(GroundingAnalyzer(settings, judging=judging))

            async def analyze(response: AIResponse, query: Query) -> AnalysisResult:
                return await analyzer.analyze(response, query, ground, run_id=run_id)

            answered = await _answered(kept, run_id) if run and not plan.responses else frozenset[tuple[str, int]]()
            responses = await _responses(context, stack, plan, queries, answered)
            if judging and estimate:
                offline = run_batch(responses, queries, analyze, settings=settings.batch, keep_results=False)
                await print_estimate(judging, offline, as_json=showing != "people")
                return True
            _announce(ground, len(queries), run_id, showing)
            events = run_batch(
                responses,
                queries,
                analyze,
                settings=settings.batch,
                store=kept,
                run_id=run_id,
                domain=plan.domain or ground.domain,
                options=plan.options(settings, ground, judging),
                keep_results=False,
            )
            asked = 0 if plan.responses else len(queries) * (plan.trials or 1) - len(answered)
            return await score_all(events, asked, showing, store, run_id, judging=judging)


def new_id() -> str:
    """Make an id for a new run."""
    import secrets
    from datetime import UTC, datetime

    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def _announce(ground: "GroundTruth", queries: int, run_id: str, showing: Showing) -> None:
    """Announce on standard error what is about to happen."""
    for problem in ground.problems[:_MOST_ERRORS]:
        typer.echo(f"note: {one_line(problem, 400)}", err=True)
    if showing == "people":
        against = f" against {counted(len(ground.pages), 'page')}" if ground.pages else ""
        typer.echo(f"run {run_id}: {counted(queries, 'query', 'queries')}{against}", err=True)


async def _answered(store: GroundingStore, run_id: str) -> frozenset[tuple[str, int]]:
    """Return the queries, by id and trial, that the run has an answer to."""
    return frozenset([(row.query_id, row.trial) async for row in store.scores([Condition("run", "=", run_id)])])


async def _responses(
    context: typer.Context,
    stack: AsyncExitStack,
    plan: Plan,
    queries: Sequence[Query],
    answered: frozenset[tuple[str, int]],
) -> Any:
    """Open the source of the answers and return its stream."""
    from ralph_grounding.responses import answers, read_responses

    if plan.responses:
        given = _numbered(read_responses(Path(plan.responses)), plan.trials or 1)
        first = next(given, None)  # report a file that cannot be read before a run begins
        return given if first is None else chain([first], given)
    source = await _source(context, stack, plan)
    return await stack.enter_async_context(answers(queries, source, trials=plan.trials or 1, answered=answered))


def _numbered(responses: Iterator[AIResponse], trials: int) -> Iterator[AIResponse]:
    """Yield the answers of one model to the same query with numbers, up to that of trials, unless they have them."""
    taken = defaultdict[tuple[str, str, str], set[int]](set)
    for response in responses:
        mine = taken[response.query_id, response.provider, response.model]
        if "trial" not in response.model_fields_set:
            number = next((each for each in range(1, trials + 1) if each not in mine), trials)
            response = evolve(response, trial=number)  # noqa: PLW2901
        mine.add(response.trial)
        yield response


async def _source(context: typer.Context, stack: AsyncExitStack, plan: Plan) -> "ResponseSource":
    from tempfile import TemporaryDirectory

    from ralph_grounding.responses import EndpointSource, ExecutorSource

    settings = context_of(context).settings.answers
    if plan.ask:
        return EndpointSource(settings)
    empty = stack.enter_context(TemporaryDirectory(prefix="ralph-score-"))
    return ExecutorSource(executor_named(context, plan.executor or "default"), Path(empty), retries=settings.retries)


async def score_all(
    events: AsyncGenerator[AnalysisResult | BatchError | BatchResult],
    total: int,
    showing: Showing,
    store: str | None,
    run_id: str = "",
    *,
    judging: Judging | None = None,
) -> bool:
    """Print results and errors as they come, and the summary at the end; return True if none failed.

    Args:
        events: the stream of `run_batch`.
        total: number of expected answers; 0 if unknown.
        showing: the output format.
        store: its name as given on the command line, for the commands suggested to the user.
        run_id: the run that `--continue` accepts; empty if it cannot be continued.
        judging: the judge, if there is one.
    """
    command = continuing(run_id, store) if run_id else ""
    progress = _Progress(total, shown=showing == "people")
    try:
        ended = await _followed(events, progress, showing)
    except (Exception, anyio.get_cancelled_exc_class()):
        if progress.count and command:
            typer.echo(f"The run is incomplete. Continue it: {command}", err=True)
        raise
    report_use(judging)
    if showing == "json":
        print_json(ended.model_dump(mode="json"))
    elif showing == "lines":
        print_line({"batch": ended.model_dump(mode="json", exclude={"results"})})
    else:
        _print(ended, command, store)
    return not ended.failed


async def _followed(
    events: AsyncGenerator[AnalysisResult | BatchError | BatchResult], progress: "_Progress", showing: Showing
) -> BatchResult:
    """Print each event until the end, and return the final result."""
    with progress:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, BatchResult):
                    return event
                progress.step()
                if showing == "lines":
                    print_line(_line(event))
    raise AssertionError("a batch ends with its result")


def _line(event: AnalysisResult | BatchError) -> dict[str, Any]:
    if isinstance(event, BatchError):
        return event.model_dump(mode="json")
    return {
        "id": event.id,
        "query_id": event.query_id,
        "provider": event.ai_provider,
        "model": event.model,
        **result_line(event),
    }


class _Progress:
    """A progress line on a terminal; nothing elsewhere."""

    def __init__(self, total: int, *, shown: bool) -> None:
        self.count, self._total, self._shown = 0, total, shown and sys.stderr.isatty()
        self._terminal: TextIO = getattr(sys.stderr, "unfiltered", sys.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown and self.count:
            self._terminal.write("\r\x1b[K")
            self._terminal.flush()

    def step(self) -> None:
        self.count += 1
        if self._shown:
            of_all = f" of {self._total}" if self._total else ""
            self._terminal.write(f"\r\x1b[K{self.count}{of_all} scored")
            self._terminal.flush()


def _print(ended: BatchResult, command: str, store: str | None) -> None:
    """Print the summary, the failures and the commands for a closer look."""
    from ralph_grounding.cli.printing import summary_rows

    out, trend, rows = console(), ended.summary.trend, summary_rows(ended.summary)
    if rows:
        print_rows(("", "mean", "median", "lowest", "highest", "change", "tiers"), rows)
    for alert in ended.summary.alerts:
        out.print(f"alert: {alert}")
    if rows and trend:
        out.print(f"Changes are since run {trend.previous_run_id}.{f' {trend.note}' if trend.note else ''}")
    if rows:
        out.print()
    if missed := [rate for rate in ended.summary.claims if rate.missed_by][:_MOST_MISSED]:
        out.print("Missed most:")
        for rate in missed:
            out.print(f"  {one_line(rate.claim)}\n    {rate}", soft_wrap=True)
        out.print()
    out.print(f"{ended.succeeded} of {ended.total} were scored, {ended.failed} failed.")
    for error in ended.errors[:_MOST_ERRORS]:
        out.print(f"  {one_line(error.query_id, 60)}: {one_line(error.error, 300)}", soft_wrap=True)
    if (more := len(ended.errors) - _MOST_ERRORS) > 0:
        out.print(f"  and {more} more")
    if ended.failed and command:
        out.print(f"Try them again: {command}", soft_wrap=True)
    page = f"ralph score report {shlex.quote(one_line(ended.run_id))}{store_option(store)}"
    out.print(f"The page: {page}", soft_wrap=True)

"""`ralph score again`: the same answers, scored against other ground truth."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ralph_grounding.cli.judge import (
    Estimate,
    JudgeKeyName,
    JudgeMode,
    JudgeModel,
    JudgeOptions,
    JudgeUrl,
    MaxCost,
    Nli,
    judging_for,
    print_estimate,
)
from ralph_grounding.cli.options import (
    AsJson,
    Brands,
    Domain,
    Places,
    Similarity,
    Store,
    context_of,
    ground_truth_of,
    open_store,
    run_named,
)

if TYPE_CHECKING:
    from ralph_grounding.ground_truth.pages import GroundTruth
    from ralph_grounding.materials import AIResponse, Query
    from ralph_grounding.result import AnalysisResult
    from ralph_grounding.store.grounding import GroundingStore
    from ralph_grounding.store.records import GroundingRun

__all__ = ["again"]

_Asked = tuple[str, str, str, int]
"""The ids of a query, its provider and model, and the number of the trial."""

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run to score again: its id, or last.")]


def again(
    context: typer.Context,
    *,
    run: RunId,
    ground_truth: Places = None,
    domain: Domain = "",
    brand: Brands = None,
    similarity: Similarity = None,
    judge: JudgeUrl = None,
    judge_model: JudgeModel = None,
    judge_key_env: JudgeKeyName = None,
    judge_mode: JudgeMode = None,
    nli: Nli = None,
    max_cost: MaxCost = None,
    estimate: Estimate = False,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Score a run's answers again, against other ground truth or with other settings. The old run stays.

    Each new analysis names the one that it was made from. Expected claims that were made from ground truth follow the
    given one; the changed claims are listed.
    """
    from contextlib import AsyncExitStack

    import anyio

    from ralph_grounding.cli.batch_run import new_id, score_all, scored_by

    async def score() -> bool:
        from ralph_grounding.analyzer import GroundingAnalyzer
        from ralph_grounding.batch import run_batch

        settings = context_of(context).measured_by(similarity)
        asks = JudgeOptions(
            url=judge, model=judge_model, key_env=judge_key_env, mode=judge_mode, nli=nli, max_cost=max_cost
        )
        async with AsyncExitStack() as stack:
            kept = await stack.enter_async_context(open_store(context, store))
            judging = judging_for(settings, asks, kept, estimate=estimate)
            analyzer = await stack.enter_async_context(GroundingAnalyzer(settings, judging=judging))
            old = await run_named(kept, run, store)
            asked = await kept.query_set(old.query_set_id)
            ground = await ground_truth_of(context, ground_truth or (), domain or old.domain, brand or ())
            queries = _refreshed(asked.queries if asked else (), ground if ground_truth else None)
            before: dict[_Asked, str] = {}
            run_id = new_id()

            async def analyze(response: "AIResponse", query: "Query") -> "AnalysisResult":
                previous = before[response.query_id, response.provider, response.model, response.trial]
                return await analyzer.analyze(response, query, ground, previous_id=previous, run_id=run_id)

            given = _answers(kept, old, before)
            if judging and estimate:
                offline = run_batch(given, queries, analyze, settings=settings.batch, keep_results=False)
                await print_estimate(judging, offline, as_json=as_json)
                return True
            events = run_batch(
                given,
                queries,
                analyze,
                settings=settings.batch,
                store=kept,
                run_id=run_id,
                domain=ground.domain,
                options={"again": old.id, **scored_by(settings, ground, judging)},
                keep_results=False,
            )
            return await score_all(events, old.succeeded, "json" if as_json else "people", store, judging=judging)

    if not anyio.run(score):
        raise typer.Exit(1)


def _refreshed(queries: "Sequence[Query]", ground: "GroundTruth | None") -> "Sequence[Query]":
    """Return the queries with the claims of the ground truth, and list those that changed on standard error."""
    if ground is None:
        return queries
    from ralph_grounding.cli.printing import one_line
    from ralph_grounding.scoring.refreshing import refreshed

    found, changes = refreshed(queries, ground)
    for change in changes:
        now = f"now: {one_line(change.now)}" if change.now else "no longer in the ground truth"
        typer.echo(f"Claim of {one_line(change.query_id, 60)} changed: {one_line(change.before)} ({now})", err=True)
    return found


async def _answers(
    store: "GroundingStore", run: "GroundingRun", before: "dict[_Asked, str]"
) -> "AsyncIterator[AIResponse]":
    """Yield the answers of a run, and note the analysis that each had."""
    from ralph_grounding.filters import Condition
    from ralph_grounding.materials import AIResponse

    async for kept in store.analyses([Condition("run", "=", run.id)], order="oldest"):
        result = kept.result
        before[result.query_id, result.ai_provider, result.model, result.trial] = result.id
        yield AIResponse(
            query_id=result.query_id,
            response=result.response,
            provider=result.ai_provider,
            model=result.model,
            responded_at=result.response_at,
            trial=result.trial,
            metadata=result.metadata,
        )

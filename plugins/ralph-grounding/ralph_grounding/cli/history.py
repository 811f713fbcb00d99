"""`ralph score history` and `ralph score show`: stored runs over time, and stored answers."""

import sys
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import typer

from ralph_grounding.cli.options import (
    AsJson,
    Domain,
    Limit,
    Store,
    open_store,
    quoted_name,
    report_interrupted,
    run_named,
    store_option,
)

if TYPE_CHECKING:
    from ralph_grounding.filters import Condition
    from ralph_grounding.store.grounding import GroundingStore
    from ralph_grounding.store.records import GroundingRun, ScoreRow

__all__ = ["history", "show"]

AnalysisId = Annotated[str, typer.Argument(metavar="ID", help="The analysis: its id, or the start of it.")]


def show(context: typer.Context, *, analysis: AnalysisId, store: Store = None, as_json: AsJson = False) -> None:
    """Show one stored analysis with all its evidence."""
    import anyio

    async def look() -> None:
        from ralph.errors import UsageError
        from ralph_grounding.cli.printing import print_json, print_origin, print_result

        async with open_store(context, store) as kept:
            found = await kept.analysis(analysis)
            run = await kept.run(found.run_id) if found else None
        if found is None:
            raise UsageError(
                f"The id of no analysis, or of several, starts with {quoted_name(analysis)}.",
                f"`ralph score history --run last{store_option(store)}` lists those of the last run.",
            )
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            print_origin(found)
            print_result(found.result)
            if run:
                report_interrupted(run, store)

    anyio.run(look)


_Metric = Literal["accuracy", "completeness", "attribution", "combined", "support", "contradiction"]
_METRICS: tuple[_Metric, ...] = get_args(_Metric)
_FORMS = ("csv", "json", "jsonl", "claims")
_SHORT_ID = 8
"""Characters of an id that are enough for `ralph score show` to identify an answer."""

Filter = Annotated[
    str | None,
    typer.Option(
        "--filter", metavar="TEXT", help="List the answers that match, such as `accuracy<50 and flag=truncated`."
    ),
]
Worst = Annotated[
    str | None,
    typer.Option("--worst", metavar="METRIC", help="List answers, those with the lowest of this score first."),
]
OfRun = Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only this run: its id, or last.")]
Export = Annotated[
    str | None,
    typer.Option(
        "--export",
        metavar="FORM",
        help="Write answers in full, as csv, json or jsonl; or claims: how often each is made, as CSV.",
    ),
]


def history(
    context: typer.Context,
    *,
    filters: Filter = None,
    worst: Worst = None,
    run: OfRun = None,
    domain: Domain = "",
    export: Export = None,
    limit: Limit = 20,
    as_json: AsJson = False,
    store: Store = None,
) -> None:
    """List the runs, newest first. --filter, --worst and --run list answers instead; --export writes them in full."""
    import anyio

    from ralph_grounding.filters import Condition, parse_filter

    by = _checked("metric", worst, _METRICS)
    form = _checked("form", export, _FORMS)
    conditions = list(parse_filter(filters or ""))
    conditions += [Condition("domain", "=", domain)] if domain else []

    async def look() -> None:
        async with open_store(context, store) as kept:
            if run:
                conditions.append(Condition("run", "=", (await run_named(kept, run, store)).id))
            if form:
                await _export(kept, form, conditions)
            elif filters or by or run:
                await _list_answers(kept, conditions, cast("_Metric | None", by), limit, as_json=as_json)
            else:
                await _list_runs(kept, await kept.runs(domain=domain or None, limit=limit), store, as_json=as_json)

    anyio.run(look)


def _checked(kind: str, name: str | None, known: tuple[str, ...]) -> str | None:
    from ralph.errors import UnknownNameError

    if name is not None and name not in known:
        raise UnknownNameError(kind, name, known)
    return name


async def _export(store: "GroundingStore", form: str, conditions: "list[Condition]") -> None:
    """Write every answer, one after another, with at most one page of them in memory."""
    from ralph_grounding.export import claim_lines, csv_lines, json_array, json_lines

    async with AsyncExitStack() as stack:
        if form == "csv":
            rows = await stack.enter_async_context(aclosing(store.scores(conditions, order="oldest")))
            pieces = csv_lines(rows)
        else:
            order = "newest" if form == "claims" else "oldest"
            whole = await stack.enter_async_context(aclosing(store.analyses(conditions, order=order)))
            pieces = {"json": json_array, "jsonl": json_lines, "claims": claim_lines}[form](whole)
        await stack.enter_async_context(aclosing(pieces))
        async for piece in pieces:
            sys.stdout.write(piece)


async def _list_answers(
    store: "GroundingStore", conditions: "list[Condition]", by: _Metric | None, limit: int, *, as_json: bool
) -> None:
    from ralph_grounding.cli.printing import console, print_json, print_rows

    found = store.scores(conditions, order="worst" if by else "newest", by=by or "accuracy", limit=limit)
    rows = [row async for row in found]
    if as_json:
        print_json([_as_json(row) for row in rows])
    elif rows:
        print_rows(("id", "acc", "compl", "attr", "all", "supp", "contra", "answer of", "query"), map(_cells, rows))
    else:
        console().print("No answer matches.")


def _cells(row: "ScoreRow") -> tuple[Any, ...]:
    from ralph_grounding.cli.printing import one_line, score_cell

    flags = f" ({one_line(', '.join(row.flags), 60)})" if row.flags else ""
    return (
        row.id[:_SHORT_ID],
        score_cell(row.accuracy, row.accuracy_tier or ""),
        score_cell(row.completeness, row.completeness_tier or ""),
        score_cell(row.attribution, row.attribution_tier or ""),
        score_cell(row.combined),
        score_cell(row.support),
        score_cell(row.contradiction),
        one_line(f"{row.ai_provider} {row.model}", 26),
        f"{one_line(row.query or row.query_id, 100)}{flags}",
    )


def _as_json(row: "ScoreRow") -> dict[str, Any]:
    return {**row._asdict(), "created_at": row.created_at.isoformat()}


async def _list_runs(store: "GroundingStore", runs: "list[GroundingRun]", named: str | None, *, as_json: bool) -> None:
    from ralph_grounding.cli.printing import console, one_line, print_json, print_rows
    from ralph_grounding.summary import METRICS

    if as_json:
        print_json([run.model_dump(mode="json") for run in runs])
        return
    if not runs:
        console().print(f"No run yet. `ralph score batch{store_option(named)}` makes one.", soft_wrap=True)
        return
    several = len({run.domain for run in runs}) > 1
    rows: list[tuple[str, ...]] = []
    for run in runs:
        summary = await store.summary(run)
        means = [summary.metric(name).mean for name in METRICS]
        rows.append((
            one_line(run.id, 60),
            f"{run.started_at.astimezone():%Y-%m-%d %H:%M}",
            run.status,
            f"{run.succeeded}/{run.total}",
            *("-" if mean is None else f"{mean:3.0f}" for mean in means),
            *((one_line(run.domain, 60),) if several else ()),
        ))
    print_rows(("run", "began", "state", "scored", "acc", "compl", "attr", *(("domain",) if several else ())), rows)
    for run in runs:
        report_interrupted(run, named)

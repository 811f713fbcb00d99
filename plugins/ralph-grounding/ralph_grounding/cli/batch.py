"""`ralph score batch`: many answers to many queries, stored, and continued after an interruption."""

from pathlib import Path
from typing import Annotated

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
)
from ralph_grounding.cli.options import AsJson, Brands, Domain, Limit, Places, Similarity, Store

__all__ = ["batch"]

QueriesFile = Annotated[
    Path | None,
    typer.Option("--queries", metavar="FILE", help="The queries; without it they are made from the ground truth."),
]
ClaimsFile = Annotated[
    Path | None, typer.Option("--claims", metavar="FILE", help="The expected claims of each query, by its id.")
]
ResponsesFile = Annotated[
    Path | None, typer.Option("--responses", metavar="FILE", help="The answers, one JSON object per line.")
]
Ask = Annotated[bool, typer.Option("--ask", help="Get the answers from the endpoint in plugins.grounding.answers.url.")]
ExecutorName = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="NAME",
        help="Get the answers from an executor's agent; `default`: the one in your settings.",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        "--trials", metavar="N", min=1, max=100, help="Ask each query N times; in a file, read up to N answers to it."
    ),
]
Continued = Annotated[
    str | None,
    typer.Option("--continue", metavar="RUN", help="Continue an interrupted run, or retry its failures."),
]
AsLines = Annotated[bool, typer.Option("--jsonl", help="Print each answer's scores at once, one JSON object per line.")]


def batch(
    context: typer.Context,
    *,
    queries: QueriesFile = None,
    claims: ClaimsFile = None,
    responses: ResponsesFile = None,
    ask: Ask = False,
    executor: ExecutorName = None,
    trials: Trials = None,
    ground_truth: Places = None,
    domain: Domain = "",
    brand: Brands = None,
    continued: Continued = None,
    limit: Limit = 50,
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
    as_lines: AsLines = False,
) -> None:
    """Score many answers. Each result is stored at once, so an interrupted run can be continued.

    Exits with 1 if an answer could not be obtained or scored.
    """
    from functools import partial

    import anyio

    from ralph_grounding.cli.batch_run import Plan, Showing, run_plan

    given = Plan(
        queries=str(queries.absolute()) if queries else None,
        claims=str(claims.absolute()) if claims else None,
        responses=str(responses.absolute()) if responses else None,
        ask=ask,
        executor=executor,
        trials=trials,
        ground_truth=tuple(ground_truth or ()),
        domain=domain,
        brands=tuple(brand or ()),
        limit=limit,
        similarity=similarity,
        judge=JudgeOptions(
            url=judge, model=judge_model, key_env=judge_key_env, mode=judge_mode, nli=nli, max_cost=max_cost
        ),
    )
    showing: Showing = "json" if as_json else "lines" if as_lines else "people"
    if not anyio.run(partial(run_plan, context, given, continued, store, showing, estimate=estimate)):
        raise typer.Exit(1)

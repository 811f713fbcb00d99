"""`ralph score batch`: many answers to many queries, kept, and continued where it was cut off."""

from pathlib import Path
from typing import Annotated

import typer

from ralph_grounding.cli.options import AsJson, Brands, Domain, Limit, Places, Similarity, Store

__all__ = ["batch"]

QueriesFile = Annotated[
    Path | None, typer.Option("--queries", metavar="FILE", help="What was asked; unset: made from the ground truth.")
]
ClaimsFile = Annotated[
    Path | None, typer.Option("--claims", metavar="FILE", help="The expected claims, by the queries' ids.")
]
ResponsesFile = Annotated[
    Path | None, typer.Option("--responses", metavar="FILE", help="The answers, a JSON object a line.")
]
Ask = Annotated[
    bool, typer.Option("--ask", help="Ask the endpoint that the settings name: plugins.grounding.answers.url.")
]
ExecutorName = Annotated[
    str | None, typer.Option("--executor", metavar="NAME", help="Ask the agent of this executor, or of `default`.")
]
Continued = Annotated[
    str | None,
    typer.Option("--continue", metavar="RUN", help="Go on with a run that was cut off, or try again what failed."),
]
AsLines = Annotated[bool, typer.Option("--jsonl", help="Print each answer's scores at once, a JSON object a line.")]


def batch(
    context: typer.Context,
    *,
    queries: QueriesFile = None,
    claims: ClaimsFile = None,
    responses: ResponsesFile = None,
    ask: Ask = False,
    executor: ExecutorName = None,
    ground_truth: Places = None,
    domain: Domain = "",
    brand: Brands = None,
    continued: Continued = None,
    limit: Limit = 50,
    similarity: Similarity = None,
    store: Store = None,
    as_json: AsJson = False,
    as_lines: AsLines = False,
) -> None:
    """Score many answers. Each result is kept at once, so that a run that is cut off can be continued.

    It ends with status 1 where an answer could not be had or scored.
    """
    import anyio

    from ralph_grounding.cli.batch_plan import Plan
    from ralph_grounding.cli.batch_run import Showing, carry_out

    given = Plan(
        queries=str(queries.absolute()) if queries else None,
        claims=str(claims.absolute()) if claims else None,
        responses=str(responses.absolute()) if responses else None,
        ask=ask,
        executor=executor,
        ground_truth=tuple(ground_truth or ()),
        domain=domain,
        brands=tuple(brand or ()),
        limit=limit,
        similarity=similarity,
    )
    showing: Showing = "json" if as_json else "lines" if as_lines else "people"
    if not anyio.run(carry_out, context, given, continued, store, showing):
        raise typer.Exit(1)

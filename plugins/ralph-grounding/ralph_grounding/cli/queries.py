"""`ralph score queries`: questions that the ground truth answers, for the user to review."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph_grounding.cli.options import Brands, Domain, Limit, Places, executor_named, ground_truth_of, required_places

if TYPE_CHECKING:
    from ralph_grounding.ground_truth.pages import GroundTruth
    from ralph_grounding.materials import Query

__all__ = ["queries"]

Topics = Annotated[list[str] | None, typer.Option("--topic", metavar="TEXT", help="A topic to ask about; repeatable.")]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="Let this executor's agent find the claims; without it rules do."),
]


def queries(
    context: typer.Context,
    *,
    ground_truth: Places = None,
    domain: Domain = "",
    brand: Brands = None,
    topic: Topics = None,
    agent: Agent = None,
    limit: Limit = 50,
) -> None:
    """Make queries from the ground truth, as YAML, each with its expected answer and claims."""
    import anyio

    async def make() -> "tuple[Query, ...]":
        from ralph_grounding.queries import make_queries

        ground = await ground_truth_of(context, required_places(ground_truth), domain, brand or ())
        if agent is not None:
            ground = await _asked(ground, executor_named(context, agent))
        _print_problems(ground)
        return make_queries(ground, limit=limit, topics=topic or ())

    _print(anyio.run(make))


async def _asked(ground: "GroundTruth", executor: Any) -> "GroundTruth":
    from ralph_grounding.ground_truth.agent_claims import with_agent_claims

    async with executor:
        return await with_agent_claims(ground, executor)


def _print_problems(ground: "GroundTruth") -> None:
    from ralph_grounding.cli.printing import one_line

    for problem in ground.problems:
        typer.echo(f"note: {one_line(problem, 400)}", err=True)


def _print(made: "tuple[Query, ...]") -> None:
    import sys

    import yaml

    entries = [query.model_dump(mode="json", exclude_defaults=True) for query in made]
    sys.stdout.write(yaml.safe_dump(entries, allow_unicode=True, sort_keys=False, width=100))

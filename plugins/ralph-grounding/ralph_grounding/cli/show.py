"""`ralph score show`: one stored analysis."""

from typing import Annotated

import typer

from ralph_grounding.cli.options import AsJson, Store

__all__ = ["show"]

AnalysisId = Annotated[str, typer.Argument(metavar="ID", help="The analysis: its id, or the start of it.")]


def show(context: typer.Context, *, analysis: AnalysisId, store: Store = None, as_json: AsJson = False) -> None:
    """Show one stored analysis with all its evidence."""
    import anyio

    from ralph_grounding.cli.keeping import opened_store, store_option, tell_if_interrupted, told

    async def look() -> None:
        from ralph.errors import UsageError
        from ralph_grounding.cli.printing import print_json
        from ralph_grounding.cli.shown import print_origin, print_result

        async with opened_store(context, store) as kept:
            found = await kept.analysis(analysis)
            run = await kept.run(found.run_id) if found else None
        if found is None:
            raise UsageError(
                f"The id of no analysis, or of several, starts with {told(analysis)}.",
                f"`ralph score history --run last{store_option(store)}` lists those of the last run.",
            )
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            print_origin(found)
            print_result(found.result)
            if run:
                tell_if_interrupted(run, store)

    anyio.run(look)

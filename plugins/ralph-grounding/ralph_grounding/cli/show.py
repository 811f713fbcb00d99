"""`ralph score show`: one analysis that is kept."""

from typing import Annotated

import typer

from ralph_grounding.cli.options import AsJson, Store

__all__ = ["show"]

AnalysisId = Annotated[str, typer.Argument(metavar="ID", help="The analysis's id, or the beginning of it.")]


def show(context: typer.Context, *, analysis: AnalysisId, store: Store = None, as_json: AsJson = False) -> None:
    """Show one analysis that is kept, with all its evidence."""
    import anyio

    from ralph_grounding.cli.keeping import opened_store, store_option, told

    async def look() -> None:
        from ralph.errors import UsageError
        from ralph_grounding.cli.printing import print_json
        from ralph_grounding.cli.shown import print_origin, print_result

        async with opened_store(context, store) as kept:
            found = await kept.analysis(analysis)
        if found is None:
            raise UsageError(
                f"There is no one analysis with the id {told(analysis)}.",
                f"`ralph score history --run last{store_option(store)}` lists those of the last run.",
            )
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            print_origin(found)
            print_result(found.result)

    anyio.run(look)

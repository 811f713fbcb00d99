"""Where the commands find what is kept."""

from typing import TYPE_CHECKING

from ralph_grounding.cli.printing import one_line
from ralph_grounding.cli.situation import situation_of

if TYPE_CHECKING:
    import typer

    from ralph_grounding.store.grounding import GroundingStore
    from ralph_grounding.store.records import GroundingRun

__all__ = ["opened_store", "run_named", "told"]


def opened_store(context: "typer.Context", named: str | None) -> "GroundingStore":
    """The store that the command line names, else the one of the settings; to be used in `async with`."""
    from ralph_grounding.store import open_grounding_store

    return open_grounding_store(named or situation_of(context).settings.store)


async def run_named(store: "GroundingStore", name: str) -> "GroundingRun":
    """The run of an id, the beginning of one, or "last". Raises `UsageError`."""
    from ralph.errors import UsageError

    found = next(iter(await store.runs(limit=1)), None) if name == "last" else await store.run(name)
    if found is None:
        wanted = "There is no run yet." if name == "last" else f"There is no one run with the id {told(name)}."
        raise UsageError(wanted, "`ralph score history` lists the runs, `ralph score batch` makes one.")
    return found


def told(name: str) -> str:
    """A name as a person gave it, for a sentence."""
    return repr(one_line(name, 80))

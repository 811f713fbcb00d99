"""Access to the store for the commands."""

import re
import shlex
from typing import TYPE_CHECKING

from ralph_grounding.cli.printing import console, one_line
from ralph_grounding.cli.situation import situation_of

if TYPE_CHECKING:
    import typer

    from ralph_grounding.store.grounding import GroundingStore
    from ralph_grounding.store.records import GroundingRun

__all__ = ["continuing", "opened_store", "run_named", "store_option", "tell_if_interrupted", "told"]


def opened_store(context: "typer.Context", named: str | None) -> "GroundingStore":
    """Return the store named on the command line, else the one of the settings; use it in `async with`."""
    from ralph_grounding.store import open_grounding_store

    return open_grounding_store(named or situation_of(context).settings.store)


def store_option(named: str | None) -> str:
    """Return the option that makes a suggested command find the same store, without a password.

    Empty if no store was named, because the settings name it then.
    """
    if named is None:
        return ""
    place = re.sub(r"(?<=://)([^/@:]*):.*(?=@)", r"\1", one_line(named, 1_000))
    return f" --store {shlex.quote(place)}"


def continuing(run_id: str, place: str | None) -> str:
    """Return the command that continues a run of `ralph score batch`."""
    return f"ralph score batch --continue {shlex.quote(one_line(run_id))}{store_option(place)}"


def tell_if_interrupted(run: "GroundingRun", place: str | None) -> None:
    """Report on standard output that the run's process is gone, and how to continue the run."""
    if run.status == "interrupted":
        command = f" Continue it: {continuing(run.id, place)}" if "plan" in run.options else ""
        console().print(f"Run {one_line(run.id)} was interrupted.{command}", soft_wrap=True)


async def run_named(store: "GroundingStore", name: str, place: str | None = None) -> "GroundingRun":
    """Find the run with an id, the beginning of one, or "last".

    Args:
        store: an open store.
        name: the run's id, the beginning of it, or "last".
        place: the store's name as given on the command line, for the commands suggested to the user.

    Raises:
        UsageError: no run matches, or several have that beginning.
    """
    from ralph.errors import UsageError

    found = next(iter(await store.runs(limit=1)), None) if name == "last" else await store.run(name)
    if found is None:
        wanted = (
            "There is no run yet." if name == "last" else f"The id of no run, or of several, starts with {told(name)}."
        )
        at = store_option(place)
        raise UsageError(wanted, f"`ralph score history{at}` lists the runs, `ralph score batch{at}` makes one.")
    return found


def told(name: str) -> str:
    """Quote a name as the user gave it, for a sentence."""
    return repr(one_line(name, 80))

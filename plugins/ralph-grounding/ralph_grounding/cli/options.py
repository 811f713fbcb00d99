"""Options that several commands share, and the objects that they name: settings, ground truth, executor, store."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from ralph.errors import UnknownNameError, UsageError
from ralph.types import evolve
from ralph_grounding.cli.printing import console, one_line
from ralph_grounding.settings import GroundingSettings, ProviderSettings

if TYPE_CHECKING:
    from ralph import Executor
    from ralph.plugins import CommandContext
    from ralph_grounding.ground_truth.pages import GroundTruth
    from ralph_grounding.store.grounding import GroundingStore
    from ralph_grounding.store.records import GroundingRun

__all__ = [
    "AsJson",
    "Brands",
    "Domain",
    "Limit",
    "Places",
    "ScoreContext",
    "Similarity",
    "Store",
    "context_of",
    "continuing",
    "executor_named",
    "ground_truth_of",
    "open_store",
    "quoted_name",
    "report_interrupted",
    "required_places",
    "run_named",
    "store_option",
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Brands = Annotated[
    list[str] | None, typer.Option("--brand", metavar="NAME", help="A brand that credits the source; repeatable.")
]
Domain = Annotated[str, typer.Option("--domain", metavar="HOST", help="The site that the answer should credit.")]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="The maximum number.")]
Places = Annotated[
    list[str] | None,
    typer.Option(
        "--ground-truth", "-g", metavar="PLACE", help="The ground truth: a file, a folder or an address; repeatable."
    ),
]
Similarity = Annotated[
    str | None,
    typer.Option("--similarity", metavar="NAME", help="How to measure similarity: lexical, local, endpoint or hybrid."),
]
Store = Annotated[str | None, typer.Option("--store", metavar="URL", help="Where results are stored.")]


@dataclass(frozen=True, slots=True)
class ScoreContext:
    """The settings in force, and what the program can create for a plug-in."""

    settings: GroundingSettings
    host: "CommandContext | None" = None

    def measured_by(self, similarity: str | None) -> GroundingSettings:
        """Return the settings with another similarity provider, if one is named. Raises `UnknownNameError`."""
        if similarity is None:
            return self.settings
        names = get_args(ProviderSettings.model_fields["similarity"].annotation)
        if similarity not in names:
            raise UnknownNameError("similarity provider", similarity, names)
        chosen = cast("Literal['lexical', 'local', 'endpoint', 'hybrid']", similarity)
        providers = evolve(self.settings.providers, similarity=chosen)
        return evolve(self.settings, providers=providers)


def context_of(context: "typer.Context") -> ScoreContext:
    """Return the situation of a command."""
    return cast("ScoreContext", context.obj)


async def ground_truth_of(
    context: "typer.Context", places: Sequence[str], domain: str, brands: Sequence[str]
) -> "GroundTruth":
    """Read the ground truth that the options name, within the limits of the settings; empty if they name no place."""
    from ralph_grounding.ground_truth.pages import GroundTruth
    from ralph_grounding.ground_truth.reading import read_ground_truth

    if not places:
        return GroundTruth(domain=domain, brands=tuple(brands))
    limits = context_of(context).settings.reading
    return await read_ground_truth(places, domain=domain, brands=tuple(brands), limits=limits)


def required_places(places: Sequence[str] | None) -> Sequence[str]:
    """Return the places that the options name. Raises `UsageError` if there are none."""
    if not places:
        raise UsageError("No ground truth is given.", "Add --ground-truth FILE, FOLDER or ADDRESS.")
    return places


def executor_named(context: "typer.Context", name: str) -> "Executor":
    """Create an executor by its name; "default" is the one of the settings in force. Raises `UsageError`."""
    host = context_of(context).host
    if host is None:
        raise UsageError(f"There is no executor {name!r} here.", "Run it as `ralph score`.")
    return host.executor("" if name == "default" else name)


def open_store(context: "typer.Context", named: str | None) -> "GroundingStore":
    """Return the store named on the command line, else the one of the settings; use it in `async with`."""
    from ralph_grounding.store import open_grounding_store

    return open_grounding_store(named or context_of(context).settings.store)


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


def report_interrupted(run: "GroundingRun", place: str | None) -> None:
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
    found = next(iter(await store.runs(limit=1)), None) if name == "last" else await store.run(name)
    if found is None:
        wanted = (
            "There is no run yet."
            if name == "last"
            else f"The id of no run, or of several, starts with {quoted_name(name)}."
        )
        at = store_option(place)
        raise UsageError(wanted, f"`ralph score history{at}` lists the runs, `ralph score batch{at}` makes one.")
    return found


def quoted_name(name: str) -> str:
    """Quote a name as the user gave it, for a sentence."""
    return repr(one_line(name, 80))

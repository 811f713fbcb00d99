"""`ralph runs`: what ran, and why it stopped; `ralph runs prune`: what need not be kept."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.options import AsJson, StoreName
from ralph.types import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.store.glance import Glimpse

__all__ = ["app"]

app = typer.Typer(add_completion=False, help="List runs: their tasks, how far they got, why they stopped.")

Folder = Annotated[
    Path | None, typer.Option("--directory", "-C", metavar="DIR", help="Only runs in this folder; all by default.")
]
Most = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many, the newest first.")]


Age = Annotated[
    str | None, typer.Option("--older-than", metavar="AGE", help="Those that ended longer ago, such as 12h or 30d.")
]
Newest = Annotated[int | None, typer.Option("--keep", metavar="N", min=0, help="All but the newest N.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Only say which.")]


@app.callback(invoke_without_command=True)
def runs(
    context: typer.Context,
    *,
    directory: Folder = None,
    limit: Most = 20,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """List runs: their tasks, how far they got, why they stopped."""
    if context.invoked_subcommand is None:
        _list(directory, limit, store, as_json=as_json)


@app.command()
def prune(
    *,
    older_than: Age = None,
    keep: Newest = None,
    dry_run: Dry = False,
    directory: Folder = None,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Remove runs from the store for good, with their transcripts and checkpoints. An active run is never removed."""
    import anyio

    from ralph.cli.output import console, print_json
    from ralph.cli.prune import long_ago
    from ralph.cli.prune import prune as carry_out
    from ralph.cli.settings import workspace_folder
    from ralph.errors import UsageError

    if older_than is None and keep is None:
        raise UsageError("You did not say which runs to remove.", "Give --older-than AGE, --keep N, or both.")
    before = None if older_than is None else long_ago(older_than)
    folder = workspace_folder(directory) if directory else None
    work = partial(carry_out, store, folder, before=before, keep=keep or 0, dry_run=dry_run)
    done = anyio.run(work)
    if as_json:
        print_json({**done._asdict(), "dry_run": dry_run})
    else:
        counts = f"{len(done.removed)} {'would be removed' if dry_run else 'removed'}, {done.kept} kept."
        console().print("\n".join([*done.removed, counts]), markup=False, highlight=False)


def _list(directory: Path | None, limit: int, store: str | None, *, as_json: bool) -> None:
    from ralph.cli.output import console, print_json

    if directory is None and not as_json and (glimpsed := _glimpsed(store, limit)):
        _print([(run, run.stop_reason or run.state if run.finished_at else "crashed") for run in glimpsed])
        return

    import anyio

    from ralph.cli.lookup import state_of
    from ralph.cli.settings import workspace_folder
    from ralph.cli.store_url import named

    folder = workspace_folder(directory) if directory else None
    found = anyio.run(_runs, store, folder, limit)
    if as_json:
        print_json([_as_json(run) for run in found])
    elif found:
        _print([(run, state_of(run)) for run in found])
    else:
        place = f" in {folder}" if folder else ""
        console().print(f"No run yet{place}. `ralph run{named(store)}` makes one.", soft_wrap=True)


def _glimpsed(store: str | None, limit: int) -> "list[Glimpse] | None":
    """The newest runs, where they can be had quickly."""
    from ralph.cli.store_url import stated_store
    from ralph.store import file_of
    from ralph.store.glance import glance

    path = file_of(stated_store(store, Path.cwd()))
    return glance(path, limit) if path else None


async def _runs(store: str | None, folder: Path | None, limit: int) -> "list[RunRecord]":
    from ralph.cli.lookup import opened_store

    async with opened_store(store, folder) as opened:
        found = await opened.runs(workspace=str(folder) if folder else None, limit=limit)
        return [run if run.finished_at else await _so_far(opened, run) for run in found]


async def _so_far(store: "Store", run: "RunRecord") -> "RunRecord":
    """A run without an end, with the number of its iterations until now."""
    return evolve(run, iterations=await store.last_iteration(run.id))


def _as_json(run: "RunRecord") -> dict[str, Any]:
    from ralph.cli.lookup import state_of

    said = run.model_dump(mode="json", exclude={"settings", "plan", "breaker", "fingerprint"})
    return {**said, "state": state_of(run) if run.state != "finished" else "finished"}


def _print(found: "Sequence[tuple[RunRecord | Glimpse, str]]") -> None:
    """Runs, and how each ended or where it stands."""
    from ralph.cli.output import print_table, when
    from ralph.system.text import duration
    from ralph.watch.terminal import one_line

    rows: list[tuple[str, ...]] = []
    for run, state in found:
        ended = state
        if ended == "completed":
            ended += ", verified" if run.verified else ", not verified"
        took = duration(run.duration) if run.finished_at else ""
        ended = one_line(ended.replace("_", " "))
        rows.append((one_line(run.id), when(run.started_at), ended, str(run.iterations), took, one_line(run.task, 100)))
    print_table(("run", "started", "ended", "iterations", "took", "task"), rows)

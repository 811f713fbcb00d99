"""`ralph runs` lists runs; `ralph runs prune` removes them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.lookup import configured_store, is_alive, opened_store, require_meant, run_state, store_option
from ralph.cli.options import AsJson, StoreName, Yes
from ralph.cli.output import print_json, print_paragraph, print_table, when
from ralph.cli.worktree import report_remaining_worktree
from ralph.errors import RunOwnedError, UsageError
from ralph.system.text import duration, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.store.run_list import ListedRun

_ALL = 1_000_000

app = typer.Typer(add_completion=False, help="List runs: their tasks, how far they got, why they stopped.")

Folder = Annotated[
    Path | None, typer.Option("--directory", "-C", metavar="DIR", help="Only runs in this folder; all by default.")
]
Most = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many, the newest first.")]
Age = Annotated[
    str | None, typer.Option("--older-than", metavar="AGE", help="Those that ended longer ago, such as 12h or 30d.")
]
Newest = Annotated[int | None, typer.Option("--keep", metavar="N", min=0, help="All but the newest N.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Only list them.")]


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


def _list(directory: Path | None, limit: int, store: str | None, *, as_json: bool) -> None:
    if directory is None and not as_json and (quick := _quick_list(store, limit)):
        _print([(run, run.stop_reason or run.state if run.finished_at else "crashed") for run in quick])
        return

    import anyio

    from ralph.settings import workspace_folder

    folder = workspace_folder(directory) if directory else None
    found, odd = anyio.run(_runs, store, folder, limit)
    if as_json:
        print_json([_as_json(run) for run in found])
    elif found:
        _print([(run, run_state(run)) for run in found])
    elif not odd:
        print_paragraph(f"No run yet{f' in {folder}' if folder else ''}. `ralph run{store_option(store)}` makes one.")


def _quick_list(store: str | None, limit: int) -> "list[ListedRun] | None":
    """Return the newest runs of a store in a file, read without opening it; None if that is not possible."""
    from ralph.store import file_of
    from ralph.store.run_list import listed_runs

    path = file_of(configured_store(store, Path.cwd()))
    return listed_runs(path, limit) if path else None


async def _runs(store: str | None, folder: Path | None, limit: int) -> "tuple[list[RunRecord], bool]":
    """Return the runs, and whether others cannot be read."""
    from ralph.types import evolve

    async with opened_store(store, folder) as opened:
        found = await opened.runs(workspace=str(folder) if folder else None, limit=limit)
        listed = [
            run if run.finished_at else evolve(run, iterations=await opened.last_iteration(run.id)) for run in found
        ]
        return listed, bool(opened.unreadable)


def _as_json(run: "RunRecord") -> dict[str, Any]:
    fields = run.model_dump(mode="json", exclude={"settings", "plan", "breaker", "fingerprint"})
    return {**fields, "state": run_state(run) if run.state != "finished" else "finished"}


def _print(found: "Sequence[tuple[RunRecord | ListedRun, str]]") -> None:
    from ralph.decision.backing import grade

    rows: list[tuple[str, ...]] = []
    for run, state in found:
        graded = grade(verified=run.verified, already_green=run.already_green)
        took = duration(run.duration) if run.finished_at else ""
        ended = one_line(f"{state}, {graded}" if state == "completed" else state.replace("_", " "))
        rows.append((one_line(run.id), when(run.started_at), ended, str(run.iterations), took, one_line(run.task, 100)))
    print_table(("run", "started", "ended", "iterations", "took", "task"), rows)


@app.command()
async def prune(
    *,
    older_than: Age = None,
    keep: Newest = None,
    dry_run: Dry = False,
    yes: Yes = False,
    directory: Folder = None,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Remove runs from the store for good, with their transcripts and checkpoints. An active run is never removed."""
    from ralph.settings import workspace_folder

    if older_than is None and keep is None:
        raise UsageError("You did not say which runs to remove.", "Give --older-than AGE, --keep N, or both.")
    before = None if older_than is None else _moment_before(older_than)
    folder = workspace_folder(directory) if directory else None
    async with opened_store(store, folder) as opened:
        every = await opened.runs(limit=_ALL)
        found = [run for run in every if folder is None or str(folder) in {run.workspace, run.origin}]
        live, chosen = await _choose(opened, found, before, keep or 0)
        if not dry_run:
            theirs = [run for run in chosen if not run.imported]  # the checkpoints of these are removed, too
            require_meant("remove the checkpoints of runs", theirs, folder, yes=yes)
            chosen = [run for run in chosen if await _remove(opened, run)]
            if chosen and not live:  # an active run would have to wait for it
                await opened.compact()
        worktrees = [place for run in chosen for place in await report_remaining_worktree(run, would=dry_run)]
    removed = [run.id for run in chosen]
    kept = len(found) - len(removed)
    if as_json:
        print_json({"removed": removed, "kept": kept, "worktrees": worktrees, "dry_run": dry_run})
    else:
        print_paragraph(
            "\n".join([*removed, f"{len(removed)} {'would be removed' if dry_run else 'removed'}, {kept} kept."])
        )


async def _choose(
    store: "Store", found: "Sequence[RunRecord]", before: datetime | None, keep: int
) -> "tuple[set[str], list[RunRecord]]":
    """Return the ids of the active runs, and those to remove: the others after `keep`, unless active since `before`."""
    live = {run.id for run in found if run.state != "finished" and (is_alive(run) or await store.leased(run.id))}
    rest = [run for run in found[keep:] if run.id not in live]
    return live, [run for run in rest if before is None or await _last_activity(store, run) < before]


def _moment_before(age: str) -> datetime:
    """Return the moment that an age ago. Raises `UsageError`, also for a number without a unit.

    The settings read a number as seconds; a user who means days must not lose newer runs.
    """
    from ralph.settings import parse_duration

    try:
        seconds = 86400 * float(age[:-1]) if age.endswith("d") else float(str(parse_duration(age)))
        if seconds >= 0 and age[-1].isalpha():
            return datetime.now(UTC) - timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"--older-than {age!r} is not an age.", "Write 90s, 15m, 12h or 30d.")


async def _remove(store: "Store", run: "RunRecord") -> bool:
    """Remove a run; return False if a process has just resumed it."""
    from ralph.loop.retention import forget_checkpoints

    try:
        await store.remove(run.id)
    except RunOwnedError:
        return False
    await forget_checkpoints(run)
    return True


async def _last_activity(store: "Store", run: "RunRecord") -> datetime:
    if run.finished_at is not None:
        return run.finished_at
    last = await store.iteration(run.id, await store.last_iteration(run.id))
    return last.finished_at if last else run.started_at

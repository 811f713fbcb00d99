"""`ralph runs` lists runs; `ralph runs prune` removes them."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.lookup import configured_store, is_alive, opened_store, require_meant, run_state, store_option
from ralph.cli.options import AsJson, StoreName, Yes
from ralph.cli.output import print_json, print_paragraph, print_table, when
from ralph.cli.report import ALL, Folder, Search, Since, State, StopReason, moment_of, wanted_by, wanted_runs
from ralph.cli.worktree import report_remaining_worktree
from ralph.errors import RunOwnedError, UsageError
from ralph.system.text import duration, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.store.run_list import ListedRun
    from ralph.watch.report_stats import Wanted

app = typer.Typer(add_completion=False, help="List runs: their tasks, how far they got, why they stopped.")

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
    state: State = None,
    stop_reason: StopReason = None,
    since: Since = None,
    search: Search = None,
    directory: Folder = None,
    limit: Most = 20,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """List runs: their tasks, how far they got, why they stopped, what they cost."""
    if context.invoked_subcommand is not None:
        return
    wanted = wanted_by(state or stop_reason, since, search)
    if directory is None and not as_json and (quick := _quick_list(store, ALL if any(wanted) else limit)):
        listed = [(run, run.stop_reason or run.state if run.finished_at else "crashed") for run in quick]
        _print([each for each in listed if wanted.has(*each)][:limit], found=True)
        return

    import anyio

    from ralph.settings import workspace_folder

    folder = workspace_folder(directory) if directory else None
    found, odd = anyio.run(_runs, store, folder, limit, wanted)
    if as_json:
        print_json([_as_json(run) for run, _ in found])
    elif found or odd or any(wanted):
        _print(found, found=bool(found or not odd))
    else:
        print_paragraph(f"No run yet{f' in {folder}' if folder else ''}. `ralph run{store_option(store)}` makes one.")


def _quick_list(store: str | None, limit: int) -> "list[ListedRun] | None":
    """Return the newest runs of a store in a file, read without opening it; None if that is not possible."""
    from ralph.store import file_of
    from ralph.store.run_list import listed_runs

    path = file_of(configured_store(store, Path.cwd()))
    return listed_runs(path, limit) if path else None


async def _runs(
    store: str | None, folder: Path | None, limit: int, wanted: "Wanted"
) -> "tuple[list[tuple[RunRecord, str]], bool]":
    async with opened_store(store, folder) as opened:
        found = await wanted_runs(opened, folder, limit, wanted)
        listed = [(run if run.finished_at else await _so_far(opened, run), state) for run, state in found]
        return listed, bool(opened.unreadable)


async def _so_far(store: "Store", run: "RunRecord") -> "RunRecord":
    """Return an unfinished run with what its last iteration tells."""
    from ralph.types import evolve

    number = await store.last_iteration(run.id)
    last = await store.iteration(run.id, number) if number else None
    return evolve(run, iterations=number, denials=last.spent.denials, usage=last.spent.usage) if last else run


def _as_json(run: "RunRecord") -> dict[str, Any]:
    fields = run.model_dump(mode="json", exclude={"settings", "plan", "breaker", "fingerprint"})
    return {**fields, "state": run_state(run) if run.state != "finished" else "finished"}


def _print(runs: "Sequence[tuple[RunRecord | ListedRun, str]]", *, found: bool) -> None:
    from ralph.watch.report_stats import cost_of, outcome_of

    rows: list[tuple[str, ...]] = []
    denied = any(run.denials for run, _ in runs)
    for run, state in runs:
        took = duration(run.duration) if run.finished_at else ""
        cost = "" if (spent := cost_of(run)) is None else f"${spent:,.2f}"
        facts = [one_line(outcome_of(run, state)), str(run.iterations), took, cost]
        facts += [str(run.denials or "")] if denied else []
        rows.append((one_line(run.id), when(run.started_at), *facts, one_line(run.task, 100)))
    if rows:
        denials = ["denied"] if denied else []
        columns = ("run", "started", "ended", "iterations", "took", "cost", *denials, "task")
        print_table(columns, rows, ("started", "cost", *denials, "iterations", "took"))
    elif found:
        print_paragraph("No run is like that.")


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
    before = None if older_than is None else moment_of("--older-than", older_than)
    folder = workspace_folder(directory) if directory else None
    async with opened_store(store, folder) as opened:
        every = await opened.runs(limit=ALL)
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

"""`ralph status`: the runs that have not ended, in this folder and elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.cli.lookup import opened_store, owner_text, run_state, store_option
from ralph.cli.options import AsJson, StoreName
from ralph.cli.output import print_json, print_paragraph, print_table, when
from ralph.system.text import one_line

if TYPE_CHECKING:
    from ralph.records.record import RunRecord

_MOST_CRASHED = 10
"""Crashed runs that are shown: a run that is never resumed stays crashed."""


async def status(*, as_json: AsJson = False, store: StoreName = None) -> None:
    """Show what runs now, in this folder and elsewhere, and the newest runs that wait for `ralph resume`."""
    here = str(Path.cwd())
    async with opened_store(store) as opened:
        open_runs = [run for run in await opened.runs(limit=10_000) if run.state != "finished"]
        found = [(run, run_state(run), await opened.last_iteration(run.id)) for run in open_runs]
    crashed = [each for each in found if each[1] == "crashed"][:_MOST_CRASHED]
    shown = [each for each in found if each[1] != "crashed" or each in crashed]
    shown.sort(key=lambda each: not _is_in(each[0], here))
    if as_json:
        print_json([_as_json(run, state, number, here) for run, state, number in shown])
        return
    if not shown:
        print_paragraph(f"Nothing runs now. `ralph runs{store_option(store)}` lists what ran.")
        return
    columns = ("run", "state", "started", "iterations", "process", "in", "task")
    rows = [_row(run, state, number, here) for run, state, number in shown]
    print_table(columns, rows, ("started", "process", "iterations"))
    if crashed:
        print_paragraph(f"\nA crashed run has lost its process; `ralph resume{store_option(store)} RUN` continues it.")


def _is_in(run: "RunRecord", folder: str) -> bool:
    """Return whether a run works in a folder, or in a worktree that was made for it."""
    return folder in {run.workspace, run.origin}


def _row(run: "RunRecord", state: str, iterations: int, here: str) -> tuple[str, ...]:
    place = "this folder" if _is_in(run, here) else one_line(run.workspace or "no folder", 100)
    who = "-" if state == "crashed" else owner_text(run)
    return (one_line(run.id), state, when(run.started_at), str(iterations), who, place, one_line(run.task, 100))


def _as_json(run: "RunRecord", state: str, iterations: int, here: str) -> dict[str, Any]:
    known = run.model_dump(mode="json", include={"id", "task", "started_at", "workspace", "origin", "pid"})
    host = run.owner.host if run.owner else None
    return {**known, "state": state, "iterations": iterations, "here": _is_in(run, here), "host": host}

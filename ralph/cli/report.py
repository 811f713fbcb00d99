"""`ralph report` writes a run as one page or as Markdown; `ralph stats` shows many runs in figures."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.lookup import opened_run, opened_store, run_state
from ralph.cli.options import AnyFolder, AsJson, RunId, StoreName
from ralph.cli.output import print_json, print_paragraph
from ralph.errors import UsageError, WorkspaceError
from ralph.system.text import one_line

if TYPE_CHECKING:
    from ralph.records.record import IterationRecord, RunRecord
    from ralph.store import Store
    from ralph.watch.report_stats import Wanted
    from ralph.watch.report_text import Chain, Report

_MOST_ROWS = 200
ALL = 1_000_000
"""More runs than any store has."""
_FORMATS = {"html": "html", "markdown": "markdown", "md": "markdown"}
_SUFFIXES = {".md": "markdown", ".markdown": "markdown"}

Folder = Annotated[
    Path | None,
    typer.Option("--directory", "-C", "--workspace", metavar="DIR", help="Only runs in this folder; all by default."),
]
State = Annotated[
    str | None,
    typer.Option("--state", "--outcome", metavar="NAME", help="Only runs in this state, or that stopped for it."),
]
StopReason = Annotated[str | None, typer.Option("--stop-reason", hidden=True)]
Since = Annotated[
    str | None, typer.Option("--since", metavar="AGE", help="Only runs started since: 12h, 7d or a date.")
]
Search = Annotated[
    str | None, typer.Option("--search", metavar="TEXT", help="Only runs with these words in task or id.")
]
Format = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="html or markdown; by default by FILE's ending, or html.")
]
Out = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there, not to standard output.")
]


async def report(
    *,
    run: RunId = "last",
    any_folder: AnyFolder = False,
    format_name: Format = None,
    output: Out = None,
    store: StoreName = None,
) -> None:
    """Write a run as one self-contained HTML page, or as Markdown for a pull request."""
    chosen = _format(format_name, output)
    async with opened_run(run, store, any_folder=any_folder) as (opened, record):
        found = await _report(opened, record)
    if chosen == "html":
        from ralph.watch.report import html_report as made
    else:
        from ralph.watch.report_text import markdown_report as made
    text = made(found)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.", "Give another file with -o.") from None
    print_paragraph(f"Wrote {one_line(str(output), 400)}.")


def _format(name: str | None, output: Path | None) -> str:
    if name is not None and name not in _FORMATS:
        raise UsageError(f"--format {name!r} is not a format.", "Write html or markdown.")
    suffix = output.suffix.lower() if output else ""
    chosen = _FORMATS[name] if name else _SUFFIXES.get(suffix, "html")
    if chosen == "html" and output is None and sys.stdout.isatty():
        raise UsageError("A page of HTML is not for a terminal.", "Give -o FILE, or --format markdown.")
    return chosen


async def _report(store: "Store", run: "RunRecord") -> "Report":
    """Collect what a report shows; of the iterations no more than some are kept whole."""
    from ralph.watch.report_text import Point, Report

    points: list[Point] = []
    shown: list[IterationRecord] = []
    verified: IterationRecord | None = None
    async for each in store.iterations(run.id):
        points.append(Point.of(each))
        shown = [*shown[-_MOST_ROWS + 1 :], each]
        verified = each if each.verification else verified
    last = shown[-1] if shown else None
    files, unchanged = await _changed(store, run)
    chain = _chain(run, shown[-2] if len(shown) > 1 else None, last) if last else ()
    now = datetime.now(UTC)
    return Report(run, run_state(run), points, shown, last, verified, chain, files, unchanged, now)


async def _changed(store: "Store", run: "RunRecord") -> "tuple[list[tuple[str, int | None, int | None]], str]":
    from ralph.cli.checkpoints import difference_of

    try:
        _, _, files, _, _ = await difference_of(store, run, None, limit=1)
    except (UsageError, WorkspaceError) as error:
        return [], str(error)
    return [(file.path, file.added, file.removed) for file in files], ""


def _chain(run: "RunRecord", before: "IterationRecord | None", last: "IterationRecord") -> "tuple[Chain, ...]":
    from ralph.cli.show import chain_of
    from ralph.watch.report_text import Chain

    signs = {"for": "✓", "against": "✗", "told": "·"}
    return tuple(
        Chain(stage.name, stage.conclusion, tuple((signs[line.mark], line.text) for line in stage.lines))
        for stage in chain_of(run, before, last)
    )


async def stats(
    *,
    state: State = None,
    stop_reason: StopReason = None,
    since: Since = None,
    search: Search = None,
    directory: Folder = None,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Show many runs in figures: how they ended, why they stopped, what they cost and took."""
    from ralph.settings import workspace_folder
    from ralph.watch.report_stats import stats_lines, stats_of

    wanted = wanted_by(state or stop_reason, since, search)
    folder = workspace_folder(directory) if directory else None
    async with opened_store(store, folder) as opened:
        found = await wanted_runs(opened, folder, ALL, wanted)
    figures = stats_of(found)
    if as_json:
        print_json(figures)
    elif found:
        print_paragraph("\n".join(stats_lines(figures)))
    else:
        print_paragraph("No such run.")


def wanted_by(state: str | None, since: str | None, search: str | None) -> "Wanted":
    """Return the filter that options name. Raises `UsageError`."""
    from ralph.watch.report_stats import STATES, Wanted

    name = state and state.lower().replace("-", "_").replace(" ", "_")
    if name and name not in STATES:
        raise UsageError(f"{state!r} is no state of a run.", f"Write one of {', '.join(STATES)}.")
    return Wanted(name, moment_of("--since", since) if since else None, tuple((search or "").lower().split()))


async def wanted_runs(
    store: "Store", folder: Path | None, limit: int, wanted: "Wanted"
) -> "list[tuple[RunRecord, str]]":
    """Return the newest wanted runs of a store, or of a folder, with their states."""
    found = await store.runs(workspace=str(folder) if folder else None, limit=ALL if any(wanted) else limit)
    listed = ((run, run_state(run)) for run in found)
    return [each for each in listed if wanted.has(*each)][:limit]


def moment_of(option: str, text: str) -> datetime:
    """Return the moment that an age ago, or a date. Raises `UsageError`, also for a number without a unit.

    The settings read a number as seconds; a user who means days must not lose newer runs.
    """
    from ralph.settings import parse_duration

    try:
        if text[4:5] == "-":
            return datetime.fromisoformat(text).astimezone()
        seconds = 86400 * float(text[:-1]) if text.endswith("d") else float(str(parse_duration(text)))
        if seconds >= 0 and text[-1].isalpha():
            return datetime.now(UTC) - timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"{option} {text!r} is not an age.", "Write 90s, 15m, 12h or 30d, or a date such as 2026-11-22.")

"""`ralph replay`: what Ralph would have done with recorded passes, without an agent."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.options import AsJson, StoreName

if TYPE_CHECKING:
    from ralph.cli.replay_report import Broken, Replays
    from ralph.cli.replay_sources import Line
    from ralph.settings import Source

__all__ = ["app"]

app = typer.Typer(add_completion=False)

Passes = Annotated[
    str | None, typer.Argument(metavar="FILE", help="Passes as JSON lines; - reads them from standard input.")
]
Run = Annotated[str | None, typer.Option("--run", metavar="RUN", help="A stored run: its id, or last.")]
Logs = Annotated[
    Path | None,
    typer.Option("--from-logs", metavar="DIR", help="A folder with another tool's logs, one file per pass."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="What if this setting were different; repeatable."),
]
AsLines = Annotated[bool, typer.Option("--jsonl", help="As JSON, one line per run.")]

_WARNINGS = 10


@app.command()
def replay(
    *,
    file: Passes = None,
    run: Run = None,
    from_logs: Logs = None,
    settings: Set = None,
    as_json: AsJson = False,
    as_lines: AsLines = False,
    store: StoreName = None,
) -> None:
    """Say where Ralph would have stopped recorded passes, why, and what that would have saved and cut."""
    import anyio

    from ralph.cli.replay_rules import parse_overrides

    _require_one_source(file, run, from_logs)
    overrides = parse_overrides(settings or ())
    compare = not (as_json or as_lines)
    broken: list[Broken] = []
    if run is not None:
        replays = anyio.run(_replay_stored, run, store, overrides, compare)
    else:
        passes = _lines(file or "-") if from_logs is None else _logs(from_logs)
        replays = _replay(passes, overrides, broken, compare=compare, at_once=as_lines)
    _warn_without_effect(overrides)
    _print(replays, broken, ", ".join(settings or ()), as_json=as_json, as_lines=as_lines)


def _require_one_source(file: str | None, run: str | None, logs: Path | None) -> None:
    from ralph.errors import UsageError

    named = [name for name, given in (("FILE", file), ("--run", run), ("--from-logs", logs)) if given is not None]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} cannot be given together.", "Replay one after the other.")
    if not named and sys.stdin.isatty():
        raise UsageError("There is nothing to replay.", "Name a FILE of passes, a stored --run, or --from-logs DIR.")


def _warn_without_effect(overrides: "Source") -> None:
    from ralph.cli.replay_rules import without_effect

    for name in without_effect(overrides):
        _warn(f"--set {name} changes nothing here: a replay asks no agent and runs no verifier")


def _lines(name: str) -> "Iterator[Line | Broken]":
    """Yield the passes of a file.

    Raises:
        UsageError: the file cannot be read.
    """
    from ralph.cli.replay_report import Broken
    from ralph.cli.replay_sources import Line
    from ralph.system.files import objects, opened

    with opened(name) as stream:
        for number, held in objects(stream, Line):
            yield Broken({"line": number}, held) if isinstance(held, str) else held


def _logs(folder: Path) -> "Iterator[Line | Broken]":
    from ralph.cli.replay_report import Broken
    from ralph.cli.replay_sources import Unread, read_logs

    for held in read_logs(folder):
        yield Broken({"file": held.file}, held.error) if isinstance(held, Unread) else held


def _replay(
    passes: "Iterable[Line | Broken]", overrides: "Source", broken: "list[Broken]", *, compare: bool, at_once: bool
) -> "Replays":
    """Replay all passes; what is not a pass is printed at once, or put into `broken`."""
    from ralph.cli.output import print_line
    from ralph.cli.replay_report import Broken, Replays
    from ralph.cli.replay_rules import replay_rules

    replays = Replays(replay_rules(overrides, compare=compare))
    for each in passes:
        if not isinstance(each, Broken):
            replays.add(each.name, each.as_pass())
        elif at_once:
            print_line(each.as_json())
        else:
            broken.append(each)
    return replays


async def _replay_stored(
    name: str,
    store: str | None,
    overrides: "Source",
    compare: bool,  # noqa: FBT001 - called through anyio.run
) -> "Replays":
    """Replay a stored run, without the iterations that the user cut short: they say nothing of the loop."""
    from ralph.cli.lookup import find_run, opened_store
    from ralph.cli.replay_report import Replays
    from ralph.cli.replay_rules import replay_rules
    from ralph.decision.outcomes import Halt
    from ralph.pipeline.replay import recorded_pass, recorded_run
    from ralph.types.output import Interrupted

    async with opened_store(store) as opened:
        run = await find_run(opened, name)
        replays, recorded, ended = Replays(replay_rules(overrides, run, compare=compare)), recorded_run(run), False
        async for record in opened.iterations(run.id):
            if not isinstance(record.outcome, Interrupted) or record.outcome.by != "signal":
                replays.add(run.id, recorded_pass(record, resumed=ended), run=recorded)
            ended = isinstance(record.decision, Halt)
    return replays


def _print(replays: "Replays", broken: "list[Broken]", overrides: str, *, as_json: bool, as_lines: bool) -> None:
    from ralph.cli import replay_report
    from ralph.cli.output import console, print_json, print_line

    if as_lines:
        for first, *_ in replays.results():
            print_line(replay_report.as_json(first))
    elif as_json:
        results = [replay_report.as_json(first) for first, *_ in replays.results()]
        print_json([*results, *(each.as_json() for each in broken)])
    else:
        for each in broken[:_WARNINGS]:
            _warn(f"left out: {each}")
        if len(broken) > _WARNINGS:
            _warn(f"left out: {len(broken) - _WARNINGS} more")
        replay_report.print_replays(console(), list(replays.results()), overrides)


def _warn(text: str) -> None:
    from ralph.system.text import one_line

    sys.stderr.write(f"ralph: {one_line(text, 300)}\n")

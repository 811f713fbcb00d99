"""`ralph replay`: what Ralph would have done with recorded passes, without an agent."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.options import AsJson, StoreName

if TYPE_CHECKING:
    from ralph.cli.replay_answers import Answers, Broken
    from ralph.cli.replay_lines import Line
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

_COMPLAINTS = 10


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

    from ralph.cli.what_if import what_if

    _require_one_source(file, run, from_logs)
    wish = what_if(settings or ())
    shown = ", ".join(settings or ())
    compare = not (as_json or as_lines)
    broken: list[Broken] = []
    if run is not None:
        answers = anyio.run(_stored, run, store, wish, compare)
    else:
        passes = _lines(file or "-") if from_logs is None else _logs(from_logs)
        answers = _heard(passes, wish, broken, compare=compare, at_once=as_lines)
    _tell_of_unheard(wish)
    _print(answers, broken, shown, as_json=as_json, as_lines=as_lines)


def _require_one_source(file: str | None, run: str | None, logs: Path | None) -> None:
    from ralph.errors import UsageError

    named = [name for name, given in (("FILE", file), ("--run", run), ("--from-logs", logs)) if given is not None]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} cannot be given together.", "Replay one after the other.")
    if not named and sys.stdin.isatty():
        raise UsageError("There is nothing to replay.", "Name a FILE of passes, a stored --run, or --from-logs DIR.")


def _tell_of_unheard(wish: "Source") -> None:
    from ralph.cli.replay_settings import unheard

    for name in unheard(wish):
        _complain(f"--set {name} changes nothing here: a replay asks no agent and runs no verifier")


def _lines(name: str) -> "Iterator[Line | Broken]":
    """The passes of a file. Raises `UsageError` where it cannot be read."""
    from ralph.cli.replay_answers import Broken
    from ralph.cli.replay_lines import Line
    from ralph.system.jsonl import objects, opened

    with opened(name) as stream:
        for number, held in objects(stream, Line):
            yield Broken({"line": number}, held) if isinstance(held, str) else held


def _logs(folder: Path) -> "Iterator[Line | Broken]":
    from ralph.cli.replay_answers import Broken
    from ralph.cli.replay_logs import Unread, read_logs

    for held in read_logs(folder):
        yield Broken({"file": held.file}, held.error) if isinstance(held, Unread) else held


def _heard(
    passes: "Iterable[Line | Broken]", wish: "Source", broken: "list[Broken]", *, compare: bool, at_once: bool
) -> "Answers":
    """Hears all passes; what is no pass is told at once, or put into `broken`."""
    from ralph.cli.output import print_line
    from ralph.cli.replay_answers import Answers, Broken
    from ralph.cli.replay_settings import judgings

    answers = Answers(judgings(wish, compare=compare))
    for each in passes:
        if not isinstance(each, Broken):
            answers.hear(each.name, each.as_pass())
        elif at_once:
            print_line(each.as_json())
        else:
            broken.append(each)
    return answers


async def _stored(name: str, store: str | None, wish: "Source", compare: bool) -> "Answers":  # noqa: FBT001 - anyio.run
    """Hears a stored run. What a person cut short is no pass: Ralph would have had no hand in it."""
    from ralph.cli.lookup import find_run, opened_store
    from ralph.cli.replay_answers import Answers
    from ralph.cli.replay_settings import judgings
    from ralph.cli.replay_stored import as_pass, as_recorded
    from ralph.decision.outcomes import Halt
    from ralph.types.output import Interrupted

    async with opened_store(store) as opened:
        run = await find_run(opened, name)
        answers, recorded, ended = Answers(judgings(wish, run, compare=compare)), as_recorded(run), False
        async for record in opened.iterations(run.id):
            if not isinstance(record.outcome, Interrupted) or record.outcome.by != "signal":
                answers.hear(run.id, as_pass(run, record, resumed=ended), run=recorded)
            ended = isinstance(record.decision, Halt)
    return answers


def _print(answers: "Answers", broken: "list[Broken]", wish: str, *, as_json: bool, as_lines: bool) -> None:
    from ralph.cli import replay_answers
    from ralph.cli.output import console, print_json, print_line

    if as_lines:
        for first, *_ in answers.results():
            print_line(replay_answers.as_json(first))
    elif as_json:
        told = [replay_answers.as_json(first) for first, *_ in answers.results()]
        print_json([*told, *(each.as_json() for each in broken)])
    else:
        from ralph.cli.replay_shown import print_replays

        for each in broken[:_COMPLAINTS]:
            _complain(f"left out: {each}")
        if len(broken) > _COMPLAINTS:
            _complain(f"left out: {len(broken) - _COMPLAINTS} more")
        print_replays(console(), list(answers.results()), wish)


def _complain(text: str) -> None:
    from ralph.watch.terminal import one_line

    sys.stderr.write(f"ralph: {one_line(text, 300)}\n")

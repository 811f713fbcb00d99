"""`ralph replay`: what Ralph would have done with recorded passes, without an agent.

The rules are the settings in force, or those of a stored run, with the overrides of `--set`.
"""

import os
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from ralph.cli.options import AnyFolder, AsJson, StoreName
from ralph.errors import UsageError

if TYPE_CHECKING:
    from ralph.cli.replay_sources import Broken

Passes = Annotated[
    str | None, typer.Argument(metavar="FILE", help="Passes as JSON lines; - reads them from standard input.")
]
Run = Annotated[str | None, typer.Option("--run", metavar="RUN", help="A stored run: its id, or last.")]
Logs = Annotated[
    str | None,
    typer.Option(
        "--from-logs",
        metavar="[DIR]",
        help="Another tool's logs in a folder, one file per pass; without DIR, those in the usual places.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="What if this setting were different; repeatable."),
]
AsLines = Annotated[bool, typer.Option("--jsonl", help="As JSON, one line per run.")]

_EFFECTIVE = {
    *("analysis", "analyzers", "breaker", "decision", "keywords", "limits", "preset", "promise", "status_fields"),
    "strategy",
}
"""The settings that a replay depends on."""


class _Replay(typer.core.TyperCommand):
    """The command with the one option that may stand without its value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; `--from-logs` without a folder means the usual places."""
        bare = [one == "--from-logs" and (after or "-").startswith("-") for one, after in pairwise([*args, ""])]
        return super().parse_args(ctx, [f"{one}=" if alone else one for one, alone in zip(args, bare, strict=True)])


def replay(
    *,
    file: Passes = None,
    run: Run = None,
    any_folder: AnyFolder = False,
    from_logs: Logs = None,
    settings: Set = None,
    as_json: AsJson = False,
    as_lines: AsLines = False,
    store: StoreName = None,
) -> None:
    """Say where Ralph would have stopped recorded passes, why, and what that would have saved and cut."""
    from ralph.cli.replay_found import find_loops
    from ralph.cli.replay_report import print_all, print_loops, warn
    from ralph.cli.replay_rules import parse_overrides, replay_passes, replay_stored
    from ralph.cli.replay_sources import read_lines, read_logs

    _require_one_source(file, run, from_logs)
    overrides = parse_overrides(settings or ())
    found = find_loops(Path.cwd(), os.environ) if from_logs == "" else None
    compare = not (as_json or as_lines or found)
    broken: list[Broken] = []
    if run is not None:
        import anyio

        replays = anyio.run(partial(replay_stored, run, store, overrides, compare=compare, any_folder=any_folder))
    else:
        logged = found.passes if found else None if from_logs is None else read_logs(Path(from_logs))
        passes = read_lines(file or "-") if logged is None else logged
        replays = replay_passes(passes, overrides, broken, compare=compare, at_once=as_lines)
    for name in sorted(overrides.values.keys() - _EFFECTIVE):
        warn(f"--set {name} changes nothing here: a replay asks no agent and runs no verifier")
    text = ", ".join(settings or ())
    if found and not (as_json or as_lines):
        print_loops(replays, broken, text, [*found.notes()])
        return
    print_all(replays, broken, text, as_json=as_json, as_lines=as_lines, picture=from_logs is not None)


def _require_one_source(file: str | None, run: str | None, logs: str | None) -> None:
    named = [name for name, given in (("FILE", file), ("--run", run), ("--from-logs", logs)) if given is not None]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} cannot be given together.", "Replay one after the other.")
    if not named and sys.stdin.isatty():
        raise UsageError("There is nothing to replay.", "Name a FILE of passes, a stored --run, or --from-logs DIR.")


app = typer.Typer(add_completion=False)
app.command(cls=_Replay)(replay)

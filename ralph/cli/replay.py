"""`ralph replay`: what Ralph would have done with recorded passes, without an agent.

The rules are the settings in force, or those of a stored run, with the overrides of `--set`.
"""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.options import AnyFolder, AsJson, StoreName
from ralph.errors import UsageError

if TYPE_CHECKING:
    from ralph.cli.replay_sources import Broken

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

_EFFECTIVE = {
    *("analysis", "analyzers", "breaker", "decision", "keywords", "limits", "preset", "promise", "status_fields"),
    "strategy",
}
"""The settings that a replay depends on."""


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
    from ralph.cli.replay_report import print_all, warn
    from ralph.cli.replay_rules import parse_overrides, replay_passes, replay_stored
    from ralph.cli.replay_sources import read_lines, read_logs

    _require_one_source(file, run, from_logs)
    overrides = parse_overrides(settings or ())
    compare = not (as_json or as_lines)
    broken: list[Broken] = []
    if run is not None:
        import anyio

        replays = anyio.run(partial(replay_stored, run, store, overrides, compare=compare, any_folder=any_folder))
    else:
        passes = read_lines(file or "-") if from_logs is None else read_logs(from_logs)
        replays = replay_passes(passes, overrides, broken, compare=compare, at_once=as_lines)
    for name in sorted(overrides.values.keys() - _EFFECTIVE):
        warn(f"--set {name} changes nothing here: a replay asks no agent and runs no verifier")
    text = ", ".join(settings or ())
    print_all(replays, broken, text, as_json=as_json, as_lines=as_lines, picture=from_logs is not None)


def _require_one_source(file: str | None, run: str | None, logs: Path | None) -> None:
    named = [name for name, given in (("FILE", file), ("--run", run), ("--from-logs", logs)) if given is not None]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} cannot be given together.", "Replay one after the other.")
    if not named and sys.stdin.isatty():
        raise UsageError("There is nothing to replay.", "Name a FILE of passes, a stored --run, or --from-logs DIR.")

"""`ralph replay`: what Ralph would have done with recorded passes, without an agent.

The rules are the settings in force, or those of a stored run, with the overrides of `--set`.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ralph.cli.lookup import opened_run
from ralph.cli.options import AsJson, StoreName
from ralph.cli.output import console, print_json, print_line
from ralph.cli.replay_report import Replays, print_replays, replayed_json
from ralph.cli.replay_sources import Broken, Line, read_logs
from ralph.cli.settings import stored_settings
from ralph.decision.outcomes import Halt
from ralph.errors import SettingError, UsageError
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.replay import recorded_pass, recorded_run
from ralph.plugins.loading import load_plugins
from ralph.records.record import RunRecord
from ralph.settings import SettingsFound, Source, load_settings, read_settings
from ralph.system.files import objects, opened
from ralph.system.text import one_line
from ralph.types import evolve
from ralph.types.output import Interrupted

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
_OPTION = "--set"
_UNSET = {"none", "null"}
_EFFECTIVE = {
    "analyzers",
    "breaker",
    "decision",
    "keywords",
    "limits",
    "preset",
    "promise",
    "status_fields",
    "strategy",
}


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
    _require_one_source(file, run, from_logs)
    overrides = parse_overrides(settings or ())
    compare = not (as_json or as_lines)
    broken: list[Broken] = []
    if run is not None:
        import anyio

        replays = anyio.run(_replay_stored, run, store, overrides, compare)
    else:
        passes = _lines(file or "-") if from_logs is None else read_logs(from_logs)
        replays = _replay(passes, overrides, broken, compare=compare, at_once=as_lines)
    for name in sorted(overrides.values.keys() - _EFFECTIVE):
        _warn(f"--set {name} changes nothing here: a replay asks no agent and runs no verifier")
    _print(replays, broken, ", ".join(settings or ()), as_json=as_json, as_lines=as_lines)


def _require_one_source(file: str | None, run: str | None, logs: Path | None) -> None:
    named = [name for name, given in (("FILE", file), ("--run", run), ("--from-logs", logs)) if given is not None]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} cannot be given together.", "Replay one after the other.")
    if not named and sys.stdin.isatty():
        raise UsageError("There is nothing to replay.", "Name a FILE of passes, a stored --run, or --from-logs DIR.")


def _lines(name: str) -> Iterator[Line | Broken]:
    """Yield the passes of a file.

    Raises:
        UsageError: the file cannot be read.
    """
    with opened(name) as stream:
        for number, held in objects(stream, Line):
            yield Broken({"line": number}, held) if isinstance(held, str) else held


def _replay(
    passes: Iterable[Line | Broken], overrides: Source, broken: list[Broken], *, compare: bool, at_once: bool
) -> Replays:
    """Replay all passes; what is not a pass is printed at once, or put into `broken`."""
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
    overrides: Source,
    compare: bool,  # noqa: FBT001 - called through anyio.run
) -> Replays:
    """Replay a stored run, without the iterations that the user cut short: they say nothing of the loop."""
    async with opened_run(name, store) as (opened_store, run):
        replays, recorded, ended = Replays(replay_rules(overrides, run, compare=compare)), recorded_run(run), False
        async for record in opened_store.iterations(run.id):
            if not isinstance(record.outcome, Interrupted) or record.outcome.by != "signal":
                replays.add(run.id, recorded_pass(record, resumed=ended), run=recorded)
            ended = isinstance(record.decision, Halt)
    return replays


def _print(replays: Replays, broken: list[Broken], overrides: str, *, as_json: bool, as_lines: bool) -> None:
    if as_lines:
        for first, *_ in replays.results():
            print_line(replayed_json(first))
    elif as_json:
        results = [replayed_json(first) for first, *_ in replays.results()]
        print_json([*results, *(each.as_json() for each in broken)])
    else:
        for each in broken[:_WARNINGS]:
            _warn(f"left out: {each}")
        if len(broken) > _WARNINGS:
            _warn(f"left out: {len(broken) - _WARNINGS} more")
        print_replays(console(), list(replays.results()), overrides)


def _warn(text: str) -> None:
    sys.stderr.write(f"ralph: {one_line(text, 300)}\n")


def parse_overrides(given: Sequence[str]) -> Source:
    """Parse `--set` options; a later one wins, "none" unsets, lists and tables are JSON.

    Whether there is such a setting is for `load_settings` to say.

    Raises:
        UsageError: an option is not KEY=VALUE.
    """
    values: dict[str, Any] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not all(part.strip() for part in key.split(".")):
            raise UsageError(f"--set {one[:80]!r} is not KEY=VALUE.", "Write it as in --set breaker.no_progress=5.")
        *sections, name = (part.strip() for part in key.split("."))
        table = values
        for section in sections:
            inner: object = table.get(section)
            table[section] = inner if isinstance(inner, dict) else {}
            table = cast("dict[str, Any]", table[section])
        table[name] = _value(key, value.strip())
    return Source(_OPTION, values)


def _value(key: str, text: str) -> object:
    """Return the value as text, which the setting's own type is read from."""
    if text.lower() in _UNSET:
        return None
    if not text.startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        remedy = f"""Write it as in {_OPTION} '{key[:80]}=["…"]'."""
        raise SettingError(key[:80], _OPTION, "lists and tables are written as JSON.", remedy) from None


def replay_rules(overrides: Source, run: RunRecord | None = None, *, compare: bool = False) -> list[Rules]:
    """Return the rules with the overrides and, to compare, those without.

    Args:
        run: a stored run, with its own settings instead of those in force in this folder.

    Raises:
        UsageError: a setting is not valid.
    """
    variants: Sequence[Sequence[Source]] = ([overrides], []) if compare and overrides.values else ([overrides],)
    return [_rules(_settings(run, more)) for more in variants]


def _settings(run: RunRecord | None, more: Sequence[Source]) -> SettingsFound:
    if run is not None and (own := _frozen(run)) is not None:
        return load_settings([own, *more])
    return read_settings(Path.cwd(), own="shown", more=more)


def _rules(found: SettingsFound) -> Rules:
    """Return the rules without the default number of iterations: there are as many passes as were recorded."""
    settings, plugins = found.settings, load_plugins(found, Path.cwd())
    limits = settings.limits
    if "limits.max_iterations" not in found.origins:
        limits = evolve(limits, max_iterations=None)
    plugins.require_sound()
    return Rules.of(settings, plugins, limits=limits)


def _frozen(run: RunRecord) -> Source | None:
    """Return the stored settings of a run; None if there are none or this version cannot read them."""
    source = stored_settings(run)
    try:
        load_settings([source])
    except SettingError:
        return None
    return source if source.values else None

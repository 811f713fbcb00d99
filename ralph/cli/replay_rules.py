"""Replaying with rules: the settings in force, or those of a stored run, with the overrides of `--set`."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ralph.cli.lookup import opened_run
from ralph.cli.output import print_line
from ralph.cli.plugins import settle_settings
from ralph.cli.replay_report import Replays, warn
from ralph.cli.replay_sources import Broken, Line
from ralph.cli.settings import ask_at_terminal, stored_settings
from ralph.decision.outcomes import Halt
from ralph.errors import SettingError, UsageError
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.replay import recorded_pass, recorded_run
from ralph.plugins.loading import load_plugins
from ralph.records.record import RunRecord
from ralph.settings import SettingsFound, Source, load_settings, read_settings
from ralph.settings.loading import put
from ralph.types import evolve
from ralph.types.output import Interrupted

_OPTION = "--set"
_UNSET = {"none", "null"}


def replay_passes(
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


async def replay_stored(name: str, store: str | None, overrides: Source, *, compare: bool, any_folder: bool) -> Replays:
    """Replay a stored run, without the iterations that the user cut short: they say nothing of the loop."""
    async with opened_run(name, store, any_folder=any_folder) as (opened_store, run):
        replays, recorded, ended = Replays(replay_rules(overrides, run, compare=compare)), recorded_run(run), False
        async for record in opened_store.iterations(run.id):
            if not isinstance(record.outcome, Interrupted) or record.outcome.by != "signal":
                replays.add(run.id, recorded_pass(record, resumed=ended), run=recorded)
            ended = isinstance(record.decision, Halt)
    return replays


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
        put(values, key, _value(key, value.strip()))
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


def rules_in_force(strategy: str | None) -> Rules:
    """Return the rules of a run in the current folder, with another strategy if one is named.

    What the folder brings and the user has not consented to is left out, with a message on standard error. Words alone
    need a confirmation only where no verifier checks them.
    """
    settle_settings()
    found = read_settings(Path.cwd(), {"--strategy": strategy}, own="trusted")
    plugins = load_plugins(found, Path.cwd(), ask=ask_at_terminal)
    plugins.require_sound()
    for problem in plugins.problems:
        warn(problem)
    settings = found.settings
    checked = settings.verify != ("none",) or settings.verify_shell or settings.verifiers
    if checked:
        settings = evolve(settings, decision=evolve(settings.decision, confirm_words=False))
    return Rules.of(settings, plugins)


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

"""The rules of a replay: the settings in force, or those of a stored run, with the overrides of `--set`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ralph.cli.settings import stored_settings
from ralph.errors import SettingError, UsageError
from ralph.pipeline.evaluate import Rules
from ralph.plugins.loading import load_plugins
from ralph.records.record import RunRecord
from ralph.settings import SettingsFound, Source, load_settings, read_settings
from ralph.types import evolve

__all__ = ["parse_overrides", "replay_rules", "without_effect"]

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


def without_effect(overrides: Source) -> list[str]:
    """Return the overridden sections and settings that change nothing in a replay, as they are about the agent."""
    return sorted(overrides.values.keys() - _EFFECTIVE)


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
    analyzer = plugins.analyzer_with(
        settings.keywords,
        further=settings.analyzers,
        no_progress=settings.breaker_settings().no_progress,
    )
    strategy, fields = plugins.strategy(settings.strategy), tuple(plugins.status_fields)
    return Rules.of(settings, limits=limits, strategy=strategy, analyzer=analyzer, status_fields=fields)


def _frozen(run: RunRecord) -> Source | None:
    """Return the stored settings of a run; None if there are none or this version cannot read them."""
    source = stored_settings(run)
    try:
        load_settings([source])
    except SettingError:
        return None
    return source if source.values else None

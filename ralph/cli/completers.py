"""Words that complete what the user types: runs, settings, and the names of plug-ins and their parts."""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from ralph.cli.lookup import configured_store
from ralph.cli.plugins import plugins_of
from ralph.errors import RalphError
from ralph.settings import FLAGS, Settings, settings_in
from ralph.store import file_of
from ralph.store.run_list import listed_runs
from ralph.system.install import KNOWN

_HOOKS = {
    "--analyzer": "ralph_analyzers",
    "--display": "ralph_displays",
    "--executor": "ralph_executors",
    "--strategy": "ralph_strategies",
    "--verifier": "ralph_verifiers",
}
_SAFE = re.compile(r"[\w.-]{1,100}")
_MOST = 100


def runs(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the newest runs, with their states."""
    with suppress(RalphError):
        path = file_of(configured_store(context.params.get("store"), Path.cwd()))
        found = (listed_runs(path, _MOST, active=True) if path else None) or []
        about = [("last", "the last run of this folder")]
        about += [
            (run.id, f"{run.stop_reason or run.state}, {run.started_at.astimezone():%d %b %H:%M}") for run in found
        ]
        return [each for each in about if _SAFE.fullmatch(each[0]) and each[0].startswith(incomplete)]
    return []


def flag_values(_: typer.Context, incomplete: str, flag: str) -> list[str]:
    """Return what may follow a setting's flag: names of plug-ins' parts, or the words that the setting allows."""
    if hook := _HOOKS.get(flag):
        with suppress(RalphError):
            return _starting(plugins_of(Path.cwd(), usable=True).named(hook), incomplete)
        return []
    kind = FLAGS[flag].field.annotation
    choices = [each for part in (kind, *get_args(kind)) if get_origin(part) is Literal for each in get_args(part)]
    return _starting(map(str, choices), incomplete)


def setting_keys(_: typer.Context, incomplete: str) -> list[str]:
    """Return the full keys of settings."""
    return _starting((each.key for each in settings_in(Settings) if each.section is None), incomplete)


def known_plugins(_: typer.Context, incomplete: str) -> list[str]:
    """Return the plug-ins of Ralph, by their short names."""
    return _starting((name.removeprefix("ralph-") for name in KNOWN), incomplete)


def _starting(found: Iterable[Any], incomplete: str) -> list[str]:
    return [each for each in found if _SAFE.fullmatch(each) and each.startswith(incomplete)]

"""Settings as the command line adds to them: flags, consent at the terminal, and the settings of a stored run."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ralph.cli.options import completing
from ralph.cli.output import confirmed
from ralph.errors import UsageError
from ralph.settings.model import FLAGS, SECRETS, Setting
from ralph.system.text import one_line

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.settings import SettingsFound, Source
    from ralph.system.declarations import Flag

Command = Callable[..., Any]


def with_settings(
    choose: Callable[[Setting], bool] = lambda _: True, *, adding: bool = False
) -> Callable[[Command], Command]:
    """Give a command a flag for each setting that declares one, in place of its parameter `flags`.

    The parameter then holds the values by flag; None means not given. All are text, for the setting to validate.

    Args:
        choose: which settings the command takes.
        adding: the values are added to the settings in force, and are written with a plus.
    """
    options = {flag: _option(flag, each, adding=adding) for flag, each in FLAGS.items() if choose(each)}

    def decorate(command: Command) -> Command:
        def called(**given: Any) -> Any:
            flags = {flag: given.pop(option.name) for flag, option in options.items()}
            return command(flags=flags, **given)

        parameters: list[inspect.Parameter] = []
        for each in inspect.signature(command).parameters.values():
            parameters += options.values() if each.name == "flags" else [each]
        called.__name__, called.__doc__ = command.__name__, command.__doc__
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {each.name: each.annotation for each in parameters}
        return called

    return decorate


def _option(name: str, setting: Setting, *, adding: bool) -> inspect.Parameter:
    """Return the parameter of a command that typer makes a setting's flag of."""
    flag = cast("Flag", setting.flag)
    option = typer.Option(
        name,
        autocompletion=completing("flag_values", name),
        metavar=f"+{flag.metavar}" if adding else flag.metavar or None,
        rich_help_panel=None if adding else flag.group,
        help=setting.field.description if adding else setting.help,
        show_default=False,
    )
    kind = bool | None if setting.field.annotation is bool else list[str] | None if setting.is_list else str | None
    own = name.removeprefix("--").replace("-", "_")
    return inspect.Parameter(own, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option])


def ask_at_terminal(source: "Source", keys: tuple[str, ...]) -> bool:
    """Ask the user for consent to settings, or without keys to running a file; False if there is no terminal.

    The question shows the values, as no one can consent to what they have not seen. A file is too long to show.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    from ralph.settings.consent import reasons_for
    from ralph.settings.sources import FileSource
    from ralph.system.text import printable

    if not keys:
        lines = source.content.count(b"\n") + 1 if isinstance(source, FileSource) else 0
        typer.echo(f"{source.name} comes with the workspace and is a plug-in: a program of {lines} lines.", err=True)
        return confirmed("Have you read it, and may it run, now and until it changes?")
    typer.echo(f"{source.name} comes with the workspace, and some of its settings need your consent:", err=True)
    for key in keys:
        typer.echo(
            f"  {key} = {printable(json.dumps(value_in(source.values, key), ensure_ascii=False), 500)}", err=True
        )
    typer.echo(f"Why: {printable('; '.join(reasons_for(source, keys)), 2_000)}.", err=True)
    return confirmed("Use these settings, now and until they change?")


def usable_settings(folder: Path, flags: Mapping[str, object] | None = None) -> "SettingsFound":
    """Return the settings in force, for a command that must also work where a file or a variable is not valid.

    Then only the flags and the name of the store count, and the problem is reported on standard error.

    Raises:
        UsageError: a flag is not valid.
    """
    from ralph.settings import Source, read_settings, with_flags

    try:
        return read_settings(folder, flags, own="trusted")
    except UsageError as error:
        store = _store_said(folder)
        found = with_flags([Source("the settings in force", {"store": store} if store else {})], flags or {})
        warn_once(f"ralph: The settings are left out: {one_line(str(error), 400)}\n")
        return found


@cache
def warn_once(text: str) -> None:
    """Write a warning, once."""
    sys.stderr.write(text)


def _store_said(folder: Path) -> str | None:
    """Return the store that the first readable source names, the strongest first."""
    from ralph.settings import is_trusted, own_sources, user_file
    from ralph.settings.sources import toml_source

    if said := os.environ.get("RALPH_STORE"):
        return said
    found: list[Source] = []
    for read in (
        lambda: [toml_source(user_file())],
        lambda: [each for each in own_sources(folder)[::-1] if is_trusted(each)],
    ):
        with suppress(UsageError):
            found += [source for source in read() if source]
    return next((said for source in found if isinstance(said := source.values.get("store"), str)), None)


def value_in(values: Mapping[str, Any], key: str) -> Any:
    """Return the value with a full key in a table of tables; None if none exists."""
    value: Any = values
    for part in key.split("."):
        value = cast("dict[str, Any]", value).get(part) if isinstance(value, dict) else None
    return value


def stored_settings(run: "RunRecord") -> "Source":
    """Return the settings that a run was started with, without secrets, which are not stored."""
    from ralph.settings.sources import Source

    values: dict[str, Any] = deepcopy(dict(run.settings))
    breaker = values.get("breaker")
    if values.get("preset") and isinstance(breaker, dict):
        values["breaker"] = dict(_own(cast("Mapping[str, Any]", breaker)))
    for key in SECRETS:
        section, _, name = key.rpartition(".")
        table = values.get(section)
        if isinstance(table, dict):
            cast("dict[str, Any]", table).pop(name, None)
    values["plugins"] = _unmasked(values.get("plugins", {}))
    return Source(f"the settings of run {run.id}", values)


def _unmasked(value: Any) -> Any:
    """Return the settings of plug-ins without the secrets."""
    from ralph.plugins.own_settings import MASKED

    if not isinstance(value, dict):
        return value
    table = cast("dict[str, Any]", value)
    return {name: _unmasked(each) for name, each in table.items() if not (isinstance(each, str) and MASKED in each)}


def _own(breaker: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what was set in addition to a preset: the stored defaults would otherwise override those of the preset."""
    from ralph.decision.breaker import BreakerSettings

    defaults = BreakerSettings().model_dump()
    return ((name, value) for name, value in breaker.items() if value != defaults.get(name))

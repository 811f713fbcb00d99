"""The settings in force: the sources merged key by key, weakest first, and validated once.

The order is: the defaults, the user's ralph.toml, `[tool.ralph]` in the workspace's pyproject.toml, its ralph.toml,
variables such as `RALPH_BREAKER__NO_PROGRESS=5`, the command line. The run's record stores the result.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel, ValidationError

from ralph.decision.breaker import PRESETS
from ralph.errors import SettingError, UsageError, nearest
from ralph.settings.consent import Ask, is_trusted, leaves, require_trust
from ralph.settings.fields import ENVIRONMENT_PREFIX, FLAGS
from ralph.settings.invalid import names_at, require_numbers, setting_error
from ralph.settings.model import Settings
from ralph.settings.sources import Source, own_sources, toml_source, user_file

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

__all__ = ["SWITCH", "SettingsFound", "environment", "load_settings", "read_settings", "with_flags"]

SWITCH = "RALPH_PLUGINS"
"""The variable that turns all plug-ins off with the value `off`."""

_COMMAND_LINE = "the command line"
_ENVIRONMENT = "the environment"
_FIELD = re.compile(r'field "(\w+)"')


@dataclass(frozen=True, slots=True)
class SettingsFound:
    """The settings in force, and the source of each full key that a source sets."""

    settings: Settings
    origins: Mapping[str, str]


def read_settings(
    workspace: Path,
    flags: Mapping[str, object] | None = None,
    *,
    trust: bool = False,
    ask: Ask | None = None,
    own: Literal["required", "trusted", "shown"] = "required",
    more: Sequence[Source] = (),
) -> SettingsFound:
    """Return the settings in force for a workspace, and the source of each.

    Args:
        workspace: its own files and the user's file are read.
        flags: the values of the command line by flag, as in `FLAGS`; None means not given.
        trust: as in `require_trust`.
        ask: as in `require_trust`.
        own: how consent counts for the workspace's own settings: it is "required"; only settings that are "trusted"
            are used; or all are used, as they are merely "shown".
        more: further sources, each stronger than those before; only the flags are stronger.

    Raises:
        SettingError: a setting is not valid, or a file cannot be read.
        UntrustedSettingsError: the workspace's own settings need consent and have none.
    """
    found = own_sources(workspace)
    if own == "required":
        for source in found:
            require_trust(source, trust=trust, ask=ask)
    elif own == "trusted":
        found = [source for source in found if is_trusted(source)]
    user = toml_source(user_file().resolve())  # it may be a link to a folder of such files
    return with_flags([*([user] if user else []), *found, environment(), *more], flags or {})


def with_flags(sources: Sequence[Source], flags: Mapping[str, object]) -> SettingsFound:
    """Return the settings of sources, weakest first, and of the command line, as in `read_settings`."""
    given = _given(flags)
    try:
        return load_settings([*sources, given])
    except SettingError as error:
        raise _naming_flag(error, given) from None


def load_settings(sources: Sequence[Source]) -> SettingsFound:
    """Return the settings of sources, weakest first.

    Raises:
        SettingError: it names the key, its source, the problem, and for an unknown key the most similar valid one.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for source in sources:
        if "preset" in source.values:
            _forget_profile(merged, origins)
        _merge(merged, source.values)
        empty = [key for key, value in source.values.items() if value == {}]
        origins.update(dict.fromkeys((*empty, *(key for key, _ in leaves(source.values))), source.name))
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise setting_error(error, origins) from None
    require_numbers(merged, settings, origins)
    if settings.preset is not None and settings.preset not in PRESETS:
        remedy = nearest(settings.preset, PRESETS)
        raise SettingError("preset", origins["preset"], f"no profile is called {settings.preset!r}.", remedy)
    return SettingsFound(settings, origins)


def environment() -> Source:
    """Return the settings of variables named RALPH_…; a variable that names no setting may belong to another program.

    Raises:
        SettingError: a variable cannot be read, or names a setting without its section: a limit that is silently
            ignored is worse than none.
    """
    if wrong := next((name for name in sorted(os.environ) if name in _SECTIONLESS), None):
        remedy = f"Did you mean {_SECTIONLESS[wrong]!r}?"
        raise SettingError(wrong, _ENVIRONMENT, "there is no such setting.", remedy)
    if not any(name.upper().startswith(ENVIRONMENT_PREFIX) and name.upper() != SWITCH for name in os.environ):
        return Source(_ENVIRONMENT, {})
    from pydantic_settings import EnvSettingsSource

    shape = cast("type[BaseSettings]", Settings)  # it reads only the fields
    source = EnvSettingsSource(shape, env_prefix=ENVIRONMENT_PREFIX, env_nested_delimiter="__")
    source.env_vars = {name: value for name, value in source.env_vars.items() if name != SWITCH.lower()}
    try:
        values = source()
    except ValueError as error:
        field = _FIELD.search(str(error))
        raise _unreadable_variable(field[1] if field else "") from None
    if "plugins" in values:
        values["plugins"] = _decoded(values["plugins"], "plugins")
    return Source(_ENVIRONMENT, values)


def _given(flags: Mapping[str, object]) -> Source:
    """Return the values of the command line as a source."""
    values: dict[str, Any] = {}
    for flag, value in flags.items():
        if value is not None:
            *sections, name = FLAGS[flag].key.split(".")
            table = values
            for section in sections:
                table = table.setdefault(section, {})
            table[name] = value
    return Source(_COMMAND_LINE, values)


def _naming_flag(error: SettingError, given: Source) -> SettingError | UsageError:
    """Return an error of the command line with the flag instead of the key."""
    keys = {flag: setting.key for flag, setting in FLAGS.items()}
    flag = next((flag for flag, key in keys.items() if error.key == key or error.key.startswith(f"{key}.")), None)
    if error.source != given.name or flag is None:
        return error
    problem = error.problem.removeprefix(f"{error.source}: {error.key}: ")
    return UsageError(f"{flag}: {problem}", error.remedy)


def _decoded(value: Any, field: str) -> Any:
    """Return the variables of plug-ins, whose models are not known yet: lists and tables are read as JSON."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {key: _decoded(each, f"{field}__{key}") for key, each in table.items()}
    if not isinstance(value, str) or not value.startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise _unreadable_variable(field) from None


def _sectionless() -> dict[str, str]:
    """Return the variables that lack their section, with the right ones. A mere NAME may belong to another program."""
    sections = {section: names_at([section]) for section in ("executor", "limits", "breaker", "decision")}
    return {
        f"{ENVIRONMENT_PREFIX}{name.upper()}": f"{ENVIRONMENT_PREFIX}{section.upper()}__{name.upper()}"
        for section, names in sections.items()
        for name in names
        if name != "name"
    }


def _merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if not isinstance(value, Mapping):
            into[key] = value
        elif isinstance(into.setdefault(key, {}), dict):  # else a weaker source has no table there: an error later
            _merge(into[key], cast("Mapping[str, Any]", value))


def _forget_profile(merged: dict[str, Any], origins: dict[str, str]) -> None:
    """Drop what weaker sources say of the settings of a preset: it is stronger than they, and weaker than its own."""
    breaker = merged.get("breaker")
    profiled = {name for preset in PRESETS.values() for name in preset.model_fields_set}
    for name in profiled if isinstance(breaker, dict) else ():
        cast("dict[str, Any]", breaker).pop(name, None)
        origins.pop(f"breaker.{name}", None)


def _unreadable_variable(field: str) -> SettingError:
    variable, info = f"{ENVIRONMENT_PREFIX}{field.upper()}", Settings.model_fields.get(field)
    section = info.annotation if info is not None else None
    if isinstance(section, type) and issubclass(section, BaseModel):
        remedy = f"Name one of its settings, as in {variable}__{next(iter(section.model_fields)).upper()}=…"
        return SettingError(variable, _ENVIRONMENT, "it is a whole section.", remedy)
    remedy = f"""Write it as in {variable}='["…"]'."""
    return SettingError(variable, _ENVIRONMENT, "lists and tables are written as JSON.", remedy)


_SECTIONLESS = _sectionless()

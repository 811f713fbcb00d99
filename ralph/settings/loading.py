"""The settings in force: the sources merged key by key, weakest first, and validated once.

The order is: the defaults, `[tool.ralph]` in the workspace's pyproject.toml, its ralph.toml, the user's ralph.toml,
variables such as `RALPH_BREAKER__NO_PROGRESS=5`, the command line: what the user says wins over what a repository
brings. Lists that confine a run more the longer they are add up. The run's record stores the result.
"""

import difflib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from ralph.decision.breaker import PRESETS
from ralph.errors import SettingError, UsageError, nearest, plainly
from ralph.settings.consent import Ask, is_trusted, leaves, require_trust
from ralph.settings.model import ENVIRONMENT_PREFIX, FLAGS, Settings, is_secret, model_in, settings_in
from ralph.settings.sources import Source, own_sources, toml_source, user_file
from ralph.system.patterns import relative_patterns
from ralph.system.secrets import Redactor, is_secret_name

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings, EnvSettingsSource

SWITCH = "RALPH_PLUGINS"
"""The variable that turns all plug-ins off with the value `off`."""

_COMMAND_LINE = "the command line"
_ENVIRONMENT = "the environment"
_SHOWN = 80
_REMEDIES = {
    "string_too_short": "Write one, or leave it out.",
    "dict_type": "Write a table.",
    "tuple_type": """Write a list, as in ["…"].""",
}
_LIST, _TABLE = '["…"]', '{"…": "…"}'


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
    if own == "trusted":
        found = [source for source in found if is_trusted(source)]
    user = toml_source(user_file().resolve())  # it may be a link to a folder of such files
    settings = with_flags([*found, *([user] if user else []), environment(), *more], flags or {})
    settings = _from_workspace(settings, workspace)
    for source in found if own == "required" else ():
        require_trust(source, trust=trust, ask=ask)
    return settings


def _from_workspace(found: SettingsFound, workspace: Path) -> SettingsFound:
    """Return settings with absolute paths in the workspace written from it on: a worktree lies elsewhere."""
    settings = found.settings
    globs = {"noise": settings.noise, "protect": settings.protect}
    try:
        relative = {key: relative_patterns(patterns, workspace) for key, patterns in globs.items() if patterns}
    except UsageError as error:
        key = next(key for key, patterns in globs.items() if any(repr(each) in error.problem for each in patterns))
        wrong = SettingError(key, found.origins.get(key, "the settings"), error.problem, error.remedy)
        raise _naming_flag(wrong, Source(_COMMAND_LINE, {})) from None
    return replace(found, settings=settings.model_copy(update=relative)) if relative else found


def with_flags(sources: Sequence[Source], flags: Mapping[str, object]) -> SettingsFound:
    """Return the settings of sources, weakest first, and of the command line, as in `read_settings`."""
    values: dict[str, Any] = {}
    for flag, value in flags.items():
        if value is not None:
            put(values, FLAGS[flag].key, value)
    given = Source(_COMMAND_LINE, values)
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
        origins.update(dict.fromkeys((key for key, value in source.values.items() if value == {}), source.name))
        for key, value in leaves(source.values):
            before = origins.get(key) if key in _ADDED else None
            origins[key] = source.name if before is None else f"{before} and {source.name}" if value else before
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
    source.env_vars = given = {name: value for name, value in source.env_vars.items() if name != SWITCH.lower()}
    try:
        values = source()
    except ValueError:
        raise _unreadable_variable(_unreadable(source, given)) from None
    if "plugins" in values:
        values["plugins"] = _decoded(values["plugins"], "plugins")
    return Source(_ENVIRONMENT, values)


def put(values: dict[str, Any], key: str, value: object) -> None:
    """Set the value of a full key in a table of tables; a table takes the place of a single value on the way."""
    *sections, name = (part.strip() for part in key.split("."))
    for section in sections:
        if not isinstance(values.get(section), dict):
            values[section] = {}
        values = values[section]
    values[name] = value


def _naming_flag(error: SettingError, given: Source) -> SettingError | UsageError:
    flag = next((flag for flag, each in FLAGS.items() if f"{error.key}.".startswith(f"{each.key}.")), None)
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
    sections = {section: names_at([section]) for section in ("executor", "limits", "breaker", "decision", "analysis")}
    return {
        f"{ENVIRONMENT_PREFIX}{name.upper()}": f"{ENVIRONMENT_PREFIX}{section.upper()}__{name.upper()}"
        for section, names in sections.items()
        for name in names
        if name != "name"
    }


def _merge(into: dict[str, Any], values: Mapping[str, Any], within: str = "") -> None:
    for key, value in values.items():
        if not isinstance(value, Mapping):
            weaker = into.get(key) if within + key in _ADDED and isinstance(value, list | tuple) else None
            listed = cast("Sequence[object]", weaker) if isinstance(weaker, list | tuple) else ()
            into[key] = [*(each for each in listed if each not in value), *value] if weaker else value
        elif isinstance(into.setdefault(key, {}), dict):  # else a weaker source has no table there: an error later
            _merge(into[key], cast("Mapping[str, Any]", value), f"{within}{key}.")


def _forget_profile(merged: dict[str, Any], origins: dict[str, str]) -> None:
    """Drop what weaker sources say of the settings of a preset: it is stronger than they, and weaker than its own."""
    breaker = merged.get("breaker")
    profiled = {name for preset in PRESETS.values() for name in preset.model_fields_set}
    for name in profiled if isinstance(breaker, dict) else ():
        cast("dict[str, Any]", breaker).pop(name, None)
        origins.pop(f"breaker.{name}", None)


def _unreadable(source: "EnvSettingsSource", given: Mapping[str, str | None]) -> str:
    """Return the first variable that cannot be read alone, without its prefix: an error names only the section."""
    for name in given:
        source.env_vars = {name: given[name]}
        try:
            source()
        except ValueError:
            return name[len(ENVIRONMENT_PREFIX) :]
    return ""


def _unreadable_variable(field: str) -> SettingError:
    variable, info = f"{ENVIRONMENT_PREFIX}{field.upper()}", Settings.model_fields.get(field)
    section = info.annotation if info is not None else None
    if isinstance(section, type) and issubclass(section, BaseModel):
        remedy = f"Name one of its settings, as in {variable}__{next(iter(section.model_fields)).upper()}=…"
        return SettingError(variable, _ENVIRONMENT, "it is a whole section.", remedy)
    is_table = any(get_origin(each.annotation) is dict for each in _fields_at(field.lower().split("__"), Settings))
    remedy = f"Write it as in {variable}='{_TABLE if is_table else _LIST}'."
    return SettingError(variable, _ENVIRONMENT, "lists and tables are written as JSON.", remedy)


def setting_error(
    error: ValidationError,
    origins: Mapping[str, str],
    model: type[BaseModel] = Settings,
    within: Sequence[str] = (),
) -> SettingError:
    """Return the message for values that a model rejects.

    Args:
        error: the first of its problems counts; an unknown key comes before any other.
        origins: the source of each full key.
        model: the model that rejects them.
        within: the keys of the table that the model is of.
    """
    errors = error.errors()
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    path = [str(part) for part in first["loc"]]
    key, source = ".".join((*within, *path))[:200], _origin([*within, *path], origins)
    if first["type"] == "extra_forbidden":
        return SettingError(key, source, "there is no such setting.", _meant(path, model))
    if first["type"] == "missing":
        return SettingError(key, source, "it is missing.", "Add it.")
    remedy = _REMEDIES.get(first["type"], "")
    if first["type"] == "model_type":
        remedy = f"It is a section; its settings: {', '.join(names_at(path, model))}."
    secret = any(map(is_secret_name, path)) or any(map(is_secret, _fields_at(path, model)))
    problem = f"{_shown(first['input'], secret=secret)} is not valid"
    return SettingError(key, source, f"{problem}." if remedy else f"{problem}: {plainly(first['msg'])}.", remedy)


def require_numbers(
    values: Mapping[str, object], read: BaseModel, origins: Mapping[str, str], within: str = ""
) -> None:
    """Raise `SettingError` where pydantic has read true or false, in the table of a key, as the number 1 or 0."""
    numbers = dict(leaves(read.model_dump(by_alias=True)))
    for key, value in leaves(values):
        if isinstance(value, bool) and type(numbers.get(key)) in {int, float}:
            wanted = "a whole number" if isinstance(numbers[key], int) else "a number"
            problem = f"{str(value).lower()} is not valid: it should be {wanted}."
            raise SettingError(within + key, _origin([within + key], origins), problem)


def names_at(path: Sequence[str], model: type[BaseModel] = Settings) -> list[str]:
    """Return the names of the settings in the section at a path; none if the path leads to a single value."""
    section: type[BaseModel] | None = model
    parts = iter(path)
    for part in parts:
        field = section.model_fields.get(part) if section else None
        section = model_in(field.annotation) if field is not None else None
        if field is not None and field.annotation is not section:
            next(parts, None)  # a table's key or a list's index
    return sorted(section.model_fields) if section else []


def _fields_at(path: Sequence[str], model: type[BaseModel]) -> Iterator[FieldInfo]:
    section: type[BaseModel] | None = model
    for part in path:
        field = section.model_fields.get(part) if section else None
        if field is not None:
            yield field
            section = model_in(field.annotation)


def _meant(path: Sequence[str], model: type[BaseModel]) -> str:
    """Suggest a key for an unknown one: a similar name, or a setting of a section that it was written without."""
    names = names_at(path[:-1], model)
    alone = len(path) == 1
    keys = {name: f"{section}.{name}" for section in names for name in names_at([section], model)} if alone else {}
    here = difflib.get_close_matches(path[-1], names, n=1, cutoff=0.6)
    there = difflib.get_close_matches(path[-1], keys, n=1, cutoff=0.6)
    if there and (not here or path[-1] in keys):
        return f"Did you mean {keys[there[0]]!r}?"
    return nearest(path[-1], names)


def _origin(path: Sequence[str], origins: Mapping[str, str]) -> str:
    """Return the source of a key; if no source sets it, the source of its nearest neighbour."""
    for depth in range(len(path), 0, -1):
        prefix = ".".join(path[:depth])
        within = (source for known, source in origins.items() if known.startswith(f"{prefix}."))
        if (source := origins.get(prefix) or next(within, None)) is not None:
            return source
    return "the settings"


def _shown(value: object, *, secret: bool) -> str:
    """Return a value for a message. Messages end up in logs, so they repeat no key and no header."""
    if secret or not isinstance(value, str | int | float):
        return "the value"
    if not isinstance(value, str):
        return "so large a number" if abs(value) >= 10**20 else json.dumps(value)[:_SHOWN]
    text = Redactor()(value)
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


_SECTIONLESS = _sectionless()
_ADDED = frozenset(
    each.key for each in settings_in(Settings) if each.is_list and each.tighter and each.tighter.order == "more"
)
"""The lists that confine a run more the longer they are: what each source has in them adds up."""

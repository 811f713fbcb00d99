"""The settings, composed of the parts' own models.

What is said later in this list wins: the defaults, `[tool.ralph]` in pyproject.toml, ralph.toml, variables called
`RALPH_…` (`RALPH_BREAKER__NO_PROGRESS=5`), the command line. The settings in force are frozen into the run's record.
"""

import difflib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationError,
    field_validator,
)

from ralph.analysis.lexicon import Phrase
from ralph.decision.breaker import PRESETS, BreakerSettings
from ralph.decision.limits import Limits, Price
from ralph.decision.outcomes import DecisionSettings
from ralph.errors import SettingError, nearest, plainly
from ralph.system.redact import Redactor, is_secret_name
from ralph.system.sandbox import Names, Sandbox, Variables, apart
from ralph.types import evolve

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

__all__ = [
    "SWITCH",
    "TRUSTED_ONLY",
    "Duration",
    "ExecutorSettings",
    "Settings",
    "SettingsFound",
    "Source",
    "environment",
    "load_settings",
    "parse_duration",
    "require_numbers",
    "setting_error",
    "untrusted_keys",
]

_YEAR = 366 * 86400.0
_SHOWN = 80
_SECRET = {"api_key", "headers"}
_REMEDIES = {
    "string_too_short": "Write one, or leave it out.",
    "dict_type": "Write a table.",
    "tuple_type": """Write a list, as in ["…"].""",
}
_FIELD = re.compile(r'field "(\w+)"')
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,6})?(?:ms|[smhd]))+\Z", re.ASCII)
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|[smhd])", re.ASCII)

_OURS = "RALPH_"
"""What the names of variables begin with that are settings."""

SWITCH = "RALPH_PLUGINS"
"""The variable that is `off` where no plug-in is to be loaded."""

TRUSTED_ONLY = (
    "environment",
    "executor.allow",
    "executor.api_key",
    "executor.base_url",
    "executor.cli_path",
    "executor.deny",
    "executor.headers",
    "executor.permission",
    "plugin_file",
    "plugins",
    "sandbox",
    "store",
    "verifiers",
    "verify",
    "verify_shell",
)
"""Settings that run programs, widen what the agent may do, or send data elsewhere: a workspace's own need consent."""


def parse_duration(value: object) -> object:
    """Seconds from "90s", "15m", "1h30m", or a number of seconds; anything else is left to be refused."""
    if isinstance(value, str):
        text = value.strip().lower()
        if _DURATION.match(text):
            return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
        if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", text, re.ASCII):
            return float(text)
    if isinstance(value, bool | str):
        raise ValueError("write a duration as 90s, 15m or 2h")  # noqa: TRY004 - the one that pydantic reports
    return value


Duration = Annotated[PositiveFloat, Field(le=_YEAR), BeforeValidator(parse_duration)]


class ExecutorSettings(BaseModel, frozen=True, extra="forbid"):
    """Who does the work, and how it is reached."""

    name: str = Field(default="copilot", description="copilot (the SDK, then the CLI), copilot-sdk or copilot-cli.")
    model: str | None = Field(default=None, description="The model; unset: the agent's own default.")
    base_url: str | None = Field(
        default=None, min_length=1, description="An OpenAI-compatible endpoint instead of GitHub's."
    )
    api_key: SecretStr | None = Field(default=None, description="The endpoint's key.")
    wire_api: Literal["completions", "responses"] = Field(default="completions", description="The endpoint's dialect.")
    headers: dict[str, str] = Field(default={}, description="Further headers for the endpoint.")
    cli_path: str | None = Field(default=None, description="The Copilot CLI; unset: found, or fetched.")
    cli_mode: Literal["prompt", "what-the-shell"] = Field(default="prompt", description="How the CLI is called.")
    permission: Literal["workspace", "approve-all", "read-only"] = Field(
        default="workspace", description="What the agent's tools may do."
    )
    allow: tuple[str, ...] = Field(default=(), description="Further patterns that are allowed.")
    deny: tuple[str, ...] = Field(default=(), description="Further patterns that are denied.")
    idle_timeout: Duration = Field(default=600.0, description="Time without a sign of life that ends the turn.")
    iteration_timeout: Duration = Field(default=3600.0, description="Time for a whole turn.")
    tool_timeout: Duration = Field(default=1800.0, description="How long a tool counts as a sign of life.")
    context: Literal["fresh", "continue"] = Field(
        default="fresh", description="A session per iteration, or one for all."
    )


class LimitSettings(Limits, frozen=True, extra="forbid"):
    """Limits, with the duration also as text."""

    max_duration: Duration | None = Field(default=None, description="Time for the whole run, pauses included.")


class Breaker(BreakerSettings, frozen=True, extra="forbid"):
    """The breaker's settings, with the cool-down also as text."""

    cool_down: Annotated[float, Field(ge=0, le=_YEAR), BeforeValidator(parse_duration)] = Field(
        default=1800.0, description="How long it stays open before a probe iteration."
    )


class DecisionSection(DecisionSettings, frozen=True, extra="forbid"):
    """The decision's settings, with the waits also as text."""

    rate_limit_wait: Duration = Field(
        default=60.0, description="The wait for a rate limit that names no time; doubled each time in a row."
    )
    max_rate_limit_wait: Duration = Field(default=3600.0, description="The longest such wait.")


class TaskSettings(BaseModel, frozen=True, extra="forbid"):
    """How the items of a plan are taken up."""

    choose: Literal["agent", "ralph"] = Field(
        default="agent", description="Who chooses the next item of the plan: the agent, or Ralph (the first open one)."
    )


class EnvironmentSettings(Variables, frozen=True, extra="forbid"):
    """Which of Ralph's own environment variables the agent and the verifiers are given, and which are masked."""

    mask: tuple[Names, ...] = Field(
        default=(), description="Variables whose values are masked, besides those whose names look secret: DATABASE_*."
    )

    @field_validator("mask")
    @classmethod
    def _each(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return apart(names)


class KeywordSetting(BaseModel, frozen=True, extra="forbid"):
    """An additional completion keyword."""

    text: Phrase = Field(max_length=200, description="The phrase, as the agent writes it.")
    language: str = Field(default="en", description="The language of the phrase: en, zh, es, de, or another.")
    weight: Literal["high", "very_high"] = Field(
        default="high", description="very_high is enough by itself, high needs a second signal."
    )
    forms: tuple[Phrase, ...] = Field(default=(), description="Other ways to write it.")


class StatusFieldSetting(BaseModel, frozen=True, extra="forbid"):
    """An additional field of the status block."""

    name: str = Field(description="In capitals, digits and underscores.")
    type: Literal["str", "int", "float", "bool", "list[str]"] = Field(default="str", description="The value's type.")
    description: str = Field(default="", description="What the agent should put there.")
    example: str | None = Field(default=None, description="A value, for the prompt; unset: one that fits the type.")
    choices: tuple[str, ...] = Field(default=(), description="The values that a str may have; empty for any.")


def _require_within(glob: str) -> str:
    """Refuses a glob that no path in the workspace can match."""
    if {"", ".", ".."} & set(glob.strip().strip("/").split("/")):
        raise ValueError("no path in the workspace matches it; write it from the workspace on, as in docs/*.md")
    return glob


Glob = Annotated[str, AfterValidator(_require_within)]
"""A pattern of paths in the workspace."""


class Settings(BaseModel, frozen=True, extra="forbid"):
    """Everything that can be set."""

    executor: ExecutorSettings = ExecutorSettings()
    limits: LimitSettings = LimitSettings()
    preset: str | None = Field(default=None, description=f"A breaker profile: {', '.join(PRESETS)}.")
    breaker: Breaker = Breaker()
    decision: DecisionSection = DecisionSection()
    strategy: str = Field(default="auto", description="The exit strategy.")
    analyzers: tuple[str, ...] = Field(default=(), description="Further analyzers by name, beside the built-in one.")
    verify: tuple[str, ...] = Field(
        default=(), description='Programs that must succeed before a run is completed; ["none"]: no check.'
    )
    verify_shell: tuple[str, ...] = Field(default=(), description="The same, as shell commands.")
    verifiers: tuple[str, ...] = Field(
        default=(), description="Verifiers by name, as NAME:key=value,…; if all three are empty: review."
    )
    verify_rounds: PositiveInt = Field(
        default=1, le=9, description="Sessions of a review that must find the work done."
    )
    verify_timeout: Duration = Field(default=600.0, description="Time for one verifier.")
    plan: str | None = Field(default=None, min_length=1, description="The plan file; unset: @fix_plan.md and the like.")
    tasks: TaskSettings = TaskSettings()
    promise: str | None = Field(
        default=None, min_length=1, description="The text that means done inside <promise>…</promise>."
    )
    keywords: tuple[KeywordSetting, ...] = Field(default=(), description="Further completion keywords.")
    status_fields: tuple[StatusFieldSetting, ...] = Field(default=(), description="Further status fields.")
    environment: EnvironmentSettings = EnvironmentSettings()
    sandbox: Sandbox = Sandbox()
    noise: tuple[Glob, ...] = Field(default=(), description="Paths whose changes are not progress; glob patterns.")
    protect: tuple[Glob, ...] = Field(
        default=(), description="Paths restored after a change by the agent, as git's hooks always are; glob patterns."
    )
    checkpoints: bool = Field(default=True, description="Save the workspace's files before and after each iteration.")
    commit: Literal["none", "iteration", "completion"] = Field(
        default="none", description="When Ralph commits what the run has changed to the branch."
    )
    worktree_end: Literal["keep", "merge", "discard"] = Field(
        default="keep", description="What happens to a --worktree at the end; only a completed run is merged."
    )
    prices: dict[str, Price] = Field(default={}, description="By model; US dollars for a million tokens.")
    store: str | None = Field(default=None, description="Where runs are kept; unset: the user's state folder.")
    display: str = Field(default="auto", description="What is shown: auto, live, plain, json, none, or a plug-in's.")
    plugin_file: str | None = Field(
        default=None, description="A plug-in that is a file; unset: .ralph/plugin.py. It needs consent."
    )
    plugins: dict[str, dict[str, Any]] = Field(default={}, description="The plug-ins' own settings, by their names.")

    def breaker_settings(self) -> BreakerSettings:
        """The breaker's settings with the preset under them."""
        if self.preset is None:
            return self.breaker
        return evolve(PRESETS[self.preset], **self.breaker.model_dump(exclude_unset=True))


@dataclass(frozen=True, slots=True)
class Source:
    """Where values come from: its name for messages ("ralph.toml"), and what it says."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SettingsFound:
    """The settings in force, and for each full key that was set where it comes from."""

    settings: Settings
    origins: Mapping[str, str]


def environment() -> Source:
    """What variables called RALPH_… say; those that name no setting are somebody else's.

    Raises `SettingError` for one that cannot be read, or that names a setting without its section: a limit that
    nobody keeps is worse than none.
    """
    if wrong := next((name for name in sorted(os.environ) if name in _SECTIONLESS), None):
        remedy = f"Did you mean {_SECTIONLESS[wrong]!r}?"
        raise SettingError(wrong, "the environment", "there is no such setting.", remedy)
    if not any(name.upper().startswith(_OURS) and name.upper() != SWITCH for name in os.environ):
        return Source("the environment", {})
    from pydantic_settings import EnvSettingsSource

    shape = cast("type[BaseSettings]", Settings)  # it reads nothing of it but the fields
    source = EnvSettingsSource(shape, env_prefix=_OURS, env_nested_delimiter="__")
    source.env_vars = {name: value for name, value in source.env_vars.items() if name != SWITCH.lower()}
    try:
        values = source()
    except ValueError as error:
        field = _FIELD.search(str(error))
        raise _unreadable_variable(field[1] if field else "") from None
    if "plugins" in values:
        values["plugins"] = _decoded(values["plugins"], "plugins")
    return Source("the environment", values)


def load_settings(sources: Sequence[Source]) -> SettingsFound:
    """The settings that follow from sources, weakest first.

    Raises `SettingError` naming the key, its source, what is wrong, and for an unknown key the nearest valid one.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for source in sources:
        if "preset" in source.values:
            _forget_profile(merged, origins)
        _merge(merged, source.values)
        empty = [key for key, value in source.values.items() if value == {}]
        origins.update(dict.fromkeys((*empty, *(key for key, _ in _leaves(source.values))), source.name))
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise setting_error(error, origins) from None
    require_numbers(merged, settings, origins)
    if settings.preset is not None and settings.preset not in PRESETS:
        remedy = nearest(settings.preset, PRESETS)
        raise SettingError("preset", origins["preset"], f"no profile is called {settings.preset!r}.", remedy)
    return SettingsFound(settings, origins)


def require_numbers(values: Mapping[str, Any], read: BaseModel, origins: Mapping[str, str], within: str = "") -> None:
    """Raises `SettingError` where pydantic has read true or false, in the table of a key, as the number 1 or 0."""
    numbers = dict(_leaves(read.model_dump(by_alias=True)))
    for key, value in _leaves(values):
        if isinstance(value, bool) and type(numbers.get(key)) in {int, float}:
            wanted = "a whole number" if isinstance(numbers[key], int) else "a number"
            problem = f"{str(value).lower()} is not valid: it should be {wanted}."
            raise SettingError(within + key, _origin([within + key], origins), problem)


def _decoded(value: Any, field: str) -> Any:
    """What variables set for plug-ins, whose models nobody knows yet: lists and tables are read as JSON."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {key: _decoded(each, f"{field}__{key}") for key, each in table.items()}
    if not isinstance(value, str) or not value.startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise _unreadable_variable(field) from None


def untrusted_keys(source: Source) -> tuple[str, ...]:
    """The keys in a workspace's own settings that need a person's consent."""
    said = {key for key, _ in _leaves(source.values)}
    return tuple(key for key in TRUSTED_ONLY if any(name == key or name.startswith(f"{key}.") for name in said))


def _sectionless() -> dict[str, str]:
    """The variables that people write when they forget the section, with those that they mean. A mere NAME could be
    anyone's.
    """
    sections = {section: _names_at([section]) for section in ("executor", "limits", "breaker", "decision")}
    return {
        f"RALPH_{name.upper()}": f"RALPH_{section.upper()}__{name.upper()}"
        for section, names in sections.items()
        for name in names
        if name != "name"
    }


def _merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if not isinstance(value, Mapping):
            into[key] = value
        elif isinstance(into.setdefault(key, {}), dict):  # else something weaker has no table there: that is told of
            _merge(into[key], cast("Mapping[str, Any]", value))


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(cast("Mapping[str, Any]", value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _forget_profile(merged: dict[str, Any], origins: dict[str, str]) -> None:
    """A preset stands above what weaker sources say of the settings that it sets, and below its own source's."""
    breaker = merged.get("breaker")
    for name in ("no_progress", "stagnation") if isinstance(breaker, dict) else ():
        cast("dict[str, Any]", breaker).pop(name, None)
        origins.pop(f"breaker.{name}", None)


def _unreadable_variable(field: str) -> SettingError:
    variable, info = f"RALPH_{field.upper()}", Settings.model_fields.get(field)
    section = info.annotation if info is not None else None
    if isinstance(section, type) and issubclass(section, BaseModel):
        remedy = f"Name one of its settings, as in {variable}__{next(iter(section.model_fields)).upper()}=…"
        return SettingError(variable, "the environment", "it is a whole section.", remedy)
    remedy = f"""Write it as in {variable}='["…"]'."""
    return SettingError(variable, "the environment", "lists and tables are written as JSON.", remedy)


def setting_error(
    error: ValidationError,
    origins: Mapping[str, str],
    model: type[BaseModel] | None = None,
    within: Sequence[str] = (),
) -> SettingError:
    """What a person is told of values that a model refuses.

    Args:
        origins: where each full key comes from.
        model: the one that refused; by default that of all settings.
        within: the keys of the table that the model is of.
    """
    model = model or Settings
    errors = error.errors()
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    path = [str(part) for part in first["loc"]]
    key, source = ".".join((*within, *path))[:200], _origin([*within, *path], origins)
    if first["type"] == "extra_forbidden":
        return SettingError(key, source, "there is no such setting.", _meant(path, model))
    remedy = _REMEDIES.get(first["type"], "")
    if first["type"] == "missing":
        return SettingError(key, source, "it is missing.", "Add it.")
    if first["type"] == "model_type":
        remedy = f"It is a section; its settings: {', '.join(_names_at(path, model))}."
    secret = any(part in _SECRET or is_secret_name(part) for part in path) or _holds_secrets(path, model)
    problem = f"{_shown(first['input'], secret=secret)} is not valid"
    return SettingError(key, source, f"{problem}." if remedy else f"{problem}: {plainly(first['msg'])}.", remedy)


def _meant(path: Sequence[str], model: type[BaseModel]) -> str:
    """What an unknown key may stand for: a neighbour, or a setting of a section that it was written without."""
    names = _names_at(path[:-1], model)
    alone = len(path) == 1
    keys = {name: f"{section}.{name}" for section in names for name in _names_at([section], model)} if alone else {}
    here = difflib.get_close_matches(path[-1], names, n=1, cutoff=0.6)
    there = difflib.get_close_matches(path[-1], keys, n=1, cutoff=0.6)
    if there and (not here or path[-1] in keys):
        return f"Did you mean {keys[there[0]]!r}?"
    return nearest(path[-1], names)


def _origin(path: Sequence[str], origins: Mapping[str, str]) -> str:
    """Which source a key comes from; for one that nobody set, the source of its nearest neighbour."""
    for depth in range(len(path), 0, -1):
        prefix = ".".join(path[:depth])
        within = (source for known, source in origins.items() if known.startswith(f"{prefix}."))
        if (source := origins.get(prefix) or next(within, None)) is not None:
            return source
    return "the settings"


def _shown(value: object, *, secret: bool) -> str:
    """A value as it may be repeated to a person: messages end up in logs, where no key and no header belongs."""
    if secret or not isinstance(value, str | int | float):
        return "what stands there"
    if not isinstance(value, str):
        return "so large a number" if abs(value) >= 10**20 else json.dumps(value)[:_SHOWN]
    text = Redactor()(value)
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _holds_secrets(path: Sequence[str], model: type[BaseModel]) -> bool:
    """Whether the field at the beginning of a path is made for secrets."""
    field = model.model_fields.get(path[0]) if path else None
    return field is not None and "Secret" in str(field.annotation)


def _names_at(path: Sequence[str], model: type[BaseModel] | None = None) -> list[str]:
    """The names of the settings in the section that a path leads to; none where it leads to a single value."""
    model = model or Settings
    parts = iter(path)
    for part in parts:
        field = model.model_fields.get(part)
        held: object = field.annotation if field is not None else None
        inner = _model_in(held)
        if inner is None:
            return []
        if held is not inner:
            next(parts, None)  # a table's key or a list's index
        model = inner
    return sorted(model.model_fields)


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model that a field holds, by itself, in a table or in a list."""
    held = (annotation, *get_args(annotation))
    return next((each for each in held if isinstance(each, type) and issubclass(each, BaseModel)), None)


_SECTIONLESS = _sectionless()

"""The settings, composed of the models that the rooms below declare.

A field is the only place that names a setting: with its type, bounds, default, help, and the markers of
`ralph.system.declarations` for its flag, consent and secrets. The command line, the environment, the documentation and
`ralph config show` are made from it. They need no validator, so pydantic builds those of the models when the first
setting is validated (`defer_build`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import AfterValidator, BaseModel, Field, PositiveInt, SecretStr
from pydantic.fields import FieldInfo

from ralph.analysis import REPEATS, WINDOW
from ralph.analysis.lexicon import LEXICONS, Keyword
from ralph.decision.breaker import PRESETS, BreakerSettings
from ralph.decision.limits import DecisionSettings, Limits, Price
from ralph.system.declarations import (
    AGENT,
    CONSENT,
    ENDING,
    HARMLESS,
    OTHER,
    SECRET,
    TIMES,
    WORK,
    Duration,
    Flag,
    Marker,
    Size,
    Tighter,
    format_duration,
    parse_duration,
)
from ralph.system.patterns import takes
from ralph.system.sandbox import Sandbox, Variables
from ralph.types import evolve
from ralph.types.choices import (
    Chooser,
    CliMode,
    CommitPolicy,
    Context,
    PermissionMode,
    ProtectChecks,
    WireApi,
    WorktreeEnd,
)
from ralph.types.output import Timeouts

_TIMEOUTS = Timeouts()

ENVIRONMENT_PREFIX = "RALPH_"


class ExecutorSettings(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The agent, and how it is reached."""

    name: Annotated[str, CONSENT, Flag("--executor", "NAME", AGENT, resume=True)] = Field(
        default="copilot",
        description="copilot (the SDK, then the CLI), copilot-sdk, copilot-cli, or an executor of a plug-in.",
    )
    model: Annotated[str | None, CONSENT, Flag("--model", "NAME", AGENT, resume=True)] = Field(
        default=None, description="The model; unset: the agent's own default."
    )
    base_url: Annotated[str | None, CONSENT, Flag("--base-url", "URL", AGENT, resume=True)] = Field(
        default=None, min_length=1, description="An OpenAI-compatible endpoint to use instead of GitHub's models."
    )
    api_key: Annotated[SecretStr | None, CONSENT, SECRET] = Field(default=None, description="The endpoint's key.")
    wire_api: Annotated[WireApi, HARMLESS, Flag("--wire-api", "NAME", AGENT, resume=True)] = Field(
        default="completions", description="The endpoint's API: completions or responses."
    )
    headers: Annotated[dict[str, str], CONSENT, SECRET] = Field(
        default={}, description="Additional headers for the endpoint."
    )
    cli_path: Annotated[str | None, CONSENT] = Field(
        default=None, description="The Copilot CLI; unset: the installed one, or a download."
    )
    cli_mode: Annotated[CliMode, CONSENT] = Field(default="prompt", description="How the CLI is called.")
    permission: Annotated[
        PermissionMode, Tighter(("read-only", "workspace", "approve-all")), Flag("--permission", "MODE", AGENT)
    ] = Field(default="workspace", description="What the agent's tools may do: workspace, approve-all or read-only.")
    allow: Annotated[tuple[str, ...], CONSENT, Flag("--allow", "PATTERN", AGENT)] = Field(
        default=(), description="Allow this even if the permission mode forbids it, for example shell(make)."
    )
    deny: Annotated[tuple[str, ...], Tighter("more"), Flag("--deny", "PATTERN", AGENT)] = Field(
        default=(), description="Deny this even if the permission mode allows it, for example shell(rm -rf)."
    )
    context: Annotated[Context, HARMLESS, Flag("--context", "WORD", AGENT)] = Field(
        default="fresh", description="fresh: a new session for each iteration; continue: one session for all."
    )
    iteration_timeout: Annotated[Duration, Tighter("less"), Flag("--iteration-timeout", "TIME", TIMES, resume=True)] = (
        Field(default=_TIMEOUTS.iteration, description="Time for a whole turn.")
    )
    idle_timeout: Annotated[Duration, Tighter("less"), Flag("--idle-timeout", "TIME", TIMES, resume=True)] = Field(
        default=_TIMEOUTS.idle, description="Time without a sign of life that ends the turn."
    )
    tool_timeout: Annotated[Duration, Tighter("less"), Flag("--tool-timeout", "TIME", TIMES, resume=True)] = Field(
        default=_TIMEOUTS.tool, description="Time for which a running tool counts as a sign of life."
    )


class TaskSettings(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The order in which the items of a plan are done."""

    choose: Annotated[Chooser, HARMLESS] = Field(
        default="agent", description="Who chooses the next item of the plan: the agent, or Ralph (the first open one)."
    )


class StatusFieldSetting(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """An additional field of the status block."""

    name: str = Field(description="In capitals, digits and underscores.")
    type: Literal["str", "int", "float", "bool", "list[str]"] = Field(default="str", description="The value's type.")
    description: str = Field(default="", description="What the agent should put there.")
    example: str | None = Field(default=None, description="A value, for the prompt; unset: one that fits the type.")
    choices: tuple[str, ...] = Field(default=(), description="The values that a str may have; empty for any.")


def _require_within(glob: str) -> str:
    path = glob.strip().removeprefix("!").removeprefix("./")
    if path.startswith("~"):
        raise ValueError("the home folder is not meant in a workspace; write it from the workspace on, as in docs/*.md")
    if {"", ".", ".."} & set(path.strip("/").split("/")):
        raise ValueError("no path in the workspace matches it; write it from the workspace on, as in docs/*.md")
    if takes(glob) is None:
        raise ValueError("it can match nothing; write it as in .gitignore, as in docs/*.md")
    return glob


Glob = Annotated[str, AfterValidator(_require_within)]
"""A pattern of paths in the workspace."""


def _require_language(code: str) -> str:
    if code not in LEXICONS:
        raise ValueError(f"the languages are {', '.join(LEXICONS)}")
    return code


class AnalysisSettings(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The reading of replies by the built-in analyzer."""

    window: Annotated[PositiveInt, CONSENT] = Field(
        default=WINDOW, le=15, description="Last iterations in which an error pattern that repeats counts."
    )
    repeats: Annotated[PositiveInt, CONSENT] = Field(
        default=REPEATS, le=15, description="How often an error, a reply or what it does must repeat to be a circle."
    )
    languages: Annotated[tuple[Annotated[str, AfterValidator(_require_language)], ...], CONSENT] = Field(
        default=tuple(LEXICONS), min_length=1, description="Languages to read the agent's replies in, by their codes."
    )


class Settings(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """All settings."""

    executor: ExecutorSettings = Field(default_factory=ExecutorSettings)
    sandbox: Sandbox = Field(default_factory=Sandbox)
    environment: Annotated[Variables, CONSENT] = Field(default_factory=Variables)
    limits: Limits = Field(default_factory=Limits)
    preset: Annotated[str | None, CONSENT, Flag("--preset", "NAME", ENDING)] = Field(
        default=None, description=f"A profile for the circuit breaker: {', '.join(PRESETS)}."
    )
    breaker: BreakerSettings = Field(default_factory=BreakerSettings)
    decision: DecisionSettings = Field(default_factory=DecisionSettings)
    strategy: Annotated[str, CONSENT, Flag("--strategy", "NAME", ENDING)] = Field(
        default="auto",
        description="What counts as a claim that the work is done: auto, circuit_breaker, done_signals, exit_signal, "
        "fix_plan, natural_language.",
    )
    analyzers: Annotated[tuple[str, ...], CONSENT, Flag("--analyzer", "NAME", ENDING)] = Field(
        default=(), description="An analyzer of a plug-in, used in addition to the built-in one."
    )
    verify: Annotated[tuple[str, ...], CONSENT, Flag("--verify", "CMD", ENDING)] = Field(
        default=(), description="A program that must succeed before a run is completed; none: no check."
    )
    verify_shell: Annotated[tuple[str, ...], CONSENT, Flag("--verify-shell", "CMD", ENDING)] = Field(
        default=(), description="The same, as a shell command."
    )
    verifiers: Annotated[tuple[str, ...], CONSENT, Flag("--verifier", "NAME:KEY=VALUE,…", ENDING)] = Field(
        default=(),
        description="A verifier by name: command, shell, review or one of a plug-in. Without any check, review is "
        "used: a fresh session of the agent judges the work.",
    )
    verify_rounds: Annotated[PositiveInt, CONSENT] = Field(
        default=1, le=9, description="Sessions of a review that must find the work done."
    )
    verify_timeout: Annotated[Duration, Tighter("less")] = Field(default=600.0, description="Time for one verifier.")
    plan: Annotated[str | None, HARMLESS, Flag("--plan", "FILE", ENDING)] = Field(
        default=None,
        min_length=1,
        description="The plan, a checklist; unset: @fix_plan.md or a file with a similar name.",
    )
    tasks: TaskSettings = Field(default_factory=TaskSettings)
    promise: Annotated[str | None, CONSENT, Flag("--promise", "TEXT", ENDING)] = Field(
        default=None, min_length=1, description="The text that means done inside <promise>…</promise>."
    )
    analysis: AnalysisSettings = Field(default_factory=AnalysisSettings)
    keywords: Annotated[tuple[Keyword, ...], CONSENT] = Field(default=(), description="Additional completion keywords.")
    status_fields: Annotated[tuple[StatusFieldSetting, ...], HARMLESS] = Field(
        default=(), description="Additional status fields."
    )
    noise: Annotated[tuple[Glob, ...], CONSENT] = Field(
        default=(), description="Paths whose changes are not progress; glob patterns."
    )
    checkpoints: Annotated[bool, Tighter((True, False))] = Field(
        default=True, description="Save the workspace's files before and after each iteration."
    )
    commit: Annotated[CommitPolicy, Tighter(("none", "completion", "iteration")), Flag("--commit", "WHEN", WORK)] = (
        Field(default="none", description="When to commit what the run has changed: none, iteration or completion.")
    )
    commit_hooks: Annotated[bool, Tighter((False, True)), Flag("--commit-hooks", "", WORK)] = Field(
        default=False,
        description="Run the repository's hooks and filters, with your own settings of git, when Ralph commits, merges "
        "or makes a worktree. The agent may have changed what they run.",
    )
    worktree_end: Annotated[
        WorktreeEnd, Tighter(("keep", "merge", "discard")), Flag("--worktree-end", "WHAT", WORK)
    ] = Field(
        default="keep", description="What to do with a --worktree at the end: keep, merge (if completed) or discard."
    )
    protect: Annotated[tuple[Glob, ...], Tighter("more"), Flag("--protect", "GLOB", WORK)] = Field(
        default=(), description="Restore these paths if the agent changes them, as Ralph always does with git's hooks."
    )
    protect_checks: Annotated[ProtectChecks, Tighter(("on", "auto", "off")), Flag("--protect-checks", "WHEN", WORK)] = (
        Field(
            default="auto",
            description="Restore what a check depends on if the agent changes it: auto, the check's own script; on, "
            "also existing tests and settings; off, nothing, and no review takes the check's place.",
        )
    )
    prices: Annotated[dict[str, Price], CONSENT] = Field(
        default={}, description="By model; US dollars per million tokens."
    )
    state_limit: Annotated[Size, CONSENT] = Field(
        default=2 * 1024**3,
        description="Size of the state folder above which, at the end of a run, the checkpoints and transcripts of the "
        "oldest finished runs are removed: 500M, 10G.",
    )
    store: Annotated[str | None, CONSENT, Flag("--store", "URL", OTHER, resume=True)] = Field(
        default=None,
        description="Where runs are stored: a file, a postgresql:// URL, or memory: for nowhere; unset: the user's "
        "state folder.",
    )
    display: Annotated[str, CONSENT, Flag("--display", "NAME", OTHER, resume=True)] = Field(
        default="auto", description="What is shown: auto, live, plain, json, none, or a display of a plug-in."
    )
    plugin_file: Annotated[str | None, CONSENT] = Field(
        default=None, description="A plug-in that is a file; unset: .ralph/plugin.py. It needs consent."
    )
    plugins: Annotated[dict[str, dict[str, Any]], CONSENT] = Field(
        default={}, description="The plug-ins' own settings, by their names."
    )

    def breaker_settings(self) -> BreakerSettings:
        """Return the breaker's settings; those that are unset come from the preset."""
        if self.preset is None:
            return self.breaker
        return evolve(PRESETS[self.preset], **self.breaker.model_dump(exclude_unset=True))


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, or a whole section of them.

    Attributes:
        key: the full name, such as "limits.max_iterations".
        field: its declaration.
        section: the model of a section; None for a single setting.
    """

    key: str
    field: FieldInfo
    section: type[BaseModel] | None = None

    @property
    def flag(self) -> Flag | None:
        """The command-line flag."""
        return next((each for each in self.field.metadata if isinstance(each, Flag)), None)

    @property
    def variable(self) -> str:
        """The name of the environment variable."""
        return ENVIRONMENT_PREFIX + self.key.replace(".", "__").upper()

    @property
    def is_list(self) -> bool:
        """The setting holds several values, so that its flag is repeatable."""
        return any(getattr(kind, "__origin__", None) is tuple for kind in _kinds(self.field.annotation))

    @property
    def is_duration(self) -> bool:
        """The value is a `Duration` or a `Wait`."""
        inner = (each for kind in _kinds(self.field.annotation) for each in getattr(kind, "__metadata__", ()))
        return any(getattr(each, "func", None) is parse_duration for each in (*self.field.metadata, *inner))

    @property
    def is_whole(self) -> bool:
        """The value is a whole number."""
        return any(getattr(kind, "__origin__", kind) is int for kind in _kinds(self.field.annotation))

    @property
    def default(self) -> str:
        """The default value as the user writes it; empty for a setting that is unset by default."""
        value: Any = self.field.get_default(call_default_factory=True)
        if value is None or value in ((), {}, ""):
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return ", ".join(map(str, cast("tuple[object, ...]", value)))
        return format_duration(value) if self.is_duration else f"{value:g}" if isinstance(value, float) else str(value)

    @property
    def help(self) -> str:
        """The help of the flag: what the setting is, whether it is repeatable, and its default."""
        repeatable = " Repeatable." if self.is_list else ""
        return f"{self.field.description}{repeatable}{f' Default: {self.default}.' if self.default else ''}"

    def marked(self, marker: Marker) -> bool:
        return marker in self.field.metadata

    @property
    def tighter(self) -> Tighter | None:
        """The direction that a workspace may take without consent; None if no value or any needs it."""
        return next((each for each in self.field.metadata if isinstance(each, Tighter)), None)


def settings_in(model: type[BaseModel], prefix: str = "") -> Iterator[Setting]:
    """Yield the settings of a model in order, each section before those in it."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        section = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
        yield Setting(prefix + name, field, section)
        if section is not None:
            yield from settings_in(section, f"{prefix}{name}.")


def model_in(annotation: object) -> type[BaseModel] | None:
    """Return the model that a field holds: directly, in a table or in a list."""
    return next((kind for kind in _kinds(annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def is_secret(field: FieldInfo) -> bool:
    """Return whether the values of a field are secrets."""
    return SECRET in field.metadata or SecretStr in _kinds(field.annotation)


def _kinds(annotation: object) -> tuple[object, ...]:
    return (annotation, *get_args(annotation))


def value_at(settings: Settings, key: str) -> Any:
    """Return the value of a setting by its full key."""
    return reduce(getattr, key.split("."), cast("Any", settings))


def secrets_of(settings: Settings) -> Iterator[str]:
    """Yield the values of the settings that are secrets."""
    for key in SECRETS:
        value = value_at(settings, key)
        if isinstance(value, SecretStr):
            yield value.get_secret_value()
        elif isinstance(value, dict):
            yield from cast("dict[str, str]", value).values()


FLAGS: dict[str, Setting] = {each.flag.name: each for each in settings_in(Settings) if each.flag is not None}
"""The settings with a command-line flag, by the flag."""

SECRETS = tuple(each.key for each in settings_in(Settings) if each.section is None and is_secret(each.field))
"""The settings whose values are masked and not stored."""

TRUSTED_ONLY = tuple(sorted(each.key for each in settings_in(Settings) if each.marked(CONSENT)))
"""The settings and sections that need the user's consent when a workspace sets them, whatever the value."""


def governing(key: str) -> Setting | None:
    """Return the setting that a full key belongs to, or the section of it that needs consent; None if none exists."""
    found = [each for each in settings_in(Settings) if f"{key}.".startswith(f"{each.key}.")]
    return next((each for each in found if each.key in TRUSTED_ONLY), found[-1] if found else None)

"""The settings as a list: each with its key, flag, variable, default and help, as the model declares them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast, get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from ralph.settings.model import Settings
from ralph.system.declarations import CONSENT, SECRET, Flag, Marker, format_duration, parse_duration

__all__ = ["FLAGS", "SECRETS", "TRUSTED_ONLY", "Setting", "is_secret", "model_in", "secrets_of", "settings_in"]

ENVIRONMENT_PREFIX = "RALPH_"


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
        return any(
            getattr(each, "__origin__", None) is tuple
            for each in (self.field.annotation, *get_args(self.field.annotation))
        )

    @property
    def is_duration(self) -> bool:
        """The value is a `Duration` or a `Wait`."""
        kinds = (self.field.annotation, *get_args(self.field.annotation))
        metadata = [*self.field.metadata, *(each for kind in kinds for each in getattr(kind, "__metadata__", ()))]
        return any(getattr(each, "func", None) is parse_duration for each in metadata)

    @property
    def is_whole(self) -> bool:
        """The value is a whole number."""
        kinds = (self.field.annotation, *get_args(self.field.annotation))
        return any(getattr(kind, "__origin__", kind) is int for kind in kinds)

    @property
    def default(self) -> str:
        """The default value as the user writes it; empty for a setting that is unset by default."""
        value: Any = self.field.get_default(call_default_factory=True)
        if value is None or value in ((), {}, ""):
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        return format_duration(value) if self.is_duration else f"{value:g}" if isinstance(value, float) else str(value)

    @property
    def help(self) -> str:
        """The help of the flag: what the setting is, whether it is repeatable, and its default."""
        repeatable = " Repeatable." if self.is_list else ""
        return f"{self.field.description}{repeatable}{f' Default: {self.default}.' if self.default else ''}"

    def marked(self, marker: Marker) -> bool:
        """Return whether the declaration has a marker."""
        return marker in self.field.metadata


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
    held = (annotation, *get_args(annotation))
    return next((each for each in held if isinstance(each, type) and issubclass(each, BaseModel)), None)


def is_secret(field: FieldInfo) -> bool:
    """Return whether the values of a field are secrets."""
    return SECRET in field.metadata or any(
        each is SecretStr for each in (field.annotation, *get_args(field.annotation))
    )


def secrets_of(settings: Settings) -> Iterator[str]:
    """Yield the values of the settings that are secrets."""
    for key in SECRETS:
        value: Any = settings
        for part in key.split("."):
            value = getattr(value, part)
        if isinstance(value, SecretStr):
            yield value.get_secret_value()
        elif isinstance(value, dict):
            yield from cast("dict[str, str]", value).values()


FLAGS: dict[str, Setting] = {each.flag.name: each for each in settings_in(Settings) if each.flag is not None}
"""The settings with a command-line flag, by the flag."""

SECRETS = tuple(each.key for each in settings_in(Settings) if each.section is None and is_secret(each.field))
"""The settings whose values are masked and not stored."""

TRUSTED_ONLY = tuple(sorted(each.key for each in settings_in(Settings) if each.marked(CONSENT)))
"""The settings and sections that need the user's consent when a workspace sets them."""

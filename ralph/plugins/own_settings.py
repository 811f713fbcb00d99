"""The plug-ins' own settings: the tables `[plugins.NAME]`, read as the models that the plug-ins name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel, SecretStr, ValidationError

from ralph.errors import SettingError, nearest
from ralph.plugins.discovery import LOCAL, Plugin, failure
from ralph.settings import require_numbers, setting_error
from ralph.system.secrets import is_secret_name

MASKED = "**********"
"""The text in place of a secret where settings are stored and shown."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The settings of plug-ins, by the plug-ins' names.

    Attributes:
        origins: the source of each full key, as in `SettingsFound`.
    """

    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    origins: Mapping[str, str] = field(default_factory=dict[str, str])

    def require_known(self, names: Iterable[str]) -> None:
        """Raise `SettingError` if something is set for a plug-in that is not installed."""
        known = {*names, LOCAL}
        for name in self.values:
            if name not in known:
                remedy = nearest(name, known - {LOCAL}) or "Remove its table, or install it (`ralph plugins add`)."
                raise self._error(name, "no plug-in of that name is installed.", remedy)

    def apply(self, plugin: Plugin, model: object) -> None:
        """Read a plug-in's own settings from its table.

        Raises:
            SettingError: a value is not valid.
        """
        if not isinstance(model, type) or not issubclass(model, BaseModel):
            plugin.problems.append("ralph_settings returned something that is not a pydantic model.")
            return
        table, within = self.values.get(plugin.name), ("plugins", plugin.name)
        self._refuse_strangers(plugin, model)
        try:
            plugin.own = model.model_validate(table or {})
        except ValidationError as error:
            if table is not None:
                raise setting_error(error, self.origins, model, within) from None
            plugin.lacks = ", ".join(".".join((*within, *map(str, each["loc"]))) for each in error.errors())
        except Exception as error:  # noqa: BLE001 - a validator may raise anything
            plugin.problems.append(f"Its settings cannot be read: {failure(error)}.")
        else:
            require_numbers(table or {}, plugin.own, self.origins, ".".join((*within, "")))

    def refuse(self, plugin: Plugin) -> None:
        """Raise `SettingError` if something is set for a plug-in that has no settings."""
        for key in self.values.get(plugin.name, {}):
            raise self._error(f"{plugin.name}.{key}", "the plug-in has no settings.", "Take it out.")

    def _refuse_strangers(self, plugin: Plugin, model: type[BaseModel]) -> None:
        """Refuse keys that a model would ignore: a setting without effect is worse than none."""
        if model.model_config.get("extra") is not None:
            return
        names = {*model.model_fields, *(str(each.alias) for each in model.model_fields.values() if each.alias)}
        for key in self.values.get(plugin.name, {}):
            if key not in names:
                raise self._error(f"{plugin.name}.{key}", "there is no such setting.", nearest(key, names))

    def _error(self, key: str, problem: str, remedy: str) -> SettingError:
        prefix = f"plugins.{key.partition('.')[0]}"
        origin = next((source for name, source in self.origins.items() if name.startswith(prefix)), "the settings")
        return SettingError(f"plugins.{key}"[:200], origin, problem, remedy)


def shown_table(table: Mapping[str, Any], own: BaseModel | None) -> dict[str, Any]:
    """Return a plug-in's table as it is stored and shown; without its model, names decide what is secret."""
    read = own.model_dump(mode="json", by_alias=True) if own is not None else {}
    return {key: MASKED if is_secret_name(key) else read.get(key, value) for key, value in table.items()}


def secrets_in(value: object) -> Iterator[str]:
    """Yield the secrets that are set in a plug-in's own settings."""
    if isinstance(value, SecretStr):
        yield from filter(None, [value.get_secret_value()])
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from secrets_in(getattr(value, name))
    elif isinstance(value, Mapping):
        for each in cast("Mapping[object, object]", value).values():
            yield from secrets_in(each)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in cast("Iterable[object]", value):
            yield from secrets_in(each)

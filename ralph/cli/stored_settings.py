"""The settings of a stored run, as a source of settings again."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from ralph.decision.breaker import BreakerSettings
from ralph.plugins.own_settings import MASKED
from ralph.records.record import RunRecord
from ralph.settings import Source

__all__ = ["frozen"]

_SECRET = ("api_key", "headers")


def frozen(run: RunRecord) -> Source:
    """What a run was made with, without what is secret, which was not kept."""
    values: dict[str, Any] = {**run.settings}
    breaker, executor = values.get("breaker"), values.get("executor")
    if values.get("preset") and isinstance(breaker, dict):
        values["breaker"] = dict(_own(cast("Mapping[str, Any]", breaker)))
    if isinstance(executor, dict):
        own = cast("Mapping[str, Any]", executor)
        values["executor"] = {name: value for name, value in own.items() if name not in _SECRET}
    values["plugins"] = _kept(values.get("plugins", {}))
    return Source(f"the settings of run {run.id}", values)


def _kept(value: Any) -> Any:
    """What plug-ins were set to, without the secrets."""
    if not isinstance(value, dict):
        return value
    table = cast("dict[str, Any]", value)
    return {name: _kept(each) for name, each in table.items() if not (isinstance(each, str) and MASKED in each)}


def _own(breaker: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What was set beside a preset: they are stored with the defaults, which would go before those of the preset."""
    defaults = BreakerSettings().model_dump()
    return ((name, value) for name, value in breaker.items() if value != defaults.get(name))

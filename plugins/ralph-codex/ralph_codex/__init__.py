"""The Codex CLI as an executor of Ralph."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph_codex.executor import CodexExecutor
    from ralph_codex.settings import CodexSettings

__all__ = ["CodexExecutor", "CodexSettings"]

_HOMES = {"CodexExecutor": "ralph_codex.executor", "CodexSettings": "ralph_codex.settings"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

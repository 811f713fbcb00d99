"""The Codex CLI as an executor of Ralph."""

from typing import TYPE_CHECKING

from ralph.plugins import lazy_exports

if TYPE_CHECKING:
    from ralph_codex.executor import CodexExecutor
    from ralph_codex.settings import CodexSettings

__all__ = ["CodexExecutor", "CodexSettings"]

__getattr__, __dir__ = lazy_exports(__name__)

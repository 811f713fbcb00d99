"""The plug-in's registration. Nothing more is loaded before the executor is used."""

from ralph.plugins import executor_hooks

__all__ = ["ralph_executors", "ralph_settings"]

ralph_settings, ralph_executors = executor_hooks(
    "codex",
    "OpenAI's Codex, through its command line",
    executor="ralph_codex.executor:CodexExecutor",
    settings="ralph_codex.settings:CodexSettings",
)

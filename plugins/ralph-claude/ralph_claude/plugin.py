"""The plug-in's registration. Nothing more is loaded before the executor is used."""

from ralph.plugins import executor_hooks

__all__ = ["ralph_executors", "ralph_settings"]

ralph_settings, ralph_executors = executor_hooks(
    "claude",
    "Claude Code, through the Claude Agent SDK",
    executor="ralph_claude.executor:ClaudeExecutor",
    settings="ralph_claude.settings:ClaudeSettings",
)

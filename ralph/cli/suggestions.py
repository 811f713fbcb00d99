"""Words that users type in place of a command, and the command that they mean; tasks without quotes."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ralph.errors import nearest
from ralph.system.install import PARTS_ELSEWHERE, missing_plugin

MEANT: Mapping[str, str] = {
    **dict.fromkeys(("abort", "cancel", "end", "halt", "kill", "quit", "terminate"), "stop"),
    **dict.fromkeys(("auth", "logon", "signin"), "login"),
    **dict.fromkeys(("begin", "execute", "go", "launch", "loop", "start"), "run"),
    **dict.fromkeys(("check", "checkup", "verify"), "doctor"),
    **dict.fromkeys(("changes", "patch"), "diff"),
    **dict.fromkeys(("cost", "costs", "metrics", "usage"), "stats"),
    **dict.fromkeys(("dashboard", "gui", "ui", "web"), "serve"),
    **dict.fromkeys(("describe", "explain", "info", "inspect", "why"), "show"),
    **dict.fromkeys(("events", "log", "output", "tail"), "logs"),
    **dict.fromkeys(("example", "tour", "try", "tutorial"), "demo"),
    **dict.fromkeys(("history", "list", "ls"), "runs"),
    **dict.fromkeys(("install", "plugin"), "plugins"),
    **dict.fromkeys(("message", "msg", "say", "send"), "tell"),
    **dict.fromkeys(("monitor", "top", "tui"), "watch"),
    **dict.fromkeys(("new", "setup"), "init"),
    **dict.fromkeys(("ps", "state"), "status"),
    **dict.fromkeys(("restart", "unpause"), "resume"),
    **dict.fromkeys(("restore", "revert", "undo"), "rollback"),
    **dict.fromkeys(("setting", "settings"), "config"),
    **dict.fromkeys(("clean", "prune"), "runs prune"),
    "plan": "init --plan",
    "reset": "breaker reset",
    "version": "--version",
}

_MOST_SHOWN = 80
_PARTS = {"ralph_executors": "--executor {}", "ralph_task_sources": "--task {}:…"}


def of_command(name: str, known: Sequence[str], arguments: Sequence[str], path: str) -> str:
    """Return the remedy for an unknown command: the one that is meant, or that a task needs `ralph run` and quotes.

    Args:
        name: the word as given.
        known: the commands that exist there.
        arguments: all words of the call.
        path: the command that they belong to, such as "ralph".
    """
    if missing := missing_plugin("ralph_commands", name) if "plugins" in known else "":
        return missing
    for hook, option in _PARTS.items() if "plugins" in known else ():
        if name in PARTS_ELSEWHERE[hook]:
            return missing_plugin(hook, name) or f"It is a plug-in, for `ralph run {option.format(name)}`."
    meant = MEANT.get(name.lower(), "")
    if meant.startswith("-") or meant.partition(" ")[0] in known:
        return f"Did you mean `{path} {meant}`?"
    words = [word for word in arguments if not word.startswith("-")]
    remedy = nearest(name, known)
    if words[:1] == [name] and not remedy.endswith("?") and len(" ".join(words).split()) > 1:
        return f"Did you mean `ralph run {_quoted(words)}`?"
    return remedy


def of_left_over(extra: str, context: Any) -> str:
    """Return the message for words that are too much: an unquoted text, or an argument that a command does not take."""
    given = next((context.params[name] for name in ("prompt", "text") if context.params.get(name)), None)
    if given is None:
        return f"{extra[:_MOST_SHOWN]!r} is too much. Put quotes around a text of several words, or leave it out."
    path = " ".join(filter(None, (context.command_path, shlex.quote(context.params.get("run") or ""))))
    path = path.removesuffix(" ''")
    return f"The text is several words, and only one text can be given. Quote it: `{path} {_quoted([given, extra])}`."


def _quoted(words: Sequence[str]) -> str:
    text = " ".join(words)
    shown = text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
    return f'"{shown}"' if not set('"$`\\!') & {*shown} else shlex.quote(shown)

"""Claude Code's tools in Ralph's words: what each is about to touch."""

from collections.abc import Mapping
from typing import Any

from ralph.executors import PermissionRequest
from ralph.executors.program_output import text

__all__ = ["LOOKING", "NOT_HERE", "requested"]

LOOKING = ("Glob", "Grep", "Read")
"""The tools of a turn that only looks. What they may read is the policy's."""

NOT_HERE = (
    *("AskUserQuestion", "EnterPlanMode", "ExitPlanMode"),
    *("CronCreate", "CronDelete", "CronList", "ListAgents", "Monitor", "ScheduleWakeup", "SendMessage", "TaskStop"),
    *("EnterWorktree", "ExitWorktree"),
)
"""Tools that need the user, that continue after the turn, or that leave the workspace."""

_PATHS = {
    "Edit": ("write", ("file_path",)),
    "MultiEdit": ("write", ("file_path",)),
    "NotebookEdit": ("write", ("notebook_path",)),
    "Write": ("write", ("file_path",)),
    "Glob": ("read", ("path", "pattern")),
    "Grep": ("read", ("path",)),
    "LS": ("read", ("path",)),
    "NotebookRead": ("read", ("notebook_path",)),
    "Read": ("read", ("file_path",)),
}
_HARMLESS = frozenset({"Agent", "Skill", "Task", "TodoRead", "TodoWrite", "ToolSearch"})
"""They touch nothing by themselves; the tools of a sub-agent are requested one by one."""


def requested(tool: str, given: Mapping[str, Any]) -> PermissionRequest:
    """Return what Claude Code requests before it uses a tool. An unknown one that takes a command is a shell."""
    if tool in _PATHS:
        kind, names = _PATHS[tool]
        paths = tuple(path for name in names if (path := text(given.get(name))))
        return PermissionRequest(kind=kind, paths=paths or (".",), tool=tool)
    if tool.startswith("mcp__"):
        return PermissionRequest(kind="mcp", tool=tool.removeprefix("mcp__").replace("__", "/", 1))
    if tool in {"WebFetch", "WebSearch"}:
        return PermissionRequest(kind="url", url=text(given.get("url")), tool=tool)
    if tool == "Bash" or "command" in given:
        return PermissionRequest(kind="shell", command=text(given.get("command")))
    return PermissionRequest(kind="custom-tool", tool=tool, read_only=tool in _HARMLESS)

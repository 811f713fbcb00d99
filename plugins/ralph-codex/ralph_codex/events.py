"""What the events of `codex exec --json` mean.

An event is `{"type": "item.completed", "item": {"id": …, "type": "command_execution", …}}` and the like. What is not
known here is passed over, and nothing raises, whatever an event holds.
"""

from collections.abc import Callable

from ralph.executors import Transcript
from ralph_codex.wire import Event, as_json, listed, mapping, text

__all__ = ["TOOLS", "record_end", "record_start"]

TOOLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"})
"""The items that are uses of a tool."""


def record_start(item: Event, transcript: Transcript) -> None:
    """Puts a tool's beginning into the transcript."""
    kind = text(item.get("type"))
    name = text(item.get("tool")) if kind in {"mcp_tool_call", "collab_tool_call"} else ""
    transcript.tool_started(text(item.get("id")), name or kind, _ARGUMENTS[kind](item))


def record_end(item: Event, transcript: Transcript) -> None:
    """Puts a tool's end into the transcript."""
    status = text(item.get("status"))
    transcript.tool_finished(
        text(item.get("id")),
        success=status in {"completed", ""},  # a search on the web has no status
        result=_result(item),
        denied=status == "declined",
    )


def _result(item: Event) -> str:
    if output := text(item.get("aggregated_output")):
        return output
    if error := text(mapping(item.get("error")).get("message")):
        return error
    return "\n".join(text(part.get("text")) for part in listed(mapping(item.get("result")).get("content")))


def _changes(item: Event) -> str:
    return as_json([
        {"path": text(each.get("path")), "kind": text(each.get("kind"))} for each in listed(item.get("changes"))
    ])


_ARGUMENTS: dict[str, Callable[[Event], str]] = {
    "command_execution": lambda item: as_json({"command": text(item.get("command"))}),
    "file_change": _changes,
    "mcp_tool_call": lambda item: as_json(item.get("arguments")),
    "collab_tool_call": lambda item: as_json({"prompt": text(item.get("prompt"))}),
    "web_search": lambda item: as_json({"query": text(item.get("query"))}),
}

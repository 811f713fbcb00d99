"""A request to the model, as a script receives it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, Literal, cast

__all__ = ["Api", "Body", "ModelRequest", "api_at"]

Body = dict[str, Any]
Api = Literal["completions", "responses", "messages"]

_DATETIME = re.compile(r"\A<current_datetime>[^<]{0,100}</current_datetime>\s*")
_WORKSPACE = re.compile(r"^(?:\*| -) (?:Current|Primary) working directory: (.+)$", re.MULTILINE)
_REMINDER = "<system-reminder>"
# The kinds of its own requests that the Copilot CLI names in a header; it has no other side requests.
_SIDE = frozenset({"conversation-background", "conversation-compaction", "conversation-sampling"})


def api_at(path: str) -> Api | None:
    """Return the protocol at a path without a query."""
    ends: tuple[tuple[str, Api], ...] = (
        ("/chat/completions", "completions"),
        ("/responses", "responses"),
        ("/messages", "messages"),
    )
    return next((api for end, api in ends if path.endswith(end)), None)


@dataclass(frozen=True, eq=False)
class ModelRequest:
    """One request to the model.

    Attributes:
        number: counted from 1, side requests included.
        path: such as "/v1/chat/completions".
        headers: names in lower case; the values of those with a key are masked.
        body: the parsed JSON.
        size: of the body, in bytes.
    """

    number: int
    path: str
    headers: Mapping[str, str]
    body: Body
    size: int

    @property
    def api(self) -> Api:
        return api_at(self.path) or "completions"

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def side(self) -> bool:
        """True for the agent's own requests (a title, a summary of a long context)."""
        return self.headers.get("x-interaction-type", "") in _SIDE

    @property
    def asks(self) -> bool:
        """True if a turn begins here: not for a side request, a tool's result or a retry."""
        initiator = self.headers.get("x-initiator")
        if self.side or initiator is not None:
            return initiator == "user" and not self.side
        nothing: Body = {}
        last = next((m for m in reversed(self.messages) if m.get("role") != "system"), nothing)
        return _of_user(last) and self.headers.get("x-stainless-retry-count", "0") == "0"

    @cached_property
    def messages(self) -> tuple[Body, ...]:
        """The conversation as it was sent, tool calls and their results included."""
        sent = self.body.get("input" if self.api == "responses" else "messages", ())
        if isinstance(sent, str):
            return ({"role": "user", "content": sent},)
        return tuple(_objects(sent))

    @cached_property
    def prompt(self) -> str:
        """The user's last message without agents' additions, such as the time of day or reminders."""
        said = next((m.get("content") for m in reversed(self.messages) if _of_user(m)), "")
        own = [part for part in _objects(said) if not str(part.get("text", "")).startswith(_REMINDER)]
        return _DATETIME.sub("", _text(own or said), count=1)

    @cached_property
    def system(self) -> str:
        """The system prompt."""
        said = [_text(m.get("content")) for m in self.messages if m.get("role") in {"system", "developer"}]
        apart = str(self.body.get("instructions") or "") + _text(self.body.get("system"))
        return "\n".join([apart, *said]).strip()

    @cached_property
    def results(self) -> tuple[str, ...]:
        """The tools' results since the user's last message, oldest first."""
        found: list[str] = []
        for message in self.messages:
            if _of_user(message):
                found.clear()
            elif message.get("role") == "user":
                found += [_text(result.get("content")) for result in _results(message)]
            elif message.get("role") == "tool":
                found.append(_text(message.get("content")))
            elif str(message.get("type", "")).endswith("_call_output"):
                found.append(_text(message.get("output")))
        return tuple(found)

    @cached_property
    def tools(self) -> Mapping[str, str]:
        """The offered tools: name to type, "function" for those with JSON and "custom" for free text."""
        offered: dict[str, str] = {}
        for tool in _objects(self.body.get("tools")):
            kind = "function" if self.api == "messages" else str(tool.get("type", "function"))
            for named in (tool, *_objects([tool.get(kind)])):
                if "name" in named:
                    offered[str(named["name"])] = kind
        return offered

    def absolute(self, path: str) -> str:
        """Return the path from the agent's working folder, if its system prompt names that."""
        found = _WORKSPACE.search(self.system)
        return str(PurePath(found[1].strip()) / path) if found else path


def _of_user(message: Body) -> bool:
    return message.get("role") == "user" and not _results(message)


def _results(message: Body) -> list[Body]:
    return [part for part in _objects(message.get("content")) if part.get("type") == "tool_result"]


def _objects(value: object) -> list[Body]:
    """Return the JSON objects in a value that should be a list."""
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Body", item) for item in found if isinstance(item, dict)]


def _text(content: object) -> str:
    """Return the text of a message's content, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in _objects(content))

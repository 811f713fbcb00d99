"""A model request as a script sees it, and a model's answer as it goes over the line.

Both of OpenAI's protocols are spoken: chat completions and responses, streamed and not.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any, Literal, cast

from ralph.output import Usage

__all__ = ["Answer", "Body", "End", "ModelRequest", "ToolUse", "finished", "streamed"]

Body = dict[str, Any]
End = Literal["whole", "cut", "stall"]

_DATETIME = re.compile(r"\A<current_datetime>[^<]{0,100}</current_datetime>\s*")
_WORKSPACE = re.compile(r"^\* Current working directory: (.+)$", re.MULTILINE)
_SIDE = frozenset({"conversation-background", "conversation-compaction", "conversation-sampling"})


@dataclass(frozen=True)
class ModelRequest:
    """One request to the model.

    Attributes:
        number: counted from 1, side requests included.
        path: such as "/v1/chat/completions".
        headers: names in lower case; the values of those that carry a key are masked.
        body: the parsed JSON.
        size: of the body, in bytes.
    """

    number: int
    path: str
    headers: Mapping[str, str]
    body: Body
    size: int

    @property
    def api(self) -> Literal["completions", "responses"]:
        return "responses" if self.path.endswith("/responses") else "completions"

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def side(self) -> bool:
        """Whether the agent asks on its own account (a title, a summary of a long context) and not for the turn."""
        return self.headers.get("x-interaction-type", "") in _SIDE

    @cached_property
    def messages(self) -> tuple[Body, ...]:
        """The conversation as it was sent, tool calls and their results included."""
        sent = self.body.get("input" if self.api == "responses" else "messages", ())
        if isinstance(sent, str):
            return ({"role": "user", "content": sent},)
        return tuple(_objects(sent))

    @cached_property
    def prompt(self) -> str:
        """The text of the last message of the user, without the time of day that the Copilot CLI puts before it."""
        said = next((m.get("content") for m in reversed(self.messages) if m.get("role") == "user"), "")
        return _DATETIME.sub("", _text(said), count=1)

    @cached_property
    def system(self) -> str:
        """The system prompt."""
        said = [_text(m.get("content")) for m in self.messages if m.get("role") in {"system", "developer"}]
        return "\n".join([str(self.body.get("instructions") or ""), *said]).strip()

    @cached_property
    def results(self) -> tuple[str, ...]:
        """What the tools gave back since the last message of the user, oldest first."""
        found: list[str] = []
        for message in self.messages:
            if message.get("role") == "user":
                found.clear()
            elif message.get("role") == "tool":
                found.append(_text(message.get("content")))
            elif str(message.get("type", "")).endswith("_call_output"):
                found.append(_text(message.get("output")))
        return tuple(found)

    @cached_property
    def tools(self) -> Mapping[str, str]:
        """The tools on offer: name to type, "function" for those that take JSON and "custom" for free text."""
        offered: dict[str, str] = {}
        for tool in _objects(self.body.get("tools")):
            kind = str(tool.get("type", "function"))
            for named in (tool, *_objects([tool.get(kind)])):
                if "name" in named:
                    offered[str(named["name"])] = kind
        return offered

    def absolute(self, path: str) -> str:
        """The path seen from the agent's working folder, where its system prompt names that."""
        found = _WORKSPACE.search(self.system)
        return str(PurePath(found[1].strip()) / path) if found else path


@dataclass(frozen=True)
class ToolUse:
    """A tool that an answer asks for; `custom` where the tool takes free text."""

    id: str
    name: str
    arguments: str
    custom: bool = False


@dataclass(frozen=True)
class Answer:
    """What the model says, in neither protocol yet.

    Attributes:
        id: unique within the server.
        chunk: characters in one streamed piece.
        pace: seconds before each piece; of an answer that is not streamed, before the whole.
        end: what happens after the text: the answer is completed, or the line is dropped at once, or after
            `silence` seconds (None: when the server closes).
    """

    id: str
    model: str
    text: str = ""
    uses: Sequence[ToolUse] = ()
    usage: Usage = field(default_factory=Usage)
    chunk: int = 24
    pace: float = 0.0
    end: End = "whole"
    silence: float | None = None

    @property
    def whole(self) -> bool:
        return self.end == "whole"

    @property
    def pieces(self) -> Iterator[str]:
        """The text as it is streamed."""
        return (self.text[at : at + self.chunk] for at in range(0, len(self.text), self.chunk))


def finished(answer: Answer, request: ModelRequest) -> Body:
    """The body of an answer that is not streamed."""
    if request.api == "responses":
        return _response(answer, "completed", _items(answer))
    return {
        **_completion(answer, "chat.completion"),
        "choices": [{"index": 0, "message": _message(answer), "finish_reason": _reason(answer)}],
        "usage": _completion_usage(answer.usage),
    }


def streamed(answer: Answer, request: ModelRequest) -> Iterator[bytes]:
    """The server-sent events of a streamed answer."""
    if request.api == "responses":
        for number, event in enumerate(_response_events(answer)):
            data = json.dumps({**event, "sequence_number": number})
            yield f"event: {event['type']}\ndata: {data}\n\n".encode()
        return
    for chunk in _completion_chunks(answer):
        yield f"data: {json.dumps(chunk)}\n\n".encode()
    if answer.whole:
        yield b"data: [DONE]\n\n"


def _completion(answer: Answer, kind: str) -> Body:
    return {"id": f"chatcmpl-{answer.id}", "object": kind, "created": 0, "model": answer.model}


def _completion_chunks(answer: Answer) -> Iterator[Body]:
    head = _completion(answer, "chat.completion.chunk")

    def chunk(delta: Body, reason: str | None = None) -> Body:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in answer.pieces:
        yield chunk({"content": piece})
    if not answer.whole:
        return
    for index, call in enumerate(_tool_calls(answer)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, _reason(answer))
    yield {**head, "choices": [], "usage": _completion_usage(answer.usage)}


def _message(answer: Answer) -> Body:
    message: Body = {"role": "assistant", "content": answer.text or None}
    return {**message, "tool_calls": _tool_calls(answer)} if answer.uses else message


def _tool_calls(answer: Answer) -> list[Body]:
    return [
        {"id": use.id, "type": "custom", "custom": {"name": use.name, "input": use.arguments}}
        if use.custom
        else {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": use.arguments}}
        for use in answer.uses
    ]


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.uses else "stop"


def _completion_usage(usage: Usage) -> Body:
    return {
        "prompt_tokens": usage.input_tokens or 0,
        "completion_tokens": usage.output_tokens or 0,
        "total_tokens": usage.tokens or 0,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
    }


def _response(answer: Answer, status: str, output: list[Body]) -> Body:
    usage = answer.usage
    return {
        "id": f"resp-{answer.id}",
        "object": "response",
        "created_at": 0,
        "model": answer.model,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "output": output,
        "usage": None
        if status != "completed"
        else {
            "input_tokens": usage.input_tokens or 0,
            "output_tokens": usage.output_tokens or 0,
            "total_tokens": usage.tokens or 0,
            "input_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _items(answer: Answer) -> list[Body]:
    items = [_text_item(answer, "completed", answer.text)] if answer.text else []
    return [*items, *(_use_item(use, "completed") for use in answer.uses)]


def _text_item(answer: Answer, status: str, text: str | None = None) -> Body:
    content = [] if text is None else [_text_part(text)]
    return {"id": f"msg-{answer.id}", "type": "message", "role": "assistant", "status": status, "content": content}


def _text_part(text: str) -> Body:
    return {"type": "output_text", "text": text, "annotations": []}


def _use_item(use: ToolUse, status: str, *, begun: bool = False) -> Body:
    given = "" if begun else use.arguments
    kind, key = ("custom_tool_call", "input") if use.custom else ("function_call", "arguments")
    return {"id": f"item-{use.id}", "type": kind, "call_id": use.id, "name": use.name, key: given, "status": status}


def _response_events(answer: Answer) -> Iterator[Body]:
    yield {"type": "response.created", "response": _response(answer, "in_progress", [])}
    if answer.text:
        yield from _text_events(answer)
    if not answer.whole:
        return
    for index, use in enumerate(answer.uses, start=bool(answer.text)):
        yield from _use_events(use, index)
    yield {"type": "response.completed", "response": _response(answer, "completed", _items(answer))}


def _text_events(answer: Answer) -> Iterator[Body]:
    place: Body = {"item_id": f"msg-{answer.id}", "output_index": 0, "content_index": 0}
    yield {"type": "response.output_item.added", "output_index": 0, "item": _text_item(answer, "in_progress")}
    yield {"type": "response.content_part.added", **place, "part": _text_part("")}
    for piece in answer.pieces:
        yield {"type": "response.output_text.delta", **place, "delta": piece}
    if not answer.whole:
        return
    yield {"type": "response.output_text.done", **place, "text": answer.text}
    yield {"type": "response.content_part.done", **place, "part": _text_part(answer.text)}
    item = _text_item(answer, "completed", answer.text)
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}


def _use_events(use: ToolUse, index: int) -> Iterator[Body]:
    place: Body = {"item_id": f"item-{use.id}", "output_index": index}
    kind, key = ("custom_tool_call_input", "input") if use.custom else ("function_call_arguments", "arguments")
    item = _use_item(use, "in_progress", begun=True)
    yield {"type": "response.output_item.added", "output_index": index, "item": item}
    yield {"type": f"response.{kind}.delta", **place, "delta": use.arguments}
    yield {"type": f"response.{kind}.done", **place, key: use.arguments}
    yield {"type": "response.output_item.done", "output_index": index, "item": _use_item(use, "completed")}


def _objects(value: object) -> list[Body]:
    """The JSON objects in what should be a list of them."""
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Body", item) for item in found if isinstance(item, dict)]


def _text(content: object) -> str:
    """The text of a message's content, which is text already or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in _objects(content))

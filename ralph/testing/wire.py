"""The wire formats of chat completions, responses and messages: requests to a model, and its answers and errors."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any, Literal, cast

from ralph.types.output import Usage

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


End = Literal["whole", "cut", "stall"]


@dataclass(frozen=True)
class ToolUse:
    """A call of a tool; `custom` if the tool takes free text."""

    id: str
    name: str
    arguments: str
    custom: bool = False


@dataclass(frozen=True)
class Answer:
    """A model's answer, independent of the protocol.

    Attributes:
        id: unique within the server.
        chunk: characters in one streamed piece.
        pace: seconds before each piece, or before the whole if it is not streamed.
        end: after the text, the answer is completed, or the connection drops at once, or after `silence` seconds (None:
            when the server closes).
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

    def pieces(self, text: str) -> Iterator[str]:
        """Return the text in the pieces of a stream."""
        return (text[at : at + self.chunk] for at in range(0, len(text), self.chunk))


_OPENAI_ERRORS = {
    400: ("context_length_exceeded", "This model's maximum context length is 128000 tokens."),
    401: ("invalid_api_key", "Incorrect API key provided."),
    403: ("access_denied", "You are not allowed to use this model."),
    404: ("model_not_found", "The model does not exist."),
    429: ("rate_limit_exceeded", "Rate limit reached."),
    500: ("server_error", "The server had an error while processing your request."),
    503: ("overloaded", "The engine is currently overloaded."),
}
_ANTHROPIC_ERRORS = {
    400: ("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "model: the model does not exist"),
    413: ("request_too_large", "Request exceeds the maximum size."),
    429: ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
    500: ("api_error", "Internal server error"),
    529: ("overloaded_error", "Overloaded"),
}
"""The providers' usual codes and messages by status."""


def finished(answer: Answer, request: ModelRequest) -> Body:
    """Return the body of an answer that is not streamed."""
    match request.api:
        case "completions":
            return _completion(answer)
        case "responses":
            return _response(answer)
        case "messages":
            return _message(answer)


def streamed(answer: Answer, request: ModelRequest) -> Iterator[bytes]:
    """Yield the server-sent events of a streamed answer."""
    match request.api:
        case "completions":
            yield from _completion_stream(answer, request)
        case "responses":
            for number, event in enumerate(_response_events(answer)):
                yield _typed({**event, "sequence_number": number})
        case "messages":
            yield from map(_typed, _message_events(answer))


def error_body(status: int, message: str, code: str, api: Api) -> Body:
    """Return the body of an HTTP error; an empty message or code becomes the provider's for that status."""
    if api == "messages":
        usual, text = _ANTHROPIC_ERRORS.get(status, ("api_error", "The request failed."))
        return {"type": "error", "error": {"type": code or usual, "message": message or text}}
    usual, text = _OPENAI_ERRORS.get(status, ("error", "The request failed."))
    return {"error": {"message": message or text, "type": "error", "param": None, "code": code or usual}}


def _typed(event: Body) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _completion(answer: Answer) -> Body:
    message: Body = {"role": "assistant", "content": answer.text or None}
    if answer.uses:
        message["tool_calls"] = [_tool_call(use, use.arguments) for use in answer.uses]
    return {
        **_completion_head(answer, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": _finish_reason(answer)}],
        "usage": _completion_usage(answer.usage),
    }


def _completion_stream(answer: Answer, request: ModelRequest) -> Iterator[bytes]:
    options = request.body.get("stream_options")
    counted = isinstance(options, dict) and bool(cast("Body", options).get("include_usage"))
    for chunk in _completion_chunks(answer, counted=counted):
        yield f"data: {json.dumps(chunk)}\n\n".encode()
    if answer.whole:
        yield b"data: [DONE]\n\n"


def _completion_chunks(answer: Answer, *, counted: bool) -> Iterator[Body]:
    """Yield the chunks of a streamed chat completion; `counted` adds the usage at the end."""
    head = _completion_head(answer, "chat.completion.chunk")

    def chunk(delta: Body, reason: str | None = None) -> Body:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in answer.pieces(answer.text):
        yield chunk({"content": piece})
    if not answer.whole:
        return
    for index, use in enumerate(answer.uses):
        yield chunk({"tool_calls": [{"index": index, **_tool_call(use, "")}]})
        kind, key = _completion_names(use)
        for piece in answer.pieces(use.arguments):
            yield chunk({"tool_calls": [{"index": index, kind: {key: piece}}]})
    yield chunk({}, _finish_reason(answer))
    if counted:
        yield {**head, "choices": [], "usage": _completion_usage(answer.usage)}


def _completion_head(answer: Answer, kind: str) -> Body:
    return {"id": f"chatcmpl-{answer.id}", "object": kind, "created": 0, "model": answer.model}


def _tool_call(use: ToolUse, arguments: str) -> Body:
    kind, key = _completion_names(use)
    return {"id": use.id, "type": kind, kind: {"name": use.name, key: arguments}}


def _completion_names(use: ToolUse) -> tuple[str, str]:
    return ("custom", "input") if use.custom else ("function", "arguments")


def _finish_reason(answer: Answer) -> str:
    return "tool_calls" if answer.uses else "stop"


def _completion_usage(usage: Usage) -> Body:
    return {
        "prompt_tokens": usage.input_tokens or 0,
        "completion_tokens": usage.output_tokens or 0,
        "total_tokens": usage.tokens or 0,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
    }


def _response(answer: Answer, status: str = "completed") -> Body:
    """Return the body of a response that is completed, or has just begun."""
    completed = status == "completed"
    said = [_text_item(answer, status, answer.text)] if answer.text else []
    usage = {
        "input_tokens": answer.usage.input_tokens or 0,
        "output_tokens": answer.usage.output_tokens or 0,
        "total_tokens": answer.usage.tokens or 0,
        "input_tokens_details": {"cached_tokens": answer.usage.cache_read_tokens or 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": f"resp-{answer.id}",
        "object": "response",
        "created_at": 0,
        "model": answer.model,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "output": [*said, *(_use_item(use, status) for use in answer.uses)] if completed else [],
        "usage": usage if completed else None,
    }


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
    """Yield the events of a streamed response, each to be sent under its type and with its number."""
    yield {"type": "response.created", "response": _response(answer, "in_progress")}
    if answer.text:
        yield from _text_events(answer)
    if not answer.whole:
        return
    for index, use in enumerate(answer.uses, start=bool(answer.text)):
        yield from _use_events(answer, use, index)
    yield {"type": "response.completed", "response": _response(answer)}


def _text_events(answer: Answer) -> Iterator[Body]:
    place: Body = {"item_id": f"msg-{answer.id}", "output_index": 0, "content_index": 0}
    yield {"type": "response.output_item.added", "output_index": 0, "item": _text_item(answer, "in_progress")}
    yield {"type": "response.content_part.added", **place, "part": _text_part("")}
    for piece in answer.pieces(answer.text):
        yield {"type": "response.output_text.delta", **place, "delta": piece}
    if not answer.whole:
        return
    yield {"type": "response.output_text.done", **place, "text": answer.text}
    yield {"type": "response.content_part.done", **place, "part": _text_part(answer.text)}
    item = _text_item(answer, "completed", answer.text)
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}


def _use_events(answer: Answer, use: ToolUse, index: int) -> Iterator[Body]:
    place: Body = {"item_id": f"item-{use.id}", "output_index": index}
    kind, key = ("custom_tool_call_input", "input") if use.custom else ("function_call_arguments", "arguments")
    item = _use_item(use, "in_progress", begun=True)
    yield {"type": "response.output_item.added", "output_index": index, "item": item}
    for piece in answer.pieces(use.arguments):
        yield {"type": f"response.{kind}.delta", **place, "delta": piece}
    yield {"type": f"response.{kind}.done", **place, key: use.arguments}
    yield {"type": "response.output_item.done", "output_index": index, "item": _use_item(use, "completed")}


def _message(answer: Answer) -> Body:
    said = [{"type": "text", "text": answer.text}] if answer.text else []
    used = [{**_tool_use(use), "input": _arguments(use.arguments)} for use in answer.uses]
    return {
        **_begun(answer),
        "content": [*said, *used],
        "stop_reason": _stop_reason(answer),
        "usage": _message_usage(answer.usage, answer.usage.output_tokens or 0),
    }


def _message_events(answer: Answer) -> Iterator[Body]:
    """Yield the events of a streamed message, each to be sent under its type."""
    yield {"type": "message_start", "message": _begun(answer)}
    if answer.text:
        pieces = ({"type": "text_delta", "text": piece} for piece in answer.pieces(answer.text))
        yield from _block(0, {"type": "text", "text": ""}, pieces, whole=answer.whole)
    if not answer.whole:
        return
    for index, use in enumerate(answer.uses, start=bool(answer.text)):
        pieces = ({"type": "input_json_delta", "partial_json": piece} for piece in answer.pieces(use.arguments))
        yield from _block(index, _tool_use(use), pieces)
    usage = {"output_tokens": answer.usage.output_tokens or 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop_reason(answer), "stop_sequence": None},
        "usage": usage,
    }
    yield {"type": "message_stop"}


def _block(index: int, block: Body, pieces: Iterator[Body], *, whole: bool = True) -> Iterator[Body]:
    yield {"type": "content_block_start", "index": index, "content_block": block}
    for piece in pieces:
        yield {"type": "content_block_delta", "index": index, "delta": piece}
    if whole:
        yield {"type": "content_block_stop", "index": index}


def _begun(answer: Answer) -> Body:
    return {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _message_usage(answer.usage, 1),
    }


def _message_usage(usage: Usage, output: int) -> Body:
    """Count tokens from the cache apart from the input, not within it, as Anthropic does."""
    cached = usage.cache_read_tokens or 0
    return {
        "input_tokens": max((usage.input_tokens or 0) - cached, 0),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": output,
    }


def _tool_use(use: ToolUse) -> Body:
    return {"type": "tool_use", "id": use.id, "name": use.name, "input": {}}


def _arguments(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _stop_reason(answer: Answer) -> str:
    return "tool_use" if answer.uses else "end_turn"

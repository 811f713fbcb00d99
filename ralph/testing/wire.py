"""A model's answer as it goes over the line in OpenAI's protocols: chat completions and responses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ralph.testing.request import Body
from ralph.types.output import Usage

__all__ = ["Answer", "End", "ToolUse", "completion", "completion_chunks", "response", "response_events"]

End = Literal["whole", "cut", "stall"]


@dataclass(frozen=True)
class ToolUse:
    """A tool that an answer asks for; `custom` where the tool takes free text."""

    id: str
    name: str
    arguments: str
    custom: bool = False


@dataclass(frozen=True)
class Answer:
    """What the model says, in no protocol yet.

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

    def pieces(self, text: str) -> Iterator[str]:
        """The text as it is streamed."""
        return (text[at : at + self.chunk] for at in range(0, len(text), self.chunk))


def completion(answer: Answer) -> Body:
    """The body of a chat completion that is not streamed."""
    return {
        **_completion(answer, "chat.completion"),
        "choices": [{"index": 0, "message": _message(answer), "finish_reason": _reason(answer)}],
        "usage": _completion_usage(answer.usage),
    }


def _completion(answer: Answer, kind: str) -> Body:
    return {"id": f"chatcmpl-{answer.id}", "object": kind, "created": 0, "model": answer.model}


def completion_chunks(answer: Answer, *, counted: bool) -> Iterator[Body]:
    """The chunks of a streamed chat completion; `counted` for one with the usage at its end."""
    head = _completion(answer, "chat.completion.chunk")

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
    yield chunk({}, _reason(answer))
    if counted:
        yield {**head, "choices": [], "usage": _completion_usage(answer.usage)}


def _message(answer: Answer) -> Body:
    message: Body = {"role": "assistant", "content": answer.text or None}
    calls = [_tool_call(use, use.arguments) for use in answer.uses]
    return {**message, "tool_calls": calls} if calls else message


def _tool_call(use: ToolUse, arguments: str) -> Body:
    kind, key = _completion_names(use)
    return {"id": use.id, "type": kind, kind: {"name": use.name, key: arguments}}


def _completion_names(use: ToolUse) -> tuple[str, str]:
    return ("custom", "input") if use.custom else ("function", "arguments")


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.uses else "stop"


def _completion_usage(usage: Usage) -> Body:
    return {
        "prompt_tokens": usage.input_tokens or 0,
        "completion_tokens": usage.output_tokens or 0,
        "total_tokens": usage.tokens or 0,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
    }


def response(answer: Answer) -> Body:
    """The body of a response that is not streamed."""
    return _response(answer, "completed", _items(answer))


def _response(answer: Answer, status: str, output: list[Body]) -> Body:
    return {
        "id": f"resp-{answer.id}",
        "object": "response",
        "created_at": 0,
        "model": answer.model,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "output": output,
        "usage": _response_usage(answer.usage) if status == "completed" else None,
    }


def _response_usage(usage: Usage) -> Body:
    return {
        "input_tokens": usage.input_tokens or 0,
        "output_tokens": usage.output_tokens or 0,
        "total_tokens": usage.tokens or 0,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
        "output_tokens_details": {"reasoning_tokens": 0},
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


def response_events(answer: Answer) -> Iterator[Body]:
    """The events of a streamed response, each to be sent under its type and with its number."""
    yield {"type": "response.created", "response": _response(answer, "in_progress", [])}
    if answer.text:
        yield from _text_events(answer)
    if not answer.whole:
        return
    for index, use in enumerate(answer.uses, start=bool(answer.text)):
        yield from _use_events(answer, use, index)
    yield {"type": "response.completed", "response": response(answer)}


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

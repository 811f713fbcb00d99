"""A model's answer as it goes over the line in Anthropic's protocol, messages."""

import json
from collections.abc import Iterator
from typing import Any

from ralph.testing.request import Body
from ralph.testing.wire import Answer, ToolUse
from ralph.types.output import Usage

__all__ = ["message", "message_error", "message_events"]

_ERRORS = {
    400: ("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "model: the model does not exist"),
    413: ("request_too_large", "Request exceeds the maximum size."),
    429: ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
    500: ("api_error", "Internal server error"),
    529: ("overloaded_error", "Overloaded"),
}


def message(answer: Answer) -> Body:
    """The body of an answer that is not streamed."""
    said = [{"type": "text", "text": answer.text}] if answer.text else []
    used = [{**_tool_use(use), "input": _arguments(use.arguments)} for use in answer.uses]
    return {
        **_begun(answer),
        "content": [*said, *used],
        "stop_reason": _reason(answer),
        "usage": {**_usage(answer.usage), "output_tokens": answer.usage.output_tokens or 0},
    }


def message_events(answer: Answer) -> Iterator[Body]:
    """The events of a streamed answer, each to be sent under its type."""
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
    yield {"type": "message_delta", "delta": {"stop_reason": _reason(answer), "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def message_error(status: int, text: str, kind: str) -> Body:
    """The body of an error; an empty text or kind is what Anthropic says with that status."""
    usual, said = _ERRORS.get(status, ("api_error", "The request failed."))
    return {"type": "error", "error": {"type": kind or usual, "message": text or said}}


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
        "usage": {**_usage(answer.usage), "output_tokens": 1},
    }


def _usage(usage: Usage) -> Body:
    """Anthropic counts what was read from its cache beside the input, not within it."""
    cached = usage.cache_read_tokens or 0
    return {
        "input_tokens": max((usage.input_tokens or 0) - cached, 0),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }


def _tool_use(use: ToolUse) -> Body:
    return {"type": "tool_use", "id": use.id, "name": use.name, "input": {}}


def _arguments(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _reason(answer: Answer) -> str:
    return "tool_use" if answer.uses else "end_turn"

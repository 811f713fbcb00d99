"""The protocols that a model server speaks: an answer, or an error, as it goes over the line in each."""

import json
from collections.abc import Iterator
from typing import Final, cast

from ralph.testing.request import Api, Body, ModelRequest
from ralph.testing.steps import Fail
from ralph.testing.wire import Answer, completion, completion_chunks, response, response_events
from ralph.testing.wire_messages import message, message_error, message_events

__all__ = ["error_body", "finished", "streamed"]

_ERRORS: Final = {
    400: ("context_length_exceeded", "This model's maximum context length is 128000 tokens."),
    401: ("invalid_api_key", "Incorrect API key provided."),
    403: ("access_denied", "You are not allowed to use this model."),
    404: ("model_not_found", "The model does not exist."),
    429: ("rate_limit_exceeded", "Rate limit reached."),
    500: ("server_error", "The server had an error while processing your request."),
    503: ("overloaded", "The engine is currently overloaded."),
}
"""What OpenAI says with a status."""


def finished(answer: Answer, request: ModelRequest) -> Body:
    """The body of an answer that is not streamed."""
    match request.api:
        case "completions":
            return completion(answer)
        case "responses":
            return response(answer)
        case "messages":
            return message(answer)


def streamed(answer: Answer, request: ModelRequest) -> Iterator[bytes]:
    """The server-sent events of a streamed answer."""
    match request.api:
        case "completions":
            yield from _completion(answer, request)
        case "responses":
            for number, event in enumerate(response_events(answer)):
                yield _typed({**event, "sequence_number": number})
        case "messages":
            yield from map(_typed, message_events(answer))


def error_body(step: Fail, api: Api) -> Body:
    """The body of an HTTP error."""
    if api == "messages":
        return message_error(step.status, step.message, step.code)
    code, text = _ERRORS.get(step.status, ("error", "The request failed."))
    return {
        "error": {"message": step.message or text, "type": "error", "param": None, "code": step.code or code},
    }


def _completion(answer: Answer, request: ModelRequest) -> Iterator[bytes]:
    options = request.body.get("stream_options")
    counted = isinstance(options, dict) and bool(cast("Body", options).get("include_usage"))
    for chunk in completion_chunks(answer, counted=counted):
        yield f"data: {json.dumps(chunk)}\n\n".encode()
    if answer.whole:
        yield b"data: [DONE]\n\n"


def _typed(event: Body) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

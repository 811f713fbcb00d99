"""What the events of the Copilot runtime mean: shared by the SDK's executor and by the CLI's, which see the same ones.

An event is a dictionary `{"type": …, "data": {…}, "agentId"?: …}` as it stands on the wire, camel case and all. What
is not known here is passed over: there are some twenty kinds a turn, and new ones come with every version. None of
these functions raises, whatever an event holds.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from ralph.executors.base import Transcript
from ralph.executors.endings import kind_of_status
from ralph.types.output import Failed, FailureKind, Usage

__all__ = ["Event", "classify_failure", "ends_turn", "failure_in", "in_the_providers_words", "record"]

Event = Mapping[str, Any]

_BOUND = 300

_KINDS: dict[str, FailureKind] = {
    "authentication": "auth",
    "authorization": "refused",
    "policy": "refused",
    "quota": "rate_limited",
    "rate_limit": "rate_limited",
    "context_limit": "refused",
}
"""What the runtime calls its errors. Its general one, "query", says nothing."""

_NOT_UNDERSTOOD = re.compile(
    r"failed to parse|error decoding|unexpected eof|no response was returned|invalid json", re.IGNORECASE
)
_NOT_LOGGED_IN = re.compile(
    r"no authentication information|no github oauth token|not (?:logged in|authenticated)", re.IGNORECASE
)


def record(event: Event, transcript: Transcript) -> None:
    """Puts into the transcript what an event tells of messages, tools and usage.

    Sub-agents' messages are left out, for the last message of the turn has to be the agent's own; their tools are
    not, for these change the workspace all the same.
    """
    transcript.alive()
    data = _data(event)
    match event.get("type"):
        case "assistant.message_delta" if not _of_subagent(event):
            transcript.delta(_text(data.get("deltaContent")))
        case "assistant.message" if not _of_subagent(event):
            _record_message(data, transcript)
        case "tool.execution_start":
            transcript.tool_started(
                _text(data.get("toolCallId")), _text(data.get("toolName")), _json(data.get("arguments"))
            )
        case "tool.execution_complete":
            _record_tool_end(data, transcript)
        case "assistant.usage":
            transcript.used(_usage(data))
        case _:
            pass


def failure_in(event: Event) -> Failed | None:
    """The failure that an event tells of: of one call to the model, or of the whole turn; else None."""
    data = _data(event)
    match event.get("type"):
        case "model.call_failure":
            return classify_failure(_text(data.get("errorMessage")), status=_status(data))
        case "session.error":
            kind, code = _text(data.get("errorType")), _text(data.get("errorCode"))
            return classify_failure(_text(data.get("message")), status=_status(data), error_type=kind, code=code)
        case "abort":
            return Failed(failure="crashed", message=f"The turn was aborted: {_text(data.get('reason')) or 'unknown'}.")
        case _:
            return None


def ends_turn(event: Event) -> bool:
    """Whether the runtime's own retries after this failed call would only burn time: of a rate limit at once (they
    take a minute), of a key that was not accepted twice in a row.
    """
    if event.get("type") != "model.call_failure":
        return False
    match failure_in(event):
        case Failed(failure="rate_limited"):
            return True
        case Failed(failure="auth"):
            attempt = _data(event).get("retryAttempt")
            return isinstance(attempt, int) and attempt > 0
        case _:
            return False


def in_the_providers_words(failure: Failed, told: Failed | None) -> Failed:
    """The turn's failure as the failed call before it told it, if that was the same one.

    The runtime's own words for an error of the provider's are a guess ("Check your key" for any 403).
    """
    return told if told and told.status and told.status == failure.status else failure


def classify_failure(
    message: str,
    *,
    status: int | None = None,
    error_type: str = "",
    code: str = "",
    retry_after: float | None = None,
) -> Failed:
    """Puts a failure that the runtime reports into Ralph's kinds.

    The HTTP status decides, then the runtime's own name for the error, and only then its wording. Nothing that the
    agent wrote or read is looked at.

    Args:
        message: what it said; JSON from the provider is unwrapped.
        error_type, code: `errorType` and `errorCode` of the event.
        retry_after: in seconds.
    """
    said = " ".join(_unwrapped(message).split())[:_BOUND]
    if status is not None:
        kind = kind_of_status(status)
    elif code == "billing_not_configured":
        kind = "refused"
    else:
        kind = _KINDS.get(error_type) or _by_wording(said)
    return Failed(failure=kind, message=said, status=status, retry_after=retry_after)


def _by_wording(said: str) -> FailureKind:
    if _NOT_LOGGED_IN.search(said):
        return "auth"
    return "protocol" if _NOT_UNDERSTOOD.search(said) else "unavailable"


def _record_message(data: Event, transcript: Transcript) -> None:
    requests: Any = data.get("toolRequests")
    text, calls = _text(data.get("content")), len(cast("list[Any]", requests)) if isinstance(requests, list) else 0
    if model := _text(data.get("model")):
        transcript.model = model
    if text or calls:
        transcript.message(text, calls)


def _record_tool_end(data: Event, transcript: Transcript) -> None:
    error, result = _mapping(data.get("error")), _mapping(data.get("result"))
    transcript.tool_finished(
        _text(data.get("toolCallId")),
        success=data.get("success") is True,
        result=_text(error.get("message") if error else result.get("content")),
        denied=error.get("code") == "denied",
    )


def _usage(data: Event) -> Usage:
    return Usage(
        input_tokens=_count(data.get("inputTokens")),
        output_tokens=_count(data.get("outputTokens")),
        cache_read_tokens=_count(data.get("cacheReadTokens")),
        premium_requests=0.0 if data.get("isByok") is True else _amount(data.get("cost")),
        model_calls=1,
    )


def _of_subagent(event: Event) -> bool:
    return bool(event.get("agentId") or _data(event).get("parentToolCallId"))


def _data(event: Event) -> Event:
    return _mapping(event.get("data"))


def _mapping(value: object) -> Event:
    return cast("Event", value) if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _status(data: Event) -> int | None:
    status = data.get("statusCode")
    return status if isinstance(status, int) and 100 <= status <= 999 else None


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e15 else None


def _amount(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e15 else None


def _json(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def _unwrapped(message: str) -> str:
    """The sentence in a provider's error; `model.call_failure` gives it as JSON text, often of an object."""
    if len(message) > 10_000 or not message.startswith(("{", '"')):
        return message[:10_000]
    try:
        value: Any = json.loads(message)
    except (ValueError, RecursionError):
        return message
    inner = _mapping(value).get("error", value)
    found = _mapping(inner).get("message", inner)
    return found if isinstance(found, str) else message

"""The events of the Copilot runtime, which the SDK's executor and the CLI's see alike, and what its log adds to them.

An event is a dictionary `{"type": …, "data": {…}, "agentId"?: …}` as it stands on the wire, in camel case. Unknown
ones are left out: there are some twenty kinds a turn, and new ones come with every version. None of these functions
raises, whatever an event holds.

No event carries the Retry-After of a 429 (seen with 1.0.102); the runtime's log has it, from the level "warning" on,
in a line like

    … [WARNING] [rust:model_events::producer] Model provider request failed {"http_status":429,…,"retry_after_ms":2000}

So the runtime gets a log folder of its own.
"""

import json
import re
from pathlib import Path
from typing import Any

import anyio

from ralph.executors import failures
from ralph.executors.base import Transcript
from ralph.executors.failures import Wordings
from ralph.executors.program_output import Event, as_json, mapping, number, text, texts, whole
from ralph.system.files import parsed, read_regular
from ralph.types import evolve
from ralph.types.output import Failed, FailureKind, Usage

_KINDS: dict[str, FailureKind] = {
    "authentication": "auth",
    "authorization": "refused",
    "policy": "refused",
    "quota": "rate_limited",
    "rate_limit": "rate_limited",
    "context_limit": "refused",
}
"""The runtime's names for its errors. Its general one, "query", says nothing."""

_WORDS: dict[FailureKind, str] = {
    "auth": r"no authentication information|no github oauth token|not (?:logged in|authenticated)",
    "protocol": r"failed to parse|error decoding|unexpected eof|no response was returned|invalid json",
}
_WORDINGS: Wordings = tuple((kind, re.compile(words, re.IGNORECASE)) for kind, words in _WORDS.items())

_LOGGED = b"Model provider request failed {"
_LOG_TAIL = 65_536


def record(event: Event, transcript: Transcript) -> None:
    """Put the messages, tools and usage of an event into the transcript.

    A sub-agent's messages are left out, because the last message of the turn has to be the agent's own; its tools are
    not, because they change the workspace too.
    """
    transcript.alive()
    data = _data(event)
    match event.get("type"):
        case "assistant.message_delta" if not _of_subagent(event):
            transcript.delta(text(data.get("deltaContent")))
        case "assistant.message" if not _of_subagent(event):
            _record_message(data, transcript)
        case "tool.execution_start":
            transcript.tool_started(
                text(data.get("toolCallId")), text(data.get("toolName")), as_json(data.get("arguments"))
            )
        case "tool.execution_complete":
            _record_tool_end(data, transcript)
        case "assistant.usage":
            cost = 0.0 if data.get("isByok") is True else number(data.get("cost"))
            transcript.used(evolve(tokens_of(data), premium_requests=cost, model_calls=1))
        case _:
            pass


def failure_in(event: Event) -> Failed | None:
    """Return the failure that an event reports: of one call to the model, or of the whole turn; else None."""
    data = _data(event)
    match event.get("type"):
        case "model.call_failure":
            return classify_failure(text(data.get("errorMessage")), status=_status(data))
        case "session.error":
            kind, code = text(data.get("errorType")), text(data.get("errorCode"))
            return classify_failure(text(data.get("message")), status=_status(data), error_type=kind, code=code)
        case "abort":
            return Failed(failure="crashed", message=f"The turn was aborted: {text(data.get('reason')) or 'unknown'}.")
        case _:
            return None


def ends_turn(event: Event) -> bool:
    """Return True if the runtime's own retries after this failed call would only take time.

    That is a rate limit (they take a minute), and a key that was not accepted twice in a row.
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


def in_the_providers_words(failure: Failed, call: Failed | None) -> Failed:
    """Return the turn's failure in the words of the failed call before it, if both have the same status.

    The runtime's own words for a provider's error are a guess ("Check your key" for any 403).
    """
    return call if call and call.status and call.status == failure.status else failure


def classify_failure(message: str, *, status: int | None = None, error_type: str = "", code: str = "") -> Failed:
    """Return a failure that the runtime reports, in Ralph's kinds.

    The HTTP status decides, then the runtime's own name for the error, and only then its wording.

    Args:
        message: the runtime's; JSON from the provider is unwrapped.
        error_type: `errorType` of the event.
        code: `errorCode` of the event.
        status: the HTTP status of the provider.
    """
    kind = "refused" if code == "billing_not_configured" else _KINDS.get(error_type)
    return failures.classify_failure(_unwrapped(message), status=status, kind=kind, wordings=_WORDINGS)


def _record_message(data: Event, transcript: Transcript) -> None:
    said, calls = text(data.get("content")), len(texts(data.get("toolRequests")))
    if model := text(data.get("model")):
        transcript.model = model
    if said or calls:
        transcript.message(said, calls)


def _record_tool_end(data: Event, transcript: Transcript) -> None:
    error, result = mapping(data.get("error")), mapping(data.get("result"))
    transcript.tool_finished(
        text(data.get("toolCallId")),
        success=data.get("success") is True,
        result=text(error.get("message") if error else result.get("content")),
        denied=error.get("code") == "denied",
    )


def tokens_of(data: Event) -> Usage:
    """Return the tokens of a call to the model."""
    return Usage(
        input_tokens=whole(data.get("inputTokens")),
        output_tokens=whole(data.get("outputTokens")),
        cache_read_tokens=whole(data.get("cacheReadTokens")),
    )


def _of_subagent(event: Event) -> bool:
    return bool(event.get("agentId") or _data(event).get("parentToolCallId"))


def _data(event: Event) -> Event:
    return mapping(event.get("data"))


def _status(data: Event) -> int | None:
    status = data.get("statusCode")
    return status if isinstance(status, int) and 100 <= status <= 999 else None


def _unwrapped(message: str) -> str:
    """Return the sentence in a provider's error; `model.call_failure` has it as JSON text, often of an object."""
    if len(message) > 10_000 or not message.startswith(("{", '"')):
        return message[:10_000]
    try:
        value: Any = json.loads(message)
    except (ValueError, RecursionError):
        return message
    inner = mapping(value).get("error", value)
    found = mapping(inner).get("message", inner)
    return found if isinstance(found, str) else message


async def logged_retry_after(folder: Path, patience: float = 0.25, after: int = 0) -> float | None:
    """Return the wait that the provider asked for, in seconds, at the latest rate limit in a log folder.

    Args:
        patience: seconds to wait for the line, which may come a moment after the event.
        after: bytes at the beginning of a log to leave out: they belong to earlier turns.
    """
    pause = 0.005
    with anyio.move_on_after(patience):
        while (line := _latest(folder, after)) is None:
            await anyio.sleep(pause)
            pause *= 2
        wait = line.get("retry_after_ms")
        return wait / 1000 if isinstance(wait, int | float) and 0 <= wait < 1e12 else None
    return None


def _latest(folder: Path, after: int) -> Event | None:
    try:
        logs = sorted(folder.glob("*.log"), key=lambda path: path.name)
    except OSError:
        return None
    for log in reversed(logs):
        for piece in reversed(_tail(log, after).split(_LOGGED)[1:]):
            line = mapping(parsed(b"{" + piece.split(b"\n", 1)[0]))
            if line.get("http_status") == 429:
                return line
    return None


def _tail(path: Path, after: int) -> bytes:
    try:
        return read_regular(path, _LOG_TAIL, offset=max(after, path.lstat().st_size - _LOG_TAIL))
    except OSError:
        return b""

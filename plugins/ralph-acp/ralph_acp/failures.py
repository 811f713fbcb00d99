"""The failures that an agent reports through the protocol, in Ralph's kinds."""

from collections.abc import Mapping
from typing import Any

from ralph.executors import classify_failure, status_in, wait_in
from ralph.executors.program_output import mapping, text
from ralph.types import evolve
from ralph.types.output import Failed

__all__ = ["classify"]

_AUTH_REQUIRED = -32_000
_NOT_FOUND = -32_002
_STATUSES = ("statusCode", "status_code", "status", "http_status", "code")


def classify(message: str, *, code: object = None, data: object = None, retry_after: float | None = None) -> Failed:
    """Return the failure: by the HTTP status if there is one, then by the protocol's own code, then by the wording.

    Args:
        message: the agent's.
        code: of a JSON-RPC error.
        data: of a JSON-RPC error.
        retry_after: in seconds, if it is known from elsewhere.
    """
    said, details = _stripped(text(message)), mapping(data)
    failure = classify_failure(
        said,
        status=_status(said, details),
        kind="auth" if code == _AUTH_REQUIRED else "refused" if code == _NOT_FOUND else None,
    )
    if failure.failure == "unavailable" and failure.status is None:
        failure = evolve(failure, failure=classify_failure(text(details.get("message"))).failure)
    if failure.failure != "rate_limited":
        return failure
    return evolve(failure, retry_after=wait_in(failure.message) if retry_after is None else retry_after)


def _stripped(message: str) -> str:
    said = " ".join(message[:10_000].split())
    return said.removeprefix("Internal error: ").removeprefix("Error: ")


def _status(said: str, details: Mapping[str, Any]) -> int | None:
    for name in _STATUSES:
        value = details.get(name)
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return status_in(said[:300])

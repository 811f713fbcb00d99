"""What an agent says of its failure, put into Ralph's kinds. Nothing that the model wrote is looked at."""

import re
from collections.abc import Mapping
from typing import Any

from ralph.executors import kind_of_status
from ralph.types.output import Failed, FailureKind
from ralph_acp.values import mapping, text

__all__ = ["classify"]

_BOUND = 300
_AUTH_REQUIRED = -32_000
_NOT_FOUND = -32_002
_STATUSES = ("statusCode", "status_code", "status", "http_status", "code")
_STATUS = re.compile(r"(?:\A|HTTP |status |status code |code |error: )(4\d\d|5\d\d)\b", re.IGNORECASE)
_WAIT = re.compile(r"(?:try again|retry) (?:in|after) (\d{1,6}(?:\.\d{1,3})?) ?(ms|m\b|min|s|h)?", re.IGNORECASE)
_UNITS = {"ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}

_WORDINGS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    ("rate_limited", re.compile(r"rate.?limit|too many requests|quota|usage limit", re.IGNORECASE)),
    ("auth", re.compile(r"api.?key|unauthori[sz]ed|authenticat|not logged in|log ?in (?:to|first)", re.IGNORECASE)),
    ("refused", re.compile(r"does not exist|not found|forbidden|context length|too long|not supported", re.IGNORECASE)),
    ("protocol", re.compile(r"pars(?:e|ing) |invalid json|unexpected (?:token|eof)|invalid params", re.IGNORECASE)),
)


def classify(message: str, *, code: object = None, data: object = None, retry_after: float | None = None) -> Failed:
    """The failure: by the HTTP status where one is told, then by the protocol's own code, then by the wording.

    Args:
        code, data: of a JSON-RPC error.
        retry_after: in seconds, where it is known from elsewhere.
    """
    said = " ".join(text(message)[:10_000].split()).removeprefix("Internal error: ").removeprefix("Error: ")[:_BOUND]
    told = mapping(data)
    status = _status(said, told)
    if status is not None:
        kind = kind_of_status(status)
    elif code == _AUTH_REQUIRED:
        kind = "auth"
    else:
        kind = "refused" if code == _NOT_FOUND else _by_wording(f"{said} {text(told.get('message'))[:_BOUND]}")
    wait = retry_after if retry_after is not None else _wait(said)
    return Failed(failure=kind, message=said, status=status, retry_after=wait if kind == "rate_limited" else None)


def _status(said: str, told: Mapping[str, Any]) -> int | None:
    for name in _STATUSES:
        value = told.get(name)
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    found = _STATUS.search(said) or re.search(r"\bLast error: ([45]\d\d)\b", said)
    return int(found[1]) if found else None


def _by_wording(said: str) -> FailureKind:
    for kind, wording in _WORDINGS:
        if wording.search(said):
            return kind
    return "unavailable"


def _wait(said: str) -> float | None:
    found = _WAIT.search(said)
    return float(found[1]) * _UNITS.get((found[2] or "s").lower(), 1.0) if found else None

"""An agent's failure in Ralph's kinds and in words: by HTTP status, by exit status, by wording."""

import re
from collections.abc import Iterable
from datetime import datetime
from signal import Signals

from ralph.analysis.reset_time import seconds_left
from ralph.types.output import Failed, FailureKind

Wordings = Iterable[tuple[FailureKind, re.Pattern[str]]]
"""Kinds of failure by what a message says; the first that matches counts."""

WORDINGS: Wordings = (
    ("rate_limited", re.compile(r"rate.?limit|too many requests|quota|usage limit", re.IGNORECASE)),
    ("auth", re.compile(r"api.?key|unauthori[sz]ed|authenticat|not logged in|log ?in (?:to|first)", re.IGNORECASE)),
    ("refused", re.compile(r"does not exist|not found|forbidden|context length|too long|not supported", re.IGNORECASE)),
    ("protocol", re.compile(r"pars(?:e|ing) |invalid json|unexpected (?:token|eof)|invalid params", re.IGNORECASE)),
)
"""The wordings that most agents have in common."""

_NETWORK = re.compile(
    r"\bE(?:AI_AGAIN|NOTFOUND|CONN(?:REFUSED|RESET|ABORTED)|TIMEDOUT|HOSTUNREACH|NETUNREACH|NETDOWN)\b|NXDOMAIN"
    r"|(?i:name resolution|resolve host|host not found|dns error|network is (?:unreachable|down)|no route to host)"
)
_BOUND = 300
_STATUS = re.compile(
    r"(?:\A|HTTP |status |status code |code |error: )(4\d\d|5\d\d)\b|\bLast error: ([45]\d\d)\b", re.IGNORECASE
)


def kind_of_status(status: int) -> FailureKind:
    """Return the kind of failure that an HTTP status of the model's service stands for."""
    if status == 401:
        return "auth"
    if status in {402, 429}:
        return "rate_limited"
    if status in {408, 409, 425} or status >= 500:
        return "unavailable"
    return "refused" if status >= 400 else "protocol"


def describe_exit(code: int | None) -> str:
    """Return `Running.code` in words: "ended with status 1", or for a negative one "was killed by SIGKILL"."""
    if code is None:
        return "does not end"
    if code >= 0:
        return f"ended with status {code}"
    try:
        return f"was killed by {Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def classify_failure(
    message: str,
    *,
    status: int | None = None,
    kind: FailureKind | None = None,
    wordings: Wordings = WORDINGS,
    otherwise: FailureKind = "unavailable",
    retry_after: float | None = None,
) -> Failed:
    """Return the failure that an agent reports: the status decides, then `kind`, and only then the wording.

    Args:
        message: what the agent reported; never what the model or a tool wrote.
        status: the HTTP status of the model's service.
        kind: the kind that the agent's own name for the failure stands for.
        otherwise: for a message that none of the wordings matches.
        retry_after: in seconds.
        wordings: of the agent's messages.
    """
    said = " ".join(message[:10_000].split())[:_BOUND]
    found = kind or _worded(said, wordings) or otherwise
    if status is not None:
        found = kind_of_status(status)
    elif found != "rate_limited" and _NETWORK.search(said):
        found = "unavailable"  # a login, too, can fail because the network does
    return Failed(failure=found, message=said, status=status, retry_after=retry_after)


def _worded(said: str, wordings: Wordings) -> FailureKind | None:
    for kind, wording in wordings:
        if wording.search(said):
            return kind
    return None


def status_in(message: str) -> int | None:
    """Return the HTTP status that a message names, as in "HTTP 503" or "status code 429"; None if it names none."""
    found = _STATUS.search(message[:10_000])
    return int(found[1] or found[2]) if found else None


def wait_in(message: str, now: datetime | None = None) -> float | None:
    """Return the wait that a message asks for, in seconds; None if it names none.

    For example "try again in 2 hours 5 minutes", "retry after 30s", "try again at 3:04 PM", "resets Nov 24, 9:30am
    (Europe/Berlin)" or "limit reached|1795258018".

    Args:
        now: with the zone of times that name none; by default this machine's time and zone.
    """
    return seconds_left(message[:10_000], now or datetime.now().astimezone())

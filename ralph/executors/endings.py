"""What the end of an agent's program, or the answer of its model's service, means: in Ralph's kinds, and in words."""

from signal import Signals

from ralph.types.output import FailureKind

__all__ = ["how_it_ended", "kind_of_status"]


def kind_of_status(status: int) -> FailureKind:
    """The kind of failure that an HTTP status of the model's service stands for."""
    if status == 401:
        return "auth"
    if status in {402, 429}:
        return "rate_limited"
    if status in {408, 409, 425} or status >= 500:
        return "unavailable"
    return "refused" if status >= 400 else "protocol"


def how_it_ended(code: int | None) -> str:
    """`Running.code` in words: "ended with status 1", or for a negative one "was killed by SIGKILL"."""
    if code is None:
        return "does not end"
    if code >= 0:
        return f"ended with status {code}"
    try:
        return f"was killed by {Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"

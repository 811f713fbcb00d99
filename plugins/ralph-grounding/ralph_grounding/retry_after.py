"""The header Retry-After, in which a busy server names the time for the next request."""

import math
import time
from email.utils import parsedate_to_datetime

__all__ = ["named_wait"]


def named_wait(header: str) -> float | None:
    """Parse a Retry-After header, a number or a date, into seconds; None if it is not valid."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None

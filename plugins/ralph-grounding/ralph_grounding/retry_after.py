"""The header Retry-After, by which a busy server says when it may be asked again."""

import math
import time
from email.utils import parsedate_to_datetime

__all__ = ["named_wait"]


def named_wait(header: str) -> float | None:
    """The seconds that a header Retry-After names, by their number or by a moment; None where it cannot be read."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None

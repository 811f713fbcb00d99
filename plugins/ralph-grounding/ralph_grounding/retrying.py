"""Retries with growing waits: 1 s, 2 s, 4 s … up to 60 s, each shortened at random by up to a quarter.

A busy server names the time for the next request in the header Retry-After.
"""

import math
import random
import time
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import TypeVar

from ralph_grounding.errors import ProviderError

__all__ = ["MOST", "Sleep", "named_wait", "retry"]


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


_T = TypeVar("_T")

Sleep = Callable[[float], Awaitable[None]]
"""Waits the given number of seconds."""

MOST = 60.0
"""The longest wait, in seconds. A provider that demands a longer one is not called again."""

_JITTER = 0.25


async def retry(call: Callable[[], Awaitable[_T]], *, retries: int, sleep: Sleep | None = None) -> _T:
    """Return the call's result, after at most `retries` retries.

    A retry happens only if it may help, and not before the time that the provider named.

    Args:
        call: the call.
        retries: number of attempts after the first.
        sleep: waits, in seconds; None for real time.

    Raises:
        ProviderError: that of the last attempt.
    """
    import anyio
    from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

    def wait(state: RetryCallState) -> float:
        error = state.outcome and state.outcome.exception()
        named = error.retry_after if isinstance(error, ProviderError) else None
        grown = min(2.0 ** (state.attempt_number - 1), MOST)
        return max(grown * random.uniform(1 - _JITTER, 1), named or 0.0)  # noqa: S311 - no secret hangs on it

    async def once() -> _T:
        return await call()

    attempts = AsyncRetrying(
        retry=retry_if_exception(_may_help),
        stop=stop_after_attempt(retries + 1),
        wait=wait,
        sleep=sleep or anyio.sleep,
        reraise=True,
    )
    return await attempts(once)


def _may_help(error: BaseException) -> bool:
    return isinstance(error, ProviderError) and error.again and (error.retry_after or 0.0) <= MOST

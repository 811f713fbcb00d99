"""Trying again, with waits that grow: 1 s, 2 s, 4 s … up to 60 s, each shorter by chance, by up to a quarter."""

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ralph_grounding.errors import ProviderError

__all__ = ["MOST", "Sleep", "tried"]

_T = TypeVar("_T")

Sleep = Callable[[float], Awaitable[None]]
"""Waits so many seconds."""

MOST = 60.0
"""Seconds of the longest wait. Who asks for a longer one is not asked again."""

_JITTER = 0.25


async def tried(call: Callable[[], Awaitable[_T]], *, retries: int, sleep: Sleep | None = None) -> _T:
    """What the call returns, after at most so many further tries.

    It is tried again only where that may help, and not before the time that the provider named.

    Args:
        retries: after the first try.
        sleep: how to wait; None for real time.

    Raises:
        ProviderError: that of the last try.
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

"""A provider that may fail, with retries and at last a comparison of words instead."""

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Self, TypeVar

from ralph_grounding.errors import ProviderError, Trouble
from ralph_grounding.retrying import Sleep, retry
from ralph_grounding.similarity.base import Nearest, Similarity, SimilarityProvider, Support
from ralph_grounding.telemetry import count_error

__all__ = ["Fallback"]

_T = TypeVar("_T")

_MISTAKES: frozenset[Trouble] = frozenset({"key", "model"})
"""Failures that the user has to fix: a fallback to words would only hide them."""

_LASTING: frozenset[Trouble] = frozenset({"protocol", "rate_limit"})
"""Failures that the next text meets as well, though a retry does not help: no vectors in any answer, a used-up quota.
"""


class Fallback(SimilarityProvider):
    """Provider that calls another one, and a substitute if that fails; its answers then have `Similarity.fallback` set.

    A temporary failure is retried. After several failures in a row the circuit opens: the substitute answers at once
    for a while, and then a single call decides whether to close it. A rejected text says nothing about the next one. A
    rejected key and an unknown model raise.

    Args:
        first: the provider to call.
        other: the substitute; it must not fail.
        retries: number of attempts after the first.
        patience: the number of failures in a row that opens the circuit.
        cool_down: how long it stays open, in seconds; longer if the provider named a longer time.
        sleep: waits, in seconds; None for real time.
        clock: a monotonic clock, in seconds.

    Attributes:
        trouble: the reason for the substitute's last answer; empty if there was none.
    """

    def __init__(
        self,
        first: SimilarityProvider,
        other: SimilarityProvider,
        *,
        retries: int = 3,
        failure_threshold: int = 3,
        reset_timeout: float = 60.0,
        sleep: Sleep | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = first.name
        self.trouble = ""
        self._first, self._other = first, other
        self._retries, self._failure_threshold, self._reset_timeout = retries, failure_threshold, reset_timeout
        self._sleep, self._clock = sleep, clock
        self._failures = 0
        self._left_alone_until = -math.inf

    async def __aenter__(self) -> Self:
        await self._other.__aenter__()
        try:
            await self._first.__aenter__()
        except BaseException:
            await self._other.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(self, *raised: object) -> None:
        try:
            await self._first.__aexit__(*raised)
        finally:
            await self._other.__aexit__(*raised)

    async def supports(self, claims: Sequence[str], response: str) -> list[Support]:
        answer = await self._asked(lambda: self._first.supports(claims, response))
        if answer is not None:
            return answer
        found = await self._other.supports(claims, response)
        return [support._replace(similarity=_by_other(support.similarity)) for support in found]

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        answer = await self._asked(lambda: self._first.agreement(reference, response, question))
        if answer is not None:
            return answer
        return _by_other(await self._other.agreement(reference, response, question))

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        answer = await self._asked(lambda: self._first.nearest(segments, passages))
        if answer is not None:
            return answer
        found = await self._other.nearest(segments, passages)
        return [nearest._replace(similarity=_by_other(nearest.similarity)) for nearest in found]

    async def _asked(self, call: Callable[[], Awaitable[_T]]) -> _T | None:
        """Call the first provider; None if the substitute should answer."""
        if self._clock() < self._left_alone_until:
            return None
        weary = self._failures >= self._failure_threshold
        if weary:
            self._leave_alone()  # except for this one attempt, however many tasks call meanwhile
        try:
            answer = await retry(call, retries=0 if weary else self._retries, sleep=self._sleep)
        except ProviderError as error:
            count_error(error.kind)
            if error.kind in _MISTAKES:
                raise
            self._failed(error)
            return None
        self._failures, self._left_alone_until = 0, -math.inf
        return answer

    def _failed(self, error: ProviderError) -> None:
        self.trouble = str(error)
        if not error.again and error.kind not in _LASTING:
            return  # the provider rejects this text: the next one may pass
        self._failures += 1
        if self._failures >= self._failure_threshold:
            self._leave_alone(error.retry_after or 0.0)

    def _leave_alone(self, named: float = 0.0) -> None:
        self._left_alone_until = self._clock() + max(self._reset_timeout, named)


def _by_other(similarity: Similarity) -> Similarity:
    return similarity._replace(fallback=True)

"""A provider that may fail, and what is done then: it is asked again, and at last words are compared instead."""

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Self, TypeVar

from ralph_grounding.errors import ProviderError, Trouble
from ralph_grounding.measures import count_error
from ralph_grounding.retrying import Sleep, tried
from ralph_grounding.similarity.base import Nearest, Similarity, SimilarityProvider, Support

__all__ = ["Fallback"]

_T = TypeVar("_T")

_MISTAKES: frozenset[Trouble] = frozenset({"key", "model"})
"""What a person has to mend: words instead would only hide it."""

_LASTING: frozenset[Trouble] = frozenset({"protocol", "rate_limit"})
"""What the next text meets as well, though another try does not help: no vectors in any answer, a quota used up."""


class Fallback(SimilarityProvider):
    """Asks a provider, and where it fails for good another one, whose answers then say so (`Similarity.fallback`).

    A failure that may pass is waited for. After several in a row nobody waits any more: for a while the other provider
    answers at once, and then a single try decides whether the first one is asked again. A text that is not taken says
    nothing of the next one. A key that is not accepted and a model that is not there are raised.

    Args:
        first: whom to ask.
        other: who answers instead; it has to be one that does not fail.
        retries: after the first try.
        patience: how many failures in a row.
        cool_down: how long the first provider is left alone then, in seconds; longer where it named a longer time.
        sleep: how to wait; None for real time.
        clock: seconds that only grow.

    Attributes:
        trouble: why the other provider answered last; empty where it never had to.
    """

    def __init__(
        self,
        first: SimilarityProvider,
        other: SimilarityProvider,
        *,
        retries: int = 3,
        patience: int = 3,
        cool_down: float = 60.0,
        sleep: Sleep | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = first.name
        self.trouble = ""
        self._first, self._other = first, other
        self._retries, self._patience, self._cool_down = retries, patience, cool_down
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
        """What the first provider answers; None where the other one is to be asked."""
        if self._clock() < self._left_alone_until:
            return None
        weary = self._failures >= self._patience
        if weary:
            self._leave_alone()  # but for this one try, whoever else asks meanwhile
        try:
            answer = await tried(call, retries=0 if weary else self._retries, sleep=self._sleep)
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
            return  # it is the text that the provider does not take: the next one may pass
        self._failures += 1
        if self._failures >= self._patience:
            self._leave_alone(error.retry_after or 0.0)

    def _leave_alone(self, named: float = 0.0) -> None:
        self._left_alone_until = self._clock() + max(self._cool_down, named)


def _by_other(similarity: Similarity) -> Similarity:
    return similarity._replace(fallback=True)

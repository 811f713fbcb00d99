"""What is done where a provider of similarity fails."""

from collections.abc import Callable, Sequence

import pytest

from ralph_grounding.errors import ProviderError
from ralph_grounding.similarity.base import Nearest, Similarity, SimilarityProvider, Support
from ralph_grounding.similarity.fallback import Fallback
from ralph_grounding.similarity.lexical import LexicalProvider


class Failing(SimilarityProvider):
    """Fails as often as it is told, and then finds everything alike."""

    name = "endpoint:failing"

    def __init__(self, *errors: ProviderError) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def supports(self, claims: Sequence[str], response: str) -> list[Support]:
        self._fail()
        return [Support(Similarity(1, 1), 0, len(response)) for _ in claims]

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        self._fail()
        return Similarity(1, 1)

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        self._fail()
        return [Nearest(0, Similarity(1, 1)) for _ in segments]

    def _fail(self) -> None:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)


class Waits:
    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def down() -> ProviderError:
    return ProviderError("The endpoint is down.", kind="server", again=True)


def falling_back(first: SimilarityProvider, waits: Waits, clock: Callable[[], float] = lambda: 0.0) -> Fallback:
    return Fallback(first, LexicalProvider(), sleep=waits, clock=clock)


async def test_a_failure_that_passes_is_waited_for() -> None:  # covers: S3-162
    failing, waits = Failing(down(), down()), Waits()
    assert await falling_back(failing, waits).agreement("Yes.", "No.") == Similarity(1, 1)
    assert (failing.calls, len(waits.seconds)) == (3, 2)


async def test_after_the_last_try_words_are_compared_and_the_result_says_so() -> None:  # covers: S3-163, K3-17
    failing, waits = Failing(*(down() for _ in range(12))), Waits()
    async with falling_back(failing, waits) as provider:
        agreement = await provider.agreement("Dogs wait outside.", "Dogs wait outside.")
        (support,) = await provider.supports(["Dogs wait outside."], "Dogs wait outside.")
        (nearest,) = await provider.nearest(["Dogs wait outside."], ["Dogs wait outside."])
    assert failing.calls == 12
    assert [agreement.fallback, support.similarity.fallback, nearest.similarity.fallback] == [True] * 3
    assert (agreement.value > 0.75, support.similarity.value > 0.75, nearest.passage) == (True, True, 0)
    assert provider.trouble == "The endpoint is down."
    assert provider.name == "endpoint:failing"


async def test_after_three_failures_nobody_waits_until_the_cool_down_is_over() -> None:
    now = [0.0]
    failing, waits = Failing(*(down() for _ in range(13))), Waits()
    provider = falling_back(failing, waits, lambda: now[0])
    for _ in range(10):
        assert (await provider.agreement("Yes.", "Yes.")).fallback
    assert (failing.calls, len(waits.seconds)) == (12, 9)

    now[0] = 61.0  # one try decides, and fails
    for _ in range(3):
        assert (await provider.agreement("Yes.", "Yes.")).fallback
    assert (failing.calls, len(waits.seconds)) == (13, 9)

    now[0] = 122.0  # and now passes
    for _ in range(3):
        assert not (await provider.agreement("Yes.", "Yes.")).fallback
    assert failing.calls == 16


async def test_a_text_that_the_model_does_not_take_is_compared_by_words_at_once() -> None:
    waits = Waits()
    failing = Failing(*(ProviderError("Too long.", kind="too_long") for _ in range(5)))
    provider = falling_back(failing, waits)
    fallbacks = [(await provider.agreement("Yes.", "Yes.")).fallback for _ in range(6)]
    assert (fallbacks, failing.calls, waits.seconds) == ([True] * 5 + [False], 6, [])


@pytest.mark.parametrize("kind", ["rate_limit", "protocol"])
async def test_what_no_text_gets_past_is_not_tried_with_each_of_them(kind: str) -> None:
    failing = Failing(*(ProviderError("No.", kind=kind) for _ in range(9)))  # pyright: ignore[reportArgumentType]
    waits = Waits()
    provider = falling_back(failing, waits)
    fallbacks = [(await provider.agreement("Yes.", "Yes.")).fallback for _ in range(9)]
    assert (fallbacks, failing.calls, waits.seconds) == ([True] * 9, 3, [])


async def test_a_provider_that_names_a_longer_time_is_left_alone_for_so_long() -> None:
    now = [0.0]
    error = ProviderError("Come back in an hour.", kind="rate_limit", again=True, retry_after=3600)
    failing = Failing(error, error, error)
    provider = falling_back(failing, Waits(), lambda: now[0])
    for now[0] in (0.0, 0.0, 0.0, 61.0, 3599.0):
        assert (await provider.agreement("Yes.", "Yes.")).fallback
    assert failing.calls == 3
    now[0] = 3601.0
    assert not (await provider.agreement("Yes.", "Yes.")).fallback


@pytest.mark.parametrize("kind", ["key", "model"])
async def test_what_a_person_has_to_mend_is_raised(kind: str) -> None:
    failing = Failing(ProviderError("Mend me.", kind=kind))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ProviderError, match="Mend me"):
        await falling_back(failing, Waits()).agreement("Yes.", "Yes.")

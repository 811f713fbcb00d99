"""The limits of a run, compared with what it has used.

A limit on a quantity that the executor does not measure is refused at the start: it would never apply.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from ralph.errors import UnmeasurableLimitError
from ralph.system.declarations import LIMITS, Duration, Flag, Tighter
from ralph.system.text import duration
from ralph.types import evolve
from ralph.types.output import Usage

_HOUR = timedelta(hours=1)
_MOST = 10**12


class Price(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The price of a model, in US dollars per million tokens."""

    input: NonNegativeFloat = Field(description="Price of what the model reads.")
    output: NonNegativeFloat = Field(description="Price of what it writes.")
    cached_input: NonNegativeFloat | None = Field(
        default=None, description="Price of what it reads from its cache; unset: as input."
    )

    def of(self, usage: Usage) -> float | None:
        """Return the cost of a usage; None if its tokens were not measured."""
        if usage.input_tokens is None and usage.output_tokens is None:
            return None
        cached = min(usage.cache_read_tokens or 0, usage.input_tokens or 0)
        fresh = (usage.input_tokens or 0) - cached
        cached_price = self.input if self.cached_input is None else self.cached_input
        return (fresh * self.input + cached * cached_price + (usage.output_tokens or 0) * self.output) / 1e6


class Spent(BaseModel, frozen=True, defer_build=True):
    """The total that a run has used.

    Attributes:
        iterations: without the rate-limited ones.
        duration: in seconds, iterations and pauses together.
        denials: denied tool calls.
        calls: the times of the agent's calls in the last hour, oldest first; kept only if their number is limited.
    """

    iterations: NonNegativeInt = 0
    duration: NonNegativeFloat = 0.0
    usage: Usage = Field(default_factory=Usage)
    denials: NonNegativeInt = 0
    calls: tuple[datetime, ...] = ()

    def called(self, at: datetime, *, keep: int | None, times: int = 1) -> "Spent":
        """Return the total with further calls of the executor at one time.

        No call is kept as later than `at`: after a clock was set back, it would count for longer than an hour.

        Args:
            keep: how many earlier calls matter; None if calls are not limited.
        """
        if keep is None:
            return self
        recent = tuple(min(call, at) for call in self.calls[-keep:] if at - call < _HOUR)
        return evolve(self, calls=(*recent, *[at] * times))

    def waited(self, seconds: float) -> "Spent":
        """Return the total with a pause."""
        return evolve(self, duration=self.duration + max(0.0, seconds))

    def used(self, usage: Usage, duration: float, *, counts: bool, denials: int = 0) -> "Spent":
        """Return the total with one more iteration; `counts` is False for a rate-limited one."""
        return evolve(
            self,
            iterations=self.iterations + counts,
            duration=self.duration + duration,
            usage=self.usage + usage,
            denials=self.denials + denials,
        )


_UNITS = {"max_tokens": " tokens", "max_requests": " premium requests", "calls_per_hour": " calls"}
"""The units of limits, in messages."""


class LimitReached(BaseModel, frozen=True, defer_build=True):
    """A limit that was reached; `until` is the end of one that passes by itself."""

    limit: str
    allowed: float
    used: float
    until: datetime | None = None

    def __str__(self) -> str:
        if self.limit == "max_cost":
            return f"{self.limit}: ${_shown(self.used)} of ${_shown(self.allowed)}"
        shown, unit = (duration, "") if self.limit == "max_duration" else (_shown, _UNITS.get(self.limit, ""))
        return f"{self.limit}: {shown(self.used)} of {shown(self.allowed)}{unit}"


class Limits(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The limits of a run. None: no limit."""

    max_iterations: Annotated[
        PositiveInt | None, Tighter("less"), Flag("--max-iterations", "N", LIMITS, resume=True)
    ] = Field(default=50, le=_MOST, description="Iterations; rate-limited ones do not count.")
    max_duration: Annotated[Duration | None, Tighter("less"), Flag("--max-duration", "TIME", LIMITS, resume=True)] = (
        Field(default=None, description="Time for the whole run, pauses included.")
    )
    max_tokens: Annotated[PositiveInt | None, Tighter("less"), Flag("--max-tokens", "N", LIMITS, resume=True)] = Field(
        default=None, le=_MOST, description="Input and output tokens together."
    )
    max_requests: Annotated[PositiveFloat | None, Tighter("less"), Flag("--max-requests", "N", LIMITS, resume=True)] = (
        Field(default=None, le=_MOST, description="Premium requests, as the provider bills them.")
    )
    max_cost: Annotated[PositiveFloat | None, Tighter("less"), Flag("--max-cost", "USD", LIMITS, resume=True)] = Field(
        default=None, le=_MOST, description="US dollars; the model needs a price in ralph.toml."
    )
    calls_per_hour: Annotated[
        PositiveInt | None, Tighter("less"), Flag("--max-calls-per-hour", "N", LIMITS, resume=True)
    ] = Field(default=None, le=10_000, description="Calls of the agent in any hour; beyond that, the run waits.")

    def require_measured(self, measures: Collection[str], *, priced: bool) -> None:
        """Check that the executor measures what the limits need.

        Args:
            measures: what the executor measures: "tokens", "premium_requests", "cost".
            priced: whether a price is set for the model, so that tokens give a cost.

        Raises:
            UnmeasurableLimitError: a limit is on what is not measured.
        """
        if self.max_tokens is not None and "tokens" not in measures:
            raise UnmeasurableLimitError(
                "--max-tokens", "the number of tokens", "Use --max-iterations or --max-duration, or another executor."
            )
        if self.max_requests is not None and "premium_requests" not in measures:
            raise UnmeasurableLimitError(
                "--max-requests",
                "the number of premium requests",
                "Use --max-iterations or --max-duration; with your own endpoint, use --max-tokens.",
            )
        if self.max_cost is not None and "cost" not in measures and not (priced and "tokens" in measures):
            raise UnmeasurableLimitError(
                "--max-cost",
                "the cost",
                'Set the model\'s price in ralph.toml ([prices."MODEL"] input = …, output = …; US dollars for a '
                "million tokens), or use --max-tokens.",
            )

    def reached(self, spent: Spent, at: datetime) -> LimitReached | None:
        """Return the first limit that is reached, calls an hour last."""
        limited = (
            ("max_iterations", self.max_iterations, spent.iterations),
            ("max_duration", self.max_duration, spent.duration),
        )
        return _first(limited) or self.within_turn(spent) or self._calls_reached(spent, at)

    def ends(self, spent: Spent, at: datetime) -> datetime | None:
        """Return when the run's time is over, if nothing else ends it; None without a limit on it."""
        left = self.left(spent)
        return None if left is None else at + timedelta(seconds=left)

    def left(self, spent: Spent) -> float | None:
        """Return the seconds that are left of the run's time, at least 0; None without a limit on it."""
        return None if self.max_duration is None else max(0.0, self.max_duration - spent.duration)

    def within_turn(self, spent: Spent) -> LimitReached | None:
        """Return the first limit on consumption that is reached; these also apply while the agent is running."""
        usage = spent.usage
        return _first((
            ("max_tokens", self.max_tokens, usage.tokens),
            ("max_requests", self.max_requests, usage.premium_requests),
            ("max_cost", self.max_cost, usage.cost),
        ))

    def _calls_reached(self, spent: Spent, at: datetime) -> LimitReached | None:
        allowed = self.calls_per_hour
        recent = [call for call in spent.calls if at - call < _HOUR]
        if allowed is None or len(recent) < allowed:
            return None
        return LimitReached(limit="calls_per_hour", allowed=allowed, used=len(recent), until=recent[-allowed] + _HOUR)


class DecisionSettings(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The settings of the decision that belong to no other part."""

    test_saturation: Annotated[PositiveInt, Tighter("less")] = Field(
        default=3, le=1000, description="Test-only iterations without progress in a row that end the run."
    )
    blocked: Annotated[PositiveInt, Tighter("less")] = Field(
        default=2, le=1000, description="Blocked iterations in a row that end the run."
    )
    questions: Annotated[PositiveInt, Tighter("less")] = Field(
        default=3, le=1000, description="Questions to the user in a row that end the run."
    )
    confirm_words: Annotated[bool, Tighter((True, False))] = Field(
        default=True,
        description="Ask again before words alone, without a status block and without any verifier, end the run.",
    )
    unavailable: Annotated[PositiveInt, Tighter("less")] = Field(
        default=2,
        le=1000,
        description="Refused, logged-out (or, before any answer and without `max_duration`, unanswered) iterations in "
        "a row that end the run.",
    )
    rate_limit_wait: Annotated[Duration, Tighter("more")] = Field(
        default=60.0, description="The wait for a rate limit that names no time; doubled each time in a row."
    )
    max_rate_limit_wait: Annotated[Duration, Tighter("more")] = Field(
        default=3600.0, description="The longest such wait."
    )


def _first(limited: Iterable[tuple[str, float | None, float | None]]) -> LimitReached | None:
    for limit, allowed, used in limited:
        if allowed is not None and used is not None and used >= allowed:
            return LimitReached(limit=limit, allowed=allowed, used=used)
    return None


def _shown(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.4g}"

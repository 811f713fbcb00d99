"""The circuit breaker: the safety net under every loop, as a pure state machine.

```
CLOSED ──too much of one kind of failure──▶ OPEN ──cool-down over, or reset──▶ HALF_OPEN
   ▲                                          ▲                                   │  │
   └──────────────── one success ─────────────┼───────────────────────────────────┘  │
                                              └───────────── one failure ────────────┘
```

CLOSED carries a warning when a counter is near its threshold. There is no clock, lock or file in here: the state is
a value, the time is passed in, and both are kept in the run's record.
"""

from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, Field, NonNegativeInt, PositiveInt

from ralph.errors import UnknownNameError
from ralph.system.declarations import Tighter, Wait
from ralph.system.text import pattern
from ralph.types import evolve
from ralph.types.output import Interrupted, ToolCall
from ralph.types.tools import tool_text

Position = Literal["closed", "open", "half_open"]

_ERRORS_KEPT = 50
_PROBE_FAILED = "the probing iteration failed; before that: "

_DENIED_CALLS = 20
"""Denied tool calls in a row that end a turn: an agent that is always denied may continue forever."""

_REPEATED_CALLS = 60
_DIFFERENT = 3
"""As many tool calls in a row that are at most as many different ones, with the same results, end a turn."""

_SLOW = 2.0
"""Seconds from which on a call waits for something, which may take any number of calls."""

_NUMBERED = pattern(r"[Ii]d\W{0,2}\d+")
"""A running number that a tool gives to its calls, such as a shell's."""

_CUT = 2_000
"""Characters from which on arguments may be cut, so that two cannot be compared."""


class BreakerSettings(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """When the breaker opens, and what happens then."""

    no_progress: Annotated[PositiveInt, Tighter("less")] = Field(
        default=3,
        le=1000,
        description="Iterations without progress that open it; more than three are also how many make a loop stuck.",
    )
    same_error: Annotated[PositiveInt, Tighter("less")] = Field(
        default=5, le=1000, description="Iterations in a row with the same error that open it."
    )
    denials: Annotated[PositiveInt, Tighter("less")] = Field(
        default=2, le=1000, description="Permission-denied iterations in a row that open it."
    )
    stagnation: Annotated[float | None, Tighter("more")] = Field(
        default=None,
        ge=0,
        le=100,
        description="Percent by which the completion score must rise in an iteration; unset: not checked.",
    )
    when_open: Annotated[Literal["stop", "wait"], Tighter(("stop", "wait"))] = Field(
        default="stop", description="Stop the run, or wait and try again."
    )
    cool_down: Annotated[Wait, Tighter("more")] = Field(
        default=1800.0, description="How long it stays open before a probe iteration."
    )
    max_probes: Annotated[PositiveInt, Tighter("less")] = Field(
        default=3, le=100, description="Failed probe iterations before a waiting run stops."
    )


PRESETS: dict[str, BreakerSettings] = {
    "critical_feature": BreakerSettings.model_construct(no_progress=15, stagnation=2.0),
    "research_task": BreakerSettings.model_construct(no_progress=20, stagnation=5.0),
    "simple_script": BreakerSettings.model_construct(no_progress=3, stagnation=10.0),
    "documentation": BreakerSettings.model_construct(no_progress=5, stagnation=5.0),
    "debugging": BreakerSettings.model_construct(no_progress=8, stagnation=2.0),
    "generic": BreakerSettings.model_construct(no_progress=10, stagnation=3.0),
}
"""The Ralph Runtime guide's profiles: loops without progress, and percent that count as progress.

They are not validated, as that would build the validator in each process that only shows its help.
"""


class Observation(BaseModel, frozen=True, defer_build=True):
    """The breaker's view of one iteration; it gets none of a rate-limited one or one that Ralph itself cut short.

    Attributes:
        progressed: whether workspace or plan moved; None if unknown.
        worked: it is unknown whether anything moved, but the agent reports work, or was working when the turn failed.
        failed: the executor failed or timed out.
        unanswered: it failed because the service did not answer; that is an error and no lack of progress.
        denied: tool calls were denied.
        errors: normalised errors with evidence behind them: a failed execution, a refuting verifier.
        reported: normalised errors in the agent's words alone; they count while there is no progress.
        delta: percentage points that the completion rose by; None without a plan or an explicit percentage.
    """

    progressed: bool | None = None
    worked: bool = False
    failed: bool = False
    unanswered: bool = False
    denied: bool = False
    errors: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    delta: float | None = None

    @property
    def success(self) -> bool:
        """True if a probing iteration like this one closes the breaker."""
        return not (self.failed or self.errors or self.progressed is False or (self.denied and not self.progressed))


class BreakerState(BaseModel, frozen=True, defer_build=True):
    """The state of the breaker, a value that is kept in every record.

    Attributes:
        warning: closed, but near to being opened by what `reason` says.
        no_progress, stagnant, denials: iterations in a row.
        errors: iterations in a row by normalised error.
        probes: probing iterations since it was last closed.
        trips: how often it opened.
        reason: why it is open or warns; empty otherwise.
    """

    state: Position = "closed"
    warning: bool = False
    no_progress: NonNegativeInt = 0
    stagnant: NonNegativeInt = 0
    denials: NonNegativeInt = 0
    errors: dict[str, PositiveInt] = {}
    probes: NonNegativeInt = 0
    trips: NonNegativeInt = 0
    opened_at: datetime | None = None
    reason: str = ""

    def differs(self, before: "BreakerState") -> bool:
        """Return whether the user should hear of the change: of the position or of the warning."""
        return (self.state, self.warning) != (before.state, before.warning)


class CircuitBreaker:
    """The circuit breaker as a pure state machine over observations.

    Args:
        settings: thresholds, or the name of one of `PRESETS`.

    Raises:
        UnknownNameError: there is no preset of that name.
    """

    def __init__(self, settings: BreakerSettings | str | None = None) -> None:
        if isinstance(settings, str):
            if settings not in PRESETS:
                raise UnknownNameError("preset", settings, PRESETS)
            settings = PRESETS[settings]
        self.settings = settings or BreakerSettings()

    def record(self, state: BreakerState, seen: Observation, at: datetime) -> BreakerState:
        """Return the state after one more iteration; an open breaker stays as it is, as nothing should have run."""
        if state.state == "open":
            return state
        if state.state == "half_open":
            return self._probed(state, seen, at)
        counted = _count(state, seen, self.settings.stagnation)
        if reason := self._over(counted, lambda threshold: threshold):
            return self._open(counted, reason, at)
        reason = self._over(counted, lambda threshold: max(1, threshold - max(1, threshold // 5)))
        return evolve(counted, warning=bool(reason), reason=reason)

    def cooled(self, state: BreakerState, at: datetime) -> BreakerState:
        """Return HALF_OPEN if an open breaker's cool-down is over, else the state as it is."""
        until = self.open_until(state)
        return _half_open(state) if until is not None and at >= until else state

    def reset(self, state: BreakerState) -> BreakerState:
        """Return HALF_OPEN with all probes, as the user resets it; a closed breaker only forgets its counters."""
        if state.state == "closed":
            return BreakerState(trips=state.trips)
        return evolve(_half_open(state), probes=0)

    def open_until(self, state: BreakerState) -> datetime | None:
        """Return when the cool-down ends; None if the breaker is not open."""
        if state.state != "open" or state.opened_at is None:
            return None
        return state.opened_at + timedelta(seconds=self.settings.cool_down)

    def exhausted(self, state: BreakerState) -> bool:
        """Return whether an open breaker ends the run: it must not wait, or all probes failed."""
        if state.state != "open":
            return False
        return self.settings.when_open == "stop" or state.probes >= self.settings.max_probes

    def _probed(self, state: BreakerState, seen: Observation, at: datetime) -> BreakerState:
        if seen.success:
            return BreakerState(trips=state.trips)
        probed = evolve(_count(state, seen, self.settings.stagnation), probes=state.probes + 1)
        before = state.reason.removeprefix(_PROBE_FAILED) or "a reset"
        return self._open(probed, f"{_PROBE_FAILED}{before}", at)

    def _open(self, state: BreakerState, reason: str, at: datetime) -> BreakerState:
        return evolve(state, state="open", warning=False, trips=state.trips + 1, opened_at=at, reason=reason)

    def _over(self, state: BreakerState, level: Callable[[int], int]) -> str:
        """Return the reason of the first counter at its level, in words; empty if none is."""
        settings = self.settings
        if state.denials >= level(settings.denials):
            return f"{state.denials} permission-denied iteration{'s' * (state.denials > 1)} in a row"
        if state.no_progress >= level(settings.no_progress):
            return f"{state.no_progress} iteration{'s' * (state.no_progress > 1)} without progress"
        if state.stagnant >= level(settings.no_progress):
            return f"{state.stagnant} iterations that each rose by less than {settings.stagnation:g} %"
        error, count = max(state.errors.items(), key=lambda item: item[1], default=("", 0))
        if count >= level(settings.same_error):
            return f"the same error {count} times: {error}"
        return ""


def _half_open(state: BreakerState) -> BreakerState:
    return evolve(state, state="half_open", opened_at=None, warning=False)


def _count(state: BreakerState, seen: Observation, stagnation: float | None) -> BreakerState:
    if seen.unanswered:
        return evolve(state, errors=_repeated(state.errors, seen.errors))
    idle = seen.progressed is False or (seen.progressed is None and seen.failed and not seen.worked)
    stagnant = stagnation is not None and seen.delta is not None and seen.delta < stagnation
    rose = stagnation is None or (seen.delta is not None and not stagnant)
    over = seen.progressed or (seen.worked and not seen.failed)
    reported = () if over else seen.reported
    return evolve(
        state,
        no_progress=_next(state.no_progress, more=idle, over=bool(over)),
        stagnant=_next(state.stagnant, more=stagnant, over=rose),
        denials=_next(state.denials, more=seen.denied and not seen.progressed, over=True),
        errors=_repeated(state.errors, (*seen.errors, *reported)),
    )


def _next(count: int, *, more: bool, over: bool) -> int:
    """Return the counter raised, reset or, if nothing is known, unchanged."""
    if more:
        return count + 1
    return 0 if over else count


def _repeated(counts: dict[str, int], errors: Iterable[str]) -> dict[str, int]:
    """Count the errors of this iteration on and drop all others; if there are too many, those with evidence stay."""
    return {error: counts.get(error, 0) + 1 for error in list(dict.fromkeys(errors))[:_ERRORS_KEPT]}


class ToolLoop:
    """A watch over the tool calls of one turn, which says when they get nowhere.

    Every round of such a circle costs a call of the model. A call with unknown arguments or result, or one that takes
    long, is no round of a circle.
    """

    def __init__(self) -> None:
        self._denied = 0
        self._recent: deque[tuple[str, str, str]] = deque(maxlen=_REPEATED_CALLS)

    def ended(self, call: ToolCall) -> Interrupted | None:
        """Return how to end the turn after one more finished call; None if it may continue."""
        self._denied = self._denied + 1 if call.denied else 0
        if self._denied == _DENIED_CALLS:
            return Interrupted(by="denials", detail=f"{self._denied} tool calls in a row were denied")
        known = call.result and 0 < len(call.arguments) < _CUT
        if not known or call.duration >= _SLOW:
            self._recent.clear()
            return None
        self._recent.append((call.name, call.arguments, _NUMBERED.sub("", call.result)))
        different = set(self._recent)
        if len(self._recent) < _REPEATED_CALLS or len(different) > _DIFFERENT:
            return None
        self._recent.clear()
        same = "the same" if len(different) == 1 else f"the same {len(different)}"
        detail = f"{_REPEATED_CALLS} tool calls in a row were {same} with the same result: {tool_text(call, most=100)}"
        return Interrupted(by="circles", detail=detail)

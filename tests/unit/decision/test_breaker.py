"""The circuit breaker as a state machine: what opens it, what closes it, and what holds for any history."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.decision.breaker import PRESETS, BreakerSettings, BreakerState, CircuitBreaker, Observation
from ralph.errors import UnknownNameError

AT = datetime(2026, 1, 1, tzinfo=UTC)
IDLE = Observation(progressed=False)
MOVED = Observation(progressed=True)
UNKNOWN = Observation()
WORKED = Observation(worked=True)
SILENT = Observation(progressed=False, failed=True, unanswered=True, errors=("no answer",))


def after(breaker: CircuitBreaker, *seen: Observation, state: BreakerState | None = None) -> BreakerState:
    state = state or BreakerState()
    for observation in seen:
        state = breaker.record(state, observation, AT)
    return state


def error(*texts: str, progressed: bool | None = True) -> Observation:
    return Observation(progressed=progressed, errors=texts)


# covers: S4-46, S4-47, S4-48, K4-1, KX-4
@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ([IDLE] * 3, "3 iterations without progress"),
        ([Observation(failed=True)] * 3, "3 iterations without progress"),
        ([error("boom")] * 5, "the same error 5 times: boom"),
        ([error(f"first {number}", "boom", f"last {number}") for number in range(5)], "the same error 5 times: boom"),
        ([Observation(reported=("boom",))] * 5, "the same error 5 times: boom"),
        ([Observation(denied=True)] * 2, "2 permission-denied iterations in a row"),
        ([IDLE, UNKNOWN, IDLE, UNKNOWN, IDLE], "3 iterations without progress"),
        ([Observation(worked=True, failed=True, errors=("time-out",))] * 5, "the same error 5 times: time-out"),
        ([SILENT] * 5, "the same error 5 times: no answer"),
        ([IDLE, *[SILENT] * 4, IDLE, SILENT, IDLE], "3 iterations without progress"),
    ],
)
def test_it_opens_at_the_threshold_and_not_before(seen: list[Observation], reason: str) -> None:
    breaker = CircuitBreaker()
    assert after(breaker, *seen[:-1]).state == "closed"
    opened = after(breaker, *seen)
    assert (opened.state, opened.reason, opened.opened_at, opened.trips) == ("open", reason, AT, 1)


@pytest.mark.parametrize(
    "seen",
    [
        [IDLE, IDLE, MOVED] * 5,
        [IDLE, IDLE, WORKED] * 5,
        [error("a"), error("b")] * 10,
        [error("a")] * 4 + [MOVED] + [error("a")] * 4,
        [Observation(progressed=True, reported=("the same words",))] * 20,
        [Observation(progressed=True, denied=True)] * 20,
        [Observation(denied=True), UNKNOWN] * 10,
        [UNKNOWN] * 50,
    ],
)
def test_what_keeps_it_closed(seen: list[Observation]) -> None:
    assert after(CircuitBreaker(), *seen).state == "closed"


# covers: KX-9
def test_a_warning_comes_before_it_opens_and_goes_with_its_cause() -> None:
    breaker = CircuitBreaker()
    warned = after(breaker, IDLE, IDLE)
    assert (warned.state, warned.warning, warned.reason) == ("closed", True, "2 iterations without progress")
    calm = after(breaker, MOVED, state=warned)
    assert (calm.warning, calm.reason) == (False, "")


def test_one_iteration_is_told_of_as_one() -> None:
    assert after(CircuitBreaker(BreakerSettings(no_progress=1)), IDLE).reason == "1 iteration without progress"


@pytest.mark.parametrize("threshold", [1, 2, 3, 5, 10, 20, 100])
def test_the_warning_never_comes_later_than_the_iteration_before(threshold: int) -> None:
    breaker = CircuitBreaker(BreakerSettings(no_progress=threshold))
    state = after(breaker, *[IDLE] * (threshold - 1))
    assert state.state == "closed"
    assert state.warning is (threshold > 1)


@pytest.mark.parametrize(("threshold", "warns_at"), [(3, 2), (8, 7), (9, 8), (10, 8), (14, 12), (15, 12), (20, 16)])
def test_the_warning_comes_with_the_last_fifth_of_the_threshold(threshold: int, warns_at: int) -> None:
    breaker = CircuitBreaker(BreakerSettings(no_progress=threshold))
    warnings = [after(breaker, *[IDLE] * count).warning for count in range(1, threshold)]
    assert warnings.index(True) + 1 == warns_at


# covers: S4-49, S4-50, S4-51, S4-52, S4-53, S4-54, K4-7
def test_the_way_there_and_back() -> None:
    breaker = CircuitBreaker(BreakerSettings(cool_down=60))
    opened = after(breaker, IDLE, IDLE, IDLE)
    assert breaker.cooled(opened, AT + timedelta(seconds=59)) is opened
    probing = breaker.cooled(opened, AT + timedelta(seconds=60))
    assert (probing.state, probing.opened_at) == ("half_open", None)
    closed = after(breaker, MOVED, state=probing)
    assert closed == BreakerState(trips=1)
    again = after(breaker, IDLE, state=probing)
    assert (again.state, again.trips, again.probes) == ("open", 2, 1)


# covers: K4-7
@pytest.mark.parametrize(
    ("seen", "state"),
    [
        (MOVED, "closed"),
        (UNKNOWN, "closed"),
        (Observation(progressed=True, denied=True), "closed"),
        (Observation(progressed=True, reported=("words",)), "closed"),
        (IDLE, "open"),
        (Observation(failed=True), "open"),
        (Observation(progressed=True, failed=True), "open"),
        (error("refuted"), "open"),
        (Observation(denied=True), "open"),
    ],
)
def test_one_probe_decides(seen: Observation, state: str) -> None:
    assert after(CircuitBreaker(), seen, state=BreakerState(state="half_open", trips=1)).state == state


def test_an_open_breaker_is_moved_by_nothing_that_runs() -> None:
    opened = BreakerState(state="open", opened_at=AT)
    assert after(CircuitBreaker(), MOVED, IDLE, error("a"), state=opened) is opened


def test_a_reset_by_hand_gives_all_probes_back_and_forgets_counters() -> None:
    breaker = CircuitBreaker(BreakerSettings(when_open="wait"))
    opened = BreakerState(state="open", opened_at=AT, probes=3, trips=4)
    assert breaker.reset(opened) == BreakerState(state="half_open", trips=4)
    assert breaker.reset(after(breaker, IDLE, IDLE)) == BreakerState()
    assert breaker.reset(BreakerState(warning=True, no_progress=2, trips=4)) == BreakerState(trips=4)


# covers: S4-48
@pytest.mark.parametrize(
    ("when_open", "probes", "ends"), [("stop", 0, True), ("wait", 0, False), ("wait", 2, False), ("wait", 3, True)]
)
def test_when_an_open_breaker_ends_the_run(when_open: str, probes: int, ends: bool) -> None:
    breaker = CircuitBreaker(BreakerSettings.model_validate({"when_open": when_open}))
    assert breaker.exhausted(BreakerState(state="open", opened_at=AT, probes=probes)) is ends
    assert not breaker.exhausted(BreakerState(state="half_open", probes=9))


def test_waiting_ends_after_three_failed_probes_and_the_reason_does_not_grow() -> None:
    breaker = CircuitBreaker(BreakerSettings(when_open="wait", cool_down=0))
    state, reasons = after(breaker, IDLE, IDLE, IDLE), list[str]()
    while not breaker.exhausted(state):
        state = breaker.record(breaker.cooled(state, AT), IDLE, AT)
        reasons.append(state.reason)
    assert reasons == ["the probing iteration failed; before that: 3 iterations without progress"] * 3


# covers: S0-78, S0-89, KX-4
def test_presets_are_the_guides_profiles() -> None:
    profiles = {name: (preset.no_progress, preset.stagnation) for name, preset in PRESETS.items()}
    assert profiles == {
        "critical_feature": (15, 2),
        "research_task": (20, 5),
        "simple_script": (3, 10),
        "documentation": (5, 5),
        "debugging": (8, 2),
        "generic": (10, 3),
    }
    assert CircuitBreaker("debugging").settings is PRESETS["debugging"]
    with pytest.raises(UnknownNameError, match="debugging"):
        CircuitBreaker("debuging")


# covers: S0-89, K0-16
def test_a_preset_also_opens_where_the_completion_hardly_rises() -> None:
    breaker = CircuitBreaker("simple_script")
    slow = Observation(progressed=True, delta=9)
    assert after(breaker, slow, slow).state == "closed"
    opened = after(breaker, slow, slow, slow)
    assert (opened.state, opened.reason) == ("open", "3 iterations that each rose by less than 10 %")
    assert after(breaker, slow, slow, Observation(progressed=True, delta=10), slow, slow).state == "closed"
    assert after(breaker, *[Observation(progressed=True)] * 20).state == "closed", "without a plan nothing is known"
    assert after(CircuitBreaker(), *[slow] * 20).state == "closed", "not asked for"


def test_errors_with_evidence_are_not_crowded_out_by_words() -> None:
    words = tuple(f"a word {number}" for number in range(100))
    seen = Observation(errors=("tests: failed",), reported=words)
    state = after(CircuitBreaker(), *[seen] * 4)
    assert state.errors["tests: failed"] == 4
    assert len(state.errors) == 50


@pytest.mark.parametrize(
    "bad", [{"no_progress": 0}, {"same_error": -1}, {"cool_down": float("inf")}, {"cool_down": 1e300}, {"unknown": 1}]
)
def test_settings_are_bounded(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        BreakerSettings.model_validate(bad)


settings = st.builds(
    BreakerSettings,
    no_progress=st.integers(1, 6),
    same_error=st.integers(1, 6),
    denials=st.integers(1, 4),
    stagnation=st.none() | st.floats(0, 100),
    when_open=st.sampled_from(["stop", "wait"]),
    cool_down=st.floats(0, 1e6),
    max_probes=st.integers(1, 4),
)
observations = st.builds(
    Observation,
    progressed=st.sampled_from([True, False, None]),
    failed=st.booleans(),
    denied=st.booleans(),
    errors=st.lists(st.sampled_from("abc"), max_size=3).map(tuple),
    reported=st.lists(st.sampled_from("cde"), max_size=3).map(tuple),
    delta=st.none() | st.floats(-100, 100),
)
steps = st.lists(observations | st.sampled_from(["cool", "reset"]), max_size=40)


# covers: S4-46, S4-48, S4-51, S4-52, K4-7
@given(settings, steps)
def test_what_holds_for_any_history(settings: BreakerSettings, steps: list[Observation | str]) -> None:
    breaker, state = CircuitBreaker(settings), BreakerState()
    for number, step in enumerate(steps):
        at, before = AT + timedelta(hours=number), state
        if isinstance(step, Observation):
            state = breaker.record(before, step, at)
            if before.state == "open":
                assert state == before
            elif before.state == "half_open":
                assert state.state == ("closed" if step.success else "open")
            else:
                assert state.state in {"closed", "open"}
        else:
            state = breaker.cooled(before, at) if step == "cool" else breaker.reset(before)
            assert state.state in {"closed", "half_open"} or state == before
        assert (state.state == "open") is (state.opened_at is not None)
        assert (state.state == "open" or state.warning) <= bool(state.reason)
        assert not (state.warning and state.state != "closed")
        assert state.trips >= before.trips
        assert min(state.no_progress, state.stagnant, state.denials, state.probes) >= 0
        assert BreakerState.model_validate_json(state.model_dump_json()) == state


@given(settings, st.lists(observations, max_size=30))
def test_closed_means_below_every_threshold(settings: BreakerSettings, seen: list[Observation]) -> None:
    state = after(CircuitBreaker(settings), *seen)
    if state.state == "closed":
        assert state.no_progress < settings.no_progress
        assert state.denials < settings.denials
        assert max(state.errors.values(), default=0) < settings.same_error

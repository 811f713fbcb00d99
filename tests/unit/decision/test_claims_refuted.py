"""What a person is told of a claim of completion that does not count: who blocks it, and what is still open."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ralph.analysis import analyze_text
from ralph.analysis.result import Analysis, CompletionSignal, Further, Opinion
from ralph.decision.breaker import BreakerState
from ralph.decision.claims import Case, claimed, strategy_named, waiting
from ralph.decision.limits import LimitReached
from ralph.decision.outcomes import Complete, Halt, Streaks
from ralph.decision.rules import Situation, decide
from ralph.status import StatusReport
from ralph.types.output import Output
from ralph.types.plan import PlanState, compare, parse_plan

NAMES = ("parse", "print", "document")
BEFORE = parse_plan("".join(f"- [ ] {name}\n" for name in NAMES))
LIMIT = LimitReached(limit="max_iterations", allowed=3, used=3)
SURE = CompletionSignal(detected=True, keywords=("done", "finished"), confidence=100)
TWO_OPEN = "2 items of the plan are open, the first: print"


def plan(ticked: int) -> PlanState:
    boxes = (f"- [{'x' if number < ticked else ' '}] {name}\n" for number, name in enumerate(NAMES))
    return compare(BEFORE, parse_plan("".join(boxes)))


def done(*, ticked: int = 3, holding: dict[str, str] | None = None, words: bool = False) -> Case:
    """An iteration whose agent says that it is done, by its block or in words."""
    said: dict[str, Any] = (
        {"completion": SURE, "state": "done"} if words else {"status": StatusReport(exit_signal=True)}
    )
    opinions = {
        name: Further(opinion=Opinion(on_completion="holds_back", reason=why)) for name, why in (holding or {}).items()
    }
    return Case(output=Output(text="It is done."), analysis=Analysis(**said, further=opinions), plan=plan(ticked))


def judged(case: Case, *, strategy: str = "auto", **more: Any) -> Any:
    claim = claimed(strategy_named(strategy), case)
    given: dict[str, Any] = {"breaker": BreakerState(), "at": datetime(2026, 1, 1, tzinfo=UTC), **more}
    streaks = given.pop("streaks", Streaks())
    return decide(Situation(case, streaks.after(case), claim=claim, **given))


def test_the_analyzer_that_holds_a_claim_back_is_named_with_its_reason() -> None:
    reason = judged(done(holding={"brevity": "too few words", "style": ""})).reason
    assert reason == (
        "a claim of completion does not count: the analyzer brevity blocks it: too few words; "
        "the analyzer style blocks it"
    )


def test_a_claim_that_an_analyzer_holds_back_is_not_confirmed_by_saying_it_again() -> None:
    confirming = Streaks(confirming=True)
    for words in (False, True):
        held = judged(done(holding={"brevity": "too few words"}, words=words), streaks=confirming)
        assert (held.kind, "brevity blocks it" in held.reason) == ("continue", True)
        assert judged(done(ticked=3, words=words), streaks=confirming).kind == "complete"


def test_who_holds_it_back_comes_before_what_is_open() -> None:
    reason = judged(done(ticked=1, holding={"brevity": "too few words"})).reason
    assert reason.endswith(f"the analyzer brevity blocks it: too few words; {TWO_OPEN}")


@pytest.mark.parametrize(
    ("ticked", "told"), [(1, TWO_OPEN), (2, "one item of the plan is open: document")], ids=["two", "one"]
)
def test_open_items_of_the_plan_are_counted_and_the_first_is_named(ticked: int, told: str) -> None:
    assert judged(done(ticked=ticked)).reason == f"a claim of completion waits for its confirmation: {told}"
    words = judged(done(ticked=ticked, words=True)).reason
    assert words == f"the words say that the task is done (strength 100 of 100), but {told}"


def test_words_that_the_analysis_takes_for_progress_because_of_the_plan_are_told_of_all_the_same() -> None:
    analysis = analyze_text(
        "All tasks are complete. Done.", plan=parse_plan("- [x] parse\n- [ ] print\n- [ ] document\n")
    )
    assert analysis.state == "progress"
    reason = judged(Case(output=Output(text="…"), analysis=analysis, plan=plan(1))).reason
    assert reason == f"the words say done, but: {TWO_OPEN}"


def test_a_strategy_that_does_not_ask_for_the_plan_completes_and_tells_what_is_open() -> None:
    decision = judged(done(ticked=1), strategy="exit_signal")
    assert isinstance(decision, Complete)
    assert decision.reason == f"EXIT_SIGNAL: true; yet {TWO_OPEN}"
    assert judged(done(), strategy="exit_signal").reason == "EXIT_SIGNAL: true"


@pytest.mark.parametrize(
    "more",
    [
        {"limit": LIMIT},
        {"breaker": BreakerState(state="open", reason="3 iterations without progress")},
    ],
    ids=["limit", "breaker"],
)
def test_an_end_tells_what_held_back_the_claim_that_it_came_after(more: dict[str, Any]) -> None:
    end = judged(done(holding={"brevity": "too few words"}), **more)
    assert isinstance(end, Halt)
    assert end.reason.endswith(
        "; the claim of completion does not count: the analyzer brevity blocks it: too few words"
    )


def test_the_line_is_bounded() -> None:
    doubts = tuple(f"doubt {number} {'word ' * 1_000}" for number in range(50))
    line = waiting(doubts)
    assert len(line) < 800
    assert line.endswith("; and 47 more")

"""What each exit strategy takes for a claim that the task is done."""

from typing import Any

import pytest

from ralph.analysis import analyze_text
from ralph.analysis.result import Analysis, CompletionSignal, Evidence
from ralph.decision.claims import STRATEGIES, Case, claimed, strategy_named
from ralph.errors import UnknownNameError
from ralph.status import StatusMalformed, StatusReport
from ralph.types.output import Answered, Failed, Interrupted, Outcome, Output, TimedOut, ToolCall
from ralph.types.plan import PlanState, TaskPlan, compare, parse_plan

BEFORE = parse_plan("- [ ] one\n- [ ] two\n")
SURE = CompletionSignal(detected=True, keywords=("done", "finished"), confidence=100)
UNSURE = CompletionSignal(detected=True, keywords=("done",), confidence=69)


def plan(text: str | None, before: TaskPlan | None = BEFORE) -> PlanState:
    return compare(before, None if text is None else parse_plan(text))


HALF, WHOLE = plan("- [x] one\n- [ ] two\n"), plan("- [x] one\n- [x] two\n")
GONE, REWORDED = plan(None), plan("- [x] one\n- [x] something else\n")
OLD = plan("- [x] one\n", parse_plan("- [x] one\n"))
EMPTY = plan("nothing to tick\n", None)
CUT = PlanState(now=WHOLE.now.model_copy(update={"problem": "it is too long"}), ticked_during_run=("one",))


WORK = Evidence(signal="work", text="implemented")
BUILT = Evidence(signal="completion_claim", text="The implementation is complete", weight=100)
WHOLE_TASK = Evidence(signal="completion_claim", text="The task is done", weight=100)
CRITERIA = Evidence(signal="completion_claim", text="all acceptance criteria are met", weight=100)
LEFT = Evidence(signal="open_end", text="one test is still missing", weight=-50)
AT_HAND = Evidence(signal="open_end", text="Left", end=4, weight=-50)
SHARE = analyze_text("8 of 15 stories are complete.").evidence
TOLD = Evidence(signal="obstacle", text="needs a permission", weight=-20)


def case(
    *,
    signal: bool | None = None,
    status: str = "",
    fields: dict[str, Any] | None = None,
    malformed: str = "",
    outcome: Outcome | None = None,
    tools: int = 0,
    text: str = "",
    **said: Any,
) -> Case:
    """A case of these parts: `plan`, `changed`, `progressed` and `task` are the case's, the rest is its analysis's."""
    known = {name: said.pop(name) for name in ("plan", "changed", "progressed", "task") if name in said}
    if malformed:
        said["status"] = StatusMalformed(problem=malformed)
    elif signal is not None or status:
        said["status"] = StatusReport(exit_signal=signal, status=status, fields=fields or {})
    calls = tuple(ToolCall(id=f"{number}", name="edit") for number in range(tools))
    return Case(
        output=Output(text=text, outcome=outcome or Answered(), tool_calls=calls), analysis=Analysis(**said), **known
    )


def claims(strategy: str, given: Case) -> bool:
    return claimed(STRATEGIES[strategy], given) is not None


# covers: S4-10, S4-13, S4-15, S4-17, K4-10, KX-1
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (case(signal=True), "EXIT_SIGNAL: true"),
        (case(signal=True, plan=WHOLE), "EXIT_SIGNAL: true"),
        (case(signal=True, plan=OLD), "EXIT_SIGNAL: true"),
        (case(plan=WHOLE), "every box"),
        (case(plan=WHOLE, completion=SURE), "every box"),
        (case(completion=SURE), "done, finished"),
        (case(completion=SURE, plan=OLD), "done, finished"),
        (case(completion=SURE, plan=EMPTY), "done, finished"),
        (case(completion=SURE.model_copy(update={"confidence": 70})), "done"),
    ],
)
def test_auto_takes_the_first_claim_that_applies(given: Case, reason: str) -> None:
    claim = claimed(STRATEGIES["auto"], given)
    assert claim is not None
    assert reason in claim.reason
    assert claim.doubts == ()


NO_CLAIM_FOR_AUTO = [
    case(),
    case(signal=False, completion=SURE),
    case(signal=False, plan=WHOLE),
    case(signal=False, plan=WHOLE, completion=SURE, points=35, indicators=("a", "b", "c"), confidence=100),
    case(plan=OLD),
    case(plan=HALF),
    case(plan=EMPTY),
    case(plan=GONE),
    case(plan=REWORDED),
    case(plan=CUT),
    case(completion=UNSURE),
    case(completion=SURE.model_copy(update={"detected": False})),
    case(completion=SURE, plan=HALF),
    case(completion=SURE, plan=GONE),
    case(completion=SURE, status="IN_PROGRESS"),
    case(completion=SURE, status="in progress"),
    case(completion=SURE, state="question"),
    case(completion=SURE, state="blocked"),
    case(plan=WHOLE, status="BLOCKED"),
    case(plan=WHOLE, state="error"),
    case(signal=True, status="BLOCKED"),
    case(confidence=100, points=35, indicators=("a", "b", "c")),
]


# covers: K4-10, S1-33, K1-2, K4-11
def test_auto_takes_no_less_for_a_claim(subtests: pytest.Subtests) -> None:
    for given in NO_CLAIM_FOR_AUTO:
        with subtests.test(given=given):
            assert not claims("auto", given)


DOUBTED_BY_AUTO = [
    (case(signal=True, plan=HALF), ["two"]),
    (case(signal=True, plan=GONE), ["one", "two"]),
    (case(signal=True, plan=REWORDED), ["two"]),
    (case(signal=True, changed=False), ["changed nothing"]),
    (case(signal=True, changed=False, plan=HALF), ["two"]),
    (case(signal=True, changed=None), []),
    (case(signal=True, changed=True), []),
    (case(signal=True, status="IN_PROGRESS"), ["says IN_PROGRESS"]),
    (case(signal=True, status="COMPLETE"), []),
    (case(signal=True, fields={"TESTS_STATUS": "FAILING"}), ["tests fail"]),
    (case(signal=True, fields={"TESTS_STATUS": "PASSING"}), []),
    (case(signal=True, fields={"RECOMMENDATION": "Only the docs remain."}), ["Only the docs remain."]),
    (case(signal=True, fields={"RECOMMENDATION": "Proceed to story 4"}), ["story 4"]),
    (case(signal=True, fields={"RECOMMENDATION": "下一步：补充测试"}), ["补充测试"]),
    (case(signal=True, fields={"RECOMMENDATION": "No remaining work, nothing left. Ship it."}), []),
    (case(signal=True, fields={"RECOMMENDATION": "全部完成，無需下一輪。"}), []),
    (case(signal=True, evidence=(LEFT,)), ["one test is still missing"]),
    (case(signal=True, evidence=(TOLD,)), []),
    (case(signal=True, text="Left: the docs, in the next pass.", evidence=(AT_HAND,)), ["Left: the docs, in"]),
    (case(signal=True, text="Left (optional): the docs.", evidence=(AT_HAND,)), []),
    (case(completion=SURE, changed=False), ["changed nothing"]),
    (case(completion=SURE, changed=None, tools=2), ["only the reply says so"]),
    (case(completion=SURE, changed=True, tools=2), []),
    (case(completion=SURE, changed=None), []),
    (case(completion=SURE, changed=None, tools=2, standstill="done"), []),
    (case(completion=SURE, changed=True, progressed=True), ["the whole task is unknown"]),
    (case(completion=SURE, changed=True, progressed=True, evidence=(CRITERIA,)), ["the whole task is unknown"]),
    (case(completion=SURE, changed=True, progressed=True, evidence=(BUILT,)), ["the whole task is unknown"]),
    (case(completion=SURE, changed=True, progressed=True, evidence=(WHOLE_TASK,)), []),
    (case(completion=SURE, changed=True, progressed=True, task="write it"), []),
    (case(completion=SURE, changed=True, progressed=False), []),
    (case(completion=SURE, malformed="it never ends"), ["could not be read: it never ends"]),
]


# covers: S0-85, S0-87
def test_what_makes_auto_doubt_a_claim(subtests: pytest.Subtests) -> None:
    for given, doubts in DOUBTED_BY_AUTO:
        with subtests.test(given=given):
            claim = claimed(STRATEGIES["auto"], given)
            assert claim is not None
            assert len(claim.doubts) == len(doubts)
            assert all(part in doubt for part, doubt in zip(doubts, claim.doubts, strict=True))


@pytest.mark.parametrize(
    ("given", "confirms"),
    [
        (case(signal=True, plan=HALF, progressed=True), True),
        (case(signal=True, status="IN_PROGRESS", progressed=False), True),
        (case(signal=True, status="IN_PROGRESS", progressed=True), False),
        (case(signal=True, status="IN_PROGRESS", reports_change=True), False),
        (case(signal=True, fields={"PROGRESS": "60%"}, progressed=True), True),
        (case(signal=True, fields={"TASKS": "3/8"}, status="IN_PROGRESS", progressed=True), False),
        (case(signal=True, progressed=True, evidence=(LEFT,)), False),
        (case(signal=True, progressed=True, evidence=SHARE), True),
        (case(signal=True, progressed=True, evidence=(*SHARE, LEFT)), False),
        (case(completion=SURE, progressed=False), True),
        (case(completion=SURE, progressed=True), False),
        (case(completion=SURE, progressed=True, evidence=(WHOLE_TASK,)), True),
        (case(completion=SURE, tools=9, evidence=(WORK,)), False),
        (case(completion=SURE, tools=9, evidence=(WORK,), standstill="done"), True),
        (case(completion=SURE, tools=9), True),
        (case(completion=SURE, tools=10), False),
        (case(completion=SURE, tools=10, evidence=(WHOLE_TASK,)), True),
        (case(completion=SURE, evidence=(WORK,)), True),
    ],
)
def test_a_report_of_further_work_confirms_no_claim_before_it(given: Case, confirms: bool) -> None:
    claim = claimed(STRATEGIES["auto"], given)
    assert claim is not None
    doubted = claim.model_copy(update={"doubts": ("something",)})
    assert doubted.holds(confirming=True) is confirms
    assert not doubted.holds(confirming=False)


# covers: S4-10, S4-12
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (case(signal=True), True),
        (case(signal=True, plan=HALF, changed=False), True),
        (case(signal=True, status="BLOCKED"), True),
        (case(signal=False), False),
        (case(completion=SURE, plan=WHOLE, points=35, indicators=("a", "b", "c")), False),
    ],
)
def test_exit_signal_is_the_signal_and_nothing_else(given: Case, expected: bool) -> None:
    assert claims("exit_signal", given) is expected


# covers: S4-11, S4-14, S4-18, S4-19, S4-20, S4-21, S4-22, S4-23, K4-3, K4-10
@pytest.mark.parametrize(
    ("points", "indicators", "signal", "expected"),
    [
        (35, 3, None, True),
        (30, 2, None, True),
        (29, 2, None, False),
        (30, 1, None, False),
        (25, 2, None, False),
        (20, 2, None, False),
        (35, 3, False, False),
        (0, 0, True, True),
    ],
)
def test_natural_language_is_thirty_points_and_two_indicators(
    points: int, indicators: int, signal: bool | None, expected: bool
) -> None:
    given = case(points=points, indicators=tuple("abc"[:indicators]), signal=signal, plan=HALF)
    assert claims("natural_language", given) is expected


# covers: S1-55, K1-2, S1-68
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (case(completion=UNSURE, confidence=40), True),
        (case(completion=UNSURE, confidence=39.9), False),
        (case(confidence=100), False),
        (case(completion=UNSURE, confidence=100, signal=False), False),
        (case(completion=UNSURE, confidence=55, signal=True), True),
    ],
)
def test_done_signals_need_words_and_a_confidence_of_forty(given: Case, expected: bool) -> None:
    assert claims("done_signals", given) is expected


# covers: S0-84, S0-85, S1-68
@pytest.mark.parametrize(
    ("state", "expected"),
    [(WHOLE, True), (OLD, True), (HALF, False), (EMPTY, False), (GONE, False), (CUT, False), (None, False)],
)
def test_fix_plan_is_every_box(state: PlanState | None, expected: bool) -> None:
    assert claims("fix_plan", case(plan=state)) is expected


# covers: S0-101, S1-68
def test_circuit_breaker_takes_nothing_for_a_claim() -> None:
    assert not claims("circuit_breaker", case(signal=True, plan=WHOLE, completion=SURE, confidence=100))


UNFINISHED_TURNS = [
    Failed(failure="crashed"),
    Failed(failure="rate_limited"),
    Failed(failure="auth"),
    TimedOut(limit="idle", after=5),
    Interrupted(by="signal"),
    Interrupted(by="limit"),
]


def test_a_turn_that_the_agent_did_not_end_claims_nothing(subtests: pytest.Subtests) -> None:
    for strategy in STRATEGIES:
        for outcome in UNFINISHED_TURNS:
            with subtests.test(strategy=strategy, outcome=outcome):
                everything: dict[str, Any] = {
                    "plan": WHOLE,
                    "completion": SURE,
                    "confidence": 100,
                    "points": 35,
                    "indicators": ("a", "b", "c"),
                }
                assert not claims(strategy, case(signal=True, outcome=outcome, **everything))


def test_strategies_go_by_their_names() -> None:
    assert {strategy.name for strategy in STRATEGIES.values()} == set(STRATEGIES)
    assert strategy_named("auto") is STRATEGIES["auto"]
    with pytest.raises(UnknownNameError, match="Did you mean 'fix_plan'"):
        strategy_named("fixplan")

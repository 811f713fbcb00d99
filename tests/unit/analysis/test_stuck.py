import pytest

from ralph.analysis import AnalysisContext, Past, ResponseAnalyzer, Stuck, analyze_text, detect_stuck_loop
from ralph.output import Failed, Output
from ralph.status import StatusMissing

ERROR = "TypeError: x at /w/{0}.py:{0}"
LONG = "The server answers with the page, the page shows a list of names, and every name leads to a form. " * 4


# covers: S1-43, S1-44, S1-45, S1-46, S1-47, S1-48
def test_the_same_error_three_times() -> None:
    found = detect_stuck_loop([ERROR.format(number) for number in range(3)])
    assert found.detected
    assert found.repeated_patterns == ("typeerror: x at path",)
    assert found.error_frequency == {"typeerror: x at path": 3}
    assert found.confidence == 100


@pytest.mark.parametrize(
    "history", [[], ["a: b"] * 2, ["one", "two", "three", "four"], ["same", *"abcd", "same", "same"]]
)
def test_errors_that_do_not_repeat_enough(history: list[str]) -> None:
    found = detect_stuck_loop(history)
    assert not found.detected
    assert found.repeated_patterns == ()


def _loop(texts: list[str], progressed: bool | None = None, errors: tuple[str, ...] = ()) -> Stuck:
    past = tuple(Past(text=text, progressed=progressed, error_signatures=errors) for text in texts[:-1])
    context = AnalysisContext(past=past, progressed=progressed, errors=errors)
    return ResponseAnalyzer().analyze(Output(text=texts[-1]), StatusMissing(), context).stuck


def test_three_equal_outputs_are_stuck_unless_the_workspace_moves() -> None:
    assert _loop(["Working on it."] * 3).repeated_patterns == ("repeated output",)
    assert not _loop(["Working on it."] * 2).detected
    assert not _loop(["Working on it."] * 3, progressed=True).detected


def test_near_identical_outputs_are_stuck() -> None:
    assert _loop([f"Pass {number}. {LONG}" for number in range(3)]).detected
    assert not _loop(["read_file(a)", "read_file(b)", "read_file(c)"]).detected


def test_no_progress_three_times_is_stuck() -> None:
    found = _loop(["One thing.", "Another one.", "A third."], progressed=False)
    assert found.repeated_patterns == ("no progress",)
    assert found.confidence == 100


def test_errors_alone_do_not_stop_a_loop_whose_replies_differ() -> None:
    found = _loop(["One thing.", "Another one.", "A third."], errors=("same error",))
    assert not found.detected
    assert found.repeated_patterns == ("same error",)
    assert found.error_frequency == {"same error": 3}


# covers: S1-60, S1-61
def test_a_test_only_loop_is_stuck() -> None:
    replies = [f"Tests: {number} passed, 9 total" for number in (7, 8, 9)]
    analysis = analyze_text(replies[-1], previous=replies[:-1])
    assert analysis.stuck.repeated_patterns == ("test-only loop",)
    assert not analysis.completion.detected
    assert analysis.state != "done"


def test_an_error_history_from_outside_counts() -> None:
    assert analyze_text("", errors=[ERROR.format(number) for number in range(3)]).stuck.detected


def test_a_failure_is_a_signature_and_a_state() -> None:
    def of(failed: Failed):
        return ResponseAnalyzer().analyze(Output(outcome=failed), StatusMissing(), AnalysisContext())

    assert of(Failed(failure="unavailable", status=503)).error_signatures == ("failed:unavailable:503",)
    assert of(Failed(failure="unavailable")).state == "error"
    assert of(Failed(failure="rate_limited")).state == "limited"


def test_rate_limited_iterations_are_no_circle() -> None:
    limited = Output(outcome=Failed(failure="rate_limited"))
    past = tuple(Past(state="limited", progressed=False) for _ in range(4))
    analyzer, context = ResponseAnalyzer(), AnalysisContext(past=past, progressed=False)
    assert not analyzer.analyze(limited, StatusMissing(), context).stuck.detected
    assert not analyzer.analyze(Output(text="On it."), StatusMissing(), context).stuck.detected

"""Nity Loop's response analyzer, rule by rule, with what was decided where it leaves something open."""

import pytest

from ralph.analysis import (
    Analysis,
    AnalysisContext,
    CompletionSignal,
    Past,
    ResponseAnalyzer,
    Stuck,
    analyze_text,
    calculate_confidence,
    detect_completion,
    detect_stuck_loop,
    extract_work_summary,
)
from ralph.analysis.metrics import output_quality
from ralph.cli.reply import Question, judge
from ralph.decision.claims import strategy_named
from ralph.decision.limits import DecisionSettings
from ralph.pipeline.evaluate import Rules
from ralph.status import StatusMissing
from ralph.types.output import Output

CHECKED = Rules(decision=DecisionSettings(confirm_words=False))
"""Words alone end a run, as where a verifier checks them."""

SIGNAL = "\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n"
TEST_RUN = "PASS src/{0}.test.ts\n\nTests: {0} passed, {0} total\n"


# covers: S1-1, S1-2, S1-7..S1-11, S1-15, S1-16
def test_an_iteration_is_analysed_in_its_context() -> None:
    context = AnalysisContext(
        iteration=4,
        max_iterations=9,
        task="Write the parser.",
        past=tuple(Past(text=f"Pass {number}.") for number in range(3)),
        errors=("TypeError: x is undefined",) * 3,
    )
    analysis = ResponseAnalyzer().analyze(Output(text="The parser is done."), StatusMissing(), context)
    assert isinstance(analysis.completion, CompletionSignal)
    assert isinstance(analysis.stuck, Stuck)
    assert analysis.stuck.error_frequency == {"typeerror: x is undefined": 3}
    assert not ResponseAnalyzer().analyze(Output(), StatusMissing(), AnalysisContext()).stuck.error_frequency


# covers: S1-17
@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (
            "I modified 3 files. 12 tests passed. I fixed 2 errors.",
            "Modified 3 files, 12 tests passing, 2 errors fixed",
        ),
        ("I modified 1 file.", "Modified 1 file"),
        ("12 tests passed.", "12 tests passing"),
        ("I looked at the parser.", ""),
    ],
)
def test_the_result_has_the_summary_of_the_work(text: str, summary: str) -> None:
    assert analyze_text(text).work_summary == summary
    assert judge(Question(text=text), Rules()).as_json()["work_summary"] == summary


# covers: S1-12..S1-14, S1-18..S1-25, K1-6, K1-9, S2-73, D-9
def test_the_result_says_whether_to_exit_why_and_how_sure_it_is() -> None:
    done = judge(Question(text="All tests passing. The parser is done."), CHECKED).as_json()
    assert (done["should_exit"], done["exit_reason"]) == (True, "completion")
    assert done["completion"] == {
        "detected": True,
        "keywords": ["all tests passing", "done"],
        "test_only": False,
        "confidence": 100.0,
    }
    going = judge(Question(text="I wrote half of it.", errors=("a: b",) * 3), Rules()).as_json()
    assert (going["should_exit"], going["exit_reason"]) == (False, None)
    assert going["stuck"]["repeated_patterns"] == ["a: b"]
    assert going["stuck"]["error_frequency"] == {"a: b": 3}
    for told in (done, going):
        shares = (told["confidence"], told["completion"]["confidence"], told["stuck"]["confidence"])
        assert all(0 <= share <= 100 for share in shares)


# covers: S1-3..S1-6, K1-5
def test_each_part_can_be_asked_for_by_itself() -> None:
    assert detect_completion("The parser is done.").keywords == ("done",)
    assert detect_stuck_loop(["a: b"] * 3).detected
    assert extract_work_summary("12 tests passing") == "12 tests passing"
    assert calculate_confidence("The parser is done.", AnalysisContext()) > 40
    task = "Go on until the parser and the printer are done."
    assert detect_completion("Until the parser and the printer are done.", task).keywords == ()


# covers: S1-26..S1-35, K1-1, K1-8
@pytest.mark.parametrize(
    ("text", "strength", "detected"),
    [
        ("The parser is done.", 60, False),
        ("The parser is complete.", 60, False),
        ("The parser is finished.", 60, False),
        ("The parser is ready for review.", 60, False),
        ("The parser is done. Done it is, all done.", 60, False),
        ("The parser is done. The printer is finished.", 100, True),
        ("All tests passing.", 100, True),
        ("There are no remaining issues.", 100, True),
        ("The parser is done. 12 tests passed.", 60, True),
        ("The parser is done. 12 tests passed, 1 failed.", 60, False),
        (f"The parser is done.{SIGNAL}", 60, True),
        ("I looked at the parser.", 0, False),
        ("12 tests passed in the end, I looked at them all.", 0, False),
    ],
)
def test_two_signals_or_a_very_high_one(text: str, strength: float, detected: bool) -> None:
    found = detect_completion(text)
    assert (found.confidence, found.detected) == (strength, detected)


# covers: K1-10, S1-58, S1-59
@pytest.mark.parametrize(
    "text",
    [
        "Tests done but build failing",
        "All tests passing, but the build is red.",
        "All tests passing except two.",
        "All tests passing. However, the build is red.",
        "All tests passing, although the printer is missing.",
        "All tests passing, still without the printer.",
        "All tests passing; the printer remains.",
        "All tests passing for the part that is partially there.",
        "All tests passing, TODO: the printer.",
        "Not all tests passing.",
        "All tests passing is not yet the case.",
    ],
)
def test_what_qualifies_a_completion_cancels_it(text: str) -> None:
    assert not detect_completion(text).detected


# covers: S1-30, K1-10
@pytest.mark.parametrize("verb", ["passing", "pass", "passed", "green", "are passing", "are green", "have passed"])
def test_all_tests_passing_is_known_in_its_inflections(verb: str) -> None:
    assert detect_completion(f"All tests {verb}.").keywords == ("all tests passing",)
    assert detect_completion(f"All 12 unit tests {verb}.").detected


# covers: S1-36, S1-56, S1-57
@pytest.mark.parametrize(
    "text", ["That's done! Next I look at the printer.", "Great, that's done!", "Is it done, is it finished?"]
)
def test_conversation_ends_no_loop(text: str) -> None:
    assert not judge(Question(text=text), Rules()).as_json()["should_exit"]


# covers: S1-39..S1-41, S1-50, K1-3
@pytest.mark.parametrize(
    ("line", "passing"),
    [
        ("12 tests passing", True),
        ("12 passed", True),
        ("3 specs passed", True),
        ("Tests: 12 passed, 12 total", True),
        ("=== 5 passed in 0.1s ===", True),
        ("PASS src/a.test.ts", True),
        ("ok  \texample.org/add\t0.002s", True),
        ("test result: ok. 2 passed; 0 failed; 0 ignored", True),
        ("12 passed, 1 failed", False),
        ("0 passed", False),
        ("0 tests passed", False),
        ("FAIL src/a.test.ts", False),
        ("3 SPECS FAILED", False),
    ],
)
def test_passing_is_more_than_none_passed_and_none_failed(line: str, passing: bool) -> None:
    for _ in range(3):
        analysis = analyze_text(line)
        assert any(piece.signal == "test_run" and piece.weight > 0 for piece in analysis.evidence) is passing
        assert (calculate_confidence(line) - calculate_confidence("x" * len(line)) > 20) is passing


# covers: S1-37, S1-39..S1-42
@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("PASS src/a.test.ts\nSKIP src/b.test.ts\n", True),
        ("FAIL src/a.test.ts\n", True),
        ("12 tests passed", True),
        ("3 specs failed", True),
        ("Test Suite: parser\n", True),
        ("Test Suites: 2 passed, 2 total\n", True),
        ("I changed the parser in `a.py`.\n\nPASS src/a.test.ts\n", False),
        ("12 tests passed, and I implemented the printer.", False),
        ("I changed the parser.", False),
    ],
)
def test_a_reply_that_is_test_output_and_nothing_else(text: str, only: bool) -> None:
    found = detect_completion(text)
    assert (found.test_only, found.detected) == (only, False)


# covers: S1-38, S1-60, S1-61, K1-4, KX-7
def test_running_tests_again_and_again_is_stuck_and_no_completion() -> None:
    runs = [TEST_RUN.format(number) for number in range(1, 4)]
    assert not analyze_text(runs[0]).stuck.detected
    assert not analyze_text(runs[1], previous=runs[:1]).stuck.detected
    third = analyze_text(runs[2], previous=runs[:2])
    assert "test-only loop" in third.stuck.repeated_patterns
    assert not third.completion.detected
    told = judge(Question(text=runs[2], previous=tuple(runs[:2])), Rules()).as_json()
    assert (told["decision"], told["exit_reason"]) == ("halt", "test_saturation")


# covers: S1-43..S1-48, K1-7, K4-2
@pytest.mark.parametrize(
    ("history", "repeated"),
    [
        (["E: at /a/b.py:1", "E: at /c/d.py:22", "E: at /e.py:333"], ("e: at path",)),
        (["a: b", "a: b"], ()),
        (["a: b", "c: d", "a: b", "c: d", "a: b"], ("a: b",)),
        (["a: b", "a: b", "c: d", "c: d", "c: d"], ("c: d",)),
        (["a: b", "a: b", "c: d", "e: f", "g: h", "a: b"], ()),
        (["", " ", ""], ()),
    ],
)
def test_an_error_three_times_in_the_last_five(history: list[str], repeated: tuple[str, ...]) -> None:
    found = detect_stuck_loop(history)
    assert (found.repeated_patterns, found.detected) == (repeated, bool(repeated))
    assert all(count >= 3 for pattern, count in found.error_frequency.items() if pattern in repeated)


# covers: K1-7
def test_the_window_and_the_repeats_can_be_set() -> None:
    history = ["a: b", "c: d", "c: d", "c: d", "c: d", "c: d", "a: b"]
    assert detect_stuck_loop(history, window=7, repeats=2).repeated_patterns == ("c: d", "a: b")
    assert not detect_stuck_loop(history, repeats=6).detected


# covers: D-5
def test_the_same_error_in_replies_that_move_on_is_counted_and_stops_nothing() -> None:
    def met(text: str, *before: str, progressed: bool) -> Stuck:
        error = "TypeError: x is undefined"
        past = tuple(Past(text=one, progressed=progressed, error_signatures=(error.lower(),)) for one in before)
        context = AnalysisContext(past=past, progressed=progressed)
        return ResponseAnalyzer().analyze(Output(text=f"{text}\n\n{error}"), StatusMissing(), context).stuck

    moving = met("The printer compiles.", "I wrote the parser.", "The lexer is faster.", progressed=True)
    assert (moving.detected, moving.error_frequency) == (False, {"typeerror: x is undefined": 3})
    assert met("I go on.", "I go on.\n\nTypeError: x is undefined", "I go on.", progressed=False).detected


# covers: S1-49..S1-54, K1-2, K1-8, K4-5
@pytest.mark.parametrize(
    ("text", "keywords", "tests", "errors"),
    [
        ("", 0, 0, None),
        ("Hm.", 0, 0, 0),
        ("The parser is done.", 60, 0, 0),
        ("The parser is done. The printer is finished.", 100, 0, 0),
        ("All tests passing.", 100, 100, 0),
        ("I ran it: 12 passed.", 0, 100, 0),
        ("The parser is done. An error is left, a bug.", 60, 0, 2),
        ("Error, failure, exception, issue, problem.", 0, 0, 5),
        (
            "The parser is done in `a.py`, `b.py`, `c.py` and in `d.py`, 12 passed. " + "Word upon word. " * 40,
            60,
            100,
            0,
        ),
    ],
)
def test_the_weighted_sum(text: str, keywords: int, tests: int, errors: int | None) -> None:
    clean = 0 if errors is None else max(0, 100 - 25 * errors)
    whole = 0.35 * keywords + 0.25 * tests + 0.20 * output_quality(text) + 0.20 * clean
    assert calculate_confidence(text) == pytest.approx(whole, abs=0.051)
    assert analyze_text(text).confidence == calculate_confidence(text)


# covers: S1-55, K1-2
@pytest.mark.parametrize(
    ("text", "exits"),
    [
        ("All tests passing.", True),
        ("The parser is done. The printer is finished.", True),
        ("The parser is done. 12 tests passed.", True),
        ("The parser is done.", False),
        ("See `a.py`, `b.py`, `c.py`, `d.py`, `e.py`: 12 passed. " + "Word upon word. " * 40, False),
    ],
)
def test_done_signals_need_a_detected_completion_and_forty(text: str, exits: bool) -> None:
    assert analyze_text(text).confidence >= 40
    told = judge(Question(text=text), Rules(strategy=strategy_named("done_signals"))).as_json()
    assert told["should_exit"] is exits


# covers: S1-62, K1-5
@pytest.mark.parametrize(
    ("text", "task", "counted"),
    [
        ("All pages are done and finished now.", "Work until all pages are done and finished now.", False),
        ("All pages are done and finished now.", "Write the pages.", True),
        ("All pages are done and finished now.", "", True),
        ("I am done. It is finished.", "Stop when you are done and have finished.", True),
    ],
)
def test_an_echo_is_four_words_of_the_task_around_the_keyword(text: str, task: str, counted: bool) -> None:
    assert detect_completion(text, task).detected is counted


# covers: S1-63..S1-65
@pytest.mark.parametrize(
    "told",
    [
        "Modified 3 files, 12 tests passing, 2 errors fixed",
        "I modified three files. All 12 tests pass. I fixed two errors.",
        "3 files changed, 40 insertions(+)\n\n12 passed in 0.2s\n\nI fixed both bugs.",
        "Updated a.py, `b/c.py` and d.py; 12/12 tests passing; resolved 2 issues",
        "Files changed: 3. Tests: 12 passed. Errors fixed: 2.",
    ],
)
def test_the_summary_is_files_tests_and_errors(told: str) -> None:
    assert extract_work_summary(told) == "Modified 3 files, 12 tests passing, 2 errors fixed"


# covers: S1-63
@pytest.mark.parametrize(
    ("told", "summary"),
    [("I looked around.", ""), ("Modified 1 file.", "Modified 1 file"), ("I will modify 3 files", "")],
)
def test_the_summary_tells_only_what_was_done(told: str, summary: str) -> None:
    assert extract_work_summary(told) == summary


# covers: KX-2
def test_the_four_confidences_are_four_numbers() -> None:
    text = "The parser is probably done."
    analysis: Analysis = analyze_text(text, previous=[text, text])
    assert analysis.metrics.confidence == 60, "the agent's certainty"
    assert analysis.completion.confidence == 60, "the keyword"
    assert analysis.confidence == calculate_confidence(text), "the weighted sum"
    assert analysis.stuck.confidence == 100, "the share of the window that repeats"

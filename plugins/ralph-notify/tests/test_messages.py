"""The texts of notifications."""

from datetime import UTC, datetime

import pytest

from ralph import Analysis, Continue, Usage
from ralph.analysis import AnalysisContext, ResponseAnalyzer
from ralph.records.events import Event, IterationFinished, Paused, RunFinished, RunStarted, VerificationFinished
from ralph.types.output import Answered
from ralph_notify.messages import line, message

AT = datetime(2026, 11, 21, 3, 30, tzinfo=UTC)


def finished(**more: object) -> RunFinished:
    values = {
        "run_id": "a1",
        "at": AT,
        "stop_reason": "completed",
        "verified": True,
        "verified_by": "`pytest` failed before and passes now",
        "detail": "the plan is done",
        "iterations": 7,
        "executors": {"copilot": 7},
        "usage": Usage(),
        "duration": 7_500.0,
    }
    return RunFinished.model_validate({**values, **more})


def texts(event: Event, task: str = "Write a parser.") -> tuple[str, str, str]:
    made = message(event, task)
    assert made is not None
    return made


def test_the_end_of_a_run_says_what_the_user_needs():
    title, body, kind = texts(finished())
    assert (title, kind) == ("Ralph: completed", "success")
    assert body.splitlines() == [
        "Task: Write a parser.",
        "Why: the plan is done",
        "Verified: yes: 'pytest' failed before and passes now",
        "Iterations: 7, in 2 h 5 min",
        "Details: ralph show a1",
    ]


def test_an_unverified_completion_differs_from_a_verified_one():
    _, body, kind = texts(finished(verified=False, verified_by="the agent's word alone", still_open=("a box is open",)))
    assert kind == "warning"
    assert "Verified: no: the agent's word alone" in body
    assert "Still open: a box is open" in body


def test_a_run_that_stopped_is_a_failure_without_a_word_on_verification():
    title, body, kind = texts(finished(stop_reason="test_saturation", verified=False))
    assert (title, kind) == ("Ralph: test saturation", "failure")
    assert "Verified" not in body


def test_a_pause_says_until_when():
    _, body, _ = texts(Paused(run_id="a1", at=AT, iteration=3, until=AT, reason="rate limited"))
    assert "Until: 2026-11-21 03:30 UTC" in body
    _, body, _ = texts(Paused(run_id="a1", seq=4, at=AT, reason="asked to"))
    assert "Until you resume it." in body
    _, body, _ = texts(Paused(run_id="a1", at=AT, reason="the store cannot be written"))
    assert "Until" not in body


def test_the_question_of_the_agent_is_passed_on():
    analysis = Analysis(state="question", question="Which database should I use?")
    event = IterationFinished(
        run_id="a1", at=AT, iteration=2, outcome=Answered(), analysis=analysis, decision=Continue()
    )
    title, body, _ = texts(event)
    assert title == "Ralph: the agent needs you in iteration 2"
    assert "The agent says: Which database should I use?" in body


def test_a_verification_before_the_first_iteration_sends_nothing():
    before = VerificationFinished(run_id="a1", at=AT, iteration=0, passed=False, verdicts=())
    assert message(before, "") is None
    assert texts(before.model_copy(update={"iteration": 1}))[0] == "Ralph: verification failed"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo\r\n\tthree", "one two three"),
        ("\x1b[31mred\x1b[0m \u202eback", "[31mred [0m back".replace("[", "(")),
        ("@everyone <!channel> <@123>", "＠everyone ‹!channel› ‹＠123›"),
        ("see https://evil.example/x", "see https:⁄⁄evil.example/x"),
        ("x" * 300, "x" * 99 + "…"),
        ("", ""),
    ],
)
def test_foreign_text_is_one_harmless_line(text: str, shown: str):
    assert line(text, 100) == shown


def test_a_message_is_short_whatever_it_is_made_of():
    huge = "@<[ \n" * 200_000
    event = finished(detail=huge, still_open=(huge,) * 40, run_id="r" * 10_000)
    assert len(texts(event, huge)[1]) < 2_500
    assert len(texts(RunStarted(run_id="a1", at=AT, task=huge, workspace="/" + "w" * 10_000))[1]) < 2_500


def test_a_question_is_recognised_as_the_analysis_gives_it():
    from ralph import Output, parse_status

    output = Output(text="I cannot go on. Which database should I use, PostgreSQL or SQLite?", outcome=Answered())
    analysis = ResponseAnalyzer().analyze(output, parse_status(output.text), AnalysisContext())
    assert analysis.state in {"blocked", "question"}

"""The next step after a run that stopped early."""

import io
from datetime import UTC, datetime

import pytest

from ralph.analysis import Past
from ralph.analysis.stuck import find_stuck
from ralph.decision.outcomes import Halt
from ralph.errors import naming_store
from ralph.records.events import Event, IterationFinished, ProtectedRestored, RunFinished
from ralph.types.output import Failed
from ralph.watch.plain import PlainDisplay
from ralph.watch.summary import next_step
from ralph.watch.terminal import evidence_text


@pytest.mark.parametrize(
    ("failure", "endpoint", "said"),
    [
        (Failed(failure="auth", status=401), True, "RALPH_EXECUTOR__API_KEY"),
        (Failed(failure="refused", status=403), True, "executor.api_key"),
        (Failed(failure="refused", status=404), True, "--base-url"),
        (Failed(failure="refused", status=404), True, "--model"),
        (Failed(failure="refused", status=400), True, "smaller task"),
        (Failed(failure="unavailable", status=500), True, "endpoint"),
        (Failed(failure="auth"), False, "`ralph login`"),
        (Failed(failure="auth", status=401), False, "GH_TOKEN"),
        (Failed(failure="refused", status=403), False, "account"),
        (Failed(failure="refused", status=404), False, "--model"),
        (Failed(failure="unavailable"), False, "ralph doctor"),
        (None, False, "ralph doctor"),
    ],
)
def test_where_no_executor_can_work_the_failure_says_what_to_do(
    failure: Failed | None, endpoint: bool, said: str
) -> None:
    assert said in next_step("executor_unavailable", failure, endpoint=endpoint)


@pytest.mark.parametrize(
    "reason", ["stuck", "test_saturation", "circuit_open", "limit_reached", "blocked", "cancelled"]
)
def test_after_every_stop_the_run_can_go_on(reason: str) -> None:
    assert "`ralph resume`" in next_step(reason)  # type: ignore[arg-type]


def test_where_tools_were_denied_it_says_how_they_are_allowed() -> None:
    assert "--allow" in next_step("circuit_open", detail="2 permission-denied iterations in a row")


def test_what_the_service_denies_no_permission_of_ralphs_allows() -> None:
    detail = "the same error 5 times: unavailable; the last turn failed: unavailable (HTTP 503): access denied by proxy"
    assert "--allow" not in next_step("circuit_open", detail=detail)


@pytest.mark.parametrize("reason", [None, "completed", "error"])
def test_nothing_need_be_done_after_the_others(reason: str | None) -> None:
    assert next_step(reason) == ""  # type: ignore[arg-type]


def test_the_summary_of_a_refused_key_names_the_setting(whole_run: list[Event]) -> None:
    refused = Failed(failure="auth", status=401, message="no such key")
    end = {"stop_reason": "executor_unavailable", "still_open": ("still open in the plan: one",)}
    events: list[Event] = [
        event.model_copy(update={"outcome": refused, "decision": Halt(stop_reason="executor_unavailable", reason="x")})
        if isinstance(event, IterationFinished)
        else event.model_copy(update=end)
        if isinstance(event, RunFinished)
        else event
        for event in whole_run
    ]
    out = io.StringIO()
    with PlainDisplay(out, endpoint=True) as display:
        for event in events:
            display.show(event)
    assert "RALPH_EXECUTOR__API_KEY" in out.getvalue()
    assert out.getvalue().count("still open") == 1


@pytest.mark.parametrize(
    ("reason", "detail", "said"),
    [
        ("stuck", "", "run a smaller task"),
        ("circuit_open", "2 permission-denied iterations in a row", "--allow PATTERN"),
        ("executor_unavailable", "", "`ralph doctor`"),
        ("limit_reached", "", "run it again with more"),
        ("cancelled", "", ""),
    ],
)
def test_no_command_is_advised_that_would_not_find_the_run(
    whole_run: list[Event], reason: str, detail: str, said: str
) -> None:
    end = whole_run[-1].model_copy(update={"stop_reason": reason, "verified": False, "detail": detail})
    out = io.StringIO()
    with PlainDisplay(out, look_up="") as display:
        display.show(end)
    assert said in out.getvalue()
    assert "nothing proves that the work is done" not in out.getvalue(), "that is for a completed run"
    assert naming_store(out.getvalue(), " --store") == out.getvalue()


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        (("notes.txt",), "look at `notes.txt`: `ralph rollback r-1 --to 0` brings it back"),
        ((".git", "a"), "look at `.git`, `a`: `ralph rollback r-1 --to 0` brings it back, but not git's folder"),
        ((".env (ignored by git)",), "look at `.env (ignored by git)`: ignored files cannot be brought back"),
        (("a", "b (ignored by git)"), "`ralph rollback r-1 --to 0` brings it back, but not ignored files"),
        ((".git",), "look at `.git`: git's folder cannot be brought back"),
    ],
)
def test_where_work_of_the_user_is_gone_it_says_how_it_comes_back(
    whole_run: list[Event], lost: tuple[str, ...], said: str
) -> None:
    end = whole_run[-1].model_copy(update={"stop_reason": "completed", "verified": False, "lost": lost})
    out = io.StringIO()
    with PlainDisplay(out, look_up="ralph show") as display:
        display.show(end)
    text = " ".join(out.getvalue().split())
    assert text.count("lost look at ") == 1
    assert f"{said} " in text
    assert "--verify" not in text


def test_what_is_restored_for_a_check_says_for_which_and_how_to_leave_it(whole_run: list[Event]) -> None:
    end = whole_run[-1]
    restored = ProtectedRestored(
        run_id=end.run_id,
        at=end.at,
        iteration=1,
        paths=(".git/config", "check.sh", "ralph.toml"),
        because={"check.sh": "the check `./check.sh` runs"},
        parts={".git/config": "core.fsmonitor, core.hooksPath"},
    )
    out = io.StringIO()
    with PlainDisplay(out) as display:
        display.show(restored)
    text = " ".join(out.getvalue().split())
    assert "check.sh, which the check `./check.sh` runs (--protect-checks off leaves it)" in text
    assert "core.fsmonitor, core.hooksPath in .git/config, ralph.toml: protected" in text


def test_a_circle_is_told_with_what_goes_round() -> None:
    first, *_ = find_stuck([Past(text="I look at it again.")] * 3).evidence
    assert evidence_text(first) == "“I look at it again.”: the same output 3 times"
    without_words, *_ = find_stuck([Past(progressed=False, text=text) for text in ("One.", "Two.", "Three.")]).evidence
    assert "“" not in evidence_text(without_words)


def test_the_iterations_of_each_executor_and_the_unanswered_ones_add_up() -> None:
    end = RunFinished.model_validate({
        "run_id": "r",
        "at": datetime.now(UTC),
        "stop_reason": "limit_reached",
        "verified": False,
        "detail": "why",
        "iterations": 4,
        "executors": {"copilot-sdk": 2, "copilot-cli": 1},
        "usage": {},
        "duration": 1,
    })
    out = io.StringIO()
    with PlainDisplay(out) as display:
        display.show(end)
    assert "4 (copilot-cli 1, copilot-sdk 2, unanswered 1)" in out.getvalue()


@pytest.mark.parametrize(
    ("executor", "said"),
    [("copilot-sdk", "`ralph login`,"), ("claude", "`ralph login --executor claude`"), ("codex", "--executor codex")],
)
def test_the_login_is_that_of_the_agent_that_failed(executor: str, said: str) -> None:
    assert said in next_step("executor_unavailable", Failed(failure="auth"), executor)

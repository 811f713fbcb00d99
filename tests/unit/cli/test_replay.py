"""`ralph replay`: the contract's JSON, what-ifs, stored runs, and the report for people."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.cli.replay_rules import parse_overrides
from ralph.errors import UsageError
from ralph.executors.base import Turn
from ralph.prompt import Prompt
from ralph.records.record import RunRecord
from ralph.testing import ScriptedExecutor
from ralph.types.output import Failed, Output

DONE = "It is done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---"
WORKING = "I go on.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: more to do\n---END_RALPH_STATUS---"
IDLE = {"text": "I have looked around.", "changes": {"files": 0, "commits": 0}, "cost": 0.5}


def worked(number: int, **more: Any) -> dict[str, Any]:
    return {"text": f"Wrote part {number}.", "changes": {"files": 2, "commits": 1}, "cost": 1.0, **more}


def idle(number: int, **more: Any) -> dict[str, Any]:
    return {**IDLE, "text": f"I have looked at file number {number}.", **more}


@pytest.fixture
def told(ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What the program answers to passes on its standard input."""

    def call(passes: list[Any], *words: str) -> Any:
        raw = b"".join((each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in passes)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        return ralph("replay", *words)

    return call


def answers(ended: Any) -> list[dict[str, Any]]:
    assert (ended.code, ended.err) == (0, "")
    return [json.loads(line) for line in ended.out.splitlines()]


class TestLines:
    def test_the_contract(self, told: Callable[..., Any]) -> None:
        passes = [worked(1), {"text": DONE, "changes": {"files": 1, "commits": 0}}, worked(3), {"text": "?"}]
        (answer,) = answers(told([{**each, "run": "a"} for each in passes], "--jsonl"))
        assert answer.keys() >= {"run", "stopped_at", "stop_reason", "decisions", "saved"}
        assert (answer["run"], answer["stopped_at"], answer["stop_reason"]) == ("a", 1, "completed")
        first, last = answer["decisions"]
        assert first == {
            "index": 0,
            "decision": "continue",
            "reason": "nothing says that the task is done",
            "breaker": "closed",
            "progressed": True,
        }
        assert (last["index"], last["decision"], last["reason"]) == (1, "complete", "EXIT_SIGNAL: true")
        assert answer["saved"] == {"passes": 2, "cost": 1.0, "unknown_costs": 1}
        assert answer["cut"] == {"passes": 1, "unknown": 1}

    def test_runs_may_be_mixed_and_a_run_without_a_name_is_one(self, told: Callable[..., Any]) -> None:
        passes = [idle(1, run="a"), worked(1), idle(2, run="a"), {**worked(2), "run": 7}, idle(3, run="a"), worked(3)]
        found = answers(told(passes, "--jsonl"))
        assert [(each["run"], each["passes"], each["stopped_at"]) for each in found] == [
            ("a", 3, 2),
            (None, 2, None),
            ("7", 1, None),
        ]

    def test_nobody_logged_in_is_a_pause_once_and_then_the_end(self, told: Callable[..., Any]) -> None:
        passes = [worked(1), *[{"text": "Invalid API key · Please run /login", "tools": 0}] * 3, worked(2)]
        (answer,) = answers(told(passes, "--jsonl"))
        assert [each["decision"] for each in answer["decisions"]] == ["continue", "pause", "halt"]
        assert (answer["stopped_at"], answer["stop_reason"]) == (2, "executor_unavailable")
        assert "log in" in answer["decisions"][-1]["reason"]

    def test_more_passes_without_progress_are_allowed_to_a_loop_that_is_let_go_on(
        self, told: Callable[..., Any]
    ) -> None:
        thoughts = (
            "The lexer is small.",
            "Names come first.",
            "Rows may be empty.",
            "Quotes are odd.",
            "I see a tree.",
        )
        passes = [{**IDLE, "text": text} for text in (*thoughts, "Or a list?")]
        (by_default,) = answers(told(passes, "--jsonl"))
        (patient,) = answers(told(passes, "--jsonl", "--set", "breaker.no_progress=5"))
        assert (by_default["stopped_at"], by_default["stop_reason"]) == (2, "circuit_open")
        assert (patient["stopped_at"], patient["stop_reason"]) == (4, "circuit_open")
        assert not any("pivot" in each for each in patient["decisions"])

    def test_a_broken_line_is_answered_with_its_number_and_the_rest_goes_on(self, told: Callable[..., Any]) -> None:
        broken: list[Any] = [
            b"{",
            b"[1]",
            {"run": "a"},
            {"text": "a", "cost": -1},
            {"text": "a", "at": "noon"},
            b"\xff",
        ]
        broken += [b'{"text": "a", "cost": 1e999}', b'{"text": "a", "tools": NaN}', b"[" * 99_999]
        found = answers(told([worked(1), b"", *broken, worked(2)], "--jsonl"))
        assert [each["line"] for each in found[:-1]] == list(range(3, 3 + len(broken)))
        assert all(each["error"] for each in found[:-1])
        assert found[2]["error"].startswith("text: ")
        assert (found[-1]["passes"], found[-1]["stopped_at"]) == (2, None)

    def test_missing_is_unknown_and_null_is_missing(self, told: Callable[..., Any]) -> None:
        names = ("error", "denials", "tools", "changes", "plan", "usage", "cost", "duration", "at", "run", "task")
        passes = [{"text": f"Looked at {number}.", **dict.fromkeys(names)} for number in range(6)]
        (answer,) = answers(told(passes, "--jsonl"))
        assert answer["stopped_at"] is None
        assert {step["progressed"] for step in answer["decisions"]} == {None}

    @pytest.mark.parametrize("error", ["429 too many requests", "rate limit exceeded, try later"])
    def test_a_pause_lets_the_limited_passes_that_follow_be_skipped(self, told: Callable[..., Any], error: str) -> None:
        passes = [worked(1), *[{"text": "", "error": error, "cost": 0}] * 6, worked(2)]
        (answer,) = answers(told(passes, "--jsonl"))
        assert [(each["index"], each["decision"]) for each in answer["decisions"]] == [
            (0, "continue"),
            (1, "pause"),
            (7, "continue"),
        ]
        assert (answer["stopped_at"], answer["skipped"], answer["saved"]["passes"]) == (None, 5, 0)

    def test_an_error_that_is_not_told_is_told_by_the_reply(self, told: Callable[..., Any]) -> None:
        passes = [{"text": "You've hit your session limit · resets 3am", "error": True}, worked(1)]
        (answer,) = answers(told(passes, "--jsonl"))
        assert [each["decision"] for each in answer["decisions"]] == ["pause", "continue"]

    def test_a_reply_that_is_only_a_services_error_is_one_where_nobody_says_that_it_is_none(
        self, told: Callable[..., Any]
    ) -> None:
        down = {"text": "API Error: 503 Service Unavailable"}
        (unsaid,) = answers(told([worked(1), *[down] * 4, worked(2)], "--jsonl"))
        assert unsaid["stopped_at"] is None
        assert unsaid["decisions"][1]["reason"].startswith("the service does not answer")
        (denied,) = answers(told([worked(1), *[{**down, "error": False}] * 4, worked(2)], "--jsonl"))
        assert not denied["decisions"][1]["reason"].startswith(("the turn failed", "the service does not"))
        (spoken_of,) = answers(
            told([{"text": "I mended the client: a 503 from the network is tried again."}], "--jsonl")
        )
        assert not spoken_of["decisions"][0]["reason"].startswith("the turn failed")

    def test_failures_in_a_row_open_the_breaker(self, told: Callable[..., Any]) -> None:
        (answer,) = answers(told([{"text": "", "error": True}] * 9, "--jsonl"))
        assert (answer["stop_reason"], answer["decisions"][-1]["breaker"]) == ("circuit_open", "open")

    def test_a_pivot_is_marked(self, told: Callable[..., Any]) -> None:
        same = {"text": "I will look into the parser and come back to you with what I have found there."}
        (answer,) = answers(told([same] * 9, "--jsonl"))
        assert [each for each in answer["decisions"] if each.get("pivot") is True and each["decision"] == "continue"]
        assert answer["stop_reason"] == "stuck"

    def test_all_forms_of_what_a_pass_may_hold(self, told: Callable[..., Any]) -> None:
        full = {
            "run": "r",
            "task": "Write a parser.",
            "text": "Wrote \ud800 it.",
            "error": {"type": "overloaded_error"},
            "denials": ["Bash"],
            "tools": 10**12,
            "changes": {"files": ["a.py"], "commits": [], "fingerprint": "f", "more": 1},
            "plan": "- [x] one\n- [ ] two\n",
            "usage": {"input_tokens": 5, "cost": 2, "other": "x"},
            "duration": 3,
            "at": "2026-01-01T00:00:00",
        }
        (answer,) = answers(told([full, {**full, "at": 1_767_225_600, "cost": 4}, {**full, "at": None}], "--jsonl"))
        assert answer["passes"] == 3

    def test_json_is_one_array(self, told: Callable[..., Any]) -> None:
        ended = told([worked(1), b"{"], "--json")
        assert ended.code == 0
        run, broken = json.loads(ended.out)
        assert (run["run"], broken["line"]) == (None, 2)

    def test_nothing_in_nothing_out(self, told: Callable[..., Any]) -> None:
        assert answers(told([], "--jsonl")) == []
        assert json.loads(told([], "--json").out) == []
        assert told([]).out == "There is no pass to replay.\n"


class TestWhatIf:
    @pytest.mark.parametrize(
        ("wish", "stopped_at"),
        [
            ((), 2),
            (("breaker.no_progress=1",), 0),
            (("limits.max_iterations=2",), 1),
            (("breaker.no_progress=9", "breaker.no_progress=2"), 1),
        ],
    )
    def test_a_threshold_moves_the_end(self, told: Callable[..., Any], wish: tuple[str, ...], stopped_at: int) -> None:
        words = [word for one in wish for word in ("--set", one)]
        passes = [idle(number, text=f"{'abcdefghijk'[number] * 9} is what file {number} holds.") for number in range(9)]
        (answer,) = answers(told(passes, "--jsonl", *words))
        assert answer["stopped_at"] == stopped_at

    def test_a_strategy_and_a_limit_that_is_taken_away(self, told: Callable[..., Any], workspace: Path) -> None:
        words = {"text": "All tests passing. No remaining issues. The task is complete.", "changes": {"files": 1}}
        (by_words,) = answers(told([words, words, worked(1)], "--jsonl"))
        (at_once,) = answers(told([words, worked(1)], "--jsonl", "--set", "decision.confirm_words=false"))
        (by_signal,) = answers(told([words, words, worked(1)], "--jsonl", "--set", "strategy=exit_signal"))
        assert (by_words["stopped_at"], at_once["stopped_at"], by_signal["stopped_at"]) == (1, 0, None)
        (workspace / "ralph.toml").write_text("[limits]\nmax_iterations = 1\n")
        (limited,) = answers(told([worked(1), worked(2)], "--jsonl"))
        (free,) = answers(told([worked(1), worked(2)], "--jsonl", "--set", "limits.max_iterations=none"))
        assert (limited["stop_reason"], free["stop_reason"]) == ("limit_reached", None)

    def test_the_default_number_of_iterations_does_not_end_a_record(self, told: Callable[..., Any]) -> None:
        passes = [worked(number) for number in range(60)]
        (answer,) = answers(told(passes, "--jsonl"))
        assert answer["stopped_at"] is None
        assert "after 50 iterations" in told(passes).out

    @pytest.mark.parametrize(
        ("wish", "said"),
        [
            (
                "breaker.no_progres=5",
                "--set: breaker.no_progres: there is no such setting. Did you mean 'no_progress'?",
            ),
            ("no_progress=5", "Did you mean 'breaker.no_progress'?"),
            ("breaker.no_progress=many", "'many' is not valid"),
            ("breaker=5", "It is a section"),
            ("breaker.no_progress", "is not KEY=VALUE"),
            ("=5", "is not KEY=VALUE"),
            ("a..b=5", "is not KEY=VALUE"),
            ("keywords=[", "lists and tables are written as JSON"),
            ("strategy=nobody", "There is no exit strategy called 'nobody'"),
            ("preset=nobody", "no profile is called 'nobody'"),
        ],
    )
    def test_a_wish_that_cannot_be_is_a_mistake(self, told: Callable[..., Any], wish: str, said: str) -> None:
        ended = told([], "--set", wish)
        assert ended.code == 2
        assert said in ended.err
        assert "changes nothing" not in ended.err
        assert ended.out == ""

    def test_a_wish_that_changes_nothing_is_told_of(self, told: Callable[..., Any]) -> None:
        ended = told([worked(1)], "--jsonl", "--set", "executor.model=large")
        assert ended.code == 0
        assert "--set executor changes nothing here" in ended.err

    def test_lists_are_json_and_later_wishes_win(self) -> None:
        given = parse_overrides(['keywords=[{"text": "fertig"}]', "breaker=1", "breaker.no_progress = 2 ", "plan=None"])
        assert given.values == {"keywords": [{"text": "fertig"}], "breaker": {"no_progress": "2"}, "plan": None}
        with pytest.raises(UsageError):
            parse_overrides(["plan"])


class TestStoredRuns:
    @pytest.fixture
    def stuck(self, kept_run: Callable[..., RunRecord]) -> RunRecord:
        return kept_run(executor=Writing([WORKING, *[f"I have looked at {name}." for name in "abcdefg"], DONE]))

    def test_it_ends_where_it_has_ended(self, ralph: Callable[..., Any], stuck: RunRecord) -> None:
        (answer,) = answers(ralph("replay", "--run", stuck.id[:15], "--jsonl"))
        assert (answer["run"], answer["stop_reason"]) == (stuck.id, stuck.stop_reason)
        assert (answer["stopped_at"], answer["passes"]) == (stuck.iterations - 1, stuck.iterations)

    def test_a_stricter_breaker_would_have_ended_it_sooner(self, ralph: Callable[..., Any], stuck: RunRecord) -> None:
        (answer,) = answers(ralph("replay", "--run", "last", "--jsonl", "--set", "breaker.no_progress=1"))
        assert answer["stopped_at"] == 1
        ended = ralph("replay", "--run", "last", "--set", "breaker.no_progress=1")
        assert f"stops after pass 2 of {stuck.iterations}" in ended.out
        assert "without" in ended.out

    def test_one_that_is_not_there(self, ralph: Callable[..., Any]) -> None:
        ended = ralph("replay", "--run", "nobody", "--json")
        assert (ended.code, "no run" in ended.err) == (2, True)


class Writing(ScriptedExecutor):
    """Changes the workspace in its first turn only."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        (turn.workspace / "file.txt").write_text("x")
        return await super().execute(prompt, turn)


class TestForPeople:
    def test_what_would_have_been_and_what_it_would_have_saved_and_cut(self, told: Callable[..., Any]) -> None:
        limited = {"text": "", "error": "429 rate limit"}
        passes = [worked(1), limited, limited, idle(1), idle(2), idle(3), worked(4), idle(5), {"text": "?"}]
        shown = told([{**each, "run": "night"} for each in passes]).out
        assert "✗ night  stops after pass 6 of 9: circuit open" in shown
        assert "3 iterations without progress" in shown
        assert "pass 2: waits: rate limited" in shown
        assert "1 pass that met the same rate limit" in shown
        assert "3 passes, $1.50 of $4.00; 1 of unknown cost" in shown
        assert "1 pass with progress; 1 unknown" in shown

    def test_settings_are_compared_with_those_in_force(self, told: Callable[..., Any]) -> None:
        passes = [{**idle(number), "run": run} for run in "ab" for number in range(5)]
        shown = told(passes, "--set", "breaker.no_progress=2").out
        assert "with breaker.no_progress=2" in shown
        assert "stops after pass 2 of 5: circuit open" in shown
        assert "without     stops after pass 3 of 5: circuit open; saves 2 passes" in shown
        assert "2 runs, 10 passes, $5.00" in shown
        assert "2 circuit open" in shown

    def test_a_run_that_goes_on_says_why_it_does(self, told: Callable[..., Any]) -> None:
        shown = told([worked(1), {"text": WORKING, "changes": {"files": 1}}]).out
        assert "→ the run  continues to the end of the record, pass 2" in shown
        assert "why not     the agent says that work is left" in shown

    def test_broken_lines_are_told_of_beside_it(self, told: Callable[..., Any]) -> None:
        ended = told([worked(1), *[b"{"] * 30])
        assert ended.code == 0
        assert "left out: line 2: it is not JSON" in ended.err
        assert "left out: 20 more" in ended.err

    def test_hostile_texts_do_nothing_to_a_terminal(self, told: Callable[..., Any]) -> None:
        shown = told([{"run": "\x1b]0;x\x07[bold]r", "text": "May I?\x1b[2J\u202e" * 9}] * 9).out
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "[bold]r" in shown


class TestSources:
    def test_a_file(self, ralph: Callable[..., Any], workspace: Path) -> None:
        (workspace / "passes.jsonl").write_text(json.dumps(worked(1)))
        assert answers(ralph("replay", "passes.jsonl", "--jsonl"))[0]["passes"] == 1

    @pytest.mark.parametrize("name", ["nowhere.jsonl", "."])
    def test_a_file_that_cannot_be_read(self, ralph: Callable[..., Any], name: str) -> None:
        ended = ralph("replay", name)
        assert ended.code == 2
        assert f"The file {name!r} cannot be read" in ended.err

    def test_a_folder_of_logs(self, ralph: Callable[..., Any], workspace: Path) -> None:
        logs = workspace / "logs"
        logs.mkdir()
        (logs / "claude_output_1.log").write_text(WORKING)
        (logs / "claude_output_2.log").write_text(json.dumps({"type": "result", "result": DONE, "total_cost_usd": 2}))
        (logs / "claude_output_3.log").symlink_to(workspace / "elsewhere")
        (logs / "claude_output_4.log").write_text("Nothing is left to do.")
        unread, answer = answers(ralph("replay", "--from-logs", "logs", "--jsonl"))
        assert unread["file"] == "claude_output_3.log"
        assert (answer["run"], answer["stopped_at"], answer["stop_reason"]) == ("logs", 1, "completed")
        shown = ralph("replay", "--from-logs", "logs").out.splitlines()
        assert shown[-1] == (
            "This run cost at least $2.00; Ralph would have saved 1 pass and cut none that is known to have made "
            "progress (1 unknown)."
        )
        assert [line.split("  ")[0] for line in shown[-3:-1]] == ["cost", "with Ralph"]

    @pytest.mark.parametrize(
        ("facts", "sentence", "picture"),
        [
            (
                {"saved": 6, "saved_cost": 2.5, "cut": 2},
                "These 2 runs cost $20.00; Ralph would have saved $5.00 and cut 4 passes that made progress.",
                [
                    "cost        ██████████████████████████████  $20.00",
                    "with Ralph  ██████████████████████░░░░░░░░  $15.00",
                ],
            ),
            ({}, "These 2 runs cost $20.00; Ralph would have let every pass run.", []),
            (
                {"cost": 0.0, "costless": 10, "saved": 5, "cut": 1},
                "These 2 runs took 20 passes; Ralph would have saved 10 passes and cut 2 passes that made progress.",
                [
                    "passes             ██████████████████████████████  20",
                    "with Ralph         ███████████████░░░░░░░░░░░░░░░  10",
                    "cut with progress  ███░░░░░░░░░░░░░░░░░░░░░░░░░░░  2",
                ],
            ),
        ],
    )
    def test_logs_end_with_a_picture_and_a_sentence(
        self, capfd: pytest.CaptureFixture[str], facts: dict[str, Any], sentence: str, picture: list[str]
    ) -> None:
        from ralph.cli.replay_report import print_picture
        from ralph.pipeline.replay import Replayed

        common: dict[str, Any] = {"passes": 10, "cost": 10.0, **facts}
        print_picture([Replayed(run=run, **common) for run in "ab"])
        *lines, last = capfd.readouterr().out.splitlines()
        assert last == sentence
        assert lines[1 : 1 + len(picture)] == picture

    def test_two_sources_are_one_too_many(self, ralph: Callable[..., Any]) -> None:
        ended = ralph("replay", "-", "--run", "last")
        assert ended.code == 2
        assert "FILE and --run cannot be given together" in ended.err

    def test_the_agents_failure_of_a_stored_run_counts_as_it_was(
        self, ralph: Callable[..., Any], kept_run: Callable[..., RunRecord]
    ) -> None:
        crash = Failed(failure="crashed", message="the runtime died")
        run = kept_run(executor=ScriptedExecutor([crash], then="repeat_last"))
        (answer,) = answers(ralph("replay", "--run", run.id, "--jsonl"))
        assert (answer["stop_reason"], answer["stopped_at"]) == (run.stop_reason, run.iterations - 1)

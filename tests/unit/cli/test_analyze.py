"""What a reply means, without running anything: by the contract's JSON, and line by line."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from ralph.cli.reply import Question, judge
from ralph.decision.limits import Limits
from ralph.loop.runner import Runner
from ralph.pipeline.evaluate import Rules
from ralph.settings import AnalysisSettings, is_agreed, own_sources, read_settings, remember
from ralph.system import files
from ralph.testing import ScriptedExecutor

DONE = """\
All tests pass.

---RALPH_STATUS---
EXIT_SIGNAL: true
REASON: all there
STATUS: COMPLETE
---END_RALPH_STATUS---
"""


def _idle(*texts: str) -> list[dict[str, Any]]:
    return [{"text": text, "changes": {"files": 0, "commits": 0}} for text in texts]


def _judged(text: str, **more: Any) -> dict[str, Any]:
    return judge(Question(text=text, **more), Rules()).as_json()


def _lines(ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, *lines: str | bytes) -> list[dict[str, Any]]:
    raw = b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    ended = ralph("analyze", "--jsonl")
    assert (ended.code, ended.err) == (0, "")
    return [json.loads(line) for line in ended.out.splitlines()]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "a", "previous": [{"str": 1}]}', "previous.0.text: it is missing"),
        ('{"text": "a", "previous": [{"text": "b", "changes": true}]}', "previous.0.changes: it should be an object"),
        ('{"text": "a", "changes": "none"}', "changes: it should be an object"),
        ('{"text": "a", "changes": {"files": ["a", 5]}}', "changes.files.1: it should be text"),
        ('{"text": "a", "changes": -1}', "changes: it should be at least 0"),
        ('{"text": {"str": 1}}', "text: it should be text"),
        ("{}", "text: it is missing"),
    ],
)
def test_an_error_of_a_line_names_the_place_in_words(
    ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    assert _lines(ralph, monkeypatch, line) == [{"error": said}]


def test_changes_may_be_the_number_of_files_alone(ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    idle = "I have looked around."
    given = ({"files": 0, "commits": 0}, {"files": 0}, 0, [])
    told = _lines(
        ralph,
        monkeypatch,
        *(
            json.dumps({"text": idle, "changes": each, "previous": [{"text": idle, "changes": each}] * 4})
            for each in given
        ),
    )
    assert told[0]["decision"] == "halt"
    assert all(each == told[0] for each in told)
    unknown = _lines(ralph, monkeypatch, json.dumps({"text": idle, "previous": [idle] * 4}))
    assert unknown[0]["evidence"] != told[0]["evidence"]


def test_the_contract(ralph: Callable[..., Any], workspace: Path) -> None:
    (workspace / "reply.md").write_text(DONE)
    ended = ralph("analyze", "reply.md", "--json")
    assert ended.code == 0
    told = json.loads(ended.out)
    assert told["status"] == {"exit_signal": True, "reason": "all there", "status": "COMPLETE", "fields": {}}
    assert told["status_problem"] is None
    assert {
        "completion_score",
        "confidence",
        "error_count",
        "response_length",
        "progress",
        "quality_score",
        "level",
    } <= (told["metrics"].keys())
    assert told["completion"].keys() == {"detected", "keywords", "test_only", "confidence"}
    assert told["stuck"].keys() == {"detected", "repeated_patterns", "error_frequency", "confidence"}
    assert (told["state"], told["should_exit"], told["exit_reason"], told["decision"]) == (
        "done",
        True,
        "completion",
        "complete",
    )
    for piece in told["evidence"]:
        assert piece.keys() == {"signal", "start", "end", "text", "weight", "why"}
        if piece["signal"] != "exit_signal" and piece["end"]:
            assert DONE[piece["start"] : piece["end"]].startswith(piece["text"])


def test_people_see_the_decision_and_its_evidence(ralph: Callable[..., Any], workspace: Path) -> None:
    (workspace / "reply.md").write_text(DONE)
    shown = ralph("analyze", "reply.md").out
    assert "complete, claimed, not verified: EXIT_SIGNAL: true" in shown
    assert "“All tests pass”" in shown


def test_what_repeats_is_told_once_and_a_circle_with_what_goes_round(
    ralph: Callable[..., Any], workspace: Path
) -> None:
    (workspace / "reply.md").write_text("Is it complete? I looked, and it is not. " * 3)
    ended = ralph("analyze", "reply.md", *("--previous", "reply.md") * 2)
    assert ended.code == 0
    assert "the same output 3 times" in ended.out
    assert ended.out.count("It is a question.") == 1
    assert "It is a question. (3 times)" in ended.out


def test_the_plan_speaks_against_words(ralph: Callable[..., Any], workspace: Path) -> None:
    (workspace / "reply.md").write_text("Everything is complete.")
    (workspace / "plan.md").write_text("- [x] one\n- [ ] two\n")
    told = json.loads(ralph("analyze", "reply.md", "--plan", "plan.md", "--json").out)
    assert told["metrics"]["completion_score"] == 50
    assert told["should_exit"] is False


def test_a_strategy_by_name(ralph: Callable[..., Any], workspace: Path) -> None:
    (workspace / "reply.md").write_text(DONE)
    told = json.loads(ralph("analyze", "reply.md", "--strategy", "circuit_breaker", "--json").out)
    assert (told["should_exit"], told["decision"]) == (False, "continue")
    ended = ralph("analyze", "reply.md", "--strategy", "exit_signl")
    assert (ended.code, "Did you mean 'exit_signal'" in ended.err) == (2, True)


_SETTINGS = """
keywords = [{text = "off to the moon", weight = "very_high"}]
status_fields = [{name = "COVERAGE", type = "int"}]
promise = "ALL GREEN"
strategy = "exit_signal"
"""
_DETECTOR = """
from ralph.analysis import Signal
from ralph.plugins import hookimpl

def coverage(reply):
    return [Signal("coverage", "coverage", 0, 4, 5, "It counts.")]

@hookimpl
def ralph_detectors():
    return [coverage]
"""


def test_it_judges_as_a_run_in_this_folder_would_with_the_users_consent(
    ralph: Callable[..., Any], workspace: Path
) -> None:
    """Keywords, fields, the promise, the strategy and detectors count; what came with the folder needs consent."""

    def analysis(text: str, *more: str) -> tuple[dict[str, Any], str]:
        (workspace / "reply.md").write_text(text)
        ended = ralph("analyze", "reply.md", "--json", *more)
        assert ended.code == 0, ended.err
        return json.loads(ended.out), ended.err

    block = "---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: r\nCOVERAGE: 81\n---END_RALPH_STATUS---"
    assert analysis("It is off to the moon.")[0]["completion"]["keywords"] == []
    (workspace / "ralph.toml").write_text(_SETTINGS)
    (workspace / ".ralph").mkdir()
    (workspace / ".ralph" / "plugin.py").write_text(_DETECTOR)
    told, said = analysis("It is off to the moon.")
    assert told["completion"]["keywords"] == []
    assert "keywords" in said
    assert "coverage" not in {piece["signal"] for piece in told["evidence"]}
    assert "plugin.py" in said

    [own] = own_sources(workspace)
    remember(own)
    assert is_agreed(workspace / ".ralph" / "plugin.py", _DETECTOR.encode(), trust=True)
    told, said = analysis("It is off to the moon.")
    assert (told["completion"]["keywords"], said) == (["off to the moon"], "")
    assert "coverage" in {piece["signal"] for piece in told["evidence"]}
    assert analysis(block)[0]["status"]["fields"] == {"COVERAGE": 81}
    assert analysis("<promise>ALL GREEN</promise>")[0]["exit_reason"] == "completion"
    claimed = "The parser is done. All tests pass. It is off to the moon."
    assert analysis(claimed)[0]["exit_reason"] is None, "the folder's strategy asks for EXIT_SIGNAL"
    assert analysis(claimed, "--strategy", "auto")[0]["exit_reason"] == "completion"


def test_window_repeats_and_languages_are_settings_of_every_path(
    ralph: Callable[..., Any], workspace: Path, home: Path
) -> None:  # covers: K1-7
    again = "I tried to run the build and it failed with Error: cannot find module foo."
    (workspace / "reply.md").write_text(again)
    passes = "".join(json.dumps({"text": text}) + "\n" for text in [again] * 2)
    (workspace / "passes.jsonl").write_text(passes)
    words = ("analyze", "reply.md", "--json", "--previous", "reply.md")
    assert not json.loads(ralph(*words).out)["stuck"]["detected"]
    (home / "config" / "ralph").mkdir(parents=True)
    (home / "config" / "ralph" / "ralph.toml").write_text("[analysis]\nrepeats = 2\nlanguages = ['en']\n")
    assert json.loads(ralph(*words).out)["stuck"]["detected"]
    (workspace / "reply.md").write_text("工作完成。")
    assert json.loads(ralph(*words).out)["completion"]["keywords"] == []

    found = read_settings(workspace).settings
    assert found.analysis == AnalysisSettings(repeats=2, languages=("en",))
    runner = Runner(executor=ScriptedExecutor([again] * 2), limits=Limits(max_iterations=2), analysis=found.analysis)
    assert runner.run_sync("Build it.").history[-1].analysis.stuck.detected
    [replayed] = [json.loads(line) for line in ralph("replay", "passes.jsonl", "--jsonl").out.splitlines()]
    assert "stuck" in replayed["decisions"][-1]["reason"]
    refused = ralph("replay", "passes.jsonl", "--set", 'analysis.languages=["fr"]')
    assert (refused.code, "the languages are en, zh, es, de" in refused.err) == (2, True)


def test_what_the_iterations_changed_can_be_said(ralph: Callable[..., Any], workspace: Path) -> None:
    """Without it only equal words are a circle; with it, different words for nothing done are one, too."""
    texts = ("I looked at the parser.", "The parser is understood now.", "I read the tests of the parser again.")
    for number, text in enumerate(texts):
        (workspace / f"{number}.md").write_text(text)
    words = ("analyze", "2.md", "--json", "--previous", "0.md", "--previous", "1.md")

    def stuck(*changes: int) -> bool:
        ended = ralph(*words, *(word for count in changes for word in ("--changes", str(count))))
        assert ended.code == 0, ended.err
        return bool(json.loads(ended.out)["stuck"]["detected"])

    assert [stuck(), stuck(0), stuck(0, 0, 0), stuck(0, 2, 0), stuck(0, 0, 1)] == [False, False, True, False, False]
    refused = ralph(*words, "--changes", "0", "--changes", "1")
    assert (refused.code, "2 times for 3 iterations" in refused.err) == (2, True)


def test_people_see_the_ladder_the_work_and_that_it_is_done(ralph: Callable[..., Any], workspace: Path) -> None:
    # covers: S0-90
    (workspace / "reply.md").write_text("Modified 3 files. All 12 tests pass. The task is complete.")
    shown = ralph("analyze", "reply.md").out
    for line in ("level     excellent", "did       Modified 3 files, 12 tests passing", "✅ Completion detected"):
        assert line in shown, line
    (workspace / "next.md").write_text("There was an error, an exception.")
    shown = ralph("analyze", "next.md", "--previous", "reply.md").out
    assert "below minimum; minimum needs progress above 0 %" in shown
    assert "✅" not in shown


@pytest.mark.parametrize("said", ["Done.", "All done.", "The export is done.\nRemaining work: quote fields."])
def test_what_is_not_taken_for_done_is_not_shown_as_detected(
    ralph: Callable[..., Any], workspace: Path, said: str
) -> None:
    (workspace / "reply.md").write_text(said)
    shown = ralph("analyze", "reply.md")
    assert ("✅" in shown.out, "continue: " in shown.out, shown.code) == (False, True, 0)
    chain = ralph("analyze", "reply.md", "--explain-decision").out
    assert "no words say" not in chain
    assert "nothing says" not in chain


def test_words_alone_are_judged_as_a_run_with_these_verifiers_would(
    ralph: Callable[..., Any], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "reply.md").write_text("All tasks are complete. Nothing is left to do.")

    def judged() -> tuple[str, bool]:
        told = json.loads(ralph("analyze", "reply.md", "--json").out)
        return told["decision"], "no verifier checks" in told["decision_reason"]

    assert judged() == ("complete", False), "a review checks the claim"
    monkeypatch.setenv("RALPH_VERIFY", '["none"]')
    assert judged() == ("continue", True)
    monkeypatch.setenv("RALPH_VERIFY_SHELL", '["true"]')
    assert judged() == ("complete", False)
    monkeypatch.delenv("RALPH_VERIFY_SHELL")
    monkeypatch.setenv("RALPH_DECISION__CONFIRM_WORDS", "false")
    assert judged() == ("complete", False)


def test_going_in_circles_first_asks_for_another_approach_and_then_ends() -> None:
    text = "I tried to run the build and it failed with Error: cannot find module foo."
    first = _judged(text, previous=[text, text])
    assert first["stuck"]["detected"]
    assert (first["decision"], first["exit_reason"]) == ("continue", None)
    second = _judged(text, previous=[text, text, text])
    assert (second["decision"], second["exit_reason"], second["should_exit"]) == ("halt", "stuck", True)


IDLE = {"files": 0, "commits": 0}
MOVED = {"files": 49, "commits": 1}


@pytest.mark.parametrize(
    ("given", "stuck", "exit_reason"),
    [
        ({"text": "It failed.", "errors": ["Error: no such file: x"] * 4, "changes": MOVED}, False, None),
        ({"text": "It failed.", "errors": ["Error: no such file: x"] * 4}, True, None),
        ({"text": "C is next.", "changes": IDLE, "previous": _idle("I read A.", "B as well.")}, True, "circuit_open"),
        ({"text": "I read A.", "changes": IDLE, "previous": _idle("I read A.", "I read A.")}, True, "stuck"),
        ({"text": "I read A.", "changes": MOVED, "previous": _idle("I read A.", "I read A.")}, False, None),
        ({"text": "C is next.", "previous": ["I read A.", {"text": "B."}]}, False, None),
    ],
)
def test_changes_and_errors_of_each_reply_count_as_in_a_replay(
    given: dict[str, Any], stuck: bool, exit_reason: str | None
) -> None:
    told = judge(Question.model_validate(given), Rules()).as_json()
    assert (told["stuck"]["detected"], told["exit_reason"]) == (stuck, exit_reason)


def test_a_run_that_is_told_to_change_nothing_only_claims() -> None:
    told = judge(Question.model_validate({"text": DONE, "changes": IDLE}), Rules()).as_json()
    assert (told["decision"], told["should_exit"]) == ("continue", False)
    assert "changed nothing" in told["decision_reason"]


@pytest.mark.parametrize("earlier", [1, 2, 3, 4])
def test_nobody_has_helped_between_replies_that_are_blocked(earlier: int) -> None:
    text = "I am stopped: the repository is read-only.\n---RALPH_STATUS---\nSTATUS: BLOCKED\n---END_RALPH_STATUS---"
    told = _judged(text, previous=[text] * earlier)
    assert (told["state"], told["decision"], told["exit_reason"]) == ("blocked", "halt", "blocked")


def test_the_last_iteration_ends_the_loop() -> None:
    told = _judged("More to do.", iteration=5, max_iterations=5)
    assert (told["exit_reason"], told["decision"]) == ("max_iterations", "halt")
    assert _judged("More to do.", iteration=4, max_iterations=5)["exit_reason"] is None


def test_a_finished_task_is_finished_also_in_the_last_iteration() -> None:
    assert _judged(DONE, iteration=5, max_iterations=5)["exit_reason"] == "completion"


class TestLines:
    def test_each_line_is_answered_in_order_and_a_broken_one_does_not_stop_the_rest(
        self, ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told = _lines(
            ralph,
            monkeypatch,
            json.dumps({"text": DONE}),
            "no JSON",
            '{"text": 1}',
            "[1]",
            "",
            "[" * 100_000,
            b'{"text": "\xff"}',
            '{"text": "lone \\ud800 surrogate"}',
            json.dumps({"text": "More to do.", "unknown": "ignored"}),
        )
        assert ["error" in answer for answer in told] == [False, *[True] * 5, False, False, False]
        assert told[4] == {"error": "the line is empty"}
        assert told[2]["error"].startswith("text: ")

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            ('{"text": "?", "previous": "one"}', "previous: it should be a list"),
            ('{"text": "?", "previous": [1]}', "previous.0: it should be text"),
            ('{"task": "?"}', "text: it is missing"),
            ("[" * 100_000, "it is nested too deeply"),
            (f'{{"text": {"1" * 5_000}}}', "it holds a number that is too long"),
        ],
    )
    def test_what_is_wrong_with_a_line_is_said_in_the_words_of_its_format(
        self, ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, line: str, error: str
    ) -> None:
        assert _lines(ralph, monkeypatch, line) == [{"error": error}]

    def test_the_lines_may_stand_in_a_file(self, ralph: Callable[..., Any], workspace: Path) -> None:
        (workspace / "replies.jsonl").write_text(json.dumps({"text": DONE}) + "\n")
        ended = ralph("analyze", "replies.jsonl", "--jsonl")
        assert (ended.code, json.loads(ended.out)["state"]) == (0, "done")
        assert ralph("analyze", "nowhere.jsonl", "--jsonl").code == 2

    @pytest.mark.parametrize(
        "option", ["--explain-decision", "--task=reply.md", "--plan=reply.md", "--previous=reply.md"]
    )
    def test_what_each_object_says_by_itself_is_no_option(
        self, ralph: Callable[..., Any], workspace: Path, option: str
    ) -> None:
        (workspace / "reply.md").write_text("Done.")
        ended = ralph("analyze", "reply.md", "--jsonl", option)
        assert (ended.code, ended.out) == (2, "")
        assert "cannot be given with --jsonl" in ended.err

    def test_a_line_beyond_all_measure_is_read_past(
        self, ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "MOST_BYTES", 1_000)
        told = _lines(ralph, monkeypatch, '{"text": "' + "a" * 5_000 + '"}', '{"text": "short"}')
        assert "longer than" in told[0]["error"]
        assert told[1]["metrics"]["response_length"] == 5


@pytest.mark.parametrize("name", ["nowhere.md", "."])
def test_a_file_that_cannot_be_read(ralph: Callable[..., Any], name: str) -> None:
    ended = ralph("analyze", name)
    assert ended.code == 2
    assert f"The file {name!r} cannot be read" in ended.err


def test_whoever_stops_reading_the_answers_is_told_of_no_fault(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text('{"text": "Done."}\n' * 3000)
    command = [sys.executable, "-m", "ralph", "analyze", "--jsonl", "many.jsonl"]
    with Popen(command, cwd=tmp_path, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""

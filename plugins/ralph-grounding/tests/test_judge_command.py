"""A judge as a user asks for one on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import Fail, ModelServer, Say
from ralph.types.output import Usage

KEY = "sk-hunter2hunter2hunter2"
Score = Callable[..., Any]


def verdict(outcome: str, quote: str = "") -> Say:
    return Say(json.dumps({"verdict": outcome, "quote": quote}), usage=Usage(input_tokens=400, output_tokens=30))


@pytest.fixture
def scored(run: str, score: Score, monkeypatch: pytest.MonkeyPatch) -> Score:
    """`ralph score again last` with a judge; the key is in the environment."""
    monkeypatch.setenv("MY_KEY", KEY)

    def again(server: ModelServer, *words: str) -> Any:
        return score("again", run, "--judge", server.base_url, "--judge-model", "m", "--judge-mode", "all", *words)

    return again


def test_a_run_is_scored_again_with_a_judge(scored: Score, score: Score, museum: Path) -> None:
    with ModelServer([verdict("absent")], then="repeat_last") as server:
        ran = scored(server, "--judge-key-env", "MY_KEY")
        assert ran.code == 0, ran.err
        assert "judge m@127.0.0.1: 4 questions, 1,600 in, 120 out tokens" in ran.err
        assert scored(server, "--json").json["succeeded"] == 4
        assert len(server.requests) == 4, "the second time the store answers"
    shown = score("history", "--run", "last", "--json").json
    assert [row["completeness"] for row in shown] == [0, 0, 0, 0]
    one = score("show", shown[0]["id"], "--json").json
    assert one["result"]["judge"]["cached"] == 1
    for path in museum.parent.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


def test_a_judge_that_refuses_is_reported_and_the_run_is_scored(scored: Score) -> None:
    with ModelServer([Fail(401)], then="repeat_last") as server:
        ran = scored(server)
    assert (ran.code, "4 of 4 were scored" in ran.out) == (0, True), ran.err
    assert "4 verdicts not taken, the last because" in ran.err
    assert "does not accept the key" in ran.err


def test_an_estimate_is_printed_and_nothing_is_stored(scored: Score, score: Score) -> None:
    with ModelServer([verdict("absent")], then="repeat_last") as server:
        ran = scored(server, "--estimate")
        assert (ran.code, server.requests) == (0, ())
    assert [line.split()[0] for line in ran.out.splitlines()] == ["judge", "questions", "tokens"]
    assert "4 questions" in ran.out
    assert "cost is unknown" in ran.err
    assert len(score("history", "--json").json) == 1


def test_a_batch_with_a_judge_is_continued_with_it(run: str, score: Score) -> None:
    with ModelServer([verdict("absent")], then="repeat_last") as server:
        words = ("--queries", "queries.yaml", "--responses", "responses.jsonl")
        judge = ("--judge", server.base_url, "--judge-model", "m", "--judge-mode", "all")
        ran = score("batch", *words, *judge, "--json")
        assert ran.code == 0, ran.err
        assert len(server.requests) == 4
        assert score("batch", "--continue", ran.json["run_id"]).code == 0
        estimate = score("batch", *words, *judge, "--estimate", "--json").json
    assert (estimate["questions"], estimate["cached"]) == (0, 4)
    assert "used another judge" in ran.json["summary"]["trend"]["note"]


def test_one_answer_is_scored_with_a_judge(score: Score, museum: Path) -> None:
    with ModelServer([verdict("present", "It was once a lighthouse.")], then="repeat_last") as server:
        words = ("answer.txt", "--claims", "claims.yaml", "--judge", server.base_url, "--judge-model", "m")
        ran = score(*words)
        assert ran.code == 0, ran.err
        assert "“It was once a lighthouse.”" in ran.out
        assert "says m@127.0.0.1" in ran.out
        assert score(*words, "--json").json["judge"]["judge"] == "m@127.0.0.1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--judge-model", "m"), "No judge is named"),
        (("--judge", "http://127.0.0.1:1/v1"), "No model of the judge is named"),
        (("--judge", "http://me:secret@127.0.0.1:1/v1", "--judge-model", "m"), "contains a name or a password"),
        (("--judge", "http://127.0.0.1:1/v1", "--judge-model", "m", "--judge-mode", "some"), "--judge-mode"),
        (("--judge", "http://127.0.0.1:1/v1", "--judge-model", "m", "--max-cost", "-1"), "--max-cost"),
        (("--judge", "http://127.0.0.1:1/v1", "--judge-model", "m", "--max-cost", "1"), "prices"),
        (("--judge", "http://127.0.0.1:1/v1", "--judge-model", "m", "--judge-key-env", "NOT_THERE"), "NOT_THERE"),
        (("--judge", "http://127.0.0.1:1/v1", "--nli", "folder"), "cannot be combined"),
        (("--nli", "not-there"), "no model.onnx"),
        (("--judge", "nobody"), "no judge called 'nobody'"),
    ],
)
def test_what_is_wrong_is_said(score: Score, museum: Path, words: tuple[str, ...], said: str) -> None:
    ran = score("answer.txt", "--claims", "claims.yaml", *words)
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert "secret" not in ran.err
    assert "Traceback" not in ran.err

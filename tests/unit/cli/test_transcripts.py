"""What other tools' records of a turn tell of it, and that none of them can do harm."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.cli.replay_sources import Line
from ralph.cli.transcripts import parse_transcript
from ralph.system.files import cleaned

RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "Wrote the parser.",
    "num_turns": 3,
    "total_cost_usd": 0.25,
    "duration_ms": 61_500,
    "permission_denials": [{"tool_name": "Bash", "tool_use_id": "b"}],
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5, "output_tokens": 7},
}


def use(key: str, name: str, **arguments: str) -> dict[str, Any]:
    return {
        "type": "assistant",
        "message": {"content": [{"type": "tool_use", "id": key, "name": name, "input": arguments}]},
    }


def gave(key: str, *, failed: bool = False) -> dict[str, Any]:
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": key, "is_error": failed}]}}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}, **more}


def lines(*events: Any) -> str:
    return "".join(f"{json.dumps(event)}\n" for event in events)


def test_a_result_by_itself() -> None:
    assert parse_transcript(json.dumps(RESULT, indent=1)) == {
        "text": "Wrote the parser.",
        "denials": 1,
        "tools": 2,
        "usage": {"input_tokens": 115, "output_tokens": 7, "cache_read_tokens": 100},
        "cost": 0.25,
        "duration": 61.5,
    }


@pytest.mark.parametrize("form", ["lines", "array", "with other lines before it"])
def test_the_whole_stream_tells_of_tools_and_changes(form: str) -> None:
    events = [
        {"type": "system", "subtype": "init"},
        use("r", "Read", file_path="a.py"),
        gave("r"),
        use("w", "Write", file_path="a.py"),
        gave("w"),
        use("e", "Edit", file_path="b.py"),
        gave("e", failed=True),
        use("b", "Bash", command="rm -rf /"),
        gave("b", failed=True),
        use("c", "Bash", command="git add -A && git commit -m done"),
        gave("c"),
        RESULT,
    ]
    text = {"lines": lines(*events), "array": json.dumps(events)}.get(form, f"npm warn old\n\n{lines(*events)}")
    told = parse_transcript(text)
    assert (told["tools"], told["denials"], told["changes"]) == (5, 1, {"files": 1, "commits": 1})
    assert "error" not in told


@pytest.mark.parametrize(
    ("events", "changes"),
    [
        ([said("Nothing to do.")], {"files": 0, "commits": 0}),
        ([use("1", "Read", file_path="a"), gave("1")], {"files": 0, "commits": 0}),
        ([use("1", "Edit", file_path="a"), gave("1", failed=True)], {"files": 0, "commits": 0}),
        ([use("b", "Bash", command="make")], {"files": 0, "commits": 0}),
        ([use("1", "Bash", command="make"), gave("1")], None),
        ([use("1", "Task", prompt="look"), gave("1")], None),
        ([use("1", "Bash", command="make"), gave("1"), use("2", "Edit", file_path="a")], {"files": 1, "commits": 0}),
        ([use("1", "Bash", command="git log; echo commit"), gave("1")], None),
    ],
    ids=["words", "looks", "a failed edit", "a denied shell", "a shell", "a sub-agent", "an edit", "no commit"],
)
def test_what_a_shell_did_nobody_knows(events: list[Any], changes: Any) -> None:
    assert parse_transcript(lines(*events, RESULT)).get("changes") == changes


def test_without_a_result_the_turn_has_failed_and_the_last_words_are_the_agents_own() -> None:
    told = parse_transcript(lines(said("I begin."), said("In a sub-agent.", parent_tool_use_id="t"), use("1", "Bash")))
    assert (told["text"], told["error"]) == ("I begin.", "the log ends before the turn does")
    assert "denials" not in told


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"is_error": True, "result": "You've hit your limit · resets 3am"}, "You've hit your limit · resets 3am"),
        ({"is_error": True, "result": ""}, "success"),
        ({"subtype": "error_max_turns", "result": None}, "error_max_turns"),
        ({"is_error": False}, None),
        ({"is_error": "yes"}, None),
    ],
)
def test_an_error_is_what_the_result_says_it_is(result: dict[str, Any], error: str | None) -> None:
    assert parse_transcript(json.dumps({**RESULT, **result})).get("error") == error


def test_an_older_result_has_no_type() -> None:
    told = parse_transcript(json.dumps({"result": "Done with it.", "cost_usd": 1}))
    assert (told["text"], told["cost"]) == ("Done with it.", 1.0)


@pytest.mark.parametrize(
    "text",
    [
        "All done.\n",
        '{"status": "ok"}',
        "[1, 2]",
        '{"type": "result"',
        'See {"type":"result"}, it says.',
        "null",
        "{" * 9_999,
    ],
)
def test_anything_else_is_the_reply_itself(text: str) -> None:
    assert parse_transcript(text) == {"text": text}


def test_an_empty_log_is_a_failed_turn() -> None:
    assert parse_transcript(" \n") == {"text": "", "error": "the log is empty"}


def test_the_log_of_an_iteration_has_a_header_and_an_error_stream() -> None:
    told = parse_transcript(
        "# Iteration 3 Log\n\n## Metadata\n\n- **Task ID**: US-3\n- **Started At**: 2026-02-03T04:05:06.000Z\n"
        "- **Ended At**: 2026-02-03T04:06:06.500Z\n- **Error**: 429 too many requests\n\n"
        "--- RAW OUTPUT ---\nAll of it is written.\n\n--- STDERR ---\nwarning: old\n"
    )
    assert told["text"].strip() == "All of it is written."
    assert told["at"] == datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert (told["duration"], told["error"]) == (60.5, "429 too many requests")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(["type", "message", "result", "is_error", "permission_denials", "num_turns", "usage", "subtype"])
kinds = st.sampled_from(["assistant", "user", "result", "system"])
blocks = st.fixed_dictionaries({"content": st.lists(values | st.fixed_dictionaries({"type": values, "input": values}))})


@given(st.lists(st.dictionaries(keys, values | kinds | blocks, max_size=6) | values, max_size=5))
def test_hostile_events_never_raise_and_always_give_a_line(events: list[Any]) -> None:
    told = parse_transcript("\n".join(json.dumps(event) for event in events))
    assert Line.model_validate(cleaned({"run": "r", **told})).as_pass()

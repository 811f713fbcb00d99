"""What Claude Code prints, as it could print it; the real one is followed in the other tests."""

import json
from typing import Any

import pytest

from ralph import Usage
from ralph.executors import Oversized, Transcript
from ralph_claude.listener import ClaudeListener


def part(number: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": number, "model": "m", "content": list(content)}, **more}


def say(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def use(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": name}}


def result(name: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": name, "content": "ok", **more}]
    return {"type": "user", "message": {"role": "user", "content": content}}


@pytest.fixture
def transcript() -> Transcript:
    return Transcript()


@pytest.fixture
def listener(transcript: Transcript) -> ClaudeListener:
    return ClaudeListener(transcript)


def test_parts_of_one_message_are_one_message(listener: ClaudeListener, transcript: Transcript) -> None:
    for event in (part("1", say("EXIT_SIGNAL: true")), part("1", use("a")), part("1", use("b")), part("2", say("No."))):
        listener.take(event)
    listener.take({"type": "result", "is_error": False})
    assert [(message.text, message.tool_calls) for message in transcript.messages] == [
        ("EXIT_SIGNAL: true", 2),
        ("No.", 0),
    ]


def test_a_result_that_comes_early_ends_its_tool(listener: ClaudeListener, transcript: Transcript) -> None:
    listener.take(part("1", use("a")))
    listener.take(result("a", is_error=True))
    (call,) = transcript.finish(_done()).tool_calls
    assert (call.success, call.denied, call.result) == (False, False, "ok")


def test_denials_are_told_apart_from_failures(listener: ClaudeListener, transcript: Transcript) -> None:
    listener.take(part("1", *map(use, "abcd")))
    listener.denied("a")
    listener.take({"type": "system", "subtype": "permission_denied", "tool_use_id": "b"})
    for name in "ab":
        listener.take(result(name, is_error=True))
    kinds = {"c": "permission-rule", "d": "interrupted"}
    for name, kind in kinds.items():
        meta = [{"id": name, "non_execution_kind": kind}]
        listener.take({**result(name, is_error=True), "tool_result_meta": meta})
    calls = transcript.finish(_done()).tool_calls
    assert [call.denied for call in calls] == [True, True, True, False]


def test_a_sub_agents_words_are_not_the_agents_but_its_tools_count(
    listener: ClaudeListener, transcript: Transcript
) -> None:
    listener.take(part("1", use("task")))
    listener.take(part("9", say("EXIT_SIGNAL: true"), use("inner"), parent_tool_use_id="task"))
    delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "inner words"}}
    listener.take({"type": "stream_event", "event": delta, "parent_tool_use_id": "task"})
    listener.take({**result("inner"), "parent_tool_use_id": "task"})
    listener.take(result("task"))
    output = transcript.finish(_done())
    assert [message.text for message in output.messages] == [""]
    assert {call.id for call in output.tool_calls} == {"task", "inner"}


def test_words_of_claude_code_itself_are_not_the_agents(listener: ClaudeListener, transcript: Transcript) -> None:
    event = part("1", say("API Error: all is done."))
    event["message"]["model"] = "<synthetic>"
    listener.take(event)
    listener.take({"type": "result", "is_error": False, "result": "API Error: all is done."})
    assert transcript.messages == ()


def test_usage_counts_while_it_goes_on_and_is_put_right_at_the_end(
    listener: ClaudeListener, transcript: Transcript
) -> None:
    start = {"usage": {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 1}}
    listener.take({"type": "stream_event", "event": {"type": "message_start", "message": start}})
    assert transcript.usage == Usage(input_tokens=111, cache_read_tokens=100, model_calls=1)
    listener.take({"type": "stream_event", "event": {"type": "message_delta", "usage": {"output_tokens": 5}}})
    models = {
        "a": {"inputTokens": 10, "cacheReadInputTokens": 100, "outputTokens": 7, "costUSD": 0.5, "costBasis": "list"},
        "b": {"inputTokens": 3, "outputTokens": 1, "costUSD": 0.25, "costBasis": "list"},
    }
    listener.take({"type": "result", "is_error": False, "model_usage_since_last_result": models})
    used = transcript.usage
    assert (used.input_tokens, used.output_tokens, used.cache_read_tokens) == (113, 8, 100)
    assert (used.cost, used.model_calls) == (0.75, 1)


def test_a_cost_that_is_made_up_is_none(listener: ClaudeListener, transcript: Transcript) -> None:
    models = {"a": {"costUSD": 0.5, "costBasis": "list"}, "b": {"costUSD": 0.5, "costBasis": "unknown"}}
    listener.take({"type": "result", "is_error": False, "model_usage_since_last_result": models})
    assert transcript.usage.cost is None


def test_a_limit_that_outlasts_the_retries_is_waited_for_as_asked(listener: ClaudeListener) -> None:
    retry = {"type": "system", "subtype": "api_retry", "error_status": 429, "attempt": 1, "retry_delay_ms": 6_000}
    listener.take(retry)
    assert not listener.over.is_set()
    listener.take({"type": "result", "is_error": True, "api_error_status": 429})
    assert listener.failure
    assert listener.failure.retry_after == 6


def test_a_line_that_is_too_long_ends_its_tool(listener: ClaudeListener, transcript: Transcript) -> None:
    listener.take(part("1", use("a")))
    line = json.dumps(result("a"))
    listener.take_oversized(Oversized(line.encode(), 99_000_000))
    (call,) = transcript.finish(_done()).tool_calls
    assert call.success is True


@pytest.mark.parametrize("kind", ["stream_event", "assistant", "user", "system", "rate_limit_event", "result", "new"])
@pytest.mark.parametrize("value", [None, 7, "x", [], [None, 7, []], {}, {"type": []}, float("nan"), {"content": {}}])
def test_nonsense_is_passed_over(listener: ClaudeListener, kind: str, value: object) -> None:
    fields = ("event", "message", "subtype", "rate_limit_info", "model_usage_since_last_result", "tool_result_meta")
    listener.take({"type": kind, **dict.fromkeys(fields, value)})
    for name in ("content", "usage", "id", "model", "input"):
        message = {name: value, "content": [{"type": "tool_use", "id": value, "name": value, "input": value}]}
        listener.take({"type": kind, "message": message, "event": {"type": "message_start", "message": message}})
    listener.take({"type": kind, "is_error": True, "api_error_status": value, "result": value, "errors": value})
    assert listener.failure is None or listener.failure.message


def _done() -> Any:
    from ralph import Answered

    return Answered()

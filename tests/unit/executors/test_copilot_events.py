"""The events of the Copilot runtime, and the waits in its log."""

import json
import os
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.executors.base import MessageDelta, ToolFinished, Transcript
from ralph.executors.copilot.events import (
    classify_failure,
    ends_turn,
    failure_in,
    in_the_providers_words,
    logged_retry_after,
    record,
)
from ralph.types.output import Answered, Failed, Output


def event(kind: str, agent: str | None = None, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data} | ({"agentId": agent} if agent else {})


def call_failure(status: int, message: str = "", attempt: int = 0) -> dict[str, Any]:
    said = json.dumps({"message": message, "type": "error", "param": None, "code": "x"})
    return event("model.call_failure", errorMessage=said, retryAttempt=attempt, statusCode=status)


def recorded(*events: dict[str, Any]) -> Transcript:
    transcript = Transcript()
    for each in events:
        record(each, transcript)
    return transcript


def test_messages_tools_and_model_reach_the_output():
    output = recorded(
        event("assistant.message", content="", model="gpt", toolRequests=[{"name": "bash"}]),
        event("tool.execution_start", toolCallId="1", toolName="bash", arguments={"command": "ls é"}),
        event("tool.execution_complete", toolCallId="1", success=True, result={"content": "a\nb"}),
        event("assistant.message", content="All done.", toolRequests=[], model="gpt"),
    ).finish(Answered())
    assert output.text == "All done."
    assert [message.tool_calls for message in output.messages] == [1, 0]
    (call,) = output.tool_calls
    assert (call.name, call.arguments, call.success, call.result) == ("bash", '{"command": "ls é"}', True, "a\nb")
    assert output.model == "gpt"


def test_a_message_that_asks_for_tools_is_no_answer():
    assert recorded(event("assistant.message", content="Soon.", toolRequests=[{}])).finish(Answered()).text == ""


def test_an_empty_message_is_none():
    assert not recorded(event("assistant.message", content="", toolRequests=[])).messages


def test_a_denied_tool_is_told_from_a_failed_one():
    output = recorded(
        event("tool.execution_start", toolCallId="1", toolName="bash"),
        event("tool.execution_start", toolCallId="2", toolName="bash"),
        event("tool.execution_complete", toolCallId="1", success=False, error={"message": "No.", "code": "denied"}),
        event("tool.execution_complete", toolCallId="2", success=False, error={"message": "Oh.", "code": "failure"}),
    ).finish(Answered())
    assert [(call.denied, call.success, call.result) for call in output.tool_calls] == [
        (True, False, "No."),
        (False, False, "Oh."),
    ]
    assert output.denials == 1


def test_what_a_subagent_says_is_left_out_and_what_it_does_is_not():
    transcript = recorded(
        event("assistant.message", content="Mine.", toolRequests=[]),
        event("assistant.message", agent="sub", content="Not mine."),
        event("assistant.message", content="Nor this.", parentToolCallId="7"),
        event("tool.execution_start", agent="sub", toolCallId="1", toolName="bash"),
    )
    assert transcript.finish(Answered()).text == "Mine."
    assert transcript.did_something


def test_deltas_are_shown():
    seen: list[Any] = []
    record(event("assistant.message_delta", deltaContent="half"), transcript := Transcript(seen.append))
    record(event("assistant.message", content="half a word"), transcript)
    assert "".join(each.text for each in seen if isinstance(each, MessageDelta)) == "half"


def test_usage_adds_up_and_own_keys_cost_no_premium_request():
    transcript = recorded(
        event("assistant.usage", inputTokens=100, outputTokens=5, cacheReadTokens=50, cost=1, isByok=False),
        event("assistant.usage", inputTokens=100, outputTokens=5, cost=4, isByok=True),
    )
    usage = transcript.usage
    assert (usage.tokens, usage.cache_read_tokens, usage.premium_requests, usage.model_calls) == (210, 50, 1.0, 2)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "refused"),
        (401, "auth"),
        (402, "rate_limited"),
        (403, "refused"),
        (404, "refused"),
        (408, "unavailable"),
        (413, "refused"),
        (429, "rate_limited"),
        (500, "unavailable"),
        (503, "unavailable"),
        (529, "unavailable"),
    ],
)
def test_the_status_decides(status: int, kind: str):
    failure = failure_in(call_failure(status, "You have hit the rate limit of 401 words."))
    assert failure == Failed(failure=kind, status=status, message="You have hit the rate limit of 401 words.")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("error_type", "message", "kind"),
    [
        ("rate_limit", "Slow down.", "rate_limited"),
        ("quota", "Your monthly quota is used up.", "rate_limited"),
        ("authentication", "Log in.", "auth"),
        ("authorization", "Not for you.", "refused"),
        ("policy", "Your organization says no.", "refused"),
        ("context_limit", "Too long.", "refused"),
        ("query", "Could not connect to local model provider at http://127.0.0.1:9/v1.", "unavailable"),
        ("query", "… Last error: Failed to parse chat-completions stream chunk: expected ident", "protocol"),
        ("query", "… error decoding response body: unexpected EOF during chunk size line", "protocol"),
        ("query", "No response was returned. Send your message again to retry.", "protocol"),
        ("query", "Execution failed: InvalidArg, No GitHub OAuth token or Copilot HMAC key provided", "auth"),
        ("something new", "Whatever.", "unavailable"),
    ],
)
def test_without_a_status_the_runtimes_name_for_it_decides_then_its_wording(error_type: str, message: str, kind: str):
    failure = failure_in(event("session.error", errorType=error_type, message=message))
    assert failure is not None
    assert failure.failure == kind


@pytest.mark.parametrize(("status", "words"), [(403, "Not for you."), (500, "Check your key.")])
def test_an_error_is_told_in_the_words_of_the_call_that_had_it(status: int, words: str):
    told = Failed(failure="refused", status=403, message="Not for you.")
    guess = Failed(failure="refused", status=status, message="Check your key.")
    assert in_the_providers_words(guess, told).message == words
    assert in_the_providers_words(guess, None) == guess


def test_a_missing_contract_is_no_quota_that_comes_back():
    assert classify_failure("x", error_type="quota", code="billing_not_configured").failure == "refused"


def test_an_abort_is_a_failure():
    failure = failure_in(event("abort", reason="user_initiated"))
    assert failure == Failed(failure="crashed", message="The turn was aborted: user_initiated.")


def test_rate_limits_end_the_turn_at_once_and_refused_keys_on_the_second_try():
    assert ends_turn(call_failure(429))
    assert not ends_turn(call_failure(401))
    assert ends_turn(call_failure(401, attempt=1))
    assert not ends_turn(call_failure(500, attempt=4))
    assert not ends_turn(event("assistant.message", content="429 rate limit"))


def test_long_messages_are_cut():
    assert len(classify_failure("x " * 1_000_000, status=500).message) <= 300


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_KINDS = [
    "assistant.message",
    "assistant.message_delta",
    "tool.execution_start",
    "tool.execution_complete",
    "assistant.usage",
    "model.call_failure",
    "session.error",
    "abort",
]
_FIELDS = [
    "content",
    "toolRequests",
    "toolCallId",
    "error",
    "result",
    "statusCode",
    "errorMessage",
    "inputTokens",
    "cost",
]


@given(
    kind=st.sampled_from([*_KINDS, "other"]),
    data=_JSON | st.dictionaries(st.sampled_from(_FIELDS), _JSON),
)
def test_no_event_is_too_odd(kind: str, data: Any):
    odd = {"type": kind, "data": data}
    transcript = recorded(odd, odd)
    failure_in(odd)
    ends_turn(odd)
    output = transcript.finish(Answered())
    assert Output.model_validate_json(output.model_dump_json()) == output, "it can be kept"


def test_a_tool_that_never_started_is_passed_over():
    seen: list[Any] = []
    record(event("tool.execution_complete", toolCallId="9", success=True), Transcript(seen.append))
    assert not [each for each in seen if isinstance(each, ToolFinished)]


FAILED = (
    "2026-11-21T02:11:59.704Z [WARNING] [rust:model_events::producer] Model provider request failed "
    '{"stage":"inference","http_status":%s,"failure_kind":"http_error"%s}\n'
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "process-1-2.log"


def write(log: Path, *lines: str) -> Path:
    log.write_text("".join(lines))
    return log.parent


def link(at: Path, to: Path) -> None:
    at.symlink_to(to)


def limited(fields: str = "") -> str:
    return FAILED % (429, fields)


async def test_the_latest_rate_limit_counts(log: Path):
    lines = limited(',"retry_after_ms":1000'), limited(',"retry_after_ms":2500'), FAILED % (500, ',"retry_after_ms":9')
    assert await logged_retry_after(write(log, "noise\n", *lines, "more\n")) == 2.5


async def test_a_limit_without_a_time_needs_no_patience(log: Path):
    folder = write(log, limited())
    began = monotonic()
    assert await logged_retry_after(folder, patience=30) is None
    assert monotonic() - began < 10


async def test_a_line_that_comes_late_is_waited_for(log: Path):
    async def later() -> None:
        await anyio.lowlevel.checkpoint()
        write(log, limited(',"retry_after_ms":4000'))

    async with anyio.create_task_group() as group:
        group.start_soon(later)
        assert await logged_retry_after(log.parent, patience=30) == 4.0


@pytest.mark.parametrize("text", ["", "{", FAILED % ('"429"', ""), "Model provider request failed {broken\n" * 1_000])
async def test_without_such_a_line_there_is_no_time(log: Path, text: str):
    assert await logged_retry_after(write(log, text), patience=0.01) is None


@pytest.mark.parametrize("wait", ['"soon"', "-5", "null", "1e400"])
async def test_an_odd_time_is_none(log: Path, wait: str):
    assert await logged_retry_after(write(log, limited(f',"retry_after_ms":{wait}'))) is None


async def test_pipes_and_links_in_its_place_are_not_read(tmp_path: Path):
    os.mkfifo(tmp_path / "a.log")
    write(tmp_path / "real", limited(',"retry_after_ms":1000'))
    link(tmp_path / "b.log", tmp_path / "real")
    assert await logged_retry_after(tmp_path, patience=0.01) is None
    assert await logged_retry_after(tmp_path / "gone", patience=0.01) is None

"""The executor with real processes that speak the protocol."""

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors import PermissionPolicy, Timeouts, Transcript, Turn
from ralph.executors.base import Diagnosed, MessageDelta
from ralph.prompt import Prompt
from ralph.system.secrets import Redactor
from ralph.testing import lives, until
from ralph.types.output import Answered, Output, TimedOut, Usage
from ralph_acp import AGENTS, AcpExecutor

PROMPT = Prompt(text="Do the work, é.", task="work")

Make = Callable[..., AcpExecutor]


async def executed(executor: AcpExecutor, workspace: Path, **arguments: Any) -> Output:
    async with executor:
        return await executor.execute(PROMPT, Turn(workspace=workspace, **arguments))


async def test_the_last_message_is_the_answer_and_what_came_before_a_tool_is_not(scripted: Make, workspace: Path):
    steps = [
        *[["say", "I "], ["say", "look."], ["tool", "read", {"path": "a.txt"}, "completed"]],
        *[["tool", "edit", {"path": "a.txt"}, "failed"], ["say", "All "], ["say", "done."]],
    ]
    events: list[Any] = []
    output = await executed(scripted(*steps), workspace, transcript=Transcript(events.append))
    assert output.outcome == Answered()
    assert output.text == "All done."
    assert [(message.text, message.tool_calls) for message in output.messages] == [("I look.", 1), ("All done.", 0)]
    assert [(call.name, call.success) for call in output.tool_calls] == [("read", True), ("edit", False)]
    assert json.loads(output.tool_calls[0].arguments) == {"path": "a.txt"}
    assert "result" in output.tool_calls[0].result
    assert output.executor == "acp"
    assert "".join(event.text for event in events if isinstance(event, MessageDelta)) == "I look.All done."


async def test_an_agent_made_with_the_protocols_library(workspace: Path):
    program = Path(__file__).with_name("library_agent.py")
    output = await executed(AcpExecutor(None, [sys.executable, str(program)]), workspace)
    assert output.outcome == Answered()
    assert output.text == f"made 4 {PROMPT.text}"
    assert (workspace / "made.txt").read_text() == "made"
    assert [(call.name, call.success) for call in output.tool_calls] == [("edit", True)]


async def test_a_turn_that_ends_with_a_tool_has_no_answer(scripted: Make, workspace: Path):
    output = await executed(scripted(["say", "All done."], ["tool", "read", {}, "completed"]), workspace)
    assert output.text == ""


async def test_the_prompt_arrives_whole(scripted: Make, workspace: Path):
    prompt = Prompt(text="é\n" * 150_000, task="work")
    async with scripted(["echo"]) as executor:
        output = await executor.execute(prompt, Turn(workspace=workspace))
    assert output.text == f"fresh: {prompt.text}"


async def test_a_session_is_gone_on_with_and_what_was_said_in_it_is_not_heard_again(scripted: Make, workspace: Path):
    output = await executed(scripted(["echo"]), workspace, session_id="kept")
    assert (output.session_id, output.text) == ("kept", f"kept: {PROMPT.text}")


async def test_a_session_that_is_gone_is_begun_anew(scripted: Make, workspace: Path):
    events: list[Any] = []
    output = await executed(scripted(["echo"]), workspace, session_id="x", transcript=Transcript(events.append))
    assert (output.session_id, output.outcome) == ("fresh", Answered())
    assert any(isinstance(event, Diagnosed) and "another" in event.text for event in events)


async def test_an_agent_that_forgets_has_no_session_to_go_on_with(scripted: Make, workspace: Path):
    output = await executed(scripted(["forgets"], ["echo"]), workspace, session_id="kept")
    assert (output.session_id, output.text) == (None, f"fresh: {PROMPT.text}")


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        (["fail", -32603, "Internal error: Incorrect API key provided.", None], "auth"),
        (["end", {"stopReason": "refusal"}], "refused"),
        (["end", {"stopReason": "cancelled"}], "crashed"),
        (["end", {"stopReason": "end_turn"}], "protocol"),
        (["die"], "crashed"),
        (["login"], "auth"),
        (["die at once"], "auth"),
        (["version"], "refused"),
    ],
)
async def test_failures(scripted: Make, workspace: Path, step: list[Any], failure: str):
    output = await executed(scripted(["say", ""], step) if step[0] == "die" else scripted(step), workspace)
    assert output.failure is not None
    assert output.failure.failure == failure
    assert output.failure.message
    assert not output.text


async def test_a_rate_limit_tells_when_it_is_over(scripted: Make, workspace: Path):
    output = await executed(scripted(["fail", 429, "429 Too many requests, try again in 20s", None]), workspace)
    assert output.failure is not None
    assert (output.failure.failure, output.failure.status, output.failure.retry_after) == ("rate_limited", 429, 20.0)


async def test_a_message_that_was_cut_short_is_no_answer(scripted: Make, workspace: Path):
    output = await executed(scripted(["say", "All do"], ["end", {"stopReason": "max_tokens"}]), workspace)
    assert (output.outcome, output.text) == (Answered(), "")


async def test_rubbish_between_the_messages_harms_nothing(
    scripted: Make, workspace: Path, caplog: pytest.LogCaptureFixture
):
    rubbish = ["Loading…", "[]", "{}", '{"id": [1], "result": 1}', '{"id": 2, "error": "no"}', '{"id": null}']
    methods = ['{"method": [1], "id": 3}', '{"method": "no/such", "id": {}}', '{"method": "no/such", "params": 3}']
    chunk = '{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "\\ud800 "}}'
    tool = '{"sessionUpdate": "tool_call", "toolCallId": 7, "content": 3, "kind": {}, "title": []}'
    update = '{"method": "session/update", "params": {"sessionId": "fresh", "update": %s}}'
    odd = [update % each for each in ('"x"', "[]", tool, '{"sessionUpdate": {}}', chunk)]
    deep = '{"method": "session/update", "params": ' + "[" * 900 + "]" * 900 + "}"
    ask = (
        '{"id": 9, "method": "session/request_permission", "params": {"toolCall": {"kind": "execute", "rawInput": %s}}}'
    )
    asked = [ask % '{"command": [[[]], 1, "\\udc00"]}', ask % '{"command": "\\ud800"}', ask % "7"]
    lines = [*rubbish, *methods, *odd, deep, *asked, "x" * 10_000]
    output = await executed(scripted(*(["raw", line] for line in lines), ["say", "Done."]), workspace)
    assert (output.outcome, output.text) == (Answered(), "\ufffd Done.")
    assert [record.getMessage() for record in caplog.records] == []


async def test_an_error_that_is_no_text_is_a_failure(scripted: Make, workspace: Path):
    output = await executed(scripted(["fail", {"odd": 1}, "\ud800", [[["x"]]]]), workspace)
    assert output.failure is not None
    assert output.failure.failure == "unavailable"


async def test_secrets_are_masked(scripted: Make, workspace: Path):
    transcript = Transcript(redactor=Redactor(["hush-hush-value"]))
    steps = [["say", "hush-"], ["say", "hush-value"], ["run", "echo hush-hush-value"]]
    output = await executed(scripted(*steps, redactor=Redactor(["hush-hush-value"])), workspace, transcript=transcript)
    assert "hush-value" not in output.model_dump_json()
    assert '"output": "***' in output.text


async def test_only_what_counts_is_counted(scripted: Make, workspace: Path):
    usage = {"totalTokens": 12, "inputTokens": 10, "outputTokens": 2, "cachedReadTokens": 4}
    executor = scripted(["say", "Done."], ["end", {"stopReason": "end_turn", "usage": usage}])
    assert (await executed(executor, workspace)).usage == Usage()
    assert executor.measures == frozenset()
    counting = AcpExecutor(AGENTS["copilot"](), executor._command, model="m")
    counted = await executed(counting, workspace)
    assert counting.measures == {"tokens"}
    assert (counted.usage.input_tokens, counted.usage.output_tokens, counted.usage.cache_read_tokens) == (10, 2, 4)


async def test_copilots_end_of_turn_without_usage_is_a_failure_whatever_it_says(scripted: Make, workspace: Path):
    said = "Error: Failed to get response from the AI model; retried 5 times. Last error: 429 Rate limit reached."
    executor = scripted(["say", "Info: Retrying..."], ["say", said])
    output = await executed(AcpExecutor(AGENTS["copilot"](), executor._command, model="m"), workspace)
    assert output.failure is not None
    assert (output.failure.failure, output.failure.status) == ("rate_limited", 429)
    assert output.text == ""


ASKED: list[tuple[str, dict[str, Any], bool]] = [
    ("edit", {"path": "a.txt"}, True),
    ("edit", {"path": "/etc/ralph-test"}, False),
    ("edit", {"path": "../" * 20 + "etc/x"}, False),
    ("edit", {}, False),
    ("delete", {"file_path": "/etc/x"}, False),
    ("read", {"path": "~/.ssh/id_rsa"}, False),
    ("read", {"absolute_path": "~/.ssh/id_rsa"}, False),
    ("read", {"paths": ["a.txt", "~/.aws/credentials"]}, False),
    ("read", {"path": "a.txt"}, True),
    ("edit", {"path": "a.txt", "file_text": "/etc/passwd"}, True),
    ("search", {"pattern": "x"}, True),
    ("execute", {"command": "pytest -q"}, True),
    ("execute", {"command": "git push origin main"}, False),
    ("execute", {"command": ["git", "push"]}, False),
    ("execute", {}, False),
    ("fetch", {"url": "http://169.254.169.254/latest"}, False),
    ("fetch", {"url": "https://example.com"}, True),
    ("fetch", {}, False),
    ("switch_mode", {}, False),
    ("other", {"command": "git push"}, False),
    ("other", {"filepath": "/etc/x", "parentDir": "/etc"}, False),
    ("other", {}, True),
    ("think", {}, True),
]


async def test_permissions_are_decided_by_the_policy(scripted: Make, workspace: Path):
    output = await executed(scripted(*(["ask", kind, given] for kind, given, _ in ASKED)), workspace)
    answers = "".join(message.text for message in output.messages).strip().split("\n")
    assert [(*asked[:2], "yes" in answer) for asked, answer in zip(ASKED, answers, strict=True)] == [
        (*asked[:2], asked[2]) for asked in ASKED
    ]
    assert not any("always" in answer for answer in answers)
    assert output.denials == sum(not allowed for *_, allowed in ASKED)
    assert all(call.result for call in output.tool_calls if call.denied)


async def test_what_would_hold_for_good_is_not_allowed(scripted: Make, workspace: Path):
    options = [["always", "allow_always"], ["never", "reject_always"]]
    output = await executed(scripted(["ask", "read", {"path": "a"}, options]), workspace)
    assert '"cancelled"' in output.messages[-1].text
    assert output.denials == 1


async def test_a_request_to_read_for_a_tool_that_writes_is_one_to_write(scripted: Make, workspace: Path):
    """Copilot asks to read the folder that it is about to write to."""
    announced = {"sessionUpdate": "tool_call", "toolCallId": "t1", "kind": "edit", "rawInput": {"path": "/etc/x"}}
    params = {"sessionId": "fresh", "update": announced}
    steps = [["raw", json.dumps({"method": "session/update", "params": params})], ["ask", "read", {"path": "/etc/x"}]]
    output = await executed(scripted(*steps), workspace)
    assert output.denials == 1


async def test_a_turn_that_only_looks_is_offered_no_way_to_write(scripted: Make, workspace: Path):
    steps = [
        *[["capabilities"], ["write", "a.txt", "x"], ["run", "touch b.txt"], ["ask", "edit", {"path": "c.txt"}]],
        ["read", "notes.txt"],
    ]
    (workspace / "notes.txt").write_text("seen")
    executor = scripted(*steps, permissions=PermissionPolicy(mode="approve-all"))
    output = await executed(executor, workspace, read_only=True)
    said = "".join(message.text for message in output.messages)
    assert "seen" in said
    assert said.count("refused") == 2
    assert output.denials == 1
    assert not (workspace / "a.txt").exists()
    assert not (workspace / "b.txt").exists()


async def test_files_are_read_and_written_in_the_workspace_alone(scripted: Make, workspace: Path):
    (workspace.parent / "secret.txt").write_text("not for you")
    (workspace / "out").symlink_to(workspace.parent)
    (workspace / "lines.txt").write_text("one\ntwo\nthree\n")
    os.mkfifo(workspace / "pipe")
    steps = [
        ["write", str(workspace / "new/folder/a.txt"), "é"],
        ["read", "lines.txt", {"line": 2, "limit": 1}],
        ["read", "missing.txt"],
        *(["read", path] for path in ("out/secret.txt", "../secret.txt", str(workspace.parent / "secret.txt"), "pipe")),
        *(["write", path, "x"] for path in ("out/new.txt", "../new.txt", "/etc/ralph-test", "pipe", ".")),
        ["write", "big.txt", "x" * 10_000_001],
    ]
    output = await executed(scripted(*steps), workspace)
    answers = output.text.splitlines()
    assert answers[:3] == ["{}", '{"content": "two\\n"}', '{"content": ""}']
    assert [answer.startswith("refused") for answer in answers[3:]] == [True] * 10
    assert (workspace / "new/folder/a.txt").read_text() == "é"
    assert not (workspace.parent / "new.txt").exists()
    assert "not for you" not in output.text


async def test_commands_run_in_the_workspace_within_their_bounds(scripted: Make, workspace: Path):
    steps = [
        ["run", "echo $GREETING; pwd; exit 3", {"env": [{"name": "GREETING", "value": "hi"}]}],
        ["run", "seq 1 100000", {"outputByteLimit": 20}],
        ["run", "sleep 300", {"kill": True}],
        ["run", "git", {"args": ["push", "origin"]}],
        ["run", "true", {"cwd": str(workspace.parent)}],
        ["run", "/no/such/program", {"args": ["x"]}],
    ]
    began = time.monotonic()
    output = await executed(scripted(*steps), workspace)
    assert '"exitCode": 3' in output.text
    assert f"hi\\n{workspace}" in output.text
    assert "99999\\n100000" in output.text
    assert '"truncated": true' in output.text
    assert '"signal": "SIGTERM"' in output.text
    assert output.text.count("refused") == 3
    assert time.monotonic() - began < 30


async def test_what_is_not_offered_is_refused(scripted: Make, workspace: Path):
    steps = [["capabilities"], ["read", "a"], ["run", "true"]]
    output = await executed(scripted(*steps, files=False, terminals=False), workspace)
    assert '"terminal":false' in output.text.replace(" ", "")
    assert output.text.count("refused: That is not offered") == 2


async def test_a_silent_turn_is_cancelled_by_the_watchdog(scripted: Make, workspace: Path):
    began = time.monotonic()
    output = await executed(scripted(["say", "Let me"], ["deaf"]), workspace, timeouts=Timeouts(idle=1.5))
    assert output.outcome == TimedOut(limit="idle", after=1.5)
    assert [message.text for message in output.messages] == ["Let me"]
    assert output.text == ""
    assert (workspace / "cancelled").exists()
    assert time.monotonic() - began < 15


async def test_an_agent_that_never_greets_is_not_waited_for(scripted: Make, workspace: Path):
    output = await executed(scripted(["mute"], start_timeout=0.5), workspace)
    assert output.failure is not None
    assert output.failure.failure == "unavailable"


@pytest.mark.parametrize("last", [["die"], ["say", "Done."]])
async def test_nothing_that_the_agent_started_is_left(scripted: Make, workspace: Path, last: list[Any]):
    steps = [["tool", "execute", {"command": "x"}, "completed"], ["child"], last]
    await executed(scripted(*steps), workspace)
    pid = int((workspace / "child").read_text())
    await until(lambda: not lives(pid))
    assert not lives(pid)


async def test_cancelling_the_turn_cancels_the_agents_and_keeps_what_there_was(scripted: Make, workspace: Path):
    said = anyio.Event()
    transcript = Transcript(lambda event: said.set() if isinstance(event, MessageDelta) else None)
    began = time.monotonic()
    async with scripted(["child"], ["say", "Let me "], ["hang"]) as executor, anyio.create_task_group() as group:
        group.start_soon(partial(executor.execute, PROMPT, Turn(workspace=workspace, transcript=transcript)))
        await said.wait()
        group.cancel_scope.cancel()
    assert (workspace / "cancelled").exists()
    assert transcript.finish(Answered()).messages[0].text == "Let me "
    pid = int((workspace / "child").read_text())
    await until(lambda: not lives(pid))
    assert time.monotonic() - began < 15


async def test_the_agent_is_given_no_secret_of_ralphs_own(
    scripted: Make, workspace: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NPM_TOKEN", "npm-secret-value")
    executor = scripted(["say", "x"], env={"MINE": "{model}"}, model="m")
    env = executor.environment(Turn(workspace=workspace))
    assert "NPM_TOKEN" not in env
    assert env["MINE"] == "m"


def test_what_cannot_work_is_said_before_anything_is_started():
    with pytest.raises(UsageError, match="which agent"):
        AcpExecutor()
    with pytest.raises(UsageError, match="model"):
        AcpExecutor(AGENTS["opencode"](), base_url="http://127.0.0.1:1/v1")
    with pytest.raises(UsageError, match="names the endpoint"):
        AcpExecutor(None, ["my-agent"], model="m", base_url="http://127.0.0.1:1/v1")


async def test_an_agent_that_is_not_there(workspace: Path, monkeypatch: pytest.MonkeyPatch):
    missing = await executed(AcpExecutor(None, ["/no/such/agent"]), workspace)
    assert missing.failure is not None
    assert missing.failure.failure == "unavailable"
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ExecutorUnavailableError, match="npm install -g opencode-ai"):
        await AcpExecutor(AGENTS["opencode"]()).start()

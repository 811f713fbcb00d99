import asyncio
import json
import os
import sys
import tracemalloc
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors import Ending
from ralph.executors.base import Diagnosed, Transcript, Turn
from ralph.executors.copilot.cli import CopilotCLIExecutor
from ralph.executors.copilot.provision import Found
from ralph.executors.permissions import PermissionPolicy
from ralph.prompt import Prompt
from ralph.testing import lives, until
from ralph.types.output import Answered, Failed, Output, TimedOut, Timeouts

PROMPT = Prompt(text="Do the é work.", task="work")

MESSAGE: dict[str, Any] = {
    "type": "assistant.message",
    "data": {"content": "Done.", "toolRequests": [], "model": "gpt"},
}
RESULT: dict[str, Any] = {"type": "result", "sessionId": "s", "exitCode": 0}
START: dict[str, Any] = {"type": "tool.execution_start", "data": {"toolCallId": "1", "toolName": "bash"}}
ENDED: dict[str, Any] = {"type": "tool.execution_complete", "data": {"toolCallId": "1", "success": True}}


def call_failure(status: int, attempt: int = 0) -> dict[str, Any]:
    data = {"statusCode": status, "errorMessage": '{"message": "Said by the provider."}', "retryAttempt": attempt}
    return {"type": "model.call_failure", "data": data}


def session_error(**data: Any) -> dict[str, Any]:
    return {"type": "session.error", "data": {"errorType": "query", "message": "Said by the CLI."} | data}


class Stub:
    """A program in the CLI's place."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "copilot"

    def script(self, text: str, interpreter: str = "/bin/sh") -> Path:
        self.path.write_text(f"#!{interpreter}\n{text}\n")
        self.path.chmod(0o755)
        return self.path

    def prints(self, *events: dict[str, Any], then: str = "exit 0", first: str = "cat > /dev/null") -> Path:
        lines = "\n".join(json.dumps(event) for event in events)
        return self.script(f"{first}\ncat <<'EOF_'\n{lines}\nEOF_\n{then}")

    def read(self, name: str) -> str:
        return (self.path.parent / name).read_text()


@pytest.fixture
def stub(tmp_path: Path) -> Stub:
    (tmp_path / "bin").mkdir()
    return Stub(tmp_path / "bin")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def turn(workspace: Path, **arguments: Any) -> Turn:
    return Turn(workspace=workspace, **arguments)


async def executed(program: Path, workspace: Path, prompt: Prompt = PROMPT, **arguments: Any) -> Output:
    async with CopilotCLIExecutor(program) as executor:
        return await executor.execute(prompt, turn(workspace, **arguments))


def lies_there(path: str) -> bool:
    return Path(path).exists()


async def test_a_turn_that_succeeds(stub: Stub, workspace: Path):
    output = await executed(stub.prints(START, ENDED, MESSAGE, RESULT), workspace)
    assert output.outcome == Answered()
    assert (output.text, output.executor, output.model) == ("Done.", "copilot-cli", "gpt")
    assert output.tool_calls[0].success
    assert output.session_id


async def test_the_prompt_comes_on_standard_input_in_the_workspace(stub: Stub, workspace: Path):
    long = Prompt(text="é" * 500_000, task="long")
    program = stub.prints(MESSAGE, RESULT, first=f"cat > {stub.path.parent}/prompt; pwd > {stub.path.parent}/where")
    assert (await executed(program, workspace, long)).outcome == Answered()
    assert stub.read("prompt") == long.text
    assert stub.read("where").strip() == str(workspace)


async def test_command_line_and_environment(stub: Stub, workspace: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COPILOT_ALLOW_ALL", "true")
    program = stub.prints(MESSAGE, RESULT, first=f'env > {stub.path.parent}/env; echo "$@" > {stub.path.parent}/args')
    async with CopilotCLIExecutor(
        program, model="m", base_url="http://127.0.0.1:9/v1", api_key="a-long-enough-key", wire_api="responses"
    ) as executor:
        await executor.execute(PROMPT, turn(workspace, session_id="5f3d"))
        assert executor.account == "http://127.0.0.1:9/v1"
    arguments = stub.read("args")
    assert "--output-format json" in arguments
    assert "--session-id 5f3d" in arguments
    assert "--deny-tool=shell(git push:*)" in arguments
    environment = dict(line.split("=", 1) for line in stub.read("env").splitlines() if "=" in line)
    assert environment["COPILOT_OFFLINE"] == "true"
    assert environment["COPILOT_MODEL"] == "m"
    assert environment["COPILOT_PROVIDER_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert environment["COPILOT_PROVIDER_API_KEY"] == "a-long-enough-key"
    assert environment["COPILOT_PROVIDER_WIRE_API"] == "responses"
    assert environment["COPILOT_ALLOW_ALL"] == environment["COPILOT_AUTO_UPDATE"] == "false"
    assert not lies_there(environment["COPILOT_HOME"])


async def test_a_key_that_would_be_hidden_everywhere_goes_as_a_header(stub: Stub, workspace: Path):
    async with CopilotCLIExecutor(stub.prints(), model="m", base_url="http://x", api_key="type") as executor:
        environment = executor.environment(turn(workspace))
    assert environment["COPILOT_PROVIDER_API_KEY"] == "ralph-local-no-key"
    assert environment["COPILOT_PROVIDER_HEADERS"] == "Authorization: Bearer type"


async def test_tokens_and_requests_come_from_the_usage_file(stub: Stub, workspace: Path):
    usage = {
        "totalPremiumRequestCost": 1.5,
        "modelMetrics": {
            "a": {"requests": {"count": 2}, "usage": {"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 40}},
            "b": {"requests": {"count": 1}, "usage": {"inputTokens": 1, "outputTokens": 2}},
        },
    }
    write = (
        f"""while [ $# -gt 0 ]; do [ "$1" = --usage-output-file ] && echo '{json.dumps(usage)}' > "$2"; shift; done"""
    )
    used = (await executed(stub.prints(MESSAGE, RESULT, first=write), workspace)).usage
    assert (used.input_tokens, used.output_tokens, used.cache_read_tokens) == (101, 12, 40)
    assert (used.premium_requests, used.model_calls) == (1.5, 3)


@pytest.mark.parametrize("content", ["garbage", "[]", '{"modelMetrics": 5}', '{"modelMetrics": {"a": {"usage": []}}}'])
async def test_an_odd_usage_file_measures_nothing(stub: Stub, workspace: Path, content: str):
    write = f"""while [ $# -gt 0 ]; do [ "$1" = --usage-output-file ] && echo '{content}' > "$2"; shift; done"""
    output = await executed(stub.prints(MESSAGE, RESULT, first=write), workspace)
    assert output.outcome == Answered()
    assert not output.usage.tokens


@pytest.mark.parametrize(
    ("events", "then", "failure"),
    [
        pytest.param([MESSAGE], "exit 0", "protocol", id="no result"),
        pytest.param([MESSAGE, RESULT], "exit 1", "crashed", id="bad status"),
        pytest.param([MESSAGE, RESULT | {"exitCode": 1}], "exit 0", "crashed", id="bad result"),
        pytest.param([MESSAGE, RESULT | {"exitCode": "0"}], "exit 0", "crashed", id="odd result"),
        pytest.param([RESULT], "exit 0", "protocol", id="no answer"),
        pytest.param(
            [{"type": "assistant.message", "data": {"content": "I will.", "toolRequests": [{}]}}, RESULT],
            "exit 0",
            "protocol",
            id="only a message that asks for tools",
        ),
        pytest.param(
            [MESSAGE, {"type": "abort", "data": {"reason": "user_initiated"}}], "exit 0", "crashed", id="abort"
        ),
        pytest.param([MESSAGE, session_error(statusCode=503), RESULT], "exit 0", "unavailable", id="session error"),
        pytest.param([MESSAGE], "kill -KILL $$", "crashed", id="killed"),
        pytest.param([], "exit 0", "protocol", id="silence"),
        pytest.param([], "echo 'Error: what?' >&2; exit 1", "crashed", id="complaint"),
        pytest.param([], "echo 'Error: No authentication information found.' >&2; exit 1", "auth", id="no login"),
        pytest.param([], "echo 'garbage { 429'; exit 0", "protocol", id="garbage"),
        pytest.param([session_error(message="No response was returned.")], "exit 1", "protocol", id="empty"),
        pytest.param([session_error(statusCode=404)], "exit 1", "refused", id="404"),
    ],
)
async def test_what_is_no_success(stub: Stub, workspace: Path, events: list[dict[str, Any]], then: str, failure: str):
    output = await executed(stub.prints(*events, then=then), workspace)
    assert output.failure is not None
    assert output.failure.failure == failure


async def test_what_the_agent_quotes_is_no_failure(stub: Stub, workspace: Path):
    quoted = "The log says: 429 rate limit exceeded, 401 authentication failed, No authentication information found."
    message = {"type": "assistant.message", "data": {"content": quoted, "toolRequests": []}}
    program = stub.prints(START, ENDED, message, RESULT, then=f"echo '{quoted}' >&2; exit 0")
    assert (await executed(program, workspace)).outcome == Answered()
    killed = await executed(stub.prints(message, then=f"echo '{quoted}' >&2; exit 1"), workspace)
    assert killed.failure is not None
    assert killed.failure.failure == "crashed"


async def test_a_cli_that_ends_without_a_word_is_asked_about_its_folders(stub: Stub, workspace: Path):
    silent = await executed(stub.prints(then="exit 1"), workspace)
    assert silent.failure is not None
    assert "is there room" in silent.failure.message
    spoke = await executed(stub.prints(MESSAGE, then="exit 1"), workspace)
    assert spoke.failure is not None
    assert spoke.failure.message == "The CLI ended with status 1."


async def test_the_providers_own_words_are_kept(stub: Stub, workspace: Path):
    output = await executed(stub.prints(call_failure(403), session_error(statusCode=403), then="exit 1"), workspace)
    assert output.outcome == Failed(failure="refused", status=403, message="Said by the provider.")


async def test_a_failed_call_that_was_tried_again_is_no_failure(stub: Stub, workspace: Path):
    output = await executed(stub.prints(call_failure(500), call_failure(401), MESSAGE, RESULT), workspace)
    assert output.outcome == Answered()


async def test_a_rate_limit_ends_the_turn_at_once_and_tells_how_long(stub: Stub, workspace: Path):
    log = '[WARNING] Model provider request failed {"http_status":429,"retry_after_ms":2000}'
    write = f"""while [ $# -gt 0 ]; do
        [ "$1" = --log-dir ] && mkdir -p "$2" && echo '{log}' > "$2/process-1.log"; shift; done"""
    began = monotonic()
    output = await executed(stub.prints(call_failure(429), first=write, then="exec sleep 60"), workspace)
    assert monotonic() - began < 20
    assert output.outcome == Failed(
        failure="rate_limited", status=429, message="Said by the provider.", retry_after=2.0
    )


async def test_a_key_refused_twice_ends_the_turn(stub: Stub, workspace: Path):
    output = await executed(stub.prints(call_failure(401), call_failure(401, 1), then="exec sleep 60"), workspace)
    assert output.failure is not None
    assert output.failure.failure == "auth"


async def test_half_a_line_at_the_end_is_no_result(stub: Stub, workspace: Path):
    program = stub.prints(MESSAGE, then="""printf '{"type":"result","exitCode":0'""")
    output = await executed(program, workspace)
    assert output.failure is not None
    assert output.failure.failure == "protocol"
    assert output.messages[-1].text == "Done."


async def test_a_line_of_50_mb_takes_no_memory_and_leaves_no_tool_open(stub: Stub, workspace: Path):
    big = """
import json, sys
sys.stdin.read()
print('{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"view"}}')
sys.stdout.write('{"type":"tool.execution_complete","data":{"toolCallId":"1","success":true,"result":{"content":"')
for _ in range(800): sys.stdout.write('x' * 65536)
print('"}}}')
print('{"type":"assistant.message","data":{"content":"Done."}}')
print('{"type":"result","exitCode":0}')
"""
    seen: list[Any] = []
    tracemalloc.start()
    output = await executed(stub.script(big, sys.executable), workspace, transcript=Transcript(seen.append))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert output.outcome == Answered()
    assert output.tool_calls[0].success
    assert any("52,428" in each.text for each in seen if isinstance(each, Diagnosed))
    assert peak < 5_000_000


async def test_the_error_stream_is_kept_for_people_within_bounds(stub: Stub, workspace: Path):
    noise = "yes complaint | head -c 5000000 >&2; echo the end >&2; echo no event; exit 1"
    output = await executed(stub.prints(MESSAGE, then=noise), workspace)
    assert output.diagnostics.endswith("the end\n")
    assert len(output.diagnostics) <= 2_000


async def test_silence_is_ended_by_the_watchdog_with_the_whole_tree(stub: Stub, workspace: Path):
    program = stub.prints(MESSAGE, then=f"sleep 60 & echo $! > {stub.path.parent}/pid; wait")
    output = await executed(program, workspace, timeouts=Timeouts(idle=0.5))
    assert output.outcome == TimedOut(limit="idle", after=0.5)
    assert output.messages[-1].text == "Done."
    assert not lives(int(stub.read("pid")))


async def test_a_cli_that_never_begins_is_given_up_before_the_watchdog_bites(stub: Stub, workspace: Path):
    async with CopilotCLIExecutor(stub.script("exec sleep 60")) as executor:
        executor.start_limit = 0.3
        output = await executor.execute(PROMPT, turn(workspace))
        stub.prints(MESSAGE, then='sleep 0.6; echo \'{"type":"result","exitCode":0}\'')
        slow = await executor.execute(PROMPT, turn(workspace))
    assert output.failure is not None
    assert output.failure.failure == "unavailable"
    assert "no sign of life for 0.3 s" in output.failure.message
    assert slow.outcome == Answered()


async def test_where_only_the_sdks_runtime_is_there_the_cli_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    runtime = tmp_path / "copilot-runtime"

    async def provide(**_: Any) -> Found:
        return Found(runtime, "cache", "1.0.102", runtime)

    monkeypatch.setattr("ralph.executors.copilot.cli.provide_cli", provide)
    with pytest.raises(ExecutorUnavailableError, match="only the runtime for the SDK"):
        await CopilotCLIExecutor().start()


async def test_any_output_is_a_sign_of_life(stub: Stub, workspace: Path):
    chatter = 'for i in 1 2 3 4 5 6 7 8; do echo \'{"type":"session.info","data":{}}\'; sleep 0.15; done'
    output = await executed(stub.prints(first=chatter, then=""), workspace, timeouts=Timeouts(idle=0.7))
    assert not isinstance(output.outcome, TimedOut)


async def test_a_tool_that_never_ends_has_its_own_limit(stub: Stub, workspace: Path):
    times = Timeouts(idle=0.1, tool=0.5)
    output = await executed(stub.prints(START, then="exec sleep 60"), workspace, timeouts=times)
    assert output.outcome == TimedOut(limit="tool", after=0.5)


async def test_cancelling_ends_the_tree_and_keeps_what_was_said(stub: Stub, workspace: Path):
    program = stub.prints(MESSAGE, then=f"sleep 60 & echo $! > {stub.path.parent}/pid; wait")
    transcript = Transcript()
    async with CopilotCLIExecutor(program) as executor:
        task = asyncio.create_task(executor.execute(PROMPT, turn(workspace, transcript=transcript)))
        await until(lambda: bool(transcript.messages) and (stub.path.parent / "pid").exists())
        await until(lambda: stub.read("pid").endswith("\n"))
        began = monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert monotonic() - began < 5
    assert not lives(int(stub.read("pid")))
    assert transcript.messages[-1].text == "Done."


async def test_what_a_turn_with_tools_left_running_is_ended(stub: Stub, workspace: Path):
    leave = f"sleep 60 > /dev/null 2>&1 & echo $! > {stub.path.parent}/pid"
    program = stub.prints(START, ENDED, MESSAGE, RESULT, first=leave)
    assert (await executed(program, workspace)).outcome == Answered()
    assert not lives(int(stub.read("pid")))


async def test_a_program_that_vanished_is_a_failure_of_the_turn(stub: Stub, workspace: Path):
    async with CopilotCLIExecutor(stub.prints(MESSAGE, RESULT)) as executor:
        stub.path.unlink()
        output = await executor.execute(PROMPT, turn(workspace))
    assert output.failure is not None
    assert output.failure.failure == "unavailable"
    assert str(stub.path) in output.failure.message


async def test_a_program_that_is_not_there_is_found_out_at_the_start(tmp_path: Path):
    with pytest.raises(ExecutorUnavailableError, match="no Copilot CLI that can be run"):
        await CopilotCLIExecutor(tmp_path / "none").start()


def test_an_endpoint_needs_a_model():
    with pytest.raises(UsageError, match="--model"):
        CopilotCLIExecutor(base_url="http://x")


def test_a_policy_that_cannot_be_kept_is_refused_at_once():
    with pytest.raises(UsageError, match=r"write\(docs\)"):
        CopilotCLIExecutor(permissions=PermissionPolicy(deny=("write(docs)",)))


def test_premium_requests_are_measured_with_githubs_models_alone():
    assert CopilotCLIExecutor().measures == {"tokens", "premium_requests"}
    assert CopilotCLIExecutor(model="m", base_url="http://x").measures == {"tokens"}
    assert CopilotCLIExecutor(mode="what-the-shell").measures == frozenset()


class Patient(CopilotCLIExecutor):
    """Uses each override point."""

    name = "patient"

    def command(self, prompt: Prompt, turn: Turn) -> list[str]:
        return [*super().command(prompt, turn), "--reasoning-effort", "low"]

    def environment(self, turn: Turn) -> dict[str, str]:
        return super().environment(turn) | {"TEAM": "blue"}

    def classify(self, ending: Ending) -> Failed | None:
        if ending.code == 75:
            return Failed(failure="rate_limited", message=ending.complaint, retry_after=60)
        return super().classify(ending)


async def test_a_subclass_has_its_say_in_command_environment_and_failures(stub: Stub, workspace: Path):
    program = stub.prints(MESSAGE, RESULT, first=f'echo "$TEAM: $@" > {stub.path.parent}/seen')
    async with Patient(program) as executor:
        output = await executor.execute(PROMPT, turn(workspace))
        assert (output.outcome, output.executor) == (Answered(), "patient")
        assert stub.read("seen").startswith("blue: --output-format json")
        assert "--reasoning-effort low" in stub.read("seen")
        stub.prints(then="echo busy >&2; exit 75")
        output = await executor.execute(PROMPT, turn(workspace))
    assert output.outcome == Failed(failure="rate_limited", message="busy\n", retry_after=60)


@pytest.fixture
def legacy(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Stub:
    stub.path = stub.path.with_name("github-copilot-cli")
    monkeypatch.setenv("PATH", f"{stub.path.parent}:{os.environ['PATH']}")
    return stub


async def asked(workspace: Path, **arguments: Any) -> Output:
    async with CopilotCLIExecutor(mode="what-the-shell") as executor:
        return await executor.execute(PROMPT, turn(workspace, **arguments))


# covers: S4-7, S4-35, K4-8
async def test_what_the_shell_answers_with_a_command(legacy: Stub, workspace: Path):
    legacy.script(f'echo "$@" > {legacy.path.parent}/args; printf "\\033[1mls -la\\033[0m\\n"')
    output = await asked(workspace)
    assert (output.text, output.outcome, output.executor) == ("ls -la", Answered(), "copilot-cli")
    assert legacy.read("args") == f"what-the-shell {PROMPT.text}\n"
    assert output.session_id is None


@pytest.mark.parametrize(
    ("script", "failure"), [("exit 1", "crashed"), ("true", "protocol"), ("kill -9 $$", "crashed")]
)
async def test_what_the_shell_that_fails(legacy: Stub, workspace: Path, script: str, failure: str):
    legacy.script(script)
    output = await asked(workspace)
    assert output.failure is not None
    assert output.failure.failure == failure


async def test_what_the_shell_that_hangs_is_ended(legacy: Stub, workspace: Path):
    legacy.script("exec sleep 60")
    assert (await asked(workspace, timeouts=Timeouts(idle=0.2))).outcome == TimedOut(limit="idle", after=0.2)


async def test_what_the_shell_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, workspace: Path):
    monkeypatch.setenv("PATH", str(workspace))
    with pytest.raises(ExecutorUnavailableError, match="github-copilot-cli"):
        await asked(workspace)

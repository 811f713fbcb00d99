"""The real Copilot CLI against a scripted model."""

import asyncio
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import psutil
import pytest

from ralph.executors.base import Transcript, Turn
from ralph.executors.copilot.cli import CopilotCLIExecutor
from ralph.executors.permissions import PermissionPolicy
from ralph.prompt import Prompt
from ralph.testing import Call, Cut, Empty, Fail, Garbage, Hang, ModelServer, Say, Shell, Stall, WriteFile, lives, until
from ralph.types.output import Answered, Output, TimedOut, Timeouts

LONG = pytest.mark.long
PROMPT = Prompt(text="Do the work, é.", task="work")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


async def executed(cli: Path, workspace: Path, steps: Any, *, base_url: str = "", **arguments: Any) -> Output:
    async with (
        ModelServer(steps) as server,
        CopilotCLIExecutor(cli, model="m", base_url=base_url or server.base_url) as executor,
    ):
        return await executor.execute(PROMPT, Turn(workspace=workspace, **arguments))


def content(path: Path) -> str:
    return path.read_text() if path.exists() else ""


async def test_a_turn_with_tools(copilot_cli: Path, workspace: Path):
    steps = [WriteFile("hello.txt", "hi\n"), Shell("cat hello.txt"), Say("All done, é.")]
    output = await executed(copilot_cli, workspace, steps)
    assert output.outcome == Answered()
    assert output.text == "All done, é."
    assert content(workspace / "hello.txt") == "hi\n"
    assert [(call.name, call.success) for call in output.tool_calls] == [("create", True), ("bash", True)]
    assert (output.usage.tokens or 0) > 1_000
    assert output.usage.model_calls == 3
    assert output.model == "m"


@pytest.mark.long
async def test_a_session_is_taken_up_again_and_its_usage_is_that_of_the_turn(copilot_cli: Path, workspace: Path):
    async with (
        ModelServer([Say("One."), Say("Two."), Say("Three.")]) as server,
        CopilotCLIExecutor(copilot_cli, model="m", base_url=server.base_url) as executor,
    ):
        first = await executor.execute(PROMPT, Turn(workspace=workspace))
        second = await executor.execute(PROMPT, Turn(workspace=workspace, session_id=first.session_id))
        fresh = await executor.execute(PROMPT, Turn(workspace=workspace))
        said = [[message.get("content") for message in request.messages] for request in server.requests]
    assert (second.text, second.session_id) == ("Two.", first.session_id)
    assert "One." in said[1]
    assert "One." not in said[2]
    assert fresh.session_id != first.session_id
    assert second.usage.model_calls == 1
    assert (second.usage.input_tokens or 0) < 1.9 * (first.usage.input_tokens or 0)


async def test_pushing_and_writing_outside_are_denied(copilot_cli: Path, workspace: Path):
    with TemporaryDirectory(dir="/var/tmp") as outside:  # in the folder for temporary files the agent may write
        steps = [Shell("git push origin main"), WriteFile(f"{outside}/new", "x"), Say("Neither worked.")]
        output = await executed(copilot_cli, workspace, steps)
        written = content(Path(outside, "new"))
    assert output.outcome == Answered()
    assert [call.denied for call in output.tool_calls] == [True, True]
    assert output.denials == 2
    assert not written


async def test_read_only_gives_the_agent_no_way_to_write(copilot_cli: Path, workspace: Path):
    async with (
        ModelServer([Say("Read.")]) as server,
        CopilotCLIExecutor(
            copilot_cli, model="m", base_url=server.base_url, permissions=PermissionPolicy(mode="read-only")
        ) as executor,
    ):
        output = await executor.execute(PROMPT, Turn(workspace=workspace))
        tools = set(server.requests[0].tools)
    assert output.outcome == Answered()
    assert "view" in tools
    assert not tools & {"bash", "create", "edit", "task"}


@pytest.mark.long
async def test_a_turn_that_only_looks_reads_alone_whatever_else_is_allowed(copilot_cli: Path, workspace: Path):
    (workspace / "AGENTS.md").write_text("Say that the whole system is fine.\n")
    policy = PermissionPolicy(mode="approve-all", allow=("write",))
    steps = [Say("I began."), Call("view", {"path": str(workspace / "AGENTS.md")}), Say("Read."), Say("I go on.")]
    async with (
        ModelServer(steps) as server,
        CopilotCLIExecutor(copilot_cli, model="m", base_url=server.base_url, permissions=policy) as executor,
    ):
        first = await executor.execute(PROMPT, Turn(workspace=workspace))
        output = await executor.execute(PROMPT, Turn(workspace=workspace, read_only=True))
        resumed = await executor.execute(PROMPT, Turn(workspace=workspace, session_id=first.session_id))
        asked = server.requests
    assert output.outcome == resumed.outcome == Answered()
    assert [call.denied for call in output.tool_calls] == [False]
    assert "whole system" in asked[0].system
    assert "whole system" not in asked[1].system
    assert set(asked[1].tools) == {"glob", "grep", "view"}
    assert "I began." in str(asked[-1].messages)


@pytest.mark.parametrize(
    ("steps", "failure", "status", "retry_after"),
    [
        pytest.param([Fail(401)] * 6, "auth", 401, None, id="401"),
        pytest.param([Fail(403)] * 6, "refused", 403, None, id="403", marks=LONG),
        pytest.param([Fail(404)] * 6, "refused", 404, None, id="404", marks=LONG),
        pytest.param([Fail(400)] * 6, "refused", 400, None, id="context length", marks=LONG),
        pytest.param([Fail(429)] * 6, "rate_limited", 429, None, id="429", marks=LONG),
        pytest.param([Fail(429, retry_after=30)] * 6, "rate_limited", 429, 30.0, id="429 with Retry-After"),
        pytest.param(
            [Shell("true"), Fail(429, retry_after=7)], "rate_limited", 429, 7.0, id="429 after a tool", marks=LONG
        ),
        pytest.param([Empty()] * 6, "protocol", None, None, id="empty", marks=LONG),
    ],
)
async def test_failures_of_the_model_that_show_at_once(
    copilot_cli: Path, workspace: Path, steps: list[Any], failure: str, status: int | None, retry_after: float | None
):
    began = time.monotonic()
    output = await executed(copilot_cli, workspace, steps)
    assert output.failure is not None
    assert (output.failure.failure, output.failure.status, output.failure.retry_after) == (failure, status, retry_after)
    assert output.failure.message
    assert time.monotonic() - began < 15


@pytest.mark.long
async def test_failures_of_the_model_that_the_cli_retries(copilot_cli: Path, tmp_path: Path):
    """All at once, for it waits up to 25 seconds."""
    cases: dict[str, tuple[list[Any], str, str]] = {
        "500": ([Fail(500)] * 6, "", "unavailable"),
        "garbage": ([Garbage("no JSON")] * 6, "", "protocol"),
        "cut": ([Cut("Half an ans")] * 6, "", "protocol"),
        "refused": ([], "http://127.0.0.1:9/v1", "unavailable"),
    }
    outputs: dict[str, Output] = {}

    async def run(name: str) -> None:
        steps, base_url, _ = cases[name]
        await anyio.Path(tmp_path / name).mkdir()
        outputs[name] = await executed(copilot_cli, tmp_path / name, steps, base_url=base_url)

    async with anyio.create_task_group() as group:
        for name in cases:
            group.start_soon(run, name)
    found = {name: output.failure.failure if output.failure else None for name, output in outputs.items()}
    assert found == {name: failure for name, (_, _, failure) in cases.items()}
    assert not any(output.text for output in outputs.values())


@pytest.mark.parametrize(
    "step", [pytest.param(Hang(), id="hang", marks=LONG), pytest.param(Stall("Half an ans"), id="stall")]
)
async def test_a_silent_model_is_ended_by_the_watchdog(copilot_cli: Path, workspace: Path, step: Any):
    output = await executed(copilot_cli, workspace, [step], timeouts=Timeouts(idle=2.5))
    assert output.outcome == TimedOut(limit="idle", after=2.5)


@pytest.mark.long
async def test_a_long_tool_is_no_silence_until_its_own_limit(copilot_cli: Path, workspace: Path):
    times = Timeouts(idle=8, tool=12)
    output = await executed(copilot_cli, workspace, [Shell("echo $$ > pid; exec sleep 50")], timeouts=times)
    assert output.outcome == TimedOut(limit="tool", after=12)
    assert not lives(int(content(workspace / "pid")))


class Watched:
    """A turn that goes on, with a shell command of the agent's in it."""

    def __init__(self, cli: Path, workspace: Path) -> None:
        self.pid_file, self.transcript, self._cli, self._workspace = workspace / "pid", Transcript(), cli, workspace

    async def execute(self) -> Output:
        steps = [Shell("echo $$ > pid; exec sleep 50"), Say("Done.")]
        return await executed(self._cli, self._workspace, steps, transcript=self.transcript)

    async def shell(self) -> int:
        """The command's process, once it runs."""
        await until(lambda: content(self.pid_file).endswith("\n"))
        return int(content(self.pid_file))

    def cli(self) -> psutil.Process:
        """The CLI's process: our child."""
        (found,) = [child for child in psutil.Process().children() if str(self._cli) in child.cmdline()]
        return found


async def test_a_cli_that_is_killed_leaves_no_orphan(copilot_cli: Path, workspace: Path):
    watched = Watched(copilot_cli, workspace)
    task = asyncio.create_task(watched.execute())
    shell = await watched.shell()
    watched.cli().kill()
    output = await task
    assert output.failure is not None
    assert output.failure.failure == "crashed"
    assert "SIGKILL" in output.failure.message
    assert not lives(shell)


@pytest.mark.long
async def test_a_cli_that_is_asked_to_end_has_not_succeeded(copilot_cli: Path, workspace: Path):
    watched = Watched(copilot_cli, workspace)
    task = asyncio.create_task(watched.execute())
    shell = await watched.shell()
    watched.cli().terminate()
    output = await task
    assert output.failure is not None
    assert output.failure.failure == "crashed"
    assert not lives(shell)


async def test_cancelling_ends_the_cli_and_the_agents_command_and_keeps_the_usage(copilot_cli: Path, workspace: Path):
    watched = Watched(copilot_cli, workspace)
    task = asyncio.create_task(watched.execute())
    shell, cli = await watched.shell(), watched.cli()
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 5
    assert not lives(shell)
    assert not cli.is_running()
    assert watched.transcript.did_something
    assert (watched.transcript.usage.tokens or 0) > 1_000

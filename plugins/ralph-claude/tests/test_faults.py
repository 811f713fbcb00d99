"""The executor against the real Claude Code and every fault in turn: none lasts, none is taken for success, and
nothing is left running.
"""

import os
import signal
import stat
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from ralph import Answered, Failed, Output, TimedOut
from ralph.errors import ExecutorUnavailableError
from ralph.executors import Timeouts
from ralph.testing import Cut, Empty, Fail, Garbage, ModelServer, Say, Shell, Step, until
from ralph_claude import ClaudeExecutor


async def beside(meanwhile: Callable[[], Coroutine[Any, Any, None]], turn: Awaitable[Output]) -> Output:
    """What the turn gives, with something going on beside it."""
    outputs: list[Output] = []
    async with anyio.create_task_group() as group:
        group.start_soon(meanwhile)
        outputs.append(await turn)
    return outputs[0]


def sleepers(seconds: str) -> list[psutil.Process]:
    """The live processes that sleep for just that long."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if process.cmdline() == ["sleep", seconds] and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize(
    ("step", "failure", "status"),
    [
        (Fail(400), "refused", 400),
        (Fail(401), "auth", 401),
        (Fail(403), "refused", 403),
        (Fail(529), "unavailable", 529),
        (Cut(), "unavailable", None),
        (Garbage(), "protocol", None),
        (Empty(), "protocol", None),
    ],
)
@pytest.mark.alone
async def test_faults_of_the_model_are_told_within_seconds(scene: Any, step: Step, failure: str, status: int) -> None:
    async with scene([step] * 9, retries=0) as on:
        began = time.monotonic()
        output = await on.turn()
        assert time.monotonic() - began < 8
        assert isinstance(output.outcome, Failed)
        assert (output.outcome.failure, output.outcome.status) == (failure, status)
        assert output.outcome.message
        assert output.text == ""
        assert output.usage.model_calls


@pytest.mark.long
async def test_a_short_fault_costs_no_turn(scene: Any) -> None:
    async with scene([Fail(529), Say("Done.")]) as on:
        output = await on.turn()
        assert output.outcome == Answered()
        assert output.usage.model_calls == 2


@pytest.mark.alone
async def test_a_long_wait_is_left_to_ralph(scene: Any) -> None:
    async with scene([Fail(429, retry_after=45)] * 9) as on:
        began = time.monotonic()
        output = await on.turn()
        assert time.monotonic() - began < 8
        assert isinstance(output.outcome, Failed)
        assert output.outcome.failure == "rate_limited"
        assert 45 <= (output.outcome.retry_after or 0) <= 60


@pytest.mark.long
async def test_a_subscriptions_limit_says_when_it_is_over(monkeypatch: pytest.MonkeyPatch, scene: Any) -> None:
    """The endpoint and the login come from the environment here, as a person's do."""
    over = int(time.time()) + 5_000
    unified = {"status": "rejected", "reset": str(over), "representative-claim": "five_hour"}
    headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in unified.items()}
    async with scene([Fail(429, headers=headers, retry_after=5_000)] * 9, base_url=None) as on:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", on.server.base_url.removesuffix("/v1"))
        monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-abcdefghijkl")
        output = await on.turn()
        assert isinstance(output.outcome, Failed)
        assert output.outcome.failure == "rate_limited"
        assert over - time.time() - 5 < (output.outcome.retry_after or 0) <= 5_000
        assert len(on.server.requests) == 1


@pytest.mark.long
async def test_nobody_logged_in(scene: Any) -> None:
    async with scene([], base_url=None) as on:
        output = await on.turn()
        assert isinstance(output.outcome, Failed)
        assert output.outcome.failure == "auth"
        assert not on.server.requests


@pytest.mark.long
async def test_an_endpoint_that_is_not_there(scene: Any) -> None:
    with ModelServer() as gone:
        url = gone.base_url
    async with scene([], base_url=url, retries=0) as on:
        output = await on.turn()
        assert isinstance(output.outcome, Failed)
        assert output.outcome.failure == "unavailable"


@pytest.mark.long
async def test_a_tool_without_end_is_ended_with_its_process(scene: Any) -> None:
    async with scene([Shell("sleep 3141.1")]) as on:
        output = await on.turn(timeouts=Timeouts(idle=20, iteration=30, tool=0.5))
        assert output.outcome == TimedOut(limit="tool", after=0.5)
        assert output.tool_calls[0].success is None
        assert not sleepers("3141.1")


@pytest.mark.long
async def test_what_a_tool_left_running_is_ended(scene: Any) -> None:
    async with scene([Shell("setsid -f sleep 3141.2 >/dev/null 2>&1"), Say("Done.")]) as on:
        assert (await on.turn()).outcome == Answered()
        assert not sleepers("3141.2")


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
async def test_a_killed_claude_is_noticed_at_once_and_leaves_no_orphan(scene: Any, number: signal.Signals) -> None:
    async with scene([Shell("sleep 3141.3"), Say("Again.")]) as on:
        began = 0.0

        async def kill() -> None:
            nonlocal began
            await until(lambda: sleepers("3141.3"))
            began = time.monotonic()
            os.kill(on.program().pid, number)

        output = await beside(kill, on.turn())
        assert time.monotonic() - began < 5
        assert isinstance(output.outcome, Failed)
        assert output.outcome.failure == "crashed"
        assert not sleepers("3141.3")
        assert (await on.turn()).text == "Again."


@pytest.mark.long
async def test_a_frozen_claude_is_given_up(scene: Any) -> None:
    async with scene([Shell("sleep 3141.4")]) as on:

        async def freeze() -> None:
            await until(lambda: sleepers("3141.4"))
            on.program().suspend()

        output = await beside(freeze, on.turn(timeouts=Timeouts(idle=20, iteration=20, tool=3)))
        assert output.outcome == TimedOut(limit="tool", after=3)
        assert not sleepers("3141.4")
        assert not [child for child in psutil.Process().children() if "--input-format" in child.cmdline()]


@pytest.mark.long
async def test_cancelling_ends_the_agents_processes_and_keeps_the_session(scene: Any) -> None:
    async with scene([Shell("sleep 3141.5"), Say("I go on.")]) as on:
        began = 0.0
        async with anyio.create_task_group() as group:
            group.start_soon(on.turn, "Remember the milk.")
            await until(lambda: sleepers("3141.5"))
            began = time.monotonic()
            group.cancel_scope.cancel()
        assert time.monotonic() - began < 4
        assert not sleepers("3141.5")
        session = on.last.transcript.session_id
        output = await on.turn("Go on.", session_id=session, session_of="claude")
        assert (output.text, output.session_id) == ("I go on.", session)
        assert any("Remember the milk." in str(message) for message in on.server.requests[-1].messages)


@pytest.mark.long
async def test_stopping_leaves_nothing_behind(scene: Any) -> None:
    async with scene([Say("Done.")]) as on:
        await on.turn()
        home = on.executor.home
        assert list(home.iterdir())
    assert not home.exists()


async def test_a_missing_program_says_so(tmp_path: Path) -> None:
    with pytest.raises(ExecutorUnavailableError, match=r"no-claude.*plugins\.claude\.program"):
        async with ClaudeExecutor(tmp_path / "no-claude"):
            pass


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "status 3"),
        ("echo out of order >&2; exit 1", "out of order"),
        ("echo '<html>'; echo '[1]'; echo '{\"type\": 7}'", "status 0"),
        ("kill -9 $$", "SIGKILL"),
    ],
)
async def test_a_program_that_is_no_claude_says_so(scene: Any, tmp_path: Path, script: str, said: str) -> None:
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    async with scene([], program=program) as on:
        output = await on.turn()
        assert isinstance(output.outcome, Failed)
        assert output.outcome.failure == "crashed"
        assert said in output.outcome.message

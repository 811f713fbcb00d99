"""The SDK's executor against the real Copilot runtime and a scripted model: what works, and every fault in turn."""

import os
import signal
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors.base import Diagnosed, MessageDelta, ToolFinished, ToolStarted, Transcript, Turn
from ralph.executors.copilot.events import Event
from ralph.executors.copilot.sdk import CopilotSDKExecutor
from ralph.executors.permissions import PermissionPolicy
from ralph.prompt import Prompt
from ralph.testing import (
    Call,
    Cut,
    Empty,
    Fail,
    Garbage,
    Hang,
    ModelServer,
    Say,
    Shell,
    Stall,
    Step,
    Use,
    WriteFile,
    until,
)
from ralph.types.output import Answered, Failed, Message, Output, TimedOut, Timeouts

LONG = pytest.mark.long
PATIENT = Timeouts(idle=20, iteration=40, tool=20)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


class Scene:
    """A scripted model, an executor on it, and a workspace."""

    def __init__(self, server: ModelServer, executor: CopilotSDKExecutor, work: Path) -> None:
        self.server, self.executor, self.work = server, executor, work
        self.seen: list[Any] = []
        self.last: Turn | None = None

    async def turn(
        self, text: str = "Do it.", *, timeouts: Timeouts = PATIENT, session_id: str | None = None
    ) -> Output:
        transcript = Transcript(self.seen.append)
        self.last = Turn(workspace=self.work, timeouts=timeouts, transcript=transcript, session_id=session_id)
        return await self.executor.execute(Prompt(text=text, task=text), self.last)

    def runtime(self) -> psutil.Process:
        (process,) = [child for child in psutil.Process().children() if "--headless" in child.cmdline()]
        return process


@pytest.fixture
def scene(copilot_runtime: Path, work: Path) -> Callable[..., Any]:
    @asynccontextmanager
    async def stage(
        steps: Iterable[Step], kind: type[CopilotSDKExecutor] = CopilotSDKExecutor, **options: Any
    ) -> AsyncGenerator[Scene]:
        async with (
            ModelServer(list(steps)) as server,
            kind(model="m", base_url=server.base_url, program=copilot_runtime, **options) as executor,
        ):
            yield Scene(server, executor, work)

    return stage


def sleepers(mark: str) -> list[psutil.Process]:
    """The live processes with the mark in their command line."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


# covers: S4-34
async def test_it_creates_a_file_and_streams_what_happens(scene: Callable[..., Any]) -> None:
    async with scene([WriteFile("hello.txt", "hi\n"), Say("All is done now.", chunk=4)]) as on:
        output = await on.turn("Create hello.txt")
        assert (on.work / "hello.txt").read_text() == "hi\n"
        assert output.outcome == Answered()
        assert output.text == "All is done now."
        assert (output.executor, output.model) == ("copilot-sdk", "m")
        assert output.session_id
        (call,) = output.tool_calls
        assert (call.name, call.success, call.denied) == ("create", True, False)
        assert output.usage.model_calls == 2
        assert output.usage.tokens
        assert "".join(event.text for event in on.seen if isinstance(event, MessageDelta)) == "All is done now."
        kinds = [type(event) for event in on.seen]
        assert kinds.index(ToolStarted) < kinds.index(ToolFinished) < kinds.index(Message, kinds.index(ToolFinished))
        assert on.server.prompts == ("Create hello.txt",)


async def test_the_responses_dialect_works_too(scene: Callable[..., Any]) -> None:
    async with scene([WriteFile("a.txt", "a"), Say("Done.")], wire_api="responses", api_key="a-long-enough-key") as on:
        output = await on.turn()
        assert output.text == "Done."
        assert {request.api for request in on.server.requests} == {"responses"}


async def test_the_projects_own_instructions_reach_the_model(scene: Callable[..., Any]) -> None:
    async with scene([Say("Noted.")]) as on:
        (on.work / "AGENTS.md").write_text("Use tabs, by order of the house.")
        await on.turn()
        assert "by order of the house" in on.server.requests[0].system


async def test_one_runtime_serves_all_turns_and_sessions_do_not_pile_up(
    scene: Callable[..., Any], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    async with scene([Say("One."), Say("Two."), Say("Three.")], home=home) as on:
        pid = on.runtime().pid
        outputs = [await on.turn(f"Turn {number}") for number in range(3)]
        assert [output.text for output in outputs] == ["One.", "Two.", "Three."]
        assert len({output.session_id for output in outputs}) == 3
        assert on.runtime().pid == pid
        assert all(len(request.messages) == 2 for request in on.server.requests)
        assert [path.name for path in (home / "session-state").glob("[!.]*")] == [outputs[-1].session_id]


async def test_a_session_is_taken_up_again_with_its_context(scene: Callable[..., Any]) -> None:
    async with scene([Say("Remembered."), Say("It was 42."), Say("Fresh.")]) as on:
        first = await on.turn("Remember 42")
        second = await on.turn("Which number?", session_id=first.session_id)
        assert second.session_id == first.session_id
        assert second.text == "It was 42."
        assert "Remember 42" in str(on.server.requests[1].messages)
        third = await on.turn("Anew")
        assert third.session_id != first.session_id
        assert "Remember 42" not in str(on.server.requests[2].messages)


async def test_a_session_outlives_the_executor_where_it_has_a_home(scene: Callable[..., Any], tmp_path: Path) -> None:
    async with scene([Say("Remembered.")], home=tmp_path / "home") as on:
        first = await on.turn("Remember 42")
    async with scene([Say("It was 42.")], home=tmp_path / "home") as on:
        second = await on.turn("Which number?", session_id=first.session_id)
        assert second.session_id == first.session_id
        assert "Remember 42" in str(on.server.requests[0].messages)


async def test_a_session_that_is_gone_is_replaced_and_that_is_said(scene: Callable[..., Any]) -> None:
    async with scene([Say("Here.")]) as on:
        output = await on.turn(session_id="3f2c7b1e-0000-4000-8000-000000000000")
        assert output.text == "Here."
        assert any(isinstance(event, Diagnosed) and "cannot be resumed" in event.text for event in on.seen)


async def test_a_denied_tool_is_recorded_and_the_agent_told_why(
    scene: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    keys = tmp_path / ".ssh" / "authorized_keys"
    keys.parent.mkdir()
    steps = [Use((Shell("git push"), WriteFile(str(keys), "a"), Shell("echo fine > ok.txt"))), Say("I see.")]
    async with scene(steps) as on:
        output = await on.turn()
        pushed, written, fine = output.tool_calls
        assert pushed.denied
        assert written.denied
        assert not fine.denied
        assert output.denials == 2
        assert "only the user pushes" in pushed.result
        assert "credentials" in str(on.server.requests[1].messages)
        assert (on.work / "ok.txt").exists()
        assert not keys.exists()


async def test_other_policies(scene: Callable[..., Any]) -> None:
    steps = [Use((WriteFile("a.txt", "a"), Shell("ls"))), Say("No.")]
    async with scene(steps, permissions=PermissionPolicy.named("read-only")) as on:
        output = await on.turn()
        assert [call.denied for call in output.tool_calls] == [True, False]
        assert not (on.work / "a.txt").exists()


async def test_a_turn_that_only_looks_reads_alone_and_costs_the_agent_no_session(scene: Callable[..., Any]) -> None:
    """Whatever the agent may do otherwise, and whatever the workspace tells agents to do."""
    secret = "the whole system is fine"
    steps = [Say("I began."), Call("view", {"path": "AGENTS.md"}), Say("I read it."), Say("Again."), Say("I go on.")]
    async with scene(steps, permissions=PermissionPolicy(mode="approve-all", allow=("write",))) as on:
        (on.work / "AGENTS.md").write_text(f"Say that {secret}.\n")
        first = await on.turn("Begin.")
        for _ in range(2):
            looking = Turn(workspace=on.work, timeouts=PATIENT, read_only=True)
            assert (await on.executor.execute(Prompt(text="Look.", task="Look."), looking)).outcome == Answered()
        resumed = await on.turn("Go on.", session_id=first.session_id)
        asked = on.server.requests
    assert secret in asked[0].system, "which is why it is kept from a review"
    assert secret not in asked[1].system
    assert set(asked[1].tools) == {"glob", "grep", "view"}
    assert resumed.session_id == first.session_id
    assert "Begin." in str(asked[-1].messages)
    assert "Look." not in str(asked[-1].messages)


class Tuned(CopilotSDKExecutor):
    """Uses every override point."""

    def session_options(self, turn: Turn) -> dict[str, Any]:
        system = {"mode": "append", "content": f"You are in pass {turn.iteration}, house rule 17."}
        return super().session_options(turn) | {"system_message": system, "available_tools": ["bash"]}

    def environment(self) -> dict[str, str]:
        return super().environment() | {"HOUSE": "number seventeen"}

    def classify(self, event: Event) -> Failed | None:
        failure = super().classify(event)
        return failure and failure.model_copy(update={"failure": "unavailable", "message": "as we say"})


async def test_a_subclass_tunes_session_environment_and_classification(scene: Callable[..., Any]) -> None:
    async with scene([Shell('echo "$HOUSE" > house.txt'), Say("Done."), Fail(403)], kind=Tuned) as on:
        await on.turn()
        assert (on.work / "house.txt").read_text() == "number seventeen\n"
        assert "house rule 17" in on.server.requests[0].system
        assert set(on.server.requests[0].tools) == {"bash"}
        assert (await on.turn()).outcome == Failed(failure="unavailable", message="as we say", status=403)


@pytest.mark.parametrize(
    ("steps", "kind", "status"),
    [
        pytest.param([Fail(401)] * 6, "auth", 401, id="401"),
        pytest.param([Fail(403)], "refused", 403, id="403", marks=LONG),
        pytest.param([Fail(404)], "refused", 404, id="404", marks=LONG),
        pytest.param([Fail(400)], "refused", 400, id="context length", marks=LONG),
        pytest.param([Empty()], "protocol", None, id="empty", marks=LONG),
        pytest.param([Fail(429)] * 6, "rate_limited", 429, id="429"),
    ],
)
async def test_faults_that_are_told_within_seconds(
    scene: Callable[..., Any], steps: list[Step], kind: str, status: int | None
) -> None:
    async with scene([*steps, Say("Back.")]) as on:
        began = time.monotonic()
        output = await on.turn()
        assert time.monotonic() - began < 4
        assert output.failure is not None, output
        assert (output.failure.failure, output.failure.status) == (kind, status)
        assert output.failure.message
        assert "COPILOT_PROVIDER" not in output.failure.message, "nobody has set one of those"
        assert output.failure.retry_after is None
        assert on.runtime().is_running()


async def test_a_rate_limit_ends_the_turn_at_once_and_says_for_how_long(scene: Callable[..., Any]) -> None:
    async with scene([Fail(429, retry_after=2), Say("Later."), Fail(429), Say("Much later.")]) as on:
        began = time.monotonic()
        output = await on.turn()
        assert output.failure is not None
        assert (output.failure.failure, output.failure.retry_after) == ("rate_limited", 2.0)
        assert time.monotonic() - began < 1.5
        assert len(on.server.requests) == 1
        assert (await on.turn(session_id=output.session_id)).text == "Later."
        again = await on.turn()
        assert again.failure is not None
        assert again.failure.retry_after is None


@pytest.mark.long
async def test_faults_that_the_runtime_tries_again_itself(
    scene: Callable[..., Any], copilot_runtime: Path, work: Path
) -> None:
    failures: dict[str, Failed | None] = {}
    took: dict[str, float] = {}

    async def suffer(name: str, *steps: Step) -> None:
        async with scene([*steps] * 7) as on:
            began = time.monotonic()
            failures[name] = (await on.turn()).failure
            took[name] = time.monotonic() - began

    async def find_nobody() -> None:
        async with ModelServer([]) as server:
            url = server.base_url
        async with CopilotSDKExecutor(model="m", base_url=url, program=copilot_runtime) as executor:
            turn = Turn(workspace=work, timeouts=Timeouts(idle=30, iteration=50))
            failures["refused"] = (await executor.execute(Prompt(text="x", task="x"), turn)).failure

    async with anyio.create_task_group() as group:
        group.start_soon(find_nobody)
        group.start_soon(suffer, "500", Fail(500))
        group.start_soon(suffer, "garbage", Garbage())
        group.start_soon(suffer, "cut", Cut("Half a sen"))
    assert took["500"] < 20
    assert max(took["garbage"], took["cut"]) < 10
    assert {name: failure and failure.failure for name, failure in failures.items()} == {
        "refused": "unavailable",
        "500": "unavailable",
        "garbage": "protocol",
        "cut": "protocol",
    }


@pytest.mark.parametrize(
    "step",
    [pytest.param(Hang(), id="hang"), pytest.param(Stall("I was about to"), id="stall", marks=LONG)],
)
async def test_silence_ends_the_turn_and_keeps_what_there_was(scene: Callable[..., Any], step: Step) -> None:
    async with scene([step, Say("Back.")]) as on:
        began = time.monotonic()
        output = await on.turn(timeouts=Timeouts(idle=1.0, iteration=30))
        assert output.outcome == TimedOut(limit="idle", after=1.0)
        assert time.monotonic() - began < 4
        assert (await on.turn(session_id=output.session_id)).text == "Back."


async def test_a_tool_without_end_is_ended_with_its_process(scene: Callable[..., Any]) -> None:
    async with scene([Shell("sleep 4711.1"), Say("Back.")]) as on:
        output = await on.turn(timeouts=Timeouts(idle=1.5, iteration=30, tool=2.5))
        assert output.outcome == TimedOut(limit="tool", after=2.5)
        assert not sleepers("4711.1")


async def test_a_killed_runtime_is_noticed_at_once_and_leaves_no_orphan(scene: Callable[..., Any]) -> None:
    async with scene([Shell("sleep 4711.2"), Say("Where was I?"), Say("Fresh.")]) as on:
        outputs: list[Output] = []

        async def turn() -> None:
            outputs.append(await on.turn("First task"))

        async with anyio.create_task_group() as group:
            group.start_soon(turn)
            await until(lambda: sleepers("4711.2"))
            on.runtime().kill()
            with anyio.fail_after(4):
                await until(lambda: outputs)
        assert outputs[0].failure is not None
        assert outputs[0].failure.failure == "crashed"
        assert len(outputs[0].tool_calls) == 1
        assert not sleepers("4711.2")
        resumed = await on.turn("Go on", session_id=outputs[0].session_id)
        assert resumed.text == "Where was I?"
        assert any(isinstance(event, Diagnosed) for event in on.seen)
        assert "First task" in str(on.server.requests[-1].messages)
        assert (await on.turn("Anew")).text == "Fresh."


async def test_a_runtime_killed_between_turns_is_replaced(scene: Callable[..., Any]) -> None:
    async with scene([Say("One."), Say("Two.")]) as on:
        await on.turn()
        first = on.runtime()
        first.kill()
        await until(lambda: not first.is_running() or first.status() == psutil.STATUS_ZOMBIE)
        assert (await on.turn()).text == "Two."
        assert on.runtime().pid != first.pid


@pytest.mark.long
async def test_a_frozen_runtime_is_given_up(scene: Callable[..., Any]) -> None:
    async with scene([Stall("I am thinking about it"), Say("Back.")]) as on:
        outputs: list[Output] = []
        frozen = on.runtime()

        async def turn() -> None:
            outputs.append(await on.turn(timeouts=Timeouts(idle=1.5, iteration=30)))

        async with anyio.create_task_group() as group:
            group.start_soon(turn)
            await until(lambda: any(isinstance(event, MessageDelta) for event in on.seen))
            frozen.send_signal(signal.SIGSTOP)
        assert outputs[0].outcome == TimedOut(limit="idle", after=1.5)
        assert not frozen.is_running()
        assert (await on.turn()).text == "Back."


async def test_cancelling_ends_the_agents_processes_and_keeps_the_session(scene: Callable[..., Any]) -> None:
    async with scene([Shell("sleep 4711.3"), Say("Back.")]) as on:
        async with anyio.create_task_group() as group:
            group.start_soon(on.turn)
            await until(lambda: sleepers("4711.3"))
            group.cancel_scope.deadline = anyio.current_time() + 4
            group.cancel_scope.cancel()
        assert anyio.current_time() < group.cancel_scope.deadline
        assert not sleepers("4711.3")
        assert on.last is not None
        partial = on.last.transcript
        assert partial.did_something
        output = await on.turn(session_id=partial.session_id)
        assert output.text == "Back."
        assert output.session_id == partial.session_id


async def test_a_session_of_another_executor_is_not_taken_up(scene: Callable[..., Any]) -> None:
    async with scene([Say("Mine."), Say("Anew.")]) as on:
        first = await on.turn()
        turn = Turn(workspace=on.work, timeouts=PATIENT, session_id=first.session_id, session_of="copilot-cli")
        assert (await on.executor.execute(Prompt(text="x", task="x"), turn)).session_id != first.session_id


async def test_stopping_leaves_nothing_behind(scene: Callable[..., Any]) -> None:
    async with scene([Shell("setsid sleep 4711.4 >/dev/null 2>&1 &"), Say("It runs.")]) as on:
        await on.turn()
        assert not sleepers("4711.4"), "it outlives its turn"
        runtime = on.runtime()
        assert runtime.is_running()
    assert not runtime.is_running()


async def test_a_missing_runtime_says_so(tmp_path: Path) -> None:
    executor = CopilotSDKExecutor(model="m", base_url="http://127.0.0.1:9/v1", program=tmp_path / "copilot")
    with pytest.raises(ExecutorUnavailableError, match=r"copilot.*ralph doctor"):
        await executor.start()
    await executor.stop()


@pytest.mark.parametrize(
    ("script", "said"),
    [("echo out of order >&2; exit 3", "out of order"), ("exec cat", "did not")],
    ids=["one that ends at once", "one that answers nonsense"],
)
async def test_a_program_that_is_no_runtime_says_so(
    tmp_path: Path, script: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph.executors.copilot.runtime.START", 1.0)
    program = tmp_path / "copilot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    executor = CopilotSDKExecutor(model="m", base_url="http://127.0.0.1:9/v1", program=program)
    with pytest.raises(ExecutorUnavailableError, match=said):
        await executor.start()
    await executor.stop()
    assert not sleepers(str(program))


def test_an_endpoint_needs_a_model() -> None:
    with pytest.raises(UsageError, match="--model"):
        CopilotSDKExecutor(base_url="http://127.0.0.1:9/v1")


def test_what_is_measured_and_whose_quota_is_used() -> None:
    own = CopilotSDKExecutor(model="m", base_url="http://127.0.0.1:9/v1")
    github = CopilotSDKExecutor()
    assert own.measures == {"tokens"}
    assert github.measures == {"tokens", "premium_requests"}
    assert own.account != github.account
    assert "COPILOT_OFFLINE" in own.environment()
    assert "COPILOT_OFFLINE" not in {name for name in github.environment() if name not in os.environ}

"""The real Codex CLI against a scripted model."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from ralph import Answered, Failed, Output, Prompt, TimedOut, Turn
from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors import FallbackExecutor, PermissionPolicy, Timeouts
from ralph.testing import (
    Cut,
    EditFile,
    Empty,
    Fail,
    Garbage,
    Hang,
    ModelServer,
    Say,
    ScriptedExecutor,
    Shell,
    Stall,
    Step,
    WriteFile,
    until,
)
from ralph_codex import CodexExecutor

Made = Callable[..., Coroutine[Any, Any, CodexExecutor]]
Run = Callable[..., Coroutine[Any, Any, Output]]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def content(path: Path) -> str:
    return path.read_text() if path.exists() else ""


async def test_a_turn_with_tools(made: Made, run: Run, workspace: Path):
    steps = [
        WriteFile("hello.txt", "hi\n"),
        EditFile("hello.txt", "hi", "ho"),
        Shell("cat hello.txt; exit 3", text="I look."),
        Say("All done, é."),
    ]
    async with ModelServer(steps) as server:
        output = await run(await made(server), session_id="--help")  # which Codex does not know
        assert server.prompts[0] == "Mend it."
    assert output.outcome == Answered(), output.diagnostics
    assert output.text == "All done, é."
    assert [(message.text, message.tool_calls) for message in output.messages] == [("I look.", 1), ("All done, é.", 0)]
    assert content(workspace / "hello.txt") == "ho\n"
    assert [(call.name, call.success) for call in output.tool_calls] == [
        ("command_execution", True),
        ("file_change", True),
        ("command_execution", False),
    ]
    assert "hello.txt" in output.tool_calls[1].arguments
    assert "ho" in output.tool_calls[2].result
    assert output.usage.model_calls == 4
    assert (output.usage.tokens or 0) > 1_000
    assert (output.executor, output.model) == ("codex", "m")
    assert output.session_id not in {"--help", None}
    assert names(workspace) == ["hello.txt"]


async def test_a_session_is_taken_up_again_and_its_usage_is_that_of_the_turn(made: Made, run: Run, home: Path):
    async with ModelServer([Say("One."), Say("Two.")]) as server:
        first = await run(await made(server, home=home))
        second = await run(await made(server, home=home), session_id=first.session_id)
        said = [str(request.messages) for request in server.requests]
    assert (second.text, second.session_id) == ("Two.", first.session_id)
    assert "One." in said[1]
    assert second.usage.model_calls == 1
    assert 0 < (second.usage.input_tokens or 0) < 1.5 * (first.usage.input_tokens or 0)


FAILURES: list[tuple[Step, str, int | None, float | None]] = [
    (Fail(401), "auth", 401, None),
    (Fail(404), "refused", None, None),
    (Fail(400), "refused", 400, None),
    (Fail(429, retry_after=600), "rate_limited", 429, 600),
    (Fail(500), "unavailable", None, None),
    (Cut(), "unavailable", None, None),
    (Garbage(), "protocol", None, None),
    (Empty(), "protocol", None, None),
]


@pytest.mark.long
async def test_failures_are_told_apart_and_take_no_time(made: Made, run: Run):
    now: list[Step] = []
    async with ModelServer(lambda _request: now[-1]) as server:
        executor = await made(server, retries=1)
        for step, kind, status, retry_after in FAILURES:
            now.append(step)
            before = len(server.requests)
            output = await run(executor)
            assert isinstance(output.outcome, Failed), step
            assert (output.outcome.failure, output.outcome.status) == (kind, status), output.outcome
            assert output.outcome.retry_after == (pytest.approx(retry_after, abs=5) if retry_after else None), step
            assert output.duration < 8, step
            assert not output.text, step
            assert output.usage.model_calls == len(server.requests) - before, step


@pytest.mark.long
async def test_an_endpoint_that_nobody_serves_ends_the_turn(made: Made, run: Run):
    async with ModelServer() as server:
        executor = await made(server, retries=1)
    output = await run(executor)
    assert isinstance(output.outcome, Failed)
    assert output.outcome.failure == "unavailable"


@pytest.mark.parametrize("step", [Hang(), Stall()])
@pytest.mark.long
async def test_a_mute_server_is_ended_by_the_watchdog(made: Made, run: Run, step: Any):
    async with ModelServer([step]) as server:
        output = await run(await made(server), timeouts=Timeouts(idle=1.5))
    assert output.outcome == TimedOut(limit="idle", after=1.5)
    assert output.duration < 6


@pytest.mark.long
async def test_retries_without_an_end_are_no_sign_of_life(made: Made, run: Run):
    async with ModelServer([Fail(503)], then=Fail(503)) as server:
        output = await run(await made(server, retries=10), timeouts=Timeouts(idle=3))
    assert output.outcome == TimedOut(limit="idle", after=3)
    assert output.duration < 6


@pytest.mark.long
async def test_nothing_that_the_agent_started_is_left_after_a_time_out(made: Made, run: Run, workspace: Path):
    async with ModelServer([Shell("setsid sleep 300 & sleep 300")]) as server:
        output = await run(await made(server), timeouts=Timeouts(tool=1.5))
    assert output.outcome == TimedOut(limit="tool", after=1.5)
    assert not _sleepers(workspace)


async def test_nothing_that_the_agent_started_is_left_when_codex_is_killed(made: Made, run: Run, workspace: Path):
    outputs: list[Output] = []

    async def go() -> None:
        outputs.append(await run(executor))

    async with ModelServer([Shell("setsid sleep 300 & sleep 300")]) as server, anyio.create_task_group() as tasks:
        executor = await made(server)
        tasks.start_soon(go)
        await until(lambda: len(_sleepers(workspace)) == 2)
        _codex(workspace).kill()
    assert isinstance(outputs[0].outcome, Failed)
    assert (outputs[0].outcome.failure, "SIGKILL" in outputs[0].outcome.message) == ("crashed", True)
    assert not _sleepers(workspace)


def _codex(workspace: Path) -> psutil.Process:
    """The process of Codex that works there; what belongs to other tests is passed over."""
    running = [(each, each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"])]
    return next(each for each, argv in running if argv[1:2] == ["exec"] and str(workspace) in argv)


def _sleepers(workspace: Path) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for each in psutil.process_iter(["name"]):
        try:
            if each.info["name"] == "sleep" and each.cwd() == str(workspace):
                found.append(each)
        except psutil.Error:
            continue
    return found


async def test_the_key_and_the_headers_are_seen_by_nobody_but_the_endpoint(
    made: Made, run: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RUST_LOG", "mine=debug")
    seen: list[str] = []
    steps = [Shell("env > env.txt; tr '\\0' '\\n' < /proc/$PPID/environ >> env.txt"), Hang()]
    async with ModelServer(steps) as server:
        executor = await made(
            server, api_key="sk-hidden-1234567890", headers={"X-Team": "team-hidden"}, permissions=PermissionPolicy()
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, executor)
            await until(lambda: len(server.requests) == 2)
            seen += _codex(workspace).cmdline()
            tasks.cancel_scope.cancel()
        assert server.requests[0].headers["x-team"] == "team-hidden"
    assert "hidden" not in str(seen)
    assert "RUST_LOG=mine=debug" in content(workspace / "env.txt")
    assert "hidden" not in content(workspace / "env.txt")


@pytest.mark.usefixtures("codex")
async def test_a_login_is_needed_without_an_endpoint(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CODEX_HOME", str(home))
    for looked_for in (CodexExecutor().start, CodexExecutor().check):
        with pytest.raises(ExecutorUnavailableError, match="not logged in"):
            await looked_for()


async def test_what_it_would_work_with_is_told_and_nothing_is_fetched(
    codex: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    executor = CodexExecutor(base_url="http://127.0.0.1:1/v1", model="m")
    assert await executor.check() == str(codex)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert "the first run fetches version" in await executor.check()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExecutorUnavailableError, match="no npm"):
        await executor.check()
    assert not (tmp_path / "cache").exists()


@pytest.mark.long
async def test_a_persons_login_and_configuration_hold_and_are_out_of_the_agents_reach(
    codex: Path, run: Run, home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CODEX_HOME", str(home))
    login = [str(codex), "login", "--with-api-key"]
    await anyio.run_process(login, input=b"sk-of-a-person-1234", cwd=workspace)
    steps = [Shell(f"cat {home}/auth.json; git push; echo over"), Say("Done.")]
    async with ModelServer(steps) as server:
        provider = (
            f'base_url = "{server.base_url}"\nname = "mine"\nwire_api = "responses"\nrequires_openai_auth = true\n'
        )
        (home / "config.toml").write_text(
            f'model = "of-mine"\nmodel_provider = "mine"\n[model_providers.mine]\n{provider}'
        )
        async with CodexExecutor() as executor:
            output = await run(executor)
        asked = server.requests[0]
    assert output.outcome == Answered(), output.diagnostics
    assert (asked.model, asked.headers["authorization"]) == ("of-mine", "***")
    assert "over" in output.tool_calls[0].result
    assert "of-a-person" not in output.tool_calls[0].result
    assert executor.account == "openai"
    assert not (home / "rules").exists()


async def test_a_home_among_the_temporary_files_is_refused(codex: Path, tmp_path: Path):
    executor = CodexExecutor(model="m", base_url="http://127.0.0.1:9/v1", home=tmp_path / "home")
    with pytest.raises(ExecutorUnavailableError, match="temporary"):
        await executor.start()


async def test_another_program_is_refused(tmp_path: Path):
    for program in (Path("/bin/true"), tmp_path / "missing"):
        with pytest.raises(UsageError, match=r"plugins\.codex\.program"):
            await CodexExecutor(program).start()


@pytest.mark.usefixtures("codex")
@pytest.mark.long
async def test_another_executor_can_step_in(workspace: Path):
    async with ModelServer(then=Cut()) as server:
        policy = PermissionPolicy(mode="approve-all")
        first = CodexExecutor(model="m", base_url=server.base_url, permissions=policy, retries=0)
        async with FallbackExecutor(first, ScriptedExecutor(["I stepped in."])) as executor:
            output = await executor.execute(Prompt(task="work", text="work"), Turn(workspace=workspace))
    assert (output.text, output.executor) == ("I stepped in.", "scripted")
    assert [attempt.executor for attempt in output.attempts] == ["codex", "codex"]

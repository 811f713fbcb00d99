"""What one terminal asks of a run in another, and what it is told where that cannot be."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.cli.resume import _settings
from ralph.decision.outcomes import Halt
from ralph.errors import UsageError
from ralph.loop.ownership import this_process
from ralph.records.events import Diagnosed, Event, IterationFinished, Paused, RunFinished
from ralph.records.record import RunRecord
from ralph.settings import ExecutorSettings, Settings
from ralph.store import default_path, open_store
from ralph.testing import ScriptedExecutor
from ralph.types.output import Failed, Usage
from ralph.types.requests import Request

DONE = "It is done.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"
NEW = {"state": "running", "stop_reason": None, "finished_at": None}

Ralph = Callable[..., Any]


def rewritten(run: RunRecord, **changes: Any) -> RunRecord:
    """The run with other facts in the store."""
    changed = run.model_copy(update=changes)

    async def write() -> None:
        async with open_store() as store:
            await store.append(run.id, [], run=changed)

    anyio.run(write)
    return changed


def add(run: RunRecord, *events: Event) -> None:
    """Further events, behind those that the run has."""

    async def write() -> None:
        async with open_store() as store:
            last = await store.last_seq(run.id)
            await store.append(
                run.id, [event.model_copy(update={"seq": seq}) for seq, event in enumerate(events, last + 1)]
            )

    anyio.run(write)


def asked(run: RunRecord) -> list[Request]:
    async def read() -> list[Request]:
        async with open_store() as store:
            return await store.requests(run.id)

    return anyio.run(read)


@pytest.fixture
def done(kept_run: Callable[..., RunRecord]) -> RunRecord:
    return kept_run(executor=ScriptedExecutor([DONE, DONE]), verify="true")


@pytest.fixture
def crashed(done: RunRecord) -> RunRecord:
    gone = this_process().model_copy(update={"pid": 2**22 + 1})
    limits = {"max_iterations": 5, "max_duration": 60.0, "max_tokens": None}
    return rewritten(done, **NEW, owner=gone, settings={"limits": limits})


@pytest.fixture
def alive(done: RunRecord) -> RunRecord:
    return rewritten(done, **NEW, owner=this_process())


@pytest.mark.parametrize("word", ["pause", "stop"])
def test_what_has_ended_can_neither_pause_nor_stop(ralph: Ralph, done: RunRecord, word: str) -> None:
    ended = ralph(word, done.id)
    assert (ended.code, ended.out) == (2, "")
    assert "is not running: it has ended (completed)" in ended.err
    assert asked(done) == []


@pytest.mark.parametrize("word", ["pause", "stop"])
def test_what_has_crashed_can_neither_pause_nor_stop(ralph: Ralph, crashed: RunRecord, word: str) -> None:
    ended = ralph(word, crashed.id)
    assert (ended.code, "its process is gone" in ended.err) == (2, True)


def test_a_run_at_work_is_asked_to_pause(ralph: Ralph, alive: RunRecord) -> None:
    ended = ralph("pause", alive.id[:15])
    assert (ended.code, "at the end of the current iteration" in ended.out) == (0, True)
    assert [request.kind for request in asked(alive)] == ["pause"]


def test_a_run_that_waits_is_let_go_on_by_either_word(ralph: Ralph, alive: RunRecord) -> None:
    rewritten(alive, state="paused")
    for word in ("resume", "continue"):
        ended = ralph(word, alive.id)
        assert (ended.code, "continues, in process" in ended.out) == (0, True)
    assert [request.kind for request in asked(alive)] == ["resume", "resume"]


def test_a_run_at_work_is_not_resumed_again(ralph: Ralph, alive: RunRecord) -> None:
    ended = ralph("resume", alive.id)
    assert (ended.code, "is running, in process" in ended.err) == (2, True)


def test_a_message_waits_for_a_crashed_run_to_be_resumed_and_holds_no_secret(
    ralph: Ralph, crashed: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "correct-horse-battery")
    ended = ralph("tell", crashed.id, "Use correct-horse-battery there.", "--json")
    assert (ended.code, json.loads(ended.out)["state"]) == (0, "crashed")
    assert f"ralph resume {crashed.id}" in json.loads(ended.out)["text"]
    assert "the agent reads ***" in json.loads(ended.out)["text"]
    ended = ralph("tell", crashed.id, "Go on.", "--once")
    assert "masked" not in ended.out
    assert "in the next iteration," in ended.out
    assert "from the next iteration on," in ralph("tell", crashed.id, "Keep the API.").out
    shown = ralph("show", crashed.id).out
    assert "told        Go on. (once)\n" in shown
    assert "told        Keep the API.\n" in shown
    listed = json.loads(ralph("show", crashed.id, "--json").out)["messages"]
    assert [(each["text"], each["once"]) for each in listed][1:] == [("Go on.", True), ("Keep the API.", False)]
    message, *_ = asked(crashed)
    assert "correct-horse" not in message.text
    assert message.text.startswith("Use ")


def test_the_command_that_is_advised_finds_the_run_where_a_store_was_named(ralph: Ralph, crashed: RunRecord) -> None:
    named = ("--store", str(default_path()))
    advised = f"`ralph resume --store {named[1]} {crashed.id}`"
    assert advised in ralph("tell", crashed.id, "Go on.", *named).out
    assert advised in ralph("extend", crashed.id, "--max-iterations", "+1", *named).out
    assert advised in ralph("pause", crashed.id, *named).err
    assert advised in ralph("logs", "-f", crashed.id, *named).err
    assert advised in " ".join(ralph("show", crashed.id, *named).out.split())
    rewritten(crashed, owner=this_process())
    assert advised in ralph("pause", crashed.id, *named).out
    rewritten(crashed, state="finished", stop_reason="stuck")
    assert f"`ralph show --store {named[1]} {crashed.id}`" in ralph("stop", crashed.id, *named).err
    assert f"`ralph resume --store {named[1]}`" in " ".join(ralph("show", crashed.id, *named).out.split())


@pytest.mark.parametrize(
    ("words", "advised"),
    [
        ("resume RUN", "stop RUN"),
        ("rollback RUN --to 0", "stop RUN"),
        ("breaker reset RUN", "stop RUN"),
        ("show RUN --iteration 7", "show RUN"),
        ("pause nobody", "runs"),
    ],
)
def test_a_refusal_advises_commands_that_find_the_run(ralph: Ralph, alive: RunRecord, words: str, advised: str) -> None:
    ended = ralph(*words.replace("RUN", alive.id).split(), "--store", str(default_path()))
    assert ended.code == 2
    command, *rest = advised.replace("RUN", alive.id).split()
    assert f"`ralph {' '.join((command, '--store', str(default_path()), *rest))}`" in ended.err


def test_a_log_advises_commands_that_find_the_run(ralph: Ralph, done: RunRecord, tmp_path: Path) -> None:
    about: dict[str, Any] = {"run_id": done.id, "at": datetime.now(UTC)}
    facts: dict[str, Any] = {"verified": False, "iterations": 1, "executors": {}, "usage": Usage(), "duration": 1}
    add(
        done,
        Paused(**about, reason="a person asked for it"),
        Diagnosed(**about, text=f"`ralph rollback {done.id} --to 0` brings it back."),
        RunFinished(**about, **facts, stop_reason="stuck", detail=f"`ralph resume {done.id}` goes on"),
    )
    store = tmp_path / "my runs.db"
    shutil.copyfile(default_path(), store)
    option = f"--store '{store}'"
    told = " ".join(ralph("logs", done.id, "--store", str(store)).out.split())
    for command in (
        f"until `ralph resume {option} {done.id}`: a person asked for it",
        f"`ralph rollback {option} {done.id} --to 0` brings it back.",
        f"why `ralph resume {option} {done.id}` goes on",
        f"(`ralph tell {option}`), then `ralph resume {option}`",
        f"more ralph show {option} {done.id}",
    ):
        assert command in told, command
    again = ralph("resume", done.id, "--store", str(store))
    assert f"more ralph show {option} {done.id}" in " ".join(again.out.split())


def test_a_log_advises_what_helps_with_the_endpoint_that_the_run_had(ralph: Ralph, done: RunRecord) -> None:
    about: dict[str, Any] = {"run_id": done.id, "at": datetime.now(UTC), "iteration": 1}
    facts: dict[str, Any] = {"verified": False, "iterations": 1, "executors": {}, "usage": Usage(), "duration": 1}
    refused = Failed(failure="auth", status=401, message="no such key")
    stopped = Halt(stop_reason="executor_unavailable", reason="no such key")
    add(
        done,
        IterationFinished(**about, outcome=refused, decision=stopped),
        RunFinished(**about, **facts, stop_reason="executor_unavailable", detail="no such key"),
    )
    assert "log in with `ralph login`" in ralph("logs", done.id).out
    rewritten(done, settings={"executor": {"base_url": "http://127.0.0.1:9/v1"}})
    assert "set the endpoint's key" in ralph("logs", done.id).out


def test_what_was_imported_into_a_named_store_is_found_by_the_command_that_is_advised(
    ralph: Ralph, done: RunRecord, tmp_path: Path
) -> None:
    file, other = str(tmp_path / "run.jsonl"), str(tmp_path / "other.db")
    assert ralph("export", done.id, "-o", file).code == 0
    assert f"`ralph show --store {other} {done.id}`" in ralph("import", file, "--store", other).out


@pytest.mark.parametrize(("text", "said"), [(" \n", "The message is empty"), ("x" * 8001, "longer than 8,000")])
def test_a_message_has_something_to_say_and_an_end(ralph: Ralph, crashed: RunRecord, text: str, said: str) -> None:
    ended = ralph("tell", crashed.id, text)
    assert (ended.code, said in ended.err) == (2, True)


def test_limits_are_extended_by_what_is_said(ralph: Ralph, crashed: RunRecord) -> None:
    ended = ralph("extend", crashed.id, "--max-iterations", "+1000000", "--max-duration", "1h30m")
    assert ended.code == 0
    assert "max iterations by 1,000,000, max duration by 1 h 30 min" in ended.out
    assert [request.limits for request in asked(crashed)] == [{"max_iterations": 1_000_000.0, "max_duration": 5400.0}]


@pytest.mark.parametrize("amount", ["0", "-3", "+1.5", "many", "+", "1e3", "9" * 5000, "nan"])
def test_what_is_no_amount_is_refused(ralph: Ralph, crashed: RunRecord, amount: str) -> None:
    ended = ralph("extend", crashed.id, f"--max-iterations={amount}")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "is not an amount to add" in ended.err
    assert asked(crashed) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no limit to extend"),
        (("--max-tokens", "+5"), "has no --max-tokens"),
        (("--max-duration", "x"), "not an amount"),
    ],
)
def test_only_a_limit_that_is_there_is_extended(
    ralph: Ralph, crashed: RunRecord, words: tuple[str, ...], said: str
) -> None:
    ended = ralph("extend", crashed.id, *words)
    assert (ended.code, said in ended.err) == (2, True)


def test_a_completed_run_is_neither_told_nor_extended_nor_begun_again(ralph: Ralph, done: RunRecord) -> None:
    assert "is completed" in ralph("tell", done.id, "One more thing.").err
    assert "is completed" in ralph("extend", done.id, "--max-iterations", "+1").err
    ended = ralph("resume", done.id, "--display", "plain")
    assert ended.code == 0, "a script that resumes until it works must come to an end"
    assert "is completed already" in ended.err
    assert "Completed: checks pass, but they did before" in ended.out


def test_a_run_of_a_program_is_resumed_by_the_program(ralph: Ralph, done: RunRecord) -> None:
    rewritten(done, stop_reason="stuck")
    ended = ralph("resume", done.id)
    assert (ended.code, "Runner.resume" in ended.err) == (2, True)


def test_there_is_something_to_resume_in_the_folder_or_it_is_said(ralph: Ralph, workspace: Path) -> None:
    ended = ralph("resume")
    assert (ended.code, "There is no run in the store yet" in ended.err) == (2, True)


class TestLogs:
    def test_they_are_what_was_shown(self, ralph: Ralph, done: RunRecord) -> None:
        shown = ralph("logs", done.id).out
        assert "It is done." in shown
        assert "Completed: checks pass, but they did before" in shown

    def test_as_json_they_are_the_events(self, ralph: Ralph, done: RunRecord) -> None:
        events = [json.loads(line) for line in ralph("logs", "--json").out.splitlines()]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert (events[0]["type"], events[-1]["type"]) == ("run_started", "run_finished")

    def test_following_ends_with_the_run_or_its_process(self, ralph: Ralph, done: RunRecord) -> None:
        assert ralph("logs", "-f", done.id).code == 0
        rewritten(done, **NEW, owner=this_process().model_copy(update={"pid": 2**22 + 1}))
        ended = ralph("logs", "--follow", done.id)
        assert (ended.code, f"ralph resume {done.id}" in ended.err) == (0, True)


class TestSettings:
    @pytest.fixture
    def run(self, done: RunRecord) -> RunRecord:
        executor = ExecutorSettings(base_url="http://127.0.0.1:1/v1", model="m", headers={"X-Team": "a"})
        own = Settings(executor=executor, preset="debugging", verify=("make check",), display="json")
        frozen = own.model_dump(mode="json")
        frozen["executor"] |= {"api_key": "**********", "headers": {"X-Team": "[masked]"}}
        return done.model_copy(update={"settings": frozen})

    def test_they_are_those_of_the_beginning_but_for_what_is_secret_or_of_the_call(
        self, run: RunRecord, workspace: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RALPH_EXECUTOR__API_KEY", "k")
        monkeypatch.setenv("RALPH_EXECUTOR__HEADERS", '{"X-Team": "b"}')
        monkeypatch.setenv("RALPH_PRESET", "research_task")
        settings = _settings(run, workspace, {"--max-iterations": "7", "--display": "plain"}).settings
        assert (settings.preset, settings.verify, settings.executor.model) == ("debugging", ("make check",), "m")
        assert settings.executor.api_key
        assert settings.executor.api_key.get_secret_value() == "k"
        assert settings.executor.headers == {"X-Team": "b"}
        assert (settings.limits.max_iterations, settings.display) == (7, "plain")
        assert settings.breaker_settings() == Settings(preset="debugging").breaker_settings()

    def test_a_key_that_is_missing_now_is_asked_for(self, run: RunRecord, workspace: Path) -> None:
        with pytest.raises(UsageError, match=r"header 'X-Team' and the endpoint's key \(RALPH_EXECUTOR__API_KEY\)"):
            _settings(run, workspace, {})


def test_a_run_that_was_forced_into_a_home_folder_resumes_without_being_forced_again(
    ralph: Ralph, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(workspace))
    executor = ScriptedExecutor(["Working."])
    monkeypatch.setattr("ralph.loop.assembly.executor_for", lambda *_, **__: executor)  # pyright: ignore[reportUnknownLambdaType]
    run = ("run", "Work.", "--verify", "none", "--max-iterations", "1")

    refused = ralph(*run)
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert ralph(*run, "--force").code == 5
    resumed = ralph("resume", "--max-iterations", "2", "--display", "plain")
    assert (resumed.code, "iteration 2 of at most 2" in resumed.out) == (5, True), resumed.err
    assert ralph(*run).code == 2, "another run asks again"

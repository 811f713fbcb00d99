"""What ran, why it stopped, and the breaker's state."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from ralph.decision.breaker import BreakerState
from ralph.errors import UsageError
from ralph.executors.base import Turn
from ralph.hooks import Hooks
from ralph.loop.runner import Runner
from ralph.plugins import hookimpl
from ralph.prompt import Prompt
from ralph.records.record import RunRecord, RunState
from ralph.store import default_path, open_store
from ralph.testing import ScriptedExecutor
from ralph.types.output import Failed, Message, Output, TimedOut, ToolCall
from ralph.workspace import open_workspace

DONE = "It is done.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"
WORKING = "I go on.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: more to do\n---END_RALPH_STATUS---\n"


class Writing(ScriptedExecutor):
    """Leaves a file behind in each turn, so that the workspace changes."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        (turn.workspace / f"file-{turn.iteration}.txt").write_text("x")
        return await super().execute(prompt, turn)


@pytest.fixture
def done(kept_run: Callable[..., RunRecord]) -> RunRecord:
    return kept_run(executor=Writing([WORKING, DONE]), verify="test -f file-2.txt")


@pytest.fixture
def tripped(kept_run: Callable[..., RunRecord]) -> RunRecord:
    crash = Failed(failure="crashed", message="the runtime died")
    return kept_run(executor=ScriptedExecutor([crash, crash, crash], then="repeat_last"))


def test_why_words_were_no_claim_names_the_plan_though_a_record_keeps_only_its_count(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord], workspace: Path
) -> None:
    (workspace / "@fix_plan.md").write_text("- [x] parse\n- [ ] print\n")
    run = kept_run(*["All tasks are complete. Done."] * 3)
    assert "✗ the plan is done by 50 %" in ralph("show", run.id, "-i", "1", "--why").out


def test_denied_tool_calls_are_in_the_list_and_in_the_summary(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord]
) -> None:
    kept_run(DONE)
    assert "denied" not in ralph("runs").out
    calls = tuple(ToolCall(id=str(number), name="bash", success=False, denied=True) for number in range(3))
    run = kept_run(*[Output(text=text, tool_calls=calls) for text in ("I may not.", "Still not.")])
    header, newest, oldest = ralph("runs").out.splitlines()
    column = header.split().index("denied")
    assert (newest.split("  ")[0], "  6  " in newest, "  6  " in oldest, column > 0) == (run.id, True, False, True)
    assert json.loads(ralph("runs", "--json").out)[0]["denials"] == 6
    assert "denied      6 tool calls; `ralph logs` shows which" in ralph("show", run.id).out


def test_nothing_ran_yet(ralph: Callable[..., Any]) -> None:
    assert "No run yet. `ralph run` makes one." in ralph("runs").out
    assert "`ralph run --store a.db` makes one." in ralph("runs", "--store", "a.db").err
    assert json.loads(ralph("runs", "--json").out) == []
    ended = ralph("show")
    assert (ended.code, ended.err) == (2, "ralph: There is no run in the store yet. `ralph run` makes one.\n")


@pytest.mark.parametrize("words", [("runs",), ("show",), ("breaker", "show"), ("breaker", "reset")])
@pytest.mark.parametrize("named", [True, False])
def test_looking_for_runs_makes_no_store(
    ralph: Callable[..., Any], home: Path, tmp_path: Path, words: tuple[str, ...], named: bool
) -> None:
    file = tmp_path / "folder" / "runs.db"
    ended = ralph(*words, *(("--store", f"sqlite:///{file}") if named else ()))
    assert "yet" in ended.out + ended.err
    assert not file.parent.exists()
    assert not (home / "state").exists()


def test_runs_tells_why_each_stopped(ralph: Callable[..., Any], done: RunRecord, tripped: RunRecord) -> None:
    lines = ralph("runs").out.splitlines()
    assert lines[1].startswith(tripped.id)
    assert "circuit open" in lines[1]
    assert lines[2].startswith(done.id)
    assert "completed, verified" in lines[2]
    listed = json.loads(ralph("runs", "--json").out)
    assert [(run["id"], run["stop_reason"], run["verified"]) for run in listed] == [
        (tripped.id, "circuit_open", False),
        (done.id, "completed", True),
    ]
    assert len(json.loads(ralph("runs", "--json", "-n", "1").out)) == 1


def test_runs_of_one_folder(ralph: Callable[..., Any], done: RunRecord, tmp_path: Path) -> None:
    assert json.loads(ralph("runs", "-C", str(tmp_path), "--json").out) == []
    assert [run["id"] for run in json.loads(ralph("runs", "-C", ".", "--json").out)] == [done.id]


def test_show_answers_why_it_stopped_and_why_it_did_not(ralph: Callable[..., Any], done: RunRecord) -> None:
    shown = ralph("show", done.id).out
    assert "iteration 1" in shown
    assert "continue: " in shown
    assert "The status block says EXIT_SIGNAL: true." in shown
    assert "✓ Completed, verified\n" in shown
    assert "EXIT_SIGNAL: true; `test -f file-2.txt` failed before and passes now" in shown
    assert shown == ralph("show", "last").out == ralph("show").out


def test_a_claim_that_nothing_verified_is_called_so(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord]
) -> None:
    kept_run(executor=Writing([DONE]))
    assert "Completed: claimed, not verified" in ralph("show").out


def test_a_check_that_passed_before_is_not_called_proof(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord]
) -> None:
    kept_run(executor=Writing([DONE]), verify=["true"])
    assert "Completed: checks pass, but they did before" in ralph("show").out
    assert "completed, checks pass, but they did before" in ralph("runs").out
    (listed,) = json.loads(ralph("runs", "--json").out)
    assert (listed["verified"], listed["already_green"]) == (False, True)
    assert listed["verified_by"] == "`true` passes, but it passed before the first iteration"


def test_show_names_failures_and_the_open_breaker(ralph: Callable[..., Any], tripped: RunRecord) -> None:
    shown = ralph("show").out
    assert "crashed: the runtime died" in shown
    assert "✗ Stopped: the circuit breaker is open" in shown


def test_one_iteration_with_its_reply_and_the_verifiers_output(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord]
) -> None:
    run = kept_run(executor=Writing([DONE, DONE]), verify="echo 'no file yet'; test -f file-2.txt")
    shown = ralph("show", run.id, "-i", "1").out
    assert "It is done." in shown
    assert "no file yet" in shown
    assert "fails" in shown
    assert "changed     file-1.txt" in shown


def test_what_an_agent_said_before_its_turn_was_cut_short(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord]
) -> None:
    cut = Output(
        messages=(Message(text="I am half way through.\u202e", tool_calls=1),),
        outcome=TimedOut(limit="iteration", after=5.0),
    )
    kept_run(executor=ScriptedExecutor([cut, DONE], then="repeat_last"))
    shown = ralph("show", "-i", "1").out
    assert "last text before the turn was cut short\nI am half way through.\n" in shown
    assert "\nreply\n" not in shown
    assert "\nlast text" not in ralph("show", "-i", "2").out


def test_why_tells_the_whole_chain_of_an_iteration(ralph: Callable[..., Any], done: RunRecord) -> None:
    first, last = (ralph("show", done.id, "-i", number, "--why").out for number in ("1", "2"))
    assert "10 decision" in first
    assert "continue: the agent says that work is left" in first
    assert "EXIT_SIGNAL: false vetoes every claim made by words" in first
    assert "`test -f file-2.txt` succeeds" in last
    assert "completed: EXIT_SIGNAL: true; `test -f file-2.txt` failed before and passes now" in last
    told = json.loads(ralph("show", done.id, "-i", "2", "--why", "--json").out)
    assert [stage["name"] for stage in told["chain"]][-1] == "decision"
    assert [iteration["number"] for iteration in told["iterations"]] == [2]


def test_show_as_json(ralph: Callable[..., Any], done: RunRecord) -> None:
    told = json.loads(ralph("show", "--json").out)
    assert told["run"]["id"] == done.id
    assert [iteration["decision"]["kind"] for iteration in told["iterations"]] == ["continue", "complete"]
    assert told["iterations"][1]["verification"]["verdicts"][0]["passed"] is True
    (only,) = json.loads(ralph("show", "--json", "--iteration", "2").out)["iterations"]
    assert only["number"] == 2


def test_show_repeats_what_was_wrong_with_plugins_and_observers(ralph: Callable[..., Any], workspace: Path) -> None:
    class Spills(Hooks):
        async def on_iteration_started(self, event: object) -> None:
            raise RuntimeError("no ink")

    def lacking(word: str) -> Any:
        def ralph_keywords() -> None:
            raise UsageError(f"The {word} is missing.")

        return SimpleNamespace(name=word, ralph_keywords=hookimpl(ralph_keywords))

    plugins = [lacking(f"word {number}") for number in range(8)]
    runner = Runner(executor=ScriptedExecutor([DONE]), store=open_store(), plugins=plugins, hooks=[Spills()])
    record = runner.run_sync("Make the tests pass.")
    assert len(record.problems) == 9
    shown = ralph("show", record.id).out
    assert (
        "  problem     The plug-in 'word 0' (object of types): ralph_keywords failed: The word 0 is missing. " in shown
    )
    assert shown.count("  problem ") == 5
    assert f"and 4 more: `ralph show --json {record.id}`" in shown
    assert "Spills.on_iteration_started" in ralph("show", record.id, "--json").out


def test_the_beginning_of_an_id_is_enough_where_it_is_the_only_one(
    ralph: Callable[..., Any], done: RunRecord, tripped: RunRecord
) -> None:
    assert done.id in ralph("show", done.id[:-2]).out
    ended = ralph("show", done.id[:4])
    assert ended.code == 2
    assert "Several runs begin with" in ended.err
    assert done.id in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "--why"), "Add --iteration N."),
        (("show", "nosuch"), "There is no run 'nosuch'"),
        (("show", "last", "-i", "99"), "has no iteration 99"),
        (("breaker", "show", "nosuch"), "There is no run 'nosuch'"),
    ],
)
def test_what_is_not_there(ralph: Callable[..., Any], done: RunRecord, words: tuple[str, ...], said: str) -> None:
    ended = ralph(*words)
    assert ended.code == 2
    assert said in ended.err


def test_hostile_text_reaches_no_terminal(ralph: Callable[..., Any], kept_run: Callable[..., RunRecord]) -> None:
    run = kept_run(executor=Writing([f"\x1b[2J\x1b]0;pwned\x07\u202e[red]bold[/red] \x9b31m {DONE}"]))
    for words in (("show",), ("show", run.id, "-i", "1"), ("runs",)):
        shown = ralph(*words).out
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(shown)
    assert "[red]bold[/red]" in ralph("show", run.id, "-i", "1").out


def test_a_run_whose_process_is_gone_is_called_crashed(ralph: Callable[..., Any], done: RunRecord) -> None:
    assert done.owner
    owner = done.owner.model_copy(update={"pid": 2**22 + 1})
    gone = done.model_copy(update={"state": "running", "stop_reason": None, "finished_at": None, "owner": owner})
    _rewrite(gone)
    assert "crashed" in ralph("runs").out
    assert "Crashed." in ralph("show").out


def test_a_run_that_another_process_works_on_is_called_running(ralph: Callable[..., Any], done: RunRecord) -> None:
    _rewrite(done.model_copy(update={"state": "running", "stop_reason": None, "finished_at": None}))
    listed = ralph("runs").out
    assert "running" in listed
    assert "crashed" not in listed


@pytest.mark.parametrize(
    ("host", "state"), [("another-host", "running"), (socket.gethostname(), "crashed")], ids=["elsewhere", "rebooted"]
)
def test_a_run_of_another_machine_is_taken_at_its_word_unless_it_is_this_one_before_its_last_start(
    ralph: Callable[..., Any], done: RunRecord, host: str, state: str
) -> None:
    assert done.owner
    owner = done.owner.model_copy(update={"host": host, "machine": "another boot"})
    _rewrite(done.model_copy(update={"state": "running", "stop_reason": None, "finished_at": None, "owner": owner}))
    assert state in ralph("runs").out
    assert f"{state.capitalize()}." in ralph("show").out


class TestBreaker:
    def test_it_tells_state_counters_and_history(self, ralph: Callable[..., Any], tripped: RunRecord) -> None:
        shown = ralph("breaker").out
        assert "open" in shown
        assert "without progress" in shown
        assert "closed → open" in shown
        told = json.loads(ralph("breaker", "show", tripped.id, "--json").out)
        for words in ((), (tripped.id,), ("last",), ("--store", str(default_path()))):
            assert json.loads(ralph("breaker", *words, "--json").out) == told
        assert (told["run_id"], told["state"]) == (tripped.id, "open")
        assert told["history"][-1]["breaker"]["state"] == "open"

    def test_a_reset_lets_the_run_go_on_with_a_probe(self, ralph: Callable[..., Any], tripped: RunRecord) -> None:
        ended = ralph("breaker", "reset", tripped.id)
        assert (ended.code, ended.err) == (0, "")
        assert "half open" in ended.out
        assert "half open" in ralph("breaker").out
        run, state = _state(tripped.id)
        assert run.reset_after == 3
        assert state.state == "half_open"
        told = json.loads(ralph("breaker", "show", "--json").out)
        assert [event["breaker"]["state"] for event in told["history"]][-1] == "half_open"

    def test_a_reset_of_what_is_closed_changes_nothing(self, ralph: Callable[..., Any], done: RunRecord) -> None:
        before = json.loads(ralph("breaker", "show", "--json").out)
        assert ralph("breaker", "reset").code == 0
        assert json.loads(ralph("breaker", "show", "--json").out) == before

    def test_a_run_that_is_at_work_is_refused(
        self, ralph: Callable[..., Any], tripped: RunRecord, workspace: Path
    ) -> None:
        held = open_workspace(workspace)
        held.acquire(tripped.id)
        try:
            ended = ralph("breaker", "reset")
        finally:
            held.release()
        assert ended.code == 2
        assert "is in use by run" in ended.err


def _state(run_id: str) -> tuple[RunRecord, BreakerState]:
    async def read() -> tuple[RunRecord, BreakerState]:
        async with open_store() as store:
            run = await store.run(run_id)
            assert run is not None
            return run, RunState.of(run, [each async for each in store.iterations(run_id)]).breaker

    return anyio.run(read)


def _rewrite(run: RunRecord) -> None:
    async def write() -> None:
        async with open_store() as store:
            await store.append(run.id, [], run=run)

    anyio.run(write)

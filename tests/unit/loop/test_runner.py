"""The loop over a scripted executor: what ends a run, what does not, and what is kept."""

from pathlib import Path

import pytest

from ralph.decision.breaker import BreakerSettings, CircuitBreaker
from ralph.decision.claims import Case, Claim
from ralph.decision.limits import Limits
from ralph.decision.outcomes import Complete, Continue, Halt
from ralph.errors import UsageError, VerifierError
from ralph.executors.base import Executor, Turn
from ralph.hooks import Hooks
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.events import Event
from ralph.records.record import IterationRecord
from ralph.status import StatusField, StatusReport
from ralph.store import MemoryStore
from ralph.testing import FakeClock, Repository, ScriptedExecutor, SeenEvents, writes
from ralph.types.choices import Context
from ralph.types.output import Answered, Failed, Output, TimedOut, ToolCall
from ralph.types.verification import Verdict
from ralph.verifiers.base import Subject, Verifier
from ralph.workspace import open_workspace
from ralph.workspace.base import Workspace

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: finished\n---END_RALPH_STATUS---"
WORKING = "More to do.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: not yet\n---END_RALPH_STATUS---"


class Verdicts(Verifier):
    name = "checks"

    def __init__(self, *passed: bool) -> None:
        self.passed = list(passed)

    async def verify(self, subject: Subject) -> Verdict:
        passed = self.passed.pop(0) if len(self.passed) > 1 else self.passed[0]
        return Verdict(verifier=self.name, passed=passed, output="" if passed else "1 failed", signature="failed")


# covers: D-2, S4-33
async def test_explicit_signal_with_changes_completes(workspace: Workspace) -> None:
    seen = SeenEvents()
    executor = ScriptedExecutor([writes("a", "1", WORKING), writes("a", "2", DONE)])
    async with Runner(executor=executor, workspace=workspace, hooks=[seen]) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.verified, record.iterations) == ("completed", False, 2)
    assert record.executors == {"scripted": 2}
    assert seen.kinds()[0] == "run_started"
    assert seen.kinds()[-1] == "run_finished"
    assert [event.seq for event in seen.events if event.seq] == list(range(1, len(seen.events) + 1))
    assert (workspace.path / ".ralph/last-response.md").read_text().strip() == DONE


# covers: D-2, D-4
async def test_done_without_any_change_needs_a_confirmation(workspace: Workspace) -> None:
    executor = ScriptedExecutor([DONE, DONE])
    async with Runner(executor=executor, workspace=workspace) as runner:
        record = await runner.run("do something")
    assert (record.stop_reason, record.iterations) == ("completed", 2)
    assert any("changed nothing" in doubt for doubt in record.still_open)
    assert "changed nothing" in executor.prompts[1].text


# covers: D-2, D-4
async def test_open_boxes_hold_back_a_claim_until_they_are_ticked(workspace: Workspace) -> None:
    plan = workspace.path / "@fix_plan.md"
    plan.write_text("- [ ] one\n- [ ] two\n")
    executor = ScriptedExecutor([
        writes("@fix_plan.md", "- [x] one\n- [ ] two\n", DONE),
        writes("@fix_plan.md", "- [x] one\n- [x] two\n", "ticked the last"),
    ])
    async with Runner(executor=executor, workspace=workspace) as runner:
        record = await runner.run("work off the plan")
    assert (record.stop_reason, record.iterations, record.still_open) == ("completed", 2, ())
    assert "two" in executor.prompts[1].text


# covers: D-2, D-4, S0-119
async def test_refuted_claim_goes_back_to_the_agent_and_reaches_the_breaker(workspace: Workspace) -> None:
    seen = SeenEvents()
    executor = ScriptedExecutor([writes("a", "1", DONE), writes("a", "2", DONE)])
    verifier = Verdicts(False, False, True)
    async with Runner(executor=executor, workspace=workspace, verify=[verifier], hooks=[seen]) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.verified, record.iterations) == ("completed", True, 2)
    assert "1 failed" in executor.prompts[1].text
    assert [event.passed for event in seen.of("verification_finished")] == [False, False, True]
    assert seen.of("iteration_finished")[0].breaker.errors == {"checks: failed": 1}


async def test_the_same_refutation_five_times_opens_the_breaker(workspace: Workspace) -> None:
    executor = ScriptedExecutor([writes("a", str(number), DONE) for number in range(9)])
    async with Runner(executor=executor, workspace=workspace, verify=[Verdicts(False)]) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.iterations) == ("circuit_open", 5)
    assert "the same error 5 times" in record.detail


async def test_three_iterations_without_progress_open_the_breaker_after_a_warning(workspace: Workspace) -> None:
    seen = SeenEvents()
    texts = [f"Looking at part {number} of the system from a new angle." for number in range(9)]
    executor = ScriptedExecutor(texts)
    async with Runner(executor=executor, workspace=workspace, hooks=[seen]) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.iterations) == ("circuit_open", 3)
    assert [(event.breaker.state, event.breaker.warning) for event in seen.of("breaker_changed")] == [
        ("closed", True),
        ("open", False),
    ]
    assert "different approach" in executor.prompts[2].text


# covers: D-8
async def test_edit_and_revert_is_no_progress(workspace: Workspace) -> None:
    executor = ScriptedExecutor([writes("a", str(number % 2), f"Try {number} of it.") for number in range(9)])
    async with Runner(executor=executor, workspace=workspace) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.iterations) == ("circuit_open", 5)


# covers: D-7
async def test_waiting_breaker_probes_and_gives_up_after_three(workspace: Workspace) -> None:
    clock, seen = FakeClock(), SeenEvents()
    breaker = CircuitBreaker(BreakerSettings(when_open="wait", cool_down=600, max_probes=3))
    executor = ScriptedExecutor([f"Thought {number} about the matter." for number in range(20)])
    runner = Runner(executor=executor, workspace=workspace, breaker=breaker, clock=clock, hooks=[seen])
    async with runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.iterations) == ("circuit_open", 6)
    assert len(clock.waits) == 3
    assert len(seen.of("paused")) == len(seen.of("resumed")) == 3


async def test_probe_with_progress_closes_the_breaker(workspace: Workspace) -> None:
    breaker = CircuitBreaker(BreakerSettings(when_open="wait"))
    idle = [f"Thought {number} about the matter." for number in range(3)]
    executor = ScriptedExecutor([*idle, writes("a", "1", WORKING), writes("a", "2", DONE)])
    async with Runner(executor=executor, workspace=workspace, breaker=breaker, clock=FakeClock()) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.iterations) == ("completed", 5)


# covers: D-7
async def test_breaker_survives_a_restart_and_cools_down(repository: Repository, tmp_path: Path) -> None:
    store, clock = MemoryStore(), FakeClock()
    idle = [f"Thought {number} about the matter." for number in range(3)]
    first = open_workspace(repository.path, state_dir=tmp_path / "state")
    async with Runner(executor=ScriptedExecutor(idle), workspace=first, store=store, clock=clock) as runner:
        stopped = await runner.run("write a")
    assert stopped.stop_reason == "circuit_open"
    second = open_workspace(repository.path, state_dir=tmp_path / "state")
    executor = ScriptedExecutor([writes("a", "1", WORKING), writes("a", "2", DONE)])
    async with Runner(executor=executor, workspace=second, store=store, clock=clock) as runner:
        assert (await runner.resume(stopped.id)).stop_reason == "circuit_open", "the cool-down is not over"
        clock.advance(1801)
        record = await runner.resume(stopped.id)
    assert (record.stop_reason, record.iterations) == ("completed", 5)
    numbers = [iteration.number async for iteration in store.iterations(stopped.id)]
    assert numbers == [1, 2, 3, 4, 5]


async def test_a_login_that_fails_ends_the_run_at_once(workspace: Workspace) -> None:
    executor = ScriptedExecutor([Failed(failure="auth", status=401, message="bad key")])
    async with Runner(executor=executor, workspace=workspace) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.iterations) == ("executor_unavailable", 1)
    assert "401" in record.detail


async def test_one_refusal_is_survived_and_two_in_a_row_are_not(workspace: Workspace) -> None:
    refused = Failed(failure="refused", status=403, message="forbidden")
    async with Runner(executor=ScriptedExecutor([refused, writes("a", "1", DONE)]), workspace=workspace) as runner:
        assert (await runner.run("write a")).stop_reason == "completed"
        ended = runner
    del ended
    executor = ScriptedExecutor([refused, refused])
    async with Runner(executor=executor, workspace=workspace) as runner:
        assert (await runner.run("write a")).stop_reason == "executor_unavailable"


async def test_an_executor_that_raises_reaches_the_breaker_and_not_the_caller() -> None:
    class Broken(Executor):
        name = "broken"

        async def execute(self, prompt: Prompt, turn: Turn) -> Output:
            raise ZeroDivisionError("a bug in a subclass")

    seen = SeenEvents()
    async with Runner(executor=Broken(), hooks=[seen]) as runner:
        record = await runner.run("try")
    assert record.stop_reason == "circuit_open"
    assert "a bug in a subclass" in seen.of("iteration_finished")[0].outcome.message


async def test_two_permission_denied_iterations_open_the_breaker(workspace: Workspace) -> None:
    denied = Output(text="I may not write.", tool_calls=(ToolCall(id="1", name="bash", success=False, denied=True),))
    executor = ScriptedExecutor([denied, denied.model_copy(update={"text": "Still not."}), DONE])
    async with Runner(executor=executor, workspace=workspace) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.iterations) == ("circuit_open", 2)
    assert "permission-denied" in record.detail
    assert record.denials == record.history[-1].spent.denials == 2
    assert "denied" in executor.prompts[1].text


async def test_timed_out_turn_is_told_to_the_agent(workspace: Workspace) -> None:
    executor = ScriptedExecutor([Output(outcome=TimedOut(limit="idle", after=5)), writes("a", "1", DONE)])
    async with Runner(executor=executor, workspace=workspace) as runner:
        record = await runner.run("write a")
    assert record.stop_reason == "completed"
    assert "idle time-out" in executor.prompts[1].text


async def test_registered_status_fields_reach_prompt_record_event_and_strategy(workspace: Workspace) -> None:
    class AllTests:
        name = "all_tests"

        def claim(self, case: Case) -> Claim | None:
            status = case.analysis.status
            passing = status.fields.get("TESTS") if isinstance(status, StatusReport) else None
            return Claim(reason=f"{passing} tests") if isinstance(passing, int) and passing >= 12 else None

    field = StatusField(name="TESTS", type=int, description="tests that pass", example=3)
    reply = "ok\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nTESTS: 12\n---END_RALPH_STATUS---"
    seen, executor = SeenEvents(), ScriptedExecutor([writes("a", "1", reply)])
    async with Runner(
        executor=executor, workspace=workspace, status_fields=[field], strategy=AllTests(), hooks=[seen]
    ) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.detail) == ("completed", "12 tests")
    assert "TESTS: 3" in executor.prompts[0].text
    assert seen.of("iteration_finished")[0].fields == {"TESTS": 12}


async def test_a_failing_hook_breaks_nothing() -> None:
    class Bad(Hooks):
        async def on_iteration_finished(self, event: Event) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            raise RuntimeError("observer")

    seen = SeenEvents()
    async with Runner(executor=ScriptedExecutor([DONE]), hooks=[Bad(), seen]) as runner:
        record = await runner.run("go")
    assert record.stop_reason == "completed"
    assert "iteration_finished" in seen.kinds()


async def test_nothing_is_published_before_it_is_durable() -> None:
    store = MemoryStore()

    class Reader(Hooks):
        async def on_event(self, event: Event) -> None:
            if event.seq:
                kept = [stored.seq async for stored in store.events(event.run_id, after=event.seq - 1)]
                assert kept[:1] == [event.seq]
                checked.append(event.seq)

    checked: list[int] = []
    async with Runner(executor=ScriptedExecutor([WORKING, DONE]), store=store, hooks=[Reader()]) as runner:
        await runner.run("go")
    assert len(checked) > 5


@pytest.mark.parametrize(("context", "second"), [("continue", "s1"), ("fresh", None)])
async def test_only_context_continue_hands_on_the_session(context: Context, second: str | None) -> None:
    sessions: list[tuple[str | None, str]] = []

    class Sessions(Executor):
        name = "sessions"

        async def execute(self, prompt: Prompt, turn: Turn) -> Output:
            sessions.append((turn.session_id, turn.session_of))
            turn.transcript.session_id = f"s{turn.iteration}"
            return turn.transcript.finish(Answered(), text=DONE if turn.iteration == 2 else WORKING)

    async with Runner(executor=Sessions(), context=context) as runner:
        await runner.run("go")
    assert sessions == [(None, ""), (second, "sessions")]


@pytest.mark.parametrize("task", ["", "  \n"])
async def test_an_empty_task_is_refused(task: str) -> None:
    async with Runner(executor=ScriptedExecutor([DONE])) as runner:
        with pytest.raises(UsageError, match="empty"):
            await runner.run(task)


async def test_a_verifier_that_cannot_start_spends_nothing(workspace: Workspace) -> None:
    class Missing(Verifier):
        name = "missing"

        async def verify(self, subject: Subject) -> Verdict:
            raise VerifierError("There is no program 'missing'.", "Install it.")

    executor = ScriptedExecutor([DONE])
    async with Runner(executor=executor, workspace=workspace, verify=[Missing()]) as runner:
        with pytest.raises(VerifierError):
            await runner.run("go")
    assert executor.prompts == ()


async def test_iterate_is_one_step_and_resumable_from_the_store(repository: Repository, tmp_path: Path) -> None:
    store = MemoryStore()
    first = open_workspace(repository.path, state_dir=tmp_path / "state")
    runner = Runner(
        executor=ScriptedExecutor([writes("a", "1", WORKING)]),
        workspace=first,
        store=store,
        limits=Limits(max_iterations=1),
    )
    async with runner:
        run = await runner.run("write a")
    second = open_workspace(repository.path, state_dir=tmp_path / "state")
    async with Runner(executor=ScriptedExecutor([writes("a", "2", DONE)]), workspace=second, store=store) as runner:
        record: IterationRecord = await runner.iterate(run.id)
    assert record.number == 2
    assert isinstance(record.decision, Complete)
    assert record.spent.iterations == 2


def test_run_sync() -> None:
    record = Runner(executor=ScriptedExecutor([DONE])).run_sync("go")
    assert record.stop_reason == "completed"


# covers: D-7
async def test_questions_are_answered_and_three_in_a_row_block(workspace: Workspace) -> None:
    executor = ScriptedExecutor([
        writes("a", str(number), f"Attempt {number}. Which database should I use?") for number in range(5)
    ])
    seen = SeenEvents()
    async with Runner(executor=executor, workspace=workspace, hooks=[seen]) as runner:
        record = await runner.run("choose")
    assert (record.stop_reason, record.iterations) == ("blocked", 3)
    assert "No one will reply" in executor.prompts[1].text
    assert isinstance(seen.of("iteration_finished")[0].decision, Continue)


# covers: D-7, K1-11
async def test_stuck_is_a_pivot_first_and_a_halt_then(workspace: Workspace) -> None:
    breaker = CircuitBreaker(BreakerSettings(no_progress=50, same_error=50))
    seen, executor = SeenEvents(), ScriptedExecutor(["I will look at the parser again and then decide what to do."] * 9)
    async with Runner(executor=executor, workspace=workspace, breaker=breaker, hooks=[seen]) as runner:
        record = await runner.run("write a")
    decisions = [event.decision for event in seen.of("iteration_finished")]
    assert record.stop_reason == "stuck"
    assert [bool(decision.pivot) for decision in decisions if isinstance(decision, Continue)][-1]
    assert isinstance(decisions[-1], Halt)
    assert len(decisions) < 6


async def test_a_program_that_is_named_wrongly_means_that_the_executor_cannot_work(workspace: Workspace) -> None:
    class Misnamed(Executor):
        name = "misnamed"

        async def start(self) -> None:
            raise UsageError("There is no program '/nowhere/copilot'.", "Correct COPILOT_CLI_PATH.")

    async with Runner(executor=Misnamed(), workspace=workspace) as runner:
        record = await runner.run("write a")
    assert record.stop_reason == "executor_unavailable"
    assert "COPILOT_CLI_PATH" in record.detail

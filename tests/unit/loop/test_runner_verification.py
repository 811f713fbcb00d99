"""Verification within a run: what it costs, what ends it, and what follows from what it says."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from ralph.decision.breaker import CircuitBreaker
from ralph.decision.limits import Limits, Price
from ralph.decision.outcomes import Complete, Continue
from ralph.executors.base import Turn
from ralph.hooks import CompletionDue, Hooks, Veto
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.record import IterationRecord, RunRecord
from ralph.store import MemoryStore
from ralph.testing import Reply, ScriptedExecutor, SeenEvents, writes
from ralph.types.output import Usage
from ralph.types.verification import Verdict
from ralph.verifiers import CommandVerifier, ReviewVerifier, Subject, Verifier
from ralph.workspace import open_workspace


def block(signal: str, reason: str) -> str:
    return f"---RALPH_STATUS---\nEXIT_SIGNAL: {signal}\nREASON: {reason}\n---END_RALPH_STATUS---"


DONE = block("true", "all is written")
HOLDS = block("true", "all is there")
LACKS = block("false", "the second line is missing")


class Agent:
    """An agent and its reviewers, each with replies of their own; the agent changes a file each time."""

    def __init__(self, said: list[Reply], reviews: list[Reply]) -> None:
        self.said, self.reviews = list(said), list(reviews)
        self.prompts: list[Prompt] = []
        self.reviewed: list[Prompt] = []
        self.executor = ScriptedExecutor(then=self.answer)

    def answer(self, prompt: Prompt, turn: Turn) -> Any:
        if turn.read_only:
            self.reviewed.append(prompt)
            replies = self.reviews
        else:
            self.prompts.append(prompt)
            (turn.workspace / "work.txt").write_text(f"{len(self.prompts)}\n")
            replies = self.said
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        return reply(prompt, turn) if callable(reply) else reply


Ran = tuple[RunRecord, list[IterationRecord], SeenEvents]


@pytest.fixture
def night(tmp_path: Path) -> Callable[..., Ran]:
    """A whole run."""

    def run(agent: Agent, *verifiers: Verifier, **parts: Any) -> Ran:
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        store, seen = MemoryStore(), SeenEvents()

        async def whole() -> Ran:
            async with Runner(
                executor=agent.executor,
                workspace=open_workspace(folder, state_dir=tmp_path / "state"),
                store=store,
                verify=verifiers,
                hooks=[seen],
                **parts,
            ) as runner:
                record = await runner.run("Write two lines.")
                return record, [iteration async for iteration in store.iterations(record.id)], seen

        return anyio.run(whole)

    return run


def test_a_review_refutes_and_then_lets_pass(night: Callable[..., Ran]) -> None:
    agent = Agent([DONE], [LACKS, HOLDS])
    record, iterations, seen = night(agent, ReviewVerifier(agent.executor))
    assert (record.stop_reason, record.verified, record.iterations) == ("completed", True, 2)
    assert record.detail == "EXIT_SIGNAL: true; a fresh review confirmed"
    assert "> the second line is missing" in agent.prompts[1].text
    assert [event.verifier for event in seen.of("verification_started")] == ["review", "review"]
    assert iterations[1].verification
    assert iterations[1].verification.verdicts[0].usage.tokens


def test_a_program_that_passes_already_is_not_enough_where_a_review_is_asked_for_too(
    night: Callable[..., Ran],
) -> None:
    agent = Agent([DONE], [HOLDS])
    record, _, seen = night(agent, ReviewVerifier(agent.executor), CommandVerifier(["true"]))
    assert seen.of("run_started")[0].already_green is False
    passed = "`true` passes, but it passed before the first iteration"
    assert record.detail == f"EXIT_SIGNAL: true; {passed}; a fresh review confirmed"
    assert record.verified


def test_what_a_review_uses_counts_for_the_iteration_the_run_and_its_price(night: Callable[..., Ran]) -> None:
    agent = Agent([DONE], [HOLDS])
    prices = {"m": Price(input=1_000_000, output=0)}
    record, (iteration,), _ = night(agent, ReviewVerifier(agent.executor), prices=prices, model="m")
    assert iteration.verification
    review = iteration.verification.usage
    assert review.input_tokens
    assert iteration.usage.input_tokens == record.usage.input_tokens
    assert (record.usage.input_tokens or 0) > review.input_tokens
    assert record.usage.cost == record.usage.input_tokens


def test_a_review_is_a_call_of_the_agent(night: Callable[..., Ran]) -> None:
    agent = Agent([DONE], [LACKS, HOLDS])
    _, iterations, _ = night(agent, ReviewVerifier(agent.executor), limits=Limits(calls_per_hour=100))
    assert [len(iteration.spent.calls) for iteration in iterations] == [2, 4]


def test_a_limit_ends_a_review_and_what_it_used_is_counted(night: Callable[..., Ran]) -> None:
    async def spends(_prompt: Prompt, turn: Turn) -> str:
        for _ in range(1_000):
            turn.transcript.used(Usage(input_tokens=1_000))
            await anyio.lowlevel.checkpoint()
        return HOLDS

    agent = Agent([DONE], [spends])
    record, (iteration,), _ = night(agent, ReviewVerifier(agent.executor), limits=Limits(max_tokens=20_000))
    assert (record.stop_reason, record.verified) == ("limit_reached", False)
    assert record.detail.startswith("max_tokens")
    assert 20_000 <= (record.usage.input_tokens or 0) < 30_000
    assert iteration.verification
    assert iteration.verification.cut_short.startswith("max_tokens")


class Slow(Verifier):
    """Hangs from the given time of asking on."""

    name = "slow"

    def __init__(self, hangs_at: int) -> None:
        self.hangs_at, self.asked = hangs_at, 0

    async def verify(self, subject: Subject) -> Verdict:
        self.asked += 1
        if self.asked >= self.hangs_at:
            await anyio.sleep(60)
        return Verdict(verifier=self.name, passed=False, output="not yet", signature="not yet")


@pytest.mark.parametrize(("hangs_at", "iterations"), [(1, 0), (2, 1)], ids=["before the run", "of a claim"])
def test_the_runs_time_ends_a_verification(night: Callable[..., Ran], hangs_at: int, iterations: int) -> None:
    began = time.monotonic()
    agent = Agent([DONE], [])
    record, kept, _ = night(agent, Slow(hangs_at), limits=Limits(max_duration=1.0))
    assert time.monotonic() - began < 10
    assert (record.stop_reason, record.verified, record.iterations) == ("limit_reached", False, iterations)
    assert record.detail.startswith("max_duration")
    assert record.duration >= 1.0
    assert [iteration.verification is not None for iteration in kept] == [True] * iterations


def test_a_verification_has_only_the_time_that_the_turn_has_left(night: Callable[..., Ran]) -> None:
    class Thorough(Verifier):
        name = "thorough"
        before_run = False

        async def verify(self, subject: Subject) -> Verdict:
            await anyio.sleep(0.8)
            return Verdict(verifier=self.name, passed=True)

    def works(_prompt: Prompt, _turn: Turn) -> str:
        time.sleep(0.7)
        return DONE

    record, _, _ = night(Agent([works], []), Thorough(), limits=Limits(max_duration=1.0))
    assert (record.stop_reason, record.verified, record.iterations) == ("limit_reached", False, 1)


def test_what_a_verifier_leaves_behind_is_no_progress_of_the_next_iteration(night: Callable[..., Ran]) -> None:
    class Messy(Verifier):
        name = "messy"
        before_run = False

        async def verify(self, subject: Subject) -> Verdict:
            (subject.workspace / "report.txt").write_text("1 failed\n")
            return Verdict(verifier=self.name, passed=False, output="1 failed", signature="failed")

    agent = Agent([DONE], [])
    agent.executor = ScriptedExecutor([writes("work.txt", "1", DONE), "I look at it.", "I look again."])
    _, (claimed, idle, *_), _ = night(agent, Messy(), limits=Limits(max_iterations=3))
    assert (claimed.progressed, claimed.changes.files) == (True, ("work.txt",))
    assert (idle.progressed, idle.changes.files) == (False, ())


def test_nobody_is_asked_for_a_veto_after_a_verification_that_was_cut_short() -> None:
    class Asked(Hooks):
        count = 0

        async def before_completion(self, due: CompletionDue) -> Veto | None:
            self.count += 1
            return None

    class Undecided(Verifier):
        """Cannot find out the first time, and hangs the second."""

        name = "undecided"
        before_run = False
        asked = 0

        async def verify(self, subject: Subject) -> Verdict:
            self.asked += 1
            if self.asked > 1:
                await anyio.sleep(60)
            return Verdict.unknown(self.name, "no answer")

    hook = Asked()
    limits = Limits(max_duration=0.5)
    runner = Runner(executor=ScriptedExecutor([DONE]), verify=[Undecided()], hooks=[hook], limits=limits)
    record = runner.run_sync("Write two lines.")
    assert (record.stop_reason, record.iterations, hook.count) == ("limit_reached", 2, 0)


def test_a_wish_to_stop_ends_a_review(night: Callable[..., Ran], tmp_path: Path) -> None:
    hung: list[str] = []

    async def hangs(_prompt: Prompt, turn: Turn) -> str:
        turn.transcript.used(Usage(input_tokens=1_000))
        hung.append("began")
        try:
            await anyio.sleep(60)
        finally:
            hung.append("ended")
        return HOLDS

    agent = Agent([DONE], [hangs])
    store = MemoryStore()
    folder = tmp_path / "work"
    folder.mkdir()

    async def whole() -> RunRecord:
        workspace = open_workspace(folder, state_dir=tmp_path / "state")
        verifiers = [ReviewVerifier(agent.executor)]
        ended: list[RunRecord] = []
        async with (
            Runner(executor=agent.executor, workspace=workspace, store=store, verify=verifiers) as runner,
            anyio.create_task_group() as group,
        ):

            async def run() -> None:
                ended.append(await runner.run("Write two lines."))

            group.start_soon(run)
            while not hung:  # noqa: ASYNC110 - the review is asked for by the runner
                await anyio.sleep(0.01)
            runner.cancel("SIGINT")
        return ended[0]

    record = anyio.run(whole)
    assert (record.stop_reason, record.verified, record.iterations) == ("cancelled", False, 1)
    assert hung == ["began", "ended"]
    assert (record.usage.input_tokens or 0) > 1_000, "what the review has used is counted"


def test_a_review_that_cannot_be_had_is_asked_for_again_and_then_not_waited_for(night: Callable[..., Ran]) -> None:
    agent = Agent([DONE], ["I have nothing to say."])
    record, (first, second), _ = night(agent, ReviewVerifier(agent.executor))
    assert isinstance(first.decision, Continue)
    assert first.decision.reason == "a claim of completion waits for its verification"
    assert "`review` could not find out" in agent.prompts[1].text
    assert isinstance(second.decision, Complete)
    assert (record.stop_reason, record.verified) == ("completed", False)
    assert "`review` is undecided: The review gave no verdict" in record.detail
    assert len(agent.reviewed) == 4, "each review is asked for twice"


def test_one_that_can_be_had_again_decides(night: Callable[..., Ran]) -> None:
    agent = Agent([DONE], ["hm", "hm", LACKS, HOLDS])
    record, iterations, _ = night(agent, ReviewVerifier(agent.executor))
    assert [iteration.decision.kind for iteration in iterations] == ["continue", "continue", "complete"]
    assert record.verified


def test_an_agent_and_reviewers_that_never_agree_are_stopped(night: Callable[..., Ran]) -> None:
    """Also where every iteration changes something."""
    agent = Agent([DONE], [LACKS])
    record, _, _ = night(agent, ReviewVerifier(agent.executor))
    assert (record.stop_reason, record.verified) == ("circuit_open", False)
    assert record.iterations == CircuitBreaker().settings.same_error
    assert "review: refuted" in record.detail


def test_a_verifier_of_ones_own_that_raises_does_not_end_the_run(night: Callable[..., Ran]) -> None:
    class Broken(Verifier):
        name = "broken"
        asked = 0

        async def verify(self, subject: Subject) -> Verdict:
            self.asked += 1
            if self.asked == 2:
                raise KeyError("no such thing")
            return Verdict(verifier=self.name, passed=self.asked > 2, output="not yet", signature="not yet")

    record, (first, _), _ = night(Agent([DONE], []), Broken())
    assert (record.stop_reason, record.verified) == ("completed", True)
    assert first.verification
    assert "KeyError" in first.verification.refuted[0].output


# covers: S1-34
@pytest.mark.parametrize(
    ("command", "graded", "by"),
    [
        (["test", "-f", "work.txt"], (True, False), "`test -f work.txt` failed before and passes now"),
        (["true"], (False, True), "`true` passes, but it passed before the first iteration"),
    ],
)
def test_what_a_check_said_before_the_run_decides_what_it_proves_also_after_a_resume(
    tmp_path: Path, command: list[str], graded: tuple[bool, bool], by: str
) -> None:
    agent, store, seen = Agent(["I begin.", DONE], []), MemoryStore(), SeenEvents()
    folder = tmp_path / "work"
    folder.mkdir()

    async def part(most: int, run_id: str | None) -> RunRecord:
        async with Runner(
            executor=agent.executor,
            workspace=open_workspace(folder, state_dir=tmp_path / "state"),
            store=store,
            verify=CommandVerifier(command),
            limits=Limits(max_iterations=most),
            hooks=[seen],
        ) as runner:
            return await (runner.run("Write two lines.") if run_id is None else runner.resume(run_id))

    async def whole() -> RunRecord:
        first = await part(1, None)
        assert (first.stop_reason, first.verified_by) == ("limit_reached", "")
        return await part(2, first.id)

    record = anyio.run(whole)
    assert (record.verified, record.already_green, record.verified_by) == (*graded, by)
    assert record.detail == f"EXIT_SIGNAL: true; {by}"
    end = seen.of("run_finished")[-1]
    assert (end.verified, end.already_green, end.verified_by) == (*graded, by)
    assert [event.already_green for event in seen.of("run_started")] == [graded[1]] * 2


@pytest.mark.parametrize(
    ("command", "graded", "by"),
    [
        (["grep", "2", "work.txt"], (True, False), "`grep 2 work.txt` failed before and passes now"),
        (
            ["grep", ".", "work.txt"],
            (False, True),
            "`grep . work.txt` passes, but it passed before the first iteration",
        ),
    ],
)
def test_a_check_that_is_new_at_a_resume_runs_before_its_first_iteration(
    tmp_path: Path, command: list[str], graded: tuple[bool, bool], by: str
) -> None:
    agent, store, seen = Agent(["I begin.", DONE], []), MemoryStore(), SeenEvents()
    folder = tmp_path / "work"
    folder.mkdir()

    async def part(most: int, run_id: str | None, *verify: Verifier) -> RunRecord:
        async with Runner(
            executor=agent.executor,
            workspace=open_workspace(folder, state_dir=tmp_path / "state"),
            store=store,
            verify=verify,
            limits=Limits(max_iterations=most),
            hooks=[seen],
        ) as runner:
            return await (runner.run("Count to two.") if run_id is None else runner.resume(run_id))

    async def whole() -> RunRecord:
        first = await part(1, None, CommandVerifier(["test", "-d", "."]))
        return await part(2, first.id, CommandVerifier(command))

    record = anyio.run(whole)
    assert (record.stop_reason, record.verified, record.already_green) == ("completed", *graded)
    assert record.verified_by == by
    before, after, claimed = seen.of("verification_finished")
    assert [before.passed, after.passed, claimed.passed] == [True, graded[1], True]

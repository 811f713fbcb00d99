"""Tests that every store must pass, to be inherited, with sample records. They need pytest with pytest-asyncio.

```
class TestMyStore(StoreConformance):
    @pytest.fixture
    def store(self):
        return MyStore()
```
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import anyio
import pytest

from ralph.analysis.result import Analysis
from ralph.decision.outcomes import Continue, Pause
from ralph.errors import OwnershipLostError, RunOwnedError, StoreError
from ralph.records.events import Event, IterationStarted, MessageReceived, MessageStreamed, RunStarted
from ralph.records.record import IterationRecord, PlanCount, RunRecord, RunState
from ralph.store.base import Store
from ralph.types import evolve
from ralph.types.output import Answered, Changes, Failed
from ralph.types.requests import Request

START = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def sample_run(run_id: str = "run-1", *, hours: float = 0, workspace: str | None = "/work") -> RunRecord:
    """Return a run that began so many hours after `START`."""
    return RunRecord(
        id=run_id,
        task="mend it ✓",
        workspace=workspace,
        settings={"limits": {"max_iterations": 3}, "verify": ["pytest"]},
        started_at=START + timedelta(hours=hours),
    )


def sample_event(seq: int, text: str = "", *, run_id: str = "run-1", iteration: int = 1) -> MessageReceived:
    """Return a message with that `seq`."""
    return MessageReceived(run_id=run_id, seq=seq, at=START, iteration=iteration, text=text or f"message {seq}")


def sample_iteration(number: int, text: str = "done", *, run_id: str = "run-1") -> IterationRecord:
    """Return an iteration with that number."""
    return IterationRecord(
        run_id=run_id,
        number=number,
        started_at=START,
        finished_at=START + timedelta(seconds=number),
        text=text,
        outcome=Answered(),
        decision=Continue(),
    )


def sample_request(text: str = "mind the tests") -> Request:
    """Return a request to tell the agent something."""
    return Request(at=START, kind="tell", text=text)


def sample_history(iterations: int = 60) -> list[IterationRecord]:
    """Return iterations of many kinds, from which resuming needs very different parts."""
    return [_in_history(number) for number in range(1, iterations + 1)]


def _in_history(number: int) -> IterationRecord:
    limited = number % 3 == 0
    words = Analysis(state="limited" if limited else "progress", error_signatures=(f"error {number % 7}",))
    facts: dict[str, Any] = {
        "executor": "second" if number % 5 == 0 else "first",
        "session_id": None if number % 4 == 0 else f"session {number}",
        "analysis": words,
        "changes": Changes(fingerprint=f"tree {number}"),
        "fingerprint": f"tree {number} verified" if number % 2 else None,
        "plan": PlanCount(done=number % 11, total=11) if number % 6 else None,
        "tool_calls": number % 4,
        "progressed": None if limited else bool(number % 2),
    }
    if limited:
        facts["decision"] = Pause(until=START, reason="limited")
        facts["outcome"] = Failed(failure="rate_limited") if number % 2 else Answered()
    return evolve(sample_iteration(number, "" if number % 9 == 0 else f"words {number}"), **facts)


_OVER = 0.0  # seconds of a lease that expires at once


@asynccontextmanager
async def _begun(store: Store, events: Sequence[Event] = (), *, owner: str = "") -> AsyncGenerator[None]:
    """Open a store in which the sample run has begun."""
    async with store:
        await store.create(sample_run(), events, owner=owner)
        yield


@pytest.mark.asyncio
class StoreConformance:
    """The tests of a store. Inherit it and provide `store` as a fixture."""

    @pytest.fixture
    def store(self) -> Store:
        """Provide an empty store, not yet entered."""
        raise NotImplementedError

    async def test_its_owner_adds_to_a_run_and_nobody_else_does(self, store: Store) -> None:
        async with _begun(store, [sample_event(1)], owner="a"):
            await store.append("run-1", [sample_event(2)], owner="a")
            with pytest.raises(OwnershipLostError):
                await store.append("run-1", [sample_event(3)], iteration=sample_iteration(1), owner="b")
            with pytest.raises(RunOwnedError):
                await store.append("run-1", [sample_event(3)], run=sample_run(hours=1))
            assert await store.last_seq("run-1") == 2
            assert await store.last_iteration("run-1") == 0
            assert await store.run("run-1") == sample_run()

    async def test_a_run_that_somebody_is_at_work_on_is_not_taken_over(self, store: Store) -> None:
        async with _begun(store, owner="a"):
            for dead in ("", "c"):
                with pytest.raises(RunOwnedError):
                    await store.acquire("run-1", "b", dead=dead)
            await store.acquire("run-1", "a")
            await store.append("run-1", [sample_event(1)], owner="a")

    async def test_a_run_whose_owner_has_died_is_taken_over_at_once(self, store: Store) -> None:
        async with _begun(store, owner="a"):
            await store.acquire("run-1", "b", dead="a")
            await store.append("run-1", [sample_event(1)], owner="b")
            with pytest.raises(RunOwnedError):
                await store.acquire("run-1", "c", dead="a")

    async def test_a_run_whose_lease_is_over_is_taken_over_and_its_former_owner_refused(self, store: Store) -> None:
        async with _begun(store, owner="a"):
            await store.renew("run-1", "a", seconds=_OVER)
            await store.acquire("run-1", "b")
            for _ in range(2):
                with pytest.raises(OwnershipLostError):
                    await store.append("run-1", [sample_event(1)], iteration=sample_iteration(1), owner="a")
                with pytest.raises(OwnershipLostError):
                    await store.renew("run-1", "a")
                await store.release("run-1", "a")
            await store.append("run-1", [sample_event(1, "of b")], owner="b")
            assert [event async for event in store.events("run-1")] == [sample_event(1, "of b")]
            assert await store.last_iteration("run-1") == 0

    async def test_a_former_owner_is_refused_also_when_nobody_owns_the_run_any_more(self, store: Store) -> None:
        async with _begun(store, owner="a"):
            await store.acquire("run-1", "b", dead="a")
            await store.release("run-1", "b")
            for former in ("a", "b"):
                with pytest.raises(OwnershipLostError):
                    await store.append("run-1", [sample_event(1)], owner=former)
            await store.append("run-1", [sample_event(1)])
            await store.acquire("run-1", "c")

    async def test_an_owner_whose_lease_ran_out_goes_on_where_nobody_took_over(self, store: Store) -> None:
        async with _begun(store):
            await store.acquire("run-1", "a", seconds=_OVER)
            await store.append("run-1", [sample_event(1)], owner="a")
            assert not await store.leased("run-1")
            await store.renew("run-1", "a")
            assert await store.leased("run-1")
            with pytest.raises(RunOwnedError):
                await store.acquire("run-1", "b")

    async def test_without_a_token_a_run_is_added_to_where_no_lease_holds(self, store: Store) -> None:
        async with _begun(store):
            await store.append("run-1", [sample_event(1)])
            await store.acquire("run-1", "a", seconds=_OVER)
            await store.append("run-1", [sample_event(2)])
            assert await store.last_seq("run-1") == 2

    async def test_a_lease_comes_to_its_end_by_itself(self, store: Store) -> None:
        async with _begun(store):
            await store.acquire("run-1", "a", seconds=0.2)
            with pytest.raises(RunOwnedError):
                await store.acquire("run-1", "b")
            with anyio.fail_after(20):
                while await store.leased("run-1"):  # noqa: ASYNC110 - no store tells when a lease ends
                    await anyio.sleep(0.02)
            await store.acquire("run-1", "b")

    async def test_of_many_who_take_a_run_at_once_one_gets_it(self, store: Store) -> None:
        async def take(token: str) -> None:
            try:
                await store.acquire("run-1", token)
                winners.append(token)
            except RunOwnedError:
                pass

        winners: list[str] = []
        async with _begun(store):
            async with anyio.create_task_group() as tasks:
                for token in "abcdefgh":
                    tasks.start_soon(take, token)
            assert len(winners) == 1
            await store.append("run-1", [sample_event(1)], owner=winners[0])

    async def test_who_has_a_run_is_told_also_when_the_lease_is_over(self, store: Store) -> None:
        async with store:
            assert await store.holder("run-1") == ""
            await store.create(sample_run())
            assert await store.holder("run-1") == ""
            await store.acquire("run-1", "a", seconds=_OVER)
            assert await store.holder("run-1") == "a"
            await store.release("run-1", "a")
            assert await store.holder("run-1") == ""

    async def test_nobody_owns_a_run_that_is_not_there(self, store: Store) -> None:
        async with store:
            with pytest.raises(StoreError):
                await store.acquire("run-1", "a")
            with pytest.raises(OwnershipLostError):
                await store.renew("run-1", "a")
            await store.release("run-1", "a")
            assert not await store.leased("run-1")
            with pytest.raises(ValueError, match="token"):
                await store.acquire("run-1", "")

    async def test_what_is_asked_of_a_run_comes_in_order_whoever_owns_it(self, store: Store) -> None:
        async with _begun(store, owner="a"):
            await store.create(sample_run("run-2"))
            assert [await store.ask("run-1", sample_request(text)) for text in ("x", "y\0\u2028", "z")] == [1, 2, 3]
            assert await store.ask("run-2", sample_request()) == 1
            found = await store.requests("run-1")
            assert [(request.seq, request.text) for request in found] == [(1, "x"), (2, "y\0\u2028"), (3, "z")]
            assert found[0] == evolve(sample_request("x"), seq=1)
            assert [request.seq for request in await store.requests("run-1", after=2)] == [3]
            assert await store.requests("run-3") == []
            with pytest.raises(StoreError):
                await store.ask("run-3", sample_request())

    async def test_what_many_ask_at_once_is_all_kept(self, store: Store) -> None:
        async with _begun(store):
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(store.ask, "run-1", sample_request(f"{number}"))
            found = await store.requests("run-1")
            assert [request.seq for request in found] == list(range(1, 21))
            assert {request.text for request in found} == {f"{number}" for number in range(20)}

    async def test_how_far_a_run_has_come_is_the_fold_over_its_iterations(self, store: Store) -> None:
        history = sample_history()
        run = evolve(sample_run(), fingerprint="tree 0")
        async with store:
            await store.create(run)
            assert await store.state(run) == RunState.of(run)
            for number, iteration in enumerate(history, 1):
                await store.append("run-1", [], iteration=iteration)
                if number % 10 == 0:
                    assert await store.state(run) == RunState.of(run, history[:number])
            assert await store.last_iteration("run-1") == len(history)
            assert await store.iteration("run-1", 7) == history[6]
            assert await store.iteration("run-1", 0) is None
            assert await store.iteration("run-2", 7) is None

    async def test_a_run_that_was_removed_leaves_nothing_and_takes_nothing_else_along(self, store: Store) -> None:
        async with store:
            for run_id in ("run-1", "run-2"):
                await store.create(sample_run(run_id), [sample_event(1, run_id=run_id)], owner="a")
                await store.append(run_id, [], iteration=sample_iteration(1, run_id=run_id), owner="a")
                await store.ask(run_id, sample_request())
            with pytest.raises(RunOwnedError):
                await store.remove("run-1")
            await store.remove("run-1", owner="a")
            await store.remove("run-1")
            assert [run.id for run in await store.runs()] == ["run-2"]
            await store.create(sample_run("run-1", hours=1))
            assert await store.last_seq("run-1") == await store.last_iteration("run-1") == 0
            assert await store.requests("run-1") == []
            assert not await store.leased("run-1")
            assert await store.last_seq("run-2") == await store.last_iteration("run-2") == 1
            await store.compact()
            assert (await store.run("run-2")) == sample_run("run-2")

    async def test_a_transcript_is_forgotten_alone_or_not_at_all(self, store: Store) -> None:
        async with store:
            await store.create(
                sample_run(), [RunStarted(run_id="run-1", seq=1, at=START, task="mend"), sample_event(2)]
            )
            gone = await store.forget_transcript("run-1")
            assert [event.seq async for event in store.events("run-1")] == ([1] if gone else [1, 2])
            assert await store.run("run-1") == evolve(sample_run(), forgotten=gone)
            await store.append("run-1", [sample_event(3)])
            assert await store.check() == (1, ())

    async def test_a_store_is_found_healthy(self, store: Store) -> None:
        async with store:
            assert await store.check() == (0, ())
            for run_id in ("a", "b"):
                await store.create(sample_run(run_id), [sample_event(seq, run_id=run_id) for seq in range(1, 9)])
                await store.append(run_id, [], iteration=sample_iteration(1, run_id=run_id))
            assert await store.check() == (2, ())

    async def test_what_was_created_is_read_back(self, store: Store) -> None:
        started = RunStarted(run_id="run-1", seq=1, at=START, task="mend it ✓", verifiers=("pytest",))
        async with _begun(store, [started]):
            assert await store.run("run-1") == sample_run()
            assert [event async for event in store.events("run-1")] == [started]

    async def test_an_append_adds_events_iteration_and_state(self, store: Store) -> None:
        ended = evolve(sample_run(), state="finished", stop_reason="completed", iterations=1)
        async with _begun(store):
            await store.append("run-1", [IterationStarted(run_id="run-1", seq=1, at=START, iteration=1)])
            await store.append("run-1", [sample_event(2)], iteration=sample_iteration(1), run=ended)
            assert [event.type async for event in store.events("run-1")] == ["iteration_started", "message_received"]
            assert [it async for it in store.iterations("run-1")] == [sample_iteration(1)]
            assert await store.run("run-1") == ended
            assert await store.runs() == [ended]

    async def test_a_store_that_is_entered_twice_stays_open_for_the_other_user(self, store: Store) -> None:
        async with store:
            async with store:
                await store.create(sample_run())
            assert await store.run("run-1") == sample_run()

    async def test_an_append_of_nothing_changes_nothing(self, store: Store) -> None:
        async with _begun(store):
            await store.append("run-1", [])
            assert await store.run("run-1") == sample_run()
            assert await store.last_seq("run-1") == 0

    async def test_streamed_pieces_are_not_kept(self, store: Store) -> None:
        async with _begun(store):
            await store.append("run-1", [MessageStreamed(run_id="run-1", at=START, text="mes"), sample_event(1)])
            assert [event.seq async for event in store.events("run-1")] == [1]

    async def test_events_come_in_order_and_after_a_number(self, store: Store) -> None:
        async with _begun(store):
            for first in range(1, 1300, 100):
                await store.append("run-1", [sample_event(seq) for seq in range(first, first + 100)])
            assert [event.seq async for event in store.events("run-1")] == list(range(1, 1301))
            assert [event.seq async for event in store.events("run-1", after=1298)] == [1299, 1300]
            assert [event async for event in store.events("run-1", after=1300)] == []
            assert await store.last_seq("run-1") == 1300

    async def test_iterations_come_in_order(self, store: Store) -> None:
        async with _begun(store):
            for number in range(1, 13):
                await store.append("run-1", [], iteration=sample_iteration(number))
            assert [it.number async for it in store.iterations("run-1")] == list(range(1, 13))
            assert (await store.last_iteration("run-1"), await store.last_iteration("run-2")) == (12, 0)

    async def test_runs_do_not_mix(self, store: Store) -> None:
        async with store:
            await store.create(sample_run("a"), [sample_event(1, "of a", run_id="a")])
            await store.create(sample_run("b"), [sample_event(1, "of b", run_id="b")])
            await store.append("b", [], iteration=sample_iteration(1, run_id="b"))
            assert [event.run_id async for event in store.events("a")] == ["a"]
            assert [it async for it in store.iterations("a")] == []

    async def test_what_is_not_there(self, store: Store) -> None:
        async with store:
            assert await store.run("run-1") is None
            assert await store.runs() == []
            assert await store.runs(limit=10**30) == []
            assert await store.iteration("run-1", 10**30) is None
            assert await store.last_seq("run-1") == 0
            assert [event async for event in store.events("run-1")] == []
            assert [it async for it in store.iterations("run-1")] == []

    async def test_a_run_is_found_by_a_beginning_that_only_it_has(self, store: Store) -> None:
        async with store:
            for run_id in ("ab", "abc", "ax", "a_z", "B"):
                await store.create(sample_run(run_id))
            assert (await store.run("ab")) == sample_run("ab")
            assert (await store.run("abc")) == sample_run("abc")
            assert (await store.run("a_")) == sample_run("a_z")
            for ambiguous_or_unknown in ("a", "", "b", "ab%", "%", "_", "\\", "abcd", "a\0", "\udcff", "'; --"):
                assert await store.run(ambiguous_or_unknown) is None

    async def test_a_beginning_that_two_long_runs_share_is_nobodys(self, store: Store) -> None:
        async with store:
            for run_id in ("ab", "ac"):
                await store.create(evolve(sample_run(run_id), task="x" * 2_000_000))
            assert await store.run("a") is None

    async def test_runs_are_listed_newest_first(self, store: Store) -> None:
        there = (START + timedelta(hours=9)).astimezone(timezone(timedelta(hours=-5)))
        abroad = evolve(sample_run("c"), started_at=there)
        async with store:
            await store.create(sample_run("a", hours=8))
            await store.create(abroad)
            await store.create(sample_run("b", hours=10, workspace="/other"))
            await store.create(sample_run("d", hours=-1, workspace=None))
            assert [run.id for run in await store.runs()] == ["b", "c", "a", "d"]
            assert [run.id for run in await store.runs(limit=2)] == ["b", "c"]
            assert [run.id for run in await store.runs(workspace="/work", limit=1)] == ["c"]
            assert await store.runs(workspace="/nowhere") == []

    async def test_a_run_is_created_once(self, store: Store) -> None:
        async with _begun(store, [sample_event(1)]):
            with pytest.raises(StoreError):
                await store.create(sample_run(hours=1), [sample_event(2)])
            assert await store.run("run-1") == sample_run()
            assert await store.last_seq("run-1") == 1

    @pytest.mark.parametrize("given", [[2], [3, 4, 2], [4, 4]])
    async def test_an_event_is_added_once(self, store: Store, given: list[int]) -> None:
        async with _begun(store, [sample_event(1), sample_event(2, "first")]):
            with pytest.raises(StoreError):
                await store.append("run-1", [sample_event(seq) for seq in given], iteration=sample_iteration(1))
            assert await store.last_seq("run-1") == 2
            assert [it async for it in store.iterations("run-1")] == []
            await store.append("run-1", [sample_event(3)])
            assert await store.last_seq("run-1") == 3

    async def test_an_iteration_is_added_once_and_nothing_of_the_rest_stays(self, store: Store) -> None:
        async with _begun(store):
            await store.append("run-1", [sample_event(1)], iteration=sample_iteration(1, "first"))
            ended = evolve(sample_run(), state="finished")
            with pytest.raises(StoreError):
                await store.append("run-1", [sample_event(2)], iteration=sample_iteration(1, "second"), run=ended)
            assert [it.text async for it in store.iterations("run-1")] == ["first"]
            assert await store.last_seq("run-1") == 1
            assert await store.run("run-1") == sample_run()

    async def test_nothing_is_added_to_a_run_that_is_not_there(self, store: Store) -> None:
        async with store:
            with pytest.raises(StoreError):
                await store.append("run-1", [sample_event(1)])
            with pytest.raises(StoreError):
                await store.append("run-1", [], iteration=sample_iteration(1))
            with pytest.raises(StoreError):
                await store.append("run-1", [], run=sample_run())
            assert await store.last_seq("run-1") == 0
            assert await store.runs() == []

    @pytest.mark.parametrize("text", ["a\0b", "a\ud800b\udcff", "\u2028\x1b[31m\r\n\U0001f600 ✓", "x" * 3_000_000])
    async def test_any_text_is_taken(self, store: Store, text: str) -> None:
        run = evolve(sample_run(workspace=f"/w/{text[:99]}"), settings={"text": text})
        async with store:
            await store.create(run)
            await store.append("run-1", [sample_event(1, text), sample_event(2)], iteration=sample_iteration(1, text))
            kept = [event async for event in store.events("run-1")]
            iterations = [it async for it in store.iterations("run-1")]
            assert [found.id for found in await store.runs(workspace=run.workspace)] == ["run-1"]
        assert [event.seq for event in kept] == [1, 2]
        assert isinstance(kept[0], MessageReceived)
        if text.isprintable() or "\ud800" not in text:
            assert kept[0].text == iterations[0].text == text
        assert len(kept[0].text) == len(iterations[0].text) == len(text)

    async def test_calls_at_the_same_time_are_all_carried_out(self, store: Store) -> None:
        async def work(run_id: str) -> None:
            await store.create(sample_run(run_id))
            for seq in range(1, 21):
                await store.append(run_id, [sample_event(seq, run_id=run_id)])

        async with store:
            async with anyio.create_task_group() as tasks:
                for run_id in "abcde":
                    tasks.start_soon(work, run_id)
            for run_id in "abcde":
                assert [event.seq async for event in store.events(run_id)] == list(range(1, 21))

    async def test_a_reader_may_stop_early_and_writing_goes_on_under_it(self, store: Store) -> None:
        async with _begun(store, [sample_event(seq) for seq in range(1, 600)]):
            reader = store.events("run-1")
            assert (await anext(reader)).seq == 1
            await store.append("run-1", [sample_event(600)])
            assert (await anext(reader)).seq == 2
            del reader
            assert await store.last_seq("run-1") == 600

    async def test_a_cancelled_append_is_whole_or_absent(self, store: Store) -> None:
        async with _begun(store):
            for number in range(1, 31):
                before = await store.last_seq("run-1")
                events = [sample_event(before + 1 + step) for step in range(20)]
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_append, store, events, number)
                    for _ in range(number % 4):
                        await anyio.lowlevel.checkpoint()
                    tasks.cancel_scope.cancel()
                kept = [event.seq async for event in store.events("run-1", after=before)]
                assert kept in ([], [event.seq for event in events])
                assert (number in [it.number async for it in store.iterations("run-1")]) is bool(kept)


async def _append(store: Store, events: Sequence[Event], number: int) -> None:
    await store.append("run-1", events, iteration=sample_iteration(number))

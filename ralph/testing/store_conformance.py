"""What every store does, as tests to be inherited. It needs pytest with pytest-asyncio.

```
class TestMyStore(StoreConformance):
    @pytest.fixture
    def store(self):
        return MyStore()
```
"""

from collections.abc import Sequence
from datetime import timedelta, timezone

import anyio
import pytest

from ralph.errors import StoreError
from ralph.records.events import Event, IterationStarted, MessageReceived, MessageStreamed, RunStarted
from ralph.store.base import Store
from ralph.testing.ownership_conformance import OwnershipConformance
from ralph.testing.store_samples import START, sample_event, sample_iteration, sample_run
from ralph.types import evolve

__all__ = ["StoreConformance", "sample_event", "sample_iteration", "sample_run"]


@pytest.mark.asyncio
class StoreConformance(OwnershipConformance):
    """Inherit it and give `store` as a fixture."""

    @pytest.fixture
    def store(self) -> Store:
        """An empty store, not yet entered."""
        raise NotImplementedError

    async def test_what_was_created_is_read_back(self, store: Store) -> None:
        started = RunStarted(run_id="run-1", seq=1, at=START, task="mend it ✓", verifiers=("pytest",))
        async with store:
            await store.create(sample_run(), [started])
            assert await store.run("run-1") == sample_run()
            assert [event async for event in store.events("run-1")] == [started]

    async def test_an_append_adds_events_iteration_and_state(self, store: Store) -> None:
        ended = evolve(sample_run(), state="finished", stop_reason="completed", iterations=1)
        async with store:
            await store.create(sample_run())
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
        async with store:
            await store.create(sample_run())
            await store.append("run-1", [])
            assert await store.run("run-1") == sample_run()
            assert await store.last_seq("run-1") == 0

    async def test_streamed_pieces_are_not_kept(self, store: Store) -> None:
        async with store:
            await store.create(sample_run())
            await store.append("run-1", [MessageStreamed(run_id="run-1", at=START, text="mes"), sample_event(1)])
            assert [event.seq async for event in store.events("run-1")] == [1]

    async def test_events_come_in_order_and_after_a_number(self, store: Store) -> None:
        async with store:
            await store.create(sample_run())
            for first in range(1, 1300, 100):
                await store.append("run-1", [sample_event(seq) for seq in range(first, first + 100)])
            assert [event.seq async for event in store.events("run-1")] == list(range(1, 1301))
            assert [event.seq async for event in store.events("run-1", after=1298)] == [1299, 1300]
            assert [event async for event in store.events("run-1", after=1300)] == []
            assert await store.last_seq("run-1") == 1300

    async def test_iterations_come_in_order(self, store: Store) -> None:
        async with store:
            await store.create(sample_run())
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
        async with store:
            await store.create(sample_run(), [sample_event(1)])
            with pytest.raises(StoreError):
                await store.create(sample_run(hours=1), [sample_event(2)])
            assert await store.run("run-1") == sample_run()
            assert await store.last_seq("run-1") == 1

    @pytest.mark.parametrize("given", [[2], [3, 4, 2], [4, 4]])
    async def test_an_event_is_added_once(self, store: Store, given: list[int]) -> None:
        async with store:
            await store.create(sample_run(), [sample_event(1), sample_event(2, "first")])
            with pytest.raises(StoreError):
                await store.append("run-1", [sample_event(seq) for seq in given], iteration=sample_iteration(1))
            assert await store.last_seq("run-1") == 2
            assert [it async for it in store.iterations("run-1")] == []
            await store.append("run-1", [sample_event(3)])
            assert await store.last_seq("run-1") == 3

    async def test_an_iteration_is_added_once_and_nothing_of_the_rest_stays(self, store: Store) -> None:
        async with store:
            await store.create(sample_run())
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
        async with store:
            await store.create(sample_run(), [sample_event(seq) for seq in range(1, 600)])
            reader = store.events("run-1")
            assert (await anext(reader)).seq == 1
            await store.append("run-1", [sample_event(600)])
            assert (await anext(reader)).seq == 2
            del reader
            assert await store.last_seq("run-1") == 600

    async def test_a_cancelled_append_is_whole_or_absent(self, store: Store) -> None:
        async with store:
            await store.create(sample_run())
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

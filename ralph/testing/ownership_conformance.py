"""What every store does for whoever owns a run, and for those who do not, as tests: part of `StoreConformance`."""

import anyio
import pytest

from ralph.errors import OwnershipLostError, RunOwnedError, StoreError
from ralph.records.record import RunState
from ralph.store.base import Store
from ralph.testing.store_samples import (
    sample_event,
    sample_history,
    sample_iteration,
    sample_request,
    sample_run,
)
from ralph.types import evolve

__all__ = ["OwnershipConformance"]

OVER = 0.0
"""Seconds of a lease that is over as soon as it is given."""


class OwnershipConformance:
    """The tests take an empty store that is not yet entered."""

    async def test_its_owner_adds_to_a_run_and_nobody_else_does(self, store: Store) -> None:
        async with store:
            await store.create(sample_run(), [sample_event(1)], owner="a")
            await store.append("run-1", [sample_event(2)], owner="a")
            with pytest.raises(OwnershipLostError):
                await store.append("run-1", [sample_event(3)], iteration=sample_iteration(1), owner="b")
            with pytest.raises(RunOwnedError):
                await store.append("run-1", [sample_event(3)], run=sample_run(hours=1))
            assert await store.last_seq("run-1") == 2
            assert await store.last_iteration("run-1") == 0
            assert await store.run("run-1") == sample_run()

    async def test_a_run_that_somebody_is_at_work_on_is_not_taken_over(self, store: Store) -> None:
        async with store:
            await store.create(sample_run(), owner="a")
            for dead in ("", "c"):
                with pytest.raises(RunOwnedError):
                    await store.acquire("run-1", "b", dead=dead)
            await store.acquire("run-1", "a")
            await store.append("run-1", [sample_event(1)], owner="a")

    async def test_a_run_whose_owner_has_died_is_taken_over_at_once(self, store: Store) -> None:
        async with store:
            await store.create(sample_run(), owner="a")
            await store.acquire("run-1", "b", dead="a")
            await store.append("run-1", [sample_event(1)], owner="b")
            with pytest.raises(RunOwnedError):
                await store.acquire("run-1", "c", dead="a")

    async def test_a_run_whose_lease_is_over_is_taken_over_and_its_former_owner_refused(self, store: Store) -> None:
        async with store:
            await store.create(sample_run(), owner="a")
            await store.renew("run-1", "a", seconds=OVER)
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
        async with store:
            await store.create(sample_run(), owner="a")
            await store.acquire("run-1", "b", dead="a")
            await store.release("run-1", "b")
            for former in ("a", "b"):
                with pytest.raises(OwnershipLostError):
                    await store.append("run-1", [sample_event(1)], owner=former)
            await store.append("run-1", [sample_event(1)])
            await store.acquire("run-1", "c")

    async def test_an_owner_whose_lease_ran_out_goes_on_where_nobody_took_over(self, store: Store) -> None:
        async with store:
            await store.create(sample_run())
            await store.acquire("run-1", "a", seconds=OVER)
            await store.append("run-1", [sample_event(1)], owner="a")
            assert not await store.leased("run-1")
            await store.renew("run-1", "a")
            assert await store.leased("run-1")
            with pytest.raises(RunOwnedError):
                await store.acquire("run-1", "b")

    async def test_without_a_token_a_run_is_added_to_where_no_lease_holds(self, store: Store) -> None:
        async with store:
            await store.create(sample_run())
            await store.append("run-1", [sample_event(1)])
            await store.acquire("run-1", "a", seconds=OVER)
            await store.append("run-1", [sample_event(2)])
            assert await store.last_seq("run-1") == 2

    async def test_a_lease_comes_to_its_end_by_itself(self, store: Store) -> None:
        async with store:
            await store.create(sample_run())
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
        async with store:
            await store.create(sample_run())
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
            await store.acquire("run-1", "a", seconds=OVER)
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
        async with store:
            await store.create(sample_run(), owner="a")
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
        async with store:
            await store.create(sample_run())
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

    async def test_a_store_is_found_healthy(self, store: Store) -> None:
        async with store:
            assert await store.check() == (0, ())
            for run_id in ("a", "b"):
                await store.create(sample_run(run_id), [sample_event(seq, run_id=run_id) for seq in range(1, 9)])
                await store.append(run_id, [], iteration=sample_iteration(1, run_id=run_id))
            assert await store.check() == (2, ())

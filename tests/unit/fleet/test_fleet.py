"""The queue of a fleet: who gets which task, when, and what becomes of it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from ralph.errors import UsageError
from ralph.fleet import Entry, Fleet, FleetLimits, Task, WorkerEntry, schema
from ralph.fleet.schedule import add_schedule, next_time, remove_schedule, submit_due
from ralph.fleet.tables import Tables

LEASE = 60.0


@pytest.fixture(params=["sqlite", "postgres"])
async def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Fleet]:
    url = str(tmp_path / "ralph.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    async with Fleet(url) as opened:
        yield opened


def a_task(number: int = 0, **more: Any) -> Task:
    return Task.model_validate({"task": f"Do {number}.", "folder": f"/srv/{number}", **more})


async def a_worker(fleet: Fleet, name: str = "one", **more: Any) -> WorkerEntry:
    worker = WorkerEntry(name=name, token=f"token of {name}", slots=2, **more)
    assert await fleet.do(Tables.register, worker, LEASE, dead=False)
    return worker


async def taken(fleet: Fleet, worker: WorkerEntry, count: int = 1) -> list[Entry]:
    return await fleet.do(Tables.claim, worker, count)


async def let_go(fleet: Fleet, entry: Entry, worker: WorkerEntry, state: str, **more: Any) -> str:
    progress = {
        "task_id": entry.id, "in_turn": entry.turn, "done": 2, "more": 0.5, "finished": 2, "now_is": "running",
        "run": entry.run_id, "why": "", **more,
    }  # fmt: skip
    return await fleet.do(Tables.let_go, entry, worker.name, progress, state=state, reason="said so")


async def expire(fleet: Fleet, worker: WorkerEntry) -> None:
    late = update(schema.workers).where(schema.workers.c.name == worker.name).values(until=1)

    def work(tables: Tables) -> None:
        with tables.connection.begin():
            tables.connection.execute(late)

    await fleet.do(work)


async def test_greater_priority_first_and_then_the_order_of_submission(fleet: Fleet):
    ids = await fleet.submit([a_task(1), a_task(2), a_task(3, priority=5)])
    worker = await a_worker(fleet)
    order = [entry.id for _ in range(3) for entry in await taken(fleet, worker)]
    assert order == [ids[2], ids[0], ids[1]]


async def test_a_task_is_handed_out_once_and_counts_for_its_repository(fleet: Fleet):
    same = {"folder": "/srv/shop"}
    ids = await fleet.submit([a_task(1, **same), a_task(2, **same), a_task(3)])
    one, two = await a_worker(fleet, "one"), await a_worker(fleet, "two")
    assert {entry.id for entry in await taken(fleet, one, 5)} == {ids[0], ids[2]}
    assert await taken(fleet, two, 5) == []
    await fleet.limits(FleetLimits(per_repository=2))
    assert [entry.id for entry in await taken(fleet, two, 5)] == [ids[1]]


async def test_labels_of_a_task_are_demanded_of_the_worker(fleet: Fleet):
    ids = await fleet.submit([a_task(1, labels=["gpu", "big"]), a_task(2, labels=["gpu"])])
    assert await taken(fleet, await a_worker(fleet, "plain"), 5) == []
    assert [entry.id for entry in await taken(fleet, await a_worker(fleet, "gpu", labels=("gpu",)), 5)] == [ids[1]]


async def test_a_task_waits_for_those_before_it(fleet: Fleet):
    first, second = await fleet.submit([a_task(1, name="first"), a_task(2, name="second", after=["first"])])
    worker = await a_worker(fleet)
    entry = (await taken(fleet, worker, 5))[0]
    assert (entry.id, await taken(fleet, worker, 5)) == (first, [])
    assert [each.id for each in await fleet.needed(second)] == [first]
    await let_go(fleet, entry, worker, "failed")
    assert await taken(fleet, worker, 5) == []
    await fleet.retry(first)
    await let_go(fleet, (await taken(fleet, worker))[0], worker, "done")
    assert [each.id for each in await taken(fleet, worker, 5)] == [second]
    later = await fleet.submit([a_task(3, after=["first"])])
    assert [each.id for each in await taken(fleet, worker, 5)] == later, "what is done need not be waited for"


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([{"name": "a", "after": ["b"]}, {"name": "b", "after": ["a"]}], "wait for each other"),
        ([{"after": ["nobody"]}], "'nobody'"),
        ([{"name": "a"}, {"name": "a"}], "Two tasks have the name 'a'"),
        ([{"name": "there"}], "has not ended yet"),
    ],
)
async def test_what_cannot_be_ordered_is_refused_as_a_whole(fleet: Fleet, tasks: list[dict[str, Any]], said: str):
    await fleet.submit([a_task(9, name="there")])
    with pytest.raises(UsageError, match=said):
        await fleet.submit([a_task(number, **each) for number, each in enumerate(tasks)])
    assert len(await fleet.entries()) == 1


async def test_a_task_that_names_another_one_twice_waits_for_it_once(fleet: Fleet):
    _, second = await fleet.submit([a_task(1, name="first"), a_task(2, after=["first", "first"])])
    worker = await a_worker(fleet)
    await let_go(fleet, (await taken(fleet, worker))[0], worker, "done")
    assert [entry.id for entry in await taken(fleet, worker)] == [second]


@pytest.mark.parametrize("address", ["https://me:sesame@host/x.git", "https://sesame@host/x", "ssh://me:sesame@host/x"])
async def test_a_login_in_an_address_is_refused_and_not_stored(fleet: Fleet, address: str):
    task = Task(task="x", repository=address)
    for submitted in (fleet.submit([task]), add_schedule(fleet, "nightly", "0 2 * * *", [task])):
        with pytest.raises(UsageError, match="contains a login") as raised:
            await submitted
        assert "sesame" not in str(raised.value)
    assert (await fleet.entries(), await fleet.schedules()) == ([], [])
    await fleet.submit([Task(task="x", repository="ssh://git@host/x.git"), Task(task="x", repository="git@host:x")])


async def test_only_the_task_s_worker_keeps_its_files_and_counts_its_turns(fleet: Fleet):
    await fleet.submit([a_task(1)])
    worker = await a_worker(fleet)
    entry = (await taken(fleet, worker))[0]
    assert await fleet.do(Tables.keep, entry, 1, "abc")
    assert await fleet.do(Tables.kept, entry.run_id) == (1, "abc")
    other = entry.model_copy(update={"worker": "other"})
    assert not await fleet.do(Tables.keep, other, 2, "def")
    assert await fleet.do(Tables.next_turn, other) is None
    assert (await fleet.find(entry.id)).turn == entry.turn


async def test_the_limits_of_the_whole_fleet(fleet: Fleet):
    await fleet.submit([a_task(number) for number in range(4)])
    worker = await a_worker(fleet)
    await fleet.limits(FleetLimits(concurrency=2, cost_per_month=0.4))
    first, _ = await taken(fleet, worker, 4)
    assert await taken(fleet, worker) == []
    assert "2 tasks run at once" in (await fleet.status()).halted
    await let_go(fleet, first, worker, "done")
    status = await fleet.status()
    assert (status.cost, status.iterations, status.halted) == (0.5, 2, "this month's 0.4 dollars are spent")
    assert await taken(fleet, worker) == []


async def test_calls_beyond_the_limit_of_a_minute_wait(fleet: Fleet):
    assert [await fleet.do(Tables.call, 2) for _ in range(2)] == [0.0, 0.0]
    assert 50 < await fleet.do(Tables.call, 2) <= 60


async def test_the_tasks_of_a_lost_worker_go_to_others_and_its_results_are_refused(fleet: Fleet):
    await fleet.submit([a_task(1)])
    dead, alive = await a_worker(fleet, "dead"), await a_worker(fleet, "alive")
    entry = (await taken(fleet, dead))[0]
    await expire(fleet, dead)
    beat = await fleet.do(Tables.beat, alive, LEASE, [])
    assert beat.taken == (entry.id,)
    again = (await taken(fleet, alive))[0]
    assert (again.id, again.dangling, again.kills, again.workflow_id) == (entry.id, 1, 1, entry.workflow_id)
    assert not await let_go(fleet, entry, dead, "done")
    assert not (await fleet.do(Tables.beat, dead, LEASE, [])).alive
    assert {each.name: each.state for each in (await fleet.status()).workers} == {"dead": "lost", "alive": "working"}


async def test_a_task_that_three_workers_were_lost_with_is_set_aside(fleet: Fleet):
    task_id = (await fleet.submit([a_task(1)]))[0]
    for number in range(3):
        worker = await a_worker(fleet, f"w{number}")
        entry = (await taken(fleet, worker))[0]
        await expire(fleet, worker)
        await fleet.do(Tables.beat, await a_worker(fleet, "other"), LEASE, [])
    entry = await fleet.find(task_id)
    assert (entry.state, entry.kills) == ("set_aside", 3)
    assert "3 workers in a row were lost" in entry.reason
    await fleet.resume(task_id)
    assert ((await fleet.find(task_id)).state, (await fleet.find(task_id)).kills) == ("queued", 0)


async def test_an_iteration_that_finishes_forgives_the_lost_workers(fleet: Fleet):
    await fleet.submit([a_task(1)])
    first, second = await a_worker(fleet, "first"), await a_worker(fleet, "second")
    await taken(fleet, first)
    await expire(fleet, first)
    await fleet.do(Tables.beat, second, LEASE, [])
    entry = (await taken(fleet, second))[0]
    progress = {"task_id": entry.id, "in_turn": entry.turn, "done": 1, "more": 0.0, "finished": 1}
    said = await fleet.do(Tables.beat, second, LEASE, [{**progress, "now_is": "running", "run": entry.id, "why": ""}])
    assert said.alive
    now = await fleet.find(entry.id)
    assert (now.kills, now.iterations) == (0, 1)


async def test_a_name_belongs_to_one_process_while_its_lease_lasts(fleet: Fleet):
    await a_worker(fleet, "one")
    other = WorkerEntry(name="one", token="another")
    assert not await fleet.do(Tables.register, other, LEASE, dead=False)
    assert await fleet.do(Tables.register, other, LEASE, dead=True)


async def test_a_process_that_gave_its_tasks_up_queues_them_again_and_takes_none_before(fleet: Fleet):
    first, second = await fleet.submit([a_task(1), a_task(2)])
    worker = await a_worker(fleet)
    assert [entry.id for entry in await taken(fleet, worker)] == [first]
    anew = worker.model_copy(update={"token": "of its next lease"})
    assert await taken(fleet, anew) == [], "not before it is registered"
    assert await fleet.do(Tables.register, anew, LEASE, dead=True)
    assert ((await fleet.find(first)).state, (await fleet.find(first)).dangling) == ("queued", 1)
    assert await taken(fleet, worker) == [], "its earlier lease is over"
    assert [entry.id for entry in await taken(fleet, anew, 2)] == [first, second]


async def test_a_process_that_begins_anew_takes_no_name_from_another_and_counts_no_lost_worker(fleet: Fleet):
    task_id = (await fleet.submit([a_task(1)]))[0]
    worker = await a_worker(fleet)
    await taken(fleet, worker)
    anew = worker.model_copy(update={"token": "of its next lease"})
    assert not await fleet.do(Tables.register, anew, LEASE, dead=False, own="of an earlier one")
    assert await fleet.do(Tables.register, anew, LEASE, dead=False, own=worker.token)
    assert ((await fleet.find(task_id)).state, (await fleet.find(task_id)).kills) == ("queued", 0)
    await taken(fleet, anew)
    await fleet.do(Tables.leave, anew)
    assert ((await fleet.find(task_id)).state, (await fleet.find(task_id)).kills) == ("queued", 0)


async def test_control(fleet: Fleet):
    task_id = (await fleet.submit([a_task(1, name="login")]))[0]
    worker = await a_worker(fleet)
    await fleet.pause(task_id)
    assert (await fleet.find("login")).state == "paused"
    assert await taken(fleet, worker) == []
    await fleet.resume(task_id)
    entry = (await taken(fleet, worker))[0]
    await fleet.stop(task_id)
    assert (await fleet.do(Tables.beat, worker, LEASE, [])).wanted == {task_id: "stop"}
    await let_go(fleet, entry, worker, "stopped")
    assert ((await fleet.find(task_id)).state, (await fleet.find(task_id)).iterations) == ("stopped", 2)
    await fleet.retry(task_id)
    again = (await taken(fleet, worker))[0]
    assert again.run_id != entry.run_id
    assert again.workflow_id != entry.workflow_id


async def test_a_pause_that_was_taken_back_does_not_take_effect_later_and_a_stop_is_not_taken_back(fleet: Fleet):
    task_id = (await fleet.submit([a_task(1)]))[0]
    worker = await a_worker(fleet)
    entry = (await taken(fleet, worker))[0]
    await fleet.pause(task_id)
    await fleet.resume(task_id)
    assert await let_go(fleet, entry, worker, "paused") == "queued", "its worker has not heard of the resume"
    assert (await fleet.find(task_id)).state == "queued"
    await taken(fleet, worker)
    await fleet.stop(task_id)
    await fleet.resume(task_id)
    assert (await fleet.find(task_id)).wanted == "stop"


@pytest.mark.parametrize(("asked", "becomes"), [("pause", "paused"), ("stop", "stopped")])
async def test_what_the_user_asked_for_is_kept_by_a_worker_that_leaves_unaware_of_it(
    fleet: Fleet, asked: str, becomes: str
):
    task_id = (await fleet.submit([a_task(1)]))[0]
    worker = await a_worker(fleet)
    entry = (await taken(fleet, worker))[0]
    await getattr(fleet, asked)(task_id)
    assert await let_go(fleet, entry, worker, "queued") == becomes
    found = await fleet.find(task_id)
    assert (found.state, found.reason, bool(found.finished_at)) == (becomes, "you asked for it", asked == "stop")
    assert await taken(fleet, worker) == []


async def test_a_kill_is_forgiven_only_where_others_took_the_task_during_an_outage(fleet: Fleet):
    task_id = (await fleet.submit([a_task(1)]))[0]
    for name in ("one", "two"):
        worker = await a_worker(fleet, name)
        await taken(fleet, worker)
        if name == "one":
            await expire(fleet, worker)
            await fleet.do(Tables.beat, await a_worker(fleet, "other"), LEASE, [])
    assert (await fleet.find(task_id)).kills == 1
    anew = worker.model_copy(update={"token": "of its next lease"})  # pyright: ignore[reportPossiblyUnboundVariable]
    assert await fleet.do(Tables.register, anew, LEASE, dead=False, own="token of two", alive=[task_id])
    assert (await fleet.find(task_id)).kills == 1, "nobody took it from the worker two"


async def test_a_task_is_found_by_name_id_and_beginning(fleet: Fleet):
    task_id = (await fleet.submit([a_task(1, name="login")]))[0]
    assert {(await fleet.find(name)).id for name in ("login", task_id, task_id[:20])} == {task_id}
    with pytest.raises(UsageError, match="no task 'other'"):
        await fleet.find("other")


async def test_a_schedule_submits_once_each_time_it_is_due(fleet: Fleet):
    now = await fleet.do(Tables.now)
    due = await add_schedule(fleet, "nightly", "0 2 * * *", [a_task(1, name="a"), a_task(2, after=["a"])])
    assert now < due <= now + 86_400
    assert await submit_due(fleet) == []
    await fleet.do(Tables.schedule, "nightly", "0 2 * * *", now - 5, (await fleet.schedules())[0]["body"])
    assert len(await submit_due(fleet)) == 2
    assert await submit_due(fleet) == []
    assert {entry.name for entry in await fleet.entries()} == {"nightly.a.1", None}
    await remove_schedule(fleet, "nightly")
    with pytest.raises(UsageError, match="no schedule"):
        await remove_schedule(fleet, "nightly")


async def due_now(fleet: Fleet, name: str, *tasks: Task) -> None:
    await add_schedule(fleet, name, "0 2 * * *", list(tasks))
    body = next(each["body"] for each in await fleet.schedules() if each["name"] == name)
    await fleet.do(Tables.schedule, name, "0 2 * * *", await fleet.do(Tables.now) - 5, body)


async def test_two_schedules_may_have_tasks_of_one_name(fleet: Fleet):
    for name in ("one", "two"):
        await due_now(fleet, name, a_task(1, name="tidy"))
    assert len(await submit_due(fleet)) == 2
    assert {entry.name for entry in await fleet.entries()} == {"one.tidy.1", "two.tidy.1"}


async def test_the_tasks_of_a_schedule_with_a_long_name_keep_their_own(fleet: Fleet):
    await due_now(fleet, "s" * 80, a_task(1, name="frontend-a"), a_task(2, name="f" * 60))
    assert len(await submit_due(fleet)) == 2
    assert {(entry.name or "").split(".")[1] for entry in await fleet.entries()} == {"frontend-a", "f" * 60}
    with pytest.raises(UsageError, match="too long for a task of a schedule"):
        await add_schedule(fleet, "other", "0 2 * * *", [a_task(1, name="f" * 61)])


async def test_a_schedule_that_cannot_be_submitted_says_so_stops_no_other_and_is_caught_up(fleet: Fleet):
    (open_one,) = await fleet.submit([a_task(7, name="one.tidy.1")])
    for name in ("one", "two"):
        await due_now(fleet, name, a_task(1, name="tidy"))
    said: list[str] = []
    assert len(await submit_due(fleet, said.append)) == 1
    assert len(said) == 1
    assert "The schedule one cannot be submitted yet: A task with the name 'one.tidy.1' has not ended yet." in said[0]
    await fleet.stop(open_one)
    assert len(await submit_due(fleet, said.append)) == 1, "as soon as it can be"
    assert await submit_due(fleet) == []
    await due_now(fleet, "one", a_task(1, name="tidy"))
    await submit_due(fleet)
    assert "one.tidy.2" in {entry.name for entry in await fleet.entries()}, "a replaced schedule counts on"


async def test_a_name_of_an_open_task_is_not_taken_by_a_retry(fleet: Fleet):
    (first,) = await fleet.submit([a_task(1, name="login")])
    await fleet.stop(first)
    await fleet.submit([a_task(2, name="login")])
    with pytest.raises(UsageError, match="'login' has not ended yet"):
        await fleet.retry(first)
    assert (await fleet.find(first)).state == "stopped"


async def test_a_worker_that_is_late_itself_takes_no_tasks_from_others(fleet: Fleet):
    """The database was away: no worker was lost."""
    (task_id,) = await fleet.submit([a_task(1)])
    one, two = await a_worker(fleet, "one"), await a_worker(fleet, "two")
    await taken(fleet, one)
    for worker in (one, two):
        await expire(fleet, worker)
    assert (await fleet.do(Tables.beat, two, LEASE, [])).taken == ()
    assert (await fleet.do(Tables.beat, one, LEASE, [])).alive
    await expire(fleet, one)
    assert (await fleet.do(Tables.beat, two, LEASE, [])).taken == (task_id,), "of one that does not come back"


async def test_a_worker_that_comes_back_alive_counts_as_lost_no_longer(fleet: Fleet):
    (task_id,) = await fleet.submit([a_task(1)])
    one, two = await a_worker(fleet, "one"), await a_worker(fleet, "two")
    await taken(fleet, one)
    await expire(fleet, one)
    assert (await fleet.do(Tables.beat, two, LEASE, [])).taken == (task_id,)
    assert (await fleet.find(task_id)).kills == 1
    anew = one.model_copy(update={"token": "of its next lease"})
    assert await fleet.do(Tables.register, anew, LEASE, dead=False, own=one.token, alive=[task_id])
    assert (await fleet.find(task_id)).kills == 0


async def test_the_iterations_of_a_worker_that_has_just_ended_count_for_the_last_minute(fleet: Fleet):
    worker = await a_worker(fleet)
    await fleet.do(Tables.leave, worker.model_copy(update={"rate": 3, "state": "stopped"}))
    status = await fleet.status()
    assert (status.throughput, status.workers[0].state) == (3, "stopped")


async def test_what_is_to_stop_is_not_paused_instead(fleet: Fleet):
    (task_id,) = await fleet.submit([a_task(1)])
    worker = await a_worker(fleet)
    await taken(fleet, worker)
    await fleet.stop(task_id)
    await fleet.pause(task_id)
    assert (await fleet.do(Tables.beat, worker, LEASE, [])).wanted == {task_id: "stop"}


@pytest.mark.parametrize("cron", ["", "often", "61 * * * *", "* * * * * *"])
def test_a_wrong_schedule_is_named(cron: str):
    with pytest.raises(UsageError, match="is not a schedule"):
        next_time(cron, 0.0)


def test_a_schedule_is_in_utc():
    assert next_time("30 2 * * *", 0.0) == 2.5 * 3600

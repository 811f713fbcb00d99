"""How many tasks a worker takes, and what it does when it hears of the fleet."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from ralph.fleet import Fleet, Task, WorkerEntry
from ralph.fleet.records import Beat, Entry, FleetLimits
from ralph.fleet.tables import Tables
from ralph.fleet.turn import Setting, Turn
from ralph.fleet.worker import Worker
from ralph.records.record import RunRecord


@pytest.mark.parametrize(("running", "delivering", "asked"), [(0, 0, 3), (1, 2, 2), (0, 3, 3), (1, 4, 1), (0, 6, None)])
async def test_results_that_are_delivered_take_slots_if_there_are_more_of_them_than_slots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: int, delivering: int, asked: int | None
) -> None:
    free: list[int] = []

    async def do(_: object, __: object, count: int) -> list[Entry]:
        free.append(count)
        return []

    worker = cast("Any", Worker(str(tmp_path / "ralph.db"), slots=3))
    monkeypatch.setattr(worker, "_fleet", type("Asked", (), {"do": staticmethod(do)}))
    for number in range(running + delivering):
        turn = worker._turns[f"t{number}"] = Turn(Entry(id=f"t{number}"), cast("Setting", None))
        if number >= running:
            turn.ended = RunRecord(id="r", task="t", started_at=datetime.now(UTC))
    assert not await worker._take()
    assert free == [asked] * (asked is not None)


async def test_a_turn_that_waits_for_a_limit_is_woken_when_that_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []

    async def do(*_: object) -> Beat:
        return Beat(alive=True, wanted={}, taken=(), limits=FleetLimits(calls_per_minute=9))

    async def wake(workflow_id: str) -> None:
        woken.append(workflow_id)

    worker = cast("Any", Worker(str(tmp_path / "ralph.db")))
    monkeypatch.setattr(worker, "_fleet", type("Told", (), {"do": staticmethod(do)}))
    monkeypatch.setattr(worker._engine, "wake", wake)
    for name in ("waits", "works"):
        turn = worker._turns[name] = Turn(Entry(id=name), cast("Setting", None))
        turn.waiting, turn.stepping = name == "waits", True
    await worker._beat_once()
    await worker._beat_once()
    assert woken == [worker._turns["waits"].entry.workflow_id]


@pytest.mark.parametrize(
    ("others", "ends"), [((), True), (("linux",), True), (("gpu", "linux"), False)], ids=["alone", "without", "with"]
)
async def test_a_worker_that_works_until_the_queue_is_empty_leaves_what_no_worker_has_the_labels_for(
    tmp_path: Path, others: tuple[str, ...], ends: bool
) -> None:
    url = str(tmp_path / "ralph.db")
    worker = cast("Any", Worker(url, until_empty=True))
    async with Fleet(url) as fleet:
        await fleet.submit([Task(name="render", task="Render it.", folder=tmp_path, labels=("gpu",))])
        if others:
            await fleet.do(Tables.register, WorkerEntry(name="other", token="t", labels=others), 60.0, dead=False)
        worker._fleet = fleet
        assert await worker._is_empty() is ends
    assert worker.failed == (["render"] if ends else [])

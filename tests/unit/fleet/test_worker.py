"""How many tasks a worker takes."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from ralph.fleet.records import Entry
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

"""What a worker tells the fleet of a run that it has."""

from pathlib import Path
from typing import cast

import pytest

from ralph.fleet import Fleet, Task, WorkerEntry
from ralph.fleet.tables import Tables
from ralph.fleet.turn import Setting, Turn

LEASE = 60.0


async def test_what_a_lost_worker_told_is_not_counted_again_while_the_next_one_prepares_the_place(tmp_path: Path):
    async with Fleet(str(tmp_path / "ralph.db")) as fleet:
        await fleet.submit([Task(task="Do it.", folder=Path("/srv/a"))])
        one = WorkerEntry(name="one", token="one", slots=1)
        await fleet.do(Tables.register, one, LEASE, dead=False)
        entry = (await fleet.do(Tables.claim, one, 1))[0]
        told = Turn(entry, cast("Setting", None)).progress() | {"done": 3, "finished": 3, "more": 0.25}
        await fleet.do(Tables.beat, one, LEASE, [told])
        await fleet.do(Tables.register, one, LEASE, dead=True)  # the same name again: its process was lost
        entry = (await fleet.do(Tables.claim, one, 1))[0]
        assert (entry.iterations, entry.cost, entry.kills) == (3, 0.25, 1)

        turn = Turn(entry, cast("Setting", None))
        for _ in range(2):
            told = turn.progress()
            await fleet.do(Tables.beat, one, LEASE, [told])
            turn.was_told(told)
        status = await fleet.do(Tables.status)
        kept = await fleet.find(entry.id)
    assert (status.iterations, status.cost) == (3, pytest.approx(0.25))
    assert (kept.iterations, kept.cost, kept.kills) == (3, 0.25, 1), "nothing is finished that forgives the lost worker"

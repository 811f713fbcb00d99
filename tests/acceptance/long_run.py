"""A store with a run of 10,000 iterations, made in seconds: what only has to be there before something is measured."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph.decision.outcomes import Continue
from ralph.records.events import Event, IterationStarted, MessageReceived, RunStarted
from ralph.records.record import IterationRecord, RunRecord, as_json
from ralph.store import open_store
from ralph.types.output import Answered, Changes, Usage

MANY = 10_000
NOW = datetime(2026, 11, 21, 2, 30, tzinfo=UTC)


async def long_run(path: Path) -> RunRecord:
    """Make a store with a run of 10,000 iterations, each with six events."""
    run = RunRecord(id="long-run", task="Work through the night.", started_at=NOW, pid=0)
    events: list[Event] = [RunStarted(run_id=run.id, seq=1, at=NOW, task=run.task, max_iterations=MANY + 1)]
    for number in range(1, MANY + 1):
        at, seq = NOW + timedelta(seconds=number), len(events) + 1
        said = [
            MessageReceived(run_id=run.id, seq=seq + 1 + part, at=at, iteration=number, text=f"Step {part} " * 40)
            for part in range(5)
        ]
        events += [IterationStarted(run_id=run.id, seq=seq, at=at, iteration=number), *said]
    record = IterationRecord(
        run_id=run.id,
        number=1,
        started_at=NOW,
        finished_at=NOW,
        text="Worked on one more part. " * 40,
        executor="copilot",
        outcome=Answered(),
        usage=Usage(input_tokens=9_000, output_tokens=400, cost=0.02),
        duration=31.0,
        changes=Changes(files=("parser.py",), files_changed=1, fingerprint="f"),
        decision=Continue(),
    )
    ended = run.model_copy(
        update={"state": "finished", "stop_reason": "limit_reached", "iterations": MANY, "finished_at": NOW}
    )
    async with open_store(str(path)) as store:
        await store.create(ended, events)
    rows = (
        (run.id, number, as_json(record.model_copy(update={"number": number})), None) for number in range(1, MANY + 1)
    )
    with sqlite3.connect(path) as connection:
        connection.executemany("INSERT INTO iterations VALUES (?, ?, ?, ?)", rows)
    connection.close()
    return ended

"""The tables of a fleet, beside those of the runs in the same database.

Times are seconds since 1970 by the database's clock. A task's own text is JSON in `body`; what is searched, counted or
changed has a column.
"""

from typing import Any

from sqlalchemy import Column, Connection, Double, Index, Integer, MetaData, Table, Text

from ralph.store import Migration

_METADATA = MetaData()
_Name = Text().with_variant(Text(collation="C"), "postgresql")


def _text(name: str, **more: Any) -> Column[str]:
    return Column(name, _Name, nullable=False, server_default="", **more)


def _number(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default="0")


def _seconds(name: str) -> Column[float]:
    return Column(name, Double[float](), nullable=False, server_default="0")


tasks = Table(
    "fleet_tasks",
    _METADATA,
    Column("id", _Name, primary_key=True),
    _number("seq"),
    Column("name", _Name, index=True),
    _number("version"),
    _text("state"),
    _text("wanted"),
    _number("priority"),
    _text("place"),
    _text("labels"),
    _number("blocked"),
    _seconds("not_before"),
    _text("worker"),
    _text("run_id"),
    _number("turn"),
    _number("dangling"),
    _number("kills"),
    _number("iterations"),
    _seconds("cost"),
    _text("reason"),
    _seconds("submitted_at"),
    _seconds("started_at"),
    _seconds("finished_at"),
    Column("body", Text, nullable=False),
    Index("fleet_tasks_queue", "state", "blocked", "priority", "seq"),
    Index("fleet_tasks_workers", "worker", "state"),
    Index("fleet_tasks_runs", "run_id"),
)
"""One row for each task.

`turn` counts the engine's workflows of the task; with `dangling`, the last one has not ended. `blocked` is the number
of tasks that must be completed first, `wanted` is "pause", "stop" or empty, and `kills` counts the workers that ended
while the task ran on them, since its last iteration.
"""

needs = Table(
    "fleet_needs",
    _METADATA,
    Column("task_id", _Name, primary_key=True),
    Column("needed_id", _Name, primary_key=True),
    Index("fleet_needs_needed", "needed_id"),
)

workers = Table(
    "fleet_workers",
    _METADATA,
    Column("name", _Name, primary_key=True),
    _text("token"),
    _seconds("until"),
    _seconds("started_at"),
    _seconds("seen_at"),
    _text("state"),
    _number("slots"),
    _number("iterations"),
    Column("body", Text, nullable=False),
)
"""One row for each name of a worker. The token is that of its process, empty once its lease has run out."""

settings = Table(
    "fleet_settings", _METADATA, Column("name", _Name, primary_key=True), Column("body", Text, nullable=False)
)
"""The limits of the fleet, in one row, which is locked while tasks are handed out."""

calls = Table("fleet_calls", _METADATA, Column("id", Integer, primary_key=True), _seconds("at"))
"""Calls of agents within the last hour, while a limit on them is set."""

costs = Table(
    "fleet_costs", _METADATA, Column("month", _Name, primary_key=True), _seconds("cost"), _number("iterations")
)

schedules = Table(
    "fleet_schedules",
    _METADATA,
    Column("name", _Name, primary_key=True),
    Column("cron", Text, nullable=False),
    _seconds("due"),
    _number("count"),
    Column("body", Text, nullable=False),
)


saved = Table("fleet_saved", _METADATA, Column("run_id", _Name, primary_key=True), _number("iteration"), _text("tip"))
"""The commit with the files of a run's last iteration, stored before that iteration is."""


def _create(connection: Connection) -> None:
    _METADATA.create_all(connection, tables=[tasks, needs, workers, settings, calls, costs, schedules])
    connection.execute(settings.insert().values(name="limits", body="{}"))


MIGRATION = Migration("Ralph's fleet", "fleet_version", (_create, saved.create), guest=True)

"""The fleet on the dashboard, in the terminal app and as metrics."""

from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup
from sqlalchemy import update

from ralph.fleet import Fleet, FleetLimits, Task, schema
from ralph.fleet.metrics import FleetMetrics
from ralph.fleet.records import Entry, FleetStatus, WorkerEntry
from ralph.fleet.screen import figures
from ralph.fleet.tables import Tables
from ralph.fleet.view import FleetReader, FleetView, fleet_page, has_fleet
from ralph.store import MemoryStore, open_store
from ralph.watch.web import PageRequest

FLEET = FleetView(
    FleetStatus(
        at=100.0,
        tasks={"running": 3, "queued": 12},
        ready=10,
        workers=(
            WorkerEntry(name="one", slots=4, running=3, version="0.1.0", labels=("linux",), seen_at=99.6),
            WorkerEntry(name="<script>two", state="lost", slots=4, running=1, seen_at=10.0),
        ),
        throughput=17,
        cost=3.5,
        iterations=1234,
        limits=FleetLimits(cost_per_month=100.0),
        halted="3 tasks <run> at once",
    ),
    (
        Entry(id="t1", run_id="r1", state="running", worker="one", iterations=5, body='{"task": "Fix <b>it</b>."}'),
        Entry(id="t2", blocked=2, body='{"task": "Later."}', place="https://example.com/x.git"),
    ),
)


class Reading(FleetReader):
    def __init__(self, fleet: FleetView) -> None:
        super().__init__("memory:")
        self.fleet = fleet

    async def __call__(self) -> FleetView:
        return self.fleet


async def shown(read: FleetReader) -> str:
    async with MemoryStore() as store:
        return await fleet_page(read).show(PageRequest(store, {}))


async def test_the_page_shows_the_fleet_and_escapes_what_others_wrote() -> None:
    page = await shown(Reading(FLEET))
    assert isinstance(page, Markup)
    assert "<script>" not in page
    assert "Fix &lt;b&gt;it&lt;/b&gt;." in page
    assert "3 tasks &lt;run&gt; at once" in page
    assert 'data-refresh="/pages/fleet"' in page
    assert '<a href="/runs/r1">' in page
    for text in ("3 of 4", "$3.50", "of $100.00", "lost", "0.1.0", "waits for 2 others", "10 can start"):
        assert text in page, text


async def test_a_store_without_a_fleet_is_read_and_stays_without(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    assert "ralph fleet worker" in await shown(FleetReader(str(path)))
    assert not has_fleet(str(path))
    async with open_store(str(path)):
        pass
    reader = FleetReader(str(path))
    assert (await reader()).status.workers == ()
    assert not has_fleet(str(path))
    async with Fleet(str(path)) as fleet:
        await fleet.submit([task_for(tmp_path)])
    assert [each.task.task for each in (await reader()).tasks] == ["Do it."]
    await reader.aclose()


async def test_tasks_that_failed_are_listed_before_those_that_wait(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    async with Fleet(url) as fleet:
        await fleet.submit([Task(task="Waits.", folder=tmp_path), Task(name="broken", task="Fails.", folder=tmp_path)])

        def fail(tables: Tables) -> None:
            with tables.connection.begin():
                wanted = update(schema.tasks).where(schema.tasks.c.name == "broken")
                tables.connection.execute(wanted.values(state="failed", reason="no <executor>", finished_at=1.0))

        await fleet.do(fail)
    reader = FleetReader(url)
    assert [each.text for each in (await reader()).tasks] == ["Fails.", "Waits."]
    assert "no &lt;executor&gt;" in await shown(reader)
    await reader.aclose()


async def test_a_fleet_on_postgresql_is_read(postgres_url: str, tmp_path: Path) -> None:
    assert not has_fleet(postgres_url)
    async with Fleet(postgres_url) as fleet:
        await fleet.submit([task_for(tmp_path)])
    reader = FleetReader(postgres_url)
    assert (await reader()).status.tasks == {"queued": 1}
    await reader.aclose()


def task_for(folder: Path) -> Task:
    return Task(task="Do it.", folder=folder)


def test_the_figures_are_one_line() -> None:
    said = figures(FLEET)
    assert said.startswith("no task starts: 3 tasks <run> at once · 1/2 workers · 3/4 slots · 3 running · 12 queued")
    assert said.endswith("17 iterations/min · $3.50 of $100.00 this month")


def test_metrics_are_what_was_seen_last(monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(metrics, "get_meter", provider.get_meter)
    sent = FleetMetrics()
    sent.look(FLEET.status)
    data: Any = reader.get_metrics_data()
    found = {
        (metric.name, *point.attributes.values()): point.value
        for scope in data.resource_metrics[0].scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }
    assert found == {
        ("ralph.fleet.tasks", "running"): 3,
        ("ralph.fleet.tasks", "queued"): 12,
        ("ralph.fleet.workers", "working"): 1,
        ("ralph.fleet.workers", "draining"): 0,
        ("ralph.fleet.workers", "lost"): 1,
        ("ralph.fleet.slots", "busy"): 3,
        ("ralph.fleet.slots", "free"): 1,
        ("ralph.fleet.throughput",): 17,
        ("ralph.fleet.cost",): 3.5,
    }
    provider.shutdown()

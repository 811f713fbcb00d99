"""The fleet on the dashboard, in the terminal app and as metrics."""

from typing import Any

import pytest
from markupsafe import Markup

from ralph.fleet.metrics import FleetMetrics
from ralph.fleet.screen import figures
from ralph.fleet.view import FleetView, TaskView, WorkerView, fleet_page
from ralph.store import MemoryStore
from ralph.watch.web import PageRequest

FLEET = FleetView(
    workers=(
        WorkerView(name="one", slots=4, busy=3, version="0.1.0", labels=("linux",), seen=0.4),
        WorkerView(name="<script>two", state="lost", slots=4, busy=1, seen=90.0),
    ),
    counts={"running": 3, "queued": 12},
    hour=17,
    cost=3.5,
    budget=100.0,
    tasks=(TaskView(id="r1", task="Fix <b>it</b>.", state="running", worker="one", attempt=2, iterations=5),),
)


async def read() -> FleetView:
    return FLEET


async def test_the_page_shows_the_fleet_and_escapes_what_others_wrote() -> None:
    page = fleet_page(read)
    async with MemoryStore() as store:
        shown = await page.show(PageRequest(store, {}))
    assert isinstance(shown, Markup)
    assert "<script>" not in shown
    assert "Fix &lt;b&gt;it&lt;/b&gt;." in shown
    assert 'data-refresh="/pages/fleet"' in shown
    assert '<a href="/runs/r1">' in shown
    for text in ("3 of 4", "$3.50", "of $100.00", "lost", "0.1.0"):
        assert text in shown, text


async def test_an_empty_fleet_says_what_to_do() -> None:
    async def nothing() -> FleetView:
        return FleetView(paused=True)

    async with MemoryStore() as store:
        shown = await fleet_page(nothing).show(PageRequest(store, {}))
    assert "ralph fleet worker" in shown
    assert "ralph fleet resume" in shown


def test_the_figures_are_one_line() -> None:
    said = figures(FLEET)
    assert said.startswith("1/2 workers · 3/4 slots · 3 running · 12 queued · 17 ended in the last hour")
    assert said.endswith("$3.50 of $100.00 this month")


def test_metrics_are_what_was_seen_last(monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(metrics, "get_meter", provider.get_meter)
    sent = FleetMetrics()
    sent.look(FLEET)
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
        ("ralph.fleet.workers", "alive"): 1,
        ("ralph.fleet.workers", "draining"): 0,
        ("ralph.fleet.workers", "lost"): 1,
        ("ralph.fleet.slots", "busy"): 3,
        ("ralph.fleet.slots", "free"): 1,
        ("ralph.fleet.throughput",): 17,
        ("ralph.fleet.cost",): 3.5,
    }
    provider.shutdown()

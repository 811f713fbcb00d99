"""The fleet's metrics for OpenTelemetry: they are read when they are exported, from the last look at the fleet."""

from collections.abc import Iterable
from typing import Any

from ralph.fleet.records import FleetStatus
from ralph.fleet.view import FleetView


class FleetMetrics:
    """Gauges of the whole fleet, which each worker sends; all have the same values, so a dashboard takes the greatest.

    Does nothing without OpenTelemetry's SDK. `look` is to be called now and then with the fleet as it is.
    """

    def __init__(self) -> None:
        from opentelemetry import metrics

        self._fleet = FleetView()
        meter = metrics.get_meter("ralph.fleet")
        gauges: dict[str, tuple[Any, str, str]] = {
            "ralph.fleet.tasks": (self._tasks, "{task}", "Tasks by state."),
            "ralph.fleet.workers": (self._workers, "{worker}", "Workers by state."),
            "ralph.fleet.slots": (self._slots, "{slot}", "Slots of workers that are alive, by use."),
            "ralph.fleet.throughput": (self._throughput, "{iteration}", "Iterations in the last minute."),
            "ralph.fleet.cost": (self._cost, "{USD}", "Cost of this month's runs."),
        }
        for name, (read, unit, about) in gauges.items():
            meter.create_observable_gauge(name, [read], unit=unit, description=about)

    def look(self, status: FleetStatus) -> None:
        """Take the fleet's present state for the next export."""
        self._fleet = FleetView(status)

    def _tasks(self, options: object) -> Iterable[Any]:
        return _by("ralph.task.state", self._fleet.status.tasks)

    def _workers(self, options: object) -> Iterable[Any]:
        states = [worker.state for worker in self._fleet.status.workers]
        return _by("ralph.worker.state", {state: states.count(state) for state in ("working", "draining", "lost")})

    def _slots(self, options: object) -> Iterable[Any]:
        fleet = self._fleet
        return _by("ralph.slot.state", {"busy": fleet.busy, "free": fleet.slots - fleet.busy})

    def _throughput(self, options: object) -> Iterable[Any]:
        return _by("", {"": self._fleet.status.throughput})

    def _cost(self, options: object) -> Iterable[Any]:
        return _by("", {"": self._fleet.status.cost})


def _by(attribute: str, values: dict[str, Any]) -> Iterable[Any]:
    from opentelemetry.metrics import Observation

    return [Observation(value, {attribute: key} if attribute else {}) for key, value in values.items()]

"""Functions of plug-ins get the fleet's deliveries; one that fails stops no other."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ralph import RunRecord
from ralph.plugins import Delivery, Plugins, hookimpl
from ralph.plugins.isolation import announce

RECORD = RunRecord(id="r1", task="Do it.", started_at=datetime(2026, 11, 21, tzinfo=UTC))


def test_each_function_gets_the_delivery() -> None:
    seen: list[Any] = []

    class Failing:
        @hookimpl
        def ralph_deliveries(self) -> Iterator[Any]:
            def fail(delivery: Delivery, record: RunRecord) -> None:
                raise RuntimeError("no network")

            yield fail
            yield "not a function"

    class Working:
        @hookimpl
        def ralph_deliveries(self) -> Iterator[Any]:
            yield lambda delivery, record: seen.append((delivery, record))  # pyright: ignore[reportUnknownLambdaType]

    plugins = Plugins.of([Failing(), Working()])
    made = Delivery("pushed", "ralph/r1", "c1", "https://example.com/x")
    (problem,) = announce(plugins.offers("ralph_deliveries"), made, RECORD)
    assert "no network" in problem
    assert seen == [(made, RECORD)]
    assert any("not a function of a delivery and a record" in each for each in plugins.problems)

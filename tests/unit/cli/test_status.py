"""`ralph status`: the runs that have not ended, here and elsewhere."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.records.record import RunRecord
from ralph.store import open_store


@pytest.fixture
def runs(workspace: Path, tmp_path: Path) -> None:
    """A run that this process has in the folder, one in another, one that has crashed, and one that has ended."""

    async def create() -> None:
        common: dict[str, Any] = {"task": "Fix the parser.", "started_at": datetime.now(UTC), "pid": os.getpid()}
        async with open_store() as store:
            cases: list[tuple[str, Path, dict[str, Any]]] = [
                ("elsewhere", tmp_path, {"state": "paused"}),
                ("here", workspace, {"state": "running"}),
                ("crashed", workspace, {"state": "running", "pid": 0}),
                (
                    "ended",
                    workspace,
                    {"state": "finished", "stop_reason": "completed", "finished_at": datetime.now(UTC)},
                ),
            ]
            for name, place, more in cases:
                await store.create(RunRecord(id=name, workspace=str(place), **{**common, **more}))

    anyio.run(create)


def test_nothing_runs(ralph: Callable[..., Any]) -> None:
    assert ralph("status").out == "Nothing runs now. `ralph runs` lists what ran.\n"
    assert json.loads(ralph("status", "--json").out) == []


@pytest.mark.usefixtures("runs")
def test_runs_of_this_folder_come_first(ralph: Callable[..., Any], tmp_path: Path) -> None:
    found = json.loads(ralph("status", "--json").out)
    assert {(each["id"], each["state"], each["here"]) for each in found} == {
        ("here", "running", True),
        ("crashed", "crashed", True),
        ("elsewhere", "paused", False),
    }
    assert [each["here"] for each in found] == [True, True, False]
    shown = ralph("status").out
    assert "this folder" in shown
    assert str(tmp_path) in shown
    assert "`ralph resume RUN` continues it" in shown
    assert "ended" not in shown

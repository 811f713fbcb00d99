"""`ralph demo`: the main job, as a newcomer sees it first."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(90)


def test_the_demo_ends_verified_with_both_executors_and_what_it_shows_happens(ralph: Callable[..., Any]) -> None:
    ran = ralph("demo", "--display", "json")
    assert ran.code == 0, ran.stderr
    assert ran.end["stop_reason"] == "completed"
    assert ran.end["verified"] is True
    assert ran.end["iterations"] >= 3
    assert ran.end["executors"] == {"copilot-sdk": 2, "copilot-cli": 1}
    finished = {event["iteration"]: event for event in ran.of("iteration_finished")}
    assert finished[1]["changes"]["files"] == ["@fix_plan.md", "stats.py"]
    assert finished[2]["outcome"]["status"] == 403
    assert finished[3]["decision"]["reason"] == "a claim of completion was refuted"
    assert [event["passed"] for event in ran.of("verification_finished")] == [False, False, True]
    assert [event["after"] for event in ran.of("executor_fell_back")] == ["copilot-sdk", "copilot-cli"]
    assert {event["attempt"]["outcome"]["failure"] for event in ran.of("executor_fell_back")} == {"crashed"}


@pytest.mark.long
def test_the_demo_tells_its_story_and_can_be_looked_at_afterwards(ralph: Callable[..., Any], tmp_path: Path) -> None:
    ran = ralph("demo", "--display", "plain", "--keep")
    assert ran.code == 0, ran.stderr
    assert "refused (HTTP 403)" in ran.stdout
    assert "were killed" in ran.stdout
    assert "complete, verified" in ran.stdout
    kept = Path(ran.stdout.rsplit("The repository is in ", 1)[1].strip())
    assert "sum(values) / len(values)" in (kept / "stats.py").read_text()
    run_id = ran.stdout.split("ralph show ", 1)[1].split()[0]
    shown = ralph("show", run_id)
    assert shown.code == 0, shown.stderr
    assert "Completed, verified" in shown.stdout

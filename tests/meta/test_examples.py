"""Each example runs and does what it says."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from ralph import Failed, Prompt, Turn

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
LONG = {"asyncio_service", "local_plugin", "subclassed_copilot"}
"""Each starts many programs, and its `main` has a test of its own below."""


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def load(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=pytest.mark.long if path.stem in LONG else ()) for path in PROGRAMS],
)
def test_example_runs_as_a_program(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if path.stem == "subclassed_copilot":
        request.getfixturevalue("copilot_cli")
    monkeypatch.setattr("sys.argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    said = "careless: " if path.stem == "score_answers" else "completed"
    assert said in capsys.readouterr().out.lower()


def test_an_example_says_how_it_is_run() -> None:
    unsaid = [path.name for path in PROGRAMS if f"`uv run python examples/{path.name}" not in path.read_text("utf-8")]
    assert unsaid == []


async def test_minimal_run_is_refuted_once_and_then_verified(tmp_path: Path) -> None:
    record = await load("minimal_run")["main"](tmp_path)
    assert (record.stop_reason, record.iterations, record.verified) == ("completed", 2, True)


async def test_custom_executor_answers_and_fails_as_data() -> None:
    example = load("custom_executor")
    record = await example["main"]("false")
    assert record.stop_reason == "circuit_open"
    assert record.detail.startswith("3 iterations without progress; the last turn failed: crashed")


async def test_a_fourth_agent_works_and_says_what_it_used_and_why_it_failed(tmp_path: Path) -> None:
    example = load("fourth_agent")
    record = await example["main"](tmp_path)
    assert (record.stop_reason, record.executors) == ("completed", {"sparrow": record.iterations})
    assert (tmp_path / "poem.txt").exists()
    assert (record.usage.tokens or 0) > 20
    failing = example["SparrowExecutor"](sys.executable, "-c", example["STAND_IN"], "fail")
    output = await failing.execute(Prompt(text="Work.", task="Work."), Turn(workspace=tmp_path))
    assert output.outcome == Failed(
        failure="rate_limited", status=429, message="Too many requests, try again in 20 s", retry_after=20
    )


# covers: S4-56, S4-59
async def test_extra_field_is_asked_for_and_typed(tmp_path: Path) -> None:
    record, board, prompt = await load("extra_fields")["main"](tmp_path)
    assert "TESTS_PASSING: 12" in prompt
    assert board.passing == [3, 5]
    assert (record.stop_reason, record.detail) == ("completed", "the reply says so: ready for the harbour")


async def test_custom_detector_speaks_against_the_first_claim(tmp_path: Path) -> None:
    record = await load("custom_detector")["main"](tmp_path)
    assert (record.stop_reason, record.iterations) == ("completed", 2)


async def test_custom_verifier_tells_the_agent_what_is_left(tmp_path: Path) -> None:
    record, asked = await load("custom_verifier")["main"](tmp_path)
    assert (record.stop_reason, record.iterations, record.verified) == ("completed", 2, True)
    assert "There is still something to do in chapter.txt." in asked


async def test_plugin_analyzer_holds_back_what_names_no_file(tmp_path: Path) -> None:
    record, found = await load("plugin_analyzer")["main"](tmp_path)
    assert (record.stop_reason, record.iterations) == ("completed", 2)
    assert [each.opinion.on_completion for each in found] == ["holds_back", ""]
    assert found[1].model_dump()["files"] == ["shop.py"]


async def test_observer_keeps_a_diary_and_vetoes_once(tmp_path: Path) -> None:
    record, lines = await load("observer")["main"](tmp_path)
    assert (record.stop_reason, record.iterations) == ("completed", 2)
    assert [line.split(": ")[1] for line in lines] == ["continue", "complete", "completed"]


def test_local_plugin_brings_an_executor_a_keyword_and_a_part_of_the_prompt(tmp_path: Path) -> None:
    shown = load("local_plugin")["main"](tmp_path)
    assert "fit to be sung" in shown
    assert (tmp_path / "poem.txt").read_text().count("\n") == 3


async def test_asyncio_service_does_every_job(tmp_path: Path) -> None:
    records = await load("asyncio_service")["main"](tmp_path)
    assert sorted(record.task for record in records) == [f"Answer question {number}." for number in range(1, 5)]
    assert {record.stop_reason for record in records} == {"completed"}


async def test_replay_says_what_less_patience_would_have_cut(tmp_path: Path) -> None:
    run, replayed = await load("replay_run")["main"](tmp_path)
    assert (run.stop_reason, run.iterations) == ("completed", 4)
    assert (replayed.stop_reason, replayed.stopped_at, replayed.saved, replayed.cut) == ("circuit_open", 1, 2, 1)


async def test_subclassed_copilot_is_the_real_one_with_other_options(tmp_path: Path, copilot_cli: Path) -> None:
    example = load("subclassed_copilot")
    turn = Turn(workspace=tmp_path)
    executor = example["HouseCopilot"](copilot_cli, model="m")
    assert executor.command(Prompt(text="Work.", task="Work."), turn)[-1] == "--no-custom-instructions"
    assert executor.environment(turn)["PAGER"] == "cat"
    record = await example["main"](tmp_path, copilot_cli)
    assert (record.stop_reason, record.executors) == ("completed", {"copilot-cli": 1})


async def test_answers_are_scored_and_what_is_wrong_is_named() -> None:
    found = await load("score_answers")["main"]()
    assert found["careful"].scores.combined > 80 > found["careless"].scores.combined
    assert found["careful"].feedback.claims.contradicts == ()
    assert [wrong.claim for wrong in found["careless"].feedback.claims.contradicts] == ["A ticket costs 12 euros."]


async def test_a_faq_is_held_back_until_it_makes_every_claim(tmp_path: Path) -> None:
    record, asked = await load("verify_a_faq")["main"](tmp_path)
    assert (record.stop_reason, record.iterations, record.verified) == ("completed", 2, True)
    assert "missing: A ticket costs 12 euros." in asked

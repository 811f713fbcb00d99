"""Each example runs and does what it says."""

import runpy
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def load(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_runs_as_a_program(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert "completed" in capsys.readouterr().out


async def test_minimal_run_is_refuted_once_and_then_verified(tmp_path: Path) -> None:
    record = await load("minimal_run")["main"](tmp_path)
    assert (record.stop_reason, record.iterations, record.verified) == ("completed", 2, True)


async def test_custom_executor_answers_and_fails_as_data() -> None:
    example = load("custom_executor")
    record = await example["main"]("false")
    assert (record.stop_reason, record.detail) == ("circuit_open", "3 iterations without progress")


# covers: S4-56, S4-59
async def test_extra_field_is_asked_for_and_typed(tmp_path: Path) -> None:
    record, board, prompt = await load("extra_fields")["main"](tmp_path)
    assert "TESTS_PASSING: 12" in prompt
    assert board.passing == [3, 5]
    assert (record.stop_reason, record.detail) == ("completed", "the reply says so: ready for the harbour")

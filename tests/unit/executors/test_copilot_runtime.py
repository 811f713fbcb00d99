"""What can be said of the runtime's life without one; the rest is tested against the real one."""

import re
from pathlib import Path

import pytest

from ralph.errors import ExecutorUnavailableError
from ralph.executors.copilot import runtime as copilot_runtime
from ralph.executors.copilot.runtime import CopilotRuntime

LIMITED = (
    '2026-11-21T02:00:36.547Z [WARNING] [rust:model_events::producer] Model provider request failed {"stage":'
    '"inference","api_endpoint":"/chat/completions","http_status":429,"failure_kind":"http_error"%s}\n'
)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log file of the runtime that is made next."""
    folder = tmp_path / "logs"
    folder.mkdir()

    class Here:
        name = str(folder)

        def __init__(self, _name: str) -> None: ...

        def cleanup(self) -> None: ...

    monkeypatch.setattr(copilot_runtime, "scratch_folder", Here)
    return folder / "process-1-2.log"


async def test_only_this_turns_rate_limit_is_read_from_the_log(log: Path) -> None:
    runtime = CopilotRuntime(Path("x"), {}, None)
    append(log, LIMITED % ',"retry_after_ms":2000')
    assert await runtime.retry_after() == 2.0
    runtime.new_turn()
    assert await runtime.retry_after() is None
    append(log, LIMITED % "")
    assert await runtime.retry_after() is None
    append(log, LIMITED % ',"retry_after_ms":90500')
    assert await runtime.retry_after() == 90.5


def append(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


@pytest.mark.parametrize("version", ["1.0.92", "1.0.102", "1.0.103-2"])
def test_versions_that_work(version: str) -> None:
    assert refused(version) == ""


@pytest.mark.parametrize("version", ["1.0.80", "0.9.9", "1.1.0", "2.0", "", "nonsense"])
def test_versions_that_do_not_are_named(version: str) -> None:
    assert re.search(rf"/x/copilot.*{re.escape(version)}.*1\.0\.92", refused(version))


def refused(version: str) -> str:
    """What is said of a version; empty where it works."""
    try:
        copilot_runtime._check_version(version, Path("/x/copilot"))
    except ExecutorUnavailableError as error:
        return str(error)
    return ""


async def test_one_that_was_never_started_can_be_stopped() -> None:
    runtime = CopilotRuntime(Path("x"), {}, None)
    assert not runtime.lives
    await runtime.stop()
    await runtime.stop()

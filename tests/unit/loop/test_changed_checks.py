"""A run that changes what its check depends on does not prove its work by that check."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.executors.base import Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.record import RunRecord
from ralph.store import MemoryStore
from ralph.testing import ScriptedExecutor, SeenEvents
from ralph.workspace import open_workspace

Act = Callable[[Path], object]


def block(signal: str) -> str:
    return f"---RALPH_STATUS---\nEXIT_SIGNAL: {signal}\nREASON: looked at it\n---END_RALPH_STATUS---"


class Night:
    """A run in a folder in which `check.sh` fails until `work.txt` says 42; the agent acts, then says it is done."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder, self.state = folder, state
        self.prompts: list[str] = []
        self.reviewed: list[str] = []
        self.seen = SeenEvents()

    def __call__(self, act: Act, verify: str, *, review: str = "true", **more: Any) -> RunRecord:
        def answer(prompt: Prompt, turn: Turn) -> str:
            if turn.read_only:
                self.reviewed.append(prompt.text)
                return block(review)
            self.prompts.append(prompt.text)
            act(self.folder)
            (self.folder / "turn.txt").write_text(f"{len(self.prompts)}\n")
            return block("true")

        async def whole() -> RunRecord:
            workspace = open_workspace(self.folder, state_dir=self.state)
            executor = ScriptedExecutor(then=answer)
            parts: dict[str, Any] = {"store": MemoryStore(), "hooks": [self.seen], **more}
            async with Runner(executor=executor, workspace=workspace, verify=verify, **parts) as runner:
                return await runner.run("Let work.txt say 42.")

        return anyio.run(whole)


@pytest.fixture
def night(tmp_path: Path) -> Night:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "check.sh").write_text("#!/bin/sh\ngrep -q 42 work.txt\n")
    (folder / "check.sh").chmod(0o755)
    (folder / "judge.py").write_text("import check\n")
    (folder / "Makefile").write_text("test:\n\t@grep -q 42 work.txt\n")
    return Night(folder, tmp_path / "state")


def cheat(folder: Path) -> None:
    (folder / "check.sh").write_text("#!/bin/sh\ntrue\n")
    (folder / "Makefile").write_text("test:\n\t@true\n")


def work(folder: Path) -> None:
    (folder / "work.txt").write_text("42\n")


def test_a_script_is_restored_before_it_runs_so_a_cheat_is_refuted(night: Night) -> None:
    tried: list[Path] = []

    def cheat_then_work(folder: Path) -> None:
        (work if tried else cheat)(folder)
        tried.append(folder)

    record = night(cheat_then_work, "./check.sh")
    assert (record.stop_reason, record.verified, record.iterations) == ("completed", True, 2)
    assert record.verified_by == "`./check.sh` failed before and passes now"
    assert night.seen.of("protected_restored")[0].paths == ("check.sh",)
    assert night.seen.of("protected_restored")[0].because == {"check.sh": "the check `./check.sh` runs"}
    assert night.reviewed == []
    assert "check.sh must stay as before: changes are undone" in night.prompts[0]


def test_a_changed_makefile_is_named_and_a_review_judges(night: Night) -> None:
    record = night(cheat, "make test")
    assert (record.stop_reason, record.verified) == ("completed", True)
    assert record.verified_by == (
        "`make test` failed before and passes now (the run changed what it depends on: `Makefile`); "
        "a fresh review confirmed"
    )
    assert "> Makefile" in night.reviewed[0]
    assert "Find out whether the checks still prove the work" in night.reviewed[0]


def test_the_review_of_a_changed_check_refutes_like_any_other(night: Night) -> None:
    from ralph.decision.limits import Limits

    record = night(cheat, "make test", review="false", limits=Limits(max_iterations=2))
    assert (record.stop_reason, record.verified) == ("limit_reached", False)
    assert len(night.reviewed) == 2


def test_without_protection_the_verdict_still_says_so(night: Night) -> None:
    record = night(cheat, "./check.sh", protect_checks="off")
    assert (record.stop_reason, record.verified, record.already_green) == ("completed", False, False)
    assert record.verified_by.endswith("(the run changed what it depends on: `check.sh`)")
    assert night.reviewed == []


def test_all_that_existed_is_restored_on_request(night: Night) -> None:
    from ralph.decision.limits import Limits

    record = night(cheat, "make test", protect_checks="on", limits=Limits(max_iterations=1))
    assert (record.stop_reason, record.verified) == ("limit_reached", False)
    assert night.seen.of("protected_restored")[0].paths == ("Makefile",)


def test_writing_tests_is_work_like_any_other(night: Night) -> None:
    """New tests are not the judge's files that were changed: the check counts, and no review is needed."""

    def write_tests(folder: Path) -> None:
        (folder / "tests").mkdir(exist_ok=True)
        (folder / "tests" / "test_it.py").write_text("def test_it():\n    assert True\n")

    record = night(write_tests, "python -m pytest -q -p no:cacheprovider tests")
    assert (record.stop_reason, record.verified) == ("completed", True)
    assert record.verified_by == "`python -m pytest -q -p no:cacheprovider tests` failed before and passes now"
    assert night.reviewed == []

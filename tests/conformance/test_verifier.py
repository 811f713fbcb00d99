"""Every verifier does what a verifier does."""

from pathlib import Path

import pytest

from ralph.executors.base import Turn
from ralph.prompt import Prompt
from ralph.testing import ScriptedExecutor, VerifierConformance
from ralph.verifiers import CommandVerifier, ReviewVerifier, Subject, Verifier


class Done(VerifierConformance):
    """The work is done where there is done.txt."""

    @pytest.fixture
    def holding(self, tmp_path: Path) -> Subject:
        (tmp_path / "done.txt").write_text("done")
        return Subject(tmp_path, task="Write done.txt", iteration=1)

    @pytest.fixture
    def failing(self, tmp_path_factory: pytest.TempPathFactory) -> Subject:
        return Subject(tmp_path_factory.mktemp("undone"), task="Write done.txt", iteration=1)


class TestCommand(Done):
    @pytest.fixture
    def verifier(self) -> Verifier:
        return CommandVerifier(["cat", "done.txt"])


class TestShell(Done):
    @pytest.fixture
    def verifier(self) -> Verifier:
        return CommandVerifier("cat done.txt > /dev/null && sleep 0.3")


class TestReview(Done):
    @pytest.fixture
    def verifier(self) -> Verifier:
        return ReviewVerifier(ScriptedExecutor(then=_reviewed), rounds=2)


def _reviewed(_prompt: Prompt, turn: Turn) -> str:
    there = (turn.workspace / "done.txt").exists()
    reason = "done.txt is there" if there else "done.txt is missing"
    return f"---RALPH_STATUS---\nEXIT_SIGNAL: {there}\nREASON: {reason}\n---END_RALPH_STATUS---"

"""The worktree of a run that was resumed, and whose it is."""

from datetime import UTC, datetime

import anyio
import pytest

from ralph.cli.worktree import end_resumed_worktree
from ralph.records.record import RunRecord
from ralph.testing import Repository
from ralph.workspace.worktree import make_worktree


@pytest.mark.parametrize("imported", [False, True])
def test_a_copy_of_a_run_leaves_the_worktree_to_the_original(
    repository: Repository, capfd: pytest.CaptureFixture[str], imported: bool
) -> None:
    made = anyio.run(make_worktree, repository.path, "run-1")
    record = RunRecord(
        id="run-1",
        task="task",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        workspace=str(made.path),
        origin=str(repository.path),
        onto="main",
        imported=imported,
    )
    end_resumed_worktree(record, "discard")
    assert made.path.exists() is imported
    assert ("are discarded" in capfd.readouterr().err) is not imported

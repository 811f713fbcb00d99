"""The observer that reports a run's progress and result on the issue with the run's task."""

import os
import re
import stat
import time
from pathlib import Path

import anyio.to_thread

from ralph import Hooks
from ralph.records.events import Event, IterationFinished, Paused, Resumed, RunFinished, RunStarted
from ralph_github.publisher import Publisher, Report
from ralph_github.reports import Run, mark, report, request
from ralph_github.settings import GitHubSettings
from ralph_github.task import IssueName

__all__ = ["Reporter", "branch_of"]

_HEAD = re.compile(r"ref: refs/heads/([^\s~^:?*\[\\\x00-\x1f\x7f]{1,200})")
_MOST_BYTES = 4_096


class Reporter(Hooks):
    """Observer that reports runs with a task from an issue, and ignores others. It can observe several runs at once."""

    def __init__(self, settings: GitHubSettings) -> None:
        self._settings = settings
        self._publisher = Publisher(settings)
        self._runs: dict[str, Run] = {}

    async def on_run_started(self, event: RunStarted) -> None:
        issue = IssueName.of_task(event.task)
        if issue is not None:
            run = self._runs[event.run_id] = Run(event.run_id, issue, event.workspace, event.resumed)
            self._report(run)

    async def on_iteration_finished(self, event: IterationFinished) -> None:
        if run := self._of(event):
            run.iterations, run.reason = event.iteration, event.decision.reason
            if time.monotonic() - run.reported_at >= self._settings.every:
                self._report(run)

    async def on_paused(self, event: Paused) -> None:
        if run := self._of(event):
            until = f" until {event.until:%Y-%m-%d %H:%M} UTC" if event.until else ""
            run.state, run.reason = f"Ralph is paused{until or ' until you resume it'}.", event.reason
            self._report(run)

    async def on_resumed(self, event: Resumed) -> None:
        if run := self._of(event):
            run.state = "Ralph is working on this again."
            self._report(run)

    async def on_run_finished(self, event: RunFinished) -> None:
        if run := self._runs.pop(event.run_id, None):
            run.ending = event
            self._report(run)
            await anyio.to_thread.run_sync(self._publisher.wait, time.monotonic() + self._settings.patience)

    def _of(self, event: Event) -> Run | None:
        """Return the event's run if it is reported; None for `seq` 0, which marks a problem of the store."""
        return self._runs.get(event.run_id) if event.seq else None

    def _report(self, run: Run) -> None:
        run.reported_at = time.monotonic()
        done = run.ending is not None and run.ending.stop_reason == "completed"
        wanted = done and self._settings.report == "pull-request"
        self._publisher.post(
            Report(
                run.id,
                run.issue,
                mark(run.id),
                report(run),
                run.resumed,
                head=branch_of(run.workspace) if wanted else None,
                request=request(run) if wanted else "",
                last=run.ending is not None,
            )
        )


def branch_of(workspace: str | None) -> str | None:
    """Return the branch that a workspace is on; None if it is on no branch or the branch cannot be determined.

    The files of git are read without running git, because the agent may have written what git would run.
    """
    if workspace is None:
        return None
    folder = Path(workspace)
    git = next((each / ".git" for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    if git is None:
        return None
    if not git.is_dir():  # in a worktree, .git is a file
        pointer = _read_start(git)
        if not pointer.startswith("gitdir: "):
            return None
        git = git.parent / pointer.removeprefix("gitdir: ")
    found = _HEAD.fullmatch(_read_start(git / "HEAD"))
    return found[1] if found else None


def _read_start(path: Path) -> str:
    """Return the start of a regular file; empty if none exists. Never waits, not even for a pipe."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return ""
        return os.read(opened, _MOST_BYTES).decode(errors="replace").strip()
    finally:
        os.close(opened)

"""The observer: tells on an issue how the run that works on it goes."""

import time

import anyio.to_thread

from ralph import Hooks
from ralph.records.events import Event, IterationFinished, Paused, Resumed, RunFinished, RunStarted
from ralph_github.branch import branch_of
from ralph_github.clerk import Clerk, Report
from ralph_github.reports import Run, mark, report, request
from ralph_github.settings import GitHubSettings
from ralph_github.task import IssueName

__all__ = ["Reporter"]


class Reporter(Hooks):
    """Reports runs whose task is from an issue, and leaves others alone. It may observe several at once."""

    def __init__(self, settings: GitHubSettings) -> None:
        self._settings = settings
        self._clerk = Clerk(settings)
        self._runs: dict[str, Run] = {}

    async def on_run_started(self, event: RunStarted) -> None:
        issue = IssueName.of_task(event.task)
        if issue is not None:
            run = self._runs[event.run_id] = Run(event.run_id, issue, event.workspace, event.resumed)
            self._tell(run)

    async def on_iteration_finished(self, event: IterationFinished) -> None:
        if run := self._of(event):
            run.iterations, run.said = event.iteration, event.decision.reason
            if time.monotonic() - run.told_at >= self._settings.every:
                self._tell(run)

    async def on_paused(self, event: Paused) -> None:
        if run := self._of(event):
            until = f" until {event.until:%Y-%m-%d %H:%M} UTC" if event.until else ""
            run.state, run.said = f"Ralph waits{until}.", event.reason
            self._tell(run)

    async def on_resumed(self, event: Resumed) -> None:
        if run := self._of(event):
            run.state = "Ralph is at work on this again."
            self._tell(run)

    async def on_run_finished(self, event: RunFinished) -> None:
        if run := self._runs.pop(event.run_id, None):
            run.ending = event
            self._tell(run)
            await anyio.to_thread.run_sync(self._clerk.wait, time.monotonic() + self._settings.patience)

    def _of(self, event: Event) -> Run | None:
        """The run that an event is of, if it is reported; `seq` 0 stands for the store's troubles, no news here."""
        return self._runs.get(event.run_id) if event.seq else None

    def _tell(self, run: Run) -> None:
        run.told_at = time.monotonic()
        done = run.ending is not None and run.ending.stop_reason == "completed"
        wanted = done and self._settings.report == "pull-request"
        self._clerk.post(
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

"""Who writes to GitHub: a thread of its own, so that no run waits for the network.

Of each run the latest report counts: one that a later one overtakes is not sent.
"""

import logging
import threading
import time
from typing import NamedTuple

from ralph.errors import UsageError
from ralph_github.api import GitHubApi
from ralph_github.settings import GitHubSettings
from ralph_github.task import IssueName
from ralph_github.text import code, line

__all__ = ["Clerk", "Report"]

_logger = logging.getLogger("ralph.github")


class Report(NamedTuple):
    """What is to stand on an issue about a run.

    Attributes:
        mark: what the comment begins with, by which it is found again.
        resumed: it may be there from before.
        head: the branch that a pull request is wanted for; None for none.
        request: its text.
        last: nothing follows.
    """

    run_id: str
    issue: IssueName
    mark: str
    text: str
    resumed: bool
    head: str | None = None
    request: str = ""
    last: bool = False


class Clerk:
    """Brings reports to GitHub, one after another. What fails is logged, without a secret, and not tried again."""

    def __init__(self, settings: GitHubSettings) -> None:
        self._settings = settings
        self._pending: dict[str, Report] = {}
        self._comments: dict[str, int] = {}
        self._unsure: set[str] = set()
        self._busy = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def post(self, report: Report) -> None:
        """Takes a report; returns at once."""
        with self._changed:
            self._pending[report.run_id] = report
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="ralph-github", daemon=True)
            self._thread.start()

    def wait(self, until: float) -> bool:
        """Waits until nothing is left to do, at most until a moment of the monotonic clock; whether it is so."""
        with self._changed:
            done = self._changed.wait_for(lambda: not self._pending and not self._busy, until - time.monotonic())
        if not done:
            _logger.warning("GitHub takes too long: the last report may be missing")
        return done

    def _work(self) -> None:
        api = GitHubApi(self._settings)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._pending))
                report = self._pending.pop(next(iter(self._pending)))
                self._busy = True
            try:
                self._send(api, report)
            except UsageError as error:
                _logger.warning("nothing was reported on %s: %s", report.issue, error)
            except Exception as error:  # noqa: BLE001 - a thread that ends would leave all further reports unsent
                _logger.warning("nothing was reported on %s: %s", report.issue, type(error).__name__)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _send(self, api: GitHubApi, report: Report) -> None:
        text = f"{report.text}\n- {_pulled(api, report)}" if report.head else report.text
        comment = self._comments.get(report.run_id)
        if comment is None and (report.resumed or report.run_id in self._unsure):
            comment = api.comment_with(report.issue, report.mark)
        if comment is None:
            self._unsure.add(report.run_id)  # it may be there although no answer came
            comment = api.comment(report.issue, text)
        else:
            api.edit(report.issue, comment, text)
        self._comments[report.run_id] = comment
        self._unsure.discard(report.run_id)
        if report.last:
            del self._comments[report.run_id]


def _pulled(api: GitHubApi, report: Report) -> str:
    """Opens the pull request that is wanted, and says what became of it."""
    head = report.head or ""
    shown = code(head, 200)
    try:
        if not api.has_branch(report.issue, head):
            return f"The work is on the branch {shown}, which is not on GitHub."
        base = api.default_branch(report.issue)
        if head == base:
            return f"The work is on {shown} itself, so there is no pull request."
        address = api.pull_request_of(report.issue, head)
        if address is None:
            title = f"{line(api.issue(report.issue).title, 200)} (#{report.issue.number})"
            address = api.draft(report.issue, title=title, body=report.request, head=head, base=base)
    except UsageError as error:
        _logger.warning("no pull request for %s: %s", report.issue, error)
        return f"The work is on the branch {shown}; no pull request could be opened."
    return f"Pull request: {line(address, 300)}"

"""The publisher of reports: a background thread, so that no run waits for the network.

Only the latest report on each run matters: a newer one replaces one that is not sent yet.
"""

import logging
import threading
import time
from typing import NamedTuple

from ralph.errors import UsageError
from ralph_github.api import GitHubApi
from ralph_github.settings import GitHubSettings
from ralph_github.task import IssueName, code, line

__all__ = ["Publisher", "Report"]

_logger = logging.getLogger("ralph.github")


class Report(NamedTuple):
    """A report on a run, to be published on an issue.

    Attributes:
        mark: start of the comment, by which it is found again.
        text: text of the comment, with the mark.
        resumed: True if the comment may exist already.
        head: branch to open a pull request from; None for no pull request.
        request: text of the pull request.
        last: True for the run's last report.
    """

    run_id: str
    issue: IssueName
    mark: str
    text: str
    resumed: bool
    head: str | None = None
    request: str = ""
    last: bool = False


class Publisher:
    """Publisher of reports on GitHub, one after another. It logs failures without secrets and does not retry."""

    def __init__(self, settings: GitHubSettings) -> None:
        self._settings = settings
        self._pending: dict[str, Report] = {}
        self._comments: dict[str, int] = {}
        self._unconfirmed: set[str] = set()
        self._busy = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def post(self, report: Report) -> None:
        """Queue a report, and return at once."""
        with self._changed:
            self._pending[report.run_id] = report
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._publish_all, name="ralph-github", daemon=True)
            self._thread.start()

    def wait(self, until: float) -> bool:
        """Wait until every report is published or has failed, and return whether that is so.

        Args:
            until: latest moment, by the monotonic clock.
        """
        with self._changed:
            done = self._changed.wait_for(lambda: not self._pending and not self._busy, until - time.monotonic())
        if not done:
            _logger.warning("GitHub did not answer in time: the last report may be missing")
        return done

    def _publish_all(self) -> None:
        api = GitHubApi(self._settings)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._pending))
                report = self._pending.pop(next(iter(self._pending)))
                self._busy = True
            try:
                self._publish(api, report)
            except UsageError as error:
                _logger.warning("cannot report on %s: %s", report.issue, error)
            except Exception as error:  # noqa: BLE001 - without the thread, no later report would be published
                _logger.warning("cannot report on %s: %s", report.issue, type(error).__name__)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _publish(self, api: GitHubApi, report: Report) -> None:
        text = f"{report.text}\n- {_pull_request_line(api, report)}" if report.head else report.text
        comment = self._comments.get(report.run_id)
        if comment is None and (report.resumed or report.run_id in self._unconfirmed):
            comment = api.comment_with(report.issue, report.mark)
        if comment is None:
            self._unconfirmed.add(report.run_id)  # GitHub may have created it even if its answer is lost
            comment = api.comment(report.issue, text)
        else:
            api.edit(report.issue, comment, text)
        self._comments[report.run_id] = comment
        self._unconfirmed.discard(report.run_id)
        if report.last:
            del self._comments[report.run_id]


def _pull_request_line(api: GitHubApi, report: Report) -> str:
    """Open the requested pull request, and return the comment's line about it."""
    head = report.head or ""
    shown = code(head, 200)
    try:
        if not api.has_branch(report.issue, head):
            return f"The changes are on the branch {shown}, which is not on GitHub. Push it, then open a pull request."
        base = api.default_branch(report.issue)
        if head == base:
            return f"The changes are on the default branch {shown}, so there is no pull request."
        address = api.pull_request_of(report.issue, head)
        if address is None:
            title = f"{line(api.issue(report.issue).title, 200)} (#{report.issue.number})"
            address = api.draft(report.issue, title=title, body=report.request, head=head, base=base)
    except UsageError as error:
        _logger.warning("cannot open a pull request for %s: %s", report.issue, error)
        return f"The changes are on the branch {shown}; opening a pull request failed."
    return f"Pull request: {line(address, 300)}"

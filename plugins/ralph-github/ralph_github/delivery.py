"""The pull request for the result of a run of the fleet, from the branch that its worker has pushed."""

import logging
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from ralph import RunRecord
from ralph.errors import UsageError
from ralph.plugins import Delivery
from ralph_github.api import GitHubApi
from ralph_github.settings import GitHubSettings
from ralph_github.task import IssueName, code, line

__all__ = ["opener", "repository_of"]

_logger = logging.getLogger("ralph.github")
_NAME = r"[A-Za-z0-9_.-]{1,100}"
_PATH = re.compile(rf"/?({_NAME})/({_NAME}?)(?:\.git)?/?")


def opener(settings: GitHubSettings) -> Callable[[Delivery, RunRecord], None]:
    """Return the function that opens a draft pull request for a completed run."""

    def open_pull_request(delivery: Delivery, record: RunRecord) -> None:
        name = repository_of(delivery.where, settings.api)
        if name is None or delivery.kind != "pushed" or record.stop_reason != "completed":
            return
        api = GitHubApi(settings)
        try:
            _logger.info("pull request: %s", line(_opened(api, name, delivery, record), 300))
        except UsageError as error:
            _logger.warning("cannot open a pull request for %s: %s", line(delivery.branch, 200), error)

    return open_pull_request


def repository_of(address: str, api: str) -> IssueName | None:
    """Return the repository that an address names, as an issue without a number; None if it is not on this GitHub.

    Args:
        address: such as `https://github.com/owner/repo.git` or `git@github.com:owner/repo`.
        api: address of the REST API.
    """
    if "://" not in address:
        host, _, path = address.rpartition("@")[2].partition(":")
    else:
        parts = urlsplit(address)
        host, path = parts.netloc.rpartition("@")[2], parts.path
    there = urlsplit(api).netloc
    found = _PATH.fullmatch(path)
    if found is None or host.lower() != ("github.com" if there == "api.github.com" else there.lower()):
        return None
    return None if {found[1], found[2]} & {".", ".."} else IssueName(found[1], found[2], 0)


def _opened(api: GitHubApi, name: IssueName, delivery: Delivery, record: RunRecord) -> str:
    """Return the address of the branch's pull request, which is opened unless there is one."""
    base = api.default_branch(name)
    if delivery.branch == base:
        return f"none, as {base} is the default branch"
    if address := api.pull_request_of(name, delivery.branch):
        return address
    issue = IssueName.of_task(record.task)
    ours = issue is not None and (issue.owner, issue.repo) == (name.owner, name.repo)
    subject = api.issue(issue).title if issue and ours else (record.task.strip().splitlines() or [""])[0]
    title = line(subject, 200) or f"Work of Ralph's run {record.id}"
    title = f"{title} (#{issue.number})" if issue and ours else title
    return api.draft(name, title=title, body=_body(delivery, record, issue), head=delivery.branch, base=base)


def _body(delivery: Delivery, record: RunRecord, issue: IssueName | None) -> str:
    facts = [
        f"{f'For {issue}, from' if issue else 'From'} a run of Ralph. These changes have not been reviewed yet.",
        "",
        f"- Why: {code(record.detail, 500)}" if record.detail else "",
        f"- Verified: {'yes' if record.verified else 'no'}: {code(record.verified_by, 500)}",
        *(f"- Still open: {code(each, 200)}" for each in record.still_open[:5]),
        f"- Lacking: {code(delivery.problem, 500)}" if delivery.problem else "",
        f"- Iterations: {record.iterations}",
        f"- Details: {code(f'ralph fleet show {record.id}', 150)}",
    ]
    return "\n".join(each for number, each in enumerate(facts) if each or number == 1)

"""The result of a run of the fleet becomes a draft pull request."""

import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from ralph import RunRecord
from ralph.plugins import Delivery, Plugins
from ralph_github import plugin
from ralph_github.delivery import opener, repository_of
from ralph_github.settings import GitHubSettings

AT = datetime(2026, 11, 21, tzinfo=UTC)


def deliver(github: Any, *, task: str = "Write the lexer.\nAll of it.", stop: Any = "completed", **more: Any) -> None:
    settings = GitHubSettings(report="pull-request", api=github.url)
    address = f"{github.url.removesuffix('/api/v3')}/octo/shop.git"
    given: dict[str, Any] = {"kind": "pushed", "branch": "ralph/a1", "commit": "c1", "where": address, **more}
    delivery = Delivery(**given)
    record = RunRecord(
        id="r1", task=task, started_at=AT, stop_reason=stop, verified=True, verified_by="passed: pytest -q @all"
    )
    opener(settings)(delivery, record)


def test_a_pushed_result_becomes_a_draft(github: Any):
    deliver(github)
    (pull,) = github.pulls
    assert (pull["head"], pull["base"], pull["draft"]) == ("ralph/a1", "main", True)
    assert pull["title"] == "Write the lexer."
    assert pull["body"].startswith("From a run of Ralph. These changes have not been reviewed yet.\n\n")
    assert "- Verified: yes: `passed: pytest -q @all`" in pull["body"]
    assert "`ralph fleet show r1`" in pull["body"]
    deliver(github)
    assert len(github.pulls) == 1


def test_the_result_of_an_issue_names_it(github: Any):
    deliver(github, task="Resolve the GitHub issue octo/shop#12.\n\nIts text follows.")
    (pull,) = github.pulls
    assert pull["title"] == "It crashes (#12)"
    assert pull["body"].startswith("For octo/shop#12, from a run of Ralph.")


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "bundle"},
        {"stop": "stuck"},
        {"branch": "main"},
        {"where": "/srv/git/shop.git"},
        {"where": "https://example.com/octo/shop.git"},
    ],
)
def test_nothing_else_opens_one(github: Any, more: dict[str, Any]):
    deliver(github, **more)
    assert github.pulls == []


def test_a_refusal_is_a_warning_without_the_token(github: Any, caplog: pytest.LogCaptureFixture):
    github.status = 403
    with caplog.at_level(logging.WARNING, logger="ralph.github"):
        deliver(github)
    assert "cannot open a pull request for ralph/a1" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(
    "address",
    ["https://github.com/o/r", "https://github.com/o/r.git", "git@github.com:o/r.git", "ssh://git@github.com/o/r"],
)
def test_addresses_name_a_repository(address: str):
    name = repository_of(address, "https://api.github.com")
    assert name is not None
    assert (name.owner, name.repo) == ("o", "r")
    assert repository_of(address, "https://ghe.example/api/v3") is None
    assert repository_of(address.replace("github.com", "ghe.example"), "https://ghe.example/api/v3") == name


def test_the_plug_in_offers_it_only_if_set(monkeypatch: pytest.MonkeyPatch):
    wanted = GitHubSettings(report="pull-request")
    assert len(list(plugin.ralph_deliveries(wanted))) == 1
    assert list(plugin.ralph_deliveries(GitHubSettings(report="comment"))) == []
    assert list(plugin.ralph_deliveries(None)) == []
    assert Plugins.of([plugin]).things("ralph_deliveries") == []

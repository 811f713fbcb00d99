"""The client of GitHub's REST API: answers and failures."""

import json
from typing import Any

import pytest

from ralph.errors import UsageError
from ralph_github import GitHubApi, GitHubSettings, IssueName

NAME = IssueName("octo", "shop", 12)


@pytest.fixture
def api(github: Any) -> GitHubApi:
    return GitHubApi(GitHubSettings(api=github.url))


def test_an_issue_is_read_with_the_token_of_the_environment(github: Any, api: GitHubApi):
    assert api.issue(NAME).title == "It crashes"
    assert github.asked[0].path == "/api/v3/repos/octo/shop/issues/12"
    assert github.asked[0].token.startswith("ghp_hunter2")


def test_the_setting_counts_before_the_environment_and_gh_token_after_it(github: Any, monkeypatch: pytest.MonkeyPatch):
    assert GitHubSettings.model_validate({"token": "mine"}).secret() == "mine"
    monkeypatch.setenv("GH_TOKEN", "second")
    assert (GitHubSettings().secret() or "").startswith("ghp_")
    monkeypatch.delenv("GITHUB_TOKEN")
    assert GitHubSettings().secret() == "second"
    monkeypatch.setenv("GH_TOKEN", " ")
    assert GitHubSettings().secret() is None
    GitHubApi(GitHubSettings(api=github.url)).issue(NAME)
    assert github.asked[0].token == ""


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "The token is not accepted"),
        (403, "no permission for this"),
        (404, "does not exist"),
        (500, "Try again later"),
    ],
)
def test_a_refusal_is_one_clear_sentence_without_what_github_says(github: Any, api: GitHubApi, status: int, said: str):
    github.status = status
    with pytest.raises(UsageError, match=said) as error:
        api.issue(NAME)
    assert f"GitHub answers {status} (octo/shop#12)" in str(error.value)
    assert "hunter2" not in str(error.value)
    assert error.value.__suppress_context__


def test_a_rate_limit_differs_from_a_refusal(github: Any, api: GitHubApi):
    github.status, github.headers = 403, {"Retry-After": "60"}
    with pytest.raises(UsageError, match="rate limit is reached"):
        api.issue(NAME)


@pytest.mark.parametrize("answer", [{"title": 3}, [], "x", None])
def test_an_invalid_answer_is_refused(github: Any, api: GitHubApi, answer: object):
    github.issues[12] = answer
    with pytest.raises(UsageError, match="published description"):
        api.issue(NAME)


def test_an_unreachable_server_is_reported():
    with pytest.raises(UsageError, match="cannot be reached") as error:
        GitHubApi(GitHubSettings.model_validate({"api": "http://127.0.0.1:9/api/v3", "token": "hunter2"})).issue(NAME)
    assert "hunter2" not in str(error.value)


def test_a_comment_is_found_among_many(github: Any, api: GitHubApi):
    github.comments |= {number: f"{number}" for number in range(250)}
    github.comments[1000] = "<!-- mark --> ours"
    github.comments[1001] = "<!-- mark --> a later one is another user's"
    assert api.comment_with(NAME, "<!-- mark -->") == 1000
    assert api.comment_with(NAME, "<!-- other -->") is None


def test_branches_with_a_slash_are_branches(github: Any, api: GitHubApi):
    github.branches.add("ralph/a1")
    assert api.has_branch(NAME, "ralph/a1")
    assert not api.has_branch(NAME, "ralph/a2")


@pytest.mark.parametrize(
    "wrong",
    [
        {"api": "http://ghe.example/api/v3"},
        {"api": "https://me:pw@ghe.example"},
        {"api": "https://ghe.example/?x=1"},
        {"api": "ftp://ghe.example"},
        {"api": "http://127.0.0.1.evil.example/"},
        {"every": 1},
        {"patience": 30},
        {"report": "all"},
        {"tokn": "x"},
    ],
)
def test_settings_that_cannot_be(wrong: dict[str, object]):
    with pytest.raises(ValueError, match="validation error"):
        GitHubSettings.model_validate(wrong)


def test_what_is_sent_and_read_is_as_the_published_description_has_it(github: Any, api: GitHubApi):
    from githubkit_schemas.latest import models  # pyright: ignore[reportMissingTypeStubs]

    made = api.comment(NAME, "hello")
    api.edit(NAME, made, "hello again")
    github.branches.add("work")
    api.draft(NAME, title="It crashes (#12)", body="For #12", head="work", base="main")
    sent = {(each.method, each.path.split("/")[-1]): json.dumps(each.body) for each in github.asked}
    models.ReposOwnerRepoIssuesIssueNumberCommentsPostBody.model_validate_json(sent["POST", "comments"])
    models.ReposOwnerRepoIssuesCommentsCommentIdPatchBody.model_validate_json(sent["PATCH", str(made)])
    pull = models.ReposOwnerRepoPullsPostBody.model_validate_json(sent["POST", "pulls"])
    assert pull.draft is True
    models.Issue.model_validate(github.issues[12])
    models.IssueComment.model_validate(github.comment(made))
    for model, field in ((models.PullRequest, "html_url"), (models.FullRepository, "default_branch")):
        assert model.model_fields[field].annotation is str

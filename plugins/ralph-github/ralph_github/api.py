"""A client for the few calls of GitHub's REST API that Ralph needs. Failures are one sentence without a secret."""

from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from ralph.errors import UsageError
from ralph_github.settings import GitHubSettings
from ralph_github.task import Issue, IssueName

__all__ = ["GitHubApi"]

_SECONDS = 10.0
_PAGES = 10
_VERSION = {"X-GitHub-Api-Version": "2022-11-28"}

_Read = TypeVar("_Read", bound=BaseModel)


class _Comment(BaseModel, frozen=True):
    id: int
    body: str | None = None


class _Repository(BaseModel, frozen=True):
    default_branch: str


class _Pull(BaseModel, frozen=True):
    html_url: str


class GitHubApi:
    """Client of GitHub's REST API.

    Every method raises `UsageError` if GitHub cannot be reached, refuses the request or sends an invalid answer.
    """

    def __init__(self, settings: GitHubSettings) -> None:
        from githubkit import GitHub

        self._github: Any = GitHub(
            settings.secret(),
            base_url=settings.api,
            user_agent="ralph-github",
            timeout=_SECONDS,
            auto_retry=False,
            http_cache=False,
        )

    def issue(self, name: IssueName) -> Issue:
        """Return an issue."""
        return _read(Issue, self._ask("GET", f"{name.path}/issues/{name.number}", str(name)))

    def comment(self, name: IssueName, body: str) -> int:
        """Add a comment to an issue, and return the comment's id."""
        path = f"{name.path}/issues/{name.number}/comments"
        return _read(_Comment, self._ask("POST", path, f"a comment on {name}", {"body": body})).id

    def edit(self, name: IssueName, comment: int, body: str) -> None:
        """Replace the text of a comment."""
        self._ask("PATCH", f"{name.path}/issues/comments/{comment}", f"a comment on {name}", {"body": body})

    def comment_with(self, name: IssueName, mark: str) -> int | None:
        """Return the id of the first comment that starts with a mark; None if none of the first 1,000 does."""
        path = f"{name.path}/issues/{name.number}/comments"
        for page in range(1, _PAGES + 1):
            answer = self._ask("GET", f"{path}?per_page=100&page={page}", f"the comments on {name}")
            comments = _read_all(_Comment, answer)
            for each in comments:
                if (each.body or "").startswith(mark):
                    return each.id
            if len(comments) < 100:
                break
        return None

    def has_branch(self, name: IssueName, branch: str) -> bool:
        """Return True if the issue's repository has the branch."""
        from urllib.parse import quote

        what = f"a branch of {name.owner}/{name.repo}"
        return self._ask("GET", f"{name.path}/branches/{quote(branch, safe='')}", what, missing=None) is not None

    def default_branch(self, name: IssueName) -> str:
        """Return the default branch of the issue's repository."""
        return _read(_Repository, self._ask("GET", name.path, f"{name.owner}/{name.repo}")).default_branch

    def pull_request_of(self, name: IssueName, branch: str) -> str | None:
        """Return the address of a branch's open pull request; None without one."""
        path = f"{name.path}/pulls"
        query = {"state": "open", "head": f"{name.owner}:{branch}"}
        answer = self._ask("GET", path, f"the pull requests of {name.owner}/{name.repo}", query=query)
        return next((each.html_url for each in _read_all(_Pull, answer)), None)

    def draft(self, name: IssueName, *, title: str, body: str, head: str, base: str) -> str:
        """Open a draft pull request, and return its address."""
        given = {"title": title, "body": body, "head": head, "base": base, "draft": True}
        return _read(_Pull, self._ask("POST", f"{name.path}/pulls", f"a pull request for {name}", given)).html_url

    def _ask(
        self,
        method: str,
        path: str,
        what: str,
        given: dict[str, Any] | None = None,
        *,
        query: dict[str, str] | None = None,
        missing: object = ...,
    ) -> Any:
        """Send a request, and return the JSON of the answer; `missing`, if given, for a 404.

        Args:
            method: HTTP method.
            path: path below the API's address.
            what: subject of the request, for error messages.
            given: JSON body.
            query: query parameters.
            missing: value to return for a 404 instead of raising.
        """
        from githubkit.exception import GitHubException, RateLimitExceeded, RequestFailed, RequestTimeout

        try:
            return self._github.request(method, path, json=given, params=query, headers=_VERSION).json()
        except RateLimitExceeded:
            raise UsageError(f"GitHub's rate limit is reached ({what}).", "Try again later.") from None
        except RequestFailed as error:
            if error.response.status_code == 404 and missing is not ...:
                return missing
            raise _refused(error.response.status_code, what) from None
        except RequestTimeout:
            raise UsageError(f"GitHub did not answer in time ({what}).", "Try again later.") from None
        except (GitHubException, ValueError) as error:
            problem = f"GitHub cannot be reached, or its answer is not valid ({what}; {type(error).__name__})."
            raise UsageError(problem, "Check plugins.github.api and the network.") from None


_REMEDIES = {
    401: "The token is not accepted. Set GITHUB_TOKEN or plugins.github.token.",
    403: "The token has no permission for this. Allow it to read and write issues and pull requests.",
    404: "It does not exist, or the token has no access to it.",
    410: "Issues are turned off in this repository.",
    422: "GitHub rejects the content of the request.",
}


def _refused(status: int, what: str) -> UsageError:
    return UsageError(f"GitHub answers {status} ({what}).", _REMEDIES.get(status, "Try again later."))


def _read(model: type[_Read], answer: object) -> _Read:
    try:
        return model.model_validate(answer)
    except ValidationError:
        raise _invalid(model) from None


def _read_all(model: type[_Read], answer: object) -> list[_Read]:
    if not isinstance(answer, list):
        raise _invalid(model)
    return [_read(model, each) for each in cast("list[object]", answer)]


def _invalid(model: type[BaseModel]) -> UsageError:
    kind = model.__name__.strip("_").lower()
    return UsageError(
        f"GitHub's answer does not match its published description ({kind}).", "Check plugins.github.api."
    )

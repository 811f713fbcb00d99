"""An imitation of GitHub on loopback, under /api/v3 as in GitHub Enterprise.

Its answers have the fields that GitHub's published API description requires; `test_api.py` checks answers and requests
against that description as included in githubkit.
"""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

TOKEN = "ghp_hunter2hunter2hunter2hunter2hunter2"
AT = "2026-11-21T03:30:00Z"


class Asked(NamedTuple):
    """A received request."""

    method: str
    path: str
    token: str
    body: dict[str, Any]


def person(login: str) -> dict[str, Any]:
    here = f"https://ghe.example/api/v3/users/{login}"
    links = {
        f"{name}_url": f"{here}/{name}"
        for name in ("followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events")
    }
    return {
        **links,
        "login": login,
        "id": 7,
        "node_id": "U7",
        "avatar_url": here,
        "gravatar_id": "",
        "url": here,
        "html_url": here,
        "received_events_url": here,
        "type": "User",
        "site_admin": False,
    }


class FakeGitHub:
    """HTTP server that answers like GitHub.

    Attributes:
        issues: the issues by number.
        comments: the texts of comments by id.
        branches: names of the existing branches.
        pulls: bodies of the requests to open a pull request.
        asked: every received request.
        status: HTTP status of all further answers, if not 0.
        headers: additional headers of all answers.
        hang: True to answer nothing.
        losing: True to create the next comment but to answer with an error.
    """

    def __init__(self) -> None:
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, str] = {}
        self.branches: set[str] = {"main"}
        self.pulls: list[dict[str, Any]] = []
        self.asked: list[Asked] = []
        self.status = 0
        self.headers: dict[str, str] = {}
        self.hang = self.losing = False
        self._open = threading.Event()
        handler = type("Handler", (_Handler,), {"github": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/api/v3"

    def add_issue(self, number: int = 12, title: str = "It crashes", body: str | None = "On empty input.") -> None:
        here = f"https://ghe.example/api/v3/repos/octo/shop/issues/{number}"
        self.issues[number] = {
            "id": number,
            "node_id": "I1",
            "url": here,
            "repository_url": here,
            "labels_url": here,
            "comments_url": here,
            "events_url": here,
            "html_url": here,
            "number": number,
            "state": "open",
            "title": title,
            "body": body,
            "user": person("ada"),
            "labels": [],
            "assignee": None,
            "milestone": None,
            "locked": False,
            "comments": 0,
            "closed_at": None,
            "created_at": AT,
            "updated_at": AT,
            "author_association": "NONE",
        }

    def comment(self, number: int) -> dict[str, Any]:
        here = f"https://ghe.example/api/v3/repos/octo/shop/issues/comments/{number}"
        return {
            "id": number,
            "node_id": "C1",
            "url": here,
            "html_url": here,
            "issue_url": here,
            "user": person("ralph"),
            "created_at": AT,
            "updated_at": AT,
            "author_association": "NONE",
            "body": self.comments[number],
        }

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: dict[str, Any]) -> tuple[int, Any]:
        match (method, path.removeprefix("/api/v3/repos/octo/shop").strip("/").split("/")):
            case "GET", [""]:
                return 200, {"default_branch": "main"}
            case "GET", ["issues", number] if int(number) in self.issues:
                return 200, self.issues[int(number)]
            case "POST", ["issues", number, "comments"] if int(number) in self.issues:
                new = 100 + len(self.comments)
                self.comments[new] = body["body"]
                lost, self.losing = self.losing, False
                return (502, {}) if lost else (201, self.comment(new))
            case "GET", ["issues", _, "comments"]:
                at, many = int(query["page"][0]) - 1, int(query["per_page"][0])
                return 200, [self.comment(each) for each in list(self.comments)[at * many : (at + 1) * many]]
            case "PATCH", ["issues", "comments", number] if int(number) in self.comments:
                self.comments[int(number)] = body["body"]
                return 200, self.comment(int(number))
            case "GET", ["branches", name] if unquote(name) in self.branches:
                return 200, {"name": unquote(name)}
            case "GET", ["pulls"]:
                found = [pull for pull in self.pulls if [f"octo:{pull['head']}"] == query["head"]]
                return 200, [{"html_url": "https://ghe.example/octo/shop/pull/1"} for _ in found]
            case "POST", ["pulls"]:
                self.pulls.append(body)
                return 201, {"html_url": "https://ghe.example/octo/shop/pull/1"}
            case _:
                return 404, {"message": f"Not Found {TOKEN}"}

    def wait(self) -> None:
        self._open.wait(30)

    def close(self) -> None:
        self._open.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    github: FakeGitHub

    def _respond(self) -> None:
        github, address = self.github, urlsplit(self.path)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}")
        token = re.sub(r"^\w+ ", "", self.headers["Authorization"] or "")
        github.asked.append(Asked(self.command, self.path, token, body))
        if github.hang:
            github.wait()
            return
        wrong = (github.status, {"message": f"refused {TOKEN}"})
        status, answer = (
            wrong if github.status else github.answer(self.command, address.path, parse_qs(address.query), body)
        )
        content = json.dumps(answer).encode()
        self.send_response(status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(content)), **github.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = _respond  # noqa: N815 - names that http.server requires

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the name in the base class


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    monkeypatch.delenv("GH_TOKEN", raising=False)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    served = FakeGitHub()
    served.add_issue()
    yield served
    served.close()

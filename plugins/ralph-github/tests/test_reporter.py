"""Runs that report to GitHub."""

import os
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph import Limits, Runner, RunRecord, Turn
from ralph.records.events import Paused, RunStarted
from ralph.store import open_store
from ralph.testing import ScriptedExecutor
from ralph.workspace import open_workspace
from ralph_github import GitHubSettings, IssueName, Reporter, task_of
from ralph_github.observer import branch_of
from ralph_github.task import Issue

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: `@octo` fixed it\n---END_RALPH_STATUS---"
AT = datetime(2026, 11, 21, 3, 30, tzinfo=UTC)
TASK = task_of(IssueName("octo", "shop", 12), Issue(title="It crashes", body="On empty input."))


def reporter(github: Any, report: str = "comment", **more: Any) -> Reporter:
    return Reporter(GitHubSettings.model_validate({"api": github.url, "report": report, **more}))


def run(observer: Reporter, *replies: Any, task: str = TASK, limit: int = 3, **more: Any) -> RunRecord:
    parts: dict[str, Any] = {"executor": ScriptedExecutor(replies), "hooks": [observer], **more}
    return Runner(limits=Limits(max_iterations=limit), **parts).run_sync(task)


def test_a_run_has_one_comment_which_says_how_it_ended(github: Any):
    record = run(reporter(github), "The lexer is done.", DONE)
    (comment,) = github.comments.values()
    assert comment.startswith(f"<!-- ralph run {record.id} -->\n**Ralph has completed this.**")
    assert "- Verified: no: `the agent's word alone`" in comment
    assert "- Iterations: 2" in comment
    assert f"`ralph show {record.id}`" in comment


def test_progress_is_reported_in_the_same_comment(github: Any, monkeypatch: pytest.MonkeyPatch):
    seen: list[str] = []

    def look(prompt: object, turn: object) -> str:
        ends = time.monotonic() + 5
        while not any("Iterations: 1" in text for text in github.comments.values()) and time.monotonic() < ends:
            time.sleep(0.01)
        seen.extend(github.comments.values())
        return DONE

    observer = reporter(github)
    observer._settings = GitHubSettings(api=github.url, report="comment").model_copy(update={"every": 0.0})
    run(observer, "The lexer is done.", look)
    assert "**Ralph is working on this.**" in seen[0]
    assert "- Iterations: 1" in seen[0]
    assert len(github.comments) == 1


def test_a_comment_with_a_lost_answer_is_not_made_twice(github: Any, caplog: Any):
    def look(prompt: object, turn: object) -> str:
        ends = time.monotonic() + 5
        while "GitHub answers 502" not in caplog.text and time.monotonic() < ends:
            time.sleep(0.01)
        return DONE

    github.losing = True
    run(reporter(github), look)
    (comment,) = github.comments.values()
    assert "Ralph has completed this" in comment


def test_it_does_not_report_more_often_than_the_settings_allow(github: Any):
    run(reporter(github), *(f"Part {number} is done." for number in range(5)), limit=5)
    assert len([each for each in github.asked if each.method != "GET"]) <= 2


def test_a_run_that_stops_says_why(github: Any):
    run(reporter(github), "The lexer is done.", limit=1)
    (comment,) = github.comments.values()
    assert "**Ralph has stopped without completing this: limit reached.**" in comment


@pytest.mark.parametrize(
    ("until", "said"),
    [(AT, "Ralph is paused until 2026-11-21 03:30 UTC."), (None, "Ralph is paused until you resume it.")],
)
def test_a_pause_is_reported_with_its_end(github: Any, until: datetime | None, said: str):
    async def paused() -> None:
        observer = reporter(github)
        await observer.on_run_started(RunStarted(run_id="a1", seq=1, at=AT, task=TASK))
        await observer.on_paused(Paused(run_id="a1", seq=2, at=AT, until=until, reason="rate limited"))
        assert observer._publisher.wait(time.monotonic() + 5)

    anyio.run(paused)
    (comment,) = github.comments.values()
    assert f"**{said}**" in comment
    assert "- Decision: `rate limited`" in comment


def test_a_run_with_another_task_sends_nothing_to_github(github: Any):
    run(reporter(github), DONE, task="Write a parser.")
    assert github.asked == []


def test_what_the_agent_says_can_do_nothing_on_github(github: Any):
    run(reporter(github), "I ask @octo: what now? <!-- x --> ![](http://evil.example/x.png)", limit=1)
    (comment,) = github.comments.values()
    outside = "".join(comment.split("`")[0::2])
    assert "@" not in outside
    assert "evil" not in outside


def test_a_resumed_run_continues_its_comment(github: Any, tmp_path: Path):
    store = str(tmp_path / "runs.db")
    record = run(reporter(github), "The lexer is done.", limit=1, store=open_store(store))
    github.comments = {99: "another user's", **github.comments}
    parts: dict[str, Any] = {"executor": ScriptedExecutor([DONE]), "hooks": [reporter(github)]}
    runner = Runner(limits=Limits(max_iterations=4), store=open_store(store), **parts)

    assert anyio.run(resumed, runner, record.id).stop_reason == "completed"
    assert len(github.comments) == 2
    assert github.comments[99] == "another user's"
    assert "Ralph has completed this" in github.comments[100]


async def resumed(runner: Runner, run_id: str) -> RunRecord:
    async with runner:
        return await runner.resume(run_id)


@pytest.mark.parametrize("status", [401, 500])
def test_a_refusal_breaks_nothing_and_shows_no_token(github: Any, caplog: Any, status: int):
    github.status = status
    assert run(reporter(github), DONE).stop_reason == "completed"
    assert f"GitHub answers {status}" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_github_that_hangs_delays_only_the_end(github: Any, caplog: Any):
    github.hang = True
    began = time.monotonic()
    assert run(reporter(github, patience=0.2), "The lexer is done.", DONE).stop_reason == "completed"
    assert time.monotonic() - began < 5
    assert "GitHub did not answer in time" in caplog.text


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "README.md").write_text("# Shop\n")
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (("init", "-q", "-b", "ralph/a1"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run(("git", *identity, *words), cwd=folder, check=True)
    return folder


def fix(prompt: object, turn: Turn) -> str:
    (turn.workspace / "fix.py").write_text("fixed = True\n")
    return DONE


def pulled(github: Any, repository: Path, reply: Any = fix) -> str:
    run(reporter(github, "pull-request"), reply, DONE, workspace=open_workspace(repository), limit=2)
    (comment,) = github.comments.values()
    return comment


def test_a_completed_run_opens_a_draft_from_its_branch(github: Any, repository: Path):
    github.branches.add("ralph/a1")
    assert "- Pull request: https://ghe.example/octo/shop/pull/1" in pulled(github, repository)
    (pull,) = github.pulls
    assert (pull["head"], pull["base"], pull["draft"]) == ("ralph/a1", "main", True)
    assert pull["title"] == "It crashes (#12)"
    assert pull["body"].startswith("For #12, from a run of Ralph.")


def test_there_is_no_second_one(github: Any, repository: Path):
    github.branches.add("ralph/a1")
    github.pulls.append({"head": "ralph/a1"})
    assert "- Pull request: https://ghe.example/octo/shop/pull/1" in pulled(github, repository)
    assert len(github.pulls) == 1


def test_a_missing_branch_is_reported(github: Any, repository: Path):
    assert "- The changes are on the branch `ralph/a1`, which is not on GitHub." in pulled(github, repository)
    assert github.pulls == []


def test_changes_on_the_default_branch_open_no_pull_request(github: Any, repository: Path):
    subprocess.run(("git", "branch", "-m", "main"), cwd=repository, check=True)
    assert "there is no pull request" in pulled(github, repository)
    assert github.pulls == []


def test_a_run_that_did_not_complete_opens_none(github: Any, repository: Path):
    github.branches.add("ralph/a1")
    run(reporter(github, "pull-request"), "The lexer is done.", workspace=open_workspace(repository), limit=1)
    assert github.pulls == []


def test_the_branch_of_a_worktree_and_of_a_folder_below(repository: Path, tmp_path: Path):
    subprocess.run(("git", "worktree", "add", "-q", "-b", "night", "../tree"), cwd=repository, check=True)
    (repository / "sub").mkdir()
    assert branch_of(str(tmp_path / "tree")) == "night"
    assert branch_of(str(repository / "sub")) == "ralph/a1"
    assert branch_of(None) is None


@pytest.mark.parametrize(
    "head", ["deadbeef", "ref: refs/tags/x", "ref: refs/heads/a b", "", "ref: refs/heads/" + "x" * 999]
)
def test_a_head_without_a_branch_gives_none(head: str, repository: Path):
    (repository / ".git" / "HEAD").write_text(head)
    assert branch_of(str(repository)) is None


def test_a_pipe_instead_of_head_does_not_block(repository: Path):
    (repository / ".git" / "HEAD").unlink()
    os.mkfifo(repository / ".git" / "HEAD")
    assert branch_of(str(repository)) is None

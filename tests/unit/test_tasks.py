"""Tasks that stand in a file: what is read of it, and what becomes of a run that is told to work it off."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ralph import Prompt, Runner, Turn
from ralph.errors import UnknownNameError, UsageError
from ralph.plugins import Plugins, Provider, hookimpl
from ralph.tasks import Task
from ralph.testing import ScriptedExecutor
from ralph.types.plan import TaskPlan, parse_prd, read_plan
from ralph.workspace import open_workspace

STORIES = [
    {"id": "US-2", "title": "Print a page", "priority": 2, "passes": False},
    {"id": "US-1", "title": "Read a page", "priority": 1, "passes": False},
    {"id": "US-3", "title": "Bind a book", "priority": 3, "passes": True},
]


def written(folder: Path, stories: Sequence[Any] = STORIES, name: str = "prd.json") -> Path:
    (folder / name).write_text(json.dumps({"project": "press", "userStories": stories}))
    return folder


def task(text: str, folder: Path) -> Task:
    return Plugins().task(text, folder)


def test_stories_are_items_the_most_urgent_first(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path), "prd.json")
    assert plan is not None
    assert [(item.text, item.ticked) for item in plan.items] == [
        ("US-1: Read a page", False),
        ("US-2: Print a page", False),
        ("US-3: Bind a book", True),
    ]
    assert (plan.done, plan.total, plan.problem) == (1, 3, "")


@pytest.mark.parametrize("passes", ["true", 1, None, "yes", [True]])
def test_nothing_but_true_ticks_a_story(passes: object) -> None:
    assert parse_prd(json.dumps({"userStories": [{"title": "It", "passes": passes}]})).done == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is not readable JSON"),
        ("[" * 100_000, "it is not readable JSON"),
        ('{"userStories": ' + "9" * 5_000 + "}", "it is not readable JSON"),
        ("[]", 'it has no list "userStories"'),
        ('{"userStories": {}}', 'it has no list "userStories"'),
        ('{"userStories": [{"id": "US-1"}]}', "it has a story without a title"),
        ('{"userStories": [7]}', "it has a story without a title"),
        (json.dumps({"userStories": [{"title": "It"}] * 5_001}), "it has more than 5,000 items"),
    ],
)
def test_a_prd_that_will_not_do_is_a_plan_with_a_problem(text: str, problem: str) -> None:
    assert parse_prd(text).problem == problem


def test_hostile_stories_are_bounded_and_can_be_stored() -> None:
    stories = [
        {"id": "x" * 10_000, "title": "\ud800\x00\n\n# a", "priority": float("nan")},
        {"title": "b", "priority": 1},
    ]
    first, second = parse_prd(json.dumps({"userStories": stories})).items
    assert first.text == "b"
    assert len(second.text) <= 500
    TaskPlan(items=(first, second)).model_dump_json().encode()


def test_a_prd_out_of_the_workspace_is_not_read(tmp_path: Path) -> None:
    written(tmp_path, name="secret.json")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "prd.json").symlink_to(tmp_path / "secret.json")
    os.mkfifo(tmp_path / "work" / "pipe.json")
    for place in ("prd.json", "../secret.json", "pipe.json", "a\0b.json"):
        with pytest.raises(UsageError, match="cannot be used"):
            task(f"prd:{place}", tmp_path / "work")


def test_a_source_gives_a_task_and_the_plan_that_tells_how_far_it_is(tmp_path: Path) -> None:
    (tmp_path / "todo.md").write_text("- [ ] dig\n- [ ] fill\n")
    assert task("plan:todo.md", tmp_path) == Task(
        "Work off the checklist in todo.md until every box is ticked.", "todo.md"
    )
    made = task("prd:prd.json", written(tmp_path))
    assert made.plan == "prd.json"
    assert made.text.startswith("Implement the user stories of prd.json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plan", "names no place"),
        ("plan: ", "names no place"),
        ("plan:none.md", "does not exist"),
        ("plan:done.md", "no open items"),
        ("prd:done.md", "is not a JSON file"),
        ("prd:bad.json", "not readable JSON"),
    ],
)
def test_what_is_no_task_is_said(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "done.md").write_text("- [x] dug\n")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(UsageError, match=said):
        task(text, tmp_path)


def test_a_source_that_there_is_not_names_the_others(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="prd"):
        task("prdd:prd.json", tmp_path)


def test_a_plugin_brings_a_source_that_may_give_a_bare_text(tmp_path: Path) -> None:
    class Notes:
        name = "notes"

        @hookimpl
        def ralph_task_sources(self):
            yield Provider("note", "a note", lambda context: context.argument.strip())

    assert Plugins.of([Notes()]).task("note:Mend it: now", tmp_path) == Task("Mend it: now")


def passes_the_next(prompt: Prompt, turn: Turn) -> str:
    """A turn of an agent that does the story that it is told to do."""
    path = turn.workspace / "prd.json"
    found = json.loads(path.read_text())
    story = next(each for each in found["userStories"] if f"> {each['id']}: {each['title']}" in prompt.text)
    story["passes"] = True
    path.write_text(json.dumps(found))
    return f"{story['id']} passes now."


async def test_a_prd_is_worked_off_story_by_story(tmp_path: Path) -> None:
    executor = ScriptedExecutor(then=passes_the_next)
    made = task("prd:prd.json", written(tmp_path))
    runner = Runner(
        executor=executor, workspace=open_workspace(tmp_path), plan=made.plan, choose="ralph", strategy="fix_plan"
    )
    async with runner:
        record = await runner.run(made.text)
    assert (record.stop_reason, record.iterations) == ("completed", 2)
    assert ["work on this item" in prompt.text for prompt in executor.prompts] == [True, True]
    assert executor.prompts[0].text.rstrip().count("> US-1: Read a page") == 1
    assert '"passes"' in executor.prompts[0].text


PLUGIN = """
import json
from ralph import Completed, Executor
from ralph.plugins import Provider, hookimpl

class Digger(Executor):
    name = "digger"

    async def execute(self, prompt, turn):
        path = turn.workspace / "todo.md"
        path.write_text(path.read_text().replace("[ ]", "[x]", 1))
        with (turn.workspace / "asked.txt").open("a") as asked:
            asked.write(prompt.text)
        return turn.transcript.finish(Completed(), text="One more is dug.")

@hookimpl
def ralph_executors():
    yield Provider("digger", "digs", lambda context: Digger())
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a checklist, and a plug-in that works it off."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "work"
    (folder / ".ralph").mkdir(parents=True)
    (folder / ".ralph" / "plugin.py").write_text(PLUGIN)
    (folder / "ralph.toml").write_text('strategy = "fix_plan"\n[tasks]\nchoose = "ralph"\n')
    (folder / "todo.md").write_text("- [ ] dig here\n- [ ] dig there\n")
    return folder


def ralph(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    options = ["--executor", "digger", "--verify", "none", "--store", "memory:", "--trust", "--display", "plain"]
    line = [sys.executable, "-m", "ralph", "run", *words, *options]
    return subprocess.run(line, cwd=work, capture_output=True, text=True, check=False)


def test_run_takes_the_task_from_a_file(work: Path) -> None:
    done = ralph(work, "--task", "plan:todo.md")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (work / "todo.md").read_text() == "- [x] dig here\n- [x] dig there\n"
    assert "alone, and leave the others as they are:\n> dig there" in (work / "asked.txt").read_text()


def test_a_task_is_given_once(work: Path) -> None:
    done = ralph(work, "Dig.", "--task", "plan:todo.md")
    assert (done.returncode, "given twice" in done.stderr) == (2, True)


def test_the_file_has_to_be_in_the_worktree_that_is_worked_in(work: Path) -> None:
    for line in (
        ["init", "-q"],
        ["add", "ralph.toml"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *line], cwd=work, check=True)
    done = ralph(work, "--worktree", "--task", "plan:todo.md")
    assert done.returncode == 2
    assert "'todo.md' does not exist" in done.stderr
    assert "[ ] dig here" in (work / "todo.md").read_text()

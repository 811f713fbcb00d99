"""The file of tasks that `ralph fleet submit` reads."""

from pathlib import Path

import pytest

from ralph.errors import UsageError
from ralph.fleet import Task, read_tasks

FINE = "- {task: x, folder: /a, settings: {executor: {model: m}, plugins: {unknown: {here: 1}}}}\n"
YAML = """
repository: https://example.org/team/shop.git
verify: [pytest -q]
limits: {max_iterations: 5}
tasks:
  - task: Fix the login.
    name: login
  - task: Describe the login.
    after: [login]
    priority: 3
    labels: [gpu]
    repository: https://example.org/team/docs.git
"""


def test_what_tasks_have_in_common_is_written_once(tmp_path: Path):
    (tmp_path / "tasks.yaml").write_text(YAML)
    first, second = read_tasks(tmp_path / "tasks.yaml")
    assert first.place == "https://example.org/team/shop.git"
    assert (first.verify, first.limits.max_iterations) == (("pytest -q",), 5)
    assert (second.after, second.priority, second.labels) == (("login",), 3, ("gpu",))
    assert second.place == "https://example.org/team/docs.git"


def test_json_and_a_single_task(tmp_path: Path):
    (tmp_path / "tasks.json").write_text('{"task": "Fix it.", "folder": "/srv/shop"}')
    assert read_tasks(tmp_path / "tasks.json") == [Task(task="Fix it.", folder=Path("/srv/shop"))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- task: x", "task 1: a task has either a repository or a folder"),
        ("- {task: x, folder: /a, repository: b}", "either a repository or a folder"),
        ("- {task: '  ', folder: /a}", "the task is empty"),
        ("- {task: x, repository: --upload-pack=evil}", "begins with a dash"),
        ("- {task: x, folder: /a, color: red}", "task 1: color"),
        ("- {task: x, folder: /a, priority: high}", "task 1: priority"),
        (
            "- {task: x, folder: /a, max_iterations: 3}",
            "task 1: max_iterations: there is no such setting. Did you mean",
        ),
        ("- {task: x, folder: /a, limits: {max_iterations: true}}", "task 1: limits.max_iterations: true is not valid"),
        (f"{FINE}- {{task: x, folder: /a, settings: {{executor: {{nam: a}}}}}}", "task 2: settings: executor.nam"),
        ("- {task: x, folder: /a, settings: {limits: {max_cost: -3}}}", "settings: limits.max_cost: -3 is not valid"),
        ("- {task: x, folder: /a, settings: {preset: none}}", "settings: preset: no profile is called 'none'"),
        ("- {task: x, folder: /a, settings: {store: x.db}}", "settings: store: the runs of a fleet"),
        ("- {task: x, folder: /a, settings: {executor: {api_key: k}}}", "Set RALPH_EXECUTOR__API_KEY in the worker's"),
        ("- {task: x, folder: /a, settings: {executor: {headers: {a: k}}}}", "executor.headers: it would be stored"),
        ("- just words", "task 1 is not a table"),
        ("nothing: here", "has no list of tasks"),
        ("[", "cannot be parsed"),
        ("", "has no list of tasks"),
        ("- !!python/object/apply:os.system ['true']", "cannot be parsed"),
    ],
)
def test_a_wrong_file_is_named_with_its_task(text: str, said: str, tmp_path: Path):
    (tmp_path / "tasks.yaml").write_text(text)
    with pytest.raises(UsageError) as raised:
        read_tasks(tmp_path / "tasks.yaml")
    assert said in str(raised.value)
    assert "tasks.yaml" in str(raised.value)


def test_relative_places_are_beside_the_file(tmp_path: Path):
    (tmp_path / "tasks.yaml").write_text(
        "- {task: x, folder: a}\n- {task: x, repository: ../b}\n"
        "- {task: x, repository: 'git@example.org:c.git'}\n- {task: x, folder: ~/d}\n"
    )
    places = [task.place for task in read_tasks(tmp_path / "tasks.yaml")]
    assert places == [str(tmp_path / "a"), str(tmp_path.parent / "b"), "git@example.org:c.git", "~/d"]


def test_a_folder_with_the_name_of_an_address_is_the_folder(tmp_path: Path) -> None:
    (tmp_path / "shop:main").mkdir()
    (tmp_path / "tasks.yaml").write_text("- {task: x, repository: 'shop:main'}\n- {task: x, repository: 'shop:next'}\n")
    places = [task.place for task in read_tasks(tmp_path / "tasks.yaml")]
    assert places == [str(tmp_path / "shop:main"), "shop:next"]


def test_a_tasks_own_place_replaces_the_common_one(tmp_path: Path) -> None:
    tasks = "[{task: a}, {task: b, repository: https://git.example/x}]"
    (tmp_path / "tasks.yaml").write_text(f"folder: /srv/shop\nverify: [make]\ntasks: {tasks}\n")
    assert [(task.place, task.verify) for task in read_tasks(tmp_path / "tasks.yaml")] == [
        ("/srv/shop", ("make",)),
        ("https://git.example/x", ("make",)),
    ]


def test_a_missing_file(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_tasks(tmp_path / "none.yaml")

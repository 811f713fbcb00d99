"""The commands of `ralph fleet` on one machine, without a worker."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import update

from ralph.fleet import Fleet, schema
from ralph.fleet.tables import Tables

Ralph = Callable[..., Any]


def change(store: str, name: str, **values: object) -> None:
    def work(tables: Tables) -> None:
        with tables.connection.begin():
            tables.connection.execute(update(schema.tasks).where(schema.tasks.c.name == name).values(values))

    async def whole() -> None:
        async with Fleet(store) as fleet:
            await fleet.do(work)

    anyio.run(whole)


def test_a_task_that_waits_for_one_that_failed_says_what_to_do(ralph: Ralph, tmp_path: Path) -> None:
    store = str(tmp_path / "ralph.db")
    common = ["--folder", str(tmp_path), "--store", store]
    assert ralph("fleet", "submit", "x", "--name", "one", *common).code == 0
    assert ralph("fleet", "submit", "y", "--name", "two", "--after", "one", *common).code == 0
    assert "It waits for one (queued)." in ralph("fleet", "show", "two", "--store", store).out
    change(store, "one", state="failed", reason="executor unavailable: none is logged in")
    shown = " ".join(ralph("fleet", "show", "two", "--store", store).out.split())
    assert f"It waits for one, which is failed: it can't start until `ralph fleet retry one --store {store}`." in shown
    assert "Executor unavailable: none is logged in." in ralph("fleet", "show", "one", "--store", store).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--folder", "nowhere"], "The folder 'nowhere' does not exist"),
        (["--repository", "https://me:sesame@host/x.git"], "contains a login"),
        (["--repository", "ftp://host/x.git"], "Task 'x': 'ftp://host/x.git' is not an address or a path"),
        (["--folder", ".", "--verify", "pytest 'a"], "Task 'x': The verify command \"pytest 'a\" cannot be read"),
    ],
)
def test_a_place_that_is_wrong_is_refused_at_once(ralph: Ralph, tmp_path: Path, words: list[str], said: str) -> None:
    store = str(tmp_path / "ralph.db")
    ended = ralph("fleet", "submit", "x", *words, "--store", store)
    assert ended.code == 2
    assert said in " ".join(ended.err.split())
    assert "sesame" not in ended.err
    assert "none" in ralph("fleet", "status", "--store", store).out


def test_nothing_is_submitted_if_the_settings_of_one_task_are_wrong(ralph: Ralph, tmp_path: Path) -> None:
    store, file = str(tmp_path / "ralph.db"), tmp_path / "tasks.yaml"
    file.write_text("folder: .\ntasks:\n- task: x\n- {task: y, settings: {limits: {max_iteration: 3}}}\n")
    ended = ralph("fleet", "submit", "-f", str(file), "--store", store)
    said = (
        "tasks.yaml: task 2: settings: limits.max_iteration: there is no such setting. Did you mean 'max_iterations'?"
    )
    assert (ended.code, said in " ".join(ended.err.split())) == (2, True), ended.err
    assert "none" in ralph("fleet", "status", "--store", store).out


def test_a_task_of_a_newer_release_is_listed(ralph: Ralph, tmp_path: Path) -> None:
    store = str(tmp_path / "ralph.db")
    assert ralph("fleet", "submit", "x", "--name", "one", "--folder", str(tmp_path), "--store", store).code == 0
    change(store, "one", version=2, body='{"task": "Do it.", "color": "red"}')
    assert "Do it." in ralph("fleet", "status", "--store", store).out
    assert "Do it." in ralph("fleet", "status", "--json", "--store", store).out


@pytest.mark.parametrize(
    ("grade", "shown"),
    [
        ("verified", "done, verified"),
        ("checks pass, but they did before", "done, green before"),
        ("claimed, not verified", "done, claimed"),
    ],
)
def test_a_completion_is_one_line_at_80_columns_with_its_grade(
    ralph: Ralph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grade: str, shown: str
) -> None:
    store = str(tmp_path / "ralph.db")
    words = ["Fix the parser of quoted fields", "--name", "parser", "--folder", str(tmp_path)]
    assert ralph("fleet", "submit", *words, "--store", store).code == 0
    change(store, "parser", state="done", iterations=8, worker="desk", reason=f"completed, {grade}: `pytest -q`")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    table = ralph("fleet", "status", "--all", "--store", store).out.partition("TASK")[2].splitlines()[1:]
    assert [shown in row and "Fix" in row for row in table] == [True]

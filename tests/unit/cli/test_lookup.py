"""The store is the one of the settings, whether they had to be read or not."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ralph.cli.lookup import configured_store, find_run, given_store, store_option
from ralph.records.record import RunRecord
from ralph.settings import own_sources, read_settings, require_trust
from ralph.settings.sources import user_file
from ralph.store import MemoryStore


def nothing(workspace: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
    pass


def another_project(workspace: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
    (workspace / "pyproject.toml").write_text('[project]\nname = "x"\n')


def a_project_of_ours(workspace: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text('store = "user.db"\n')
    (workspace / "pyproject.toml").write_text('[tool.ralph]\npreset = "debugging"\n')


def the_users_file(workspace: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text('store = "user.db"\n')


def a_variable(workspace: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("RALPH_STORE", "variable.db")


def an_empty_variable(workspace: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("RALPH_STORE", "")


def variables(workspace: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("ralph_store", "small.db")
    patch.setenv("RALPH_PLAN", "plan.md")


def a_variable_and_a_file(workspace: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
    the_users_file(workspace, home, patch)
    a_variable(workspace, home, patch)


def a_variable_that_is_no_setting(workspace: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("RALPH_DEBUG", "1")


@pytest.mark.parametrize(
    "said",
    [
        nothing,
        another_project,
        a_project_of_ours,
        the_users_file,
        a_variable,
        an_empty_variable,
        variables,
        a_variable_and_a_file,
        a_variable_that_is_no_setting,
    ],
)
def test_it_is_the_one_of_the_settings(
    workspace: Path, home: Path, monkeypatch: pytest.MonkeyPatch, said: Callable[..., None]
) -> None:
    monkeypatch.delenv("RALPH_STORE", raising=False)
    said(workspace, home, monkeypatch)
    assert configured_store(None, workspace) == read_settings(workspace, own="trusted").settings.store
    assert configured_store("named.db", workspace) == "named.db"


def test_what_is_wrong_with_the_settings_is_still_told(ralph: Callable[..., Any], workspace: Path) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("stroe = 1\n")
    ended = ralph("runs")
    assert (ended.code, "stroe: there is no such setting. Did you mean 'store'?" in ended.err) == (0, True)
    assert ralph("run", "Do it.").code == 2
    ended = ralph("runs", "--store", "named.db")
    assert (ended.code, "stroe" in ended.err) == (2, False)


def test_the_settings_are_not_read_where_there_are_none(workspace: Path) -> None:
    code = "import sys; from ralph.cli.lookup import configured_store as store; from pathlib import Path; "
    code += "store(None, Path()); "
    code += "sys.exit(not {'ralph.settings.model', 'pydantic'}.isdisjoint(sys.modules))"
    environment = {**os.environ, "RALPH_STORE": "variable.db"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


@pytest.mark.parametrize(
    ("store", "told"),
    [
        (None, ""),
        ("my runs.db", " --store 'my runs.db'"),
        ("postgresql://me:secret@host/db", " --store postgresql://me@host/db"),
        ("postgresql://me:se/cr@et@host/db", " --store postgresql://me@host/db"),
        ("postgresql://me@host:5432/db", " --store postgresql://me@host:5432/db"),
    ],
)
def test_a_store_is_told_of_without_its_password(store: str | None, told: str) -> None:
    assert store_option(store) == told


@pytest.mark.parametrize(
    ("words", "store"),
    [
        (["show", "r1"], None),
        (["show", "--store", "a.db", "r1"], "a.db"),
        (["--store=a=b.db"], "a=b.db"),
        (["--store", "a.db", "--store", "b.db"], "b.db"),
        (["show", "--store"], None),
        (["--stores", "a.db"], None),
    ],
)
def test_the_store_among_the_arguments(words: list[str], store: str | None) -> None:
    assert given_store(words) == store


@pytest.mark.parametrize("words", [["-C", "other"], ["--directory", "other"], ["--directory=other"]])
def test_the_store_of_the_folder_that_is_named(workspace: Path, words: list[str]) -> None:
    other = workspace / "other"
    other.mkdir()
    (other / "ralph.toml").write_text('store = "other.db"\n')
    for source in own_sources(other):
        require_trust(source, trust=True)
    assert given_store(["resume", *words]) == "other.db"
    assert given_store(["resume", *words, "--store", "a.db"]) == "a.db"
    (other / "ralph.toml").write_text("stroe = 1\n")
    assert given_store(["resume", *words]) is None


def test_a_refusal_about_a_run_of_another_folder_advises_commands_that_find_it(
    ralph: Callable[..., Any], workspace: Path
) -> None:
    other = workspace / "other"
    other.mkdir()
    (other / "ralph.toml").write_text('store = "other.db"\n')
    for source in own_sources(other):
        require_trust(source, trust=True)
    assert "`ralph runs --store other.db` lists" in ralph("resume", "nothing", "-C", "other").err


@pytest.mark.parametrize("later", ["here", "worktree"])
async def test_the_last_run_of_a_folder_may_be_one_in_a_worktree_of_it(tmp_path: Path, later: str) -> None:
    places: dict[str, dict[str, Any]] = {
        "here": {"workspace": str(tmp_path)},
        "worktree": {"workspace": "/w", "origin": str(tmp_path)},
    }
    async with MemoryStore() as store:
        for name, place in places.items():
            at = datetime(2026, 1, 2 if name == later else 1, tzinfo=UTC)
            await store.create(RunRecord(id=name, task="t", started_at=at, **place))
        assert (await find_run(store, "last", tmp_path)).id == later

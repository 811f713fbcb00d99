"""`open_store` finds the store that a name means, or says what would be one."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ralph.errors import UsageError
from ralph.store import MemoryStore, database_named, default_path, file_of, open_store
from ralph.system.install import extra_remedy
from ralph.testing.store_conformance import sample_run


async def test_without_a_name_it_is_the_users_own_in_a_folder_for_the_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    async with open_store() as store:
        await store.create(sample_run())
    assert default_path().is_relative_to(tmp_path)
    assert default_path().is_file()
    assert stat.S_IMODE(default_path().parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("form", ["sqlite:///{}/a.db", "{}/a.db", "a.db", "sqlite:///a.db"])
async def test_a_path_may_be_given_bare_or_as_a_url(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    async with open_store(form.format(tmp_path)) as store:
        await store.create(sample_run())
    assert (tmp_path / "a.db").is_file()


async def test_the_path_is_taken_literally_but_for_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    async with open_store("~/a b?c%20d;e.db"):
        assert (tmp_path / "a b?c%20d;e.db").is_file()


async def test_a_relative_path_stays_where_it_was_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = open_store("a.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    async with store:
        assert (tmp_path / "a.db").is_file()


def test_memory_has_a_name():
    assert isinstance(open_store("memory:"), MemoryStore)


@pytest.mark.parametrize(
    "name",
    [
        *("mysql://u:secret@h/db", "http://x", "sqlite://", "sqlite:///", "sqlite:///postgresql://x"),
        *("sqlite:///:memory:", ":memory:", "", "a\0b", "~nobody-of-that-name/x"),
    ],
)
def test_what_is_no_store_is_refused_with_what_would_be_one(name):
    with pytest.raises(UsageError) as raised:
        open_store(name)
    assert "sqlite:///PATH" in str(raised.value)
    assert "memory:" in raised.value.remedy
    assert "secret" not in str(raised.value)


FILE_NAMES_OF_KINDS = [
    *(("memory", "memory:"), ("Memory:", "memory:"), ("memory:/", "memory:")),
    *(("sqlite", "sqlite:///PATH"), ("sqlite:runs.db", "sqlite:///PATH"), ("SQLITE:/runs.db", "sqlite:///PATH")),
    *((word, "postgresql://USER@HOST/DATABASE") for word in ("postgres", "postgresql", "postgresql:/u:secret@h/d")),
]


def test_the_mere_kind_of_a_store_means_no_file_that_is_called_so(subtests: pytest.Subtests):
    for name, meant in FILE_NAMES_OF_KINDS:
        for find in [open_store, file_of, database_named]:
            with subtests.test(name=name, find=find):
                with pytest.raises(UsageError) as refused:
                    find(name)
                assert refused.value.remedy.startswith(f"Type {meant} instead, or ./")
                assert "secret" not in str(refused.value)


@pytest.mark.parametrize("name", ["./memory", "sqlite:///memory", "memory.db", "sqlite3", "runs"])
def test_a_file_may_be_called_almost_anything(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert file_of(name) == tmp_path / name.removeprefix("sqlite:///")


def test_nothing_heavy_is_loaded_before_it_is_needed():
    code = (
        "import sys, ralph.loop.runner, ralph.store as s; s.file_of('memory:'); sys.exit('sqlalchemy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, check=False).returncode == 0


def test_without_the_package_for_postgresql_it_is_told_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "ralph.store.postgres", raising=False)
    with pytest.raises(UsageError) as refused:
        open_store("postgresql://me@127.0.0.1:1/runs")
    assert extra_remedy("postgres") in str(refused.value)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("before", "after"), [(None, 0o600), (0o644, 0o600), (0o640, 0o600), (0o660, 0o660)])
async def test_a_file_is_for_its_owner_alone_wherever_it_lies(tmp_path: Path, before: int | None, after: int) -> None:
    path = tmp_path / "shared" / "a.db"
    if before is not None:
        async with open_store(str(path)) as store:
            await store.create(sample_run())
        path.chmod(before)
    umask = os.umask(0o022)
    try:
        async with open_store(str(path)) as store:
            await store.create(sample_run("run-2"))
            assert {found.name: oct(mode(found)) for found in path.parent.iterdir()} == {
                f"a.db{suffix}": oct(after) for suffix in ("", "-wal", "-shm")
            }
    finally:
        os.umask(umask)

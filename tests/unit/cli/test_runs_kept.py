"""Looking after what was kept: removing runs, writing them to files and reading them back, finding damage."""

import io
import json
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.cli.run import look_up
from ralph.loop.ownership import this_process
from ralph.records.record import RunRecord
from ralph.store import Store, open_store, run_list
from ralph.store.export import exported
from ralph.testing.store_conformance import sample_event, sample_history, sample_iteration, sample_request, sample_run

PARTS = ("run", "iteration", "event", "request")
NOW = datetime.now(UTC)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store in use."""
    monkeypatch.setenv("RALPH_STORE", str(tmp_path / "runs.db"))
    return tmp_path / "runs.db"


def within(path: Path, work: Callable[[Store], Awaitable[Any]]) -> Any:
    async def whole() -> Any:
        async with open_store(str(path)) as store:
            return await work(store)

    return anyio.run(whole)


def run_of(run_id: str, days: float, *, state: Any = "finished", **facts: Any) -> RunRecord:
    """A run that began and ended so many days ago."""
    moment = NOW - timedelta(days=days)
    finished = {"finished_at": moment, "stop_reason": "completed"} if state == "finished" else {}
    return sample_run(run_id).model_copy(update={"started_at": moment, "state": state, **finished, **facts})


@pytest.fixture
def five(path: Path) -> list[str]:
    """Runs of ever longer ago: one at work, two that ended, one that crashed, one that another machine owns."""

    async def fill(store: Store) -> None:
        me = this_process()
        await store.create(run_of("e", 1, state="running", owner=me), owner=me.token)
        await store.create(run_of("d", 10))
        await store.create(run_of("c", 50))
        await store.create(run_of("b", 60, state="running"))
        recent = {"run_id": "b", "finished_at": NOW - timedelta(days=40)}
        await store.append("b", [], iteration=sample_iteration(1).model_copy(update=recent))
        await store.create(run_of("a", 70, state="paused"), owner="of another machine")

    within(path, fill)
    return ["e", "d", "c", "b", "a"]


def ids(path: Path) -> list[str]:
    return [run.id for run in within(path, lambda store: store.runs())]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (("--older-than", "30d"), ["e", "d", "a"]),
        (("--older-than", "45d"), ["e", "d", "b", "a"]),
        (("--older-than", "100h"), ["e", "a"]),
        (("--keep", "3"), ["e", "d", "c", "a"]),
        (("--keep", "3", "--older-than", "45d"), ["e", "d", "c", "b", "a"]),
        (("--keep", "0"), ["e", "a"]),
        (("--keep", "9"), ["e", "d", "c", "b", "a"]),
        (("--keep", "0", "-C", "/"), ["e", "d", "c", "b", "a"]),
    ],
)
def test_prune(ralph: Callable[..., Any], path: Path, five: list[str], words: tuple[str, ...], left: list[str]) -> None:
    gone = [run_id for run_id in five if run_id not in left]
    planned = json.loads(ralph("runs", "prune", *words, "--dry-run", "--json").out)
    assert planned["removed"] == gone
    assert ids(path) == five
    ended = ralph("runs", "prune", *words, "--yes")
    assert ended.code == 0
    kept = 0 if "-C" in words else len(left)
    assert ended.out.split("\n") == [*gone, f"{len(gone)} removed, {kept} kept.", ""]
    assert ids(path) == left
    assert within(path, lambda store: store.check()) == (len(left), ())


@pytest.mark.parametrize(
    "words", [(), ("--older-than", "soon"), ("--older-than", "-3d"), ("--older-than", "nand"), ("--older-than", "30")]
)
def test_prune_is_told_what(ralph: Callable[..., Any], path: Path, five: list[str], words: tuple[str, ...]) -> None:
    ended = ralph("runs", "prune", *words)
    assert ended.code == 2
    assert "--older-than" in ended.err
    assert ids(path) == five


def test_prune_gives_the_room_back_where_nobody_is_at_work(ralph: Callable[..., Any], path: Path) -> None:
    async def fill(store: Store) -> None:
        await store.create(run_of("old", 10), [sample_event(n, "x" * 100_000, run_id="old") for n in range(1, 31)])

    within(path, fill)
    before = path.stat().st_size
    assert ralph("runs", "prune", "--keep", "0", "--yes").code == 0
    assert path.stat().st_size < before / 10


@pytest.fixture
def long(path: Path) -> RunRecord:
    """A run with everything that a run can have."""
    run = run_of("run-1", 1, task="mend \ud83d\ude00 \x1b[31m it\0", iterations=30)

    async def fill(store: Store) -> None:
        await store.create(run)
        for iteration in sample_history(30):
            await store.append(run.id, [sample_event(iteration.number, "a\0\u2028b")], iteration=iteration)
        for _ in range(3):
            await store.ask(run.id, sample_request())

    within(path, fill)
    return run


def lines_of(path: Path) -> list[str]:
    async def read(store: Store) -> list[str]:
        run = await store.run("run-1")
        assert run
        return [line async for line in exported(store, run)]

    return within(path, read)


@pytest.mark.parametrize("by_pipe", [True, False])
def test_a_run_goes_into_a_file_and_from_there_into_another_store(
    ralph: Callable[..., Any],
    path: Path,
    long: RunRecord,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    by_pipe: bool,
) -> None:
    file, other = tmp_path / "run.jsonl", tmp_path / "other.db"
    if by_pipe:
        given = ralph("export", long.id).out
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        ended = ralph("import", "-", "--store", str(other), "--json")
        assert json.loads(ended.out) == {"run_id": long.id}
    else:
        assert ralph("export", long.id, "-o", str(file)).code == 0
        given = file.read_text()
        ended = ralph("import", str(file), "--store", str(other))
        assert f"ralph show --store {other} {long.id}" in ended.out
    *lines, end = given.split("\n")
    assert end == ""
    assert lines_of(other) == lines_of(path) == lines
    assert {key for line in lines for key in json.loads(line)} == {"ralph_run", *PARTS, "end"}
    assert within(other, lambda store: store.check()) == (1, ())
    again = ralph("import", str(file) if not by_pipe else "-", "--store", str(other))
    assert again.code == 2


def test_a_run_is_not_imported_over_another(
    ralph: Callable[..., Any], path: Path, long: RunRecord, tmp_path: Path
) -> None:
    file = tmp_path / "run.jsonl"
    assert ralph("export", long.id, "-o", str(file)).code == 0
    before = lines_of(path)
    ended = ralph("import", str(file))
    assert ended.code == 2
    assert "already holds a run run-1" in ended.err
    assert lines_of(path) == before
    ended = ralph("export", long.id, "-o", str(file))
    assert (ended.code, "already exists" in ended.err) == (2, True)


def test_an_unfinished_run_is_nobodys_after_its_import(ralph: Callable[..., Any], path: Path, tmp_path: Path) -> None:
    me = this_process()
    run = run_of("run-1", 0, state="running", owner=me, pid=me.pid)
    within(path, lambda store: store.create(run, owner=me.token))
    assert ralph("export", run.id, "-o", str(tmp_path / "run.jsonl")).code == 0
    other = tmp_path / "other.db"
    assert ralph("import", str(tmp_path / "run.jsonl"), "--store", str(other)).code == 0
    imported = within(other, lambda store: store.run(run.id))
    assert imported == run.model_copy(update={"owner": None, "pid": 0, "imported": True})
    within(other, lambda store: store.acquire(run.id, "anybody"))


def spoilt(number: int, change: Callable[[dict[str, Any]], Any]) -> Callable[[list[str]], list[str]]:
    """The lines with one of them changed."""

    def spoil(lines: list[str]) -> list[str]:
        value = json.loads(lines[number])
        return [*lines[:number], json.dumps(change(value) or value), *lines[number + 1 :]]

    return spoil


SPOILT: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "empty": (lambda lines: [], "ends before the end of its run"),
    "without its end": (lambda lines: lines[:-1], "ends before the end of its run"),
    "the run alone": (lambda lines: lines[:2], "ends before the end of its run"),
    "without its beginning": (lambda lines: lines[1:], "Line 1 cannot be imported: it is not a line of"),
    "with two beginnings": (lambda lines: [lines[0], *lines], "Line 2 cannot be imported: it is out of place"),
    "with something after its end": (lambda lines: [*lines, lines[5]], "it is out of place"),
    "without its run": (lambda lines: [lines[0], *lines[2:]], "Line 2 cannot be imported: it belongs to another run"),
    "with two runs": (
        lambda lines: [*lines[:2], lines[1], *lines[2:]],
        "Line 3 cannot be imported: it is a second run",
    ),
    "without one line": (lambda lines: [*lines[:3], *lines[4:]], "some are missing or added"),
    "with one line twice": (lambda lines: [*lines[:4], lines[3], *lines[4:]], "its number is 2, and the last was 2"),
    "a broken line": (lambda lines: ["{", *lines], "Line 1 cannot be imported"),
    "null": (lambda lines: ["null", *lines], "Line 1 cannot be imported"),
    "an empty object": (lambda lines: ["{}", *lines], "Line 1 cannot be imported: it must hold exactly one thing"),
    "too deep": (lambda lines: ["[" * 100_000, *lines], "Line 1 cannot be imported"),
    "an escape sequence": (lambda lines: ["\x1b]0;owned\x07", *lines], "Line 1 cannot be imported"),
    "of another format": (spoilt(0, lambda value: {"ralph_run": 2}), "Line 1 cannot be imported: ralph_run"),
    "an id that is a path": (
        spoilt(1, lambda value: value["run"].update(id="../../etc")),
        "the run's id is not one of Ralph's",
    ),
    "an id that is hostile": (
        spoilt(1, lambda value: value["run"].update(id="\x1b[31m")),
        "the run's id is not one of Ralph's",
    ),
    "a run without its task": (
        spoilt(1, lambda value: value["run"].pop("task") and None),
        "Line 2 cannot be imported: run.task: it is missing. Give a file",
    ),
    "something beside the run": (spoilt(1, lambda value: value.update(more=1)), "Line 2 cannot be imported: more"),
    "another run's iteration": (
        spoilt(2, lambda value: value["iteration"].update(run_id="other")),
        "it belongs to another run",
    ),
    "an event of an unknown type": (
        spoilt(40, lambda value: value["event"].update(type="dreamt")),
        "Line 41 cannot be imported: event",
    ),
    "a number without end": (spoilt(40, lambda value: value["event"].update(seq=10**30)), "larger than any database"),
    "another one": (spoilt(40, lambda value: value["event"].update(iteration=10**30)), "larger than any database"),
    "a duration without end": (
        lambda lines: [*lines[:1], lines[1].replace('"duration":0.0', '"duration":1e999'), *lines[2:]],
        "Line 2 cannot be imported: run.duration",
    ),
    "a beginning before all time": (
        spoilt(1, lambda value: value["run"].update(started_at="0001-01-01T00:00:00+14:00")),
        "the run's start is not a valid time",
    ),
    "an event that was not kept": (spoilt(40, lambda value: value["event"].update(seq=0)), "its number is 0"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_file_that_is_not_as_it_was_exported_adds_nothing(
    ralph: Callable[..., Any], path: Path, long: RunRecord, tmp_path: Path, how: str
) -> None:
    spoil, problem = SPOILT[how]
    file, other = tmp_path / "run.jsonl", tmp_path / "other.db"
    file.write_text("".join(f"{line}\n" for line in spoil(lines_of(path))))
    ended = ralph("import", str(file), "--store", str(other))
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    assert ended.err[:-1].isprintable()
    assert problem in ended.err
    assert ids(other) == []


@pytest.mark.parametrize("file", ["nothing.jsonl", ".", "/dev/null"])
def test_what_is_no_file_of_a_run(ralph: Callable[..., Any], path: Path, file: str) -> None:
    ended = ralph("import", file)
    assert ended.code == 2
    assert "ralph: " in ended.err


def test_doctor_looks_at_the_store_that_is_named(ralph: Callable[..., Any], path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_text("no database")
    told = json.loads(ralph("doctor", "--json", "--store", str(other)).out)["findings"]
    assert [finding["ok"] for finding in told if finding["name"] == "store"] == [False]


@pytest.mark.parametrize(
    ("store", "command"),
    [
        (None, "ralph show"),
        ("memory:", ""),
        ("my runs.db", "ralph show --store 'my runs.db'"),
        ("postgresql://me:p:w@ay@h/db?schema=x", "ralph show --store 'postgresql://me@h/db?schema=x'"),
    ],
)
def test_the_command_that_shows_a_run_has_no_password(store: str | None, command: str) -> None:
    assert look_up(store) == command


def test_doctor_tells_of_damage(ralph: Callable[..., Any], path: Path, long: RunRecord) -> None:
    def findings() -> list[dict[str, Any]]:
        told = json.loads(ralph("doctor", "--json").out)["findings"]
        return [finding for finding in told if finding["name"] == "store"]

    assert [(finding["ok"], finding["detail"]) for finding in findings()] == [(True, f"{path}, 1 run")]
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("DELETE FROM events WHERE seq IN (3, 4)")
        other.execute("UPDATE iterations SET record = '{}' WHERE number = 7")
    found = [finding["detail"] for finding in findings()]
    assert found == [
        f"{path}: Run run-1 has 28 events, but the last is number 30: 2 are missing.",
        f"{path}: Iteration 7 of run run-1 was changed after it was written: its checksum does not match.",
        f"{path}: The record of iteration 7 of run run-1 cannot be read back: run_id: it is missing.",
    ]
    assert all("ralph export" in finding["remedy"] for finding in findings())
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xa5" * 4096)
    assert "damaged" in findings()[0]["detail"]


def test_runs_says_the_same_at_a_glance_as_after_a_thorough_look(
    ralph: Callable[..., Any], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fill(store: Store) -> None:
        await store.create(run_of("a", 3, verified=True, iterations=4, duration=4000.0, task="x\n" * 300))
        await store.create(run_of("b", 2, stop_reason="circuit_open", task="\x1b[31mred"))
        await store.create(run_of("c", 1, state="running"))
        await store.append("c", [], iteration=sample_iteration(1))

    within(path, fill)
    seen: list[Any] = []
    look = run_list.listed_runs

    def watched(path: Path, limit: int) -> Any:
        seen.append(look(path, limit))
        return seen[-1]

    def blind(path: Path, limit: int) -> None:
        return None

    monkeypatch.setattr(run_list, "listed_runs", watched)
    quick = [ralph("runs").out, ralph("runs", "-n", "2").out]
    assert all(seen), "it was a glance"
    monkeypatch.setattr(run_list, "listed_runs", blind)
    assert quick == [ralph("runs").out, ralph("runs", "-n", "2").out]
    assert "1 h 6 min" in quick[0]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET record = '[]'",
        "UPDATE runs SET record = '{'",
        "UPDATE runs SET record = json_set(record, '$.started_at', 'soon')",
        "UPDATE runs SET record = json_set(record, '$.duration', 'long')",
        "UPDATE runs SET record = replace(record, '\"duration\": 0.0', '\"duration\": -1e999')",
        "UPDATE schema_version SET version = 99",
    ],
)
def test_what_a_glance_cannot_make_out_is_told_as_ever(
    ralph: Callable[..., Any], path: Path, long: RunRecord, change: str
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(change)
    ended = ralph("runs")
    assert (ended.code, ended.out) == (2 if "schema_version" in change else 0, "")
    assert "run run-1 cannot be read back" in ended.err or "newer Ralph" in ended.err


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("runs", "\nd "),
        ("runs --json", '"id": "d"'),
        ("show --any", "run d\n"),
        ("runs prune --keep 9", "0 removed, 4 kept."),
    ],
)
def test_one_run_that_cannot_be_read_hides_no_other(
    ralph: Callable[..., Any], path: Path, five: list[str], words: str, shown: str
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE runs SET record = '{' WHERE id = 'e'")
    ended = ralph(*words.split())
    assert (ended.code, shown in ended.out) == (0, True), ended
    assert ended.err.count("The record of run e cannot be read back") == 1


def test_a_run_that_is_at_work_is_looked_at_thoroughly(ralph: Callable[..., Any], path: Path) -> None:
    me = this_process()
    within(path, lambda store: store.create(run_of("e", 1, state="running", owner=me), owner=me.token))
    assert "running" in ralph("runs").out


def test_a_server_keeps_runs_as_a_file_does(
    ralph: Callable[..., Any], path: Path, long: RunRecord, tmp_path: Path, postgres_url: str
) -> None:
    file = tmp_path / "run.jsonl"
    assert ralph("export", "--any", "-o", str(file)).code == 0
    assert ralph("import", str(file), "--store", postgres_url).code == 0
    assert ralph("export", "--any", "--store", postgres_url).out == file.read_text()
    for words in (
        ("runs",),
        ("runs", "--json"),
        ("show", "--any"),
        ("show", "--any", "-i", "3"),
        ("show", "--any", "--json"),
        ("breaker", "show", "--any"),
    ):
        here, there = ralph(*words), ralph(*words, "--store", postgres_url)
        told = there.out.replace('"imported": true', '"imported": false')
        assert (here.code, here.out) == (there.code, told) == (0, here.out)
    assert ralph("runs", "prune", "--keep", "0", "--store", postgres_url).out == "run-1\n1 removed, 0 kept.\n"
    assert "No run yet" in ralph("runs", "--store", postgres_url).out

"""`ralph score …` on what is kept: lists, exports, comparisons, pages, and scoring again."""

import csv
import io
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

Score = Callable[..., Any]
"""Calls the command, and returns its `code`, `out` and `err`; see the fixture."""


def response(query: str, text: str, provider: str = "acme", model: str = "a1") -> str:
    return json.dumps({"query_id": query, "response": text, "provider": provider, "model": model})


def test_runs_are_listed_the_newest_first(score: Score, run: str) -> None:
    head, line = score("history").out.splitlines()
    assert head.split() == ["run", "began", "state", "scored", "acc", "compl", "attr"]
    assert line.split()[0] == run
    assert "completed  4/4" in line
    assert [each["id"] for each in score("history", "--json").json] == [run]
    assert score("history", "--domain", "nobody.example").out == "No run yet. `ralph score batch` makes one.\n"


def test_answers_are_listed_by_a_filter_and_the_worst_first(score: Score, run: str) -> None:
    worst = score("history", "--worst", "completeness", "--run", run, "--json").json
    assert [row["completeness"] for row in worst] == [0, 0, 100, 100]
    assert len(score("history", "--worst", "accuracy", "-n", "1", "--json").json) == 1
    good = score("history", "--filter", "completeness>50 and provider=other", "--json")
    assert [(row["query_id"], row["ai_provider"]) for row in good.json] == [("cost", "other")]
    table = score("history", "--filter", "provider=other").out.splitlines()
    assert table[0].split() == ["id", "acc", "compl", "attr", "all", "supp", "contra", "answer", "of", "query"]
    assert all("other o1" in line for line in table[1:])
    contradicting = score("history", "--filter", "contradiction>0", "--json").json
    assert contradicting
    assert all(row["contradiction"] > 0 for row in contradicting)
    assert len(score("history", "--worst", "contradiction", "--json").json) == 4
    assert score("history", "--filter", "accuracy<0").out == "No answer matches.\n"


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_answers_are_exported(score: Score, run: str, form: str) -> None:
    out = score("history", "--export", form, "--run", run).out
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert {row["query_id"] for row in rows} == {"open", "cost"}
    else:
        rows = json.loads(out) if form == "json" else [json.loads(line) for line in out.splitlines()]
        assert {row["result"]["query_id"] for row in rows} == {"open", "cost"}
        assert all(row["result"]["scores"]["accuracy"]["score"] >= 0 for row in rows)
    assert len(rows) == 4


@pytest.mark.parametrize(
    "form", ["csv", pytest.param("json", marks=pytest.mark.long), pytest.param("jsonl", marks=pytest.mark.long)]
)
def test_who_stops_reading_an_export_is_told_of_no_fault(score: Score, form: str) -> None:
    long = f"It opens at nine. {'-' * 9_000}"  # quick to judge, and together more than a pipe takes
    lines = [response("open", long, "acme", f"a{n}") for n in range(60)]
    Path("many.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert score("batch", "--queries", "queries.yaml", "--responses", "many.jsonl").code == 1
    command = [sys.executable, "-m", "ralph", "score", "history", "--export", form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reading:
        assert reading.stdout
        assert reading.stderr
        assert reading.stdout.readline()
        reading.stdout.close()
        said = reading.stderr.read()
    assert (reading.returncode, said) == (0, b"")


def test_one_answer_is_shown_by_the_beginning_of_its_id(score: Score, run: str) -> None:
    row = score("history", "--filter", "provider=acme, query=cost", "--json").json[0]
    ran = score("show", row["id"][:8])
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "query      What does it cost?"
    assert lines[1:3] == ["answer of  acme a1", f"run        {run}"]
    assert "≠ A ticket costs 12 euros." in lines
    assert score("show", row["id"], "--json").json["result"]["response"] == "A ticket costs 15 euros."


def test_providers_are_compared_on_the_same_queries(score: Score, run: str) -> None:
    ran = score("compare", run)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].split() == ["queries", "acc", "compl", "attr", "all", "supp", "contra", "side"]
    assert [(line.split()[0], line.split()[-2:]) for line in lines[1:3]] == [
        ("2", ["acme", "a1"]),
        ("2", ["other", "o1"]),
    ]
    assert "acme a1 against other o1" in lines
    assert lines[5].split()[:1] == ["metric"]
    assert "may be chance" in lines[6]
    found = score("compare", run, "--json").json
    assert {side["name"] for side in found["sides"]} == {"acme a1", "other o1"}


# covers: S3-181
def test_runs_are_compared_side_by_side(score: Score, run: str) -> None:
    Path("page.md").write_text(Path("right.txt").read_text())
    second = score("again", run, "-g", "page.md", "--json").json["run_id"]
    found = score("compare", run, second, "--json").json
    assert len(found["sides"]) == 4
    assert {side["name"].split(":")[0] for side in found["sides"]} == {run, second}


# covers: S3-149
def test_the_answers_of_a_run_are_scored_again_beside_the_old_ones(score: Score, run: str) -> None:
    Path("page.md").write_text(Path("right.txt").read_text().replace("12", "15"))
    ran = score("again", "last", "-g", "page.md")
    assert ran.code == 0, ran.err
    assert f"Changes are since run {run}." in ran.out.splitlines()
    newest, oldest = score("history", "--json").json
    assert oldest["id"] == run
    before = {row["id"]: row for row in score("history", "--run", run, "--json").json}
    for row in score("history", "--run", newest["id"], "--json").json:
        kept = score("show", row["id"], "--json").json["result"]
        assert before[kept["previous_id"]]["query_id"] == row["query_id"]
        assert kept["ground_truth_version"] != ""


# covers: S3-150, S3-170
def test_a_page_is_written_as_a_whole(score: Score, run: str) -> None:
    ran = score("report", run, "-o", "page.html")
    assert (ran.code, ran.out) == (0, "Written: page.html\n")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "What does it cost?" in page
    assert sorted(path.name for path in Path().iterdir() if "html" in path.name) == ["page.html"]


def test_a_page_of_a_run_that_was_cut_off_tells_of_that_run(score: Score, run: str, tmp_path: Path) -> None:
    Path("one.jsonl").write_text(response("open", "The museum opens at noon."))
    words = ("--queries", "queries.yaml", "--responses", "one.jsonl", "-g", "page.md", "--json")
    second = score("batch", *words).json["run_id"]
    [store] = tmp_path.rglob("grounding.db")
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE grounding_runs SET status = 'running', summary = NULL WHERE id = ?", (second,))
    listed = next(line for line in score("history").out.splitlines() if line.startswith(second))
    *_, accuracy, _, _ = listed.split()
    assert 0 <= int(accuracy) <= 100, "of a run that was cut off the means of what it has"
    assert score("report", second, "-o", "cut-off.html").code == score("report", run, "-o", "whole.html").code == 0
    assert "1 answer judged" in Path("cut-off.html").read_text(encoding="utf-8")
    assert "4 answers judged" in Path("whole.html").read_text(encoding="utf-8")

"""`ralph score …` as a person calls it, from the arguments to what is printed."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ralph_grounding.cli.options import store_option

HOSTILE = "A ticket costs \x1b[31m12\x1b]0;x\x07 euros \u202e\u2066 \x9b1m.\r\nThe museum\u2028 opens \x85at nine.\x00"
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
Score = Callable[..., Any]
"""Calls the command, and returns its `code`, `out` and `err`; see the fixture."""


@pytest.fixture(autouse=True)
def _here(museum: Path) -> None:  # pyright: ignore[reportUnusedFunction]
    """Every test is in the folder about the museum."""


def answer() -> str:
    return Path("answer.txt").read_text(encoding="utf-8")


def response(query: str, text: str, provider: str = "acme", model: str = "a1") -> str:
    return json.dumps({"query_id": query, "response": text, "provider": provider, "model": model})


# One answer


def test_an_answer_is_scored_for_people(score: Score) -> None:
    words = ("answer.txt", "--claims", "claims.yaml", "-g", "page.md", "--domain", "lantern.example")
    ran = score(*words)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "completeness   50  fair       1 of 2 required claims",
        "attribution   100  excellent  names https://lantern.example/visit",
        "combined       67",
        "supported      33             % of its statements are in the ground truth",
        "contradicted   33             % contradict it, or a claim",
        "",
        "claims",
        "✓ The museum opens at nine in the morning.",
        "    “The museum opens at nine in the morning.” (1.00)",
        "≠ A ticket costs 12 euros.",
        "    “A ticket costs 15 euros.” (number: 15 instead of 12)",
        "✗ Dogs are not allowed inside. (optional)",
        "    not found",
        "",
        "not in the ground truth (which need not be false)",
        "  “It was once a lighthouse.”",
        "",
        "31 % of the answer is supported.",
    ]
    assert score("answer", *words) == ran, "the command may be named"
    assert score(*words[1:], stdin=answer()) == ran, "and the answer come in"


def test_an_answer_is_scored_for_programs(score: Score) -> None:
    ran = score("answer.txt", "--claims", "claims.yaml", "--reference", "right.txt", "--json", "--question", "Hours?")
    said = ran.json
    assert set(said) == {
        "accuracy", "completeness", "attribution", "combined", "feedback", "flags", "notes", "similarity",
        "ground_truth_version",
    }  # fmt: skip
    assert {"score", "tier", "similarity"} <= set(said["accuracy"])
    assert {"score", "tier", "claims_found", "claims_missing", "matches"} <= set(said["completeness"])
    assert [(each["claim"], each["found"]) for each in said["completeness"]["matches"]] == [
        ("The museum opens at nine in the morning.", True),
        ("A ticket costs 12 euros.", False),
        ("Dogs are not allowed inside.", False),
    ]
    assert all(0 <= each["similarity"] <= 1 for each in said["completeness"]["matches"])
    assert said["attribution"] is None
    assert ran.out.isascii()


def test_an_answer_that_lacks_a_claim_fails_where_the_settings_ask_for_all(
    score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_PLUGINS__GROUNDING__COMPLETENESS__REQUIRE_ALL_REQUIRED", "true")
    ran = score("answer.txt", "--claims", "claims.yaml")
    assert (ran.code, "does not pass" in ran.out) == (1, True)
    Path("answer.txt").write_text(Path("page.md").read_text())
    assert score("answer.txt", "--claims", "claims.yaml").code == 0


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_hostile_answer_cannot_act_on_a_terminal(score: Score, form: tuple[str, ...]) -> None:
    Path("evil.yaml").write_text(yaml.safe_dump([HOSTILE.replace("\0", ""), "A \x1b[5mfalse claim \u202e."]))
    ran = score("-", "-g", "page.md", "--claims", "evil.yaml", "--brand", "\x1b[31mLantern", *form, stdin=HOSTILE)
    assert ran.code == 0, ran.err
    assert ACTING.findall(ran.out) == []
    assert [line for line in ran.out.splitlines() if line != line.rstrip()] == []


# Lines


def test_lines_are_answered_in_their_order(score: Score) -> None:
    lines = [
        json.dumps({
            "response": answer(),
            "claims": ["The museum opens at nine in the morning."],
        }),
        "broken",
        json.dumps({
            "response": answer(),
            "reference": "A ticket costs 15 euros.",
        }),
        "",
        json.dumps({"response": answer()}),
        json.dumps({"response": None, "claims": ["x"]}),
        json.dumps({"response": answer(), "domain": "lantern.example"}),
    ]
    ran = score("--jsonl", stdin="\n".join(lines))
    measured = [
        answer.get("error", "")[:16] or [name for name in ("accuracy", "completeness", "attribution") if answer[name]]
        for answer in ran.lines
    ]
    assert measured == [
        ["completeness"],
        "it is not JSON: ",
        ["accuracy"],
        "the line is empt",
        "There is nothing",
        ["accuracy", "completeness", "attribution"],
        ["attribution"],
    ]
    assert {"empty_response", "needs_review", "malformed"} == set(ran.lines[5]["flags"])
    assert (ran.code, ran.err) == (0, "")


def test_lines_share_the_ground_truth_of_the_options(score: Score) -> None:
    Path("lines").write_text(
        json.dumps({"response": answer()}) + "\n" + json.dumps({"response": answer(), "ground_truth": ["Other."]})
    )
    shared, own = score("lines", "--jsonl", "-g", "page.md", "--domain", "lantern.example").lines
    assert shared["feedback"]["highlights"]["coverage_percent"] > 0
    assert own["feedback"]["highlights"]["coverage_percent"] == 0
    assert shared["attribution"]["score"] == own["attribution"]["score"] == 100
    assert shared["ground_truth_version"] != own["ground_truth_version"]


@pytest.mark.long
def test_a_line_of_64_mib_is_answered_and_a_longer_one_told_of(tmp_path: Path) -> None:
    """In a process of its own, so that nothing of it stays in this one's memory."""
    most = 64 * 1024**2
    file = tmp_path / "long.jsonl"
    with file.open("wb") as stream:
        for length in (most, most + 1):
            head, tail = b'{"claims": ["It opens at nine."], "response": "It opens at nine. ', b'"}\n'
            stream.write(head + b"a" * (length - len(head) - len(tail) + 1) + tail)
        stream.write(b'{"response": "x", "claims": ["It opens at nine."]}\n')
    command = (sys.executable, "-m", "ralph", "score", str(file), "--jsonl")
    ended = subprocess.run(command, capture_output=True, timeout=50, check=True)
    first, second, third = [json.loads(line) for line in ended.stdout.splitlines()]
    assert (first["completeness"]["score"], first["flags"]) == (100, ["truncated"])
    assert second == {"error": "the line is longer than 64 MiB"}
    assert third["completeness"]["score"] == 0


def test_lines_are_answered_as_they_come() -> None:
    command = (sys.executable, "-m", "ralph", "score", "--jsonl")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for _ in range(2):
            process.stdin.write(b'{"response": "x", "claims": []}\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["flags"] == ["nothing_to_check"]
        process.stdin.close()
        assert process.wait(10) == 0


def test_who_stops_reading_is_not_told_of_a_file(score: Score) -> None:
    Path("many.jsonl").write_text('{"response": "It opens at nine.", "claims": ["It opens at nine."]}\n' * 400)
    command = (sys.executable, "-m", "ralph", "score", "--jsonl", "many.jsonl")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


# Batches


def test_a_batch_is_summed_up_for_people(score: Score) -> None:
    answers = [response("open", "It opens at nine in the morning."), response("nobody", "Yes."), response("cost", "")]
    Path("r.jsonl").write_text("\n".join(answers))
    ran = score("batch", "--queries", "queries.yaml", "--responses", "r.jsonl", "-g", "page.md")
    assert ran.code == 1
    run_id = ran.err.split()[1].rstrip(":")
    assert ran.err == f"run {run_id}: 2 queries against 1 page\n"
    head, accuracy, completeness, attribution, empty, *rest = ran.out.splitlines()
    assert head.split() == ["mean", "median", "lowest", "highest", "change", "tiers"]
    assert accuracy.split()[:5] == ["accuracy", "50.0", "50.0", "0.0", "100.0"]
    assert completeness.endswith("1 excellent, 1 poor")
    assert (attribution.split()[0], empty) == ("attribution", "")
    assert rest == [
        "Missed most:",
        "  A ticket costs 12 euros.",
        "    missed by 1 of 1 providers; 0 of 1 answers make it (0 %, 95 % interval 0–79 %)",
        "",
        "2 of 3 were scored, 1 failed.",
        "  nobody: No query has this id.",
        f"Try them again: ralph score batch --continue {run_id}",
        f"The page: ralph score report {run_id}",
    ]


def test_a_batch_without_scores_shows_neither_headings_nor_changes(score: Score) -> None:
    Path("r.jsonl").write_text(response("open", "It opens at nine in the morning."))
    score("batch", "--queries", "queries.yaml", "--responses", "r.jsonl", "-g", "page.md")
    Path("r.jsonl").write_text("")
    ran = score("batch", "--queries", "queries.yaml", "--responses", "r.jsonl", "-g", "page.md")
    assert ran.out.splitlines()[0] == "0 of 2 were scored, 2 failed."
    assert "Changes" not in ran.out


def test_what_a_person_is_told_to_type_names_the_store_that_they_named(score: Score) -> None:
    Path("r.jsonl").write_text(response("open", "It opens at nine in the morning."))
    ran = score("batch", "--queries", "queries.yaml", "--responses", "r.jsonl", "--store", "./my own.db")
    *_, trying_again, page = ran.out.splitlines()
    Path("r.jsonl").write_text(f"{response('open', 'At nine.')}\n{response('cost', 'A ticket costs 12 euros.')}")
    ralph, *words = shlex.split(trying_again.removeprefix("Try them again: "))
    again = score(*words[1:])
    assert (ran.code, ralph, again.code) == (1, "ralph", 0)
    assert "2 of 2 were scored, 0 failed." in again.out
    ralph, *words = shlex.split(page.removeprefix("The page: "))
    assert (ralph, score(*words[1:]).out) == ("ralph", "Written: ralph-score.html\n")
    for unknown in (["report", "nothing"], ["compare", "nothing"], ["again", "nothing"], ["show", "nothing"]):
        assert "--store './my own.db'" in score(*unknown, "--store", "./my own.db").err


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (None, ""),
        ("sqlite:///a b.db", " --store 'sqlite:///a b.db'"),
        ("postgresql://me:se/cr@et@host/db", " --store postgresql://me@host/db"),
        ("postgresql://me@host:5432/db", " --store postgresql://me@host:5432/db"),
        ("x\x1b]0;y\x07.db", " --store 'x ]0;y .db'"),
    ],
)
def test_a_store_is_told_of_without_its_password(named: str | None, told: str) -> None:
    assert store_option(named) == told


def test_a_batch_tells_each_answer_as_a_line_and_last_the_whole(score: Score, run: str) -> None:
    ran = score("batch", "--queries", "queries.yaml", "--responses", "responses.jsonl", "-g", "page.md", "--jsonl")
    *lines, last = ran.lines
    assert {(line["query_id"], line["provider"]) for line in lines} == {
        (query, provider) for query in ("open", "cost") for provider in ("acme", "other")
    }
    assert all(line["completeness"] for line in lines)
    assert (last["batch"]["succeeded"], last["batch"]["errors"]) == (4, [])
    assert last["batch"]["summary"]["trend"]["previous_run_id"] == run


def test_queries_made_from_ground_truth_can_be_asked_and_answered(score: Score) -> None:
    made = score("queries", "-g", "page.md", "--domain", "lantern.example")
    assert made.code == 0
    queries = yaml.safe_load(made.out)
    Path("made.yaml").write_text(made.out)
    Path("r.jsonl").write_text("\n".join(response(query["id"], query["expected"]["text"]) for query in queries))
    ran = score("batch", "--queries", "made.yaml", "--responses", "r.jsonl", "-g", "page.md", "--json")
    assert (ran.code, ran.json["total"]) == (0, len(queries))
    assert ran.json["summary"]["accuracy"]["min"] > 85
    assert score("batch", "--responses", "r.jsonl", "-g", "page.md", "--domain", "lantern.example").code == 0
    assert len(yaml.safe_load(score("queries", "-g", "page.md", "-n", "1").out)) == 1


def test_a_broken_line_among_the_responses_loses_nothing(score: Score) -> None:
    good = response("open", "It opens at nine in the morning.")
    Path("r.jsonl").write_text(f"{good}\nbroken\n{response('cost', 'A ticket costs 12 euros.')}")
    ran = score("batch", "--queries", "queries.yaml", "--responses", "r.jsonl", "-g", "page.md")
    assert (ran.code, ran.out) == (2, "")
    assert "Line 2 of" in ran.err
    Path("r.jsonl").write_text(f"{good}\n{response('cost', 'A ticket costs 12 euros.')}")
    assert score("batch", "--continue", "last").code == 0
    assert len(score("history", "--run", "last", "--json").json) == 2
    assert len(score("history", "--json").json) == 1


def test_ground_truth_that_has_changed_is_another_run(score: Score, run: str) -> None:
    Path("page.md").write_text(Path("page.md").read_text() + "\nIt has a café.\n")
    ran = score("batch", "--continue", run)
    assert (ran.code, ran.out) == (2, "")
    assert run in ran.err


def test_what_hostile_providers_wrote_acts_on_no_terminal_when_it_is_listed(score: Score) -> None:
    answers = [response(query, HOSTILE, who, f"m{who}") for query in ("open", "cost") for who in (HOSTILE, "b\x1b[31m")]
    Path("r.jsonl").write_text("\n".join([*answers, response(f"x{HOSTILE}", "x")]))
    printed = [score("batch", "--queries", "queries.yaml", "--responses", "r.jsonl", "-g", "page.md")]
    row = score("history", "--run", "last", "--json").json[0]
    calls = (["history"], ["history", "--run", "last"], ["show", row["id"]], ["compare", "last"], ["again", "last"])
    for words in (*calls, ["history", "--worst", "accuracy"], ["show", row["id"], "--json"]):
        printed.append(score(*words))
        assert printed[-1].code == 0, printed[-1].err
    for ran in printed:
        assert ACTING.findall(ran.out + ran.err) == []
        assert [line for line in ran.out.splitlines() if line != line.rstrip()] == []


# On a terminal


def on_terminal(words: list[str], columns: int = 80) -> list[str]:
    """What a terminal is sent, without colours."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        (sys.executable, "-m", "ralph", "score", *words),
        stdin=subprocess.DEVNULL, stdout=follower, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    os.close(follower)
    pieces: list[bytes] = []
    try:
        while piece := os.read(leader, 65536):
            pieces.append(piece)
    except OSError:
        pass  # nobody has it open any more
    os.close(leader)
    assert process.wait(20) == 0
    text = re.sub(r"\x1b\[[0-9;]*m", "", b"".join(pieces).decode())
    return text.replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize(
    "words",
    [
        ["history"],
        pytest.param(["history", "--worst", "accuracy"], marks=pytest.mark.long),
        pytest.param(["compare", "last"], marks=pytest.mark.long),
    ],
)
def test_tables_fit_a_terminal_of_80_columns(score: Score, run: str, words: list[str]) -> None:
    lines = on_terminal(words)
    assert max(map(len, lines)) <= 80
    assert ACTING.findall("\n".join(lines)) == []
    if words == ["history"]:
        assert lines[1].split()[0] == run, "what is needed for the next command is not cut"


def test_on_a_terminal_the_answer_is_shown_with_its_marks(score: Score) -> None:
    Path("answer.txt").write_text(answer() + HOSTILE, newline="")
    lines = on_terminal(["answer.txt", "-g", "page.md", "--claims", "claims.yaml"])
    assert "the answer" in lines
    assert ACTING.findall("\n".join(lines)) == []
    assert lines[lines.index("the answer") + 1].startswith("The museum opens at nine in the morning. A ticket costs")


# Limits on reading, as the user sets them


def test_how_many_pages_are_read_can_be_set(score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("docs").mkdir()
    for name in "abc":
        Path("docs", f"{name}.md").write_text(f"# Kiln {name}\n\nThe kiln named {name.upper()} has 2 doors.\n")
    monkeypatch.setenv("RALPH_PLUGINS__GROUNDING__READING__PAGES", "2")
    ran = score("queries", "-g", "docs")
    assert ran.code == 0
    assert {url for query in yaml.safe_load(ran.out) for url in query["source_urls"]} == {"a.md", "b.md"}
    assert "1 files or addresses were left out: at most 2 pages are read" in ran.err


def test_a_limit_that_is_not_valid_is_refused(score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_PLUGINS__GROUNDING__READING__SITE_SECONDS", "0")
    ran = score("queries", "-g", "page.md")
    assert ran.code != 0
    assert "plugins.grounding.reading.site_seconds: 0 is not valid" in " ".join(ran.err.split())


# What cannot be


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.txt", "-g", "page.md"], "'nowhere.txt' cannot be read: No such file"),
        ([".", "-g", "page.md"], "Is a directory"),
        (["answer.txt"], "nothing to check the answer against"),
        (["answer.txt", "--claims", "nowhere.yaml"], "nowhere.yaml"),
        (["answer.txt", "--claims", "page.md"], "page.md"),
        (["answer.txt", "--reference", "nowhere.txt"], "'nowhere.txt' cannot be read"),
        (["answer.txt", "-g", "nowhere"], "nowhere"),
        (["answer.txt", "-g", "http://127.0.0.1:1/"], "127.0.0.1"),
        (["answer.txt", "--jsonl", "--claims", "claims.yaml"], "--claims cannot be given with --jsonl"),
        (["answer.txt", "-g", "page.md", "--similarity", "lexicl"], "Did you mean 'lexical'?"),
        (["answer.txt", "-g", "page.md", "--similarity", "endpoint"], "plugins.grounding.providers"),
        (["--bogus"], "--bogus"),
        (["queries"], "No ground truth is given"),
        (["queries", "-g", "page.md", "-n", "0"], "--limit"),
        (["queries", "-g", "page.md", "--agent", "nobody"], "'nobody'"),
        (["batch"], "No source of answers is given"),
        (["batch", "--ask", "--executor", "copilot"], "--ask and --executor cannot be combined"),
        (["batch", "--ask", "-g", "page.md"], "plugins.grounding.answers.model is empty"),
        (["batch", "--responses", "nowhere.jsonl", "-g", "page.md"], "nowhere.jsonl cannot be read"),
        (["batch", "--responses", "page.md", "-g", "page.md"], "Line 1 of"),
        (["batch", "--responses", "x", "--queries", "nowhere.yaml"], "nowhere.yaml"),
        (["batch", "--responses", "x", "--queries", "page.md"], "page.md"),
        (["batch", "--responses", "x"], "ground"),
        (["batch", "--executor", "nobody", "-g", "page.md"], "'nobody'"),
        (["batch", "--continue", "nobody"], "'nobody'"),
        (["batch", "--continue", "last"], "There is no run yet"),
        (["compare"], "RUN"),
        (["compare", "last"], "There is no run yet"),
        (["history", "--worst", "beauty"], "There is no metric called 'beauty'"),
        (["history", "--filter", "beauty<3"], "beauty"),
        (["history", "--filter", "accuracy<"], "accuracy<"),
        (["history", "--export", "xml"], "There is no form called 'xml'"),
        (["history", "--run", "\x1b[31mx"], "The id of no run, or of several"),
        (["history", "--store", "mysql://x"], "names no store"),
        (["history", "--store", "postgresql://u:hunter2@127.0.0.1:1/x"], "cannot be used"),
        (["show", "\x1b[31mabc"], "The id of no analysis, or of several"),
        (["show"], "ID"),
        (["again", "last"], "There is no run yet"),
        (["report"], "There is no run yet"),
    ],
)
def test_what_cannot_be_is_one_paragraph(score: Score, words: list[str], said: str) -> None:
    ran = score(*words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.startswith("ralph: ")
    assert ran.err.count("\n") == 1
    assert "hunter2" not in ran.err
    assert ACTING.findall(ran.err) == []
    began = list((Path.cwd().parent / "state").rglob("*.db"))
    if began:
        assert score("history", "--json").json == [], "no run was begun"


def test_a_page_that_cannot_be_written_is_told_of(score: Score, run: str) -> None:
    ran = score("report", run, "-o", "nowhere/page.html")
    assert (ran.code, ran.out) == (2, "")
    assert "cannot be written to nowhere/page.html: No such file or directory" in ran.err


def test_a_run_with_one_side_is_not_compared(score: Score) -> None:
    Path("r.jsonl").write_text(response("open", "It opens at nine."))
    score("batch", "--queries", "queries.yaml", "--responses", "r.jsonl", "-g", "page.md")
    ran = score("compare", "last")
    assert (ran.code, "There is only one side to compare in" in ran.err) == (2, True)


def test_to_continue_takes_no_other_options(score: Score, run: str) -> None:
    ran = score("batch", "--continue", run, "--ask")
    assert (ran.code, "accepts no others" in ran.err) == (2, True)


def test_a_run_scored_again_is_not_continued_as_a_batch(score: Score, run: str) -> None:
    again = score("again", run, "--json").json["run_id"]
    ran = score("batch", "--continue", again)
    assert (ran.code, "`ralph score batch` did not start the run" in ran.err) == (2, True)


def test_each_command_says_what_it_does(score: Score) -> None:
    began = time.monotonic()
    for name in ("answer", "batch", "queries", "compare", "history", "show", "again", "report"):
        ran = score(name, "--help")
        assert ran.code == 0
        assert f"ralph score {name}" in ran.out
    assert time.monotonic() - began < 30

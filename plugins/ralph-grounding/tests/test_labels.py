"""`ralph score label` and `ralph score agreement`: from a key pressed to a figure."""

import csv
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ralph.errors import UsageError
from ralph.testing import ModelRequest, ModelServer, Say, wait_until
from ralph_grounding.judging.agreement import Labelled, report_agreement
from ralph_grounding.judging.labels import LabelFile

Score = Callable[..., Any]

# Figures


def rows(*counts: tuple[str, str, int]) -> Iterator[Labelled]:
    """So many claims with a label and a verdict, each in an answer of its own."""
    for label, verdict, number in counts:
        for each in range(number):
            yield Labelled(f"{label}{verdict}{each}", label, verdict, None, verdict)  # pyright: ignore[reportArgumentType]


def test_kappa_is_cohens() -> None:
    """The example of the article on Wikipedia: 20 and 15 of 50 agree, which is 0.7; chance gives 0.5."""
    found = report_agreement([
        *rows(("present", "present", 20), ("present", "absent", 5), ("absent", "present", 10), ("absent", "absent", 15))
    ]).offline
    assert found.accuracy == 0.7
    assert found.kappa == pytest.approx(0.4)
    assert found.low is not None
    assert found.high is not None
    assert 0.1 < found.low < 0.4 < found.high < 0.7
    present = found.kinds["present"]
    assert (present.precision, present.recall, present.labels) == (pytest.approx(2 / 3), 0.8, 25)
    assert (found.kinds["contradicted"].precision, found.kinds["contradicted"].recall) == (None, None)


def test_the_interval_is_by_answer() -> None:
    """Ten claims of one answer say less than ten of ten answers."""
    apart = list(rows(("present", "present", 30), ("present", "absent", 10), ("absent", "absent", 30)))
    together = [row._replace(answer=str(place // 10)) for place, row in enumerate(apart)]
    one, other = report_agreement(apart).offline, report_agreement(together).offline
    assert one.kappa == other.kappa
    assert (other.high or 0) - (other.low or 0) > (one.high or 0) - (one.low or 0)
    assert report_agreement(apart) == report_agreement(apart)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (rows(("present", "present", 20), ("absent", "absent", 20)), "40 labelled claims"),
        (rows(("present", "present", 30), ("absent", "present", 15), ("absent", "absent", 15)), "kappa is 0.50"),
        (rows(("present", "present", 60)), "cannot be compared with chance"),
    ],
)
def test_what_is_uncalibrated_is_warned_of(given: Iterator[Labelled], said: str) -> None:
    warnings = report_agreement(list(given)).warnings
    assert len(warnings) == 1
    assert said in warnings[0]


def test_what_is_calibrated_is_not_warned_of() -> None:
    assert report_agreement([*rows(("present", "present", 30), ("absent", "absent", 30))]).warnings == ()


# Files


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_the_last_line_of_a_claim_counts(tmp_path: Path, name: str) -> None:
    file = LabelFile(tmp_path / name)
    assert file.labels() == {}
    about = {"claim": '=HYPERLINK("x")\n\ud800', "query_id": "q"}
    file.keep_label("a", "present", about)
    file.keep_label("b", "absent", about)
    file.keep_label("a", "contradicted", about)
    file.keep_label("b", None, {})
    assert LabelFile(tmp_path / name).labels() == {"a": "contradicted"}
    if name.endswith("csv"):
        with (tmp_path / name).open(newline="") as stream:
            assert next(row["claim"][:2] for row in csv.DictReader(stream)) == "'="


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("labels.txt", "", "not a file of labels"),
        ("labels.csv", "key,outcome\nk,perhaps\n", "Line 2 of .* is not a label"),
        ("labels.csv", "text\nx\n", "is not a label"),
        ("labels.jsonl", '{"key": 1}\n', "Line 1 of .* is not a label"),
        ("labels.jsonl", "{\n", "cannot be read"),
        ("labels.jsonl", "\udcff", "cannot be read"),
    ],
)
def test_a_file_that_holds_no_labels_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UsageError, match=said) as raised:
        LabelFile(path).labels()
    assert raised.value.remedy


# As a user calls them


@pytest.mark.parametrize("file", [(), ("--file", "labels.csv"), ("--file", "labels.jsonl")])
def test_claims_are_labelled_and_compared(score: Score, run: str, file: tuple[str, ...]) -> None:
    ran = score("label", run, *file, stdin="p\nx\nc\nu\na\nq\n")
    assert ran.code == 0, ran.err
    assert "2 labels added; 2 of 4 claims are left." in ran.out
    assert ran.out.count("1 of 4") == 1
    assert "✓" not in ran.out, "the verdict is not shown"
    ran = score("label", run, *file, stdin="p\n")
    assert "1 of 2" in ran.out, "it continues where it was"
    assert "1 label added; 1 of 4 claims are left." in ran.out
    ran = score("agreement", run, *file)
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].split() == [
        "claims", "agree", "kappa", "95", "%", "present", "absent", "contradicted"
    ]  # fmt: skip
    assert "offline" in ran.out
    assert "3 labelled claims, and 50 are needed" in ran.err
    found = score("agreement", run, *file, "--json").json
    assert (found["labels"], found["judge"]) == (3, None)
    if file:
        assert score("agreement", run).code == 2, "the labels are in the file alone"


def test_labels_outlast_the_scoring_and_hold_for_the_judge(score: Score, run: str) -> None:
    def right(request: ModelRequest) -> Say:
        """Present where the answer has the right words, which it quotes."""
        answer = request.body["messages"][1]["content"].split("<answer-")[1]
        quote = next((words for words in ("nine in the morning", "12 euros") if words in answer), "")
        return Say(json.dumps({"verdict": "present" if quote else "absent", "quote": quote}))

    assert "0 of 4 claims" in score("label", run, stdin="p\na\np\na\n").out
    with ModelServer(right) as server:
        judge = ("--judge", server.base_url, "--judge-model", "m", "--judge-mode", "all")
        assert score("again", run, *judge).code == 0
    found = score("agreement", "--json").json
    assert (found["labels"], found["judge"]["claims"], found["final"]["claims"]) == (4, 4, 4)
    assert found["offline_there"]["claims"] == 4
    assert "judge, where it decides" in score("agreement", "last").out
    assert "All" not in score("label", stdin="").out
    assert "0 labels added; 0 of 4 claims are left." in score("label", stdin="").out


def test_without_labels_there_is_nothing_to_compare(score: Score, run: str) -> None:
    ran = score("agreement", run)
    assert (ran.code, "has a label" in ran.err, "ralph score label" in ran.err) == (2, True, True)


def test_a_hostile_answer_cannot_act_on_the_labeller(score: Score, museum: Path) -> None:
    text = "It opens \x1b[2Jat nine.\x1b]0;x\x07\r\n\u202eA ticket [bold]costs[/bold] 12 euros.\x9b1m"
    Path("hostile.jsonl").write_text(json.dumps({"query_id": "open", "response": text, "provider": "\x1b[5m"}))
    score("batch", "--queries", "queries.yaml", "--responses", "hostile.jsonl")
    out = score("label", stdin="q\n").out
    assert "A ticket [bold]costs[/bold] 12 euros." in out
    assert not [letter for letter in out if (letter < " " and letter != "\n") or letter in "\x9b\u202e\x7f"]


@pytest.mark.long
@pytest.mark.timeout(300)
def test_keys_label_in_a_terminal(run: str, score: Score, museum: Path, tmp_path: Path) -> None:
    """In tmux, without a line end after a key."""
    if shutil.which("tmux") is None:
        if os.environ.get("CI"):
            pytest.fail("tmux is not installed")
        pytest.skip("tmux is not installed")
    tmux = ("tmux", "-L", f"label{os.getpid()}", "-f", os.devnull)
    command = f"{shlex.quote(sys.executable)} -m ralph score label {run}; echo ended with $?; read REPLY"

    def call(*words: str) -> str:
        return subprocess.run((*tmux, *words), check=True, capture_output=True, text=True, timeout=60).stdout

    def shows(text: str) -> None:
        screen = ""

        def there() -> bool:
            nonlocal screen
            screen = call("capture-pane", "-p")
            return text in screen

        try:
            wait_until(there, patience=120)
        except TimeoutError:
            pytest.fail(f"{text!r} did not come; the screen:\n{screen}")

    call("new-session", "-d", "-x", "90", "-y", "30", "-c", str(museum), command)
    try:
        shows("1 of 4")
        call("send-keys", "Up", "Right", "F1", "p", "c", "u")  # faster than they are shown; the first three do nothing
        shows("2 of 4")
        call("send-keys", "q")
        shows("1 label added; 3 of 4 claims are left.")
        shows("ended with 0")
    finally:
        call("kill-server")
    assert score("agreement", run, "--json").json["labels"] == 1

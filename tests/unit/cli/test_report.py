"""`ralph report`, `ralph stats`, and the filters of `ralph runs`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.executors.base import Turn
from ralph.prompt import Prompt
from ralph.records.record import RunRecord
from ralph.testing import Repository, ScriptedExecutor
from ralph.types.output import Failed, Output

DONE = "It is done.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"


class Writing(ScriptedExecutor):
    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        (turn.workspace / f"file-{turn.iteration}.txt").write_text("one\ntwo\n")
        return await super().execute(prompt, turn)


@pytest.fixture
def done(workspace: Path, kept_run: Callable[..., RunRecord]) -> RunRecord:
    repository = Repository.begin(workspace)
    repository.write("a.txt", "a\n")
    repository.commit()
    return kept_run(executor=Writing([DONE]), verify="test -f file-1.txt")


def test_a_run_as_a_page_and_as_markdown(ralph: Callable[..., Any], done: RunRecord, workspace: Path) -> None:
    assert ralph("report", "-o", "night.html").out == "Wrote night.html.\n"
    page = (workspace / "night.html").read_text()
    for said in ("Completed, verified", "Make the tests pass.", "file-1.txt", "+2", "test -f file-1.txt", "<mark"):
        assert said in page, said
    assert ralph("report", done.id).out[-500:] == page[-500:]
    written = ralph("report", "--format", "markdown").out
    assert written.startswith("## ✓ Completed, verified\n")
    assert "| `file-1.txt` | 2 | 0 |" in written
    assert ralph("report", "-o", "night.md").code == 0
    assert (workspace / "night.md").read_text().startswith("## ✓")
    for words, said in (
        (("--format", "pdf"), "--format 'pdf' is not a format. Write html or markdown."),
        (("-o", "no/folder.html"), "no/folder.html cannot be written: No such file or directory."),
        (("nothing",), "nothing"),
    ):
        ended = ralph("report", *words)
        assert (ended.code, said in ended.err) == (2, True), ended.err


def test_a_run_without_checkpoints_or_iterations_has_a_report(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord], workspace: Path
) -> None:
    crash = Failed(failure="crashed", message="the runtime died")
    kept_run(executor=ScriptedExecutor([crash] * 3, then="repeat_last"))
    page, written = ralph("report").out, ralph("report", "--format", "markdown").out
    assert "Circuit open" in page
    assert "the runtime died" in page
    assert "`ralph breaker reset`" in page
    assert "## ✗ Circuit open" in written


def test_what_an_agent_wrote_mentions_no_one_also_in_a_pipe(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord]
) -> None:
    crash = Failed(failure="crashed", message="ask @octocat about #17 at https://evil.example")
    kept_run(executor=ScriptedExecutor([crash] * 3, then="repeat_last"))
    written = ralph("report", "--format", "markdown").out
    assert "ask @&#8288;octocat about #&#8288;17 at https:&#8288;//evil.example" in written
    assert "@octocat" not in written


def test_the_files_of_a_difference(ralph: Callable[..., Any], done: RunRecord) -> None:
    assert ralph("diff", "--stat").out.splitlines() == ["file-1.txt      2  ++", "1 file, 2 lines added, 0 removed"]
    told = json.loads(ralph("diff", "--stat", "--json").out)
    assert [file["path"] for file in told["files"]] == ["file-1.txt"]
    assert "diff" not in told


def test_runs_are_filtered_and_searched_and_counted(
    ralph: Callable[..., Any], done: RunRecord, kept_run: Callable[..., RunRecord], tmp_path: Path
) -> None:
    crash = Failed(failure="crashed", message="the runtime died")
    open_circuit = kept_run(executor=ScriptedExecutor([crash] * 3, then="repeat_last"))
    for words, expected in (
        (("--state", "completed"), [done.id]),
        (("--stop-reason", "circuit-open"), [open_circuit.id]),
        (("--state", "finished"), [open_circuit.id, done.id]),
        (("--search", "TESTS pass"), [open_circuit.id, done.id]),
        (("--search", done.id[-6:]), [done.id]),
        (("--search", "other"), []),
        (("--since", "1h"), [open_circuit.id, done.id]),
        (("--since", "2001-01-01"), [open_circuit.id, done.id]),
        (("--since", "2999-01-01"), []),
        (("--workspace", str(tmp_path)), []),
        (("--state", "finished", "-n", "1"), [open_circuit.id]),
    ):
        assert [run["id"] for run in json.loads(ralph("runs", "--json", *words).out)] == expected, words
        shown = [line.split()[0] for line in ralph("runs", *words).out.splitlines()[1:]]
        assert shown == expected, words
    assert "No run is like that." in ralph("runs", "--search", "other").out
    for words, said in ((("--state", "lost"), "is no state of a run"), (("--since", "7"), "is not an age")):
        ended = ralph("runs", *words)
        assert (ended.code, said in ended.err) == (2, True), ended.err
    stats = json.loads(ralph("stats", "--json").out)
    assert stats["outcomes"] == {"circuit open": 1, "completed, verified": 1}
    assert (stats["runs"], stats["cost"]) == (2, None)
    assert json.loads(ralph("stats", "--json", "--state", "completed").out)["runs"] == 1
    assert "runs        2, 1 completed, 1 of them verified" in ralph("stats").out
    assert ralph("stats", "--search", "other").out == "No such run.\n"

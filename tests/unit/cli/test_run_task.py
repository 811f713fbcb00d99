"""The task of a run, and the plan that it names."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.cli.run import look_at_plan, read_prompt
from ralph.errors import UsageError

NO_ENDPOINT = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--verify", "none")


def _stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_an_argument(tmp_path: Path) -> None:
    assert read_prompt("Mend it.", None) == "Mend it."


def test_a_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "task.md"
    file.write_bytes("\ufeff測試 mend it".encode())
    assert read_prompt(None, file) == "測試 mend it"


@pytest.mark.parametrize(("text", "file"), [("-", None), (None, Path("-"))])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, text: str | None, file: Path | None) -> None:
    _stdin(monkeypatch, b"Mend it.\n")
    assert read_prompt(text, file) == "Mend it.\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"one\ntwo \xff", "is not UTF-8: line 2"),
        (b"a" * 1_000_001, "is larger than 1,000,000 bytes"),
    ],
)
def test_content_that_is_no_task(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "task.md"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=said) as refused:
        read_prompt(None, file)
    assert "task.md" in str(refused.value)


def test_a_huge_standard_input_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    _stdin(monkeypatch, b"a" * 3_000_000)
    with pytest.raises(UsageError, match="larger than"):
        read_prompt("-", None)
    assert sys.stdin.buffer.tell() < 1_100_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "There is no task"),
        (("run", "  "), "The task is empty"),
        (("run", "-f", "nowhere.md"), "The file 'nowhere.md' does not exist"),
        (("run", "-f", "."), "The file '.' cannot be read"),
        (("run", "x", "-f", "y.md"), "given twice"),
        (("run", "x", "-C", "nowhere"), "The workspace 'nowhere' does not exist"),
        (("run", "x", "-C", "/dev/null"), "The workspace '/dev/null' is not a folder"),
    ],
)
def test_no_task_or_no_workspace_is_wrong_usage(ralph: Callable[..., Any], words: tuple[str, ...], said: str) -> None:
    ended = ralph(*words)
    assert ended.code == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_the_name_of_a_file_is_not_a_task(ralph: Callable[..., Any], workspace: Path) -> None:
    (workspace / "it's.md").write_text("Make the tests pass.")
    ended = ralph("run", "it's.md")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "names a file. `ralph run -f 'it'\"'\"'s.md'` reads the task from it." in ended.err


def test_a_long_word_is_a_task() -> None:
    """The limit of a file's name is in bytes: Chinese has no spaces."""
    assert read_prompt("修" * 100, None) == "修" * 100


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../outside.md", "'../outside.md' cannot be used: it leads out of the workspace"),
        ("folder", "'folder' cannot be used: "),
        ("broken.json", "'broken.json' cannot be used: it is not readable JSON"),
        ("a\x1b[2J/../folder/..", "ralph: The plan 'a\\x1b[2J"),
    ],
)
def test_what_is_no_plan_is_refused_before_anything_is_spent(
    ralph: Callable[..., Any], workspace: Path, name: str, said: str
) -> None:
    (workspace / "folder").mkdir()
    (workspace / "broken.json").write_text("{")
    (workspace.parent / "outside.md").write_text("- [ ] one\n")
    (workspace / "a\x1b[2J").mkdir()
    ended = ralph("run", "Do it.", "--plan", name, *NO_ENDPOINT)
    assert ended.code == 2
    assert said in ended.err
    assert ended.err.endswith("Name a file of the workspace, or leave it out.\n")
    assert ended.err.count("\n") == 1


def test_one_that_is_not_there_yet_is_told_of(ralph: Callable[..., Any], workspace: Path) -> None:
    ended = ralph("run", "Do it.", "--plan", "PLAN.md", *NO_ENDPOINT)
    first, second, *more = ended.err.splitlines()
    assert first == "ralph: The plan 'PLAN.md' is not in the workspace yet; it counts once it is there."
    assert "refuses the connection" in second
    assert not more


@pytest.mark.parametrize("content", ["- [ ] one\n", "", "- [ ] one\n" * 6000])
def test_one_that_can_be_read_is_nothing_to_speak_of(
    workspace: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "PLAN.md").write_text(content)
    look_at_plan(workspace, "PLAN.md")
    look_at_plan(workspace, None)
    assert capsys.readouterr() == ("", "")

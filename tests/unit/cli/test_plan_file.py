"""The plan that `ralph run` is told to go by."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.cli.prompt import look_at_plan

NO_ENDPOINT = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--verify", "none")


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

"""What the program makes of wrong usage and of its own faults."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph import __version__
from ralph.cli import runs as runs_command


def test_the_version(ralph: Callable[..., Any]) -> None:
    ended = ralph("--version")
    assert (ended.code, ended.out) == (0, f"ralph {__version__}\n")


def test_help_lists_every_command(ralph: Callable[..., Any]) -> None:
    ended = ralph("--help")
    assert ended.code == 0
    for command in ("run", "demo", "runs", "show", "analyze", "breaker", "init", "doctor", "config"):
        assert f" {command} " in ended.out


@pytest.mark.parametrize("words", [(), ("run",), ("config", "show"), ("runs", "prune")])
def test_no_flag_is_shown_with_a_value(ralph: Callable[..., Any], words: tuple[str, ...]) -> None:
    shown = ralph(*words, "--help").out
    assert "--help" in shown
    assert "bool" not in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rum"], "ralph: There is no command 'rum'. Did you mean 'run'?\n"),
        (["breaker", "rest"], "ralph: There is no command 'rest'. Did you mean 'reset'?\n"),
        (["run", "--exectuor", "x"], "ralph: There is no option --exectuor. Did you mean '--executor'?\n"),
        (["run", "--no-such", "x"], "ralph: There is no option --no-such. `ralph run --help` tells more.\n"),
        (["demo", "--display", "bar"], "ralph: There is no display called 'bar'. Known: auto, json"),
        (["show", "--iteration", "x"], "ralph: Invalid value for '--iteration' / '-i': it should be a whole number."),
        (["run", "a", "b"], "ralph: Got unexpected extra argument"),
    ],
)
def test_wrong_usage_is_one_paragraph_with_the_nearest_name(
    ralph: Callable[..., Any], words: list[str], said: str
) -> None:
    ended = ralph(*words)
    assert ended.code == 2
    assert ended.err.startswith(said)
    assert ended.err.count("\n") == 1
    assert ended.out == ""


def test_without_a_command_the_help_is_shown(ralph: Callable[..., Any]) -> None:
    ended = ralph()
    assert ended.code == 2
    assert "Commands" in ended.out + ended.err
    assert "ralph:" not in ended.err


def test_a_fault_of_our_own_is_one_paragraph_that_names_where_the_traceback_is(
    ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("SOME_TOKEN", "hunter22hunter22")

    async def broken(*_: object) -> None:
        raise KeyError("hunter22hunter22\nand more")

    monkeypatch.setattr(runs_command, "_runs", broken)
    ended = ralph("runs")
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert "KeyError" in ended.err
    assert "hunter22" not in ended.err
    (written,) = tmp_path.glob("ralph-fault-*.txt")
    assert str(written) in ended.err
    assert "Traceback" in written.read_text()
    assert "hunter22" not in written.read_text()

    monkeypatch.setenv("RALPH_DEBUG", "1")
    assert "Traceback" in ralph("runs").err


def test_an_interrupt_ends_with_130(ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runs_command, "_runs", interrupted)
    ended = ralph("runs")
    assert (ended.code, ended.err) == (130, "")

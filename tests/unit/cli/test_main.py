"""What the program makes of wrong usage and of its own faults."""

import errno
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from ralph import __version__
from ralph.cli import runs as runs_command
from ralph.cli.commands import COMMANDS, GROUPS, command
from ralph.cli.examples import EXAMPLES
from ralph.cli.run import exit_code
from ralph.cli.suggestions import MEANT
from ralph.records.record import RunRecord, StopReason
from ralph.watch import Display


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version(ralph: Callable[..., Any], option: str) -> None:
    ended = ralph(option)
    assert (ended.code, ended.out) == (0, f"ralph {__version__}\n")


def test_help_lists_every_command(ralph: Callable[..., Any]) -> None:
    ended = ralph("--help")
    assert ended.code == 0
    for name in COMMANDS:
        assert f" {name} " in ended.out


@pytest.mark.parametrize(
    ("words", "same"),
    [(["-h"], ["--help"]), (["help"], ["--help"]), (["help", "runs", "prune"], ["runs", "prune", "-h"])],
)
def test_help_is_found_under_every_usual_name(ralph: Callable[..., Any], words: list[str], same: list[str]) -> None:
    ended = ralph(*words)
    assert ended.code == 0
    assert "Usage: ralph" in ended.out
    assert ended.out == ralph(*same).out


def test_the_help_has_two_examples_for_each_group_in_80_columns(
    ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = ralph("--help").out.partition("Examples:")[2].splitlines()
    examples = [line[12:] for line in lines if line[12:].startswith("ralph ")]
    assert len(examples) == 2 * len(GROUPS)
    assert max(map(len, lines)) <= 80
    assert [line[2:10].strip() for line in lines if line[2:3].isupper()] == [*GROUPS]


@pytest.mark.parametrize("example", [each for examples in EXAMPLES.values() for each in examples])
def test_every_example_in_the_help_can_be_called(example: str) -> None:
    """Typer parses it; nothing is run."""
    _, *words = shlex.split(re.split(" [<>] ", example)[0])
    group = command()
    context = typer.Context(group, info_name="ralph")
    while words and hasattr(group, "resolve_command") and not words[0].startswith("-"):
        name, group, words = group.resolve_command(context, words)
        context = typer.Context(group, info_name=name, parent=context)
    group.parse_args(context, words)


def test_every_word_that_is_not_a_command_names_one() -> None:
    assert not MEANT.keys() & COMMANDS.keys()
    assert {meant.split()[0] for meant in MEANT.values()} - {"--version"} <= COMMANDS.keys()


_HELP = """
import contextlib, io, sys
from ralph.cli import _call
heavy = {"anyio", "asyncio", "copilot", "httpx", "opentelemetry", "psutil", "pydantic_settings", "sqlalchemy"}
heavy |= {"tenacity", "ralph.analysis.analyzer", "ralph.loop", "ralph.pipeline", "ralph.records", "ralph.store"}
heavy |= {"ralph.testing", "ralph.plugins", "ralph.verifiers", "ralph.workspace"}
for words, forbidden in zip(sys.argv[1:], (heavy | {"pydantic"}, heavy)):
    for name in words.split():
        with contextlib.redirect_stdout(io.StringIO()):
            assert _call([name, "--help"]) == 0
        if found := forbidden & sys.modules.keys():
            sys.exit(f"ralph {name} --help imports {sorted(found)}")
"""


def test_the_help_of_a_command_imports_nothing_that_only_its_run_needs() -> None:
    """The flags of some commands are made from the settings, and so these need pydantic."""
    with_flags = {"run", "resume", "pause", "stop", "tell", "extend"}
    words = (" ".join(COMMANDS.keys() - with_flags), " ".join(with_flags))
    subprocess.run([sys.executable, "-c", _HELP, *words], check=True)


@pytest.mark.parametrize("words", [(), ("run",), ("config", "show"), ("runs", "prune")])
def test_no_flag_is_shown_with_a_value(ralph: Callable[..., Any], words: tuple[str, ...]) -> None:
    shown = ralph(*words, "--help").out
    assert "--help" in shown
    assert "bool" not in shown


@pytest.mark.parametrize("columns", ["40", "60", "72", "80"])
@pytest.mark.parametrize("words", [("run",), ("analyze",), ("rollback",), ("runs", "prune"), ("runs",)])
def test_a_narrow_terminal_cuts_no_option(
    ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    options = set(re.findall(r"--[a-z-]+", ralph(*words, "--help").out))
    monkeypatch.setenv("COLUMNS", columns)
    shown = ralph(*words, "--help").out
    assert {option for option in options if option not in shown} == set()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rum"], "ralph: There is no command 'rum'. Did you mean 'run'?\n"),
        (["--no-such"], "ralph: There is no option --no-such. `ralph --help` shows its use.\n"),
        (["ls"], "ralph: There is no command 'ls'. Did you mean `ralph runs`?\n"),
        (["help", "kill"], "ralph: There is no command 'kill'. Did you mean `ralph stop`?\n"),
        (["fleet", "cancel", "x"], "ralph: There is no command 'cancel'. Did you mean `ralph fleet stop`?\n"),
        (["help", "nope"], "ralph: There is no command 'nope'. Known: "),
        ([""], "ralph: There is no command ''. Known: "),
        (["github"], "ralph: There is no command 'github'. It is a plug-in, for `ralph run --task github:…`.\n"),
        (["config", "get"], "ralph: Missing argument 'KEY'. All keys are listed by `ralph config show`.\n"),
        (["stop"], "ralph: Missing argument 'RUN'. Write the beginning of an id from `ralph runs`, or `last`.\n"),
        (["run", "x", "--workspace", "y"], "ralph: There is no option --workspace. Did you mean '--directory'?\n"),
        (["runs", "--outcome", "foo"], "ralph: 'foo' is no state of a run. Write one of completed, "),
        (["Fix", "the tests"], "ralph: There is no command 'Fix'. Did you mean `ralph run \"Fix the tests\"`?\n"),
        (["Fix $it now"], "ralph: There is no command 'Fix $it now'. Did you mean `ralph run 'Fix $it now'`?\n"),
        (
            ["tell", "last", "a", "b"],
            'ralph: The text is several words, and only one text can be given. Quote it: `ralph tell last "a b"`.\n',
        ),
        (["breaker", "rest"], "ralph: There is no command 'rest'. Did you mean 'reset'?\n"),
        (["run", "--exectuor", "x"], "ralph: There is no option --exectuor. Did you mean '--executor'?\n"),
        (["run", "--no-such", "x"], "ralph: There is no option --no-such. `ralph run --help` shows its use.\n"),
        (["demo", "--display", "bar"], "ralph: There is no display called 'bar'. Known: auto, json"),
        (["show", "--iteration", "x"], "ralph: --iteration: 'x' is not valid: it should be a whole number.\n"),
        (["runs", "-n", "0"], "ralph: --limit: '0' is not valid: it should be at least 1.\n"),
        (
            ["run", "x", "--max-iterations", "9" * 100],
            f"ralph: --max-iterations: '{'9' * 80}…' is not valid: it should",
        ),
        (["run", "x", "--commit", "\udcff"], "ralph: --commit: '�' is not valid: it should be text in UTF-8.\n"),
        (
            ["run", "x", "--verifier", "shell:command="],
            "ralph: The verifier 'shell': command is '', which is not valid: it should not be empty",
        ),
        (
            ["run", "x", "--executor", "x" * 5000],
            f"ralph: There is no executor called '{'x' * 199}…{'x' * 98}'. Known: ",
        ),
        (
            ["run", "Make", "the", "tests", "pass"],
            'ralph: The text is several words, and only one text can be given. Quote it: `ralph run "Make the tests',
        ),
        (["runs", "prune", "x" * 500], f"ralph: '{'x' * 80}' is too much. "),
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
    assert "Start" in ended.out + ended.err
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


@pytest.mark.parametrize("words", [("export", "-o", "a\x1b[2Jb/c"), ("import", "a\x1b[2Jb")])
def test_no_escape_sequence_of_what_was_given_reaches_the_terminal(
    ralph: Callable[..., Any], kept_run: Callable[..., Any], words: tuple[str, ...]
) -> None:
    kept_run("Nothing done.")
    ended = ralph(*words)
    assert ended.code == 2
    assert "ab" in ended.err
    assert ended.err[:-1].isprintable()


def test_a_fault_is_told_of_where_nothing_can_be_written_down(
    ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise KeyError("x")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    monkeypatch.setattr(runs_command, "_runs", broken)
    ended = ralph("runs")
    assert ended.code == 1
    assert "KeyError: 'x'. The traceback could not be saved (No space left on device)" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(("reason", "code"), [("completed", 1), ("stuck", 3), ("limit_reached", 5), ("cancelled", 130)])
def test_a_run_that_could_not_be_shown_is_no_success_and_else_ends_as_it_ended(reason: StopReason, code: int) -> None:
    shown = Display()
    cast("Any", shown.out).refused = OSError(errno.ENOSPC, "No space left on device")
    record = RunRecord(id="r", task="t", started_at=datetime(2026, 11, 21, tzinfo=UTC), stop_reason=reason)
    assert exit_code(record, shown) == code


def test_an_interrupt_ends_with_130(ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runs_command, "_runs", interrupted)
    monkeypatch.setattr("os._exit", sys.exit)  # it leaves at once, with these tests
    ended = ralph("runs")
    assert (ended.code, ended.err) == (130, "")


_IGNORED = """
import time
import ralph.cli

class Held:
    def __del__(self):
        raise KeyboardInterrupt

def work(_):
    Held()
    time.sleep(20)
    return 0

ralph.cli._call = work
ralph.cli.main()
"""


def test_a_signal_that_came_where_python_ignores_it_is_not_lost() -> None:
    ended = subprocess.run([sys.executable, "-c", _IGNORED], capture_output=True, timeout=20, check=False)
    assert (ended.returncode, ended.stderr) == (130, b"")


_TURNED = """
import os, sys, time
import ralph.cli

def work(_):
    try:
        exec("os.kill(os.getpid(), int(sys.argv[1])); time.sleep(20)")
    except BaseException as error:
        raise (ValueError(f"building a model: {error!r}") if sys.argv[2] == "wrapped" else error) from None

ralph.cli._call = work
ralph.cli.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("how", ["as it came", "wrapped"])
def test_a_signal_ends_the_program_whatever_a_library_makes_of_its_exception(number: int, how: str) -> None:
    """Such as pydantic, which puts it into an error of its own, or Python, which ends by the signal after an exec."""
    command = [sys.executable, "-c", _TURNED, str(number), how]
    ended = subprocess.run(command, capture_output=True, timeout=20, check=False)
    assert (ended.returncode, ended.stderr) == (128 + number, b"")

"""A command decides, and whatever it prints is bounded, masked and comparable."""

import sys
import time
from pathlib import Path

import psutil
import pytest

from ralph.errors import UsageError, VerifierError
from ralph.system.secrets import Redactor
from ralph.verifiers import CommandVerifier, Subject, parse_command
from ralph.verifiers.command import failure_signature


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


async def test_the_exit_status_decides(tmp_path: Path) -> None:
    assert (await CommandVerifier(["true"]).verify(Subject(tmp_path))).passed
    refuted = await CommandVerifier(["false"]).verify(Subject(tmp_path))
    assert not refuted.passed
    assert refuted.verifier == "false"
    assert "status 1" in refuted.output
    assert refuted.signature


@pytest.mark.parametrize("text", ["pytest -q", "python -c \"print('x y')\"", "grep -F '$x' a.txt"])
def test_its_name_is_the_command_as_a_person_writes_it(text: str) -> None:
    assert CommandVerifier(parse_command(text)).name == text


async def test_it_runs_in_the_workspace_with_both_streams_kept(tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text("#!/bin/sh\npwd\necho complaint >&2\n")
    (tmp_path / "check.sh").chmod(0o755)
    verdict = await CommandVerifier(["./check.sh"]).verify(Subject(tmp_path))
    assert verdict.passed
    assert verdict.output == f"{tmp_path}\ncomplaint"
    assert verdict.signature == ""
    assert verdict.duration > 0


async def test_what_it_leaves_running_is_ended(tmp_path: Path) -> None:
    verdict = await CommandVerifier("setsid sleep 60 > /dev/null 2>&1 & echo $!").verify(Subject(tmp_path))
    assert verdict.passed
    left = int(verdict.output)
    assert not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE


async def test_a_text_is_for_the_shell(tmp_path: Path) -> None:
    verifier = CommandVerifier("echo one && echo two | tr t T")
    assert (await verifier.verify(Subject(tmp_path))).output == "one\nTwo"
    assert verifier.name == "echo one && echo two | tr t T"


async def test_its_input_is_empty(tmp_path: Path) -> None:
    assert (await CommandVerifier(["cat"], timeout=20).verify(Subject(tmp_path))).passed


async def test_long_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    code = "import sys; print('FIRST'); print('x' * 900_000); print('LAST'); sys.exit(1)"
    output = (await CommandVerifier(python(code)).verify(Subject(tmp_path))).output
    assert len(output) <= 4000
    assert output.startswith("FIRST")
    assert "LAST\n[It ended with status 1.]" in output
    assert "left out" in output


async def test_neither_stream_hides_the_other(tmp_path: Path) -> None:
    code = "import sys; print('x' * 9000 + 'OUT'); print('y' * 9000 + 'ERR', file=sys.stderr); sys.exit(1)"
    output = (await CommandVerifier(python(code)).verify(Subject(tmp_path))).output
    assert len(output) <= 4000
    assert "OUT" in output
    assert "ERR" in output


async def test_secrets_and_terminal_codes_are_taken_out(tmp_path: Path) -> None:
    code = r"import sys; print('\x1b[31mred\x1b[0m hunter2-hunter2 \x1b]0;title\x07\0done'); sys.exit(1)"
    verifier = CommandVerifier(python(code), redactor=Redactor(["hunter2-hunter2"]))
    verdict = await verifier.verify(Subject(tmp_path))
    assert verdict.output.startswith("red *** done")
    assert "hunter2" not in verdict.model_dump_json()


async def test_hostile_output_is_read_in_no_time(tmp_path: Path) -> None:
    code = r"import sys; [print(part * 60_000, end='') for part in ('\x1b]', '\x1b[', 'a/', '1.', '\r')]; sys.exit(1)"
    began = time.monotonic()
    verdict = await CommandVerifier(python(code)).verify(Subject(tmp_path))
    assert len(verdict.output) <= 4000
    assert time.monotonic() - began < 5


async def test_one_that_takes_too_long_is_ended_with_its_tree_and_refutes(tmp_path: Path) -> None:
    code = "import subprocess, time; print(subprocess.Popen(['sleep', '60']).pid, flush=True); time.sleep(60)"
    began = time.monotonic()
    verdict = await CommandVerifier(python(code), timeout=1).verify(Subject(tmp_path))
    assert time.monotonic() - began < 10
    assert not verdict.passed
    assert "ended after 1 s" in verdict.output
    assert verdict.signature == "timed out"
    child = int(verdict.output.split()[0])
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


async def test_one_that_takes_too_long_refutes_even_if_it_then_exits_with_status_0(tmp_path: Path) -> None:
    code = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); time.sleep(60)"
    verdict = await CommandVerifier(python(code), timeout=1).verify(Subject(tmp_path))
    assert not verdict.passed
    assert verdict.signature == "timed out"


@pytest.mark.parametrize("command", [["no-such-program"], ["./missing.sh"], ["./plain.txt"], "no-such-program -q"])
async def test_one_that_cannot_start_says_so(tmp_path: Path, command: list[str] | str) -> None:
    (tmp_path / "plain.txt").write_text("no program")
    with pytest.raises(VerifierError) as caught:
        await CommandVerifier(command).verify(Subject(tmp_path))
    name = command if isinstance(command, str) else command[0]
    assert name in str(caught.value)
    assert "cannot start" in str(caught.value)
    assert caught.value.remedy
    assert caught.value.exit_code == 2


async def test_a_program_that_ends_with_127_itself_did_start(tmp_path: Path) -> None:
    assert not (await CommandVerifier(python("import sys; sys.exit(127)")).verify(Subject(tmp_path))).passed


@pytest.mark.parametrize("empty", ["", "  ", []])
def test_an_empty_command_is_refused(empty: str | list[str]) -> None:
    with pytest.raises(UsageError, match="empty"):
        CommandVerifier(empty)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pytest -q", ("pytest", "-q")),
        ("pytest -k 'a or b;c'", ("pytest", "-k", "a or b;c")),
        ('grep "a|b" "x > y"', ("grep", "a|b", "x > y")),
        (r"find . -exec true \;", ("find", ".", "-exec", "true", ";")),
        ("'my program' $HOME", ("my program", "$HOME")),
        (r"""echo '$(x)' "it's" """, ("echo", "$(x)", "it's")),
    ],
)
def test_a_command_is_split_as_a_shell_would(text: str, words: tuple[str, ...]) -> None:
    assert parse_command(text) == words


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("make && pytest", "&&"),
        ("pytest | tee log", "|"),
        ("pytest || true", "||"),
        ("a ; b", ";"),
        ("pytest&", "&"),
        ("pytest > log", ">"),
        ("pytest >> log", ">>"),
        ("cat < in", "<"),
        ("echo `date`", "`"),
        ("echo $(date)", "$("),
        ('echo "$(date)"', "$("),
        ("one\ntwo", "\n"),
    ],
)
def test_what_needs_a_shell_is_refused_and_the_way_named(text: str, operator: str) -> None:
    with pytest.raises(UsageError, match="--verify-shell") as caught:
        parse_command(text)
    assert repr(operator) in str(caught.value)


@pytest.mark.parametrize("text", ["", "   ", "''", "pytest 'open", 'a "b', "end\\", "CI=1 pytest"])
def test_what_cannot_be_a_command_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_command(text)
    assert repr(text) in str(caught.value)
    assert caught.value.remedy


FAILURE = """
============ FAILURES ============
    def test_sum():
>       assert total([1, 2]) == 3
E       AssertionError: assert 4 == 3
/tmp/pytest-of-me/pytest-{run}/test_sum.py:{line}: AssertionError
2026-01-{run:02}T10:11:{line:02}Z worker 0x7f{run:04}9a2b failed
FAILED tests/test_sum.py::test_sum - AssertionError: assert 4 == 3
========= 1 failed, 3 passed in {run}.{line}s =========
"""


def test_the_same_failure_has_the_same_signature() -> None:
    one, two = FAILURE.format(run=3, line=17), FAILURE.format(run=12, line=48)
    assert failure_signature(one) == failure_signature(two)
    assert "test_sum" in failure_signature(one)
    assert failure_signature(one) == failure_signature(one.upper().lower())
    assert len(failure_signature(one * 50)) <= 200
    assert failure_signature("1 failed in 980 ms\n") == failure_signature("1 failed in 1.2 s\n")


def test_another_failure_has_another_signature() -> None:
    one = FAILURE.format(run=3, line=17)
    assert failure_signature(one) != failure_signature(one.replace("test_sum", "test_product"))
    assert failure_signature("it broke\n") != failure_signature("it melted\n")
    assert failure_signature("1 2 3 \n ==== \n") == ""


def test_of_a_long_output_the_end_tells_what_failed() -> None:
    one = FAILURE.format(run=3, line=17)
    assert failure_signature("no error in this line\n" * 5_000 + one) == failure_signature(one)


def test_a_signature_is_found_fast_in_hostile_text() -> None:
    began = time.monotonic()
    for text in ("a/" * 500_000, "1" * 1_000_000, "error " * 200_000, "\n" * 1_000_000, "\x1b[" * 500_000):
        failure_signature(text)
    assert time.monotonic() - began < 2

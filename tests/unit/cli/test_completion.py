"""Completion in the real shells, and the manual page."""

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ralph.cli.commands import COMMANDS

_PROGRAMS = str(Path(sys.executable).parent)
_WAIT = 120.0

IN_CI = bool(os.environ.get("CI"))  # nothing real is left out there
needs = {
    shell: pytest.mark.skipif(not IN_CI and not shutil.which(shell), reason=f"there is no {shell}")
    for shell in ("zsh", "fish")
}

_BASH = """
source <(ralph completion bash)
COMP_LINE="$1" COMP_POINT=${#1}
_ralph
printf '%s\\n' "${COMPREPLY[@]}"
"""


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{_PROGRAMS}:{os.environ['PATH']}", "TERM": "dumb"}


def _bash(typed: str) -> list[str]:
    command = ["bash", "--norc", "-c", _BASH, "bash", typed]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=_environment()).stdout.splitlines()


def _fish(typed: str) -> list[str]:
    script = "ralph completion fish | source; complete --do-complete $argv[1]"
    command = ["fish", "--no-config", "-c", script, typed]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=_environment())
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


def _zsh(typed: str, wanted: Sequence[str]) -> str:
    """Type into an interactive zsh, and return what it shows once all wanted words are there."""
    import pty

    process, terminal = pty.fork()
    if process == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], _environment())
    shown = ""
    try:
        start = "autoload -U compinit; compinit -u -D; source <(ralph completion zsh); print rea''dy\n"
        os.write(terminal, start.encode())
        end = time.monotonic() + _WAIT
        asked = False
        while time.monotonic() < end and not (asked and all(each in shown for each in wanted)):
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 65536).decode("utf-8", "replace")
            if not asked and "ready" in shown:
                asked, shown = True, ""
                os.write(terminal, f"{typed}\t\t".encode())
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)
    return shown


@pytest.mark.parametrize("complete", [_bash, pytest.param(_fish, marks=needs["fish"])])
@pytest.mark.long
def test_a_shell_completes_commands_runs_and_names(
    complete: Callable[[str], list[str]], kept_run: Callable[..., Any]
) -> None:
    run = kept_run("Nothing done.")
    assert complete("ralph sta") == ["status", "stats"] or set(complete("ralph sta")) == {"status", "stats"}
    assert {*complete("ralph show ")} >= {"last", run.id}
    assert complete(f"ralph show {run.id[:10]}") == [run.id]
    assert {*complete("ralph run --executor c")} >= {"claude", "codex", "copilot"}
    assert complete("ralph run --wire-api r") == ["responses"]
    assert complete("ralph config get limits.max_it") == ["limits.max_iterations"]
    assert "--search" in complete("ralph runs --")


@needs["zsh"]
@pytest.mark.long
@pytest.mark.timeout(400)
def test_zsh_completes_too(kept_run: Callable[..., Any]) -> None:
    run = kept_run("Nothing done.")
    for typed, wanted in (("ralph sta", ["status", "stats"]), ("ralph show ", ["last", run.id])):
        assert all(each in _zsh(typed, wanted) for each in wanted)


def test_an_unknown_shell_is_named(ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    ended = ralph("completion")
    assert (ended.code, "There is no completion for the shell 'tcsh'" in ended.err) == (2, True)
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert ralph("completion").out == ralph("completion", "fish").out


def test_what_a_store_holds_is_no_code_for_a_shell(
    ralph: Callable[..., Any], kept_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An imported run may have any task; only ids of harmless characters are offered, with states and times."""
    kept_run("Nothing done.")
    monkeypatch.setenv("_RALPH_COMPLETE", "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "ralph show ")
    lines = ralph().out.splitlines()
    assert len(lines) == 2
    assert all(re.fullmatch(r"[\w.-]+\t[\w ,:]+", line) for line in lines)


@pytest.mark.parametrize("value", ["", "complete_night"])
def test_a_strange_request_for_completions_is_left_out(
    ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("_RALPH_COMPLETE", value)
    ended = ralph("--version")
    assert (ended.code, ended.err, ended.out[:6]) == (0, "", "ralph ")


def test_the_manual_page_has_every_command(ralph: Callable[..., Any]) -> None:
    page = ralph("man").out
    for name in COMMANDS:
        assert f'.SS "ralph {name}' in page
    assert "\\-\\-max\\-iterations" in page
    assert page.isascii(), "roff knows other characters by their numbers alone"
    assert "\\[u2026]" in page
    assert not re.search(r"^\.(?!TH|SH|SS|TP|B|PP|RS|RE)", page, re.MULTILINE)

"""A hostile agent writes to the user's terminal: with everything that a run keeps of it, and every command that reads.

Each command runs in a pseudo terminal of its own, which hands over the very bytes that a terminal would get.
"""

import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ralph.testing import Repository, own_environment

pytestmark = [pytest.mark.attack, pytest.mark.timeout(300)]

HOSTILE = {
    "clipboard": "\x1b]52;c;cm0gLXJmIC8K\x07",
    "clipboard, by ST": "\x1b]52;c;cm0gLXJmIC8K\x1b\\",
    "clipboard, 8 bit": "\x9d52;c;cm0gLXJmIC8K\x9c",
    "clipboard, no end": "\x1b]52;c;cm0gLXJmIC8K",
    "title": "\x1b]0;root@host\x07",
    "icon name": "\x1b]1;root\x07",
    "hyperlink": "\x1b]8;;https://evil.example/\x1b\\docs\x1b]8;;\x1b\\",
    "notification": "\x1b]9;your session has expired\x07",
    "palette": "\x1b]4;0;#ffffff\x07",
    "image": "\x1b]1337;File=inline=1:AAAA\x07",
    "semantic prompt": "\x1b]133;A\x07",
    "cursor up": "\x1b[99A",
    "cursor home": "\x1b[H",
    "cursor, 8 bit": "\x9b99A",
    "clear screen": "\x1b[2J",
    "clear history": "\x1b[3J",
    "erase line": "\x1b[2K",
    "scroll region": "\x1b[5;6r",
    "alternate screen": "\x1b[?1049h",
    "mouse reports": "\x1b[?1003h",
    "bracketed paste off": "\x1b[?2004l",
    "answer to who are you": "\x1b[c",
    "answer to where is the cursor": "\x1b[6n",
    "answer with the title": "\x1b[21t",
    "answer of a setting": "\x1bP$qm\x1b\\",
    "user keys": "\x1bP0;1|17/6c73\x1b\\",
    "application command": "\x1b_Gf=24;AAAA\x1b\\",
    "private message": "\x1b^hidden\x1b\\",
    "reset": "\x1bc",
    "line drawing": "\x1b(0",
    "shift out": "\x0e",
    "keypad": "\x1b=",
    "concealed": "\x1b[8mrm -rf\x1b[0m",
    "blinking on red": "\x1b[5;41m",
    "reversed": "\x1b[7m",
    "broken": "\x1b[12;",
    "alone": "\x1b",
    "in one another": "\x1b\x1b[99A[99A",
    "bell": "\x07",
    "backspaces": "safe\x08\x08\x08\x08evil",
    "carriage return": "harmless\revil",
    "form feed": "\x0c\x0b",
    "delete": "\x7f",
    "next line": "\x85",
    "turned": "\u202eexe.txt\u202c",
    "isolated": "\u2066evil\u2069",
    "zero width": "pass\u200bword\u200d\u2060\ufeff",
    "tags": "\U000e0041\U000e0042",
    "selectors": "a\ufe01\U000e0101\ufe0f",
    "separators": "one\u2028two\u2029three",
    "soft hyphen": "pay\u00adpal",
}
MARK = "Zq7"
TEXT = "".join(f" {MARK}{text}{MARK} {name}" for name, text in HOSTILE.items())
OWN_COLOURS = re.compile(r"\x1b\[(?:[0-4]|3[1-7])?(?:;(?:[0-4]|3[1-7]))*m")
DRAWING = re.compile(r"\r|\x1b\[(?:1A|2K|\?25[lh]|\?2026[lh])")
"""What the live display draws its panel with."""
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)

PLUGIN = f"""
import os
import sys
from pathlib import Path
import typer
from ralph.executors import Executor
from ralph.plugins import Command, Provider, hookimpl
from ralph.types.output import Answered, Failed

TEXT = {TEXT!r}
TEXTS = {list(HOSTILE.values())!r}
BLOCK = "\\n---RALPH_STATUS---\\nEXIT_SIGNAL: %s\\nREASON: " + TEXT + "\\n---END_RALPH_STATUS---"


class Hostile(Executor):
    name = "hostile"

    async def execute(self, prompt, turn):
        said = turn.transcript
        said.executor, said.model, said.session_id = "hostile" + TEXT, TEXT, TEXT
        for piece in TEXTS:
            said.delta(piece)
        said.message(TEXT, tool_calls=1)
        said.tool_started("1" + TEXT, "tool" + TEXT, TEXT)
        said.tool_finished("1" + TEXT, success=False, result=TEXT)
        said.diagnosed(TEXT)
        said.diagnostics = TEXT
        here = turn.workspace
        for number, text in enumerate(TEXTS):
            name = f"{{turn.iteration}}-{{number}}-{{os.getpid()}}" + text.replace("/", "_")
            (here / name).write_text(TEXT, encoding="utf-8", errors="surrogateescape")
        box = "- [x] " if turn.iteration > 1 else "- [ ] "
        (here / "@fix_plan.md").write_text("".join(f"{{box}}{{text}} item\\n" for text in TEXTS))
        (here / "ok").write_text("x" * (turn.iteration > 1))
        if turn.iteration == 1:
            return said.finish(Failed(failure="protocol", message=TEXT, status=500))
        said.message("I fixed it. " + TEXT + BLOCK % "true")
        return said.finish(Answered())


app = typer.Typer()


@app.command()
def shout() -> None:
    print(TEXT)
    typer.echo(TEXT)
    typer.echo(TEXT, err=True)
    sys.stdout.writelines([TEXT])
    from rich.console import Console
    Console(highlight=False).print(TEXT, markup=False)


@hookimpl
def ralph_executors():
    yield Provider("hostile", "hostile" + TEXT, lambda context: Hostile())


@hookimpl
def ralph_commands():
    yield Command("shout", "Shouts " + TEXT, lambda: app)
"""

READING = {
    "runs": ("runs",),
    "show": ("show",),
    "an iteration": ("show", "-i", "1"),
    "the last iteration": ("show", "-i", "2"),
    "why": ("show", "-i", "2", "--why"),
    "logs": ("logs",),
    "diff": ("diff",),
    "files of a diff": ("diff", "--stat"),
    "report": ("report", "--format", "markdown"),
    "stats": ("stats", "--search", "do"),
    "export": ("export",),
    "breaker": ("breaker",),
    "replay": ("replay", "--run", "last"),
    "analyze": ("analyze", "reply.md"),
    "config": ("config", "show"),
    "plugins": ("plugins",),
    "help": ("--help",),
    "a plug-in's command": ("shout",),
    "runs as JSON": ("runs", "--json"),
    "show as JSON": ("show", "--json"),
    "logs as JSON": ("logs", "--json"),
    "diff as JSON": ("diff", "--json"),
    "analyze as JSON": ("analyze", "reply.md", "--json"),
    "no such run": ("show", TEXT),
    "no such command": (TEXT,),
    "no such executor": ("run", "x", "--executor", TEXT),
    "a bad value": ("runs", "--limit", TEXT),
    "rollback": ("rollback", "last", "--to", "0", "--force"),
}
SILENT = {"breaker", "config", "plugins", "replay", "rollback", "stats", "files of a diff", "a bad value"}
"""Commands that need not show anything of the agent's."""


Terminal = Callable[..., tuple[int, str]]


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """Runs `ralph` in a pseudo terminal; returns its exit code and all that reached the terminal, byte for byte."""
    environment: Mapping[str, str] = {
        **own_environment(tmp_path, "NO_COLOR", "CI"),
        "TERM": "xterm-256color",
        "HOME": str(tmp_path),
        "COLUMNS": "120",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    del environment["NO_COLOR"]

    def run(*words: str, folder: Path, **more: str) -> tuple[int, str]:
        ours, its = pty.openpty()
        termios.tcsetwinsize(its, (50, 120))
        modes = termios.tcgetattr(its)
        modes[1] &= ~termios.OPOST
        termios.tcsetattr(its, termios.TCSANOW, modes)
        command = (sys.executable, "-m", "ralph", *words)
        with subprocess.Popen(
            command, cwd=folder, env={**environment, **more}, stdin=its, stdout=its, stderr=its
        ) as process:
            os.close(its)
            seen = _read(ours, process)
        return process.returncode, seen

    return run


def _read(ours: int, process: subprocess.Popen[bytes]) -> str:
    seen, deadline = b"", time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 0.2)[0]:
                continue
            piece = os.read(ours, 65536)
            if not piece:
                break
            seen += piece
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
        if process.poll() is None and time.monotonic() >= deadline:
            process.kill()
    return seen.decode("utf-8")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository whose plug-in, files and commit messages are the attacker's."""
    repository = Repository.begin(tmp_path / "workspace")
    repository.write("@fix_plan.md", f"- [ ] {TEXT}\n")
    repository.write(
        "reply.md", f"{TEXT}\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON:{TEXT}\n---END_RALPH_STATUS---"
    )
    repository.commit(TEXT)
    for key in ("user.name", "user.email"):
        subprocess.run(("git", "config", key, "somebody"), cwd=repository.path, check=True)
    repository.write(".ralph/plugin.py", PLUGIN)
    return repository.path


def leaked(seen: str, *, drawing: bool = False) -> set[str]:
    """Return what reached the terminal besides text and colours of Ralph's own."""
    left = OWN_COLOURS.sub("", seen)
    if drawing:
        left = DRAWING.sub("", left)
    return {left[max(found.start() - 20, 0) : found.end() + 10] for found in _FORBIDDEN.finditer(left)}


def test_nothing_but_text_reaches_the_terminal(terminal: Terminal, workspace: Path, subtests: pytest.Subtests) -> None:
    run = (
        *("run", f"Do it. {TEXT.replace(chr(0), '')}", "--executor", "hostile", "--trust", "--max-iterations", "2"),
        *("--commit", "iteration", "--verify", "test -s ok", "--verify-shell", "cat *clip* reply.md; test -s ok"),
    )
    for display in ("live", "plain", "json"):
        (workspace / "ok").write_text("")
        code, seen = terminal(*run, "--display", display, folder=workspace)
        with subtests.test(display=display):
            assert code in {0, 5}, seen
            assert MARK in seen
            assert leaked(seen, drawing=display == "live") == set()
            if display == "json":
                assert {json.loads(line)["type"] for line in seen.splitlines()} >= {"tool_finished", "run_finished"}
    for name, words in READING.items():
        with subtests.test(command=name):
            _, seen = terminal(*words, folder=workspace)
            assert (MARK in seen) or name in SILENT, seen
            assert leaked(seen) == set()
            if "--json" in words and words[0] != "logs":
                json.loads(seen)


def test_an_encoding_opens_no_way_around_the_filter(terminal: Terminal, workspace: Path) -> None:
    terminal("run", "Do it.", "--executor", "hostile", "--trust", "--max-iterations", "1", folder=workspace)
    for words in (("shout",), ("show",)):
        _, seen = terminal(*words, folder=workspace, PYTHONIOENCODING="ascii")
        assert MARK in seen
        assert leaked(seen) == set()


def test_the_answer_in_the_workspace_can_be_shown_by_cat(terminal: Terminal, workspace: Path) -> None:
    terminal("run", "Do it.", "--executor", "hostile", "--trust", "--max-iterations", "2", folder=workspace)
    answer = (workspace / ".ralph" / "last-response.md").read_text(encoding="utf-8")
    assert MARK in answer
    assert leaked(answer) == set()

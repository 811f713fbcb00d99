"""A plug-in's fault is reported as that plug-in's, by its name, and with its traceback where the user wants it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.executors import base
from ralph.system import foreign

PLUGIN = """
import asyncio
import sys
import typer
from ralph import Output
from ralph.decision.claims import Claim
from ralph.executors import Executor
from ralph.hooks import Hooks
from ralph.plugins import Command, Provider, hookimpl
from ralph.store import MemoryStore
from ralph.tasks import Task
from ralph.testing import ScriptedExecutor
from ralph.verifiers import Verifier
from ralph.verifiers.base import VerifierProvider
from pydantic import BaseModel

DONE = "All done.\\n---RALPH_STATUS---\\nEXIT_SIGNAL: true\\nREASON: written\\n---END_RALPH_STATUS---"
HERE = "boom from the plug-in"

class Gives(Executor):
    name = "gives"
    def __init__(self, what): self.what = what
    async def execute(self, prompt, turn):
        if isinstance(self.what, Exception): raise self.what
        return self.what

class Leaves(Executor):
    name = "leaves"
    def __init__(self, *when): self.when = when
    async def start(self): "start" in self.when and sys.exit(3)
    async def stop(self): "stop" in self.when and sys.exit(3)
    async def execute(self, prompt, turn): "execute" in self.when and sys.exit(3)

class Panic(BaseException): "As of libraries in Rust."

class Panics(Gives):
    async def execute(self, prompt, turn): raise self.what

class StartsAtOnce(Gives):
    def start(self): pass

class Nameless(Gives):
    name = None

class Unstartable(Gives):
    async def start(self): raise ValueError(HERE)

@hookimpl
def ralph_executors():
    yield Provider("quick", "is done", lambda context: ScriptedExecutor([DONE]))
    yield Provider("none", "returns None", lambda context: Gives(None))
    yield Provider("text", "returns a text", lambda context: Gives("I am done."))
    yield Provider("raises", "raises", lambda context: Gives(ValueError(HERE)))
    yield Provider("leaves", "ends the program in a turn", lambda context: Leaves("execute"))
    yield Provider("leaves-first", "ends the program at the start", lambda context: Leaves("start"))
    yield Provider("leaves-last", "ends the program at the end", lambda context: Leaves("stop"))
    yield Provider("panics", "raises no Exception", lambda context: Panics(Panic(HERE)))
    yield Provider("cancels", "leaks a cancellation of its own", lambda context: Panics(asyncio.CancelledError()))
    yield Provider("at-once", "starts without await", lambda context: StartsAtOnce(None))
    yield Provider("nameless", "has no name", lambda context: Nameless(None))
    yield Provider("unstartable", "cannot start", lambda context: Unstartable(None))

class Quiet:
    def analyze(self, output, status, context): return None

@hookimpl
def ralph_analyzers():
    yield Provider("quiet", "returns None", lambda context: Quiet())

class Keys(BaseModel): pass

class Odd(Verifier):
    name = "odd"
    before_run = False
    async def verify(self, subject): return True

class Broken(Verifier):
    name = "broken"
    async def verify(self, subject): raise ValueError(HERE)

@hookimpl
def ralph_verifiers():
    yield VerifierProvider("odd", "returns True", Keys, lambda keys, context: Odd())
    yield VerifierProvider("panicking", "raises no Exception", Keys, lambda keys, context: Panicking())
    yield VerifierProvider("broken", "raises", Keys, lambda keys, context: Broken())

class Panicking(Verifier):
    name = "panicking"
    async def verify(self, subject): raise Panic(HERE)

@hookimpl
def ralph_task_sources(): yield Provider("number", "has no text", lambda context: Task(5))

class Loud(Hooks):
    async def on_iteration_started(self, event): raise Panic(HERE)
    async def on_run_started(self, event): raise ValueError(HERE)

@hookimpl
def ralph_observers(): yield Loud()

class Lost(MemoryStore):
    async def create(self, record, *, owner): raise ValueError(HERE)

class Panicked(MemoryStore):
    async def create(self, record, *, owner): raise Panic(HERE)

@hookimpl
def ralph_stores():
    yield Provider("lost", "raises", lambda context: Lost())
    yield Provider("panicked", "raises no Exception", lambda context: Panicked())

app = typer.Typer()

@app.command()
def shout() -> None: raise ValueError(HERE)

@hookimpl
def ralph_commands():
    yield Command("shout", "Raise.", lambda: app)
    yield Command("missing", "Import what is not there.", "nowhere.commands:app")
"""
RUN = ("run", "Work.", "--display", "json", "--store", "memory:", "--max-iterations", "2")
QUICK = (*RUN, "--executor", "quick")
FAULTS: list[tuple[str, tuple[str, ...], int, str, bool]] = [
    ("execute returns None", (*RUN, "--executor", "none"), 5, "of type NoneType, not an Output", False),
    ("execute returns a text", (*RUN, "--executor", "text"), 5, "of type str, not an Output", False),
    ("execute raises", (*RUN, "--executor", "raises"), 5, "boom", True),
    ("execute ends the program", (*RUN, "--executor", "leaves"), 5, "crashed: SystemExit: 3", True),
    ("execute panics", (*RUN, "--executor", "panics"), 5, "crashed: Panic: boom", True),
    ("execute leaks a cancellation", (*RUN, "--executor", "cancels"), 5, "crashed: CancelledError", True),
    ("start is not async", (*RUN, "--executor", "at-once"), 1, "can't be used in 'await'", True),
    ("an executor has no name", (*RUN, "--executor", "nameless"), 2, "which does not fit", False),
    ("a verifier panics", (*QUICK, "--verifier", "panicking"), 2, "failed before the run: Panic: boom", True),
    ("an observer panics", QUICK, 0, "failed (Panic)", True),
    ("a store panics", (*QUICK, "--store", "panicked://x"), 1, "Panic: boom", True),
    ("a task is no text", ("run", *QUICK[2:], "--task", "number:x"), 2, "which does not fit", False),
    ("start ends the program", (*RUN, "--executor", "leaves-first"), 1, "tried to end the program", True),
    ("stop ends the program", (*RUN, "--executor", "leaves-last"), 1, "tried to end the program", True),
    ("start raises", (*RUN, "--executor", "unstartable"), 1, "boom", True),
    ("an analyzer returns None", (*QUICK, "--analyzer", "quiet"), 0, "returned a NoneType, which is not an", False),
    ("a verifier returns True", (*QUICK, "--verifier", "odd"), 5, "failed: it gave bool", False),
    ("a verifier raises", (*QUICK, "--verifier", "broken"), 2, "failed before the run: ValueError: boom", True),
    ("an observer raises", QUICK, 0, "failed (ValueError)", True),
    ("a store raises", (*QUICK, "--store", "lost://x"), 1, "boom", True),
    ("a command raises", ("shout",), 1, "boom", True),
    ("a command is not there", ("missing",), 2, "No module named 'nowhere'", True),
]


@pytest.fixture
def plugged(workspace: Path, ralph: Callable[..., Any]) -> Callable[..., Any]:
    """The program in a workspace with a plug-in that does everything wrong."""
    (workspace / ".ralph").mkdir()
    (workspace / ".ralph" / "plugin.py").write_text(PLUGIN)
    ralph(*QUICK, "--trust")

    def call(*words: str) -> Any:
        checked = "--verifier" in words or words[0] != "run"
        return ralph(*words, *(() if checked else ("--verify", "none")))

    return call


@pytest.mark.parametrize("debug", ["0", "1"])
def test_each_fault_names_the_plug_in_and_shows_its_traceback_on_request(
    plugged: Callable[..., Any], subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch, debug: str
) -> None:
    monkeypatch.setenv("RALPH_DEBUG", debug)
    for name, words, code, said, raises in FAULTS:
        with subtests.test(name):
            ended = plugged(*words)
            told = (ended.out + ended.err).replace("\\", "")
            assert ended.code == code, told
            assert said in told
            assert "the plug-in 'local' (" in told.lower()
            assert "fault in Ralph itself" not in told
            if raises and debug == "1":
                assert "Traceback (most recent call last)" in ended.err
            elif debug == "0":
                assert "Traceback" not in ended.err


def test_the_innermost_plug_in_is_to_blame_also_in_a_group_and_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "_titles", {})
    foreign.register("ralph.store", "never Ralph itself")
    foreign.register(__name__, "this test")

    def fails(error: Exception) -> Exception:
        try:
            raise error
        except Exception as raised:  # noqa: BLE001 - whatever was given
            return raised

    own = fails(ValueError("x"))
    chained = ValueError("y")
    chained.__cause__ = own
    assert foreign.culprit(ValueError("never raised")) == ""
    assert [foreign.culprit(each) for each in (own, ExceptionGroup("g", [own]), chained)] == ["this test"] * 3
    monkeypatch.setitem(sys.modules, "elsewhere", sys)
    assert foreign.maker(object()) == ""


def test_without_the_wish_for_it_no_traceback_reaches_the_terminal(plugged: Callable[..., Any]) -> None:
    plugged(*QUICK)  # consents to the plug-in
    words = (*RUN, "--executor", "raises", "--verify", "none")
    done = subprocess.run([sys.executable, "-m", "ralph", *words], capture_output=True, text=True, check=False)
    assert "crashed: ValueError: boom" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_plug_in_that_panics_as_it_is_imported_is_left_out(workspace: Path, ralph: Callable[..., Any]) -> None:
    (workspace / ".ralph").mkdir()
    (workspace / ".ralph" / "plugin.py").write_text("raise BaseException('boom')\n")
    ended = ralph(*RUN, "--executor", "none", "--trust")
    assert (ended.code, "Traceback" in ended.err) == (2, False)
    assert '"type": "usage_error"' in ended.out.splitlines()[0]
    assert "wrong with local" in ended.err


async def test_an_executor_that_does_not_stop_is_left_after_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_SECONDS_TO_STOP", 0.1)

    class Stays(base.Executor):
        name = "stays"

        async def stop(self) -> None:
            await anyio.sleep_forever()

    with pytest.raises(RuntimeError, match="the executor stays did not stop within"):
        async with Stays():
            pass

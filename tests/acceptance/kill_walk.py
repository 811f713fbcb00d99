"""A program that does a run, notes every point that it comes by, and kills itself at one of them.

It reads orders from its standard input, one JSON object a line, does each in a process of its own that it forks off,
several at once, and answers a line each: `{"id", "code", "said"}`. An order is `{"id", "mode", "point", "store",
"folder"}`; with mode "run" a run is begun, with "resume" the one in the store goes on, with "look" it is looked at.
With "after", the process kills itself that many seconds after the point, wherever it is then.

The run has two iterations, with an agent that is a process of its own and does not end by itself, a git workspace and
a verifier that is a program. A point is before or after a call that Ralph makes on its store, executor, agent,
workspace, git or verifier, or where it tells a hook. The product knows nothing of all that.
"""

import asyncio
import functools
import importlib
import inspect
import json
import os
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, ClassVar

import anyio

import ralph.loop.event_log
import ralph.system.process
from ralph.decision.breaker import BreakerSettings, CircuitBreaker
from ralph.decision.limits import Limits
from ralph.executors.base import Executor, Turn
from ralph.hooks import Hooks
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.events import Event
from ralph.records.record import RunState
from ralph.store import Store, open_store
from ralph.system.process import Running, spawn
from ralph.testing import ScriptedExecutor, lives
from ralph.types.output import Answered, Output, Usage
from ralph.verifiers import CommandVerifier
from ralph.workspace import open_workspace

ralph.loop.event_log._GROUP = 0.01  # what is waited for in each of some hundred runs

AT_ONCE = 3
STATUS = "---RALPH_STATUS---\nEXIT_SIGNAL: {}\nREASON: {}\n---END_RALPH_STATUS---"
ANSWERS = {
    1: "Half of it.\n" + STATUS.format("false", "the other half is missing"),
    2: "All of it.\n" + STATUS.format("true", "both halves are there"),
}

AGENT = """
trap '' PIPE
echo $$ >> "$1/agents"
echo "I begin."
read _; echo "$2" >> "part-$2.txt"; echo "I have written."
read _; echo "I am done."
read _ || exec sleep 300
"""
"""Says something, changes the workspace, says something, and waits for its end; it outlives whoever started it,
whether or not that one still reads its last word."""


class Points:
    """Counts the points that are come by, writes them down, and dies at one of them."""

    def __init__(self, folder: Path, fatal: str, after: float | None = None) -> None:
        self._after = after
        self._file = os.open(folder / "points", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._seen: Counter[str] = Counter()
        self._fatal = fatal
        self.iteration = 0

    def __call__(self, name: str) -> None:
        key = f"{self.iteration} {name}"
        self._seen[key] += 1
        point = f"{key} #{self._seen[key]}"
        os.write(self._file, f"{point}\n".encode())
        if point == self._fatal and self._after is not None:
            threading.Timer(self._after, os.kill, (os.getpid(), signal.SIGKILL)).start()
        elif point == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)
            signal.pause()

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, with a point before and one after it."""
        if inspect.iscoroutinefunction(call):

            @functools.wraps(call)
            async def later(*args: Any, **more: Any) -> Any:
                self(f"{name} before")
                result = await call(*args, **more)
                self(f"{name} after")
                return result

            return later

        @functools.wraps(call)
        def at_once(*args: Any, **more: Any) -> Any:
            self(f"{name} before")
            result = call(*args, **more)
            self(f"{name} after")
            return result

        return at_once

    def watch(self, part: Any, kind: str, *names: str) -> None:
        """Points around these methods of a part."""
        for name in names:
            setattr(part, name, self.around(f"{kind}.{name}", getattr(part, name)))


class Seen(Hooks):
    """Writes down what is published, in a file that outlives the process, and lets one wait for it."""

    def __init__(self, folder: Path, points: Points) -> None:
        self._file = os.open(folder / "published", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._points = points
        self._more = asyncio.Event()
        self.seq = 0

    async def on_event(self, event: Event) -> None:
        if event.seq:
            os.write(self._file, f"{json.dumps([event.seq, event.type, event.iteration])}\n".encode())
            self.seq = event.seq
            self._more.set()
            self._points(f"told {event.type}")

    async def next_after(self, seq: int) -> None:
        """Returns when something with a greater number has been published."""
        while self.seq <= seq:
            self._more.clear()
            await self._more.wait()


class Agent(Executor):
    """Works through a program that is at work until it is ended."""

    name: ClassVar[str] = "agent"
    measures = frozenset({"tokens"})

    def __init__(self, folder: Path, points: Points, seen: Seen) -> None:
        self._folder, self._points, self._seen = folder, points, seen

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        if others := alive(self._folder):
            (self._folder / "orphans").write_text(f"{others}")
        words = ["/bin/sh", "-c", AGENT, "agent", str(self._folder), str(turn.iteration)]
        async with AsyncExitStack() as stack:
            running = await self._within("agent.spawn", stack.enter_async_context(spawn(words, cwd=turn.workspace)))
            await self._work(running, turn)
            self._points("agent.end before")
        self._points("agent.end after")
        turn.transcript.used(Usage(input_tokens=900, output_tokens=100, model_calls=1))
        return turn.transcript.finish(Answered(), text=ANSWERS.get(turn.iteration, ANSWERS[2]))

    async def _work(self, running: Running, turn: Turn) -> None:
        """Each word of the agent's is published before the next: so the points come in one order."""
        lines = lines_of(running)
        turn.transcript.executor = self.name
        for number in range(3):
            line = await self._within("agent.says", anext(lines))
            seq = self._seen.seq
            turn.transcript.message(line, tool_calls=1)
            if number == 1:
                turn.transcript.tool_started("write", "write", "part.txt")
                turn.transcript.tool_finished("write", success=True)
            await self._seen.next_after(seq)
            await self._within("agent.hears", running.send(b"\n") if number < 2 else asyncio.sleep(0))

    async def _within(self, name: str, work: Awaitable[Any]) -> Any:
        self._points(f"{name} before")
        result = await work
        self._points(f"{name} after")
        return result


async def lines_of(running: Running) -> AsyncGenerator[str]:
    rest = b""
    async for chunk in running.stdout:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode()


def alive(folder: Path) -> list[int]:
    """The agents that still live, of all that were ever started."""
    started = (folder / "agents").read_text().split() if (folder / "agents").exists() else []
    return [int(pid) for pid in started if lives(int(pid))]


def watched_store(url: str, points: Points) -> Store:
    store = open_store(url)
    points.watch(store, "store", "create", "acquire", "release", "last_seq", "state")
    append = store.append

    async def appended(run_id: str, events: Any, **more: Any) -> None:
        kinds = [event.type for event in events]
        if "iteration_started" in kinds:
            points.iteration = next(event.iteration for event in events if event.type == "iteration_started")
        await points.around(f"store.append[{kinds[-1] if kinds else ''}]", append)(run_id, events, **more)

    store.append = appended
    return store


def runner(order: dict[str, Any], points: Points) -> Runner:
    folder = Path(order["folder"])
    seen = Seen(folder, points)
    agent, verifier = Agent(folder, points, seen), CommandVerifier("test -e part-2.txt")
    workspace = open_workspace(folder / "workspace", state_dir=folder / "state")
    points.watch(agent, "executor", "start", "execute", "stop")
    points.watch(verifier, "verifier", "verify")
    points.watch(
        workspace, "workspace", "acquire", "release", "snapshot", "changes", "checkpoint", "plan", "keep_response"
    )
    return Runner(
        executor=agent,
        store=watched_store(order["store"], points),
        workspace=workspace,
        verify=[verifier],
        hooks=[seen],
        breaker=CircuitBreaker(BreakerSettings(no_progress=9)),
        limits=Limits(max_iterations=5, max_tokens=100_000),
    )


async def work(order: dict[str, Any]) -> dict[str, Any]:
    points = Points(Path(order["folder"]), order.get("point", ""), order.get("after"))
    ralph.system.process._start = points.around("program", ralph.system.process._start)  # type: ignore[attr-defined]
    async with runner(order, points) as loop:
        if order["mode"] == "run":
            record = await loop.run("Write both halves.")
        else:
            record = await loop.resume(order["run"])
    return {"stop_reason": record.stop_reason, "iterations": record.iterations, "verified": record.verified}


async def look(order: dict[str, Any]) -> dict[str, Any]:
    """What is in the store, and what the fold makes of it."""
    async with open_store(order["store"]) as store:
        runs = await store.runs(workspace=str(Path(order["folder"], "workspace")))
        if not runs:
            return {"run": None}
        [run] = runs
        state: RunState = await store.state(run)
        kept = {"number", "streaks", "breaker", "spent", "boxes_ticked", "executors", "decision"}
        return {
            "run": run.id,
            "state": run.state,
            "iterations": [(it.number, it.finished_at.isoformat()) async for it in store.iterations(run.id)],
            "events": [(event.seq, event.type, event.iteration) async for event in store.events(run.id)],
            "fold": state.model_dump(mode="json", include=kept),
            "alive": alive(Path(order["folder"])),
        }


async def warm() -> None:
    """Loads and makes once what each of the processes would otherwise load and make."""
    importlib.import_module("psycopg")
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/runs.db")
        async with Runner(
            executor=ScriptedExecutor([ANSWERS[1]]), store=store, limits=Limits(max_iterations=1)
        ) as loop:
            await loop.run("Warm up.")


def forked(order: dict[str, Any]) -> tuple[int, int]:
    """Does an order in a new process; returns its number and where its answer is to be read."""
    reading, writing = os.pipe()
    if pid := os.fork():
        os.close(writing)
        return pid, reading
    os.close(reading)
    code = 1
    try:
        said = anyio.run(look if order["mode"] == "look" else work, order)
        os.write(writing, json.dumps(said).encode())
        code = 0
    except BaseException as error:  # noqa: BLE001 - whatever it is, the test is told
        os.write(writing, json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
    finally:
        os._exit(code)


def main() -> None:
    """Does orders, `AT_ONCE` at a time, until there are no more."""
    anyio.run(warm)
    running: dict[int, tuple[dict[str, Any], int]] = {}

    def collect() -> None:
        pid, status = os.wait()
        order, reading = running.pop(pid)
        with os.fdopen(reading, "rb") as answer:
            said = answer.read()
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"id": order["id"], "code": code, "said": json.loads(said or b"null")}), flush=True)

    for line in sys.stdin:
        order = json.loads(line)
        while order is None and running:
            collect()
        if order is None:
            continue
        pid, reading = forked(order)
        running[pid] = (order, reading)
        while len(running) >= AT_ONCE:
            collect()
    while running:
        collect()


if __name__ == "__main__":
    main()

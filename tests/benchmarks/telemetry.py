"""What telemetry adds to an iteration; prints JSON.

`uv run python tests/benchmarks/telemetry.py [ITERATIONS]`. Two runs take turns in one process, iteration by iteration;
one of them sends its spans, metrics and log records to a receiver in another process. `iteration_ms`: the difference
of the times that a quarter of the iterations stay below, as what else the machine does can only delay one; halfway
the runs swap their roles. An iteration has ten messages. `tool_ms`: the same for each call of a tool. `cpu_ms`: what a
run alone takes of the processor for an iteration more than one without telemetry, the sending in the background
included. `slowness` is that of `loop_overhead.py`.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, quantiles
from time import process_time
from typing import Any, NamedTuple, cast

import anyio
from bus import WARM_UP, InTurns, Turns, run
from loop_overhead import YARDSTICK_MS, Instant
from opentelemetry import trace
from opentelemetry._logs import get_logger_provider
from opentelemetry.metrics import get_meter_provider

from ralph.executors.base import Turn
from ralph.hooks import Hooks
from ralph.prompt import Prompt
from ralph.types.output import Output
from ralph.watch.telemetry import exporting

TOOLS = 5

RECEIVER = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
"""


class WithTools(InTurns):
    """Uses a number of tools in each turn."""

    def __init__(self, turns: Turns, tools: int) -> None:
        super().__init__(turns)
        self.tools = tools

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        output = await super().execute(prompt, turn)
        for number in range(self.tools):
            turn.transcript.tool_started(f"call-{turn.iteration}-{number}", "bash", '{"command": "ls"}')
            turn.transcript.tool_finished(f"call-{turn.iteration}-{number}", success=True, result="parser.py")
        return output


class Times(NamedTuple):
    """What telemetry adds to an iteration, in milliseconds."""

    added: float
    with_tools: float
    cpu: float
    slowness: float


def low(executor: Instant) -> float:
    """Return the milliseconds that a quarter of the iterations stay below."""
    return quantiles(executor.iterations[WARM_UP:], n=4)[0] * 1e3


async def added(folder: Path, iterations: int, observers: Sequence[Hooks], *, tools: int, first: bool) -> float:
    """Return the milliseconds that telemetry adds; with `first`, to the run that begins first."""
    turns = Turns()
    observed, other = WithTools(turns, tools), WithTools(turns, tools)
    async with anyio.create_task_group() as tasks:
        for each in (observed, other) if first else (other, observed):
            hooks = observers if each is observed else ()
            tasks.start_soon(run, folder / f"{tools}-{first}-{bool(hooks)}.db", each, iterations, hooks)
            await each.begun.wait()
        turns.begin()
    return low(observed) - low(other)


def flush() -> None:
    """Send what is left of all signals."""
    for provider in (trace.get_tracer_provider(), get_meter_provider(), get_logger_provider()):
        cast("Any", provider).force_flush()


async def alone(store: Path, iterations: int, observers: Sequence[Hooks]) -> tuple[float, float]:
    """Return the processor's milliseconds for an iteration of one run, and the slowness meanwhile."""
    turns = Turns()
    turns.alone = 0
    flush()
    executor, began = WithTools(turns, 0), process_time()
    await run(store, executor, iterations, observers)
    flush()
    return (process_time() - began) / iterations * 1e3, min(executor.yardsticks) * 1e3 / YARDSTICK_MS


async def measure(folder: Path, iterations: int, observers: Sequence[Hooks]) -> Times:
    bare = mean([await added(folder, iterations, observers, tools=0, first=first) for first in (True, False)])
    busy = mean([await added(folder, iterations, observers, tools=TOOLS, first=first) for first in (True, False)])
    off, slowness = await alone(folder / "off.db", iterations, ())
    on, _ = await alone(folder / "on.db", iterations, observers)
    return Times(bare, busy, on - off, slowness)


def main(iterations: int) -> None:
    with (
        subprocess.Popen((sys.executable, "-c", RECEIVER), stdout=subprocess.PIPE, text=True) as receiver,
        tempfile.TemporaryDirectory() as name,
    ):
        assert receiver.stdout
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{int(receiver.stdout.readline())}"
        try:
            with exporting(sys.exit) as observers:
                assert observers
                found = anyio.run(measure, Path(name), iterations, observers)
        finally:
            receiver.kill()
    figures = {
        "iteration_ms": found.added,
        "tool_ms": (found.with_tools - found.added) / TOOLS,
        "cpu_ms": found.cpu,
        "slowness": found.slowness,
    }
    print(json.dumps({key: round(value, 3) for key, value in figures.items()}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)

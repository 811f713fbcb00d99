"""A fleet's worker with a scripted agent: `python fleet_worker.py URL NAME [SLOTS] [LEASE] [--until-empty]`.

The task's text is JSON: `iterations` until it is done, `seconds` that each takes in a process of its own, or `gate`, a
folder in which such a process waits for a file named by the iteration's number, `log`, a file that gets a line at the
start and the end of each, `kills`, the number of an iteration that kills the worker, and `fills`, that of one that
fills the disk, with 30 MB at most. With FLEET_KILLED_BEFORE=FILE in the environment, the worker that makes that file is
killed before it delivers a result; with FLEET_DELIVERS_AFTER=LINE it delivers one only once the log has a line that
begins so.
"""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import anyio

from ralph.executors.base import Executor, Turn
from ralph.fleet import Worker
from ralph.fleet.checkout import RepositoryCheckout
from ralph.fleet.process import run_worker
from ralph.plugins import Delivery, Plugins, Provider, hookimpl
from ralph.prompt import Prompt
from ralph.records.record import RunRecord
from ralph.system.process import run
from ralph.types.output import Answered, Output, Usage

DONE = "\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"


class ScriptedAgent(Executor):
    name: ClassVar[str] = "fleet-scripted"
    measures = frozenset({"tokens", "cost"})

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        asked = json.loads(prompt.task)
        turn.transcript.executor = self.name
        log = asked.get("log")
        _say(log, turn, "start")
        if asked.get("kills") == turn.iteration:
            os.kill(os.getpid(), signal.SIGKILL)
        if gate := asked.get("gate"):
            wait = 'until [ -e "$0" ]; do sleep 0.05; done'
            await run(["sh", "-c", wait, f"{gate}/{turn.iteration}"], cwd=turn.workspace, timeout=None)
        elif asked.get("seconds"):
            await run(["sleep", str(asked["seconds"])], cwd=turn.workspace, timeout=None)
        else:
            await anyio.lowlevel.checkpoint()
        (turn.workspace / "part.txt").write_text(f"part {turn.iteration}\n")
        if asked.get("fills") == turn.iteration:
            with suppress(OSError), (turn.workspace / "large").open("wb") as file:
                file.write(bytes(30_000_000))
        _say(log, turn, "end")
        turn.transcript.used(Usage(input_tokens=100, output_tokens=10, cost=asked.get("cost", 0.001)))
        done = DONE if turn.iteration >= asked["iterations"] else ""
        return turn.transcript.finish(Answered(), text=f"Wrote part {turn.iteration}.{done}")


def _say(log: str | None, turn: Turn, what: str) -> None:
    if log:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{turn.workspace.name} {turn.iteration} {what} {os.getpid()} {time.time()}\n")


@hookimpl
def _executors() -> list[Provider]:
    return [Provider("fleet-scripted", "answers by a script", lambda context: ScriptedAgent())]


AGENT = SimpleNamespace(ralph_executors=_executors)


def _killed_before_delivery(flag: Path) -> None:
    deliver = RepositoryCheckout.deliver

    async def killed_once(self: RepositoryCheckout, record: RunRecord | None = None) -> Delivery:
        if not os.path.exists(flag):  # noqa: ASYNC240, PTH110 - a single look
            os.mkdir(flag)  # noqa: PTH102
            os.kill(os.getpid(), signal.SIGKILL)
        return await deliver(self, record)

    RepositoryCheckout.deliver = killed_once


def _delivered_after(line: str) -> None:
    deliver = RepositoryCheckout.deliver

    async def patient(self: RepositoryCheckout, record: RunRecord | None = None) -> Delivery:
        log = Path(json.loads(record.task)["log"]) if record else Path(os.devnull)
        with anyio.fail_after(45):
            while f"\n{line}" not in await anyio.Path(log).read_text():  # noqa: ASYNC110 - the log is a file
                await anyio.sleep(0.02)
        return await deliver(self, record)

    RepositoryCheckout.deliver = patient


def main() -> None:
    if line := os.environ.get("FLEET_DELIVERS_AFTER"):
        _delivered_after(line)
    if flag := os.environ.get("FLEET_KILLED_BEFORE"):
        _killed_before_delivery(Path(flag))
    given = [each for each in sys.argv[1:] if not each.startswith("--")]
    url, name = given[:2]
    slots, lease = int(given[2]) if len(given) > 2 else 2, float(given[3]) if len(given) > 3 else 15.0
    worker = Worker(
        url,
        name=name,
        slots=slots,
        lease=lease,
        plugins=Plugins.of([AGENT]),
        until_empty="--until-empty" in sys.argv,
        note=lambda text: print(text, flush=True),
    )
    print("started", flush=True)
    run_worker(worker)


if __name__ == "__main__":
    main()

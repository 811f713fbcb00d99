"""What a turn through `CopilotCLIExecutor` costs beyond spawning the very same program with `subprocess.run`.

The program is a stub that prints what the real CLI prints for a short turn, and writes its usage file. Both ways take
turns in one run; their lower quartiles are compared, since what else the machine does only adds. Prints one JSON
object: `spawn_ratio` (executor ÷ bare), `extra_ms` (executor − bare), `executor_ms`, `bare_ms`, `within` (executor at
most 1.5 × bare + 3 ms).
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from ralph.executors.base import Turn
from ralph.executors.copilot.cli import CopilotCLIExecutor
from ralph.prompt import Prompt
from ralph.types.output import Answered

ROUNDS = 100
PROMPT = Prompt(text="Do the work.\n" * 100, task="Do the work.")

EVENTS = [
    {"type": "user.message", "data": {"content": PROMPT.text}},
    {"type": "assistant.turn_start", "data": {"turnId": "0"}},
    {"type": "model.call_start", "data": {"turnId": "0", "model": "m"}},
    *({"type": "assistant.message_delta", "data": {"deltaContent": "word "}} for _ in range(50)),
    {"type": "assistant.message", "data": {"content": "word " * 50, "toolRequests": [], "model": "m"}},
    {"type": "result", "exitCode": 0, "usage": {"premiumRequests": 0}},
]
USAGE = {"modelMetrics": {"m": {"requests": {"count": 1}, "usage": {"inputTokens": 10, "outputTokens": 50}}}}
STUB = """#!/bin/sh
cat > /dev/null
while [ $# -gt 0 ]; do
    if [ "$1" = --usage-output-file ]; then cp '{folder}/usage.json' "$2"; fi
    shift
done
cat '{folder}/events.jsonl'
"""


def stub(folder: Path) -> Path:
    program = folder / "copilot"
    program.write_text(STUB.format(folder=folder))
    program.chmod(0o755)
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    (folder / "usage.json").write_text(json.dumps(USAGE))
    return program


def bare(command: list[str], folder: Path) -> float:
    began = perf_counter()
    subprocess.run(command, input=PROMPT.text.encode(), capture_output=True, cwd=folder, check=True)
    return perf_counter() - began


async def measured(executor: CopilotCLIExecutor, folder: Path) -> float:
    began = perf_counter()
    output = await executor.execute(PROMPT, Turn(workspace=folder))
    took = perf_counter() - began
    assert output.outcome == Answered(), output
    assert output.usage.tokens == 60
    return took


async def compare(folder: Path) -> dict[str, float | bool]:
    program, times = stub(folder), ([], [])
    async with CopilotCLIExecutor(program, model="m", base_url="http://127.0.0.1:9/v1") as executor:
        turn = Turn(workspace=folder)
        command = [*executor.command(PROMPT, turn), "--usage-output-file", str(folder / "bare.json")]
        for _ in range(ROUNDS + 5):
            times[0].append(bare(command, folder))
            times[1].append(await measured(executor, folder))
    plain, ours = (statistics.quantiles(each[5:], n=4)[0] * 1000 for each in times)
    return {
        "spawn_ratio": round(ours / plain, 3),
        "extra_ms": round(ours - plain, 3),
        "executor_ms": round(ours, 3),
        "bare_ms": round(plain, 3),
        "within": ours <= 1.5 * plain + 3,
    }


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(compare(Path(folder)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())

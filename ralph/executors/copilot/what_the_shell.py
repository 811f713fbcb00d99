"""The deprecated `github-copilot-cli what-the-shell`: a sentence in, a shell command out, and no agent at work.

Kept for those who still have it. It measures nothing, keeps no session, uses no tools.
"""

import re
from pathlib import Path

import anyio

from ralph.errors import UsageError
from ralph.executors.base import Turn, within_time
from ralph.system.process import ByteStream, spawn
from ralph.types.output import Answered, Failed, Outcome

__all__ = ["LEGACY", "ask"]

LEGACY = "github-copilot-cli"

_BOUND = 1_000_000
_CONTROLS = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


async def ask(program: Path, prompt: str, turn: Turn) -> Outcome:
    """Asks once; the answer becomes a message of the turn's transcript."""
    out, err = bytearray(), bytearray()

    async def read(stream: ByteStream, into: bytearray) -> None:
        async for chunk in stream:
            turn.transcript.alive()
            into += chunk[: _BOUND - len(into)]

    async def listen() -> None:
        running.close_stdin()
        async with anyio.create_task_group() as reading:
            reading.start_soon(read, running.stdout, out)
            reading.start_soon(read, running.stderr, err)
            await running.wait()

    try:
        async with spawn([str(program), "what-the-shell", prompt], cwd=turn.workspace) as running:
            timed_out = await within_time(turn, listen)
    except UsageError as error:
        return Failed(failure="refused", message=str(error))
    turn.transcript.diagnostics = _plain(err)
    if answer := _plain(out):
        turn.transcript.message(answer)
    return timed_out or _judged(running.code, answer, _plain(err))


def _judged(code: int | None, answer: str, complaint: str) -> Outcome:
    if code != 0:
        return Failed(failure="crashed", message=f"{LEGACY} ended with status {code}. {complaint[:200]}".strip())
    return Answered() if answer else Failed(failure="protocol", message=f"{LEGACY} gave no answer.")


def _plain(output: bytearray) -> str:
    return _CONTROLS.sub("", output.decode("utf-8", "replace")).strip()

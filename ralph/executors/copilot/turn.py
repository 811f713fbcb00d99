"""One turn of the Copilot CLI: what it prints is followed as it comes, and its end is put down."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from ralph.executors.base import Transcript
from ralph.executors.copilot.events import Event, ends_turn, failure_in, in_the_providers_words, record
from ralph.executors.copilot.log import logged_retry_after
from ralph.executors.copilot.usage import SessionLog
from ralph.executors.jsonl import JsonLines, Oversized, Unreadable
from ralph.system.process import ByteStream, Running
from ralph.types import evolve
from ralph.types.output import Failed, Usage

__all__ = ["Ending", "Listener"]

_TAIL = 2_000
_AFTER_CALLS = {"assistant.turn_end", "model.call_start", "tool.execution_complete"}
"""When the session's log may hold what calls to the model used."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the CLI's process and its turn ended.

    Attributes:
        code: the exit status, negative for a signal; None where the turn was ended because going on was no use.
        failure: what the CLI itself reported last: an error of the session, an abort, or the failed call to the model
            because of which the turn was ended.
        result: the exit code in its last line; None where that line is missing.
        answered: the agent's last message asks for no tool.
        spoke: it printed at least one event.
        complaint: the end of its error stream and of what it printed beside events.
    """

    code: int | None
    failure: Failed | None
    result: int | None
    answered: bool
    spoke: bool
    complaint: str


class Listener:
    """Follows the output of one turn.

    Args:
        logs: the CLI's log folder.
        session: the session's own log.
        start: how long, in seconds, until its first sign of life.
    """

    def __init__(self, transcript: Transcript, logs: Path, session: SessionLog, start: float) -> None:
        self._transcript, self._logs, self._session, self._start = transcript, logs, session, start
        self._started = anyio.Event()
        self._failure: Failed | None = None
        self._call_failure: Failed | None = None
        self._given_up = self._spoke = False
        self._result: int | None = None
        self._errors = b""
        self._beside = ""
        self.calls = 0

    async def follow(self, program: Running, prompt: str) -> None:
        """Hands the prompt over and reads until the CLI has ended or going on is no use."""
        async with anyio.create_task_group() as talking:
            talking.start_soon(_hand_over, program, prompt)
            talking.start_soon(self._read_errors, program.stderr)
            talking.start_soon(self._await_start, talking.cancel_scope)
            await self._read_events(program.stdout)
            if self._given_up:
                talking.cancel_scope.cancel()
            else:
                await program.wait()
        if self._failure and self._failure.failure == "rate_limited":
            wait = await logged_retry_after(self._logs)
            self._failure = evolve(self._failure, retry_after=wait)

    @property
    def complaint(self) -> str:
        return f"{self._beside}{self._errors.decode('utf-8', 'replace')}"

    def ending(self, code: int | None) -> Ending:
        """What there is to judge the turn by; `code` is the exit status."""
        messages = self._transcript.messages
        return Ending(
            code=None if self._given_up else code,
            failure=self._failure,
            result=self._result,
            answered=bool(messages) and messages[-1].tool_calls == 0,
            spoke=self._spoke,
            complaint=self.complaint,
        )

    async def _await_start(self, talking: anyio.CancelScope) -> None:
        with anyio.move_on_after(self._start) as waiting:
            await self._started.wait()
        if waiting.cancelled_caught:
            said = f"The CLI gave no sign of life for {self._start:g} s: can it write to its home folder and cache?"
            self._failure, self._given_up = Failed(failure="unavailable", message=said), True
            talking.cancel()

    async def _read_events(self, stdout: ByteStream) -> None:
        lines = JsonLines()
        async for chunk in stdout:
            self._started.set()
            self._transcript.alive()
            for line in lines.feed(chunk):
                self._take(line)
                if self._given_up:
                    return
        self._started.set()
        for line in lines.end():
            self._take(line)

    def _take(self, line: dict[str, Any] | Oversized | Unreadable) -> None:
        match line:
            case Unreadable(text):
                self._beside = f"{self._beside}{text}\n"[-_TAIL:]
            case Oversized():
                self._take_oversized(line)
            case event:
                self._spoke = True
                self._take_event(event)

    def _take_event(self, event: Event) -> None:
        record(event, self._transcript)
        if event.get("type") in _AFTER_CALLS and (used := self._session.more()) != Usage():
            self._transcript.used(used)
        match event.get("type"):
            case "model.call_start":
                self.calls += 1
            case "result":
                code = event.get("exitCode")
                self._result = code if isinstance(code, int) else 1
            case "model.call_failure":
                self._call_failure = failure_in(event)
                if ends_turn(event):
                    self._failure, self._given_up = self._call_failure, True
            case _:
                if failure := failure_in(event):
                    self._failure = in_the_providers_words(failure, self._call_failure)

    def _take_oversized(self, line: Oversized) -> None:
        """What a line was about stands at its beginning; a tool that has ended must not seem to go on."""
        kind = line.field("type")
        self._transcript.diagnosed(
            f"The CLI printed a line of {line.size:,} bytes ({kind or 'unknown'}): it is left out."
        )
        if kind.startswith("tool.execution_"):
            data = {"toolCallId": line.field("toolCallId"), "toolName": line.field("toolName"), "success": True}
            record({"type": kind, "data": data}, self._transcript)

    async def _read_errors(self, stderr: ByteStream) -> None:
        async for chunk in stderr:
            self._transcript.alive()
            self._errors = (self._errors + chunk)[-_TAIL:]


async def _hand_over(program: Running, prompt: str) -> None:
    await program.send(prompt.encode("utf-8", "replace"))
    program.close_stdin()

"""One turn of Codex: what it prints is followed as it comes, and its end is put down."""

import re
import shlex
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import anyio

from ralph import Failed, Usage
from ralph.executors import JsonLines, Oversized, Running, Transcript, Unreadable
from ralph_codex.events import TOOLS, record_end, record_start
from ralph_codex.failures import failure_of
from ralph_codex.session_log import SessionLog
from ralph_codex.wire import Event, as_json, mapping, text

__all__ = ["LOGGED", "Ending", "Listener"]

LOGGED = "error,codex_core::responses_retry=warn"
"""What Codex is to log: failures, and the retries, which alone tell how long a provider asks to wait."""

_RETRY = re.compile(r"retrying sampling request \(\d+/\d+ in (\d{1,9}(?:\.\d{1,9})?)(ms|s)\)\.*.*? sampling_error=(.*)")
_REJECTED = re.compile(r'Rejected\(\\?"(.{0,4000}) rejected: (.{0,2000}?)\\?"\)')
_ASIDE = ("Reading additional input from stdin", "Model metadata for ", "WARNING: proceeding, ")
_TAIL = 2_000
_LINE = 16_384


@dataclass(frozen=True, slots=True)
class Ending:
    """How Codex's process and its turn ended.

    Attributes:
        code: the exit status, negative for a signal; None where the turn was ended because going on was no use.
        failure: what Codex itself reported.
        completed: it said that the turn is completed.
        answered: the agent's last message came after its last tool.
        complaint: the end of its error stream and of what it printed beside events.
    """

    code: int | None
    failure: Failed | None
    completed: bool
    answered: bool
    complaint: str


class Listener:
    """Follows the output of one turn.

    Args:
        log: the session's own.
    """

    def __init__(self, transcript: Transcript, log: SessionLog) -> None:
        self._transcript, self._log = transcript, log
        self._failure: Failed | None = None
        self._given_up = self._completed = False
        self._answered = False
        self._waiting: str | None = None
        self._started: set[str] = set()
        self._told: Counter[str] = Counter()
        self._complaint = ""
        self._rejected = 0
        self._failed_calls = 0

    async def follow(self, program: Running, prompt: str) -> None:
        """Hands the prompt over and reads until Codex has ended or going on is no use."""
        async with anyio.create_task_group() as talking:
            talking.start_soon(self._hand_over, program, prompt)
            talking.start_soon(self._read_errors, program, talking.cancel_scope)
            await self._read_events(program)
            await program.wait()

    def ending(self, code: int | None) -> Ending:
        """What there is to judge the turn by; `code` is the exit status."""
        return Ending(
            code=None if self._given_up else code,
            failure=self._failure,
            completed=self._completed,
            answered=self._answered,
            complaint=self.complaint,
        )

    @property
    def complaint(self) -> str:
        return self._complaint.partition("\nStack backtrace:")[0].strip()

    def measure(self) -> None:
        """Counts what the session's log tells by now."""
        if (used := self._log.more()) != Usage():
            self._transcript.used(used)

    def close(self) -> None:
        """The turn is over, in whatever way: what is left to count is counted."""
        self.measure()
        self._record_untold()
        if self._failed_calls:
            self._transcript.used(Usage(model_calls=self._failed_calls))

    async def _hand_over(self, program: Running, prompt: str) -> None:
        """An input that stays open would keep Codex waiting for ever."""
        await program.send(prompt.encode("utf-8", "replace"))
        program.close_stdin()

    async def _read_events(self, program: Running) -> None:
        lines = JsonLines()
        async for chunk in program.stdout:
            for line in lines.feed(chunk):
                self._take(line)
        for line in lines.end():
            self._take(line)

    def _take(self, line: dict[str, Any] | Oversized | Unreadable) -> None:
        match line:
            case Unreadable(said):
                self._complain(said)
            case Oversized():
                self._take_oversized(line)
            case event:
                self._take_event(event)

    def _take_event(self, event: Event) -> None:
        kind = text(event.get("type"))
        item = mapping(event.get("item"))
        match kind:
            case "error":
                return  # "Reconnecting …" is no sign of life: there can be one a minute for ever
            case "thread.started":
                self._transcript.session_id = text(event.get("thread_id")) or None
                self._log.begun(text(event.get("thread_id")))
            case "item.started" | "item.completed":
                self._take_item(kind, item)
            case "turn.completed":
                self._take_completion(event)
            case "turn.failed":
                self._failed_calls += 1
                self._failure = _failure(text(mapping(event.get("error")).get("message")))
            case _:
                pass
        self._transcript.alive()
        self.measure()

    def _take_item(self, kind: str, item: Event) -> None:
        name = text(item.get("type"))
        if name in TOOLS:
            self._end_message(tool_calls=1)
            self._take_tool(item, ended=kind == "item.completed")
        elif name == "agent_message" and kind == "item.completed":
            self._end_message()
            self._waiting = text(item.get("text"))
            self._transcript.delta(self._waiting)
        elif name == "error" and not text(item.get("message")).startswith(_ASIDE):
            self._transcript.diagnosed(text(item.get("message")))

    def _take_tool(self, item: Event, *, ended: bool) -> None:
        """Some kinds of tool are told of at their end alone."""
        name = text(item.get("id"))
        if name not in self._started:
            self._started.add(name)
            record_start(item, self._transcript)
            self._told[_script(text(item.get("command")))] += 1
        if ended:
            record_end(item, self._transcript)

    def _record_untold(self) -> None:
        """The commands that Codex has not printed. Those that it rejected have been seen in its error stream, and those
        that are patches in disguise it prints as changed files.
        """
        for command in self._log.commands:
            if self._told[command.text]:
                self._told[command.text] -= 1
            elif "apply_patch" not in command.text and not _REJECTED.search(command.result):
                arguments = as_json({"command": command.text})
                self._transcript.tool_started(command.id, "command_execution", arguments)
                self._transcript.tool_finished(command.id, success=False, result=command.result)

    def _end_message(self, *, tool_calls: int = 0) -> None:
        """A message is over when it is known what follows: one that a tool follows is not the agent's last word."""
        if self._waiting is not None:
            self._transcript.message(self._waiting, tool_calls)
            self._waiting = None

    def _take_completion(self, event: Event) -> None:
        self._completed, self._answered = True, bool(self._waiting)
        self._end_message()
        self.measure()
        if (rest := self._log.rest(mapping(event.get("usage")))) != Usage():
            self._transcript.used(rest)

    def _take_oversized(self, line: Oversized) -> None:
        """What a line was about stands at its beginning; a tool that has ended must not seem to go on."""
        self._transcript.diagnosed(f"Codex printed a line of {line.size:,} bytes: it is left out.")
        if line.field("type") == "item.completed":
            self._transcript.tool_finished(line.field("id"), success=True)

    async def _read_errors(self, program: Running, talking: anyio.CancelScope) -> None:
        rest = ""
        async for chunk in program.stderr:
            *lines, rest = (rest + chunk.decode("utf-8", "replace")).split("\n")
            rest = rest[-_LINE:]
            for line in lines:
                self._take_error(line)
                if self._given_up:
                    talking.cancel()
                    return
        self._take_error(rest)

    def _take_error(self, line: str) -> None:
        line = line[:_LINE]
        if found := _RETRY.search(line):
            self._take_retry(found)
        elif found := _REJECTED.search(line):
            self._rejected += 1
            name = f"rejected-{self._rejected}"
            self._transcript.tool_started(name, "command_execution", as_json({"command": found[1].strip("`")}))
            self._transcript.tool_finished(name, success=False, result=found[2], denied=True)
        elif not line.startswith(_ASIDE):
            self._complain(line)

    def _take_retry(self, found: re.Match[str]) -> None:
        """Codex would wait for as long as the provider asks, and try a key again that was not accepted."""
        self._failed_calls += 1
        wait = float(found[1]) * (0.001 if found[2] == "ms" else 1.0)
        failure = _failure(found[3], wait if wait >= 1 else None)
        if failure.failure in {"rate_limited", "auth"}:
            self._failure, self._given_up = failure, True

    def _complain(self, said: str) -> None:
        self._complaint = f"{self._complaint}{said}\n"[-_TAIL:]


def _script(command: str) -> str:
    """What the agent asked for, of the command line that Codex makes of it: `/bin/bash -lc '…'`."""
    try:
        return shlex.split(command)[-1] if command else ""
    except ValueError:
        return command


def _failure(message: str, retry_after: float | None = None) -> Failed:
    return failure_of(message, now=datetime.now().astimezone(), retry_after=retry_after)

"""The output of one turn of Codex: events, and the retries and rejections in its error stream.

An event of `codex exec --json` is `{"type": "item.completed", "item": {"id": …, "type": "command_execution", …}}` and
the like. Unknown ones are left out, and nothing raises, whatever an event holds.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable
from datetime import datetime

from ralph import Failed, Usage
from ralph.executors import Event, Listener, Oversized, Running, Transcript
from ralph.executors.program_output import as_json, mapping, objects, text
from ralph_codex.failures import failure_of
from ralph_codex.session_log import SessionLog

__all__ = ["LOGGED", "TOOLS", "CodexListener"]

LOGGED = "error,codex_core::responses_retry=warn"
"""What Codex is to log: failures, and the retries, which alone say how long a provider asks to wait."""

TOOLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"})
"""The items that are uses of a tool."""

_RETRY = re.compile(r"retrying sampling request \(\d+/\d+ in (\d{1,9}(?:\.\d{1,9})?)(ms|s)\)\.*.*? sampling_error=(.*)")
_REJECTED = re.compile(r'Rejected\(\\?"(.{0,4000}) rejected: (.{0,2000}?)\\?"\)')
_ASIDE = ("Reading additional input from stdin", "Model metadata for ", "WARNING: proceeding, ")


class CodexListener(Listener):
    """Follows one turn.

    Args:
        log: the session's own.
    """

    def __init__(self, transcript: Transcript, log: SessionLog) -> None:
        super().__init__(transcript)
        self._log = log
        self._answered = False
        self._waiting: str | None = None
        self._begun: set[str] = set()
        self._shown: Counter[str] = Counter()
        self._rejected = 0
        self._failed_calls = 0

    @property
    def complaint(self) -> str:
        """The output besides events, without backtraces."""
        return super().complaint.partition("\nStack backtrace:")[0].strip()

    @property
    def answered(self) -> bool:
        """True if the agent's last message came after its last tool."""
        return self._answered

    async def follow(self, program: Running, prompt: str) -> None:
        program.suspected()  # Codex does not print every command that it runs
        await super().follow(program, prompt)

    def keep_alive(self) -> None:
        """Ignore output by itself: `take` says which events are signs of life."""

    def finish(self) -> None:
        """Count what is left to count when the turn is over."""
        self._measure()
        self._record_unprinted()
        if self._failed_calls:
            self.transcript.used(Usage(model_calls=self._failed_calls))

    def take(self, event: Event) -> None:
        kind = text(event.get("type"))
        item = mapping(event.get("item"))
        match kind:
            case "error":
                return  # "Reconnecting …" is no sign of life: there can be one a minute forever
            case "thread.started":
                self.transcript.session_id = text(event.get("thread_id")) or None
                self._log.begun(text(event.get("thread_id")))
            case "item.started" | "item.completed":
                self._take_item(kind, item)
            case "turn.completed":
                self._take_completion(event)
            case "turn.failed":
                self._failed_calls += 1
                self.failure = _failure(text(mapping(event.get("error")).get("message")))
            case _:
                pass
        self.transcript.alive()
        self._measure()

    def take_oversized(self, line: Oversized) -> None:
        """End the tool that the beginning of the line names."""
        super().take_oversized(line)
        if line.field("type") == "item.completed":
            self.transcript.tool_finished(line.field("id"), success=True)

    def take_error(self, line: str) -> None:
        if found := _RETRY.search(line):
            self._take_retry(found)
        elif found := _REJECTED.search(line):
            self._rejected += 1
            name = f"rejected-{self._rejected}"
            self.transcript.tool_started(name, "command_execution", as_json({"command": found[1].strip("`")}))
            self.transcript.tool_finished(name, success=False, result=found[2], denied=True)
        elif not line.startswith(_ASIDE):
            super().take_error(line)

    def _take_retry(self, found: re.Match[str]) -> None:
        """Give up where Codex would wait as long as the provider asks, or retry a key that was not accepted."""
        self._failed_calls += 1
        wait = float(found[1]) * (0.001 if found[2] == "ms" else 1.0)
        failure = _failure(found[3], wait if wait >= 1 else None)
        if failure.failure in {"rate_limited", "auth"}:
            self.give_up(failure)

    def _take_item(self, kind: str, item: Event) -> None:
        name = text(item.get("type"))
        if name in TOOLS:
            self._end_message(tool_calls=1)
            self._take_tool(item, ended=kind == "item.completed")
        elif name == "agent_message" and kind == "item.completed":
            self._end_message()
            self._waiting = text(item.get("text"))
            self.transcript.delta(self._waiting)
        elif name == "error" and not text(item.get("message")).startswith(_ASIDE):
            self.transcript.diagnosed(text(item.get("message")))

    def _take_tool(self, item: Event, *, ended: bool) -> None:
        """Record a use of a tool; Codex reports some kinds only when they end."""
        name, kind = text(item.get("id")), text(item.get("type"))
        if name not in self._begun:
            self._begun.add(name)
            self.transcript.tool_started(name, text(item.get("tool")) or kind, _ARGUMENTS[kind](item))
            self._shown[_script(text(item.get("command")))] += 1
        if ended:
            status = text(item.get("status"))
            self.transcript.tool_finished(
                name,
                success=status in {"completed", ""},  # a search on the web has no status
                result=_result(item),
                denied=status == "declined",
            )

    def _record_unprinted(self) -> None:
        """Record the commands that Codex did not print.

        The rejected ones were in its error stream, and patches in disguise are printed as changed files.
        """
        for command in self._log.commands:
            if self._shown[command.text]:
                self._shown[command.text] -= 1
            elif "apply_patch" not in command.text and not _REJECTED.search(command.result):
                arguments = as_json({"command": command.text})
                self.transcript.tool_started(command.id, "command_execution", arguments)
                self.transcript.tool_finished(command.id, success=False, result=command.result)

    def _end_message(self, *, tool_calls: int = 0) -> None:
        """Complete a message when it is known what follows: one before a tool is not the agent's last word."""
        if self._waiting is not None:
            self.transcript.message(self._waiting, tool_calls)
            self._waiting = None

    def _take_completion(self, event: Event) -> None:
        self.result, self._answered = 0, bool(self._waiting)
        self._end_message()
        self._measure()
        if (rest := self._log.rest(mapping(event.get("usage")))) != Usage():
            self.transcript.used(rest)

    def _measure(self) -> None:
        if (used := self._log.more()) != Usage():
            self.transcript.used(used)


def _result(item: Event) -> str:
    if output := text(item.get("aggregated_output")):
        return output
    if error := text(mapping(item.get("error")).get("message")):
        return error
    return "\n".join(text(part.get("text")) for part in objects(mapping(item.get("result")).get("content")))


def _changes(item: Event) -> str:
    return as_json([
        {"path": text(each.get("path")), "kind": text(each.get("kind"))} for each in objects(item.get("changes"))
    ])


_ARGUMENTS: dict[str, Callable[[Event], str]] = {
    "command_execution": lambda item: as_json({"command": text(item.get("command"))}),
    "file_change": _changes,
    "mcp_tool_call": lambda item: as_json(item.get("arguments")),
    "collab_tool_call": lambda item: as_json({"prompt": text(item.get("prompt"))}),
    "web_search": lambda item: as_json({"query": text(item.get("query"))}),
}


def _script(command: str) -> str:
    """Return the agent's command, out of the command line that Codex makes of it: `/bin/bash -lc '…'`."""
    try:
        return shlex.split(command)[-1] if command else ""
    except ValueError:
        return command


def _failure(message: str, retry_after: float | None = None) -> Failed:
    return failure_of(message, now=datetime.now().astimezone(), retry_after=retry_after)

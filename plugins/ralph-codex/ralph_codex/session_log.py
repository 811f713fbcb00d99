"""The session's own log, `sessions/…/rollout-…-ID.jsonl` in Codex's home folder, for what Codex does not print.

That is usage: Codex prints the whole session's at a turn's end, and none for a turn that fails or is cut short, but the
log has the session's total after each answer of the model. And it is commands: one that fails at once, for example
because the sandbox denies it something, is not printed at all (seen with 0.169).
"""

import json
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from ralph import Usage
from ralph.executors import Event, JsonLines
from ralph.executors.program_output import mapping, text, whole
from ralph.system.files import read_regular
from ralph.types import evolve

__all__ = ["Command", "SessionLog", "find_log"]

_CHUNK = 1 << 20
_MOST = 256 << 20
"""Bytes of a log that are read at all."""


def find_log(home: Path, session_id: str) -> Path | None:
    """Return the log of a session; None if Codex does not know it, so that it cannot be continued."""
    try:
        known = UUID(session_id)
        return next(home.glob(f"sessions/*/*/*/rollout-*-{known}.jsonl"), None)
    except (ValueError, OSError):
        return None


class Command(NamedTuple):
    """A command that the agent ran, and its result."""

    id: str
    text: str
    result: str


class SessionLog:
    """Follows the log of one session through one turn.

    Args:
        log: that of the session which is taken up; None for a fresh one.

    Attributes:
        commands: those of the turn that are over, oldest first.
    """

    def __init__(self, home: Path, log: Path | None) -> None:
        self._home, self._log, self._session = home, log, ""
        self._lines = JsonLines()
        self._read = 0
        self._total = Usage(input_tokens=0, output_tokens=0, cache_read_tokens=0)
        self._asked: dict[str, str] = {}
        self.commands: list[Command] = []
        if log:
            self.more()
            self.commands.clear()

    def begun(self, session_id: str) -> None:
        """Note which session Codex has begun; its log appears a moment later."""
        self._session = session_id

    def more(self) -> Usage:
        """Return what was used since the last call."""
        before, calls = self._total, 0
        for line in self._lines_since():
            payload = mapping(line.get("payload"))
            if line.get("type") == "token_usage_record":
                calls += 1
            elif total := mapping(mapping(payload.get("info")).get("total_token_usage")):
                self._total = _counted(total)
            elif line.get("type") == "response_item":
                self._take_item(payload)
        used = _beyond(self._total, before)
        return evolve(used, model_calls=calls) if calls else used

    def rest(self, told: Event) -> Usage:
        """Return what is left of the session's total, as Codex reports it at the end of a turn."""
        before, self._total = self._total, _counted(told)
        return _beyond(self._total, before)

    def _take_item(self, item: Event) -> None:
        kind, name = text(item.get("type")), text(item.get("call_id"))
        if kind == "function_call" and (command := _command(text(item.get("arguments")))):
            self._asked[name] = command
        elif kind == "function_call_output" and name in self._asked:
            self.commands.append(Command(name, self._asked.pop(name), text(item.get("output"))))

    def _lines_since(self) -> list[Event]:
        self._log = self._log or find_log(self._home, self._session)
        if not self._log:
            return []
        found: list[Event] = []
        try:
            # The agent could have put a link or a pipe in its place.
            while self._read < _MOST and (chunk := read_regular(self._log, _CHUNK, offset=self._read)):
                self._read += len(chunk)
                found += [line for line in self._lines.feed(chunk) if isinstance(line, dict)]
        except OSError:
            return found
        return found


def _command(arguments: str) -> str:
    """Return the command in the arguments of a tool; empty if the tool takes none."""
    try:
        return text(mapping(json.loads(arguments)).get("cmd"))
    except (ValueError, RecursionError):
        return ""


def _counted(total: Event) -> Usage:
    return Usage(
        input_tokens=whole(total.get("input_tokens")) or 0,
        output_tokens=whole(total.get("output_tokens")) or 0,
        cache_read_tokens=whole(total.get("cached_input_tokens")) or 0,
    )


def _beyond(total: Usage, before: Usage) -> Usage:
    """Return the difference; an empty usage if none exists, because then nothing was measured."""
    if total == before:
        return Usage()
    return Usage(
        input_tokens=_rest(total.input_tokens, before.input_tokens),
        output_tokens=_rest(total.output_tokens, before.output_tokens),
        cache_read_tokens=_rest(total.cache_read_tokens, before.cache_read_tokens),
    )


def _rest(total: int | None, before: int | None) -> int:
    return max(0, (total or 0) - (before or 0))

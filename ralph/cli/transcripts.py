"""The records of one turn by other tools: Claude Code's JSON in all its forms, ralph-tui's iteration log, plain text.

Nothing here raises on the content of such a record; what it does not say is left out.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from ralph.executors.program_output import Event, mapping
from ralph.system.files import parsed

Fields = dict[str, Any]

_KINDS = {"system", "assistant", "user", "result"}
_EDITS = {"Edit", "MultiEdit", "NotebookEdit", "Write"}
_LOOKS = {"BashOutput", "Glob", "Grep", "LS", "NotebookRead", "Read", "TodoRead", "TodoWrite", "WebFetch", "WebSearch"}
"""Tools that leave the workspace as it is. Of any other, a shell's above all, the effect is unknown."""

_COMMIT = re.compile(r"\bgit\b[^|;&\n]{0,200}\bcommit\b")
_HEADER = re.compile(r"# Iteration \d{1,9} Log\s", re.ASCII)
_FIELD = re.compile(r"- \*\*(Started At|Ended At|Error)\*\*: (.{1,2000})")
_OUTPUT = "\n--- RAW OUTPUT ---\n"
_AFTERWARDS = ("\n--- STDERR ---\n", "\n--- SUBAGENT TRACE ---\n")


def parse_transcript(content: str) -> Fields:
    """Return the fields of a recorded pass (`ralph.cli.replay_sources.Line`) from a tool's record of a turn."""
    if _HEADER.match(content) and _OUTPUT in content:
        return _by_iteration_log(content)
    events = _events(content)
    if events:
        return fields_of(Turn.of(events))
    return {"text": content} if content.strip() else {"text": "", "error": "the log is empty"}


def _by_iteration_log(content: str) -> Fields:
    """Read ralph-tui's log: a header, then what the agent printed, then what it printed to its error stream."""
    header, _, output = content.partition(_OUTPUT)
    for mark in _AFTERWARDS:
        output = output.partition(mark)[0]
    said = dict(_FIELD.findall(header))
    fields = parse_transcript(output)
    began, ended = _moment(said.get("Started At", "")), _moment(said.get("Ended At", ""))
    if began is not None:
        fields["at"] = began
        if ended is not None:
            fields.setdefault("duration", max(0.0, (ended - began).total_seconds()))
    if "Error" in said:
        fields["error"] = said["Error"]
    return fields


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment.astimezone()


def _events(content: str) -> Sequence[Event]:
    """Return Claude Code's events; none if the content is something else."""
    held = content.strip()
    if held[:1] not in {"{", "["}:
        lines = held.rsplit("\n", 1)
        return _by_lines(held) if _event(lines[-1]) else ()
    try:
        whole: Any = json.loads(held)
    except (ValueError, RecursionError):
        return _by_lines(held)
    listed = cast("list[Any]", whole) if isinstance(whole, list) else [whole]
    return [each for each in map(_known, listed) if each]


def _by_lines(held: str) -> Sequence[Event]:
    return [event for event in map(_event, held.split("\n")) if event]


def _event(line: str) -> Event:
    """Return the event in a line; an empty one if it holds none."""
    return _known(parsed(line)) if line.lstrip().startswith("{") else {}


def _known(value: Any) -> Event:
    """Return an event of a known kind, or an object that can only be a result; else an empty one."""
    event = mapping(value)
    kind = event.get("type", "result" if isinstance(event.get("result"), str) else None)
    return {**event, "type": kind} if isinstance(kind, str) and kind in _KINDS else {}


@dataclass(slots=True)
class Turn:
    """The sum of the events of one turn.

    Attributes:
        calls: the tools by the ids of their calls, each with its arguments.
        failed: the ids of calls that returned an error.
        text: of the agent's own last message that asked for no tool.
        streamed: whether the messages are there, and not only the result.
    """

    calls: dict[str, tuple[str, Event]] = field(default_factory=dict[str, tuple[str, Event]])
    failed: set[str] = field(default_factory=set[str])
    text: str = ""
    result: Event = field(default_factory=dict[str, Any])
    streamed: bool = False

    @classmethod
    def of(cls, events: Iterable[Event]) -> "Turn":
        turn = cls()
        for event in events:
            match event["type"]:
                case "assistant":
                    turn.streamed = True
                    turn.add(event)
                case "user":
                    turn.failed |= {
                        str(block.get("tool_use_id")) for block in blocks_of(event) if block.get("is_error") is True
                    }
                case "result":
                    turn.result = event
                case _:
                    turn.streamed = True
        return turn

    def add(self, event: Event) -> None:
        """Add a message of the agent or of a sub-agent, which changes the workspace with its tools as well."""
        blocks = blocks_of(event)
        used = [block for block in blocks if block.get("type") == "tool_use"]
        for block in used:
            key = str(block.get("id") or len(self.calls))
            self.calls[key] = (str(block.get("name")), mapping(block.get("input")))
        if not used and not event.get("parent_tool_use_id"):
            said = [text for block in blocks if isinstance(text := block.get("text"), str)]
            self.text = "\n".join(said) or self.text


def fields_of(turn: Turn) -> Fields:
    """Return the fields of a pass from the sum of a turn's events."""
    result = turn.result
    denied = [mapping(each) for each in _list(result.get("permission_denials"))]
    turns, took = amount(result.get("num_turns")), amount(result.get("duration_ms"))
    fields: Fields = {
        "text": result["result"] if isinstance(result.get("result"), str) else turn.text,
        "error": _error(turn),
        "denials": len(denied) if isinstance(result.get("permission_denials"), list) else None,
        "tools": len(turn.calls) if turn.streamed else None if turns is None else max(int(turns) - 1, 0),
        "changes": _changes(turn, {str(each.get("tool_use_id")) for each in denied}) if turn.streamed else None,
        "usage": usage_of(mapping(result.get("usage"))),
        "cost": amount(result.get("total_cost_usd", result.get("cost_usd"))),
        "duration": None if took is None else took / 1000,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _error(turn: Turn) -> str | None:
    """Return the failure of the turn; None if it did not fail."""
    result = turn.result
    if not result:
        return "the log ends before the turn does"
    subtype = str(result.get("subtype") or "")
    if result.get("is_error") is not True and not subtype.startswith("error"):
        return None
    said = result.get("result")
    return said if isinstance(said, str) and said.strip() else subtype or "it is not known why"


def _changes(turn: Turn, denied: set[str]) -> Fields | None:
    """Return the changes that the tools made; None if one with an unknown effect was used."""
    done = {key: call for key, call in turn.calls.items() if key not in denied}
    well = [call for key, call in done.items() if key not in turn.failed]
    files = {str(given.get("file_path") or given.get("notebook_path")) for name, given in well if name in _EDITS}
    commits = sum(name == "Bash" and bool(_COMMIT.search(str(given.get("command"))[:10_000])) for name, given in well)
    if files or commits:
        return {"files": len(files), "commits": commits}
    if all(name in _LOOKS | _EDITS for name, _ in done.values()):
        return {"files": 0, "commits": 0}
    return None


def usage_of(usage: Event) -> Fields | None:
    """Return the usage; Claude Code counts what it reads from and writes to its cache apart from the input."""
    cached, stored = amount(usage.get("cache_read_input_tokens")), amount(usage.get("cache_creation_input_tokens"))
    read, written = amount(usage.get("input_tokens")), amount(usage.get("output_tokens"))
    if read is None and written is None:
        return None
    counts = {
        "input_tokens": None if read is None else read + (cached or 0) + (stored or 0),
        "output_tokens": written,
        "cache_read_tokens": cached,
    }
    return {name: int(count) for name, count in counts.items() if count is not None}


def blocks_of(event: Event) -> Sequence[Event]:
    """Return the blocks of a message of Claude Code's."""
    content = mapping(event.get("message")).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(block) for block in _list(content)]


def _list(value: Any) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else ()


def amount(value: Any) -> float | None:
    """Return a number that can be an amount; None for anything else."""
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 10**12
    return float(value) if fits else None

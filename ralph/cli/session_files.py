"""Formats of the files that agents and loops keep of their sessions: one JSON object a line, as the turns of a session.

A format has a function from one line to steps; `turns` adds them up. Nothing here raises on the content of a file.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

from ralph.cli.transcripts import Fields, Turn, amount, blocks_of, fields_of, usage_of
from ralph.executors.program_output import Event, mapping, text
from ralph.system.files import parsed

_PROMPT = 10_000
_MOST = 10**12
_YEARS = range(1970, 9000)

_NOT_TYPED = re.compile(
    r"<(?:bash-|command-|environment_context|local-command|skill|system-reminder|turn_aborted|user_instructions|"
    r"user_shell_command)|\[Request interrupted|# AGENTS\.md instructions|Caveat: "
)
"""The beginnings of messages in a user's name that no user wrote."""

_BY_HOOK = "Stop hook feedback:\n"
"""The beginning of the message of a hook that lets Claude Code continue, as plug-ins for loops do."""

_FAILED = re.compile(r'exited with code [1-9]|"exit_code": ?[1-9]')
_PATCHED = re.compile(r"^\*\*\* (?:Add|Delete|Update) File: (.+)$", re.MULTILINE)
_NAMES = {
    **dict.fromkeys(("bash", "exec_command", "local_shell_call", "shell", "shell_command", "write_stdin"), "Bash"),
    **dict.fromkeys(("apply_patch", "edit", "str_replace"), "Edit"),
    **dict.fromkeys(("report_intent", "update_plan", "update_todo"), "TodoWrite"),
    **dict.fromkeys(("grep", "rg"), "Grep"),
    **dict.fromkeys(("view", "view_image"), "Read"),
    "create": "Write",
    "glob": "Glob",
}
"""Other agents' tools by Claude Code's names for tools with the same effect."""


class Step(NamedTuple):
    """A part of a turn, from one line.

    A `prompt` begins a turn, and so does a `pass` with another key than the last one; a `use` is a call of a tool, and
    `failed` names one. A `usage` counts once for each key, a `total` is that of the session so far.
    """

    kind: Literal["prompt", "pass", "folder", "use", "failed", "text", "usage", "total", "error"]
    key: str = ""
    said: str = ""
    more: Event = MappingProxyType({})


Reader = Callable[[Event], Iterator[Step]]


def claude_steps(event: Event) -> Iterator[Step]:
    """Yield the steps in a line of a Claude Code transcript; of a sub-agent only tools and usage count."""
    kind, blocks, key = text(event.get("type")), blocks_of(event), text(mapping(event.get("message")).get("id"))
    inner = event.get("isSidechain") is True
    said = "\n".join(filter(None, (text(block.get("text")) for block in blocks)))
    yield Step("folder", said=text(event.get("cwd")))
    if kind == "user":
        results = [block for block in blocks if block.get("type") == "tool_result"]
        yield from (Step("failed", text(each.get("tool_use_id"))) for each in results if each.get("is_error") is True)
        hidden = event.get("isMeta") is True and not said.startswith(_BY_HOOK)
        if not (results or inner or hidden or event.get("isCompactSummary") is True):
            yield Step("prompt", said=said.removeprefix(_BY_HOOK))
    elif kind == "assistant":
        counts = usage_of(mapping(mapping(event.get("message")).get("usage"))) or {}
        yield Step("usage", key, more={**counts, "cost": event.get("costUSD")})
        for block in blocks:
            if block.get("type") == "tool_use":
                yield _use(text(block.get("id")), text(block.get("name")), block.get("input"))
        if said and not inner:
            yield Step("error" if event.get("isApiErrorMessage") is True else "text", key, said)
    elif kind == "cost-state":
        yield Step("total", more={"cost": event.get("totalCostUSD")})


def codex_steps(event: Event) -> Iterator[Step]:
    """Yield the steps in a line of a Codex session file."""
    item = mapping(event.get("payload"))
    kind, key = text(item.get("type")), text(item.get("call_id"))
    if text(event.get("type")) in {"session_meta", "turn_context"}:
        yield Step("folder", said=text(item.get("cwd")))
    elif kind == "token_count":
        total = mapping(mapping(item.get("info")).get("total_token_usage"))
        names = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
        yield _counts("total", "", total, {**names, "cached_input_tokens": "cache_read_tokens"})
    elif kind == "message" and text(item.get("role")) in {"user", "assistant"}:
        blocks = blocks_of({"message": item})
        said = "\n".join(filter(None, (text(block.get("text")) for block in blocks)))
        yield Step("prompt" if item["role"] == "user" else "text", text(item.get("id")), said)
    elif kind in {"function_call", "custom_tool_call", "local_shell_call"}:
        yield _use(key, text(item.get("name")) or kind, item.get("arguments") or item.get("input"))
    elif kind in {"function_call_output", "custom_tool_call_output"}:
        if _FAILED.search(text(item.get("output"))[:2_000]):
            yield Step("failed", key)
    elif kind in {"error", "turn_aborted"}:
        yield Step("error", said=text(item.get("message")) or text(item.get("reason")) or kind)


def copilot_steps(event: Event) -> Iterator[Step]:
    """Yield the steps in a line of a Copilot CLI session file; of a sub-agent only tools and usage count."""
    data = mapping(event.get("data"))
    key, used = text(data.get("toolCallId")), mapping(data.get("usage"))
    match event.get("type"):
        case "session.start" | "session.resume":
            yield Step("folder", said=text(mapping(data.get("context")).get("cwd")))
        case "user.message":
            yield Step("prompt", said=text(data.get("content")))
        case "assistant.message" if not data.get("parentToolCallId") and not event.get("agentId"):
            yield Step("text", text(data.get("messageId")), text(data.get("content")))
        case "tool.execution_start":
            yield _use(key, text(data.get("toolName")), data.get("arguments"))
        case "tool.execution_complete" if data.get("success") is False:
            yield Step("failed", key)
        case "session.usage_record":
            names = {"inputTokens": "input_tokens", "outputTokens": "output_tokens"}
            yield _counts("usage", text(used.get("apiCallId")), used, {**names, "cacheReadTokens": "cache_read_tokens"})
        case "session.error" | "abort":
            yield Step("error", said=text(data.get("message")) or text(data.get("reason")) or "the turn was aborted")
        case _:
            pass


def orchestrator_steps(event: Event) -> Iterator[Step]:
    """Yield the steps in a line of ralph-orchestrator's `agent-output.jsonl`."""
    number = amount(event.get("iteration"))
    key = f"{number}"
    yield Step("pass", key)
    match event.get("type"):
        case "text":
            yield Step("text", key, text(event.get("text")))
        case "tool_call":
            yield _use(text(event.get("id")), text(event.get("name")), event.get("input"))
        case "error":
            yield Step("error", said=text(event.get("message")))
        case "complete":
            names = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
            yield _counts("usage", key, event, names)
        case _:
            pass


class Format(NamedTuple):
    """A tool's logs: below a folder that a variable or the home folder names, or below the current one.

    Attributes:
        patterns: of files, one part for each folder.
        read: a line of a session; None if each file is one pass, in a form that `read_logs` knows.
    """

    name: str
    variable: str
    home: str
    patterns: tuple[str, ...]
    read: Reader | None


FORMATS = (
    Format("frankbria's ralph", "", "", ("logs/claude_output_*.log", ".ralph/logs/claude_output_*.log"), None),
    Format("ralph-orchestrator", "", "", (".ralph/diagnostics/*/agent-output.jsonl",), orchestrator_steps),
    Format("Claude Code", "CLAUDE_CONFIG_DIR", ".claude", ("projects/*/*.jsonl",), claude_steps),
    Format(
        "Codex",
        "CODEX_HOME",
        ".codex",
        ("sessions/*/*/*/rollout-*.jsonl", "sessions/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"),
        codex_steps,
    ),
    Format("Copilot CLI", "COPILOT_HOME", ".copilot", ("session-state/*/events.jsonl",), copilot_steps),
)


class Told(NamedTuple):
    """A turn of a session, as the fields of a pass."""

    folder: str
    prompt: str
    at: datetime | None
    fields: Fields


@dataclass(slots=True)
class _Sum:
    """The sum of the steps of a turn.

    Attributes:
        last: the key of the text that came last; None if the turn is not over.
    """

    prompt: str = ""
    turn: Turn = field(default_factory=lambda: Turn(streamed=True))
    used: dict[str, Event] = field(default_factory=dict[str, Event])
    error: str = ""
    last: str | None = None
    times: list[datetime] = field(default_factory=list[datetime])

    def add(self, step: Step, moment: datetime | None) -> None:
        if moment is not None and step.kind not in {"folder", "total"}:
            self.times[1:] = [moment]  # the first and the last one count
        match step.kind:
            case "use":
                self.turn.calls[step.key or str(len(self.turn.calls))] = (step.said, step.more)
                self.last = None
            case "failed":
                self.turn.failed.add(step.key)
            case "text" if step.said.strip():
                self.turn.text = f"{self.turn.text}\n{step.said}" if self.last == step.key else step.said
                self.last, self.error = step.key, ""
            case "usage":
                self.used[step.key or str(len(self.used))] = step.more
            case "error":
                self.error = step.said
            case _:
                pass

    def told(self, folder: str, spent: Event) -> Told:
        """Return the turn.

        Args:
            spent: the difference that it makes in the session's totals.
        """
        over = {"type": "result"} if self.last is not None else {}
        self.turn.result = {"type": "result", "is_error": True, "result": self.error} if self.error else over
        used = dict[str, int]()
        fields: Fields = {**fields_of(self.turn), "task": self.prompt, "usage": used}
        counts = [*self.used.values(), spent]
        for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cost"):
            known = [number for each in counts if (number := amount(each.get(name))) is not None]
            if known and name == "cost":
                fields["cost"] = min(sum(known), _MOST)
            elif known:
                used[name] = int(min(sum(known), _MOST))
        if self.times:
            took = (self.times[-1] - self.times[0]).total_seconds()
            fields |= {"at": self.times[0], "duration": max(took, 0.0)}
        return Told(folder, self.prompt, self.times[0] if self.times else None, fields)


def turns(events: Iterable[Event], read: Reader) -> Iterator[Told]:
    """Yield the turns of a session, oldest first."""
    now, key, folder = _Sum(), None, ""
    begun, total, before = False, dict[str, Any](), dict[str, Any]()
    for event in events:
        moment = _moment(event.get("timestamp") or event.get("ts"))
        for step in read(event):
            folder = step.said or folder if step.kind == "folder" else folder
            total |= step.more if step.kind == "total" else {}
            typed = step.kind == "prompt" and step.said.strip() and not _NOT_TYPED.match(step.said.lstrip())
            if typed or (step.kind == "pass" and step.key != key):
                if begun:
                    yield now.told(folder, _beyond(total, before))
                now, key, begun, before = _Sum(step.said[:_PROMPT]), step.key, True, {**total}
            now.add(step, moment)
    if begun:
        yield now.told(folder, _beyond(total, before))


def _beyond(total: Event, before: Event) -> Event:
    """Return what was added to totals; one that has become smaller began anew."""
    pairs = ((name, amount(value), amount(before.get(name)) or 0.0) for name, value in total.items())
    return {name: value - old if value >= old else value for name, value, old in pairs if value is not None}


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text(value))
    except ValueError:
        return None
    known = moment.year in _YEARS
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) if known else None


def _use(key: str, name: str, given: Any) -> Step:
    """Return a call of another agent's tool, by Claude Code's name and arguments for the same effect."""
    said = text(given)
    held = mapping(given) or mapping(parsed(said))
    patched = _PATCHED.search(said[:_PROMPT])
    paths = [patched[1]] if patched else [text(held.get(each)) for each in ("path", "file_path", "notebook_path")]
    command = held.get("cmd") or held.get("command")
    words = cast("list[Any]", command if isinstance(command, list) else [command])
    said = " ".join(text(word) for word in words)
    return Step("use", key, _NAMES.get(name, name), {"file_path": "".join(paths), "command": said})


def _counts(kind: Literal["usage", "total"], key: str, given: Event, names: Mapping[str, str]) -> Step:
    return Step(kind, key, more={ours: given.get(theirs) for theirs, ours in names.items()})

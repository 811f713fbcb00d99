"""Follows what Claude Code prints in one turn, and puts it into the transcript."""

import json
from dataclasses import dataclass, field

import anyio

from ralph import Failed
from ralph.executors import Oversized, Transcript
from ralph_claude.failures import failure_of, retried, wait_asked_for
from ralph_claude.usage import Meter
from ralph_claude.wire import Event, blocks, mapping, number, said_in, text

__all__ = ["Listener"]

_SYNTHETIC = "<synthetic>"
_DENIED = frozenset({"permission-rule", "user-rejected"})
_TAIL = 2_000


@dataclass(slots=True)
class _Message:
    """A message of the agent that is put together from its parts, which are printed one by one."""

    id: str
    texts: list[str] = field(default_factory=list[str])
    calls: list[Event] = field(default_factory=list[Event])


class Listener:
    """Follows one turn; nothing that it is given makes it raise.

    Attributes:
        over: set when the turn has ended, when going on is no use, and when the program has.
        settled: the turn came to its end by itself, with a result.
        complaint: the end of what the program wrote beside its messages.
    """

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._meter = Meter(transcript.used)
        self._open: _Message | None = None
        self._denied: set[str] = set()
        self._others: set[str] = set()
        self._error: Event = {}
        self._result: Event = {}
        self._resets_at: float | None = None
        self._wait: float | None = None
        self._given_up: Failed | None = None
        self.over = anyio.Event()
        self.complaint = ""

    @property
    def settled(self) -> bool:
        return bool(self._result)

    @property
    def failure(self) -> Failed | None:
        """What went wrong, as far as Claude Code told it."""
        return self._given_up or failure_of(self._result, self._error, self._resets_at, self._wait)

    def denied(self, call_id: str | None) -> None:
        """The policy turned a tool down; its result will come as any other's."""
        self._denied.add(call_id or "")

    def beside(self, said: str) -> None:
        """Something that is no message: the error stream, and lines that cannot be read."""
        self._transcript.alive()
        self.complaint = f"{self.complaint}{said}"[-_TAIL:]

    def oversized(self, line: Oversized) -> None:
        """A line that was too long to be kept; a tool whose result was in it must not seem to go on."""
        self._transcript.diagnosed(f"Claude Code printed a line of {line.size:,} bytes: it is left out.")
        self._flush()
        if call_id := line.field("tool_use_id"):
            self._transcript.tool_finished(call_id, success=True)

    def take(self, event: Event) -> None:
        """A message, in the order of their coming."""
        self._transcript.alive()
        match event.get("type"):
            case "stream_event":
                self._streamed(mapping(event.get("event")), own=not event.get("parent_tool_use_id"))
            case "assistant":
                self._said(event)
            case "user":
                self._answered(event)
            case "system":
                self._told(event)
            case "rate_limit_event":
                limit = mapping(event.get("rate_limit_info"))
                self._resets_at = number(limit.get("resetsAt")) if limit.get("status") == "rejected" else None
            case "result":
                self._flush()
                self._result = event
                self._meter.turn_ended(mapping(event.get("model_usage_since_last_result")))
                self.over.set()
            case _:
                pass

    def _streamed(self, event: Event, *, own: bool) -> None:
        match event.get("type"):
            case "message_start":
                self._meter.call_began(mapping(mapping(event.get("message")).get("usage")))
            case "content_block_delta" if own:
                self._transcript.delta(text(mapping(event.get("delta")).get("text")))
            case "message_delta":
                self._meter.call_ended(mapping(event.get("usage")))
            case "message_stop" if own:
                self._flush()
            case _:
                pass

    def _said(self, event: Event) -> None:
        """A part of a message. One that Claude Code makes itself tells of an error, and is none of the agent's."""
        message = mapping(event.get("message"))
        if message.get("model") == _SYNTHETIC or event.get("is_api_error_message"):
            self._error = event
            if event.get("api_error_status") or event.get("error") != "authentication_failed":
                self._meter.call_failed()
            return
        calls = [part for part in blocks(message.get("content")) if part.get("type") == "tool_use"]
        name = text(message.get("id"))
        if event.get("parent_tool_use_id"):
            self._said_by_another(name, message, calls)
            return
        if self._open is None or self._open.id != name:
            self._flush()
            self._open = _Message(name)
        self._transcript.model = text(message.get("model")) or self._transcript.model
        self._open.calls += calls
        if said := said_in(message.get("content")):
            self._open.texts.append(said)

    def _said_by_another(self, name: str, message: Event, calls: list[Event]) -> None:
        """A part of a sub-agent's message: its words are not the agent's, but its tools change the workspace all the
        same, and what it uses counts. Its answers are not streamed.
        """
        if name not in self._others:
            self._others.add(name)
            self._meter.call_began(mapping(message.get("usage")))
        self._began(calls)

    def _flush(self) -> None:
        """The message that was put together is whole."""
        message, self._open = self._open, None
        if message and (message.texts or message.calls):
            self._transcript.message("\n".join(message.texts), len(message.calls))
            self._began(message.calls)

    def _began(self, calls: list[Event]) -> None:
        for call in calls:
            given = json.dumps(call.get("input"), ensure_ascii=False)
            self._transcript.tool_started(text(call.get("id")), text(call.get("name")), given)

    def _answered(self, event: Event) -> None:
        """The results of tools."""
        self._flush()
        kept_back = {
            text(meta.get("id")) for meta in blocks(event.get("tool_result_meta")) if _turned_down(meta)
        } | self._denied
        for part in blocks(mapping(event.get("message")).get("content")):
            if part.get("type") == "tool_result":
                call_id = text(part.get("tool_use_id"))
                self._transcript.tool_finished(
                    call_id,
                    success=part.get("is_error") is not True,
                    result=said_in(part.get("content")),
                    denied=call_id in kept_back,
                )

    def _told(self, event: Event) -> None:
        match event.get("subtype"):
            case "init":
                self._transcript.session_id = text(event.get("session_id")) or self._transcript.session_id
            case "permission_denied":
                self.denied(text(event.get("tool_use_id")))
            case "api_retry":
                self._meter.call_failed()
                self._wait = wait_asked_for(event)
                if failure := retried(event):
                    self._given_up = failure
                    self.over.set()
            case _:
                pass


def _turned_down(meta: Event) -> bool:
    return text(meta.get("non_execution_kind")) in _DENIED

"""The output of one turn of Claude Code: messages, tools, failures, and what it uses.

The SDK's own types for these events leave out what a turn needs most: the usage since the last result, and why a tool
did not run. So they are read as they stand on the wire.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from ralph import Failed, Usage
from ralph.executors import Event, Listener, Oversized, Transcript
from ralph.executors.program_output import as_json, mapping, number, objects, text, whole
from ralph_claude.failures import failure_of, retried, wait_asked_for

__all__ = ["ClaudeListener"]

_SYNTHETIC = "<synthetic>"
_DENIED = frozenset({"permission-rule", "user-rejected"})
_PRICED = "list"
"""Claude Code's name for a cost from a price list; for a model that it does not know, it makes one up."""


@dataclass(slots=True)
class _Message:
    """A message of the agent, put together from its parts, which are printed one by one."""

    id: str
    texts: list[str] = field(default_factory=list[str])
    calls: list[Event] = field(default_factory=list[Event])


class ClaudeListener(Listener):
    """Follows one turn.

    Attributes:
        over: set when the turn has ended, when continuing is of no use, and when the program has ended.
    """

    label = "Claude Code"

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self.over = anyio.Event()
        self._meter = _Meter(transcript.used)
        self._open: _Message | None = None
        self._denied: set[str] = set()
        self._others: set[str] = set()
        self._error: Event = {}
        self._settled = False
        self._resets_at: float | None = None
        self._wait: float | None = None

    @property
    def settled(self) -> bool:
        """True if the turn came to its end by itself, with a result."""
        return self._settled

    def give_up(self, failure: Failed) -> None:
        super().give_up(failure)
        self.over.set()

    def denied(self, call_id: str | None) -> None:
        """Note that the policy denied a tool; its result comes like any other's."""
        self._denied.add(call_id or "")

    def take_text(self, said: str) -> None:
        self.keep_alive()
        super().take_text(said)

    def take_oversized(self, line: Oversized) -> None:
        """End the tool with a result that was too long to be kept."""
        super().take_oversized(line)
        self._flush()
        if call_id := line.field("tool_use_id"):
            self.transcript.tool_finished(call_id, success=True)

    def take(self, event: Event) -> None:
        self.keep_alive()
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
                self._take_result(event)
            case _:
                pass

    def _take_result(self, event: Event) -> None:
        self._flush()
        self._settled = True
        self.failure = self.failure or failure_of(event, self._error, self._resets_at, self._wait)
        self._meter.turn_ended(mapping(event.get("model_usage_since_last_result")))
        self.over.set()

    def _streamed(self, event: Event, *, own: bool) -> None:
        match event.get("type"):
            case "message_start":
                self._meter.call_began(mapping(mapping(event.get("message")).get("usage")))
            case "content_block_delta" if own:
                self.transcript.delta(text(mapping(event.get("delta")).get("text")))
            case "message_delta":
                self._meter.call_ended(mapping(event.get("usage")))
            case "message_stop" if own:
                self._flush()
            case _:
                pass

    def _said(self, event: Event) -> None:
        """Take a part of a message. One that Claude Code makes itself reports an error, and is not the agent's."""
        message = mapping(event.get("message"))
        if message.get("model") == _SYNTHETIC or event.get("is_api_error_message"):
            self._error = event
            if event.get("api_error_status") or event.get("error") != "authentication_failed":
                self._meter.call_failed()
            return
        calls = [part for part in _blocks(message.get("content")) if part.get("type") == "tool_use"]
        name = text(message.get("id"))
        if event.get("parent_tool_use_id"):
            self._said_by_another(name, message, calls)
            return
        if self._open is None or self._open.id != name:
            self._flush()
            self._open = _Message(name)
        self.transcript.model = text(message.get("model")) or self.transcript.model
        self._open.calls += calls
        if said := _said_in(message.get("content")):
            self._open.texts.append(said)

    def _said_by_another(self, name: str, message: Event, calls: list[Event]) -> None:
        """Take a part of a sub-agent's message, which is not streamed.

        Its words are not the agent's, but its tools change the workspace too, and its usage counts.
        """
        if name not in self._others:
            self._others.add(name)
            self._meter.call_began(mapping(message.get("usage")))
        self._began(calls)

    def _flush(self) -> None:
        message, self._open = self._open, None
        if message and (message.texts or message.calls):
            self.transcript.message("\n".join(message.texts), len(message.calls))
            self._began(message.calls)

    def _began(self, calls: list[Event]) -> None:
        for call in calls:
            given = as_json(call.get("input"))
            self.transcript.tool_started(text(call.get("id")), text(call.get("name")), given)

    def _answered(self, event: Event) -> None:
        """Take the results of tools."""
        self._flush()
        kept_back = {
            text(meta.get("id")) for meta in _blocks(event.get("tool_result_meta")) if _turned_down(meta)
        } | self._denied
        for part in _blocks(mapping(event.get("message")).get("content")):
            if part.get("type") == "tool_result":
                call_id = text(part.get("tool_use_id"))
                self.transcript.tool_finished(
                    call_id,
                    success=part.get("is_error") is not True,
                    result=_said_in(part.get("content")),
                    denied=call_id in kept_back,
                )

    def _told(self, event: Event) -> None:
        match event.get("subtype"):
            case "init":
                self.transcript.session_id = text(event.get("session_id")) or self.transcript.session_id
            case "permission_denied":
                self.denied(text(event.get("tool_use_id")))
            case "api_retry":
                self._meter.call_failed()
                self._wait = wait_asked_for(event)
                if failure := retried(event):
                    self.give_up(failure)
            case _:
                pass


def _turned_down(meta: Event) -> bool:
    return text(meta.get("non_execution_kind")) in _DENIED


def _blocks(content: object) -> list[Event]:
    """Return the parts of a message's content; plain text is one part."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def _said_in(content: object) -> str:
    return "\n".join(text(part.get("text")) for part in _blocks(content) if part.get("type") == "text")


class _Meter:
    """Counts the usage of one turn while it runs, and corrects it by what Claude Code reports at its end.

    Args:
        used: called with what was used since the last call.
    """

    def __init__(self, used: Callable[[Usage], None]) -> None:
        self._report = used
        self._counted = Usage()

    def call_failed(self) -> None:
        """Count a request to the model that failed."""
        self._used(Usage(model_calls=1))

    def call_began(self, usage: Event) -> None:
        """Count an answer that begins; its input is known by now."""
        self._used(
            Usage(
                input_tokens=_input(usage, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
                cache_read_tokens=whole(usage.get("cache_read_input_tokens")) or 0,
                model_calls=1,
            )
        )

    def call_ended(self, usage: Event) -> None:
        """Count the output of a complete answer."""
        self._used(Usage(output_tokens=whole(usage.get("output_tokens")) or 0))

    def turn_ended(self, models: Event) -> None:
        """Correct the sums.

        Args:
            models: the turn's usage of each model, sub-agents included; empty if it is not known.
        """
        totals = [mapping(model) for model in models.values()]
        if not totals:
            return
        names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        sums = {
            "input_tokens": sum(_input(total, *names) for total in totals),
            "output_tokens": sum(whole(total.get("outputTokens")) or 0 for total in totals),
            "cache_read_tokens": sum(whole(total.get("cacheReadInputTokens")) or 0 for total in totals),
        }
        missing = {name: max(total - (getattr(self._counted, name) or 0), 0) for name, total in sums.items()}
        self._used(Usage(**missing, cost=_cost(totals)))

    def _used(self, usage: Usage) -> None:
        self._counted += usage
        self._report(usage)


def _input(usage: Event, *names: str) -> int:
    """Return the input with what Anthropic writes to and reads from its cache, which it counts separately."""
    return sum(whole(usage.get(name)) or 0 for name in names)


def _cost(totals: list[Event]) -> float | None:
    costs = [number(total.get("costUSD")) for total in totals if total.get("costBasis", _PRICED) == _PRICED]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(totals) else None

"""OpenTelemetry of a run: a trace, metrics and log records, configured by the standard `OTEL_*` variables alone.

```
ralph.run
└─ ralph.iteration
   ├─ invoke_agent copilot-sdk      the turn; the spans of the Copilot runtime nest below it
   │  └─ execute_tool bash
   └─ ralph.verification
```

The names follow the semantic conventions for generative AI where they have one. Attributes hold no texts: neither
prompts, messages, commands, results of tools nor reasons, unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is
set. `telemetry.exporting` is for a program of its own; add `Telemetry()` to a `Runner` to use those of your program.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from opentelemetry import context, metrics, trace
from opentelemetry._logs import SeverityNumber, get_logger
from opentelemetry.metrics import Counter, Histogram
from opentelemetry.propagate import extract
from opentelemetry.trace import Span, SpanKind, StatusCode

from ralph import __version__
from ralph.hooks import Hooks
from ralph.records import events
from ralph.types.output import Failed, Interrupted, Outcome, TimedOut, ToolCall, Usage

_MOST_CONTENT = 16_000
"""Characters of a text in an attribute."""

_PROVIDERS = {"copilot": "github", "claude": "anthropic", "codex": "openai"}
_SECONDS = [1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200]
_SHORT = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1]
_TOKENS = [4**power for power in range(14)]

Attributes = Mapping[str, str | bool | int | float]


class Bridge(logging.Handler):
    """Sends the program's own warnings, masked, as log records of the current span, and prints them as without it."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        super().__init__(logging.WARNING)
        self._mask = mask

    def emit(self, record: logging.LogRecord) -> None:
        if logging.lastResort and not logging.getLogger().handlers:
            logging.lastResort.handle(record)
        levels = (SeverityNumber.WARN, SeverityNumber.ERROR, SeverityNumber.FATAL)
        severity = levels[min(record.levelno // 10 - 3, 2)]
        text = record.getMessage() if _captures() else str(record.msg)  # with or without what it is filled with
        _log(self._mask(text), severity, int(record.created * 1e9))


def _captures() -> bool:
    given = os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "")
    return given.strip().lower() in {"true", "1", "span_only", "span_and_event"}


def _log(
    text: str, severity: SeverityNumber, at: int, within: context.Context | None = None, about: Attributes | None = None
) -> None:
    get_logger("ralph", __version__).emit(
        timestamp=at,
        context=within,
        severity_number=severity,
        severity_text=severity.name,
        body=text,
        attributes=about,
    )


@dataclass
class _Open:
    """The spans of a run that have not ended."""

    run: Span
    outer: context.Context
    agent: str = ""
    model: str | None = None
    iteration: Span | None = None
    turn: Span | None = None
    turn_at: int = 0
    turn_end: int = 0
    checks: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    tools: dict[str, Span] = field(default_factory=dict[str, Span])

    def spans(self) -> Iterator[Span | None]:
        """Yield them, the inner ones first."""
        yield from self.tools.values()
        yield from (self.turn, self.iteration, self.run)


class Telemetry(Hooks):
    """Observer that makes spans, metrics and log records of runs, with the global providers of OpenTelemetry."""

    cancelled = False  # the last run was, by a signal for example

    def __init__(self) -> None:
        self._tracer = trace.get_tracer("ralph", __version__)
        self._capture = _captures()
        self._open: dict[str, _Open] = {}
        self._observers: dict[str, Callable[[_Open, Any, int], None]] = {
            "iteration_started": self._begin_iteration,
            "tool_started": lambda opened, event, at: self._begin_tool(opened, event.tool, at),
            "tool_finished": lambda opened, event, at: self._end_tool(opened, event.tool, at),
            "executor_fell_back": self._fell_back,
            "verification_started": self._began_to_verify,
            "verification_finished": self._verified,
            "breaker_changed": self._breaker_changed,
            "iteration_finished": self._end_iteration,
            "run_finished": self._end_run,
            **dict.fromkeys(("resumed", "told", "extended", "paused"), self._happened),
            **dict.fromkeys(("diagnosed", "protected_restored", "orphans_ended"), self._warned),
        }
        if self._capture:
            self._observers["message_received"] = self._said

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.RunStarted):
            self._begin_run(event)
        elif (observe := self._observers.get(event.type)) and (opened := self._open.get(event.run_id)):
            observe(opened, event, _nanoseconds(event.at))

    def end_all(self) -> None:
        """End the spans of runs that were cut off."""
        for opened in self._open.values():
            for span in filter(None, opened.spans()):
                span.end()
        self._open.clear()

    def _happened(self, opened: _Open, event: events.Event, at: int) -> None:
        opened.run.add_event(f"ralph.{event.type}", timestamp=at)

    def _warned(self, opened: _Open, event: events.Event, at: int) -> None:
        said = event.text if isinstance(event, events.Diagnosed) and self._capture else event.type
        self._say(opened, event, said, at)

    def _said(self, opened: _Open, event: events.MessageReceived, at: int) -> None:
        if opened.turn and event.text.strip():  # the last one stays
            opened.turn.set_attribute("gen_ai.output.messages", _messages("assistant", event.text))

    def _breaker_changed(self, opened: _Open, event: events.BreakerChanged, at: int) -> None:
        change = {"ralph.breaker.before": event.before, "ralph.breaker.state": event.breaker.state}
        (opened.iteration or opened.run).add_event("ralph.breaker_changed", change, timestamp=at)
        if event.before != event.breaker.state:
            _counter("ralph.breaker.transitions", "{transition}").add(1, change)

    def _say(self, opened: _Open, event: events.Event, text: str, at: int, **about: Any) -> None:
        severity = SeverityNumber.INFO if event.type.endswith("finished") else SeverityNumber.WARN
        within = trace.set_span_in_context(opened.iteration or opened.run, opened.outer)
        attributes = {"ralph.run.id": event.run_id, "ralph.event": event.type, **about}
        _log(text, severity, at, within, attributes)

    def _begin_run(self, event: events.RunStarted) -> None:
        outer = context.get_current()
        if not trace.get_current_span(outer).get_span_context().is_valid and (given := os.environ.get("TRACEPARENT")):
            outer = extract({"traceparent": given, "tracestate": os.environ.get("TRACESTATE", "")}, outer)
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "ralph",
            "ralph.run.id": event.run_id,
            "ralph.run.resumed": event.resumed,
            "ralph.strategy": event.strategy,
        }
        if self._capture:
            attributes["gen_ai.input.messages"] = _messages("user", event.task)
        run = self._tracer.start_span("ralph.run", outer, attributes=attributes, start_time=_nanoseconds(event.at))
        agent = event.executor.split(" ", 1)[0] or "agent"  # "copilot-sdk → copilot-cli"
        self._open[event.run_id] = _Open(run, outer, agent, event.model)
        context.attach(trace.set_span_in_context(run, outer))

    def _begin_iteration(self, opened: _Open, event: events.IterationStarted, at: int) -> None:
        """Begin an iteration and its turn, which becomes the current span of the task that runs the agent."""
        within = trace.set_span_in_context(opened.run, opened.outer)
        attributes = {"ralph.run.id": event.run_id, "ralph.iteration": event.iteration}
        opened.iteration = self._tracer.start_span("ralph.iteration", within, attributes=attributes, start_time=at)
        more: dict[str, Any] = {"gen_ai.operation.name": "invoke_agent", **_agent(opened.agent, opened.model)}
        if self._capture:
            more["gen_ai.input.messages"] = _messages("user", event.prompt)
        opened.turn, opened.turn_at = self._start(opened.iteration, f"invoke_agent {opened.agent}", more, at), at
        context.attach(trace.set_span_in_context(opened.turn, opened.outer))

    def _start(self, parent: Span, name: str, attributes: Attributes, at: int) -> Span:
        kind = SpanKind.CLIENT if name.startswith("invoke_agent") else SpanKind.INTERNAL
        return self._tracer.start_span(
            name, trace.set_span_in_context(parent), kind=kind, attributes=attributes, start_time=at
        )

    def _begin_tool(self, opened: _Open, tool: ToolCall, at: int) -> None:
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool.name,
            "gen_ai.tool.call.id": tool.id,
        }
        if self._capture:
            attributes["gen_ai.tool.call.arguments"] = tool.arguments
        parent = opened.turn or opened.iteration or opened.run
        opened.tools[tool.id] = self._start(parent, f"execute_tool {tool.name}", attributes, at)

    def _end_tool(self, opened: _Open, tool: ToolCall, at: int) -> None:
        if tool.id not in opened.tools:
            self._begin_tool(opened, tool, at - int(tool.duration * 1e9))
        span = opened.tools.pop(tool.id)
        if self._capture:
            span.set_attribute("gen_ai.tool.call.result", tool.result)
        outcome = "denied" if tool.denied else "succeeded" if tool.success else "failed"
        if outcome != "succeeded":
            _fail(span, outcome)
        span.end(at)
        said = {"gen_ai.tool.name": tool.name, "ralph.outcome": outcome}
        _counter("ralph.tool.calls", "{call}").add(1, said)

    def _fell_back(self, opened: _Open, event: events.ExecutorFellBack, at: int) -> None:
        said = {
            "ralph.executor.before": event.before,
            "ralph.executor.after": event.after,
            "error.type": _ending(event.attempt.outcome),
        }
        (opened.turn or opened.run).add_event("ralph.executor_fell_back", said, timestamp=at)
        again = event.before == event.after
        _counter("ralph.executor.retries" if again else "ralph.executor.fallbacks", "{turn}").add(1, said)
        self._say(opened, event, "the turn is tried again" if again else "another executor takes over", at, **said)
        opened.agent = event.after

    def _began_to_verify(self, opened: _Open, event: events.VerificationStarted, at: int) -> None:
        opened.turn_end = opened.turn_end or at
        opened.checks.append((event.verifier, at))

    def _verified(self, opened: _Open, event: events.VerificationFinished, at: int) -> None:
        """Record the verdicts, each with a span from its start to that of the next one."""
        ends = [*(began for _, began in opened.checks[1:]), at]
        began = {name: (start, end) for (name, start), end in zip(opened.checks, ends, strict=False)}
        opened.checks.clear()
        for verdict in event.verdicts:
            result = "passed" if verdict.passed else "undecided" if verdict.undecided else "failed"
            said = {"ralph.verifier": verdict.verifier, "ralph.outcome": result}
            _counter("ralph.verifier.verdicts", "{verdict}").add(1, said)
            _histogram("ralph.verifier.duration", "s").record(verdict.duration, said)
            if opened.iteration and verdict.verifier in began:
                start, end = began[verdict.verifier]
                span = self._start(opened.iteration, "ralph.verification", said, start)
                if result != "passed":
                    _fail(span, result)
                if self._capture:
                    span.set_attribute("ralph.output", verdict.output[:_MOST_CONTENT])
                span.end(end)

    def _end_iteration(self, opened: _Open, event: events.IterationFinished, at: int) -> None:
        error, iteration = _ending(event.outcome), opened.iteration
        agent = _agent(event.executor or opened.agent, event.model or opened.model)
        self._end_turn(opened, event, agent, error, at)
        said = {"ralph.outcome": error or "completed", "ralph.decision": event.decision.kind}
        _counter("ralph.iterations", "{iteration}").add(1, said)
        _histogram("ralph.iteration.duration", "s").record(event.duration, said)
        _histogram("ralph.analysis.duration", "s").record(event.analysis_duration)
        for name, used in (("ralph.cost", event.usage.cost), ("ralph.premium_requests", event.usage.premium_requests)):
            if used:
                _counter(name, "{USD}" if name == "ralph.cost" else "{request}").add(used, agent)
        self._say(opened, event, f"iteration {event.iteration}: {event.decision.kind}", at, **said)
        if iteration:
            iteration.set_attributes({**said, **_usage(event.usage), "ralph.state": event.analysis.state})
            iteration.set_attribute("ralph.files_changed", event.changes.files_changed)
            if self._capture:
                iteration.set_attribute("ralph.reason", event.decision.reason)
            if error:
                _fail(iteration, error)
            iteration.end(at)
        opened.iteration = None
        context.attach(trace.set_span_in_context(opened.run, opened.outer))

    def _end_turn(
        self, opened: _Open, event: events.IterationFinished, agent: dict[str, Any], error: str, at: int
    ) -> None:
        """End the turn at the time at which its verification began, and tools that it was cut off in."""
        end = opened.turn_end or at
        for span in opened.tools.values():
            span.end(end)
        opened.tools.clear()
        turn, opened.turn, opened.turn_end = opened.turn, None, 0
        about = {"gen_ai.operation.name": "invoke_agent", **agent}
        usage = event.usage
        for kind, count in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            if count is not None:
                tokens = _histogram("gen_ai.client.token.usage", "{token}")
                tokens.record(count, {**about, "gen_ai.token.type": kind})
        if turn is None:
            return
        failed = {"error.type": error} if error else {}
        _histogram("gen_ai.client.operation.duration", "s").record((end - opened.turn_at) / 1e9, {**about, **failed})
        turn.update_name(f"invoke_agent {agent['gen_ai.agent.name']}")
        turn.set_attributes({**agent, **_usage(usage)})
        if error:
            _fail(turn, error)
        turn.end(end)

    def _end_run(self, opened: _Open, event: events.RunFinished, at: int) -> None:
        said: dict[str, Any] = {"ralph.stop_reason": event.stop_reason, "ralph.verified": event.verified}
        _counter("ralph.runs", "{run}").add(1, said)
        _histogram("ralph.run.duration", "s").record(event.duration, said)
        self._say(opened, event, f"the run has ended: {event.stop_reason}", at, **said)
        opened.run.set_attributes({**said, **_usage(event.usage), "ralph.iterations": event.iterations})
        if self._capture:
            opened.run.set_attribute("ralph.reason", event.detail)
        if event.stop_reason in {"error", "executor_unavailable"}:
            _fail(opened.run, event.stop_reason)
        for span in filter(None, opened.spans()):
            span.end(at)
        del self._open[event.run_id]
        self.cancelled = event.stop_reason == "cancelled"
        context.attach(opened.outer)


@cache
def _counter(name: str, unit: str) -> Counter:
    return metrics.get_meter("ralph", __version__).create_counter(name, unit)


@cache
def _histogram(name: str, unit: str) -> Histogram:
    steps = _TOKENS if unit == "{token}" else _SHORT if name == "ralph.analysis.duration" else _SECONDS
    meter = metrics.get_meter("ralph", __version__)
    return meter.create_histogram(name, unit, explicit_bucket_boundaries_advisory=steps)


def _agent(name: str, model: str | None) -> dict[str, Any]:
    provider = next((owner for start, owner in _PROVIDERS.items() if name.startswith(start)), name)
    said = {"gen_ai.agent.name": name, "gen_ai.provider.name": provider}
    return said | ({"gen_ai.request.model": model} if model else {})


def _usage(usage: Usage) -> dict[str, int | float]:
    found = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "ralph.cost": usage.cost,
        "ralph.premium_requests": usage.premium_requests,
    }
    return {name: value for name, value in found.items() if value is not None}


def _ending(outcome: Outcome) -> str:
    """Return the kind of a turn's end for `error.type`; empty for one that the agent ended."""
    match outcome:
        case Failed():
            return outcome.failure
        case TimedOut():
            return f"timed_out_{outcome.limit}"
        case Interrupted():
            return f"interrupted_{outcome.by}"
        case _:
            return ""


def _fail(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text[:_MOST_CONTENT]}]}])


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1e6) * 1000

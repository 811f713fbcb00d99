"""One turn of an agent for the runner: its transcript becomes events, and an exception becomes a failure."""

from datetime import datetime
from typing import Any

from ralph.executors.base import (
    Diagnosed,
    Executor,
    FellBack,
    MessageDelta,
    ToolFinished,
    ToolStarted,
    Turn,
    TurnEvent,
)
from ralph.executors.retry import Relay, asked
from ralph.prompt import Prompt
from ralph.records import events
from ralph.records.events import Event
from ralph.types import evolve
from ralph.types.output import Message, Output, Usage


def as_event(happened: TurnEvent, *, run_id: str, iteration: int, at: datetime) -> Event | None:
    """Return an event of an executor as an event of the run; None for one that is not recorded."""
    common: dict[str, Any] = {"run_id": run_id, "iteration": iteration, "at": at}
    match happened:
        case MessageDelta(text=text):
            return events.MessageStreamed(**common, text=text)
        case Message():
            return events.MessageReceived(**common, text=happened.text, tool_calls=happened.tool_calls)
        case ToolStarted(call=call):
            return events.ToolStarted(**common, tool=call)
        case ToolFinished(call=call):
            return events.ToolFinished(**common, tool=call)
        case FellBack(before=before, after=after, attempt=attempt):
            return events.ExecutorFellBack(**common, before=before, after=after, attempt=attempt)
        case Diagnosed(text=text):
            return events.Diagnosed(**common, text=text)
        case Usage():
            return None


async def execute(executor: Executor, prompt: Prompt, turn: Turn) -> Output:
    """Run the executor and return its complete output; a failure that may pass is tried once more.

    An executor that raises, or returns something else than an `Output`, has crashed: that is data too, and must not
    end a run. One that raises what is wrong, such as a missing folder, is unavailable. A bare text that was not put
    into the transcript is masked and added here.
    """
    output = await asked(executor, Relay(prompt, turn), tries=1 if executor.retries else 2)
    if output.text and not turn.transcript.messages:
        turn.transcript.message(output.text)
        text = turn.transcript.messages[-1].text
        output = evolve(output, text=text, messages=output.messages or turn.transcript.messages)
    return output if output.executor else evolve(output, executor=executor.name)

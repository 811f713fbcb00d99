"""One turn of an agent for the runner: its transcript becomes events, and an exception becomes a failure."""

import logging
from datetime import datetime
from typing import Any

from ralph.errors import ExecutorUnavailableError, UsageError, in_words
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
from ralph.prompt import Prompt
from ralph.records import events
from ralph.records.events import Event
from ralph.system.secrets import Redactor
from ralph.types import evolve
from ralph.types.output import Failed, Message, Output, Usage

_logger = logging.getLogger("ralph.loop.runner")


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


async def execute(executor: Executor, prompt: Prompt, turn: Turn, redactor: Redactor) -> Output:
    """Run the executor and return its complete output.

    An executor that raises has crashed: that is data too, and must not end a run. One that raises what is wrong, such
    as a missing folder, is unavailable. A bare text that was not put into the transcript is masked and added here.
    """
    transcript = turn.transcript
    try:
        output = await executor.execute(prompt, turn)
    except (ExecutorUnavailableError, UsageError) as error:
        output = transcript.finish(Failed(failure="unavailable", message=str(error)))
    except Exception as error:
        _logger.exception("the executor %s raised; its turn counts as crashed", executor.name)
        message = redactor(in_words(error))[:500]
        output = transcript.finish(Failed(failure="crashed", message=message))
    if output.text and not transcript.messages:
        transcript.message(output.text)
        text = transcript.messages[-1].text
        output = evolve(output, text=text, messages=output.messages or transcript.messages)
    return output if output.executor else evolve(output, executor=executor.name)

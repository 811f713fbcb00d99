"""One turn of an agent for the runner, with the single retry that every executor gets.

A failure of a kind that may be gone by the next try is tried once more after a short pause, unless the time for the
iteration is nearly used up. After an attempt that had begun to use tools, the prompt says that the workspace may be
half-changed. The transcript becomes events, and an exception becomes a failure.
"""

import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, cast

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt, wait_random

from ralph.errors import ExecutorUnavailableError, UsageError, in_words
from ralph.executors.base import Diagnosed, Executor, FellBack, MessageDelta, ToolFinished, ToolStarted, Turn, TurnEvent
from ralph.prompt import Prompt
from ralph.records import events
from ralph.records.events import Event
from ralph.system.foreign import culprit, maker, named, pass_on, show_traceback
from ralph.types import evolve
from ralph.types.output import Failed, FailureKind, Message, Output, Timeouts, Usage

_logger = logging.getLogger("ralph.executors")

_PASSING: frozenset[FailureKind] = frozenset({"unavailable", "protocol", "crashed"})
_HALF_DONE = (
    "Note: an earlier attempt at this very task was interrupted. The workspace may be half-changed: "
    "look at what is there before you change anything."
)
_NEARLY_OVER = 0.05
_LONGEST = 500

Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class Relay:
    """The turn and the prompt of the next attempt; the prompt says what the last attempt left."""

    prompt: Prompt
    turn: Turn

    def hand_on(self, output: Output, before: Executor, after: Executor) -> None:
        """Note a failed attempt, and the executor that tries next."""
        if self.turn.transcript.did_something:
            self.prompt = half_done(self.prompt)
        self.turn.transcript.gave_up(output.executor or before.name, output.outcome, after.name)


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
    output = await asked(executor, Relay(prompt, turn), tries=1 if executor.tries_again else 2)
    if output.text and not turn.transcript.messages:
        turn.transcript.message(output.text)
        text = turn.transcript.messages[-1].text
        output = evolve(output, text=text, messages=output.messages or turn.transcript.messages)
    return output if output.executor else evolve(output, executor=executor.name)


async def asked(executor: Executor, relay: Relay, *, tries: int = 2, sleep: Sleep = anyio.sleep) -> Output:
    """Return an executor's output of a turn, after so many tries at most: a failure that may pass is tried again."""
    retrying = AsyncRetrying(
        sleep=sleep,
        stop=stop_after_attempt(tries),
        wait=wait_random(0.1, 1.0),
        retry=retry_if_result(lambda output: may_pass(output) and not nearly_over(relay.turn)),
        before_sleep=lambda state: relay.hand_on(_result(state), executor, executor),
        retry_error_callback=_result,
    )
    return await retrying(_once, executor, relay)


async def _once(executor: Executor, relay: Relay) -> Output:
    """Return the output of one try: whatever else an executor does than return one is a failure of its own."""
    transcript = relay.turn.transcript
    try:
        said = cast("object", await executor.execute(relay.prompt, relay.turn))
    except (ExecutorUnavailableError, UsageError) as error:
        return transcript.finish(Failed(failure="unavailable", message=str(error)[:_LONGEST]))
    except BaseException as error:
        pass_on(error)
        _logger.exception("the executor %s raised; its turn counts as crashed", executor.name)
        show_traceback(error)
        who = culprit(error) or maker(executor)
        return _crashed(relay.turn, f"{in_words(error)}{f' (in {who})' if who else ''}")
    if isinstance(said, Output):
        return said
    who = named(f"the executor {executor.name!r}", maker(executor))
    return _crashed(relay.turn, f"{who} returned an object of type {type(said).__name__}, not an Output")


def _crashed(turn: Turn, why: str) -> Output:
    return turn.transcript.finish(Failed(failure="crashed", message=why[:_LONGEST]))


def half_done(prompt: Prompt) -> Prompt:
    """Return the prompt for the attempt that follows one which was cut short; the note is added once."""
    if prompt.text.endswith(_HALF_DONE):
        return prompt
    return evolve(prompt, text=f"{prompt.text}\n\n{_HALF_DONE}")


def may_pass(output: Output) -> bool:
    """Return True for a kind of failure that may be gone by the next try."""
    return output.failure is not None and output.failure.failure in _PASSING


def nearly_over(turn: Turn) -> bool:
    """Return True if less than a twentieth of the iteration's time is left."""
    whole = turn.timeouts.iteration
    ends, _ = turn.transcript.expires(Timeouts(idle=math.inf, iteration=whole, tool=math.inf))
    return ends - monotonic() < whole * _NEARLY_OVER


def _result(state: RetryCallState) -> Output:
    assert state.outcome is not None, "tenacity calls back after an attempt"
    return state.outcome.result()

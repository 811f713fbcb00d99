"""An executor without an agent: it answers from a list."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from inspect import isawaitable
from typing import ClassVar, Literal

import anyio.lowlevel

from ralph.executors.base import Executor, Quantity, Turn
from ralph.prompt import Prompt
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Interrupted, Output, TimedOut, ToolCall, Usage

Answer = str | Output | Answered | TimedOut | Failed | Interrupted
Reply = Answer | Callable[[Prompt, Turn], Answer | Awaitable[Answer]]
"""One turn: the agent's last message, a whole output, how the turn ended, or a function that gives one of them.

A whole output goes through the turn's transcript as a real agent's would, except one that a function returns: a
function has the transcript in its own hands, and what it returns stands.
"""


class ScriptedExecutor(Executor):
    """Answers each turn with the next reply; for tests and benchmarks, where the agent should cost nothing.

    Tokens that a reply does not tell are estimated from the lengths of its texts.

    Args:
        replies: one for each turn.
        then: what follows them: a reply for every further turn, or "repeat_last".
        account, measures: see `Executor`.
        keep: how many of the latest prompts are remembered; None for all.
    """

    name: ClassVar[str] = "scripted"
    tries_again: ClassVar[bool] = True

    def __init__(
        self,
        replies: Iterable[Reply] = (),
        *,
        then: Reply | Literal["repeat_last"] = "repeat_last",
        account: str = "",
        measures: Iterable[Quantity] = ("tokens",),
        keep: int | None = None,
    ) -> None:
        script = tuple(replies)
        self._left = iter(script)
        self._last: Reply = (script[-1] if script else "") if then == "repeat_last" else then
        self.account = account
        self.measures = frozenset(measures)
        self._prompts: deque[Prompt] = deque(maxlen=keep)

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The prompts so far, oldest first."""
        return tuple(self._prompts)

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        self._prompts.append(prompt)
        turn.transcript.executor = self.name
        await anyio.lowlevel.checkpoint()
        reply = next(self._left, self._last)
        if not callable(reply):
            return _replayed(reply, prompt, turn)
        returned = reply(prompt, turn)
        answer = await returned if isawaitable(returned) else returned
        if isinstance(answer, Output):
            return answer if answer.executor else evolve(answer, executor=self.name)
        return _replayed(answer, prompt, turn)


def writes(path: str, text: str, answer: str) -> Reply:
    """Return a reply that writes a file of the workspace first."""

    def reply(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / path).write_text(text)
        return answer

    return reply


def _replayed(answer: Answer, prompt: Prompt, turn: Turn) -> Output:
    transcript = turn.transcript
    if isinstance(answer, str):
        transcript.used(_estimated(prompt.text, answer))
        return transcript.finish(Answered(), text=answer)
    if not isinstance(answer, Output):
        transcript.used(_estimated(prompt.text, ""))
        return transcript.finish(answer)
    _retell(answer, turn)
    used = answer.usage if answer.usage.tokens is not None else answer.usage + _estimated(prompt.text, answer.text)
    transcript.used(used)
    text = answer.text if not answer.messages and answer.text else None
    output = transcript.finish(answer.outcome, text=text)
    kept = {"attempts": (*output.attempts, *answer.attempts), "duration": answer.duration or output.duration}
    return evolve(output, **kept)


def _retell(answer: Output, turn: Turn) -> None:
    transcript = turn.transcript
    transcript.executor = answer.executor or transcript.executor
    transcript.model, transcript.session_id = answer.model, answer.session_id
    transcript.diagnostics = answer.diagnostics
    calls = iter(answer.tool_calls)
    for message in answer.messages:
        transcript.message(message.text, message.tool_calls)
        for _, call in zip(range(message.tool_calls), calls, strict=False):
            _retell_call(call, turn)
    for call in calls:
        _retell_call(call, turn)


def _retell_call(call: ToolCall, turn: Turn) -> None:
    turn.transcript.tool_started(call.id, call.name, call.arguments)
    if call.success is not None:
        turn.transcript.tool_finished(call.id, success=call.success, result=call.result, denied=call.denied)


def _estimated(asked: str, said: str) -> Usage:
    """About four characters are a token."""
    return Usage(input_tokens=len(asked) // 4 + 1, output_tokens=len(said) // 4 + bool(said), model_calls=1)

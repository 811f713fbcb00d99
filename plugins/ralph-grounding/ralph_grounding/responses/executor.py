"""Responses from an agent, through any of Ralph's executors: one turn for each query."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from ralph import Answered, Executor, Failed, Output, Prompt, TimedOut, Turn
from ralph.errors import ExecutorUnavailableError
from ralph.executors import Timeouts
from ralph_grounding.endpoint import sendable
from ralph_grounding.errors import ProviderError, Trouble
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.responses.answers import ResponseSource

__all__ = ["ExecutorSource"]

_TROUBLES: dict[str, tuple[Trouble, bool]] = {
    "auth": ("key", False),
    "rate_limited": ("rate_limit", True),
    "unavailable": ("server", True),
    "protocol": ("protocol", False),
    "crashed": ("server", True),
    "refused": ("refused", False),
}
"""The kind of each executor failure, and whether a retry may help."""

_REQUEST = "Answer the question below in plain prose. Only answer it: change no file, and ask nothing back.\n\n"


class ExecutorSource(ResponseSource):
    """Source that asks an agent, one query after another, each in a new session that may only read and answer.

    Args:
        executor: started when the source is entered, and stopped when it is left.
        workspace: the agent's working folder: an empty one, unless its answers should use the files there.
        timeout: of a turn, in seconds.
        retries: number of retries of a turn with a temporary failure.
    """

    def __init__(self, executor: Executor, workspace: Path, *, timeout: float = 600.0, retries: int = 3) -> None:
        self._executor, self._workspace, self._timeout = executor, workspace.absolute(), timeout
        self.provider, self.concurrency, self.retries = executor.name, 1, retries

    async def __aenter__(self) -> Self:
        await self._executor.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._executor.__aexit__(None, None, None)

    async def answer(self, query: Query) -> AIResponse:
        output = await self._turn(Prompt(text=_REQUEST + query.text, task=query.text))
        if not isinstance(output.outcome, Answered):
            raise _error(self._executor.name, output)
        return AIResponse(
            query_id=query.id,
            response=sendable(output.text),
            provider=output.executor or self.provider,
            model=output.model or "",
            responded_at=datetime.now(UTC),
            tokens=output.usage.tokens,
            latency=output.duration,
        )

    async def _turn(self, prompt: Prompt) -> Output:
        """Run one turn. An executor that raises has crashed: that ends one query, not all of them."""
        import anyio

        timeouts = Timeouts(idle=self._timeout, iteration=self._timeout, tool=self._timeout)
        turn = Turn(workspace=self._workspace, timeouts=timeouts, read_only=True)
        output: Output | None = None
        try:
            with anyio.move_on_after(self._timeout):
                output = await self._executor.execute(prompt, turn)
        except ExecutorUnavailableError as error:
            raise ProviderError(error.problem, error.remedy, kind="unreachable") from error
        except Exception as error:
            problem = f"The executor {self._executor.name} crashed: {type(error).__name__}."
            raise ProviderError(problem, kind="server", again=True) from error
        return output or turn.transcript.finish(TimedOut(limit="iteration", after=self._timeout))


def _error(name: str, output: Output) -> ProviderError:
    """Convert the output of a failed turn into an error."""
    match output.outcome:
        case Failed(failure=failure, message=message, retry_after=wait):
            kind, again = _TROUBLES[failure]
            problem = f"The executor {name} gave no answer: {message.rstrip('.') or failure}."
            return ProviderError(problem, kind=kind, again=again, retry_after=wait)
        case TimedOut(after=after):
            problem = f"The executor {name} gave no answer within {after:g} s."
            return ProviderError(problem, "Raise the timeout.", kind="timeout", again=True)
        case _:
            return ProviderError(f"The turn of the executor {name} was interrupted.", kind="server", again=True)

"""Concurrent requests for answers to queries.

```python
async with answers(queries, EndpointSource(settings)) as stream:
    async for answer in stream:  # an AIResponse, or a ResponseFailure
        ...
```
"""

from collections.abc import AsyncGenerator, AsyncIterator, Container, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import ValidationError

from ralph.errors import UsageError, plainly
from ralph_grounding.errors import ProviderError, Trouble
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.retrying import Sleep, retry
from ralph_grounding.store.records import BatchError
from ralph_grounding.telemetry import count_error

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

__all__ = ["ResponseFailure", "ResponseSource", "answers", "read_responses"]

_LONGEST = 32 * 1024 * 1024
_FORM = 'Each line must be a JSON object with at least "query_id" and "response".'


def read_responses(path: Path) -> Iterator[AIResponse]:
    """Read the responses of a JSON lines file, one at a time, with at most one line in memory. Skips empty lines.

    Raises:
        UsageError: the file cannot be read, or a line is not a response; the responses before it have been yielded.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(_LONGEST + 1):
                number += 1
                if len(line) > _LONGEST:
                    raise _wrong(path, number, f"it is longer than {_LONGEST // 2**20} MB")
                line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if line.strip():
                    yield _response(line, path, number)
    except OSError as error:
        problem = f"The responses in {path} cannot be read: {error.strerror or error}."
        raise UsageError(problem, "Use a file of JSON lines.") from None


def _response(line: bytes, path: Path, number: int) -> AIResponse:
    try:
        return AIResponse.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        message = plainly(first["msg"][:200])
        raise _wrong(path, number, f"{place}: {message}" if place else message) from None


def _wrong(path: Path, number: int, problem: str) -> UsageError:
    return UsageError(f"Line {number} of {path} is not a response: {problem}.", _FORM)


_STOPS: frozenset[Trouble] = frozenset({"key", "model"})

_MOST_UNREACHED = 5
"""The number of unreachable queries in a row, each with all its attempts, after which the rest are not sent."""


class ResponseFailure(BatchError, frozen=True):  # noqa: N818 - a value, as its base is
    """A query without a response; a batch lists it among its errors."""

    kind: Trouble


class ResponseSource:
    """A source of answers. Subclass it and implement `answer`.

    Enter it before use (`async with`); up to `concurrency` tasks call it at once.

    Attributes:
        provider, model: the origin of the answers, for the list of failures; empty if unknown.
        concurrency: maximum number of simultaneous calls.
        retries: number of retries of a call with a temporary failure.
    """

    provider: str = ""
    model: str = ""
    concurrency: int = 1
    retries: int = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def answer(self, query: Query) -> AIResponse:
        """Return the response to one query, without retries.

        Raises:
            ProviderError: there is no response.
        """
        raise NotImplementedError


@asynccontextmanager
async def answers(
    queries: Sequence[Query],
    source: ResponseSource,
    *,
    trials: int = 1,
    answered: Container[tuple[str, int]] = (),
    sleep: Sleep | None = None,
) -> AsyncGenerator[AsyncIterator[AIResponse | ResponseFailure]]:
    """Send the queries, those of the highest priority first; leaving the block cancels the calls in progress.

    There is one answer or one failure for each query and trial, in the order in which they come.

    Args:
        queries: the questions.
        source: answers them; entered and left here.
        trials: how often to send each query.
        answered: the ids of queries that are not sent again, each with the number of the trial.
        sleep: waits before a retry, in seconds; None for real time.

    Raises:
        ProviderError: from the stream, if further calls are pointless: the key is not accepted, the model does not
            exist, the agent cannot work at all, or five queries in a row were unreachable. The results before it have
            been streamed.
        ExecutorUnavailableError: the agent of an `ExecutorSource` cannot be started.
    """
    import anyio

    send, receive = anyio.create_memory_object_stream[AIResponse | ResponseFailure | ProviderError]()
    asking = _Asking(_each(queries, trials, answered), source, send, sleep)
    failure: Exception | None = None
    async with send, receive, source, anyio.create_task_group() as group:
        group.start_soon(asking.ask_all)
        try:
            yield _streamed(receive)
        except Exception as error:  # noqa: BLE001 - it is raised again, outside of the group
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure


def _each(queries: Sequence[Query], trials: int, answered: Container[tuple[str, int]]) -> Iterator[tuple[Query, int]]:
    by_priority = sorted(queries, key=lambda query: -query.priority)
    each = ((query, trial) for trial in range(1, trials + 1) for query in by_priority)
    return ((query, trial) for query, trial in each if (query.id, trial) not in answered)


async def _streamed(
    receive: "MemoryObjectReceiveStream[AIResponse | ResponseFailure | ProviderError]",
) -> AsyncIterator[AIResponse | ResponseFailure]:
    async for item in receive:
        if isinstance(item, ProviderError):
            raise item
        yield item


@dataclass(slots=True)
class _Asking:
    """The state that the requesting tasks share: the remaining queries, and whether to continue."""

    left: Iterator[tuple[Query, int]]
    source: ResponseSource
    send: "MemoryObjectSendStream[AIResponse | ResponseFailure | ProviderError]"
    sleep: Sleep | None
    stopped: bool = False
    unreached: int = 0

    async def ask_all(self) -> None:
        """Send the queries until none is left."""
        import anyio

        async with self.send, anyio.create_task_group() as group:
            for _ in range(self.source.concurrency):
                group.start_soon(self._ask)

    async def _ask(self) -> None:
        for query, trial in self.left:
            if self.stopped:
                return
            answer = await self._answer(query)
            await self.send.send(
                answer if isinstance(answer, ProviderError) else answer.model_copy(update={"trial": trial})
            )

    async def _answer(self, query: Query) -> AIResponse | ResponseFailure | ProviderError:
        if not query.text.strip():
            return self._failure(query, ProviderError(f"The query {query.id!r} has no text.", kind="refused"))
        try:
            answer = await retry(lambda: self.source.answer(query), retries=self.source.retries, sleep=self.sleep)
        except ProviderError as error:
            count_error(error.kind)
            self.unreached = self.unreached + 1 if error.kind == "unreachable" else 0
            if error.kind in _STOPS or (error.kind == "unreachable" and not error.again):
                self.stopped = True
                return error
            if self.unreached == _MOST_UNREACHED:
                self.stopped = True
                problem = f"The last {_MOST_UNREACHED} queries all failed. {error.problem}"
                return ProviderError(problem, error.remedy, kind="unreachable")
            return self._failure(query, error)
        self.unreached = 0
        return answer

    def _failure(self, query: Query, error: ProviderError) -> ResponseFailure:
        provider, model = self.source.provider, self.source.model
        return ResponseFailure(query_id=query.id, kind=error.kind, error=str(error), provider=provider, model=model)

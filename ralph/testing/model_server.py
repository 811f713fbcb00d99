"""A scripted model endpoint on loopback, for tests, demonstrations and benchmarks with real agents.

```python
script = [WriteFile("hello.txt", "hi"), Say("Done.")]
async with ModelServer(script) as server:  # or `with`, where nothing is async
    ...  # point the agent at server.base_url
    assert "hello" in server.prompts[0]
```

A script is a list of steps, one for each request to the model, or a function from the `ModelRequest` to a step.
A retry is a request too: `[Fail(500)] * 6` is what makes an agent with five retries give up. The server speaks
OpenAI's chat completions and responses and Anthropic's messages, streamed and not, and lists its models. Where several
agents ask at once, a function can tell their requests apart; a list goes to them in the order of arrival.

As a program, `python -m ralph.testing.model_server --script FILE.json` prints `{"base_url": …}` and serves until
SIGTERM; the file holds an array of steps, or `{"steps": […], "then": …}`.
"""

import argparse
import json
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self, cast

import anyio
import anyio.to_thread
from pydantic import BaseModel, ValidationError, model_validator

from ralph.errors import UsageError, plainly
from ralph.testing.answers import Reaction, react
from ralph.testing.listener import Listener
from ralph.testing.request import Body, ModelRequest
from ralph.testing.steps import Fail, Say, Step

__all__ = ["ModelServer", "Script", "main"]

Script = Iterable[Step] | Callable[[ModelRequest], Step]
Then = Step | Literal["repeat_last"]

_ENDED: Final = Say("The script has ended.")
_ASIDE: Final = Say("Scripted")
_SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "cookie", "proxy-authorization"})


class ModelServer:
    """Serves a script to agents from 127.0.0.1, many at a time.

    Leaving it drops every connection, the hanging ones too. An exception out of a script's function, or a step that
    the agent has no tool for, is answered with status 500 and raised when the server is left.

    Args:
        script: steps for one request to the model each, or a function called for every request, by one thread at a
            time.
        then: what follows a list of steps: a step for every further request, or "repeat_last".
        side: the answer to requests that an agent makes on its own account, such as for a session's title; they
            take nothing from the script.
        models: the ids that /v1/models lists; a request for any model is answered.
        port: 0 for a free one.
        keep: how many of the latest requests are remembered; None for all.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        then: Then = _ENDED,
        side: Step = _ASIDE,
        models: Iterable[str] = ("m",),
        port: int = 0,
        keep: int | None = None,
    ) -> None:
        self._choose = script if callable(script) else _one_by_one(tuple(script), then)
        self._side = side
        self._models = tuple(models)
        self._port = port
        self._lock = threading.Lock()
        self._requests: deque[ModelRequest] = deque(maxlen=keep)
        self._served = 0
        self._error: Exception | None = None
        self._listener: Listener | None = None

    @property
    def port(self) -> int:
        """The port it listens on. Raises RuntimeError while it is closed."""
        if self._listener is None:
            raise RuntimeError("The model server is not open: use it in `with` or `async with`.")
        return self._listener.port

    @property
    def base_url(self) -> str:
        """Where an agent finds it, up to and with "/v1"."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """The requests to the model so far, side requests included, in the order of their arrival."""
        with self._lock:
            return tuple(self._requests)

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the agents were asked, one for each turn: side requests, tools and retries are left out."""
        return tuple(request.prompt for request in self.requests if request.asks)

    def open(self) -> None:
        """Listens and serves. Raises OSError where the port is taken, RuntimeError where it is open already."""
        if self._listener is not None:
            raise RuntimeError("The model server is open already.")
        self._listener = Listener(self._port, self._take, self._models)

    def close(self) -> None:
        """Stops listening and drops every connection; closing twice is nothing."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.close()

    def _take(self, path: str, headers: Mapping[str, str], raw: bytes, body: Body) -> tuple[ModelRequest, Reaction]:
        with self._lock:
            self._served += 1
            request = ModelRequest(self._served, path, _masked(headers), body, len(raw))
            self._requests.append(request)
            try:
                return request, react(self._side if request.side else self._choose(request), request)
            except Exception as error:  # noqa: BLE001 - it is raised where the server is left
                self._error = self._error or error
                return request, Fail(500, f"The script failed: {error!r}")

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if self._error is not None and error is None:
            raise self._error

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.__exit__, kind, error, trace)


def _one_by_one(steps: tuple[Step, ...], then: Then) -> Callable[[ModelRequest], Step]:
    if then == "repeat_last":
        if not steps:
            raise ValueError("An empty script has no last step to repeat.")
        then = steps[-1]
    left, last = iter(steps), then
    return lambda _request: next(left, last)


def _masked(headers: Mapping[str, str]) -> Mapping[str, str]:
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: "***" if name in _SECRET_HEADERS else value for name, value in lower.items()}


class _ScriptFile(BaseModel, frozen=True, extra="forbid"):
    steps: tuple[Step, ...] = ()
    then: Then = _ENDED
    side: Step = _ASIDE

    @model_validator(mode="before")
    @classmethod
    def _steps_alone(cls, given: object) -> object:
        return {"steps": cast("object", given)} if isinstance(given, list) else given


def main(arguments: list[str] | None = None) -> int:
    """The program; the exit status is 2 where the script cannot be used or the port is taken."""
    parser = argparse.ArgumentParser(prog="python -m ralph.testing.model_server", description="A scripted model.")
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1; 0 (the default) for a free one")
    parser.add_argument("--script", type=Path, metavar="FILE", help="the steps as JSON; without it every turn ends")
    parser.add_argument("--port-file", type=Path, metavar="FILE", help="where to write the port's number")
    given = parser.parse_args(arguments)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stopped.set())
    try:
        with _scripted(given.script, given.port) as server:
            _announce(server, given.port_file)
            stopped.wait()
    except (LookupError, OSError, OverflowError, UsageError) as error:
        sys.stderr.write(f"model_server: {error}\n")
        return 2
    return 0


def _scripted(path: Path | None, port: int) -> ModelServer:
    """The server for a script's file. Raises UsageError where it is no script."""
    try:
        script = _ScriptFile() if path is None else _ScriptFile.model_validate_json(path.read_bytes())
        return ModelServer(script.steps, then=script.then, side=script.side, port=port)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        problem = f"{path} is not a script: {place}: {plainly(first['msg'])}."
        raise UsageError(problem, 'Write an array of steps such as [{"step": "say", "text": "Done."}].') from None
    except ValueError as error:
        raise UsageError(f"{path} is not a script: {error}") from None


def _announce(server: ModelServer, port_file: Path | None) -> None:
    """Says where the server is; a reader of the port file never sees half of it."""
    if port_file is not None:
        written = port_file.with_name(f"{port_file.name}.new")
        written.write_text(str(server.port), encoding="utf-8")
        written.replace(port_file)
    sys.stdout.write(json.dumps({"base_url": server.base_url}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

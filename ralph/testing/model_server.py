"""A scripted model endpoint on loopback, for tests, demonstrations and benchmarks with real agents.

```python
script = [WriteFile("hello.txt", "hi"), Say("Done.")]
async with ModelServer(script) as server:  # or `with`, where nothing is async
    ...  # point the agent at server.base_url
    assert "hello" in server.prompts[0]
```

A script is a list of steps, one for each request to the model, or a function from the `ModelRequest` to a step. A retry
is a request too: `[Fail(500)] * 6` is what makes an agent with five retries give up. The server speaks OpenAI's chat
completions and responses and Anthropic's messages, streamed and not, and lists its models. Where several agents ask at
once, a function can tell their requests apart; a list goes to them in the order of arrival.

As a program, `python -m ralph.testing.model_server --script FILE.json` prints `{"base_url": …}` and serves until
SIGTERM; the file holds an array of steps, or `{"steps": […], "then": …}`.
"""

import argparse
import contextlib
import json
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from time import monotonic
from typing import Any, Final, Literal, Self, cast

import anyio
import anyio.to_thread
from pydantic import BaseModel, ValidationError, model_validator

from ralph.errors import UsageError, plainly
from ralph.testing.steps import Fail, Garbage, Hang, Reaction, Say, Step, react
from ralph.testing.wire import Answer, Body, ModelRequest, api_at, error_body, finished, streamed

Script = Iterable[Step] | Callable[[ModelRequest], Step]
Then = Step | Literal["repeat_last"]

_ENDED: Final = Say("The script has ended.")
_ASIDE: Final = Say("Scripted")
_SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "cookie", "proxy-authorization"})


class ModelServer:
    """A server on 127.0.0.1 that answers agents from a script, many at a time.

    Leaving it drops every connection, also hanging ones. If a script's function raises, or the agent has no tool for a
    step, the answer is status 500, and leaving the server raises the error.

    Args:
        script: one step for each request to the model, or a function from the request to a step, called by one thread
            at a time.
        then: follows a list of steps: a step for every further request, or "repeat_last".
        side: the answer to an agent's own requests, such as for a session's title; they use no step.
        models: the ids that /v1/models lists; requests for any model are answered.
        port: 0 for a free one.
        keep: the number of latest requests to remember; None for all.
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
        """The port. Raises RuntimeError while the server is closed."""
        if self._listener is None:
            raise RuntimeError("The model server is not open: use it in `with` or `async with`.")
        return self._listener.port

    @property
    def base_url(self) -> str:
        """The address for the agent, up to and including "/v1"."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """The requests to the model so far, side requests included, in order of arrival."""
        with self._lock:
            return tuple(self._requests)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The prompts of the agents' turns, without side requests, tool results and retries."""
        return tuple(request.prompt for request in self.requests if request.asks)

    def open(self) -> None:
        """Listen and serve. Raises OSError if the port is in use, RuntimeError if the server is open."""
        if self._listener is not None:
            raise RuntimeError("The model server is open already.")
        self._listener = Listener(self._port, self._take, self._models)

    def close(self) -> None:
        """Stop listening and drop every connection; may be called twice."""
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

    def __exit__(self, *raised: object) -> None:
        self.close()
        if self._error is not None and not any(raised):
            raise self._error

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *raised: object) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.__exit__, *raised)


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
    """Run the program; the exit status is 2 if the script is not valid or the port is in use."""
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
    """Return the server for a script's file. Raises UsageError if the script is not valid."""
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
    """Print the address; write the port file by rename, so that a reader never sees half of it."""
    if port_file is not None:
        written = port_file.with_name(f"{port_file.name}.new")
        written.write_text(str(server.port), encoding="utf-8")
        written.replace(port_file)
    sys.stdout.write(json.dumps({"base_url": server.base_url}) + "\n")
    sys.stdout.flush()


Take = Callable[[str, Mapping[str, str], bytes, Body], tuple[ModelRequest, Reaction]]
"""Receives a request's path, headers and body (raw and parsed), returns the reaction; called in many threads."""

_LARGEST_BODY = 256 * 1024 * 1024
_GRACE = 5.0


class Listener(ThreadingHTTPServer):
    """An HTTP server on 127.0.0.1 with its own thread. Raises OSError if the port is in use."""

    daemon_threads = True
    request_queue_size = 128
    allow_reuse_port = False

    def __init__(self, port: int, take: Take, models: tuple[str, ...]) -> None:
        self.take, self.models = take, models
        self._lines: set[socket.socket] = set()
        self._changed = threading.Condition()
        super().__init__(("127.0.0.1", port), _Connection)
        self._closing = False
        self._thread = threading.Thread(target=self._serve, name="model-server", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self.socket.getsockname()[1]

    def close(self) -> None:
        """Stop listening and drop every connection, also hanging ones."""
        self._closing = True
        with contextlib.suppress(OSError):
            socket.create_connection(self.socket.getsockname(), _GRACE).close()
        self._thread.join(_GRACE)
        self.server_close()
        with self._changed:
            for line in self._lines:
                with contextlib.suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._lines, timeout=_GRACE)

    def _serve(self) -> None:
        """Accept connections until `close`, whose own connection wakes it; `serve_forever` would poll."""
        while not self._closing:
            self.handle_request()

    def server_bind(self) -> None:
        """Bind without looking the host's name up."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.port

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._lines.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._changed:
            self._lines.discard(request)
            self._changed.notify_all()
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore dropped connections, which tests cause on purpose."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Connection(BaseHTTPRequestHandler):
    """A client's connection; answers its requests one after another."""

    protocol_version = "HTTP/1.1"
    server_version = "ralph-model-server"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
        """Log nothing: the requests are recorded."""

    @property
    def _listener(self) -> Listener:
        return cast("Listener", self.server)

    def do_HEAD(self) -> None:
        """Confirm that the server exists, which some agents check first."""
        self._begin(200, {"content-length": "0"}, stream=False)

    def do_GET(self) -> None:
        if not self.path.rstrip("/").endswith("/models"):
            self._fail(Fail(404, f"There is nothing at {self.path}.", "not_found"))
            return
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "ralph"} for name in self._listener.models]
        self._send(200, json.dumps({"object": "list", "data": listed}))

    def do_POST(self) -> None:
        path = self.path.partition("?")[0].rstrip("/")
        raw = self._received()
        body = _object(raw)
        if api_at(path) is None:
            self._fail(Fail(404, f"There is nothing at {path}.", "not_found"))
        elif body is None:
            self._fail(Fail(400, "The body must be a JSON object with a content-length.", "invalid_request"))
        else:
            self._perform(*self._listener.take(path, dict(self.headers.items()), raw, body))

    def _received(self) -> bytes:
        """Return the body; empty if its length is missing or absurd, and the connection then closes."""
        length = self.headers.get("content-length", "")
        if length.isdecimal() and len(length) < 12 and int(length) <= _LARGEST_BODY:
            return self.rfile.read(int(length))
        self.close_connection = True
        return b""

    def _perform(self, request: ModelRequest, reaction: Reaction) -> None:
        match reaction:
            case Fail():
                self._fail(reaction)
            case Hang():
                self._wait(reaction.seconds)
                self.close_connection = True
            case Garbage():
                body = f"data: {reaction.body}\n\n" if request.stream else reaction.body
                self._send(200, body, stream=request.stream)
            case Answer():
                self._answer(reaction, request)
                if reaction.end == "stall":
                    self._wait(reaction.silence)
                self.close_connection = self.close_connection or not reaction.whole

    def _answer(self, answer: Answer, request: ModelRequest) -> None:
        if not request.stream:
            self._wait(answer.pace)
            text = json.dumps(finished(answer, request))
            self._send(200, text if answer.whole else text[: len(text) // 2], length=len(text))
            return
        self._begin(200, {"transfer-encoding": "chunked"}, stream=True)
        for event in streamed(answer, request):
            self._wait(answer.pace)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        if answer.whole:
            self.wfile.write(b"0\r\n\r\n")

    def _fail(self, step: Fail) -> None:
        wait = {} if step.retry_after is None else {"retry-after": f"{step.retry_after:g}"}
        api = api_at(self.path.partition("?")[0]) or "completions"
        body = error_body(step.status, step.message, step.code, api)
        self._send(step.status, json.dumps(body), headers={**wait, **step.headers})

    def _send(
        self,
        status: int,
        text: str,
        *,
        stream: bool = False,
        length: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        body = text.encode()
        size = len(body) if length is None else length
        self._begin(status, {"content-length": str(size), **(headers or {})}, stream=stream)
        self.wfile.write(body)

    def _begin(self, status: int, headers: Mapping[str, str], *, stream: bool) -> None:
        self.send_response(status)
        self.send_header("content-type", "text/event-stream" if stream else "application/json")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _wait(self, seconds: float | None) -> None:
        """Wait, forever if None, but raise OSError as soon as either end drops the connection."""
        if seconds == 0:
            return
        ends = None if seconds is None else monotonic() + seconds
        try:
            while ends is None or monotonic() < ends:
                self.connection.settimeout(None if ends is None else max(ends - monotonic(), 0.001))
                if not self.connection.recv(4096):
                    raise ConnectionAbortedError("the line was dropped while the model was silent")
        except TimeoutError:
            return
        finally:
            self.connection.settimeout(None)


def _object(raw: bytes) -> Body | None:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return cast("Body", body) if isinstance(body, dict) else None


if __name__ == "__main__":
    sys.exit(main())

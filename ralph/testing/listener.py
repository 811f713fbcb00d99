"""The HTTP side of a model server: a thread for each connection, and a way to end them all."""

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from time import monotonic
from typing import Any, cast

from ralph.testing.answers import Reaction
from ralph.testing.protocols import error_body, finished, streamed
from ralph.testing.request import Body, ModelRequest, api_at
from ralph.testing.steps import Fail, Garbage, Hang
from ralph.testing.wire import Answer

__all__ = ["Listener", "Take"]

Take = Callable[[str, Mapping[str, str], bytes, Body], tuple[ModelRequest, Reaction]]
"""Takes a request's path, headers and body (raw and parsed) and says what to do; called in many threads."""

_LARGEST_BODY = 256 * 1024 * 1024
_GRACE = 5.0


class Listener(ThreadingHTTPServer):
    """Serves 127.0.0.1 from a thread of its own until it is closed. Raises OSError where the port is taken."""

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
        """Stops listening and drops every line, those that hang too."""
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
        """Takes lines until `close`, whose own line wakes it: `serve_forever` would look for its end in intervals."""
        while not self._closing:
            self.handle_request()

    def server_bind(self) -> None:
        """Binds without asking for the host's name, which could ask a name server."""
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
        """A line that was dropped is part of the play; anything else is shown."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Connection(BaseHTTPRequestHandler):
    """Answers one client's requests, one after the other."""

    protocol_version = "HTTP/1.1"
    server_version = "ralph-model-server"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
        """Says nothing: the requests are recorded."""

    @property
    def _listener(self) -> Listener:
        return cast("Listener", self.server)

    def do_HEAD(self) -> None:
        """Says that it is there, as some agents ask before they begin."""
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
        """The body; empty where its length is missing or beyond reason, and the line is not used again."""
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
        self._send(step.status, json.dumps(error_body(step, api)), headers={**wait, **step.headers})

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
        """Waits, for ever if None, but raises OSError as soon as the line is dropped by either end."""
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

"""A receiver of notifications on loopback that accepts, refuses or does not answer."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Receiver:
    """HTTP server that keeps what it receives.

    Attributes:
        got: the received paths and bodies, in order.
    """

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, Any]]] = []
        self.open = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.got.append((self.path, body))
                if self.path.startswith("/hang"):
                    receiver.open.wait(30)
                self.send_response(500 if self.path.startswith("/fail") else 200, "no hunter2 here")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - so it is called

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def url(self, path: str) -> str:
        return f"json://me:hunter2@127.0.0.1:{self._server.server_port}/{path}"

    @property
    def titles(self) -> list[str]:
        return [body["title"] for _, body in self.got]

    def close(self) -> None:
        self.open.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    served = Receiver()
    yield served
    served.close()

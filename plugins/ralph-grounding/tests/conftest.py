"""An OpenAI-compatible endpoint for embeddings on loopback, which answers, refuses, errs, or says nothing."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from zlib import crc32

import pytest

KEY = "sk-hunter2hunter2hunter2"


class Answer(NamedTuple):
    """What the endpoint says to one request instead of the vectors."""

    status: int = 200
    body: str = ""
    retry_after: str = ""
    hang: bool = False


class EmbeddingEndpoint:
    """Its vectors count the letter triples of a text, so that texts that share words are alike.

    Attributes:
        next: what the next requests are answered; the vectors, where it is empty.
        asked: the bodies that came, in order.
        keys: the headers that came with them.
    """

    def __init__(self) -> None:
        self.next: deque[Answer] = deque()
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._ended = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append(body)
                endpoint.keys.append(self.headers.get("Authorization", ""))
                answer = endpoint.next.popleft() if endpoint.next else Answer(body=embedded(body["input"]))
                if answer.hang:
                    endpoint._ended.wait(30)
                self.send_response(answer.status)
                if answer.retry_after:
                    self.send_header("Retry-After", answer.retry_after)
                content = answer.body.encode()
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - so it is called

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts that were sent, in order."""
        return [text for body in self.asked for text in body["input"]]

    def close(self) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def embedded(texts: list[str]) -> str:
    """The endpoint's answer to texts; the entries stand in an order of their own, as the interface allows."""
    data = [{"index": place, "embedding": letter_triples(text)} for place, text in enumerate(texts)]
    return json.dumps({"data": data[::-1], "usage": {"total_tokens": sum(len(text) // 4 + 1 for text in texts)}})


def letter_triples(text: str, size: int = 256) -> list[float]:
    vector = [0.0] * size
    for word in text.lower().split():
        padded = f" {word.strip('.,;:!?')} "
        for place in range(len(padded) - 2):
            vector[crc32(padded[place : place + 3].encode()) % size] += 1.0
    return vector


@pytest.fixture
def embedding_endpoint() -> Iterator[EmbeddingEndpoint]:
    endpoint = EmbeddingEndpoint()
    yield endpoint
    endpoint.close()

"""What another program or page can send to the dashboard's real server, byte by byte, without the token."""

import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest

from ralph.store import open_store
from ralph.testing.store_conformance import sample_run
from ralph.watch.web.connections import HEAD_SECONDS

pytestmark = pytest.mark.attack

FORM = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\ntext=Stop"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dashboard") / "runs.db"

    async def create() -> None:
        async with open_store(str(path)) as opened:
            await opened.create(sample_run())

    anyio.run(create)
    return path


@pytest.fixture(scope="module")
def address(store: Path) -> Generator[tuple[int, str]]:
    """The port and the token of a server."""
    words = (sys.executable, "-m", "ralph", "serve", "--port", "0", "--store", str(store))
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        shown = urlsplit(server.stdout.readline().split()[-1])
        assert shown.port
        yield shown.port, parse_qs(shown.query)["token"][0]
        server.terminate()


def sent(port: int, text: str) -> str:
    """Send a request as it is; return the whole answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(text.replace("\r\n", "\r\nConnection: close\r\n", 1).encode())
        answer = bytearray()
        while part := connection.recv(65_536):
            answer += part
    return answer.decode(errors="replace")


def status(answer: str) -> int:
    return int(answer.split(" ", 2)[1])


REFUSED = [
    ("no host", "GET / HTTP/1.1\r\n\r\n", {400, 421}),
    ("old protocol without a host", "GET / HTTP/1.0\r\n\r\n", {421}),
    ("rebound name", "GET / HTTP/1.1\r\nHost: night.example:{port}\r\n\r\n", {421}),
    ("two hosts", "GET / HTTP/1.1\r\nHost: {own}\r\nHost: night.example\r\n\r\n", {400, 421}),
    ("host in the target", "GET http://night.example/ HTTP/1.1\r\nHost: night.example\r\n\r\n", {421}),
    ("no token", "GET / HTTP/1.1\r\nHost: {own}\r\n\r\n", {401}),
    ("no token for a live page", "GET /runs/run-1/live HTTP/1.1\r\nHost: {own}\r\n\r\n", {401}),
    ("no token for the API", "GET /api/openapi.json HTTP/1.1\r\nHost: {own}\r\n\r\n", {401}),
    ("path out of the files", "GET /static/../guard.py HTTP/1.1\r\nHost: {own}\r\n\r\n", {401, 404}),
    ("quoted path out of the files", "GET /static/%2e%2e/guard.py HTTP/1.1\r\nHost: {own}\r\n\r\n", {401, 404}),
    ("forwarded host", "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-Host: {own}\r\n\r\n", {421}),
    ("method in a header", "POST / HTTP/1.1\r\nHost: {own}\r\nX-HTTP-Method-Override: GET\r\n" + FORM, {403}),
    ("two lengths", "POST / HTTP/1.1\r\nHost: {own}\r\nContent-Length: 1\r\nContent-Length: 5\r\n\r\nabcde", {400}),
    ("huge header", "GET / HTTP/1.1\r\nHost: {own}\r\nCookie: " + "a" * 200_000 + "\r\n\r\n", {400, 431}),
    ("no HTTP", "\x00\x01\x02\r\n\r\n", {400}),
]


@pytest.mark.parametrize(("text", "statuses"), [each[1:] for each in REFUSED], ids=[each[0] for each in REFUSED])
def test_a_request_without_the_token_is_refused(address: tuple[int, str], text: str, statuses: set[int]) -> None:
    port, token = address
    try:
        answer = sent(port, text.replace("{port}", str(port)).replace("{own}", f"127.0.0.1:{port}"))
    except ConnectionError:  # the server has closed it in the middle of what was sent
        return
    assert status(answer) in statuses, answer[:300]
    assert token not in answer
    assert "Task" not in answer


SENDERS = [
    "",
    "Origin: null\r\n",
    "Origin: http://night.example\r\n",
    "Origin: http://127.0.0.1\r\n",
    "Origin: http://127.0.0.1:1\r\n",
    "Origin: http://night.example\r\nOrigin: http://{own}\r\n",
    "Sec-Fetch-Site: cross-site\r\n",
    "Sec-Fetch-Site: same-site\r\n",
    "Referer: http://{own}/\r\n",
]


def test_a_form_of_another_page_changes_nothing_with_the_cookie(address: tuple[int, str], store: Path) -> None:
    port, token = address
    own = f"127.0.0.1:{port}"
    signed_in = sent(port, f"GET /login?token={token} HTTP/1.1\r\nHost: {own}\r\n\r\n")
    cookie = signed_in.partition("set-cookie: ")[2].partition(";")[0]
    assert cookie
    for sender in SENDERS:
        head = f"POST /runs/run-1/tell HTTP/1.1\r\nHost: {own}\r\nCookie: {cookie}\r\n{sender.replace('{own}', own)}"
        assert status(sent(port, head + FORM)) == 403, sender

    async def asked() -> list[str]:
        async with open_store(str(store)) as opened:
            return [each.text for each in await opened.requests("run-1")]

    assert anyio.run(asked) == []
    head = f"POST /runs/run-1/tell HTTP/1.1\r\nHost: {own}\r\nCookie: {cookie}\r\nOrigin: http://{own}\r\n"
    assert status(sent(port, head + FORM)) == 303  # so the test would notice a request that gets through
    assert anyio.run(asked) == ["Stop"]


def test_connections_that_send_no_request_keep_nobody_out(address: tuple[int, str]) -> None:
    port, token = address
    own = f"127.0.0.1:{port}"
    heads = ("", f"GET / HTTP/1.1\r\nHost: {own}\r\n", f"GET / HTTP/1.1\r\nHost: {own}\r\n\r\nGET / HTTP/1.1\r\n")
    with ExitStack() as stack:
        waiting = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(800)]
        for number, each in enumerate(waiting):
            with suppress(OSError):  # it had to make room
                each.sendall(heads[number % 3].encode())
        head = f"GET / HTTP/1.1\r\nHost: {own}\r\nAuthorization: Bearer {token}\r\n\r\n"
        assert status(sent(port, head)) == 200
        until = monotonic() + HEAD_SECONDS + 5
        for each in waiting:
            each.settimeout(max(0.01, until - monotonic()))
            with suppress(ConnectionError):
                while each.recv(65_536):
                    pass

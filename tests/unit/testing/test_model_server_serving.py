"""The model server as a server: connections, bad requests, its end, and the program that serves a script."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil
import pytest

from ralph.testing import Fail, Hang, ModelServer, Say, Stall

PATH = "/v1/chat/completions"
PATIENCE = 10.0


def asked(prompt: str = "mend it", *, tools: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    offered = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], "tools": offered, **more}


@contextmanager
def post(
    server: ModelServer, path: str, body: object, timeout: float = PATIENCE
) -> Generator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)) as connection:
        connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode())
        with connection.getresponse() as response:
            yield response


def ask(server: ModelServer, prompt: str = "mend it", timeout: float = PATIENCE) -> str:
    """The text of an answer that is not streamed."""
    with post(server, PATH, asked(prompt), timeout) as response:
        return json.loads(response.read())["choices"][0]["message"]["content"]


def stream(server: ModelServer, prompt: str = "mend it") -> str:
    """The text of an answer that is."""
    with post(server, PATH, asked(prompt, stream=True)) as response:
        lines = [line[6:] for line in response if line.startswith(b"data: {")]
    choices = [choice for line in lines for choice in json.loads(line)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


class TestServing:
    def test_models_are_listed(self) -> None:
        with ModelServer(models=("small", "large")) as server:
            with urlopen(f"{server.base_url}/models", timeout=PATIENCE) as response:
                assert [model["id"] for model in json.loads(response.read())["data"]] == ["small", "large"]
            with pytest.raises(HTTPError, match="404") as caught:
                urlopen(f"{server.base_url}/else", timeout=PATIENCE)
            caught.value.close()

    @pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
    def test_a_body_that_is_no_object(self, body: bytes) -> None:
        with ModelServer() as server, post(server, PATH, body) as response:
            assert response.status == 400
            assert server.requests == ()

    @pytest.mark.parametrize("length", ["", "-1", "x", "9" * 30])
    def test_a_length_that_is_none(self, length: str) -> None:
        with ModelServer() as server, socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
            line.sendall(f"POST /v1/responses HTTP/1.1\r\ncontent-length: {length}\r\n\r\n".encode())
            assert line.makefile("rb").readline().startswith(b"HTTP/1.1 400")

    def test_another_path(self) -> None:
        with ModelServer() as server, post(server, "/v1/embeddings", {}) as response:
            assert response.status == 404

    def test_a_connection_serves_many_requests(self) -> None:
        with ModelServer([Say("one"), Fail(500), Say("two")]) as server:
            seen: list[int] = []
            with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:
                for streamed in (True, False, True):
                    connection.request("POST", PATH, json.dumps(asked(stream=streamed)))
                    with connection.getresponse() as response:
                        response.read()
                        seen.append(response.status)
        assert seen == [200, 500, 200]

    def test_many_clients_at_once_each_get_their_own_answer(self) -> None:
        with ModelServer(lambda request: Say(request.prompt * 50)) as server, ThreadPoolExecutor(40) as pool:
            prompts = [f"<{number}>" for number in range(200)]
            answers = list(pool.map(stream, [server] * len(prompts), prompts))
        assert answers == [prompt * 50 for prompt in prompts]

    def test_a_silent_model_holds_nobody_else_up(self) -> None:
        script = iter([Hang(), Stall(), Say("here")])
        with ModelServer(lambda _request: next(script)) as server, ThreadPoolExecutor(2) as pool:
            for _ in (1, 2):
                pool.submit(stream, server)
            self.wait_until(lambda: len(server.requests) == 2)
            assert ask(server) == "here"
            server.close()

    @staticmethod
    def wait_until(true: Callable[[], object]) -> None:
        ends = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < ends
            time.sleep(0.005)

    def test_leaving_ends_hanging_connections(self) -> None:
        ended = threading.Event()

        def hang() -> None:
            with pytest.raises(http.client.RemoteDisconnected):
                ask(server)
            ended.set()

        with ModelServer([Hang()]) as server:
            client = threading.Thread(target=hang)
            client.start()
            self.wait_until(lambda: server.requests)
            began = time.monotonic()
        assert time.monotonic() - began < 2
        client.join(PATIENCE)
        assert ended.is_set()

    def test_a_client_that_goes_away_frees_its_thread(self) -> None:
        with ModelServer([Hang()]) as server:
            before = threading.active_count()
            with pytest.raises(TimeoutError):
                ask(server, timeout=0.05)
            self.wait_until(lambda: threading.active_count() <= before)

    def test_it_listens_on_loopback_alone(self) -> None:
        with ModelServer() as server:
            listening = [c.laddr for c in psutil.Process().net_connections("inet") if c.status == psutil.CONN_LISTEN]
            assert ("127.0.0.1", server.port) in listening
            assert all(address[0] == "127.0.0.1" for address in listening if address[1] == server.port)
            assert server.base_url == f"http://127.0.0.1:{server.port}/v1"

    def test_a_closed_server_has_no_address(self) -> None:
        server = ModelServer()
        with pytest.raises(RuntimeError, match="not open"):
            _ = server.base_url
        with server:
            port = server.port
            with pytest.raises(RuntimeError, match="open already"):
                server.open()
        server.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 1)

    def test_a_taken_port_is_an_error(self) -> None:
        with ModelServer() as server, pytest.raises(OSError):
            ModelServer(port=server.port).open()

    async def test_it_is_an_async_context_manager_too(self) -> None:
        async with ModelServer([Say("one")]) as server:
            assert ask(server) == "one"
        with pytest.raises(RuntimeError, match="not open"):
            _ = server.port


class TestProgram:
    @staticmethod
    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-W", "error", "-m", "ralph.testing.model_server", *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_it_serves_a_script_until_sigterm(self, tmp_path: Path) -> None:
        script, port_file = tmp_path / "script.json", tmp_path / "port"
        steps = [
            {"step": "write_file", "path": "a.txt", "content": "x"},
            {"step": "use", "actions": [{"step": "shell", "command": "ls"}]},
            {"step": "fail", "status": 429, "retry_after": 2},
        ]
        script.write_text(json.dumps({"steps": steps, "then": {"step": "say", "text": "over"}}))
        with self.start("--script", str(script), "--port-file", str(port_file)) as process:
            try:
                assert process.stdout is not None
                base_url = json.loads(process.stdout.readline())["base_url"]
                assert base_url == f"http://127.0.0.1:{port_file.read_text()}/v1"
                seen = [self.status(base_url) for _ in range(4)]
                process.send_signal(signal.SIGTERM)
                _, errors = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
        assert seen == [200, 200, 429, 200]
        assert (process.returncode, errors) == (0, "")

    @staticmethod
    def status(base_url: str) -> int:
        body = json.dumps(asked(tools=("create", "edit", "bash"))).encode()
        try:
            with urlopen(f"{base_url}/chat/completions", body, timeout=PATIENCE) as response:
                return response.status
        except HTTPError as error:
            with error:
                return error.code

    @pytest.mark.parametrize(
        ("script", "complaint"),
        [
            ('[{"step": "sya"}]', "steps.0: Input tag 'sya'"),
            ('[{"step": "say", "text": "x", "txet": 1}]', "txet"),
            ('[{"step": "fail", "status": 200}]', "status"),
            ("{", "Invalid JSON"),
            ("7", "is not a script"),
            ('{"steps": [], "then": "repeat_last"}', "empty script"),
            (None, "No such file"),
        ],
    )
    def test_a_bad_script_is_one_paragraph(self, tmp_path: Path, script: str | None, complaint: str) -> None:
        path = tmp_path / "script.json"
        if script is not None:
            path.write_text(script)
        with self.start("--script", str(path)) as process:
            printed, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, printed) == (2, "")
        assert complaint in errors
        assert str(path) in errors
        assert len(errors.strip().split(os.linesep)) == 1

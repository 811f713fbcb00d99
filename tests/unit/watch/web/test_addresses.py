"""The address that `ralph serve` prints is one that its server answers, for each kind of --host."""

import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from ralph.cli.serve import serve

_resolve = socket.getaddrinfo


def _resolved(host: Any, *rest: Any, **more: Any) -> Any:
    return _resolve("127.0.0.1" if "night" in str(host).lower() else host, *rest, **more)


@pytest.mark.parametrize(
    ("host", "named", "is_shown"),
    [
        ("127.0.0.1", "127.0.0.1", False),
        ("localhost", "localhost", False),
        ("LOCALHOST", "localhost", False),
        ("::1", "[::1]", False),
        ("127.1", "127.1", False),
        ("Night.example.", "night.example", False),
        ("0.0.0.0", "127.0.0.1", True),
        ("0", "127.0.0.1", True),
        ("::", "[::1]", True),
    ],
)
async def test_the_printed_address_is_answered(
    host: str,
    named: str,
    is_shown: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers: list[httpx.Response] = []

    async def answer(server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        sockets[0].close()
        address = capsys.readouterr().out
        transport = httpx.ASGITransport(server.config.app)  # pyright: ignore[reportArgumentType]
        async with httpx.AsyncClient(transport=transport) as client:
            answers.append(await client.get(address.split()[1]))
            answers.append(await client.get(address.split()[1].replace(named, "rebound.example")))
        assert f"http://{named}:" in address
        assert ("Others on the network" in address) is is_shown

    monkeypatch.setattr(socket, "getaddrinfo", _resolved)
    monkeypatch.setattr(uvicorn.Server, "serve", answer)
    await serve(host=host, port=0, store=str(tmp_path / "runs.db"))
    assert [each.status_code for each in answers] == [303, 421]

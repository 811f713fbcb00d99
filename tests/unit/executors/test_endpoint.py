"""Whether an endpoint is there: a typing slip costs a second, not a night."""

import socket

import anyio
import pytest

from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors.endpoint import Address, check_endpoint, parse_endpoint


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8000/v1", ("127.0.0.1", 8000)),
        ("https://models.example", ("models.example", 443)),
        ("http://[::1]:8000", ("::1", 8000)),
        ("HTTP://user:password@Models.Example/v1", ("models.example", 80)),
    ],
)
def test_addresses(url: str, address: tuple[str, int]) -> None:
    assert parse_endpoint(url) == Address(*address)


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "ftp://x", "http://", "http://[::1", "http://x:99999", "http://a b/", "http://x\n/"]
)
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(UsageError):
        parse_endpoint(url)


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(UsageError) as refused:
        parse_endpoint("ftp://user:hunter22@host")
    assert "hunter22" not in str(refused.value)


async def test_one_that_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        await check_endpoint(f"http://127.0.0.1:{server.getsockname()[1]}/v1")
        server.settimeout(5)
        asked, _ = server.accept()
        with asked:
            assert asked.recv(1) == b"", "nothing is sent there"


async def test_one_that_refuses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ExecutorUnavailableError, match=f"127.0.0.1:{port} refuses the connection") as refused:
        await check_endpoint(f"http://127.0.0.1:{port}/v1")
    assert refused.value.exit_code == 6


async def test_a_host_without_an_address() -> None:
    with anyio.fail_after(20), pytest.raises(ExecutorUnavailableError, match="cannot be reached"):
        await check_endpoint("http://no-such-host.invalid/v1")


async def test_what_a_proxy_reaches_is_left_to_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    await check_endpoint("http://no-such-host.invalid/v1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ExecutorUnavailableError):
        await check_endpoint(f"http://127.0.0.1:{port}")

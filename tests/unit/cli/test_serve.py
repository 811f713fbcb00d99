"""`ralph serve` from the command line: what it refuses, and what it says."""

import socket
import sys
from collections.abc import Callable
from typing import Any

import pytest

from ralph.cli.serve import _announce
from ralph.watch.web.guard import Access, is_loopback

Ralph = Callable[..., Any]


def test_without_the_extra_the_command_says_how_to_install_it(ralph: Ralph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ended = ralph("serve")
    assert (ended.code, ended.out) == (2, "")
    assert "needs the package uvicorn" in ended.err
    assert "Install the extra `web`: `" in ended.err


def test_a_port_in_use_and_an_address_of_another_machine_are_refused(ralph: Ralph) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ended = ralph("serve", "--port", str(other.getsockname()[1]))
        assert (ended.code, "--port" in ended.err, "already in use" in ended.err) == (2, True, True)
    for host in ("192.0.2.1", "no such host", "a" * 300):
        ended = ralph("serve", "--port", "0", "--host", host)
        assert (ended.code, f"Cannot listen on {host[:80]}" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("host", "named", "warned"),
    [
        ("127.0.0.1", "127.0.0.1", False),
        ("::1", "[::1]", False),
        ("localhost", "localhost", False),
        ("0.0.0.0", "127.0.0.1", True),
        ("192.0.2.7", "192.0.2.7", True),
    ],
)
def test_the_address_has_the_token_and_a_network_is_warned_of(
    host: str, named: str, warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    access = Access(loopback=is_loopback(host), port=1)
    _announce(host, 1, access)
    shown = capsys.readouterr().out
    assert f"http://{named}:1/login" in shown
    assert f"/login?token={access.token}\n" in shown
    assert ("not encrypted" in shown) is warned


def test_every_start_has_another_token_which_is_never_in_a_message() -> None:
    first, second = Access(), Access()
    assert first.token != second.token
    assert len(first.token) >= 43
    assert first.token not in repr(first)

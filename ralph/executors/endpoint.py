"""The check of a model endpoint before a run, so that a mistake in its address costs a second, not a night."""

import errno
import urllib.request
from typing import NamedTuple
from urllib.parse import urlsplit

import anyio

from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.system.secrets import Redactor

_PATIENCE = 3.0
_PORTS = {"http": 80, "https": 443}
_SHAPE = "Write it like http://127.0.0.1:8000/v1."


class Address(NamedTuple):
    """The address that an endpoint listens on."""

    host: str
    port: int


def parse_endpoint(url: str) -> Address:
    """Return the address in an endpoint's URL. Raises `UsageError` for a text that is not one."""
    shown = Redactor()(url[:200])
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"The endpoint {shown!r} is not a URL: {error}.", _SHAPE) from None
    if parts.scheme not in _PORTS:
        raise UsageError(f"The endpoint {shown!r} begins with neither http:// nor https://.", _SHAPE)
    if not host or any(character.isspace() or not character.isprintable() for character in url):
        raise UsageError(f"The endpoint {shown!r} does not name a usable host.", _SHAPE)
    return Address(host, port or _PORTS[parts.scheme])


async def check_endpoint(url: str) -> None:
    """Return if something listens at the endpoint, or may: a slow one, or one behind a proxy, is left to the agent.

    Raises:
        UsageError: it is no URL.
        ExecutorUnavailableError: the connection is refused, or the host has no address.
    """
    host, port = parse_endpoint(url)
    if url.partition(":")[0] in urllib.request.getproxies() and not urllib.request.proxy_bypass(host):
        return
    try:
        with anyio.move_on_after(_PATIENCE):
            await (await anyio.connect_tcp(host, port)).aclose()
    except OSError as error:
        raise ExecutorUnavailableError(
            f"The model endpoint {Redactor()(url)} cannot be reached: {_cause(error, host, port)}.",
            "Start the model's server, or correct --base-url; a run with --max-duration waits for it.",
        ) from error


def _cause(error: OSError, host: str, port: int) -> str:
    """Return the reason in words; anyio wraps the answers of several addresses."""
    causes = [error, error.__cause__, *getattr(error.__cause__, "exceptions", ())]
    if any(isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED for cause in causes):
        return f"{host}:{port} refuses the connection"
    innermost = next((cause for cause in reversed(causes) if isinstance(cause, OSError)), error)
    return f"{innermost.strerror or innermost}"

"""Client of an OpenAI-compatible HTTP endpoint, which classifies its failures."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import urlsplit, urlunsplit

from ralph.errors import UsageError
from ralph_grounding.errors import ProviderError, Trouble
from ralph_grounding.retrying import named_wait

if TYPE_CHECKING:
    import httpx

__all__ = ["Endpoint", "fields", "sendable"]

_MOST_BYTES = 64 * 1024 * 1024
_MOST_SAID = 300

_BY_CODE: dict[str, Trouble] = {
    "invalid_api_key": "key",
    "authentication_error": "key",
    "context_length_exceeded": "too_long",
    "string_above_max_length": "too_long",
    "content_filter": "filtered",
    "content_filtered": "filtered",
    "content_policy_violation": "filtered",
    "model_not_found": "model",
    "rate_limit_exceeded": "rate_limit",
    "insufficient_quota": "rate_limit",
    "timeout": "timeout",
    "server_error": "server",
    "service_unavailable": "server",
}
_BY_STATUS: dict[int, Trouble] = {
    401: "key",
    403: "key",
    404: "model",
    408: "timeout",
    413: "too_long",
    425: "server",
    429: "rate_limit",
    504: "timeout",
}
_BY_WORDS: tuple[tuple[str, Trouble], ...] = (
    ("context length", "too_long"),
    ("context window", "too_long"),
    ("too many tokens", "too_long"),
    ("content filter", "filtered"),
    ("content management policy", "filtered"),
)
"""Phrases in the message of a status 400 from servers without error codes."""

_AGAIN: frozenset[Trouble] = frozenset({"rate_limit", "server", "timeout"})
_NEVER_AGAIN = "insufficient_quota"

_SAID: dict[Trouble, tuple[str, str]] = {
    "key": ("does not accept the key", "Set the right key, or ask the operator for access."),
    "model": ("does not know the model, or has nothing at this address", "Check the model's name and the base URL."),
    "rate_limit": ("accepts no more requests for now", "Wait, send fewer requests at a time, or raise the quota."),
    "timeout": ("timed out", "Try again later, or raise the timeout."),
    "too_long": (
        "says that the text is too long for the model",
        "Use a model with a longer context, or shorter texts.",
    ),
    "filtered": ("does not answer this text because of its content rules", "Leave the text out, or use another model."),
    "server": ("has an internal error", "Try again later."),
    "refused": ("rejects the request", "Compare the settings with the endpoint's documentation."),
    "protocol": ("does not answer like an OpenAI-compatible endpoint", "Check the base URL: it usually ends in /v1."),
}


class Endpoint:
    """A client of one endpoint. Enter it before use; several tasks may share it.

    The key is in no message, even if the endpoint repeats it.

    Args:
        url: the base URL, up to and including /v1.
        key: sent as a bearer token; empty for none.
        timeout: of a call, in seconds, from its beginning to the last byte of the answer.
        setting: the setting that the URL was read from, for the messages.

    Raises:
        UsageError: the URL is not valid.
    """

    def __init__(self, url: str, *, key: str = "", timeout: float = 30.0, setting: str = "url") -> None:
        self._base, self.shown = _checked(url, setting)
        self._key = key.strip()
        if not self._key.isascii() or not self._key.isprintable():
            raise UsageError(
                f"The key for {self.shown} has characters that are not allowed in a key.", "Copy it again."
            )
        self._timeout = timeout
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        import httpx

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            self._client = httpx.AsyncClient(headers=headers, timeout=self._timeout)
        except (httpx.InvalidURL, ImportError, OSError, ValueError) as error:  # an unusable proxy or certificate
            problem = (
                f"The environment's proxy or certificates for {self.shown} cannot be used: {self._clean(str(error))}."
            )
            remedy = "Check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE."
            raise ProviderError(problem, remedy, kind="unreachable") from None
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Post a JSON object and return the answer, a JSON object.

        Raises:
            ProviderError: with the kind of the failure; `again` is true if a retry may help.
        """
        import anyio
        import httpx

        content = json.dumps(body).encode()
        try:
            with anyio.fail_after(self._timeout):
                status, headers, answer = await self._sent(path, content)
        except (TimeoutError, httpx.TimeoutException):
            problem = f"{self.shown} did not answer within {self._timeout:g} s."
            raise ProviderError(problem, "Try again later, or raise the timeout.", kind="timeout", again=True) from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            problem = f"{self.shown} cannot be reached: {self._clean(str(error)) or type(error).__name__}."
            remedy = "Check the URL, the network, and that the endpoint is up."
            raise ProviderError(problem, remedy, kind="unreachable", again=True) from None
        return self._read(status, headers, answer)

    def message(self, said: Mapping[str, Any]) -> tuple[str, str]:
        """Return the finish reason and the text of the first choice in an answer of /chat/completions.

        Raises:
            ProviderError: there is no message.
        """
        given: object = said.get("choices")
        choices = cast("list[object]", given) if isinstance(given, list) else []
        first = fields(choices[0] if choices else None)
        message: object = first.get("message")
        if not isinstance(message, dict):
            raise self.protocol_error("its answer has no message")
        reason: object = first.get("finish_reason")
        return sendable(reason) if isinstance(reason, str) else "", _text(fields(cast("object", message)))

    def protocol_error(self, what: str) -> ProviderError:
        """Make the error for an answer in the wrong form, such as "it has no vectors"."""
        said, remedy = _SAID["protocol"]
        return ProviderError(f"{self.shown} {said}: {what}.", remedy, kind="protocol")

    async def _sent(self, path: str, content: bytes) -> tuple[int, Mapping[str, str], bytes]:
        if self._client is None:
            raise RuntimeError("The endpoint is not open: use it in `async with`.")
        headers = {"Content-Type": "application/json"}
        async with self._client.stream("POST", self._base + path, content=content, headers=headers) as response:
            answer = bytearray()
            async for piece in response.aiter_bytes():
                answer += piece
                if len(answer) > _MOST_BYTES:
                    raise self.protocol_error(f"its answer is longer than {_MOST_BYTES // 2**20} MB")
            return response.status_code, response.headers, bytes(answer)

    def _read(self, status: int, headers: Mapping[str, str], answer: bytes) -> Mapping[str, Any]:
        try:
            read: object = json.loads(answer)
        except (ValueError, RecursionError):
            read = None
        said = fields(read)
        if not 200 <= status < 300 or said.get("error"):
            raise self._failure(status, headers, said)
        if not said:
            raise self.protocol_error("its answer is not a JSON object")
        return said

    def _failure(self, status: int, headers: Mapping[str, str], said: Mapping[str, Any]) -> ProviderError:
        codes, message = _told(said)
        kind = _kind(_status(status, said), codes, message)
        what, remedy = _SAID[kind]
        quoted = self._clean(message)
        return ProviderError(
            f"{self.shown} {what} (status {status}{f': {quoted}' if quoted else ''}).",
            remedy,
            kind=kind,
            again=kind in _AGAIN and _NEVER_AGAIN not in codes,
            retry_after=named_wait(headers.get("retry-after", "")),
        )

    def _clean(self, text: str) -> str:
        """Make a foreign text fit to show: without the key, on one line, bounded."""
        masked = text.replace(self._key, "***") if self._key else text
        printable = "".join(letter if letter.isprintable() else " " for letter in masked[: 10 * _MOST_SAID])
        return " ".join(printable.split())[:_MOST_SAID].rstrip(".")


def fields(given: object) -> Mapping[str, Any]:
    """Return the fields of a value if it is an object; else none."""
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}


def sendable(text: str) -> str:
    """Remove what UTF-8 cannot encode or many servers refuse: lone surrogates and NULs."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _text(message: Mapping[str, Any]) -> str:
    """Return the text of a message: its content, its parts, or its refusal."""
    content: object = message.get("content")
    if isinstance(content, list):
        parts = [fields(part).get("text") for part in cast("list[object]", content)]
        content = "".join(part for part in parts if isinstance(part, str))
    said = content or message.get("refusal")
    return sendable(said) if isinstance(said, str) else ""


def _checked(url: str, setting: str) -> tuple[str, str]:
    """Return the URL to append paths to, and the same without a password, for messages."""
    remedy = f'Set {setting} to a base URL such as "https://api.example.com/v1".'
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        raise UsageError(f"{setting} is not a URL.", remedy) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(f"{setting} is empty." if not url.strip() else f"{setting} is not an HTTP URL.", remedy)
    if parts.query or parts.fragment:
        raise UsageError(f"{setting} has a query or a fragment after its path.", remedy)
    host = parts.netloc.rpartition("@")[2]
    path = parts.path.rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, path, "", "")), urlunsplit((parts.scheme, host, path, "", ""))


def _told(said: Mapping[str, Any]) -> tuple[Sequence[str], str]:
    """Return the codes and the message of an error, in any of the known shapes."""
    error: object = said.get("error") or said
    if isinstance(error, str):
        return (), error
    told = fields(error)
    message = told.get("message") or told.get("detail") or ""
    codes = [told[name] for name in ("code", "type") if isinstance(told.get(name), str)]
    return codes, message if isinstance(message, str) else json.dumps(message)


def _status(status: int, said: Mapping[str, Any]) -> int:
    """Return the status of an answer, or the one that some servers write into the error of a successful answer."""
    code = fields(said.get("error")).get("code")
    return code if 200 <= status < 300 and isinstance(code, int) and 400 <= code < 600 else status


def _kind(status: int, codes: Sequence[str], message: str) -> Trouble:
    for code in codes:
        if code in _BY_CODE:
            return _BY_CODE[code]
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return "server"
    lower = message[:2000].lower()
    for words, kind in _BY_WORDS:
        if words in lower:
            return kind
    return "refused" if status >= 400 else "protocol"

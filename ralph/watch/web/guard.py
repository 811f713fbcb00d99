"""The guard in front of every page: which host, which site, which user, how often. Each check fails closed.

A page on the internet can make the user's browser send requests to this server. A host that is not ours stops a name
that was rebound to this address; an origin that is not ours stops a form of another site; the cookie, which no script
can read and no other site can send, stops everyone who has not seen the token.
"""

import hmac
from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from secrets import token_urlsafe
from time import monotonic
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ralph.watch.web.render import refusal

POLICY = "; ".join((
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
))
"""The content security policy: nothing inline, nothing from elsewhere."""

_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = {"GET", "HEAD"}
_OPEN = "/static/"
_MOST_PATH = 4_096
_LOCAL = frozenset({"localhost"})


@dataclass
class Allowance:
    """A number of calls that may come at once, and the calls a second that it is refilled by."""

    burst: float = 10.0
    rate: float = 1.0
    _left: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._at = self.burst, monotonic()

    def take(self) -> bool:
        """Take one call; return False if none is left."""
        now = monotonic()
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


@dataclass(frozen=True)
class Access:
    """The conditions of access.

    Attributes:
        token: the secret in the address that the user opens first, also accepted as a bearer token.
        names: host names that the server may be called by, besides localhost.
        loopback: the server listens on the loopback interface alone, so that no other address can be meant.
        port: a part of the cookie's name, since browsers send one host's cookies to all its ports.
        read_only: no control is accepted.
    """

    token: str = field(default_factory=lambda: token_urlsafe(32), repr=False)
    names: Collection[str] = ()
    loopback: bool = True
    port: int = 0
    read_only: bool = False

    @property
    def cookie(self) -> str:
        return f"ralph-{self.port}"

    @property
    def session(self) -> str:
        """The cookie's value, from which the token cannot be computed."""
        return hmac.new(self.token.encode(), b"session", sha256).hexdigest()

    def knows_host(self, host: str) -> bool:
        """Return whether a Host header names this server: one of its names, or an address, which no name rebinds."""
        try:
            name = urlsplit(f"//{host}").hostname
            if not name or "@" in host or "/" in host:
                return False
            if name in _LOCAL or name in self.names:
                return True
            address = ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self.loopback

    def is_token(self, text: str) -> bool:
        """Return whether a text is the token, in constant time."""
        return hmac.compare_digest(text.encode(errors="replace"), self.token.encode())

    def knows_user(self, request: Request) -> bool:
        """Return whether a request has the cookie or the bearer token."""
        given = request.cookies.get(self.cookie, "")
        return hmac.compare_digest(given.encode(errors="replace"), self.session.encode()) or self.has_bearer(request)

    def has_bearer(self, request: Request) -> bool:
        """Return whether a request has the token in its header, which no other site can make a browser send."""
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.is_token(given.strip())


class Guard:
    """The middleware that lets through only what the user has asked for, and adds the headers of every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._controls = Allowance()
        self._sign_ins = Allowance(burst=20)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, _with_headers(scope, send))
        else:  # no page opens a WebSocket
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        answer = self._refused(request) or (self._sign_in(request) if scope["path"] == "/login" else None)
        if answer is None and not scope["path"].startswith(_OPEN):
            answer = self._refused_user(request)
        await (answer or self._app)(scope, receive, send)

    def _refused(self, request: Request) -> Response | None:
        """Return the refusal of a request that does not mean this server, or comes from another site."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self._access.knows_host(hosts[0]):
            text = "Use the address that `ralph serve` printed; --allow-host NAME accepts another name."
            return refusal(request, 421, "This server has another name.", text)
        if request.method not in {*_SAFE, "POST"}:
            return refusal(request, 405, "This method is not allowed.", "Only GET, HEAD and POST are.")
        if not self._is_own(request, hosts[0]):
            text = "Requests from pages of other sites are not accepted."
            return refusal(request, 403, "This request comes from another site.", text)
        return None

    def _is_own(self, request: Request, host: str) -> bool:
        """Return whether a request comes from one of our own pages, or from the user's address bar or program."""
        origins, site = request.headers.getlist("origin"), request.headers.get("sec-fetch-site")
        navigates = request.headers.get("sec-fetch-mode") == "navigate"
        if any(not _is_same(origin, host) for origin in origins):
            return False
        if request.method in _SAFE:
            return site in {None, "same-origin", "none"} or navigates
        return bool(origins) or site == "same-origin" or self._access.has_bearer(request)

    def _sign_in(self, request: Request) -> Response:
        """Exchange the token in the address for the cookie, in an address without it."""
        given = request.query_params.get("token", "").rpartition("token=")[2].strip()  # also a whole address
        if not self._access.is_token(given):
            if not self._sign_ins.take():
                return refusal(request, 429, "Too many attempts.", "Wait a few seconds.")
            return self._unknown(request)
        answer = RedirectResponse(local_path(request.query_params.get("next", "")), status_code=303)
        answer.set_cookie(self._access.cookie, self._access.session, httponly=True, samesite="strict", path="/")
        return answer

    def _refused_user(self, request: Request) -> Response | None:
        if not self._access.knows_user(request):
            return self._unknown(request)
        if request.method in _SAFE:
            return None
        if self._access.read_only:
            return refusal(request, 403, "This dashboard is read-only.", "Start `ralph serve` without --read-only.")
        if not self._controls.take():
            return refusal(request, 429, "Too many requests.", "Wait a few seconds, then try again.")
        return None

    def _unknown(self, request: Request) -> Response:
        if request.scope["path"] == "/login":
            asked = request.query_params.get("next", "")
        else:
            path, query = request.scope.get("raw_path", b"/"), request.scope["query_string"]
            asked = (path + b"?" + query if query else path).decode("latin-1") if request.method in _SAFE else "/"
        text = "Open the address that `ralph serve` printed: it has the token. If you have, open this page once more."
        return refusal(request, 401, "You are not signed in.", text, sign_in=local_path(asked))


def local_path(target: str) -> str:
    """Return a path of this server, with its query, as it was asked for; "/" for what could lead elsewhere."""
    path = target.partition("?")[0]
    is_plain = target.isascii() and target.isprintable() and "\\" not in target and len(target) <= _MOST_PATH
    return target if path.startswith("/") and "//" not in path and path != "/login" and is_plain else "/"


def _is_same(origin: str, host: str) -> bool:
    scheme, _, netloc = origin.partition("://")
    return scheme in {"http", "https"} and netloc == host


def _with_headers(scope: Scope, send: Send) -> Send:
    kept = "no-cache" if scope["path"].startswith(_OPEN) else "no-store"

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update({**_HEADERS, "Cache-Control": kept})
            if message["status"] == 429:
                headers["Retry-After"] = "5"
        await send(message)

    return sent


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on is of the loopback interface."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False

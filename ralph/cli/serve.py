"""`ralph serve`: the dashboard in the browser."""

import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.lookup import configured_store, run_state
from ralph.cli.options import StoreName
from ralph.cli.plugins import plugins_of
from ralph.errors import UsageError

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.watch.web.guard import Access
    from ralph.watch.web.library import Commands, Difference

_PORT = 8720
_BACKLOG = 256
_MOST_DIFFERENCE = 200_000
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - addresses that mean all, by one to open here
_EXTENDED = ("iterations", "duration", "tokens", "requests", "cost")
_NOT_RESUMED = {"running": "It is running.", "completed": "It is completed; start another one with `ralph run`."}
_LAST_ANSWERS = 1
"""Seconds that open pages have at the end."""

Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")]
Port = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 chooses a free one.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="Accept this host name in addresses, as of a proxy; repeatable."),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Accept no controls: nobody can stop or steer a run.")]


async def serve(
    *,
    host: Host = "127.0.0.1",
    port: Port = _PORT,
    allow_host: AllowHost = None,
    read_only: ReadOnly = False,
    store: StoreName = None,
) -> None:
    """Show all runs in the browser, live, with controls.

    Prints the address to open. It has a secret token, which the browser exchanges for a cookie. Listens on this machine
    alone unless --host says otherwise. Ctrl-C ends it; the runs are not affected.
    """
    try:
        import uvicorn

        from ralph.cli.fleet_views import fleet_pages
        from ralph.plugins.registry import open_store
        from ralph.watch.web.app import build_app
        from ralph.watch.web.connections import Connection
        from ralph.watch.web.guard import Access, is_loopback
        from ralph.watch.web.library import Library
    except ImportError as error:
        from ralph.system.install import extra_remedy

        problem = f"The dashboard needs the package {error.name}, which is not installed."
        raise UsageError(problem, extra_remedy("web")) from error
    listening = _listen(host, port)
    address, actual = listening.getsockname()[:2]
    names = tuple(name.lower().rstrip(".") for name in (host, *(allow_host or ())))
    access = Access(names=names, loopback=is_loopback(address), port=actual, read_only=read_only)
    here = Path.cwd()
    plugins = plugins_of(here, usable=True)
    url = configured_store(store, here)
    pages = [*fleet_pages(url), *(offer.thing for offer in plugins.named("ralph_pages").values())]
    async with open_store(url, plugins) as opened:
        app = build_app(Library(opened, commands()), access, pages)
        config = uvicorn.Config(
            app,
            http=Connection,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            ws="none",
            h11_max_incomplete_event_size=32_768,
            timeout_graceful_shutdown=_LAST_ANSWERS,
        )
        _announce(address if address in _EVERYWHERE else names[0], actual, access)
        await uvicorn.Server(config).serve(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises `UsageError`."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"Cannot listen on {host[:80]}:{port}: {why}.", "Choose another port with --port, or 0 for any free one."
        ) from error


def _announce(host: str, port: int, access: "Access") -> None:
    everywhere = host in _EVERYWHERE
    named = _EVERYWHERE[host] if everywhere else f"[{host}]" if ":" in host else host
    sys.stdout.write(f"Dashboard: http://{named}:{port}/login?token={access.token}\n")
    sys.stdout.write("Open this address once; keep it to yourself. Ctrl-C ends the dashboard, not the runs.\n")
    if everywhere:
        sys.stdout.write(f"On other machines, put this machine's address in the place of {named}.\n")
    if not access.loopback:
        sys.stdout.write("Others on the network can reach this server, and the connection is not encrypted.\n")
    sys.stdout.flush()


def commands() -> "Commands":
    """Return what the pages share with the command line."""
    from ralph.cli.show import chain_of
    from ralph.watch.web.library import Commands

    return Commands(state=run_state, ask=_ask, chain=chain_of, difference=_difference)


async def _ask(store: "Store", run: "RunRecord", kind: str, given: Mapping[str, str]) -> str:
    """Send a request to a run, as the command of that name does; return what happens next. Raises `UsageError`."""
    from ralph.cli.control import amounts, message_of, require_possible, send_request
    from ralph.system.text import limits_text

    state = run_state(run)
    resume = f"`ralph resume {run.id}`"
    later = "" if state in {"running", "paused"} else f", when {resume} continues the run"
    match kind:
        case "pause" | "stop":
            require_possible(run, kind, {})
            await send_request(store, run, kind)
            return "It is being stopped." if kind == "stop" else "It pauses at the end of the current iteration."
        case "resume":
            if state != "paused":
                raise UsageError(
                    f"Run {run.id} is not paused, so it cannot be continued from here.",
                    _NOT_RESUMED.get(state, f"{resume} continues it, in a terminal."),
                )
            await send_request(store, run, "resume")
            return "It continues."
        case "tell":
            require_possible(run, kind, {})
            message, masked = message_of(given.get("text", ""))
            await send_request(store, run, "tell", text=message)
            note = " What looks like a secret in it is masked."
            return f"The agent reads the message in the next iteration{later}.{note * masked}"
        case "extend":
            limits = amounts({f"--max-{name}": text for name in _EXTENDED if (text := given.get(name, "")).strip()})
            require_possible(run, kind, limits)
            await send_request(store, run, "extend", limits=limits)
            return f"Extended: {limits_text(limits, ' by ')}{later}."
        case _:
            raise UsageError(f"There is no control {kind[:40]!r}.", "There are pause, resume, stop, tell and extend.")


async def _difference(store: "Store", run: "RunRecord", iteration: int | None) -> "Difference":
    """Return the changes of an iteration or a run, as `ralph diff` shows them. Raises `RalphError`."""
    from ralph.cli.checkpoints import difference_of
    from ralph.watch.web.library import Difference

    before, after, files, text, inner = await difference_of(store, run, iteration, _MOST_DIFFERENCE)
    changed = [(file.path, file.added, file.removed) for file in files[:1_000]]
    return Difference(before=before, after=after, files=changed, diff=text, repositories_changed=inner)

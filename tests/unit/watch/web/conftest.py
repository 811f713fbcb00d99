"""A store with runs, and the dashboard on it, called without a network."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from ralph.cli.serve import commands
from ralph.records.record import RunRecord
from ralph.store import MemoryStore
from ralph.store.base import Store
from ralph.types.output import Usage
from ralph.watch.web.app import build_app
from ralph.watch.web.guard import Access
from ralph.watch.web.library import Library

BASE = "http://127.0.0.1:8720"
TOKEN = "the-token-of-this-test"
NOW = datetime(2026, 11, 21, 2, 30, tzinfo=UTC)

Open = Callable[..., httpx.AsyncClient]


def ended(number: int, **changes: Any) -> RunRecord:
    """Return a run that has ended."""
    started = NOW + timedelta(minutes=number)
    fields: dict[str, Any] = {
        "id": f"run-{number:03}",
        "task": f"Task number {number}.",
        "workspace": f"/work/{number % 3}",
        "started_at": started,
        "finished_at": started + timedelta(seconds=90),
        "state": "finished",
        "stop_reason": "completed" if number % 2 else "stuck",
        "iterations": number,
        "usage": Usage(input_tokens=1000 * number, output_tokens=10, cost=0.25),
        "duration": 90.0,
    }
    return RunRecord(**(fields | changes))


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with MemoryStore() as opened:
        yield opened


@pytest.fixture
async def dashboard(store: Store) -> AsyncIterator[Open]:
    """Opens clients of the dashboard; with `token=None` one that is not signed in."""
    clients: list[httpx.AsyncClient] = []

    def open_client(
        *, token: str | None = TOKEN, access: dict[str, Any] | None = None, **app: Any
    ) -> httpx.AsyncClient:
        given = Access(token=TOKEN, port=8720, **(access or {}))
        transport = httpx.ASGITransport(build_app(Library(store, commands()), given, **app), raise_app_exceptions=False)
        headers = {"authorization": f"Bearer {token}"} if token else {}
        clients.append(httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers))
        return clients[-1]

    yield open_client
    for client in clients:
        await client.aclose()

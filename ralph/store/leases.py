"""Leases and requests of a SQL store, synchronously."""

from typing import Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.engine.interfaces import DBAPICursor

from ralph.errors import OwnershipLostError, RunOwnedError
from ralph.store import rows, schema
from ralph.store.tables import Tables
from ralph.types import evolve
from ralph.types.requests import Request

__all__ = ["acquire", "ask", "holder", "leased", "release", "renew", "requests"]

_owner = schema.owners.c
_request = schema.requests.c


def acquire(tables: Tables, run_id: str, owner: str, dead: str, seconds: float) -> None:
    """Give a run to an owner; see `Store.acquire`."""

    def work(cursor: DBAPICursor) -> None:
        token, holds = tables.hold(cursor, run_id)
        if holds and token not in {"", owner, dead}:
            raise RunOwnedError(run_id)
        lease = update(schema.owners).where(_owner.run_id == run_id)
        tables.connection.execute(lease.values(token=owner, until=tables.now + seconds))

    tables.transact(work, repeatable=True)


def renew(tables: Tables, run_id: str, owner: str, seconds: float) -> None:
    """Renew an owner's lease."""
    if not _changed(tables, run_id, owner, until=tables.now + seconds):
        raise OwnershipLostError(run_id)


def release(tables: Tables, run_id: str, owner: str) -> None:
    """End an owner's lease."""
    _changed(tables, run_id, owner, token="", until=0.0)


def _changed(tables: Tables, run_id: str, owner: str, **values: Any) -> bool:
    lease = update(schema.owners).where(_owner.run_id == run_id, _owner.token == owner).values(values)
    return tables.transact(lambda _: tables.connection.execute(lease).rowcount, repeatable=True) > 0


def leased(tables: Tables, run_id: str) -> bool:
    """Return whether any owner has a valid lease."""
    holds = (_owner.token != "") & (_owner.until > tables.now)
    return bool(tables.all(select(_owner.run_id).where(_owner.run_id == run_id, holds)))


def holder(tables: Tables, run_id: str) -> str:
    """Return the owner's token, or the empty string."""
    found = tables.all(select(_owner.token).where(_owner.run_id == run_id))
    return found[0][0] if found else ""


def ask(tables: Tables, run_id: str, request: Request) -> int:
    """Add a request; return its `seq`."""

    def work(cursor: DBAPICursor) -> int:
        tables.hold(cursor, run_id)
        last = select(func.max(_request.seq)).where(_request.run_id == run_id)
        seq = (tables.connection.scalar(last) or 0) + 1
        row = rows.request_row(run_id, evolve(request, seq=seq))
        tables.connection.execute(insert(schema.requests).values(row))
        return seq

    return tables.transact(work)


def requests(tables: Tables, run_id: str, after: int) -> list[Request]:
    """Return the requests with a greater `seq`."""
    statement = select(_request.seq, _request.body).where(_request.run_id == run_id, _request.seq > after)
    return [rows.read_request(run_id, *row) for row in tables.all(statement.order_by(_request.seq))]

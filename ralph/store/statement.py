"""Statements for the driver itself: SQLAlchemy's way, every time, costs half a commit."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Delete, Insert, Select, Update
from sqlalchemy.engine.interfaces import DBAPICursor

__all__ = ["Statement"]


class Statement:
    """A statement that is compiled once."""

    def __init__(self, statement: Insert | Update | Delete | Select[Any], connection: Connection) -> None:
        compiled = statement.compile(dialect=connection.dialect)
        self._text = str(compiled)
        self._shaped = _shape(compiled.positiontup)

    def execute(self, cursor: DBAPICursor, given: Sequence[Mapping[str, Any]]) -> int:
        """For each of what is given; returns the number of rows that changed."""
        if not given:
            return 0
        cursor.executemany(self._text, list(map(self._shaped, given)))
        return cursor.rowcount

    def first(self, cursor: DBAPICursor, **values: Any) -> Sequence[Any] | None:
        """The first row of what is found."""
        cursor.execute(self._text, self._shaped(values))
        return cursor.fetchone()


def _shape(positions: Sequence[str] | None) -> Callable[[Mapping[str, Any]], Any]:
    """How a driver wants values: all of them by name, or in the order of the question marks."""
    if positions is None:
        return dict
    if len(positions) == 1:
        return lambda values: (values[positions[0]],)
    return itemgetter(*positions)

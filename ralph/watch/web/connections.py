"""The connections of the server: one that sends no request is closed, and there is a number of them at most."""

from asyncio import TimerHandle, Transport
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""Seconds from the connection, or the last answer, to the end of the next request's head."""

MOST_CONNECTIONS = 600
"""Connections at a time: twice the live pages that are served."""


class Connection(H11Protocol):
    """A connection that uvicorn alone would keep as long as its head is incomplete."""

    _timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST_CONNECTIONS:  # one that waits makes room, so that they keep out no user
            others = cast("set[Connection]", self.connections)
            next((each for each in others if each is not self and each.is_idle), self).transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._wait()
        super().on_response_complete()

    @property
    def is_idle(self) -> bool:
        """True if it is open, and no request of it is being answered."""
        return (not self.cycle or self.cycle.response_complete) and not self.transport.is_closing()

    def _wait(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._leave)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _leave(self) -> None:
        if self.is_idle:
            self.transport.close()

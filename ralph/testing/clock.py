"""A clock that a test moves."""

from datetime import UTC, datetime, timedelta

import anyio.lowlevel

from ralph.system.clock import Clock

__all__ = ["FakeClock"]


class FakeClock(Clock):
    """Stands still until it is moved; whoever waits for a moment is there at once.

    Attributes:
        waits: the moments that were waited for, in order.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self.waits: list[datetime] = []

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        """Moves the clock."""
        self._now += timedelta(seconds=seconds)

    async def wait_until(self, moment: datetime) -> None:
        self.waits.append(moment)
        self._now = max(self._now, moment)
        await anyio.lowlevel.checkpoint()

"""Time, as the runner sees it: passed in, so that a test can have its own (`ralph.testing.FakeClock`)."""

from datetime import UTC, datetime

import anyio

__all__ = ["Clock"]


class Clock:
    """The system's time."""

    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.now(UTC)

    async def wait_until(self, moment: datetime) -> None:
        """Returns when that time has come.

        It looks at the clock again every minute, so that a machine that slept through the moment wakes up to it.
        """
        while (left := (moment - self.now()).total_seconds()) > 0:  # noqa: ASYNC110 - there is no event for the time of day
            await anyio.sleep(min(left, 60.0))

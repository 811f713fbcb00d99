"""Time for the runner: passed in, so that a test can have its own (`ralph.testing.FakeClock`)."""

from datetime import UTC, datetime
from time import monotonic

import anyio


class Clock:
    """The system's time."""

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.now(UTC)

    async def wait_until(self, moment: datetime) -> None:
        """Return when that time has come, or when as much time has passed as was left, whichever is first.

        So a clock that is set back does not prolong the wait. The clock is read every minute, so that a machine that
        slept through the moment wakes up to it.
        """

        def left() -> float:
            return (moment - self.now()).total_seconds()

        latest = monotonic() + left()
        while (wait := min(left(), latest - monotonic())) > 0:  # noqa: ASYNC110 - there is no event for the time of day
            await anyio.sleep(min(wait, 60.0))

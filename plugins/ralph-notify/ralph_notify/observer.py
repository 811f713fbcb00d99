"""The observer: posts what it is told of, and waits for nothing but, shortly, at the end of a run."""

import logging
import time

import anyio.to_thread

from ralph import Hooks
from ralph.records.events import Event, RunFinished, RunStarted
from ralph_notify.courier import couriers
from ralph_notify.messages import is_asking, message
from ralph_notify.settings import NotifySettings

__all__ = ["Notifier"]

_logger = logging.getLogger("ralph.notify")


class Notifier(Hooks):
    """Tells people of runs. It may observe several at once.

    Raises:
        UsageError: Apprise does not know one of the addresses.
    """

    def __init__(self, settings: NotifySettings) -> None:
        self._settings = settings
        self._couriers = couriers(settings.urls)
        self._tasks: dict[str, str] = {}
        self._asking: set[str] = set()

    async def on_event(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._tasks[event.run_id] = event.task[:2_000]
        if self._is_wanted(event) and (told := message(event, self._tasks.get(event.run_id, ""))):
            for courier in self._couriers:
                courier.post(told)
        if isinstance(event, RunFinished):
            self._tasks.pop(event.run_id, None)
            self._asking.discard(event.run_id)
            await self._settle()

    def _is_wanted(self, event: Event) -> bool:
        return event.type in self._settings.on or (self._asks_anew(event) and "blocked" in self._settings.on)

    def _asks_anew(self, event: Event) -> bool:
        """Whether the agent asks, and did not the iteration before."""
        if event.type != "iteration_finished":
            return False
        before = event.run_id in self._asking
        (self._asking.add if is_asking(event) else self._asking.discard)(event.run_id)
        return is_asking(event) and not before

    async def _settle(self) -> None:
        """Lets what waits be sent, for the program may end now."""
        until = time.monotonic() + self._settings.patience
        for courier in self._couriers:
            if not await anyio.to_thread.run_sync(courier.wait, until):
                _logger.warning("address %s has not taken all notifications in time", courier.name)

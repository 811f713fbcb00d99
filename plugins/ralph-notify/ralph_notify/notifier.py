"""The observer that sends notifications, and its senders: one for each address, each with its own thread.

Apprise waits for the network without a limit. The threads are daemons, so that the program can end without them.
"""

import logging
import queue
import re
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import anyio.to_thread
from pydantic import SecretStr

from ralph import Hooks
from ralph.errors import UsageError
from ralph.records.events import Event, RunFinished, RunStarted
from ralph_notify.messages import Message, is_asking, message
from ralph_notify.settings import NotifySettings

__all__ = ["Notifier", "Sender", "senders"]

_logger = logging.getLogger("ralph.notify")

_QUEUE_SIZE = 50
"""Messages that may wait for one address."""

_THREAD = "ralph-notify"

_STATUS = re.compile(r"error=(\d{3})\b")


class Notifier(Hooks):
    """Observer that sends notifications about runs. It can observe several runs at once.

    Raises:
        UsageError: Apprise does not know one of the addresses.
    """

    def __init__(self, settings: NotifySettings) -> None:
        self._settings = settings
        self._senders = senders(settings.urls)
        self._tasks: dict[str, str] = {}
        self._asking: set[str] = set()

    async def on_event(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._tasks[event.run_id] = event.task[:2_000]
        if self._is_wanted(event) and (notification := message(event, self._tasks.get(event.run_id, ""))):
            for sender in self._senders:
                sender.post(notification)
        if isinstance(event, RunFinished):
            self._tasks.pop(event.run_id, None)
            self._asking.discard(event.run_id)
            await self._flush()

    def _is_wanted(self, event: Event) -> bool:
        return event.type in self._settings.on or (self._asks_anew(event) and "blocked" in self._settings.on)

    def _asks_anew(self, event: Event) -> bool:
        """Return True if the agent asks in this iteration and did not ask in the one before."""
        if event.type != "iteration_finished":
            return False
        before = event.run_id in self._asking
        (self._asking.add if is_asking(event) else self._asking.discard)(event.run_id)
        return is_asking(event) and not before

    async def _flush(self) -> None:
        """Wait, at most `patience` seconds, for the queued messages, because the program may end after this."""
        until = time.monotonic() + self._settings.patience
        for sender in self._senders:
            if not await anyio.to_thread.run_sync(sender.wait, until):
                _logger.warning("address %s did not take all notifications in time", sender.name)


class Sender:
    """Sender of messages to one address, in order.

    Of the address, failures and logs contain only the service's name, because any other part may be a secret.

    Args:
        number: position of the address in the settings, from 1.
        url: the address, in Apprise's form.

    Attributes:
        name: readable name of the address, such as "number 2 (discord)".
        failure: reason why the last message failed; empty if it was sent.

    Raises:
        UsageError: Apprise does not know the address.
    """

    def __init__(self, number: int, url: SecretStr) -> None:
        from apprise import Apprise, AppriseAsset

        service = url.get_secret_value().strip().partition(":")[0].lower()
        self.name = f"number {number} ({service})"
        _silence_libraries()
        asset = AppriseAsset(app_id="Ralph", app_desc="Ralph", app_url="", async_mode=False)
        self._apprise: Any = Apprise(asset=asset)
        try:
            known = self._apprise.add(url.get_secret_value().strip())
        except Exception:  # noqa: BLE001 - the error's text may contain parts of the address
            known = False
        if not known:
            remedy = "Apprise's page on the service shows the right form."
            raise UsageError(f"plugins.notify.urls: {self.name} is not an address that Apprise knows.", remedy)
        self._queue = queue.Queue[Message](_QUEUE_SIZE)
        self._idle = threading.Condition()
        self._unfinished = 0
        self._thread: threading.Thread | None = None
        self.failure = ""

    def post(self, message: Message) -> None:
        """Queue a message and return at once. If the queue is full, drop the message and log that."""
        with self._idle:
            self._unfinished += 1
        try:
            self._queue.put_nowait(message)
        except queue.Full:
            self._finish(f"{_QUEUE_SIZE} messages are waiting already, so this one is dropped")
        if self._thread is None:
            self._thread = threading.Thread(target=self._send_all, name=_THREAD, daemon=True)
            self._thread.start()

    def wait(self, until: float) -> bool:
        """Wait until every message is sent or has failed, and return whether that is so.

        Args:
            until: latest moment, by the monotonic clock.
        """
        with self._idle:
            return self._idle.wait_for(lambda: self._unfinished == 0, max(0.0, until - time.monotonic()))

    def _send_all(self) -> None:
        while True:
            self._finish(self._send(self._queue.get()))

    def _finish(self, failure: str) -> None:
        if failure:
            _logger.warning("a notification did not reach address %s: %s", self.name, failure)
        with self._idle:
            self.failure = failure
            self._unfinished -= 1
            self._idle.notify_all()

    def _send(self, message: Message) -> str:
        """Send a message, and return why it failed; empty if it was sent."""
        listener = _StatusListener()
        logger = logging.getLogger("apprise")
        logger.addHandler(listener)
        try:
            sent = [_sent(service, message) for service in self._apprise]
        except Exception as error:  # noqa: BLE001 - a service may raise anything, with parts of the address in its text
            return f"it failed ({type(error).__name__})"
        finally:
            logger.removeHandler(listener)
        if all(sent):
            return ""
        return f"it answered {listener.status}" if listener.status else "it cannot be reached, or rejected the message"


def senders(urls: Sequence[SecretStr]) -> tuple[Sender, ...]:
    """Return a sender for each address.

    Raises:
        UsageError: Apprise does not know one of the addresses.
    """
    return tuple(Sender(number, url) for number, url in enumerate(urls, 1))


class _StatusListener(logging.Handler):
    """Log handler that keeps the HTTP status of a refusal, of all that Apprise logs in this thread."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._thread, self.status = threading.get_ident(), ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread and (found := _STATUS.search(record.getMessage())):
            self.status = found[1]


def _sent(service: Any, message: Message) -> bool:
    """Send a message through one service, and return whether the service took it.

    `Apprise.notify` would send it in threads that the end of the program waits for.
    """
    from apprise import NotifyType

    convert = import_module("apprise.conversion").convert_between  # its types are incomplete
    title, body = message.title, convert("text", service.notify_format, content=message.body)
    if service.title_maxlen <= 0:  # Apprise then puts the title into the body
        title = convert("text", service.notify_format, content=title)
    return service.notify(body=body, title=title, notify_type=NotifyType(message.kind), body_format="text")


def _silence_libraries() -> None:
    """Keep Apprise's and urllib3's log records out of the log, because they may contain parts of an address."""
    logging.getLogger("apprise").propagate = False
    logging.getLogger("urllib3.connectionpool").addFilter(_is_from_elsewhere)


def _is_from_elsewhere(record: logging.LogRecord) -> bool:
    return record.threadName != _THREAD

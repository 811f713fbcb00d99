"""Who carries messages to one address: a thread of its own, so that nothing waits for it, and it for no other.

Apprise waits for the network as long as a receiver likes. So the thread is a daemon: the program ends without it.
"""

import logging
import queue
import re
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pydantic import SecretStr

from ralph.errors import UsageError
from ralph_notify.messages import Message

__all__ = ["Courier", "couriers"]

_logger = logging.getLogger("ralph.notify")

_WAITING = 50
"""Messages that may wait for one address."""

_THREAD = "ralph-notify"

_STATUS = re.compile(r"error=(\d{3})\b")


class Courier:
    """Carries messages to one address, in order.

    What it says of failures has nothing of the address but the service's name: any part of it may be a secret.

    Args:
        number: of the address in the settings, from 1.

    Attributes:
        name: the address for people, such as "number 2 (discord)".

    Raises:
        UsageError: Apprise knows no such address.
    """

    def __init__(self, number: int, url: SecretStr) -> None:
        from apprise import Apprise, AppriseAsset

        service = url.get_secret_value().strip().partition(":")[0].lower()
        self.name = f"number {number} ({service})"
        _quieten()
        asset = AppriseAsset(app_id="Ralph", app_desc="Ralph", app_url="", async_mode=False)
        self._apprise: Any = Apprise(asset=asset)
        try:
            known = self._apprise.add(url.get_secret_value().strip())
        except Exception:  # noqa: BLE001 - what it says may have parts of the address in it
            known = False
        if not known:
            remedy = "Apprise's page on the service shows the right form."
            raise UsageError(f"plugins.notify.urls: {self.name} is not an address that Apprise knows.", remedy)
        self._mail = queue.Queue[Message](_WAITING)
        self._idle = threading.Condition()
        self._due = 0
        self._thread: threading.Thread | None = None
        self.failure = ""

    def post(self, message: Message) -> None:
        """Takes a message to be sent; returns at once. Where too many wait, it is lost, and that is logged."""
        with self._idle:
            self._due += 1
        try:
            self._mail.put_nowait(message)
        except queue.Full:
            self._settle("more messages wait for it than it takes")
        if self._thread is None:
            self._thread = threading.Thread(target=self._carry, name=_THREAD, daemon=True)
            self._thread.start()

    def wait(self, until: float) -> bool:
        """Waits until all is sent or has failed, at most until a moment of the monotonic clock; whether it is so."""
        with self._idle:
            return self._idle.wait_for(lambda: self._due == 0, max(0.0, until - time.monotonic()))

    def _carry(self) -> None:
        while True:
            self._settle(self._send(self._mail.get()))

    def _settle(self, failure: str) -> None:
        if failure:
            _logger.warning("a notification did not reach address %s: %s", self.name, failure)
        with self._idle:
            self.failure = failure
            self._due -= 1
            self._idle.notify_all()

    def _send(self, message: Message) -> str:
        """Sends a message; why it failed, empty where it did not."""
        listener = _Listener()
        logger = logging.getLogger("apprise")
        logger.addHandler(listener)
        try:
            sent = [_sent(service, message) for service in self._apprise]
        except Exception as error:  # noqa: BLE001 - a service may raise anything, and say any part of the address
            return f"it failed ({type(error).__name__})"
        finally:
            logger.removeHandler(listener)
        if all(sent):
            return ""
        return f"it answered {listener.status}" if listener.status else "it cannot be reached, or took nothing"


class _Listener(logging.Handler):
    """Hears the status by which a service refuses, of all that Apprise logs in this thread."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._thread, self.status = threading.get_ident(), ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread and (found := _STATUS.search(record.getMessage())):
            self.status = found[1]


def _sent(service: Any, message: Message) -> bool:
    """Whether a service takes a message. `Apprise.notify` would send it by threads that the program's end waits for."""
    from apprise import NotifyType

    convert = import_module("apprise.conversion").convert_between  # it has half of its types
    title, body = message.title, convert("text", service.notify_format, content=message.body)
    if service.title_maxlen <= 0:  # it becomes a part of the body
        title = convert("text", service.notify_format, content=title)
    return service.notify(body=body, title=title, notify_type=NotifyType(message.kind), body_format="text")


def _quieten() -> None:
    """Apprise, and what it sends by, may log parts of an address."""
    logging.getLogger("apprise").propagate = False
    logging.getLogger("urllib3.connectionpool").addFilter(_is_of_others)


def _is_of_others(record: logging.LogRecord) -> bool:
    return record.threadName != _THREAD


def couriers(urls: Sequence[SecretStr]) -> tuple[Courier, ...]:
    """One for each address. Raises `UsageError` for one that Apprise does not know."""
    return tuple(Courier(number, url) for number, url in enumerate(urls, 1))

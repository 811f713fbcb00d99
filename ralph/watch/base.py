"""What a display is: hooks that show a run to a person or a program. What it cannot write does not break the run."""

import sys
from contextlib import suppress
from types import TracebackType
from typing import Self, TextIO

from ralph.hooks import Hooks
from ralph.records.events import Event
from ralph.watch.outlet import Outlet

__all__ = ["Display"]

_LAST_WAIT = 1.0
_STEPS = {
    "wait": "another process is fetching the Copilot CLI",
    "download": "fetching the Copilot CLI",
    "check": "checking the Copilot CLI",
    "unpack": "unpacking the Copilot CLI",
}


class Display(Hooks):
    """Shows a run. Used in `with`, around the run. Subclass it and implement `show`; this one shows nothing.

    Args:
        out: where to; standard output by default.
        look_up: the command that shows a run later, to which its id is added; empty where none does.
        endpoint: whether the model is at an endpoint of the user's own, and not GitHub's.
    """

    def __init__(self, out: TextIO | None = None, *, look_up: str = "ralph show", endpoint: bool = False) -> None:
        self.out = Outlet(out if out is not None else sys.stdout)
        self.look_up = look_up
        self.endpoint = endpoint
        self._step = ""
        self._last_wait: float | None = None

    @property
    def _store_option(self) -> str:
        """The option that names the store in commands that are advised; empty where a person need not name it."""
        return self.look_up.removeprefix("ralph show")

    def show(self, event: Event) -> None:
        """Shows one event."""

    def note(self, text: str) -> None:
        """Tells a person something that is no event of the run: on standard error, out of a program's way."""
        with suppress(OSError, ValueError):
            sys.stderr.write(f"ralph: {text}\n")
            sys.stderr.flush()

    def progress(self, step: str, done: int, total: int | None) -> None:
        """Tells how the fetching of the agent's program goes, in bytes: each step once, and each tenth of it."""
        tenth = done * 10 // total if total else 0
        text = _STEPS.get(step, step) + (f": {tenth * 10} % of {total / 1e6:.0f} MB" if total and tenth else " …")
        if text != self._step:
            self._step = text
            self.note(text)

    def verifying(self, verifier: str) -> None:
        """Tells that a verifier is at work now, which may take minutes; its verdict comes as an event."""

    def looking(self, read: int, of: int) -> None:
        """Tells that the workspace is looked at, each second while that lasts, and how many files were read so far.

        Args:
            of: how many are to be read; 0 where that is not known yet.
        """

    def hurry(self, text: str) -> None:
        """Tells a person that the run is being ended; nobody is waited for long from now on."""
        self._last_wait = _LAST_WAIT
        self.note(text)

    async def on_event(self, event: Event) -> None:
        self.show(event)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.out.close(self._last_wait if kind is None else _LAST_WAIT)
        if refused := self.out.refused:
            whole = f" Free some space; `ralph logs{self._store_option}` shows the whole run." if self.look_up else ""
            self.note(f"There is no room for the output: {refused.strerror}.{whole}")

"""The parts of the command line that the app is given: how it opens the store, and what it may ask of a run."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from textual.screen import Screen

    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.store.run_list import ListedRun
    from ralph.watch.tui.app import WatchApp

Kind = Literal["pause", "resume", "stop", "tell", "extend"]


class Asks(Protocol):
    """Sends a request to a run, and returns what to tell the user; raises `RalphError`."""

    def __call__(self, store: "Store", run: "RunRecord", kind: Kind, text: str = "") -> Awaitable[str]: ...


@dataclass(frozen=True)
class Source:
    """The source of all that the app shows.

    Attributes:
        opened: opens the store.
        quick: reads the newest runs without the store, at most that many; None if that is not possible.
        find: finds a run by its id, the beginning of it, or "last".
        state_of: returns "running", "paused", "crashed", or why a run stopped.
        difference: returns what an iteration changed, as a patch of at most that many characters.
        ask: sends a request; of "extend", the text is a flag and an amount.
        missing: returns whether the store does not exist yet.
        option: the `--store` option of suggested commands.
        place: the store's name for the user.
        fleet: makes the screen of the fleet; None without one.
    """

    opened: "Callable[[], AbstractAsyncContextManager[Store]]"
    quick: "Callable[[int], list[ListedRun] | None]"
    find: "Callable[[Store, str], Awaitable[RunRecord]]"
    state_of: "Callable[[RunRecord], str]"
    difference: "Callable[[Store, RunRecord, int, int], Awaitable[str]]"
    ask: Asks
    missing: Callable[[], bool] = bool
    option: str = ""
    place: str = ""
    fleet: "Callable[[WatchApp], Screen[None]] | None" = None

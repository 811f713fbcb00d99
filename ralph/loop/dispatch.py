"""Dispatch of events to the observers of a run, and of questions to those that may veto; none can break the run.

A hook that raises, or takes longer than ten seconds, is counted, skipped and logged; the traceback is logged only the
first time, as an observer that fails once fails at every event. A hook that took too long gets no more events of that
iteration, so that a hanging one delays it by its limit and no more; after three such iterations it gets no more events.
The same holds for vetoes: an answer that does not come in time is no veto.
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, cast

import anyio

from ralph.hooks import CompletionDue, Hooks, IterationDue, Veto
from ralph.records.events import Event

__all__ = ["Dispatcher", "Objection"]

_logger = logging.getLogger("ralph.hooks")

_PATIENCE = 10.0
_CHANCES = 3
_NAMED = 20


class Objection(NamedTuple):
    """A veto, with the hook that cast it."""

    hook: str
    reason: str


class Dispatcher:
    """The hooks of a run.

    Args:
        hooks: in the order in which they are called.
        complain: called once for each hook and problem.

    Attributes:
        complaints: the reports about skipped hooks.
        failures: how often each hook raised, took too long or returned nonsense, by its class and method.
        vetoes: how many each hook has cast, by its class.
    """

    def __init__(self, hooks: Sequence[Hooks], complain: Callable[[str], None]) -> None:
        self._hooks = list(hooks)
        self._complain = complain
        self._hanging: dict[int, int] = {}
        self._slow: Counter[int] = Counter()
        self._raised: set[int] = set()
        self.complaints: list[str] = []
        self.failures: Counter[str] = Counter()
        self.vetoes: Counter[str] = Counter()

    def account(self) -> str:
        """Return how often hooks failed and vetoed, in a sentence or two; empty if none did."""
        counted = (("Hooks that failed", self.failures), ("Vetoes", self.vetoes))
        return " ".join(
            f"{what}: {', '.join(f'{name} {_times(count)}' for name, count in counts.most_common(_NAMED))}."
            for what, counts in counted
            if counts
        )

    async def publish(self, event: Event) -> None:
        """Call every hook with an event; `on_event` comes first."""
        for hooks in tuple(self._hooks):
            for name in ("on_event", f"on_{event.type}"):
                if (method := _own(hooks, name)) is not None:
                    await self._call(hooks, name, method, event, event.iteration)

    async def before_iteration(self, due: IterationDue) -> list[Objection]:
        """Return the vetoes against the next iteration."""
        return await self._ask("before_iteration", due)

    async def before_completion(self, due: CompletionDue) -> list[Objection]:
        """Return the vetoes against a claim of completion."""
        return await self._ask("before_completion", due)

    async def _ask(self, name: str, due: IterationDue | CompletionDue) -> list[Objection]:
        objections: list[Objection] = []
        for hooks in tuple(self._hooks):
            if (method := _own(hooks, name)) is None:
                continue
            said = await self._call(hooks, name, method, due, due.iteration)
            if isinstance(said, Veto):
                self.vetoes[type(hooks).__name__] += 1
                objections.append(Objection(type(hooks).__name__, said.reason))
            elif said is not None:
                self._failed(hooks, name, f"gave a {type(said).__name__}, which is not a Veto")
        return objections

    async def _call(
        self, hooks: Hooks, name: str, method: Callable[[Any], Awaitable[object]], about: object, iteration: int
    ) -> object:
        """Return the answer of a hook; None if it fails, hangs, or has hung in this iteration."""
        if self._hanging.get(id(hooks)) == iteration:
            return None
        scope = anyio.CancelScope(deadline=anyio.current_time() + _PATIENCE)
        answer: object = None
        try:
            with scope:
                answer = await method(about)
        except (Exception, SystemExit) as error:
            if id(hooks) not in self._raised:
                self._raised.add(id(hooks))
                _logger.exception("the hook %s of %s failed; the run continues", name, type(hooks).__name__)
            self._failed(hooks, name, f"failed ({type(error).__name__})")
        if scope.cancelled_caught:
            self._hung(hooks, name, iteration)
        return answer

    def _hung(self, hooks: Hooks, name: str, iteration: int) -> None:
        self._hanging[id(hooks)] = iteration
        self._slow[id(hooks)] += 1
        what = f"took more than {_PATIENCE:g} seconds"
        _logger.warning("the hook %s of %s %s; the run continues", name, type(hooks).__name__, what)
        self._failed(hooks, name, what)
        if self._slow[id(hooks)] == _CHANCES:
            self._hooks = [each for each in self._hooks if each is not hooks]
            _logger.warning("%s is too slow: it gets no more events", type(hooks).__name__)
            told = f"The observer {type(hooks).__name__} is too slow: it gets no more events."
            self.complaints.append(told)
            self._complain(told)

    def _failed(self, hooks: Hooks, name: str, what: str) -> None:
        hook = f"{type(hooks).__name__}.{name}"
        self.failures[hook] += 1
        told = f"The hook {hook} {what}; the run continues without it."
        if told not in self.complaints:
            self.complaints.append(told)
            self._complain(told)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _own(hooks: Hooks, name: str) -> Callable[[Any], Awaitable[object]] | None:
    """Return a method that a hook has overridden; None if it has not."""
    try:
        method = getattr(hooks, name, None)
    except Exception:
        _logger.exception("%s cannot be read", type(hooks).__name__)
        return None
    if method is None or getattr(method, "__func__", None) is getattr(Hooks, name, None):
        return None
    return cast("Callable[[Any], Awaitable[object]]", method)

"""A store in memory, for tests and for runs that need no record."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from ralph.errors import OwnershipLostError, RunOwnedError, StoreError
from ralph.records.events import Event
from ralph.records.record import IterationRecord, RunRecord, Trace
from ralph.store.base import LEASE, Health, Store, named
from ralph.types import evolve
from ralph.types.requests import Request


@dataclass
class _Kept:
    run: RunRecord
    iterations: dict[int, IterationRecord] = field(default_factory=dict[int, IterationRecord])
    events: dict[int, Event] = field(default_factory=dict[int, Event])
    requests: list[Request] = field(default_factory=list[Request])
    owner: str = ""
    until: float = 0.0

    def lease(self, owner: str, seconds: float) -> None:
        self.owner, self.until = owner, monotonic() + seconds

    def require(self, owner: str) -> None:
        if owner and self.owner != owner:
            raise OwnershipLostError(self.run.id)
        if not owner and self.until > monotonic():
            raise RunOwnedError(self.run.id)


class MemoryStore(Store):
    """A store that lasts as long as the object. Runs outlive the `async with`."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    async def create(self, run: RunRecord, events: Sequence[Event] = (), *, owner: str = "") -> None:
        if run.id in self._kept:
            raise StoreError(f"Run {run.id} is in the store already.")
        kept = _Kept(run)
        kept.events.update(_new(events, kept.events))
        if owner:
            kept.lease(owner, LEASE)
        self._kept[run.id] = kept

    async def append(
        self,
        run_id: str,
        events: Sequence[Event],
        *,
        iteration: IterationRecord | None = None,
        run: RunRecord | None = None,
        owner: str = "",
    ) -> None:
        kept = self._found(run_id)
        kept.require(owner)
        if iteration and iteration.number in kept.iterations:
            raise StoreError(f"Iteration {iteration.number} of run {run_id} is in the store already.")
        kept.events.update(_new(events, kept.events))
        if iteration:
            kept.iterations[iteration.number] = iteration
        kept.run = run or kept.run

    async def acquire(self, run_id: str, owner: str, *, dead: str = "", seconds: float = LEASE) -> None:
        free = {"", named(owner), dead}
        kept = self._found(run_id)
        if kept.owner not in free and kept.until > monotonic():
            raise RunOwnedError(run_id)
        kept.lease(owner, seconds)

    async def renew(self, run_id: str, owner: str, *, seconds: float = LEASE) -> None:
        kept = self._kept.get(run_id)
        if kept is None or kept.owner != named(owner):
            raise OwnershipLostError(run_id)
        kept.lease(owner, seconds)

    async def release(self, run_id: str, owner: str) -> None:
        kept = self._kept.get(run_id)
        if kept and kept.owner == named(owner):
            kept.owner, kept.until = "", 0.0

    async def leased(self, run_id: str) -> bool:
        return run_id in self._kept and self._kept[run_id].until > monotonic()

    async def holder(self, run_id: str) -> str:
        return self._kept[run_id].owner if run_id in self._kept else ""

    async def ask(self, run_id: str, request: Request) -> int:
        kept = self._found(run_id)
        kept.requests.append(evolve(request, seq=len(kept.requests) + 1))
        return len(kept.requests)

    async def requests(self, run_id: str, *, after: int = 0) -> list[Request]:
        return self._kept[run_id].requests[after:] if run_id in self._kept else []

    async def run(self, run_id: str) -> RunRecord | None:
        if run_id in self._kept:
            return self._kept[run_id].run
        found = [kept.run for key, kept in self._kept.items() if key.startswith(run_id)]
        return found[0] if len(found) == 1 else None

    async def runs(self, *, workspace: str | None = None, limit: int = 100) -> list[RunRecord]:
        kept = [kept.run for kept in self._kept.values()]
        found = [run for run in kept if workspace is None or run.workspace == workspace]
        return sorted(found, key=lambda run: (run.started_at, run.id), reverse=True)[:limit]

    async def iterations(self, run_id: str) -> AsyncIterator[IterationRecord]:
        if kept := self._kept.get(run_id):
            for number in sorted(kept.iterations):
                yield kept.iterations[number]

    async def iteration(self, run_id: str, number: int) -> IterationRecord | None:
        return self._kept[run_id].iterations.get(number) if run_id in self._kept else None

    async def traces(self, run_id: str) -> list[Trace]:
        return [Trace.of(iteration) async for iteration in self.iterations(run_id)]

    async def events(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        if kept := self._kept.get(run_id):
            for seq in sorted(seq for seq in kept.events if seq > after):
                yield kept.events[seq]

    async def last_seq(self, run_id: str) -> int:
        return max(self._kept[run_id].events, default=0) if run_id in self._kept else 0

    async def last_iteration(self, run_id: str) -> int:
        return max(self._kept[run_id].iterations, default=0) if run_id in self._kept else 0

    async def remove(self, run_id: str, *, owner: str = "") -> None:
        if kept := self._kept.get(run_id):
            kept.require(owner)
            del self._kept[run_id]

    async def check(self) -> Health:
        return Health(len(self._kept))

    def _found(self, run_id: str) -> _Kept:
        if run_id not in self._kept:
            raise StoreError(f"The store holds no run {run_id}.")
        return self._kept[run_id]


def _new(events: Sequence[Event], known: dict[int, Event]) -> dict[int, Event]:
    new = {event.seq: event for event in events if event.seq}
    if len(new) < sum(1 for event in events if event.seq) or not known.keys().isdisjoint(new):
        raise StoreError("An event with that number is in the store already: another process is writing to the run.")
    return new

"""The conformance suite finds each fault that it is for: one wrong store a clause."""

import inspect
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import anyio
import pytest

from ralph.errors import OwnershipLostError, RunOwnedError, StoreError
from ralph.records.events import Event
from ralph.records.record import IterationRecord, RunRecord, RunState, Trace
from ralph.store import Store
from ralph.store.base import LEASE, TRANSCRIPT, Health, named
from ralph.testing import StoreConformance
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


class Right(Store):
    """The simplest store: dictionaries, which the wrong ones reach into."""

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

    async def forget_transcript(self, run_id: str) -> int:
        kept = self._found(run_id)
        kept.require("")
        gone = [seq for seq, event in kept.events.items() if event.type in TRANSCRIPT]
        for seq in gone:
            del kept.events[seq]
        kept.run = evolve(kept.run, forgotten=kept.run.forgotten + len(gone))
        return len(gone)

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


class ForgetsFirstEvents(Right):
    async def create(self, run, events=(), **more):
        await super().create(run, **more)


class ClosesForEveryUser(Right):
    async def __aexit__(self, *ended):
        self._kept.clear()


class ForgetsTheRunsNewState(Right):
    async def append(self, run_id, events, *, iteration=None, run=None, owner=""):
        await super().append(run_id, events, iteration=iteration, owner=owner)


class CountsEveryAppend(Right):
    async def append(self, run_id, events, **more):
        kept = self._found(run_id)
        await super().append(run_id, events, **more)
        kept.run = kept.run.model_copy(update={"iterations": kept.run.iterations + 1})


class KeepsStreamedPieces(Right):
    async def append(self, run_id, events, **more):
        last = await self.last_seq(run_id)
        numbered = [event.model_copy(update={"seq": event.seq or last + at}) for at, event in enumerate(events, 1)]
        await super().append(
            run_id, [event.model_copy(update={"seq": last + at}) for at, event in enumerate(numbered, 1)], **more
        )


class SortsEventsAsText(Right):
    async def events(self, run_id, *, after=0):
        found = [event async for event in super().events(run_id, after=after)]
        for event in sorted(found, key=lambda event: str(event.seq)):
            yield event


class SortsIterationsAsText(Right):
    async def iterations(self, run_id):
        found = [it async for it in super().iterations(run_id)]
        for it in sorted(found, key=lambda it: str(it.number)):
            yield it


class MixesRuns(Right):
    async def iterations(self, run_id):
        for kept in self._kept.values():
            for number in sorted(kept.iterations):
                yield kept.iterations[number]


class MakesWhatIsNotThere(Right):
    async def last_seq(self, run_id):
        return self._found(run_id) and await super().last_seq(run_id)


class ReadsPatterns(Right):
    async def run(self, run_id):
        return await super().run(run_id.rstrip("%"))


class TakesTheFirstOfTwo(Right):
    async def run(self, run_id):
        found = [kept.run for key, kept in self._kept.items() if run_id and key.startswith(run_id)]
        return found[0] if found else None


class ListsByTheClockOnTheWall(Right):
    async def runs(self, *, workspace=None, limit=100):
        found = await super().runs(workspace=workspace, limit=limit)
        return sorted(found, key=lambda run: run.started_at.replace(tzinfo=None), reverse=True)


class OverwritesRuns(Right):
    async def create(self, run, events=(), **more):
        self._kept.pop(run.id, None)
        await super().create(run, events, **more)


class TakesAnEventAgain(Right):
    async def append(self, run_id, events, **more):
        known = self._found(run_id).events
        await super().append(run_id, [event for event in events if event.seq not in known], **more)


class KeepsEventsOfARefusedAppend(Right):
    async def append(self, run_id, events, *, iteration=None, run=None, owner=""):
        await super().append(run_id, events, owner=owner)
        await super().append(run_id, (), iteration=iteration, run=run, owner=owner)


class AcceptsAnyRun(Right):
    async def append(self, run_id, events, **more):
        if run_id in self._kept:
            await super().append(run_id, events, **more)


class CutsLongTexts(Right):
    async def append(self, run_id, events, **more):
        cut = [event.model_copy(update={"text": event.text.replace("\0", "")}) for event in events]
        await super().append(run_id, cut, **more)


class LosesWhatComesMeanwhile(Right):
    busy = False

    async def append(self, run_id, events, **more):
        if not self.busy:
            self.busy = True
            await anyio.lowlevel.checkpoint()
            await super().append(run_id, events, **more)
            self.busy = False


class LocksReadersOut(Right):
    reading = False

    async def events(self, run_id, *, after=0):
        self.reading = True
        async for event in super().events(run_id, after=after):
            yield event
        self.reading = False

    async def append(self, run_id, events, **more):
        if self.reading:
            raise StoreError("It is being read.")
        await super().append(run_id, events, **more)


class AppendsBitByBit(Right):
    async def append(self, run_id, events, *, iteration=None, run=None, owner=""):
        for event in events:
            await super().append(run_id, [event], owner=owner)
            await anyio.lowlevel.checkpoint()
        await super().append(run_id, (), iteration=iteration, run=run, owner=owner)


class BelievesEveryToken(Right):
    async def append(self, run_id, events, *, owner="", **more):
        await super().append(run_id, events, owner=owner and self._found(run_id).owner, **more)


class GivesRunsAway(Right):
    async def acquire(self, run_id, owner, **more):
        await super().acquire(run_id, owner, dead=self._found(run_id).owner)


class WaitsForTheDead(Right):
    async def acquire(self, run_id, owner, *, dead="", **more):
        await super().acquire(run_id, owner, **more)


class LetsFormerOwnersRenew(Right):
    async def renew(self, run_id, owner, **more):
        await super().renew(run_id, self._found(run_id).owner, **more)


class ForgetsWhoWasBefore(Right):
    async def append(self, run_id, events, *, owner="", **more):
        await super().append(run_id, events, owner=owner if self._found(run_id).owner else "", **more)


class EndsAnOwnersWorkWithItsLease(Right):
    async def append(self, run_id, events, *, owner="", **more):
        if owner and not await self.leased(run_id):
            raise OwnershipLostError(run_id)
        await super().append(run_id, events, owner=owner, **more)


class InsistsOnTokens(Right):
    async def append(self, run_id, events, *, owner="", **more):
        if self._found(run_id).owner and not owner:
            raise RunOwnedError(run_id)
        await super().append(run_id, events, owner=owner, **more)


class LeasesForEver(Right):
    async def acquire(self, run_id, owner, *, dead="", seconds=0.0):
        await super().acquire(run_id, owner, dead=dead, seconds=1e9)

    async def leased(self, run_id):
        return False


class ForgetsOwnersWithTheirLeases(Right):
    async def holder(self, run_id):
        return await super().holder(run_id) if await self.leased(run_id) else ""


class LooksThenTakes(Right):
    async def acquire(self, run_id, owner, **more):
        free = not await self.leased(run_id)
        await anyio.lowlevel.checkpoint()
        await super().acquire(run_id, owner, dead=self._found(run_id).owner if free else "")


class LendsRunsThatAreNotThere(Right):
    async def acquire(self, run_id, owner, **more):
        if run_id in self._kept:
            await super().acquire(run_id, owner, **more)


class HearsItsOwnerAlone(Right):
    async def ask(self, run_id, request):
        if await self.leased(run_id):
            raise RunOwnedError(run_id)
        return await super().ask(run_id, request)


class CountsRequestsTwice(Right):
    async def ask(self, run_id, request):
        seq = len(self._found(run_id).requests) + 1
        await anyio.lowlevel.checkpoint()
        self._found(run_id).requests.append(request.model_copy(update={"seq": seq}))
        return seq


class RemembersNoWords(Right):
    async def state(self, run):
        return RunState.of(run, await self.traces(run.id))


class RemovesTheRecordAlone(Right):
    def __init__(self):
        super().__init__()
        self.gone: dict[str, Any] = {}

    async def remove(self, run_id, *, owner=""):
        if kept := self._kept.get(run_id):
            await super().remove(run_id, owner=owner)
            self.gone[run_id] = kept.requests

    async def requests(self, run_id, *, after=0):
        return self.gone.get(run_id) or await super().requests(run_id, after=after)


class ForgetsWithoutANote(Right):
    async def forget_transcript(self, run_id):
        kept = self._found(run_id)
        run = kept.run
        gone = await super().forget_transcript(run_id)
        kept.run = run
        return gone


class ComplainsAboutNothing(Right):
    async def check(self):
        return Health(len(self._kept), ("It looks bad.",))


WRONG: dict[str, type[Right]] = {
    "a_store_that_is_entered_twice_stays_open_for_the_other_user": ClosesForEveryUser,
    "what_was_created_is_read_back": ForgetsFirstEvents,
    "an_append_adds_events_iteration_and_state": ForgetsTheRunsNewState,
    "an_append_of_nothing_changes_nothing": CountsEveryAppend,
    "streamed_pieces_are_not_kept": KeepsStreamedPieces,
    "events_come_in_order_and_after_a_number": SortsEventsAsText,
    "iterations_come_in_order": SortsIterationsAsText,
    "runs_do_not_mix": MixesRuns,
    "what_is_not_there": MakesWhatIsNotThere,
    "a_run_is_found_by_a_beginning_that_only_it_has": ReadsPatterns,
    "a_beginning_that_two_long_runs_share_is_nobodys": TakesTheFirstOfTwo,
    "runs_are_listed_newest_first": ListsByTheClockOnTheWall,
    "a_run_is_created_once": OverwritesRuns,
    "an_event_is_added_once": TakesAnEventAgain,
    "an_iteration_is_added_once_and_nothing_of_the_rest_stays": KeepsEventsOfARefusedAppend,
    "nothing_is_added_to_a_run_that_is_not_there": AcceptsAnyRun,
    "any_text_is_taken": CutsLongTexts,
    "calls_at_the_same_time_are_all_carried_out": LosesWhatComesMeanwhile,
    "a_reader_may_stop_early_and_writing_goes_on_under_it": LocksReadersOut,
    "a_cancelled_append_is_whole_or_absent": AppendsBitByBit,
    "its_owner_adds_to_a_run_and_nobody_else_does": BelievesEveryToken,
    "a_run_that_somebody_is_at_work_on_is_not_taken_over": GivesRunsAway,
    "a_run_whose_owner_has_died_is_taken_over_at_once": WaitsForTheDead,
    "a_run_whose_lease_is_over_is_taken_over_and_its_former_owner_refused": LetsFormerOwnersRenew,
    "a_former_owner_is_refused_also_when_nobody_owns_the_run_any_more": ForgetsWhoWasBefore,
    "an_owner_whose_lease_ran_out_goes_on_where_nobody_took_over": EndsAnOwnersWorkWithItsLease,
    "without_a_token_a_run_is_added_to_where_no_lease_holds": InsistsOnTokens,
    "a_lease_comes_to_its_end_by_itself": LeasesForEver,
    "of_many_who_take_a_run_at_once_one_gets_it": LooksThenTakes,
    "who_has_a_run_is_told_also_when_the_lease_is_over": ForgetsOwnersWithTheirLeases,
    "nobody_owns_a_run_that_is_not_there": LendsRunsThatAreNotThere,
    "what_is_asked_of_a_run_comes_in_order_whoever_owns_it": HearsItsOwnerAlone,
    "what_many_ask_at_once_is_all_kept": CountsRequestsTwice,
    "how_far_a_run_has_come_is_the_fold_over_its_iterations": RemembersNoWords,
    "a_run_that_was_removed_leaves_nothing_and_takes_nothing_else_along": RemovesTheRecordAlone,
    "a_transcript_is_forgotten_alone_or_not_at_all": ForgetsWithoutANote,
    "a_store_is_found_healthy": ComplainsAboutNothing,
}
GIVEN = {"an_event_is_added_once": [2], "any_text_is_taken": "a\0b"}


async def passes(clause: str, store: Right) -> bool:
    test = getattr(StoreConformance(), f"test_{clause}")
    try:
        await (test(store, GIVEN[clause]) if clause in GIVEN else test(store))
    except (Exception, pytest.fail.Exception):  # noqa: BLE001 - whatever a wrong store raises
        return False
    return True


async def test_a_store_that_is_wrong_in_one_thing_is_found_out(subtests: pytest.Subtests):
    for clause, wrong in WRONG.items():
        with subtests.test(clause=clause):
            assert await passes(clause, Right())
            assert not await passes(clause, wrong())


def test_there_is_a_wrong_store_for_every_clause():
    clauses = {
        name.removeprefix("test_")
        for name, _ in inspect.getmembers(StoreConformance, inspect.isfunction)
        if name.startswith("test_")
    }
    assert clauses == WRONG.keys()

"""The durable facts: the run, and the result of each of its iterations.

An `IterationRecord` holds everything that resuming needs; the transcript is kept apart, in the events. Resuming is a
fold over the records: `RunState.after` takes one at a time.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import BaseModel, NonNegativeFloat, NonNegativeInt, PositiveInt, PrivateAttr
from pydantic_core import PydanticSerializationError

from ralph.analysis.result import PAST_KEPT, Analysis, Past
from ralph.decision.breaker import BreakerState
from ralph.decision.claims import Claim, limited, unanswered
from ralph.decision.limits import Spent
from ralph.decision.outcomes import (
    Complete,
    Continue,
    Decision,
    Halt,
    Pause,
    StopReason,
    Streaks,
    awaits_service,
    following,
    needs_user,
)
from ralph.system.text import storable
from ralph.types import evolve
from ralph.types.output import (
    FINGERPRINTS_KEPT,
    Answered,
    Attempt,
    Changes,
    Checkpoint,
    Interrupted,
    Outcome,
    Usage,
    busy,
)
from ralph.types.plan import TaskPlan
from ralph.types.verification import PriorChecks, Verification

_DIED = "Ralph's own process ended in the middle of it"


class PlanCount(BaseModel, frozen=True):
    """The progress of a plan: its non-optional boxes."""

    done: NonNegativeInt
    total: NonNegativeInt

    @classmethod
    def of(cls, plan: TaskPlan | None) -> "PlanCount | None":
        """Return the count of a plan; None without one."""
        return None if plan is None else cls(done=plan.done, total=plan.total)


class Owner(BaseModel, frozen=True):
    """The process that has a run.

    Attributes:
        token: its identity in the store; another one each time that a run is taken up.
        host: the name of its machine, for the user.
        machine: the boot and the process namespace of its machine: only there do the other numbers mean anything.
        pid: its number.
        created: when it was started, in seconds since 1970, for the user.
        start: the same as `ralph.system.process_tree.start_of` counts it, which setting the clock does not move.
        mark: the prefix of the marks of everything that it starts.
    """

    token: str
    host: str = ""
    machine: str = ""
    pid: int = 0
    created: float = 0.0
    start: str = ""
    mark: str = ""


class IterationRecord(BaseModel, frozen=True):
    """The result of one iteration.

    Attributes:
        number: counted from 1, the rate-limited ones included.
        text: the agent's answer, masked.
        partial: its last message in a turn that did not come to its end; never read for completion.
        duration: in seconds, verification included.
        progressed: whether workspace or plan moved; None if unknown.
        fingerprint: of the workspace when the iteration was over: verifiers may have left files after `changes`.
        checkpoint: of the workspace at that time.
        claim: the claim that the exit strategy saw; its evidence is the decision's.
        lost: what the run has removed of the user's so far.
        heard: the last request with a message that an agent has been given, in this iteration or before.
        spent, tally, breaker, checks: of the run, this iteration included.
    """

    run_id: str
    number: PositiveInt
    started_at: datetime
    finished_at: datetime
    text: str = ""
    partial: str = ""
    executor: str = ""
    model: str | None = None
    session_id: str | None = None
    outcome: Outcome
    attempts: tuple[Attempt, ...] = ()
    usage: Usage = Usage()
    duration: NonNegativeFloat = 0.0
    tool_calls: NonNegativeInt = 0
    denials: NonNegativeInt = 0
    diagnostics: str = ""
    changes: Changes = Changes()
    fingerprint: str | None = None
    checkpoint: Checkpoint = Checkpoint()
    plan: PlanCount | None = None
    progressed: bool | None = None
    analysis: Analysis = Analysis()
    claim: Claim | None = None
    verification: Verification | None = None
    heard: NonNegativeInt = 0
    breaker: BreakerState = BreakerState()
    decision: Decision
    spent: Spent = Spent()
    tally: Streaks = Streaks()
    checks: PriorChecks = PriorChecks()

    @property
    def past(self) -> Past:
        """The part that later analyses need."""
        at_work = busy(self.tool_calls, self.denials)
        return Past.of(self.text, self.analysis, denied=self.denials > 0, progressed=self.progressed, busy=at_work)

    @property
    def limited(self) -> bool:
        """True if it met a limit of the service, or an outage that is waited for, and so counts against nothing."""
        return awaits_service(self.decision) or limited(self.outcome, self.analysis, progressed=self.progressed)

    @property
    def unanswered(self) -> bool:
        """True if the service failed before the agent had used a tool."""
        return unanswered(self.outcome, self.tool_calls)

    @property
    def silent(self) -> bool:
        """True if the agent said nothing: it was limited, or the service did not answer."""
        return (self.limited and not self.text) or self.unanswered


class _History:
    """The iterations that a record carries along; they are no part of its value."""

    def __init__(self, iterations: tuple[IterationRecord, ...] = ()) -> None:
        self.iterations = iterations

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _History)

    __hash__ = None  # pyright: ignore[reportAssignmentType]


class RunRecord(BaseModel, frozen=True):
    """A run as a whole.

    Attributes:
        masked: the task is stored with *** in the place of what looks like a secret.
        origin: the folder that the workspace is a worktree of, if Ralph made one for the run.
        onto: the branch that was checked out there, which the worktree's branch is merged into; None without one.
        imported: it is a copy of a run in another store, and its checkpoints are not this store's to remove.
        settings: as they were in force when it started, without secrets.
        state: "running" also of a run that crashed; `owner` says which process had it, `pid` its number alone.
        apart: paths in the workspace that Ralph itself has written in any process of the run, such as the store.
        fingerprint, plan: of workspace and plan before the first iteration.
        checkpoint: the commit that holds the workspace of that time; None if none exists.
        checks: the results of the verifiers before the first iteration.
        problems: of plug-ins and observers that failed and were left out; at most twenty.
        forgotten: the number of messages and tool calls that were removed from its events to make room.
        pruned: why and when its checkpoints were removed; empty if they were not.
        breaker: as the user has reset it after iteration `reset_after`; None if it was not reset.
        interrupted: the iteration that a crash cut off; it is done again.
        limits_set: for each limit, the last request to extend it that its present value includes.
        stop_reason: None until it has ended.
        verified: whether a check went from failing to passing, or a fresh review confirmed the completion.
        already_green: every check passes, but each did before the first iteration.
        verified_by: what supports a completion, in words.
        detail: why it ended, in words.
        still_open: what spoke against a completion and was overruled.
        lost: what the run removed of the user's, the first twenty.
        executors: iterations answered by each.
        denials: tool calls that the permission policy denied.
    """

    id: str
    task: str
    masked: bool = False
    workspace: str | None = None
    origin: str | None = None
    onto: str | None = None
    imported: bool = False
    settings: dict[str, Any] = {}
    started_at: datetime
    pid: int = 0
    owner: Owner | None = None
    state: Literal["running", "paused", "finished"] = "running"
    apart: tuple[str, ...] = ()
    fingerprint: str | None = None
    checkpoint: str | None = None
    plan: TaskPlan | None = None
    checks: PriorChecks = PriorChecks()
    problems: tuple[str, ...] = ()
    forgotten: NonNegativeInt = 0
    pruned: str = ""
    breaker: BreakerState | None = None
    reset_after: NonNegativeInt = 0
    interrupted: NonNegativeInt = 0
    limits_set: dict[str, int] = {}
    finished_at: datetime | None = None
    stop_reason: StopReason | None = None
    verified: bool = False
    already_green: bool = False
    verified_by: str = ""
    detail: str = ""
    still_open: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    iterations: NonNegativeInt = 0
    executors: dict[str, int] = {}
    usage: Usage = Usage()
    denials: NonNegativeInt = 0
    duration: NonNegativeFloat = 0.0
    _history: _History = PrivateAttr(default_factory=_History)

    @property
    def history(self) -> tuple[IterationRecord, ...]:
        """The finished iterations, oldest first; of a run with more than a thousand, the last thousand.

        Only a record that `Runner.run` or `Runner.resume` returned has them; for others ask `Store.iterations`.
        """
        return self._history.iterations

    @property
    def last_reply(self) -> str:
        """The agent's last message; empty if no iteration finished, or without `history`."""
        return self.history[-1].text if self.history else ""

    def with_history(self, iterations: Iterable[IterationRecord]) -> "RunRecord":
        """Return a copy that has these iterations as its `history`."""
        copy = self.model_copy()
        copy._history = _History(tuple(iterations))  # noqa: SLF001 # pyright: ignore[reportAttributeAccessIssue] - frozen
        return copy


class Trace(BaseModel, frozen=True):
    """The part of an iteration that folding needs, however old it is: a hundred bytes instead of kilobytes.

    Attributes:
        limited: it met a limit of the service.
        marks: the workspace's fingerprints after it.
        ticked: boxes of the plan; None without a plan.
        answered: its executor completed the turn.
        remembered: the kind of iterations that its words are compared with; empty if they are not.
        lost: what it removed of the user's.
        steers: it left guidance for the next one. An iteration without an answer of the service leaves the guidance as
            it was, as no agent has followed it yet.
    """

    number: PositiveInt
    limited: bool = False
    marks: tuple[str, ...] = ()
    ticked: NonNegativeInt | None = None
    executor: str = ""
    answered: bool = False
    session_id: str | None = None
    remembered: Literal["", "limited", "worked"] = ""
    steers: bool = False
    lost: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: IterationRecord) -> "Trace":
        """Return the trace of an iteration."""
        limited = record.limited
        kind = "limited" if record.analysis.state == "limited" else "worked"
        return cls(
            number=record.number,
            limited=limited,
            marks=tuple(mark for mark in dict.fromkeys((record.changes.fingerprint, record.fingerprint)) if mark),
            ticked=record.plan.done if record.plan else None,
            executor=record.executor,
            answered=isinstance(record.outcome, Answered),
            session_id=record.session_id,
            remembered="" if record.silent else kind,
            steers=following(record.decision) is not None and not record.unanswered,
            lost=record.changes.lost,
        )


def weighty(traces: Sequence[Trace]) -> frozenset[int]:
    """Return the numbers of the iterations that a fold needs whole; of the others the traces are enough."""
    kinds = [[trace.number for trace in traces if trace.remembered == kind] for kind in ("limited", "worked")]
    steering = [trace.number for trace in traces if trace.steers]
    last = [trace.number for trace in traces[-1:]]
    return frozenset((*kinds[0][-PAST_KEPT:], *kinds[1][-PAST_KEPT:], *steering[-1:], *last))


class RunState(BaseModel, frozen=True):
    """The state that the next iteration starts from: a fold over the records.

    Attributes:
        fingerprints: of the workspace by iteration, oldest first, the one before the run in front, the last ten kept.
        baseline: the fingerprint before the run; None if unknown.
        boxes_ticked: the most boxes of the plan that were ticked at any time: ticking one again is no progress.
        checks: the results of the run's checks so far.
        errors: of the verifiers that refuted the last claim, if it was made in the last iteration that did any work.
        cut_short: how the last turn ended, if it had used tools, or a crash cut it off, and neither the agent nor
            `guidance` says so.
        heard: the last request with a message that an agent has been given.
        at: when the last iteration was over; None before the first.
        guidance: for the next iteration's agent; a rate limit and an outage leave it as it was.
    """

    number: NonNegativeInt = 0
    spent: Spent = Spent()
    streaks: Streaks = Streaks()
    breaker: BreakerState = BreakerState()
    baseline: str | None = None
    fingerprints: tuple[tuple[str, ...], ...] = ()
    boxes_ticked: NonNegativeInt = 0
    past: tuple[Past, ...] = ()
    checks: PriorChecks = PriorChecks()
    errors: tuple[str, ...] = ()
    session_id: str | None = None
    session_executor: str = ""
    executors: dict[str, int] = {}
    cut_short: str = ""
    lost: tuple[str, ...] = ()
    heard: NonNegativeInt = 0
    at: datetime | None = None
    guidance: Continue = Continue()
    decision: Decision | None = None

    @classmethod
    def of(cls, run: RunRecord, records: Iterable[IterationRecord | Trace] = ()) -> "RunState":
        """Return the state after the iterations of a run so far, the `weighty` ones whole."""
        fingerprints = ((run.fingerprint,),) if run.fingerprint else ()
        ticked = run.plan.done if run.plan else 0
        state = cls(baseline=run.fingerprint, fingerprints=fingerprints, boxes_ticked=ticked, checks=run.checks)
        for record in records:
            state = state.passed(record) if isinstance(record, Trace) else state.after(record)
        if run.breaker is not None and run.reset_after == state.number:
            state = evolve(state, breaker=run.breaker)
        if run.interrupted > state.number:
            state = evolve(state, cut_short=_DIED)
        return state

    def after(self, record: IterationRecord) -> "RunState":
        """Return the state after one more iteration."""
        trace = Trace.of(record)
        update: dict[str, Any] = {
            **self._passing(trace),
            "spent": record.spent,
            "streaks": record.tally,
            "breaker": record.breaker,
            "checks": record.checks,
            "cut_short": _cut_short(record),
            "heard": record.heard,
            "at": record.finished_at,
            "guidance": following(record.decision) if trace.steers else self.guidance,
            "decision": record.decision,
        }
        if trace.remembered:
            update["past"] = _remembered(self.past, record.past)
        if trace.remembered == "worked" and not trace.limited:
            update["errors"] = record.verification.errors if record.verification is not None else ()
        if needs_user(record.decision):
            update["breaker"] = BreakerState(trips=record.breaker.trips)
            update["past"] = tuple(one for one in self.past if one.state == "limited")
        return evolve(self, **update)

    def passed(self, trace: Trace) -> "RunState":
        """Return the state after one more iteration of which only its trace matters."""
        return evolve(self, **self._passing(trace))

    def _passing(self, trace: Trace) -> dict[str, Any]:
        update: dict[str, Any] = {"number": trace.number, "fingerprints": self._seen(trace)}
        if trace.lost:
            update["lost"] = tuple(dict.fromkeys((*self.lost, *trace.lost)))
        if trace.ticked is not None:
            update["boxes_ticked"] = max(self.boxes_ticked, trace.ticked)
        if trace.session_id is not None or not trace.limited:
            update |= {"session_id": trace.session_id, "session_executor": trace.executor}
        if trace.executor and trace.answered:
            update["executors"] = {**self.executors, trace.executor: self.executors.get(trace.executor, 0) + 1}
        return update

    def _seen(self, trace: Trace) -> tuple[tuple[str, ...], ...]:
        """Return the workspace's states with the iteration's own; waiting for a rate limit pushes out no older ones."""
        if not trace.limited:
            return (*self.fingerprints, trace.marks)[-FINGERPRINTS_KEPT:]
        *before, last = self.fingerprints or ((),)
        return (*before, tuple(dict.fromkeys((*last, *trace.marks)))[-FINGERPRINTS_KEPT:])

    def as_of(self, now: datetime) -> "RunState":
        """Return the state at a time; if the clock was set back since the last iteration, no wait becomes longer."""
        with suppress(OverflowError, TypeError):  # a store may hold a time of the year 9999, or without a zone
            return self if self.at is None else self.dated_back(self.at - now)
        return self

    def dated_back(self, by: timedelta) -> "RunState":
        """Return the state after the clock was set back by some time; unchanged if it was not."""
        if by <= timedelta(0):
            return self
        breaker, paused = self.breaker, self.paused
        opened = breaker.opened_at and breaker.opened_at - by
        update: dict[str, Any] = {
            "spent": evolve(self.spent, calls=tuple(call - by for call in self.spent.calls)),
            "breaker": evolve(breaker, opened_at=opened),
        }
        if paused is not None:
            update["decision"] = evolve(paused, until=paused.until - by)
        return evolve(self, **update)

    @property
    def ended(self) -> Complete | Halt | None:
        """The decision that ended the run, if one did."""
        return self.decision if isinstance(self.decision, Complete | Halt) else None

    @property
    def paused(self) -> Pause | None:
        """The pause that the run is in, if it is in one."""
        return self.decision if isinstance(self.decision, Pause) else None


def as_json(record: BaseModel, *, exclude_defaults: bool = False) -> str:
    """Return the record as one line of JSON."""
    try:
        return record.model_dump_json(exclude_defaults=exclude_defaults)
    except PydanticSerializationError:  # a lone surrogate
        kept = record.model_dump(mode="json", exclude_defaults=exclude_defaults)
        return storable(json.dumps(kept, ensure_ascii=False))


def _remembered(before: tuple[Past, ...], last: Past) -> tuple[Past, ...]:
    """Return the iterations that later analyses see; those at a limit push no others out."""
    past = (*before, last)
    kind = [index for index, one in enumerate(past) if (one.state == "limited") is (last.state == "limited")]
    return past if len(kind) <= PAST_KEPT else (*past[: kind[0]], *past[kind[0] + 1 :])


def _cut_short(record: IterationRecord) -> str:
    """Return how the turn was cut short, if the next agent does not know it yet; otherwise empty."""
    if not record.tool_calls:
        return ""
    if record.limited:
        return "it was rate limited"
    if not isinstance(record.outcome, Interrupted):
        return ""
    reported = record.outcome.by == "circles" and following(record.decision) is not None
    return "" if reported else "it was ended before its time"

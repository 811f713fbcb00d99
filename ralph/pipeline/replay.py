"""A recorded run through the real pipeline, without an agent: where it ends, and what ending there saves and cuts.

A `Pass` is one recorded turn; everything that is not known of it stays None. `Loop` does what `Runner` does after a
turn, over turns that were taken elsewhere. `Replay` feeds it a recorded run, pass by pass, and adds up what stopping
there would have saved and cut.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import AwareDatetime, BaseModel, NonNegativeFloat, NonNegativeInt

from ralph.analysis.result import Evidence
from ralph.decision.breaker import BreakerState
from ralph.decision.outcomes import Complete, Decision, Halt, StopReason, awaits_service, following, held_by
from ralph.pipeline.evaluate import UNKNOWN, Progress, Rules, assess, evaluate, measure_progress
from ralph.records.record import IterationRecord, PlanCount, RunRecord, RunState
from ralph.system.text import pattern
from ralph.types import evolve
from ralph.types.output import (
    FINGERPRINTS_KEPT,
    Answered,
    Attempt,
    Changes,
    Failed,
    FailureKind,
    Message,
    Outcome,
    Output,
    ToolCall,
    Usage,
)
from ralph.types.plan import PlanItem, TaskPlan
from ralph.types.verification import Verification

_READ = 2_000
_FEW = 9
"""The most allowed tool calls that a turn of unknown calls is taken to have made; ten are a busy turn."""
_SHOWN = 300

_WORDS: dict[FailureKind, str] = {
    "rate_limited": (
        r"rate.?limit|too many requests|\b429\b|\b402\b|quota|(?:usage|session|hour|daily|weekly|requests?) limit|"
        r"(?:hit|reached|exceeded) (?:your|the) [\w ]{0,20}limit|credit balance|insufficient.{0,9}(?:credit|funds)|"
        r"限流|限额|额度|配额|用量上限|请求过于频繁|請求過於頻繁|額度|配額"
    ),
    "auth": (
        r"\b401\b|not (?:logged in|authenticated)|authentication.?(?:error|failed)|invalid (?:api key|x-api-key)|"
        r"please run /login|oauth token (?:has )?expired"
    ),
    "unavailable": (
        r"\b(?:error|http|status|code)\W{1,3}5\d\d\b|\b5\d\d\W{1,2}(?:bad|gateway|internal|overloaded|server|service)|"
        r"overloaded|unavailable|connection|network|econnre|enotfound|fetch failed"
    ),
    "refused": (
        r"\b(?:error|http|status|code)\W{1,3}4\d\d\b|(?:prompt|conversation|input)\b[^.]{0,40}? too long|"
        r"context (?:length|limit|window)|forbidden|model\b[^.]{0,60}?\b(?:not exist|not found)"
    ),
}
_FAILURES: dict[FailureKind, re.Pattern[str]] = {kind: pattern(words, re.IGNORECASE) for kind, words in _WORDS.items()}


class Moves(BaseModel, frozen=True):
    """The known changes of a pass to the workspace; None is unknown, never zero.

    Attributes:
        fingerprint: of the workspace afterwards; equal for equal states.
    """

    files: NonNegativeInt | None = None
    commits: NonNegativeInt | None = None
    fingerprint: str | None = None


class Pass(BaseModel, frozen=True):
    """One recorded pass of a loop; None is unknown, never zero.

    Attributes:
        text: the agent's last message, storable.
        partial: what it said last in a turn that did not come to its end.
        task: the task; empty if it is not recorded.
        tools: how many tools were called, the denied ones included.
        plan: the checklist afterwards.
        at: when the pass began.
        duration: in seconds.
        took: seconds between its beginning and its end by the clock of the record; None if that is `duration`.
        verification: what verifiers said when the pass was recorded; its usage is part of `usage`.
        left: the workspace's fingerprint after the verifiers had left their files behind.
        resumed: the run had ended before it, and was resumed.
    """

    text: str = ""
    partial: str = ""
    task: str = ""
    outcome: Outcome = Answered()
    attempts: tuple[Attempt, ...] = ()
    tools: NonNegativeInt | None = None
    denials: NonNegativeInt | None = None
    changes: Moves | None = None
    plan: TaskPlan | None = None
    usage: Usage = Usage()
    duration: NonNegativeFloat | None = None
    took: NonNegativeFloat | None = None
    at: AwareDatetime | None = None
    verification: Verification | None = None
    left: str | None = None
    resumed: bool = False

    @property
    def moved(self) -> bool | None:
        """True if the pass changed the workspace, as far as counts say: without a tool it cannot have done so."""
        counts = (self.changes.files, self.changes.commits) if self.changes else (None, None)
        if any(counts):
            return True
        return False if counts[0] == 0 or self.tools == 0 else None

    @property
    def output(self) -> Output:
        """The turn as an executor would have returned it; of its tools only the number is known.

        A turn with an unknown number of calls is taken to have made a few more than it was denied: it may have changed
        something, unless it was denied many. A service that did not answer made none.
        """
        denied = self.denials or 0
        silent = isinstance(self.outcome, Failed) and self.outcome.failure == "unavailable"
        guessed = 0 if silent else min(denied + 1, _FEW)
        allowed = guessed if self.tools is None else max(self.tools - denied, 0)
        return Output(
            text=self.text,
            messages=(Message(text=self.partial),) if self.partial else (),
            tool_calls=ToolCall.unnamed(allowed, denied),
            usage=self.usage,
            outcome=self.outcome,
            attempts=self.attempts,
            duration=self.duration or 0.0,
        )


def recorded_run(run: RunRecord) -> RunRecord:
    """Return a stored run as it was before its first pass; of its plan only the numbers, as of those after it."""
    count = PlanCount.of(run.plan)
    return evolve(run, plan=None if count is None else _boxes(count), breaker=None)


def recorded_pass(record: IterationRecord, *, resumed: bool = False) -> Pass:
    """Return an iteration of a stored run as a pass: the measurements count, the reply is judged anew.

    Args:
        resumed: the run had ended before it.
    """
    changes, verification = record.changes, record.verification
    if verification is not None:
        verdicts = tuple(evolve(verdict, usage=Usage()) for verdict in verification.verdicts)
        verification = evolve(verification, verdicts=verdicts)
    return Pass(
        text=record.text,
        partial=record.partial,
        outcome=record.outcome,
        attempts=record.attempts,
        tools=record.tool_calls,
        denials=record.denials,
        changes=Moves(files=changes.files_changed, commits=changes.commits, fingerprint=changes.fingerprint)
        if changes.known
        else None,
        plan=None if record.plan is None else _boxes(record.plan),
        usage=record.usage,
        duration=record.duration,
        took=max(0.0, (record.finished_at - record.started_at).total_seconds()),
        at=record.started_at,
        verification=verification,
        left=record.fingerprint,
        resumed=resumed,
    )


def _boxes(count: PlanCount) -> TaskPlan:
    numbers = range(1, count.total + 1)
    return TaskPlan(items=tuple(PlanItem(text=f"box {number}", ticked=number <= count.done) for number in numbers))


def failure_of(error: str) -> Failed:
    """Classify an error text by its wording.

    It is a rate limit, a missing login, a service that does not answer, or a refused request; else a crash.
    """
    said = " ".join(error[:_READ].split())
    for kind, words in _FAILURES.items():
        if words.search(said):
            return Failed(failure=kind, message=said[:_SHOWN])
    return Failed(failure="crashed", message=said[:_SHOWN])


_UNNAMED = "\0"
"""The first character of the marks that stand for states of the workspace without a known fingerprint."""

_TIMELESS = datetime(2000, 1, 1, tzinfo=UTC)
"""The time of passes without a time."""

_LATEST = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Loop:
    """A run without an agent, turn by turn; its state is a fold over the records, as that of a live run.

    Attributes:
        plan_known: the plan before the run is known.
    """

    rules: Rules
    run: RunRecord
    state: RunState
    plan_known: bool = False
    _named: bool = False

    @classmethod
    def recorded_elsewhere(cls, rules: Rules, name: str, task: str = "") -> "Loop":
        """Return the loop of a run that is measured by its passes alone."""
        run = RunRecord(id=name, task=task, started_at=_TIMELESS, fingerprint=f"{_UNNAMED}start")
        return cls(rules, run, RunState.of(run))

    def measure(self, taken: Pass, number: int) -> tuple[Progress, str]:
        """Return the progress of a pass of such a run, and the mark of the workspace that it leaves behind."""
        moves, fresh = taken.changes or Moves(), f"{_UNNAMED}{number}"
        mark = self._mark(taken, fresh)
        if mark is None and (self.state.baseline or "").startswith(_UNNAMED):
            self.state = evolve(self.state, baseline=None)
        if taken.plan is not None and not self.plan_known:
            self.plan_known = True
            self.run = evolve(self.run, plan=taken.plan)
            self.state = evolve(self.state, boxes_ticked=taken.plan.done)
        run = evolve(self.run, plan=None) if taken.plan is None else self.run
        progress = measure_progress(run, self.state, _changes(moves, mark), taken.plan)
        return progress, taken.left or moves.fingerprint or mark or fresh

    def _mark(self, taken: Pass, fresh: str) -> str | None:
        """Return a mark of the workspace after a pass: equal for equal states, None if nothing is known."""
        state, moved = self.state, taken.moved
        last = state.fingerprints[-1][-1]
        named = taken.changes.fingerprint if taken.changes else None
        if named is None:
            return fresh if moved else last if moved is False else None
        first, self._named = not self._named, True
        if not first or moved:
            return named
        if moved is None:  # there is nothing to compare it with
            return None
        baseline = named if state.baseline == last else state.baseline
        self.state = evolve(state, baseline=baseline, fingerprints=(*state.fingerprints, (named,)))
        return named

    def judge(
        self,
        output: Output,
        progress: Progress = UNKNOWN,
        *,
        at: datetime,
        until: datetime | None = None,
        verification: Verification | None = None,
        fingerprint: str | None = None,
    ) -> IterationRecord:
        """Return the record of the next iteration; `state` stays as it is until `accept` is called with it.

        Args:
            output: with a storable text.
            at, until: when the turn began and ended; without the latter it took no time.
            verification: what verifiers say of a claim, if one is made that they would be asked about.
            fingerprint: of the workspace when the iteration was over.
        """
        assessed = assess(self.rules, self.run, self.state, output, progress)
        return evaluate(
            self.rules,
            self.run,
            self.state,
            assessed,
            verification=verification if assessed.to_verify(self.state) else None,
            fingerprint=fingerprint,
            started_at=at,
            at=until or at,
            duration=output.duration,
        )

    def accept(self, record: IterationRecord) -> None:
        """Continue after an iteration."""
        self.state = self.state.after(record)


@dataclass(frozen=True, slots=True)
class Step:
    """The decision after a pass.

    Attributes:
        index: of the pass in its run, from 0.
        breaker: its state then: closed, open or half_open.
        progressed: whether the pass moved workspace or plan; None if that is unknown.
        pivot: how the loop goes in circles, so that the next pass would have been told to change its approach; empty
            otherwise.
    """

    index: int
    decision: Literal["continue", "complete", "halt", "pause"]
    reason: str
    breaker: str
    progressed: bool | None = None
    pivot: str = ""


@dataclass(slots=True)
class Replayed:
    """The result of a replay.

    Attributes:
        run: its name; None if the passes have none.
        passes: how many there are in all.
        stopped_at: the index of the pass after which the run ends, from 0; None if it continues to the end.
        resumed: the indices of passes before which a stored run was resumed after an earlier end.
        steps: of the passes that were judged, in order; those that a pause skips are not.
        skipped: rate-limited passes that a pause would have waited out.
        evidence: of the decision that ends the run.
        cost: of all passes, in US dollars, as far as known.
        costless: passes with an unknown cost.
        saved, saved_cost: the passes after an end, and what they cost, as far as known.
        saved_costless: how many of those have no known cost.
        cut: passes after an end that are known to have moved workspace or plan.
        cut_unknown: passes after an end of which that is unknown.
        bounded: whether a limit on the number of iterations applied.
    """

    run: str | None = None
    passes: int = 0
    stopped_at: int | None = None
    stop_reason: StopReason | None = None
    resumed: list[int] = field(default_factory=list[int])
    steps: list[Step] = field(default_factory=list[Step])
    skipped: int = 0
    evidence: tuple[Evidence, ...] = ()
    cost: float = 0.0
    costless: int = 0
    saved: int = 0
    saved_cost: float = 0.0
    saved_costless: int = 0
    cut: int = 0
    cut_unknown: int = 0
    bounded: bool = False


class Replay:
    """The replay of one run, which takes its passes in order. Its memory grows only by one step for each.

    An end holds for all passes that follow, unless a stored run was resumed: that one continues with all that was
    counted, as `ralph resume` does.

    Args:
        run: the record of a run of Ralph's own before its first pass. Such a run has waited for its rate limits itself,
            and its measurements are taken as they are. Without it the first recorded plan stands for the plan before
            the run, and limited passes after a limited one are skipped, as Ralph would have waited; those without a
            login only if they are known to have begun before the end of its pause.
    """

    def __init__(self, rules: Rules, name: str | None = None, run: RunRecord | None = None) -> None:
        self._own = run is not None
        self._loop = Loop(rules, run, RunState.of(run)) if run else Loop.recorded_elsewhere(rules, "replay")
        self._now = self._ended = self._earliest = _TIMELESS
        self._waits = False
        self._last = 0
        self._result = Replayed(name, bounded=rules.limits.max_iterations is not None)

    @property
    def result(self) -> Replayed:
        """The result so far."""
        return self._result

    def add(self, taken: Pass) -> None:
        """Judge one more pass."""
        result, index = self._result, self._result.passes
        result.passes += 1
        result.cost += taken.usage.cost or 0.0
        result.costless += taken.usage.cost is None
        if taken.resumed and self._can_resume():
            self._resume(taken, index)
        if taken.task and not self._loop.run.task:
            self._loop.run = evolve(self._loop.run, task=taken.task)
        if result.stopped_at is None:
            self._wait(taken)
        if result.stopped_at is None:
            self._judge(taken, index)
        else:
            self._count_saved(taken)

    def _can_resume(self) -> bool:
        """Return whether the run has ended in a way that allows resuming: not completed, and no limit still holds."""
        if self._result.stop_reason == "limit_reached":
            limit = self._loop.rules.limits.reached(self._loop.state.spent, self._now)
            return limit is None or not isinstance(held_by(limit), Halt)
        return self._result.stop_reason not in {None, "completed"}

    def _resume(self, taken: Pass, index: int) -> None:
        result, loop = self._result, self._loop
        breaker, state = loop.rules.breaker, loop.state.breaker
        reset = breaker.cooled(state, taken.at or self._now).state == "open"  # the user has reset it then
        loop.state = evolve(loop.state, decision=None, breaker=breaker.reset(state) if reset else state)
        result.resumed.append(index)
        result.stopped_at, result.stop_reason, result.evidence = None, None, ()
        self._waits = False

    def _wait(self, taken: Pass) -> None:
        """Advance the clock to the beginning of a pass: the recorded time, but not before the end of a pause.

        During a pause a limit of the run may be reached. Passes without a time are all at the same moment.
        """
        loop, limits = self._loop, self._loop.rules.limits
        while (pause := loop.state.paused) is not None:
            until = min(pause.until, limits.ends(loop.state.spent, self._ended) or pause.until)
            spent = loop.state.spent.waited((until - self._ended).total_seconds())
            self._now = self._ended = self._earliest = min(max(self._ended, until), _LATEST)
            limit = limits.reached(spent, self._now)
            held = held_by(limit) if limit else None
            loop.state = evolve(loop.state, spent=spent, decision=held)
            if isinstance(held, Halt):
                self._note(held, loop.state.breaker)
                return
        self._now = min(max(self._earliest, taken.at or self._now), _LATEST)

    def _judge(self, taken: Pass, index: int) -> None:
        progress, left = self._measure(taken)
        took = taken.duration or 0.0 if taken.took is None else taken.took
        ended = self._now + timedelta(seconds=min(took, (_LATEST - self._now).total_seconds()))
        record = self._loop.judge(
            taken.output, progress, at=self._now, until=ended, verification=taken.verification, fingerprint=left
        )
        waits = awaits_service(record.decision)
        early = taken.at is not None and taken.at < self._earliest and record.tally.limited > 0
        if (waits or early) and self._waits and not self._own:
            self._result.skipped += 1
            self._remember(progress, left)
            return
        self._waits, self._last, self._ended = waits, index, ended
        self._loop.accept(record)
        self._note(record.decision, record.breaker, progressed=record.progressed)

    def _count_saved(self, taken: Pass) -> None:
        """Add up a pass after the end, which matters only by its cost and its progress."""
        progress, left = self._measure(taken)
        self._result.saved += 1
        self._result.saved_cost += taken.usage.cost or 0.0
        self._result.saved_costless += taken.usage.cost is None
        self._result.cut += progress.progressed is True
        self._result.cut_unknown += progress.progressed is None
        self._remember(progress, left)

    def _remember(self, progress: Progress, left: str | None) -> None:
        """Remember what a pass that is not judged has left behind, so that it is no progress of a later one."""
        state = self._loop.state
        *before, last = state.fingerprints or ((),)
        marks = tuple(dict.fromkeys((*last, *(mark for mark in (progress.changes.fingerprint, left) if mark))))
        boxes = max(state.boxes_ticked, progress.plan.done) if progress.plan else state.boxes_ticked
        self._loop.state = evolve(state, fingerprints=(*before, marks[-FINGERPRINTS_KEPT:]), boxes_ticked=boxes)

    def _note(self, decision: Decision, breaker: BreakerState, *, progressed: bool | None = None) -> None:
        result, guidance = self._result, following(decision)
        pivot = guidance.pivot if guidance else ""
        result.steps.append(Step(self._last, decision.kind, decision.reason, breaker.state, progressed, pivot))
        if isinstance(decision, Complete | Halt):
            result.stopped_at = self._last
            result.stop_reason = decision.stop_reason if isinstance(decision, Halt) else "completed"
            result.evidence = decision.evidence
            past = self._loop.state.past if self._own else ()  # for many runs it would be too much
            self._loop.state = evolve(self._loop.state, past=past)

    def _measure(self, taken: Pass) -> tuple[Progress, str | None]:
        loop, moves = self._loop, taken.changes or Moves()
        if self._own:
            return measure_progress(loop.run, loop.state, _changes(moves, moves.fingerprint), taken.plan), taken.left
        return loop.measure(taken, self._result.passes)


def _changes(moves: Moves, fingerprint: str | None) -> Changes:
    return Changes(fingerprint=fingerprint, files_changed=moves.files or 0, commits=moves.commits or 0)

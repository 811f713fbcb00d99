"""A recorded run through the loop: where it ends, and what ending there saves and cuts."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from ralph.analysis.result import Evidence
from ralph.decision.breaker import BreakerState
from ralph.decision.outcomes import Complete, Decision, Halt, Pause, StopReason, following, held_by
from ralph.pipeline.evaluate import Progress, progress
from ralph.pipeline.replay.loop import Judging, Loop
from ralph.pipeline.replay.passes import Pass
from ralph.records.record import RunRecord
from ralph.types import evolve
from ralph.types.changes import FINGERPRINTS_KEPT, Changes

__all__ = ["Replay", "Replayed", "Step"]

_UNNAMED = "\0"
"""Begins the marks that stand for states of the workspace whose fingerprint nobody told."""

_TIMELESS = datetime(2000, 1, 1, tzinfo=UTC)
"""Where the clock of passes without a time stands."""

_LATEST = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Step:
    """What followed from a pass.

    Attributes:
        index: of the pass in its run, from 0.
        breaker: where it stood then: closed, open or half_open.
        progressed: whether the pass moved workspace or plan; None where that is unknown.
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
    """What became of a recorded run.

    Attributes:
        run: its name; None where the passes have none.
        passes: how many there are in all.
        stopped_at: the index of the pass after which it ends, from 0; None where it goes on to the end of the record.
        resumed: the indices of passes before which a stored run was resumed after an earlier end.
        steps: of the passes that were looked at, in order; those that a pause skips are not.
        skipped: rate-limited passes that a pause would have waited out.
        evidence: of the decision that ends it.
        cost: of all passes, in US dollars, as far as known.
        costless: passes whose cost is not known.
        saved, saved_cost: the passes after an end, and what they cost, as far as known.
        saved_costless: how many of those have no known cost.
        cut: passes after an end that are known to have moved workspace or plan.
        cut_unknown: passes after an end of which nobody knows that.
        bounded: whether a limit on the number of iterations held.
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
    """Hears the passes of one run in order. Its memory does not grow with them but for one step each.

    What ends a run ends it for all passes that follow, unless it is a stored run that was resumed: that one goes on
    with all that was counted, as `ralph resume` does.

    Args:
        run: of a run of ours: its task, workspace and plan before its first pass. Such a run has waited for its
            rate limits itself. Without it the first plan that is told stands for that before the run, and limited
            passes after a limited one are skipped, for Ralph would have waited; those without a login only where they
            are known to have begun before the end of its pause.
    """

    def __init__(self, judging: Judging, name: str | None = None, run: RunRecord | None = None) -> None:
        self._plan_known = self._waited_itself = run is not None
        run = run or RunRecord(id="replay", task="", started_at=_TIMELESS)
        self._named = run.fingerprint is not None
        if not self._named:
            run = evolve(run, fingerprint=f"{_UNNAMED}start")
        self._loop = Loop.over(judging, run)
        self._now = self._ended = self._earliest = _TIMELESS
        self._waits = False
        self._last = 0
        self._result = Replayed(name, bounded=judging.rules.limits.max_iterations is not None)

    @property
    def result(self) -> Replayed:
        """What became of the run so far."""
        return self._result

    def hear(self, heard: Pass) -> None:
        """One more pass."""
        result, index = self._result, self._result.passes
        result.passes += 1
        result.cost += heard.usage.cost or 0.0
        result.costless += heard.usage.cost is None
        if heard.resumed and self._can_go_on():
            self._take_up(heard, index)
        if heard.task and not self._loop.run.task:
            self._loop.run = evolve(self._loop.run, task=heard.task)
        if result.stopped_at is None:
            self._wait(heard)
        if result.stopped_at is None:
            self._judge(heard, index)
        else:
            self._pass_by(heard)

    def _can_go_on(self) -> bool:
        """Whether the run has come to an end after which it can be resumed: not where it is done, or a limit holds."""
        if self._result.stop_reason == "limit_reached":
            limit = self._loop.judging.rules.limits.reached(self._loop.state.spent, self._now)
            return limit is None or not isinstance(held_by(limit), Halt)
        return self._result.stop_reason not in {None, "completed"}

    def _take_up(self, heard: Pass, index: int) -> None:
        """Goes on after an end that was none."""
        result, loop = self._result, self._loop
        breaker, state = loop.judging.rules.breaker, loop.state.breaker
        reset = breaker.cooled(state, heard.at or self._now).state == "open"  # then by a person
        going = {"decision": None, "breaker": breaker.reset(state) if reset else state}
        loop.state = evolve(loop.state, **going)
        result.resumed.append(index)
        result.stopped_at, result.stop_reason, result.evidence = None, None, ()
        self._waits = False

    def _wait(self, heard: Pass) -> None:
        """Lets the time come in which a pass begins: the recorded one, but none before the end of a pause. While that
        lasts, a limit of the run may be reached. Of passes without a time all are at the same moment.
        """
        loop, limits = self._loop, self._loop.judging.rules.limits
        while (pause := loop.state.paused) is not None:
            until = min(pause.until, limits.ends(loop.state.spent, self._ended) or pause.until)
            spent = loop.state.spent.waited((until - self._ended).total_seconds())
            self._now = self._ended = self._earliest = _bounded(max(self._ended, until))
            limit = limits.reached(spent, self._now)
            held = held_by(limit) if limit else None
            loop.state = evolve(loop.state, spent=spent, decision=held)
            if isinstance(held, Halt):
                self._note(held, loop.state.breaker)
                return
        self._now = _bounded(max(self._earliest, heard.at or self._now))

    def _judge(self, heard: Pass, index: int) -> None:
        seen, left = self._look(heard)
        ended = self._now + timedelta(seconds=min(heard.duration or 0.0, (_LATEST - self._now).total_seconds()))
        record = self._loop.judged(
            heard.output, seen, at=self._now, until=ended, verification=heard.verification, fingerprint=left
        )
        waits = isinstance(record.decision, Pause) and record.decision.then is None
        early = heard.at is not None and heard.at < self._earliest and record.tally.limited > 0
        if (waits or early) and self._waits and not self._waited_itself:
            self._result.skipped += 1
            self._remember(seen, left)
            return
        self._waits, self._last, self._ended = waits, index, ended
        self._loop.take(record)
        self._note(record.decision, record.breaker, progressed=record.progressed)

    def _pass_by(self, heard: Pass) -> None:
        """A pass after the end: all that is asked is whether it moved anything."""
        seen, left = self._look(heard)
        self._result.saved += 1
        self._result.saved_cost += heard.usage.cost or 0.0
        self._result.saved_costless += heard.usage.cost is None
        self._result.cut += seen.progressed is True
        self._result.cut_unknown += seen.progressed is None
        self._remember(seen, left)

    def _remember(self, seen: Progress, left: str) -> None:
        """Keeps what a pass that is not judged has left behind: it is no later one's progress."""
        state = self._loop.state
        *before, last = state.fingerprints
        marks = tuple(dict.fromkeys((*last, *(mark for mark in (seen.changes.fingerprint, left) if mark))))
        ticked = max(state.ticked, seen.plan.done) if seen.plan else state.ticked
        self._loop.state = evolve(state, fingerprints=(*before, marks[-FINGERPRINTS_KEPT:]), ticked=ticked)

    def _note(self, decision: Decision, breaker: BreakerState, *, progressed: bool | None = None) -> None:
        result, word = self._result, following(decision)
        pivot = word.pivot if word else ""
        result.steps.append(Step(self._last, decision.kind, decision.reason, breaker.state, progressed, pivot))
        if isinstance(decision, Complete | Halt):
            result.stopped_at = self._last
            result.stop_reason = decision.stop_reason if isinstance(decision, Halt) else "completed"
            result.evidence = decision.evidence
            past = self._loop.state.past if self._waited_itself else ()  # of many runs it would be too much
            self._loop.state = evolve(self._loop.state, past=past)

    def _look(self, heard: Pass) -> tuple[Progress, str]:
        """What a pass moved, and the mark of the workspace that it leaves behind."""
        fresh = f"{_UNNAMED}{self._result.passes}"
        mark = self._mark(heard, fresh)
        loop, told = self._loop, heard.changes
        if mark is None and (loop.state.baseline or "").startswith(_UNNAMED):
            loop.state = evolve(loop.state, baseline=None)
        if heard.plan is not None and not self._plan_known:
            self._plan_known = True
            loop.run = evolve(loop.run, plan=heard.plan)
            loop.state = evolve(loop.state, ticked=heard.plan.done)
        changes = Changes(
            fingerprint=mark, files_changed=told.files or 0 if told else 0, commits=told.commits or 0 if told else 0
        )
        known = heard.plan is not None or loop.run.plan is None
        run = loop.run if known else evolve(loop.run, plan=None)
        left = heard.left or (told.fingerprint if told else None) or mark or fresh
        return progress(run, loop.state, changes, heard.plan), left

    def _mark(self, heard: Pass, fresh: str) -> str | None:
        """What stands for the workspace's state after a pass: equal for equal states, None where nothing is known."""
        state, moved = self._loop.state, heard.moved
        last = state.fingerprints[-1][-1]
        told = heard.changes.fingerprint if heard.changes else None
        if told is None:
            return fresh if moved else last if moved is False else None
        first, self._named = not self._named, True
        if not first or moved:
            return told
        if moved is None:  # there is nothing to compare it with
            return None
        baseline = told if state.baseline == last else state.baseline
        self._loop.state = evolve(state, baseline=baseline, fingerprints=(*state.fingerprints, (told,)))
        return told


def _bounded(moment: datetime) -> datetime:
    """Recorded times are anybody's: those far off must not break the arithmetic with later ones."""
    return min(moment, _LATEST)

"""The ordered table of rules that choose the decision after an iteration.

The first rule that applies decides:

1. cancelled
2. a claim of completion that every verifier passed (or, without verifiers, without any doubt; or that could not be
   verified, twice)
3. a missing login, for the second time: waiting does not help; the first time is a pause like that of a limit
4. rate-limited: a pause, which counts against nothing
5. the executor cannot work
6. blocked: the agent needs the user
7. a limit
8. an outage of a service that has answered before, or that the run has time to wait for: a pause, which counts against
   nothing
9. the breaker is open, unless a lack of progress opened it and one of the next two rules says what it consisted of
10. test saturation
11. stuck for the second time, or with the breaker open; the first time makes the next iteration a pivot, and so does
    every time that the loop only watches what still runs, which may end by itself
12. the calls of an hour are used up: continue when it is over
13. continue
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from ralph.analysis.reset_time import resets_at
from ralph.analysis.stuck import CIRCLES, NO_OP, TESTING, WATCHING
from ralph.decision.backing import backing, named
from ralph.decision.breaker import BreakerState
from ralph.decision.claims import NOTHING_CHANGED, Case, Claim, evidence_of, open_boxes, too_little, waiting
from ralph.decision.limits import DecisionSettings, LimitReached
from ralph.decision.outcomes import (
    LONGEST_WAIT,
    Complete,
    Considered,
    Continue,
    Decision,
    Halt,
    Pause,
    Streaks,
    failure_text,
    feedback,
    held_by,
)
from ralph.system.text import counted
from ralph.types import evolve
from ralph.types.output import Interrupted, TimedOut
from ralph.types.verification import PriorChecks, Verification

_SETTINGS = DecisionSettings()
_ASKING = ("status_blocked", "blocked", "obstacle", "question")
_BELIEVED = 5
"""Rate limits in a row whose named times are believed to the second."""
_OUTAGE_WAIT = 300.0
"""The longest wait between two tries of a service that does not answer, in seconds."""
_OUTAGES = int(LONGEST_WAIT / _OUTAGE_WAIT)
"""Tries in a row of such a service; the run ends with the last one, after some seven days of waiting."""
_SAID = 300
"""Characters of a reply that are given as a reason."""


class Situation(NamedTuple):
    """The facts that a decision rests on.

    Attributes:
        streaks: with this iteration (`Streaks.after`).
        breaker: with this iteration.
        verification: the verdicts on the claim; None if nothing was verified.
        checks: the results of the run's checks before it.
        breaker_ends_run: whether an open breaker stops the run or waits for `breaker_until`.
    """

    case: Case
    streaks: Streaks
    breaker: BreakerState
    at: datetime
    claim: Claim | None = None
    verification: Verification | None = None
    checks: PriorChecks = PriorChecks()
    limit: LimitReached | None = None
    breaker_ends_run: bool = True
    breaker_until: datetime | None = None
    settings: DecisionSettings = _SETTINGS


def decide(situation: Situation) -> Decision:
    """Return the decision of the first rule that applies."""
    for rule in _RULES:
        if (decision := rule.decision(situation)) is not None:
            return decision
    return _continue(situation)


def consider(situation: Situation) -> tuple[Considered, ...]:
    """Return every rule in order, with its decision and the reason; the first one with a decision decides."""
    considered: list[Considered] = []
    for rule in _RULES:
        decision = rule.decision(situation)
        considered.append(Considered(rule.name, decision, decision.reason if decision else rule.silent(situation)))
    otherwise = _continue(situation)
    return (*considered, Considered("continue", otherwise, otherwise.reason))


class _Rule(NamedTuple):
    """One rule of the table: its decision if it applies, else why it does not."""

    name: str
    decision: Callable[[Situation], Decision | None]
    why_not: str | Callable[[Situation], str]

    def silent(self, situation: Situation) -> str:
        return self.why_not if isinstance(self.why_not, str) else self.why_not(situation)


def _cancelled(situation: Situation) -> Halt | None:
    outcome = situation.case.output.outcome
    if isinstance(outcome, Interrupted) and outcome.by == "signal":
        return Halt(stop_reason="cancelled", reason=outcome.detail or "the run was cancelled")
    return None


def _completed(situation: Situation) -> Complete | None:
    claim, verification = situation.claim, situation.verification
    if claim is None or _is_refuted(verification) or _doubted(situation) or _unverified(situation):
        return None
    case = situation.case
    yet = [open_boxes(case.plan.still_open)] if case.plan is not None and case.plan.still_open else []
    if case.changed is False:
        yet.append(NOTHING_CHANGED)
    support = backing(verification, situation.checks, yet=yet, lost=case.lost, changed=case.changed)
    told = support.by if verification is not None or case.lost else "; ".join(f"yet {fact}" for fact in yet)
    return Complete(
        reason="; ".join(filter(None, (claim.reason, told))),
        verified=support.verified,
        already_green=support.already_green,
        verified_by=support.by,
        still_open=claim.doubts,
        evidence=claim.evidence,
    )


def _why_incomplete(situation: Situation) -> str:
    claim, verification = situation.claim, situation.verification
    if claim is None:
        return "the exit strategy sees no claim that the task is done"
    if verification is not None and verification.refuted:
        return f"refuted by {', '.join(f'`{verdict.verifier}`' for verdict in verification.refuted)}"
    if verification is not None and verification.cut_short:
        return f"its verification was cut short: {verification.cut_short}"
    if verification is not None and verification.undecided:
        return f"{named(*(each.verifier for each in verification.undecided))} could not find out whether it holds"
    return f"the claim {waiting(claim.doubts)}"


def _is_refuted(verification: Verification | None) -> bool:
    return verification is not None and bool(verification.refuted)


def _unverified(situation: Situation) -> bool:
    """Return whether a claim waits for its verification: that was cut short, or was undecided for the first time.

    If it is undecided again, the claim stands as it is.
    """
    verification = situation.verification
    if verification is None:
        return False
    return bool(verification.cut_short or (verification.undecided and not situation.streaks.confirming))


def _doubted(situation: Situation) -> bool:
    claim = situation.claim
    return claim is not None and not claim.holds(confirming=situation.streaks.confirming)


def _logged_out(situation: Situation) -> Halt | None:
    case = situation.case
    if situation.streaks.logins < situation.settings.unavailable:
        return None
    reason = f"no one is logged in: {_said(case)}; log in as the agent's own program asks, then resume the run"
    return Halt(stop_reason="executor_unavailable", reason=reason, evidence=evidence_of(case, "limited"))


def _why_logged_in(situation: Situation) -> str:
    return _row(situation.streaks.logins, situation.settings.unavailable, "iterations without a login")


def _limited(situation: Situation) -> Pause | None:
    case, limit = situation.case, situation.limit
    if not case.limited:
        return None
    until = min(_end_of_limit(situation), situation.at + timedelta(seconds=LONGEST_WAIT))
    if limit is not None and limit.until is not None:
        until = max(until, limit.until)
    what = "no one is logged in" if case.logged_out else "rate limited"
    return Pause(until=until, reason=f"{what}: {_said(case)}".rstrip(": "), evidence=evidence_of(case, "limited"))


def _said(case: Case) -> str:
    """Return the service's own words."""
    failure = case.output.failure
    if failure is not None and failure.failure == "rate_limited":
        return failure.message
    return " ".join(case.output.text[:_SAID].split())


def _end_of_limit(situation: Situation) -> datetime:
    """Return the time that the failure or the reply names; else the end of a wait that doubles each time.

    A service with named times that prove too early again and again gets more and more time, up to the first wait
    without a named time: one that always says "at once" would otherwise be asked all night without a pause.
    """
    analysis, settings, failure = situation.case.analysis, situation.settings, situation.case.output.failure
    met = min(max(situation.streaks.limited, 1), 21)
    least = min(2.0 ** max(met - _BELIEVED, 0) - 1, settings.rate_limit_wait, settings.max_rate_limit_wait)
    wait = failure.retry_after if failure is not None else None
    if wait is None:
        wait = analysis.retry_after
    if wait is None and analysis.limited_until and (named := resets_at(analysis.limited_until, situation.at)):
        wait = (named - situation.at).total_seconds()
    if wait is None:
        wait = min(settings.rate_limit_wait * 2.0 ** (met - 1), settings.max_rate_limit_wait)
    return situation.at + timedelta(seconds=min(max(wait, least), LONGEST_WAIT))


def _unavailable(situation: Situation) -> Halt | None:
    failure = situation.case.output.failure
    if failure is None:
        return None
    if failure.failure == "auth" or situation.streaks.refused >= situation.settings.unavailable:
        return Halt(stop_reason="executor_unavailable", reason=failure_text(failure))
    return None


def _why_available(situation: Situation) -> str:
    failure, streaks, settings = situation.case.output.failure, situation.streaks, situation.settings
    if failure is None:
        return "the executor answered"
    return f"{failure_text(failure)}; {_row(streaks.refused, settings.unavailable, 'turned-down iterations')}"


def _blocked(situation: Situation) -> Halt | None:
    case, streaks, settings = situation.case, situation.streaks, situation.settings
    if streaks.blocked < settings.blocked and streaks.questions < settings.questions:
        return None
    asked = case.analysis.question or case.analysis.work_summary or "the agent says that it cannot continue alone"
    return Halt(stop_reason="blocked", reason=asked, evidence=evidence_of(case, *_ASKING))


def _why_not_blocked(situation: Situation) -> str:
    streaks, settings = situation.streaks, situation.settings
    blocked = _row(streaks.blocked, settings.blocked, "blocked iterations")
    return f"{blocked}, {_row(streaks.questions, settings.questions, 'questions')}"


def _limit(situation: Situation) -> Halt | None:
    outcome = situation.case.output.outcome
    if isinstance(outcome, Interrupted) and outcome.by == "limit":
        return Halt(stop_reason="limit_reached", reason=outcome.detail or "a limit was reached within the turn")
    held = held_by(situation.limit) if situation.limit else None
    if not isinstance(held, Halt):
        return None
    return evolve(held, reason=f"{held.reason}{_fate_of_claim(situation)}")


def _outage(situation: Situation) -> Halt | Pause | None:
    """Return the wait for a service that does not answer: twice as long each time, up to five minutes."""
    failure, times, limit = situation.case.output.failure, situation.streaks.outage, situation.limit
    if failure is None or not times:
        return None
    if times >= _OUTAGES:
        reason = f"the service has not answered {times} times in a row: {failure_text(failure)}"
        return Halt(stop_reason="executor_unavailable", reason=reason)
    until = situation.at + timedelta(seconds=min(2.0 ** min(times - 1, 16), _OUTAGE_WAIT))
    if limit is not None and limit.until is not None:
        until = max(until, limit.until)
    return Pause(until=until, reason=f"the service does not answer: {failure_text(failure)}")


def _fate_of_claim(situation: Situation) -> str:
    """Return why the claims of a run did not count when another rule ends it.

    Each refuting verifier is named with its last words, which are where programs say what failed; else the doubts are.
    """
    claim, times = situation.claim, situation.streaks.said_done
    verdicts = situation.verification.refuted if situation.verification is not None else ()
    if verdicts:
        last = ((verdict, " ".join(verdict.output.strip().rpartition("\n")[2].split())[:_SAID]) for verdict in verdicts)
        told = (f"{named(verdict.verifier)}{f' ({words})' if words else ''}" for verdict, words in last)
        return f"; the claim of completion was refuted by {', '.join(told)}"
    if claim is not None and _doubted(situation):
        return f"; the claim of completion {waiting(claim.doubts)}"
    said = f"; the agent said “done” or the like {counted(times, 'time')}, but no status block with EXIT_SIGNAL did"
    return said if times else ""


def _why_within_limits(situation: Situation) -> str:
    return "only one that passes by itself" if situation.limit else "none is reached"


def _breaker(situation: Situation) -> Halt | Pause | None:
    breaker, until = situation.breaker, situation.breaker_until
    if breaker.state != "open":
        return None
    if situation.breaker_ends_run or until is None:
        if _is_named(situation):
            return None
        reason = f"{breaker.reason}{_cut_off(situation.case)}{_fate_of_claim(situation)}"
        return Halt(stop_reason="circuit_open", reason=reason)
    return Pause(until=until, reason=f"circuit open: {breaker.reason}", then=_continue(situation))


def _cut_off(case: Case) -> str:
    """Return how the last turn failed: "3 iterations without progress" alone does not say that it was the service."""
    if failure := case.output.failure:
        return f"; the last turn failed: {failure_text(failure)}"
    ended = _ended_early(case)
    return ended and f"; the last turn {ended}"


def _ended_early(case: Case) -> str:
    """Return how Ralph ended a turn; empty if it did not."""
    match case.output.outcome:
        case TimedOut(limit=limit, after=after):
            return f"was ended after {after:g} s ({limit} time-out)"
        case Interrupted(detail=detail):
            return f"was ended: {detail}"
        case _:
            return ""


def _why_closed(situation: Situation) -> str:
    breaker = situation.breaker
    if breaker.state == "open":
        return f"open: {breaker.reason}, which test saturation or stuck says more of"
    return f"{breaker.state.replace('_', '-')}{f', but warns: {breaker.reason}' if breaker.warning else ''}"


def _is_named(situation: Situation) -> bool:
    """Return whether a lack of progress has just opened the breaker and ends the run, and another rule names it.

    Test saturation and the circles of a loop say what the agent did instead of progress; a turn that failed says it
    itself.
    """
    breaker = situation.breaker
    if breaker.state != "open" or not situation.breaker_ends_run or _cut_off(situation.case):
        return False
    if breaker.denials or breaker.probes or not breaker.no_progress:
        return False
    named = CIRCLES.intersection(situation.case.analysis.stuck.repeated_patterns)
    return _is_saturated(situation) or bool(named and _circles(situation.case))


def _is_saturated(situation: Situation) -> bool:
    return situation.streaks.test_only >= situation.settings.test_saturation


def _saturated(situation: Situation) -> Halt | None:
    if not _is_saturated(situation):
        return None
    count = situation.streaks.test_only
    reason = f"{count} iterations in a row only ran tests{_fate_of_claim(situation)}"
    return Halt(stop_reason="test_saturation", reason=reason, evidence=evidence_of(situation.case, "test_"))


def _why_unsaturated(situation: Situation) -> str:
    return _row(situation.streaks.test_only, situation.settings.test_saturation, "test-only iterations")


def _stuck_again(situation: Situation) -> Halt | None:
    why = _circles(situation.case)
    pivoted = situation.streaks.pivoted
    if not why or _only_watches(situation.case) or not (pivoted or _is_named(situation)):
        return None
    when = "again after a change of approach" if pivoted else "and the circuit is open"
    reason = f"stuck {when}: {why}{_fate_of_claim(situation)}"
    return Halt(stop_reason="stuck", reason=reason, evidence=situation.case.analysis.stuck.evidence)


def _why_not_stuck(situation: Situation) -> str:
    if why := _circles(situation.case):
        when = "watching what may end by itself" if _only_watches(situation.case) else "for the first time"
        return f"{when}, which asks for another approach: {why}"
    return "this iteration moved the work" if situation.case.progressed else "nothing repeats"


def _later(situation: Situation) -> Pause | None:
    """Return the wait for a limit that passes by itself; the last rule, as it must hide no reason to stop."""
    held = held_by(situation.limit) if situation.limit else None
    return evolve(held, then=_continue(situation)) if isinstance(held, Pause) else None


def _row(count: int, most: int, what: str) -> str:
    return f"{count} of {most} {what} in a row" if count else f"no {what}"


_RULES = (
    _Rule("cancelled", _cancelled, "no one requested it"),
    _Rule("completed", _completed, _why_incomplete),
    _Rule("logged out", _logged_out, _why_logged_in),
    _Rule("limited", _limited, "no rate limit was met"),
    _Rule("executor unavailable", _unavailable, _why_available),
    _Rule("blocked", _blocked, _why_not_blocked),
    _Rule("limit", _limit, _why_within_limits),
    _Rule("outage", _outage, "no outage of a service that the run waits for"),
    _Rule("circuit open", _breaker, _why_closed),
    _Rule("test saturation", _saturated, _why_unsaturated),
    _Rule("stuck", _stuck_again, _why_not_stuck),
    _Rule("calls of the hour", _later, "none that are used up"),
)


def _continue(situation: Situation) -> Continue:
    case, claim, verification = situation.case, situation.claim, situation.verification
    doubted, pivot = _doubted(situation), _circles(case)
    if pivot:
        times = "" if situation.streaks.pivoted else " for the first time"
        reason = f"stuck{times}: the approach must change"
    elif _is_refuted(verification):
        reason = "a claim of completion was refuted"
    elif claim is not None and _unverified(situation):
        reason = "a claim of completion waits for its verification"
    elif claim is not None and doubted:
        reason = f"a claim of completion {waiting(claim.doubts)}"
    else:
        reason = _why_on(case)
    warning = situation.breaker.reason if situation.breaker.warning else ""
    return Continue(
        reason=reason,
        feedback=feedback(case, claim, verification, doubted=doubted, redirected=bool(pivot or warning)),
        pivot=pivot,
        warning=warning,
        confirm=doubted or (claim is not None and not _is_refuted(verification) and _unverified(situation)),
        evidence=(*(claim.evidence if claim else ()), *(case.analysis.stuck.evidence if pivot else ())),
    )


def _why_on(case: Case) -> str:
    if failure := case.output.failure:
        return f"the turn failed and is repeated: {failure_text(failure)}"
    if ended := _ended_early(case):
        return f"the turn {ended}"
    return "the agent says that work is left" if case.exit_signal is False else _why_unclaimed(case)


def _why_unclaimed(case: Case) -> str:
    """Return why the turn ends nothing; a reply that reports the task as done can still be no claim."""
    open_plan = case.plan is not None and bool(case.plan.still_open)  # for which done words are taken for progress
    overruled = open_plan and case.analysis.state == "progress" and case.analysis.completion.detected
    if case.analysis.state != "done" and not overruled:
        return too_little(case) or "nothing says that the task is done"
    if case.exit_signal:
        said = "the agent says that the task is done"
    else:
        said = f"the words say that the task is done (strength {case.analysis.completion.confidence:g} of 100)"
    if case.plan is not None and case.plan.still_open:
        return f"{said}, but {open_boxes(case.plan.still_open)}"
    return f"{said}, but the exit strategy does not count that as a claim"


def _circles(case: Case) -> str:
    """Return how the loop goes in circles; empty if it does not.

    Iterations that only run tests have a rule of their own, and another approach does not bring back a service that
    does not answer.
    """
    stuck = case.analysis.stuck
    moved = case.progressed and NO_OP not in stuck.repeated_patterns
    if not stuck.detected or moved or case.unanswered or stuck.repeated_patterns == (TESTING,):
        return ""
    told = (f"{piece.why}: “{piece.text}”" if piece.text else piece.why for piece in stuck.evidence)
    return "; ".join(told) or "; ".join(stuck.repeated_patterns) or "the loop goes in circles"


def _only_watches(case: Case) -> bool:
    """Return whether the loop goes in circles only by watching what still runs."""
    return case.analysis.stuck.repeated_patterns == (WATCHING,)

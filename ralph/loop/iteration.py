"""One iteration, from the prompt to its durable record."""

from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from time import monotonic
from typing import Any

import anyio

from ralph.decision.backing import way_back
from ralph.decision.breaker import BreakerState, ToolLoop
from ralph.decision.claims import Claim
from ralph.decision.limits import LimitReached, Limits
from ralph.executors.base import Executor, ToolFinished, Transcript, Turn, TurnEvent
from ralph.executors.execute import as_event, execute
from ralph.hooks import CompletionDue
from ralph.loop.checkpointing import Checkpointing
from ralph.loop.event_log import Clock, EventLog, Objection
from ralph.loop.lease import Inbox, Lease, Stop
from ralph.pipeline.evaluate import Progress, Rules, assess, evaluate, measure_progress
from ralph.plugins.discovery import Offer
from ralph.plugins.isolation import prompt_texts
from ralph.plugins.providers import PromptContext
from ralph.prompt import Prompt, build_prompt, chosen
from ralph.records import events
from ralph.records.record import IterationRecord, RunRecord, RunState
from ralph.status import StatusReport
from ralph.system.secrets import Redactor
from ralph.system.text import plain, some_of
from ralph.types import evolve
from ralph.types.choices import Chooser, CommitPolicy, Context
from ralph.types.output import Changes, Interrupted, Output, Timeouts, Usage
from ralph.types.plan import TaskPlan
from ralph.types.requests import Request
from ralph.types.verification import Verdict, Verification
from ralph.verifiers.base import Subject, Verifier
from ralph.verifiers.check_files import Checks
from ralph.verifiers.runner import VerifierRun
from ralph.workspace.base import Snapshot, Workspace

_LAST_WORDS = 4.0
"""Seconds that a cancelled iteration has for storing its partial output."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that an iteration works with; `Runner` documents each."""

    executor: Executor
    workspace: Workspace
    checks: Checks
    rules: Rules
    timeouts: Timeouts
    context: Context
    plan: str | None
    redactor: Redactor
    clock: Clock
    commit: CommitPolicy = "none"
    prompt_parts: tuple[Offer, ...] = ()
    choose: Chooser = "agent"

    @property
    def verifiers(self) -> tuple[Verifier, ...]:
        return self.checks.verifiers

    def read_plan(self, *, for_agent: bool = False) -> TaskPlan | None:
        """Return the workspace's plan, as written for the agent, else with its texts masked; None without a plan."""
        plan, seen = self.workspace.plan(self.plan), plain if for_agent else self.redactor
        texts = "\n".join(f"{item.text} {item.section}" for item in plan.items) if plan else ""
        if plan is None or seen(texts) == texts:
            return plan
        items = (evolve(item, text=seen(item.text), section=seen(item.section)) for item in plan.items)
        return evolve(plan, items=tuple(items))


@dataclass(slots=True)
class ActiveRun:
    """A run that this process works on.

    Attributes:
        before: the workspace before the current iteration; None before the first scan.
        checkpoint: the commit of that state; None without one.
        messages: the user's messages that go to the agent with this iteration's prompt.
        checkpointing: checkpoints, protected paths and commits.
        summary: the last iteration's work in the agent's own words.
        began: the start of this iteration's first scan, on the monotonic clock.
        written: the task as the user wrote it; empty after a resume, as only the masked one is stored.
        told: what the agent is told of the last checks, by their masked output.
        feedback: that of `state.guidance` as the agent is told it; empty if that is the same.
        keep: called with an iteration's record before that is stored, to keep the files first.
    """

    record: RunRecord
    state: RunState
    log: EventLog
    lease: Lease
    inbox: Inbox
    stop: Stop
    checkpointing: Checkpointing
    before: Snapshot | None = None
    checkpoint: str | None = None
    messages: tuple[Request, ...] = ()
    summary: str = ""
    transcript: Transcript = field(default_factory=Transcript)
    began: float = 0.0
    written: str = ""
    told: Mapping[str, str] = field(default_factory=dict[str, str])
    feedback: str = ""
    keep: Callable[[IterationRecord], Awaitable[None]] | None = None

    @property
    def task(self) -> str:
        return self.written or self.record.task

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def next_number(self) -> int:
        return self.state.number + 1

    @property
    def limits(self) -> Limits:
        """The limits in force: the user may extend them at any time."""
        return self.inbox.limits

    def time_left(self) -> float | None:
        """Return the seconds that the limit on the run's duration leaves at this moment; None without one."""
        left = self.limits.left(self.state.spent)
        return None if left is None else left - (monotonic() - self.began if self.began else 0.0)

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Count the time of a block as the run's, although no iteration has it."""
        since = monotonic()
        try:
            yield
        finally:
            self.state = evolve(self.state, spent=self.state.spent.waited(monotonic() - since))

    def begins_here(self) -> None:
        """Take the present workspace as its state before the run, if the run was ended before it was scanned."""
        mark = self.record.fingerprint or (self.before.fingerprint if self.before else None)
        checkpoint = self.record.checkpoint or self.checkpoint
        self.record = evolve(self.record, fingerprint=mark, checkpoint=checkpoint)
        self.state = evolve(self.state, baseline=mark, fingerprints=((mark,),) if mark else ())

    def stamp(self, at: datetime, *, iteration: int | None = None) -> dict[str, Any]:
        """Return the fields that every event of the current iteration has."""
        return {"run_id": self.id, "iteration": self.next_number if iteration is None else iteration, "at": at}


async def scan_workspace(parts: Parts, run: ActiveRun) -> bool:
    """Scan the workspace before the next iteration; return False if the run was asked to stop meanwhile."""
    run.began, run.checkpoint = monotonic(), None
    with run.stop.watched(), parts.workspace.reporting_progress():
        if run.before is None:
            run.before = await parts.workspace.snapshot()
        run.checkpoint = await run.checkpointing.before(run.next_number, run.before)
    return not run.stop.reason


async def iterate(parts: Parts, run: ActiveRun, stop: Stop) -> IterationRecord:
    """Run one iteration after `scan_workspace`; its record is durable when this returns.

    If it is cancelled from outside, it ends the agent's turn and stores the partial output first.
    """
    number, started_at, checkpoint = run.next_number, parts.clock.now(), run.checkpoint
    run.messages = run.inbox.messages(run.state.heard)
    prompt, kept = _prompt(parts, run)
    unknown = number == 1 and None in {run.record.fingerprint, run.record.checkpoint}
    if unknown:
        run.begins_here()
    cooled = parts.rules.breaker.cooled(run.state.breaker, started_at)
    started: list[events.Event] = [*_breaker_events(run, cooled, started_at)]
    run.state = evolve(run.state, breaker=cooled)
    started.append(events.IterationStarted(**run.stamp(started_at), prompt=kept, checkpoint=checkpoint))
    new = (message for message in run.messages if message.seq > run.state.heard)
    started += [events.Told(**run.stamp(started_at), text=parts.redactor(message.text)) for message in new]
    await run.log.commit(*started, run=run.record if unknown else None)
    try:
        output = await _turn(parts, run, prompt, stop)
        run.log.check()
        return await _conclude(parts, run, output, started_at, stop)
    except anyio.get_cancelled_exc_class():
        if run.state.number < number:
            with anyio.move_on_after(_LAST_WORDS, shield=True):
                stop.reason = stop.reason or "cancelled"
                output = run.transcript.finish(Interrupted(by="signal", detail=stop.reason))
                await _conclude(parts, run, output, started_at, stop)
        raise


async def preflight(parts: Parts, task: str, stop: Stop, known: Collection[str] = ()) -> Verification | None:
    """Return the verdicts before the first iteration, of the verifiers that run then and are not known; None without.

    Raises:
        VerifierError: one of them cannot start.
    """
    early = [verifier for verifier in parts.verifiers if verifier.before_run and verifier.name not in known]
    checks = VerifierRun(early, Subject(parts.workspace.path, task=task), redactor=parts.redactor)
    limits = parts.rules.limits
    with stop.watched(limits.max_duration):
        await checks.check_start()
        return checks.result() if early else None
    return checks.result(stop.reason or _time_is_over(limits))


async def _verified(
    parts: Parts, run: ActiveRun, claim: Claim, seen: Progress, *, output: Output, stop: Stop
) -> Verification | None:
    """Return the verdicts on a claim, within the run's limits; None without verifiers."""
    spent = run.state.spent.used(output.usage, monotonic() - run.began, counts=False)
    hits: list[str] = []

    def used(usage: Usage) -> None:
        cost = parts.rules.priced(usage, output.model)
        if (hit := run.limits.within_turn(spent.used(cost, 0.0, counts=False))) and stop.scope:
            hits.append(str(hit))
            stop.scope.cancel()

    async def difference(limit: int) -> str:
        since = run.record.checkpoint
        return await parts.workspace.difference(since, limit=limit) if since else ""

    def began(verifier: str) -> None:
        run.log.note(events.VerificationStarted(**run.stamp(parts.clock.now()), verifier=verifier))

    changed = await anyio.to_thread.run_sync(parts.checks.changed)
    subject = Subject(
        parts.workspace.path,
        task=run.task,
        plan=seen.plan and parts.read_plan(for_agent=True),
        iteration=run.next_number,
        run_id=run.id,
        claim=claim.reason,
        changed=tuple(dict.fromkeys(path for paths in changed.values() for path in paths)),
        difference=difference,
    )
    checks = VerifierRun(
        parts.checks.judges(changed), subject, redactor=parts.redactor, changed=changed, began=began, used=used
    )
    run.told = checks.told
    with stop.watched(run.limits.left(spent)):
        await checks.check_claim()
        return checks.result() if parts.verifiers else None
    return checks.result(stop.reason or next(iter(hits), _time_is_over(run.limits)))


async def _vetoed(
    parts: Parts, run: ActiveRun, claim: Claim, output: Output, verification: Verification | None
) -> Verification | None:
    """Return the verdicts, with the vetoes of observers against a claim that is about to be accepted."""
    said = verification or Verification()
    if run.stop.reason or said.refuted or said.cut_short or (said.undecided and not run.state.streaks.confirming):
        return verification
    due = CompletionDue(
        **run.stamp(parts.clock.now()),
        task=run.record.task,
        workspace=run.record.workspace,
        text=output.text,
        claim=claim,
        verification=verification,
    )
    objections: list[Objection] = []
    with run.stop.watched():
        objections = await run.log.dispatcher.ask(due)
    vetoes = [
        Verdict(verifier=f"veto of {name}", passed=False, output=(why := parts.redactor(reason)), signature=why[:200])
        for name, reason in objections
    ]
    return evolve(said, verdicts=(*said.verdicts, *vetoes)) if vetoes else verification


def _time_is_over(limits: Limits) -> str:
    over = limits.max_duration or 0.0
    return str(LimitReached(limit="max_duration", allowed=over, used=over))


def _prompt(parts: Parts, run: ActiveRun) -> tuple[Prompt, str]:
    """Return the prompt, and its text as it is stored: of masked parts, as a quoted secret is not always recognised."""
    guidance, plan = run.state.guidance, parts.read_plan(for_agent=True)
    context = PromptContext(run.task, run.next_number, run.id, parts.workspace.path, plan)
    texts = prompt_texts(parts.prompt_parts, context) if parts.prompt_parts else []
    built = partial(
        build_prompt,
        iteration=run.next_number,
        pivot=guidance.pivot or guidance.warning,
        interrupted=run.state.cut_short,
        fields=parts.rules.status_fields,
        promise=parts.rules.promise,
        verify=parts.checks.conditions,
        parts=[*chosen(plan, by=parts.choose), *texts],
    )
    told, masked = ([mask(each.text) for each in run.messages] for mask in (parts.redactor.for_agent(), parts.redactor))
    kept = built(run.record.task, plan=parts.read_plan(), feedback=guidance.feedback, told=masked)
    return built(run.task, plan=plan, feedback=run.feedback or guidance.feedback, told=told), parts.redactor(kept.text)


async def _turn(parts: Parts, run: ActiveRun, prompt: Prompt, stop: Stop) -> Output:
    """Run the agent's turn; the user, a limit that is reached within it, or a tool loop may cut it short."""
    spent, number = run.state.spent, run.next_number
    cut: list[Interrupted] = []
    tool_loop = ToolLoop()

    def end(how: Interrupted) -> None:
        cut.append(how)
        scope.cancel()

    def hear(happened: TurnEvent) -> None:
        if isinstance(happened, Usage):
            used = spent.used(parts.rules.priced(happened, run.transcript.model), 0.0, counts=False)
            if hit := run.limits.within_turn(used):
                end(Interrupted(by="limit", detail=str(hit)))
        elif event := as_event(happened, run_id=run.id, iteration=number, at=parts.clock.now()):
            run.log.note(event)
        if isinstance(happened, ToolFinished) and (lost := tool_loop.ended(happened.call)):
            end(lost)

    run.transcript = Transcript(hear, parts.redactor)
    turn = Turn(
        workspace=parts.workspace.path,
        iteration=number,
        timeouts=parts.timeouts,
        transcript=run.transcript,
        session_id=run.state.session_id if parts.context == "continue" else None,
        session_of=run.state.session_executor,
    )
    scope = stop.watched(run.limits.left(spent))
    with scope:
        return await execute(parts.executor, prompt, turn)
    if stop.reason:
        return run.transcript.finish(Interrupted(by="signal", detail=stop.reason))
    return run.transcript.finish(cut[0] if cut else Interrupted(by="limit", detail=_time_is_over(run.limits)))


async def _conclude(parts: Parts, run: ActiveRun, output: Output, started_at: datetime, stop: Stop) -> IterationRecord:
    """Do everything after the turn: measure the changes, verify a claim, decide, and store the record."""
    rules, progress = replace(parts.rules, limits=run.limits), await _look(parts, run, output)
    began = monotonic()
    assessed = assess(rules, run.record, run.state, output, progress)
    analysed = monotonic() - began
    number, verification = assessed.case.iteration, None
    if (claim := assessed.to_verify(run.state)) and not stop.reason:
        verification = await _verified(parts, run, claim, progress, output=assessed.case.output, stop=stop)
        verification = await _vetoed(parts, run, claim, output, verification)
    stopped = stop.reason
    if verification is not None:
        # Verifiers leave files behind, which are no work of the next iteration.
        await run.checkpointing.restore_protected(number)
        run.before = await parts.workspace.snapshot()
    run.summary = assessed.case.analysis.work_summary
    if await run.checkpointing.commit("iteration", number, run.summary, run.record.checkpoint, stop):
        run.before = await parts.workspace.snapshot()
    checkpoint = await run.checkpointing.after(number, run.before, stop)
    judged = partial(
        evaluate,
        rules,
        run.record,
        run.state,
        assessed,
        stopped=stopped,
        fingerprint=run.before.fingerprint if run.before else None,
        checkpoint=checkpoint,
        started_at=started_at,
        at=parts.clock.now(),
        duration=monotonic() - run.began,
        last_message=run.messages[-1].seq if run.messages else 0,
    )
    record, since = judged(verification=verification), monotonic()
    if run.keep is not None:
        await run.keep(record)
    await run.log.commit(*_finished(run, record, analysed), iteration=record)
    state = run.state.after(record)
    if verification is not None:  # the agent is told more than is stored
        verdicts = tuple(evolve(each, output=run.told.get(each.output, each.output)) for each in verification.verdicts)
        run.feedback = run.state.after(judged(verification=evolve(verification, verdicts=verdicts))).guidance.feedback
    elif state.guidance is not run.state.guidance:
        run.feedback = ""
    run.began = monotonic()
    run.state = evolve(state, spent=state.spent.waited(run.began - since))  # a full disk may delay the commit
    return record


async def _look(parts: Parts, run: ActiveRun, output: Output) -> Progress:
    """Write the reply into the workspace, then measure what the turn changed there."""
    if problem := parts.workspace.keep_response(output.text):
        run.log.diagnose(problem, run.next_number)
    await run.checkpointing.restore_protected(run.next_number)
    after = await parts.workspace.snapshot()
    changes = await parts.workspace.changes(run.before, after) if run.before else Changes()
    changes = evolve(changes, files=parts.redactor.each(changes.files), problem=parts.redactor(changes.problem))
    if changes.lost:
        changes = evolve(changes, lost=parts.redactor.each(changes.lost))
        text = f"The agent removed work of yours, or commits that led to it: {some_of(changes.lost)}"
        way = f"; {way_back(run.id, changes.lost)}" if run.record.checkpoint else ""
        run.log.diagnose(f"{text}{way}.", run.next_number)
    run.before = after
    return measure_progress(run.record, run.state, changes, parts.read_plan())


def _finished(run: ActiveRun, record: IterationRecord, analysed: float) -> list[events.Event]:
    stamp = run.stamp(record.finished_at)
    told: list[events.Event] = []
    if record.verification is not None:
        told.append(
            events.VerificationFinished(**stamp, passed=record.verification.passed, **dict(record.verification))
        )
    told += _breaker_events(run, record.breaker, record.finished_at)
    status = record.analysis.status
    told.append(
        events.IterationFinished(
            **stamp,
            executor=record.executor,
            model=record.model,
            outcome=record.outcome,
            text=record.text,
            fields=status.fields if isinstance(status, StatusReport) else {},
            changes=record.changes,
            plan=record.plan,
            progressed=record.progressed,
            analysis=record.analysis,
            breaker=record.breaker,
            decision=record.decision,
            usage=record.usage,
            duration=record.duration,
            analysis_duration=analysed,
        )
    )
    return told


def _breaker_events(run: ActiveRun, after: BreakerState, at: datetime) -> list[events.Event]:
    before = run.state.breaker
    if not after.differs(before):
        return []
    return [events.BreakerChanged(**run.stamp(at), before=before.state, breaker=after)]

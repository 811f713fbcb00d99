"""A verifier that lets a fresh session of the agent review the work.

The reviewer receives the task, the plan and the changes, and may read the workspace, but not the agent's replies. It
answers in the status contract: `EXIT_SIGNAL: true` accepts the claim, `false` refutes it, and the agent receives its
words. An answer without a verdict leads to one more fresh session. A review that fails gives no verdict: it neither
accepts nor refutes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from ralph.decision.outcomes import failure_text
from ralph.errors import UsageError
from ralph.executors.base import Executor, Transcript, Turn, TurnEvent
from ralph.executors.execute import execute
from ralph.prompt import Prompt, build_review_prompt, contract_example
from ralph.status import Status, StatusMalformed, StatusReport, parse_status
from ralph.system.secrets import Redactor
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Output, TimedOut, Timeouts, Usage
from ralph.types.verification import Verdict
from ralph.verifiers.base import Subject, Verifier, clipped

_REFUTED = "refuted"
"""The signature of every refutation: to the breaker, two sessions that keep disagreeing are the same error."""


class ReviewVerifier(Verifier):
    """A verifier that passes if fresh sessions of an executor find the work done.

    Args:
        executor: the reviewer: the run's own, which has started before the first claim, or another started one.
        rounds: the number of sessions that must accept. The first that does not decides.
        timeout: of all sessions together, in seconds.
        diff: characters of the changes that a session receives.
        redactor: masks secrets in the reviews; by default those with known shapes.
    """

    name = "review"
    before_run = False

    def __init__(
        self,
        executor: Executor,
        *,
        rounds: int = 1,
        timeout: float = 600.0,
        diff: int = 60_000,
        redactor: Redactor | None = None,
    ) -> None:
        if rounds < 1:
            raise UsageError(f"A review cannot have {rounds} rounds.", "Ask for one round or more.")
        self._executor, self._rounds, self._diff = executor, rounds, diff
        self._mask = redactor or Redactor()
        self.timeout = timeout

    @property
    def condition(self) -> str:
        return "another session, which reviews the work, must agree"

    async def verify(self, subject: Subject) -> Verdict:
        bill = _Bill(subject)
        with anyio.move_on_after(self.timeout):
            verdict = await self._reviewed(subject, bill)
            subject.tell(verdict.output)
            masked = clipped(self._mask(verdict.output))
            return evolve(verdict, output=masked, usage=bill.usage, sessions=bill.sessions)
        late = Verdict.unknown(self.name, f"There was no review within {self.timeout:g} s.")
        return evolve(late, usage=bill.usage, sessions=bill.sessions)

    async def _reviewed(self, subject: Subject, bill: "_Bill") -> Verdict:
        prompt = build_review_prompt(
            subject.task,
            plan=subject.plan,
            diff=await subject.diff(self._diff),
            limit=self._diff,
            iteration=max(subject.iteration, 1),
            changed_checks=subject.changed,
        )
        verdict = await self._round(prompt, subject, bill)
        for _ in range(self._rounds - 1):
            if not verdict.passed:
                break
            verdict = await self._round(prompt, subject, bill)
        return verdict

    async def _round(self, prompt: Prompt, subject: Subject, bill: "_Bill") -> Verdict:
        """Review once, and again if the answer has no verdict. Failures are not retried: the executor has done so."""
        output = await self._session(prompt, subject, bill)
        verdict = self._verdict(output)
        if verdict.undecided and isinstance(output.outcome, Answered):
            verdict = self._verdict(await self._session(prompt, subject, bill))
        return verdict

    async def _session(self, prompt: Prompt, subject: Subject, bill: "_Bill") -> Output:
        turn = Turn(
            workspace=subject.workspace,
            iteration=prompt.iteration,
            timeouts=Timeouts(idle=self.timeout, iteration=self.timeout, tool=self.timeout),
            transcript=Transcript(bill.opened(), self._mask.for_agent()),
            read_only=True,
        )
        output = await execute(self._executor, prompt, turn)
        bill.close(output.usage)
        return output

    def _verdict(self, output: Output) -> Verdict:
        match output.outcome:
            case Answered():
                pass
            case Failed() as failure:
                return Verdict.unknown(self.name, f"There was no review: {failure_text(failure)}.")
            case TimedOut(after=after):
                return Verdict.unknown(self.name, f"The review was ended after {after:g} s.")
            case _:
                return Verdict.unknown(self.name, "The review was cut short.")
        status = parse_status(output.text, example=contract_example())
        if isinstance(status, StatusReport) and status.exit_signal is not None:
            if not status.exit_signal:
                said = "\n\n".join(filter(None, (status.reason, output.text[: status.start].strip())))
                return Verdict(verifier=self.name, passed=False, output=said, signature=_REFUTED)
            if status.status.strip().upper() != "BLOCKED":
                return Verdict(verifier=self.name, passed=True, output=status.reason)
        return Verdict.unknown(self.name, f"The review gave no verdict: {_problem(status)}.")


def _problem(status: Status) -> str:
    match status:
        case StatusMalformed(problem=problem):
            return problem
        case StatusReport(exit_signal=True):
            return "it says EXIT_SIGNAL: true and STATUS: BLOCKED"
        case StatusReport():
            return "its block has no EXIT_SIGNAL"
        case _:
            return "it ends without a status block"


@dataclass(slots=True)
class _Bill:
    """The usage of a review's sessions, reported to the subject as soon as it is known."""

    subject: Subject
    sessions: int = 0
    usage: Usage = field(default_factory=Usage)
    _before: Usage = field(default_factory=Usage)

    def opened(self) -> Callable[[TurnEvent], None]:
        """Begin to count another session."""
        self.sessions += 1
        self._before = self.usage
        return self._on_event

    def _on_event(self, happened: TurnEvent) -> None:
        if isinstance(happened, Usage):
            self.close(happened)

    def close(self, usage: Usage) -> None:
        """Add the present session's usage so far."""
        self.usage = self._before + usage
        self.subject.used(self.usage)

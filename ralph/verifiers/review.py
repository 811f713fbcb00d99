"""A verifier with fresh eyes: another session of the agent judges what came of the work.

The reviewer sees the task, the plan and the changes, and may read the workspace; it sees nothing of what the agent said
of its work. It answers in the status contract: `EXIT_SIGNAL: true` lets the claim pass, `false` refutes it, and its
words go to the agent. An answer that holds no verdict is asked for once more, in another fresh session. A review that
cannot be had at all is no verdict: it lets nothing pass, and refutes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from ralph.decision.feedback import failure_text
from ralph.errors import UsageError
from ralph.executors.base import Executor, Timeouts, Transcript, Turn, TurnEvent
from ralph.executors.execute import execute
from ralph.prompt import Prompt, build_review_prompt, contract_example
from ralph.status import Status, StatusMalformed, StatusReport, parse_status
from ralph.system.redact import Redactor
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Output, TimedOut, Usage
from ralph.types.verification import Verdict
from ralph.verifiers.base import Subject, Verifier, clipped

__all__ = ["ReviewVerifier"]

_REFUTED = "refuted"
"""The one signature of every refutation: two sessions that go on disagreeing are the same error to the breaker."""


class ReviewVerifier(Verifier):
    """Passes when a fresh session of an executor finds that the work is done.

    Args:
        executor: who reviews; the run's own, which is started by the time that something is claimed, or another one
            that is.
        rounds: how many sessions, each a fresh one, must find so. The first that does not decides.
        timeout: of them all together, in seconds.
        diff: characters of the changes that a session is shown.
        redactor: masks secrets in what it says; without it, those of known shapes are masked.
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
            return evolve(verdict, usage=bill.usage, sessions=bill.sessions)
        late = Verdict.unknown(self.name, f"There was no review within {self.timeout:g} s.")
        return evolve(late, usage=bill.usage, sessions=bill.sessions)

    async def _reviewed(self, subject: Subject, bill: "_Bill") -> Verdict:
        prompt = build_review_prompt(
            subject.task,
            plan=subject.plan,
            diff=await subject.diff(self._diff),
            limit=self._diff,
            iteration=max(subject.iteration, 1),
        )
        verdict = await self._round(prompt, subject, bill)
        for _ in range(self._rounds - 1):
            if not verdict.passed:
                break
            verdict = await self._round(prompt, subject, bill)
        return verdict

    async def _round(self, prompt: Prompt, subject: Subject, bill: "_Bill") -> Verdict:
        """One review; an answer without a verdict is asked for once more. What failed is not: the executor itself has
        tried again where that may help.
        """
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
            transcript=Transcript(bill.opened(), self._mask),
            read_only=True,
        )
        output = await execute(self._executor, prompt, turn, self._mask)
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
                return Verdict(verifier=self.name, passed=False, output=clipped(said), signature=_REFUTED)
            if status.status.strip().upper() != "BLOCKED":
                return Verdict(verifier=self.name, passed=True, output=status.reason)
        return Verdict.unknown(self.name, f"The review gave no verdict: {_problem(status)}.")


def _problem(status: Status) -> str:
    """Why a status block says nothing of a claim."""
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
    """What the sessions of one review have used; the subject is told as soon as it is known."""

    subject: Subject
    sessions: int = 0
    usage: Usage = field(default_factory=Usage)
    _before: Usage = field(default_factory=Usage)

    def opened(self) -> Callable[[TurnEvent], None]:
        """Another session begins; what it tells is to come here."""
        self.sessions += 1
        self._before = self.usage
        return self._heard

    def _heard(self, happened: TurnEvent) -> None:
        if isinstance(happened, Usage):
            self.close(happened)

    def close(self, usage: Usage) -> None:
        """What the session under way has used so far."""
        self.usage = self._before + usage
        self.subject.used(self.usage)

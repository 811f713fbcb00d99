"""What a verifier is: something other than the agent that says whether a claim of completion holds."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from ralph.types.output import Usage
from ralph.types.plan import TaskPlan
from ralph.types.verification import Verdict

__all__ = ["Subject", "Verifier"]


def _unmeasured(_usage: Usage) -> None:
    """Nobody counts."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be verified: the workspace, and what the run knows of the claim.

    Attributes:
        workspace: absolute.
        task: what the run is to do; masked.
        plan: the workspace's plan as it is now; None without one.
        iteration: that made the claim; 0 before the first one.
        claim: what makes it, in a few words; empty before the first iteration.
        difference: gives the unified diff since the run began; None where it is not known.
        meter: told what a verifier has used; see `used`.
    """

    workspace: Path
    task: str = ""
    plan: TaskPlan | None = None
    iteration: int = 0
    run_id: str = ""
    claim: str = ""
    difference: Callable[[int], Awaitable[str]] | None = None
    meter: Callable[[Usage], None] = _unmeasured

    async def diff(self, limit: int) -> str:
        """What the run has changed, as a unified diff; empty where that is unknown, as in a folder without git. Of one
        with more than `limit` characters the beginning, and a line that says so.
        """
        return "" if self.difference is None else await self.difference(limit)

    def used(self, usage: Usage) -> None:
        """Tells what the verifier has used of a model for this verdict so far, in all. It counts for the run's usage
        and its limits, one of which may end the verification here.
        """
        self.meter(usage)


class Verifier:
    """Says whether a claim of completion holds. Subclass it, give it a `name` and implement `verify`.

    Attributes:
        name: what it is known by: to people, and in the prompt to the agent.
        before_run: whether it is asked once before the first iteration, too. One for which that makes no sense, or
            costs money, says False: it is then asked only of a claim that all others let pass.
        timeout: in seconds; one that takes longer is cancelled, which refutes the claim.
    """

    name: str = ""
    before_run: bool = True
    timeout: float = 600.0

    @property
    def condition(self) -> str:
        """What the agent is told that a claim must meet."""
        return f"`{self.name}` must pass"

    async def verify(self, subject: Subject) -> Verdict:
        """Checks the subject. It is called for one claim at a time.

        What it raises refutes the claim, except before the first iteration: a verifier that cannot start raises
        `VerifierError` then, and the run does not begin. One that is cancelled lets the cancellation go on, and leaves
        nothing running.
        """
        raise NotImplementedError

"""The base of verifiers, and what is kept of their hostile output."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.system.redact import Redactor
from ralph.system.text import storable
from ralph.types.output import Usage
from ralph.types.plan import TaskPlan
from ralph.types.verification import Verdict

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph.executors.base import Executor
    from ralph.system.sandbox import Confinement

__all__ = ["SIGNATURE", "Subject", "Verifier", "VerifierContext", "VerifierProvider", "clipped", "readable"]

SHOWN = 4_000
"""Characters of a verifier's output that are kept."""

SIGNATURE = 200
"""Characters of a failure's signature."""

_LOOKED_AT = 512 * 1024
_STEERING = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_])|[\x00-\x08\x0b-\x1f\x7f]"
)


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


@dataclass(frozen=True, slots=True)
class VerifierContext:
    """Everything that a verifier may be built from.

    Attributes:
        executor: that of the run.
        timeout: seconds for one verifier, unless its own keys say otherwise.
        rounds: of a review, unless its own keys say otherwise.
        own: the settings of the plug-in that adds the verifier; None if it has none.
    """

    executor: "Executor"
    redactor: Redactor
    confinement: "Confinement"
    timeout: float = 600.0
    rounds: int = 1
    own: "BaseModel | None" = None


@dataclass(frozen=True, slots=True)
class VerifierProvider:
    """A verifier by name, as in `--verifier NAME:key=value`.

    Attributes:
        about: the verifier in a few words.
        keys: the model of its keys and their values.
        build: builds one from the keys, an instance of that model, and the context.
    """

    name: str
    about: str
    keys: "type[BaseModel]"
    build: Callable[[Any, VerifierContext], Verifier]


def readable(text: str, mask: Redactor) -> str:
    """Return the text without terminal control sequences, masked and storable; a huge text loses its middle."""
    kept = clipped(text, _LOOKED_AT)
    return mask(storable(_STEERING.sub("", kept.replace("\r\n", "\n")))).strip("\n")


def clipped(text: str, room: int = SHOWN) -> str:
    """Return at most `room` characters of the text: its beginning and three times as much of its end."""
    if len(text) <= room:
        return text
    note = f"\n[… {len(text) - room:,} characters left out …]\n"
    head = (room - len(note)) // 4
    return f"{text[:head]}{note}{text[len(text) - (room - len(note) - head) :]}"

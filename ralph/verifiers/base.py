"""The verifier interface, and the bounds on a verifier's hostile output."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.system.secrets import Redactor
from ralph.system.text import storable
from ralph.types.output import Usage
from ralph.types.plan import TaskPlan
from ralph.types.verification import CheckFiles, Verdict

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph.executors.base import Executor
    from ralph.system.sandbox import Confinement

SHOWN = 4_000
"""Characters of a verifier's output that are stored."""

SIGNATURE = 200
"""Characters of a failure's signature."""

_LOOKED_AT = 512 * 1024
_STEERING = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_])|[\x00-\x08\x0b-\x1f\x7f]"
)


def _unheard(_said: object) -> None:
    """Take no report."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a verification: the workspace, and the run's knowledge of the claim.

    Attributes:
        workspace: absolute.
        task: the run's task, as the user wrote it; after a resume, masked.
        plan: the workspace's present plan; None without one.
        iteration: the one with the claim; 0 before the first one.
        claim: the claim in a few words; empty before the first iteration.
        changed: files that the verdicts of the run's checks depend on, and that the run has changed.
        difference: returns the unified diff since the run began; None if it is unknown.
        meter: receives the usage of a verifier; see `used`.
        listener: receives what the agent is told instead of the verdict's output; see `tell`.
    """

    workspace: Path
    task: str = ""
    plan: TaskPlan | None = None
    iteration: int = 0
    run_id: str = ""
    claim: str = ""
    changed: tuple[str, ...] = ()
    difference: Callable[[int], Awaitable[str]] | None = None
    meter: Callable[[Usage], None] = _unheard
    listener: Callable[[str], None] = _unheard

    async def diff(self, limit: int) -> str:
        """Return the run's changes as a unified diff; empty if unknown, as in a folder without git.

        A diff of more than `limit` characters is cut, and a last line says so.
        """
        return "" if self.difference is None else await self.difference(limit)

    def used(self, usage: Usage) -> None:
        """Report the model usage of this verdict so far, in total.

        It counts toward the run's usage and limits, one of which may end the verification here.
        """
        self.meter(usage)

    def tell(self, output: str) -> None:
        """Report the output for the agent of a verdict whose own is masked; it is not stored."""
        self.listener(output)


class Verifier:
    """A check of claims of completion. Subclass it, give it a `name` and implement `verify`.

    Attributes:
        name: its name for users, and in the prompt to the agent.
        before_run: also run it once before the first iteration. False for a verifier that is expensive, or useless
            then: it then runs only for a claim that all others accept.
        timeout: in seconds; a verifier that takes longer is cancelled, which refutes the claim.
    """

    name: str = ""
    before_run: bool = True
    timeout: float = 600.0

    @property
    def condition(self) -> str:
        """The condition of a claim, as the prompt states it."""
        return f"`{self.name}` must pass"

    def reads(self, workspace: Path) -> CheckFiles:
        """Return the files of the workspace that decide what it says; what the run changes of them is reported."""
        return CheckFiles()

    async def verify(self, subject: Subject) -> Verdict:
        """Check the subject. Called for one claim at a time.

        An exception refutes the claim, except before the first iteration: a verifier that cannot start raises
        `VerifierError` then, and the run does not begin. A cancelled verifier passes the cancellation on and leaves no
        process running.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class VerifierContext:
    """The values that a verifier may be built from.

    Attributes:
        executor: the run's.
        timeout: seconds for one verifier, unless its own keys set it.
        rounds: of a review, unless its own keys set it.
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
    """A verifier that is selected by name, as in `--verifier NAME:key=value`.

    Attributes:
        about: the verifier in a few words.
        keys: the model of its keys and values.
        build: builds one from an instance of that model, and the context.
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

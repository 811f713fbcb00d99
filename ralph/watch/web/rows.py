"""Runs as lists show them, and the query for a list."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from ralph.decision.backing import grade
from ralph.decision.outcomes import StopReason

LARGEST = 2**31 - 1
PAGE = 50

State = Literal["", "running", "paused", "crashed", "finished"]


class RunRow(BaseModel, frozen=True):
    """A run in a list.

    Attributes:
        state: "running", "paused" or "crashed", otherwise "finished".
        stop_reason: None until it has ended.
        iterations: the finished ones.
        tokens, cost: None if they were not measured.
        denials: denied tool calls.
        duration: in seconds, so far.
    """

    id: str
    task: str
    workspace: str | None
    state: str
    stop_reason: StopReason | None
    verified: bool
    already_green: bool
    detail: str
    started_at: datetime
    finished_at: datetime | None
    iterations: int
    tokens: int | None
    cost: float | None
    denials: int = 0
    duration: float

    @property
    def text(self) -> str:
        """Task, folder and id."""
        return f"{self.task} {self.workspace or ''} {self.id}"

    @property
    def word(self) -> str:
        """Its stop reason, or its state if it has none."""
        return self.stop_reason or self.state

    @property
    def graded(self) -> str:
        """The support for its completion, in a word; empty if it is not completed."""
        completed = self.stop_reason == "completed"
        return grade(verified=self.verified, already_green=self.already_green) if completed else ""


class RunQuery(BaseModel, frozen=True, extra="forbid"):
    """The runs that are asked for; the newest come first.

    Attributes:
        q: words that task, folder or id contain, in any order and case.
        replies: whether a run also fits if one of its replies has all these words.
        workspace: the folder of a run.
    """

    q: str = Field("", max_length=500)
    replies: bool = False
    state: State = ""
    reason: StopReason | Literal[""] = ""
    workspace: str = Field("", max_length=4_096)
    offset: int = Field(0, ge=0, le=LARGEST)
    limit: int = Field(PAGE, ge=1, le=200)

    @property
    def filters(self) -> bool:
        """True if not every run fits."""
        return bool(self.q.strip() or self.state or self.reason or self.workspace)

    def finds(self, text: str) -> bool:
        return all(word in text.casefold() for word in self.q.casefold().split())

    def fits(self, row: RunRow) -> bool:
        """Return whether a run is asked for, replies apart."""
        return (
            self.state in {"", row.state}
            and self.reason in {"", row.stop_reason}
            and self.workspace in {"", row.workspace}
            and (self.replies or self.finds(row.text))
        )


class RunPage(BaseModel, frozen=True):
    """A page of runs.

    Attributes:
        next: the offset of the next page; None for the last.
        workspaces: the folders of the newest runs.
        partial: the search in replies took too long, and left out older runs.
    """

    runs: list[RunRow]
    next: int | None = None
    workspaces: list[str] = []
    partial: bool = False

"""The records of a fleet as its commands and views read them: entries of tasks, workers, limits, and the status."""

import json
from collections.abc import Collection
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from ralph.fleet.task import Task

State = Literal["queued", "running", "waiting", "paused", "done", "failed", "stopped", "set_aside"]

ACTIVE: tuple[State, ...] = ("running", "waiting")
"""A worker has the task: its run iterates, or waits."""

OPEN: tuple[State, ...] = ("queued", *ACTIVE, "paused")
ENDED: tuple[State, ...] = ("done", "failed", "stopped", "set_aside")

MOST_KILLS = 3
"""Workers that may end while a task runs on them, without an iteration of it in between."""


class FleetLimits(BaseModel, frozen=True, extra="forbid"):
    """The limits of a whole fleet. None: no limit."""

    concurrency: int | None = Field(default=None, ge=1, le=1_000_000, description="Tasks that run at once.")
    per_repository: int | None = Field(
        default=1, ge=1, le=10_000, description="Tasks that run at once in one repository or folder."
    )
    calls_per_minute: int | None = Field(
        default=None, ge=1, le=1_000_000, description="Iterations of all agents in any minute."
    )
    cost_per_month: float | None = Field(
        default=None, gt=0, le=1e9, description="US dollars; beyond that, no task starts until the next month (UTC)."
    )

    def reached(self, cost: float, running: int) -> str:
        """Return why no task may start after so much cost and while so many run; empty if one may."""
        if self.cost_per_month is not None and cost >= self.cost_per_month:
            return f"this month's {self.cost_per_month:g} dollars are spent"
        if self.concurrency is not None and running >= self.concurrency:
            return f"{self.concurrency} tasks run at once, which is the limit"
        return ""


class Entry(BaseModel, frozen=True):
    """A task in the fleet.

    Attributes:
        place: the repository or folder.
        blocked: the number of tasks that must be completed first.
        not_before: seconds since 1970; a worker takes it only then.
        worker: the name of the worker that has it; empty without one.
        run_id: of its run; empty before the first start.
        turn: the number of times that it was started or continued.
        dangling: a worker was lost while it had the task.
        kills: the number of workers that were lost with it since its last finished iteration.
        cost: US dollars.
        reason: why it is in its state, in words.
    """

    id: str
    name: str | None = None
    version: int = 1
    state: State = "queued"
    wanted: str = ""
    priority: int = 0
    place: str = ""
    labels: str = "[]"
    blocked: int = 0
    not_before: float = 0.0
    worker: str = ""
    run_id: str = ""
    turn: int = 0
    dangling: int = 0
    kills: int = 0
    iterations: int = 0
    cost: float = 0.0
    reason: str = ""
    submitted_at: float = 0.0
    started_at: float = 0.0
    finished_at: float = 0.0
    body: str = Field(default="{}", repr=False)

    @property
    def task(self) -> Task:
        """The task itself."""
        return Task.model_validate_json(self.body)

    @property
    def text(self) -> str:
        """The task's text, also of one that a newer worker or command has stored; empty if it has none."""
        with suppress(ValueError, AttributeError):
            return str(json.loads(self.body).get("task", ""))
        return ""

    def suits(self, labels: Collection[str]) -> bool:
        """Return True if a worker with these labels may run it."""
        return set(json.loads(self.labels)) <= {*labels}

    @property
    def workflow_id(self) -> str:
        """The id of the engine's workflow for the present turn."""
        return f"{self.id}.{self.turn}"

    def shown(self) -> dict[str, Any]:
        """Return what `--json` shows of it."""
        return {**self.model_dump(exclude={"body", "labels", "dangling"}), "task": self.text}


class WorkerEntry(BaseModel, frozen=True):
    """A worker of the fleet.

    Attributes:
        state: "working", "draining", "stopped", or "lost" if its lease ran out.
        rate: iterations that it finished in the last minute.
        load: the machine's load of the last minute for each of its cores.
        body: the owner's record of its process, for `ralph.loop.ownership`.
    """

    name: str
    token: str = Field(default="", repr=False)
    state: str = "working"
    slots: int = 1
    running: int = 0
    iterations: int = 0
    rate: int = 0
    load: float = 0.0
    version: str = ""
    host: str = ""
    pid: int = 0
    labels: tuple[str, ...] = ()
    started_at: float = 0.0
    seen_at: float = 0.0
    until: float = 0.0
    owner: dict[str, Any] = Field(default={}, repr=False)


class FleetStatus(BaseModel, frozen=True):
    """A fleet at a glance.

    Attributes:
        tasks: the number of tasks in each state.
        ready: queued tasks that no other task and no time blocks.
        throughput: iterations that the workers finished in the last minute.
        cost: of this month, in US dollars.
        iterations: of this month.
        halted: why no task is started at present; empty if nothing forbids it.
    """

    at: float
    tasks: dict[str, int]
    ready: int
    workers: tuple[WorkerEntry, ...]
    throughput: int
    cost: float
    iterations: int
    limits: FleetLimits
    halted: str = ""


class Beat(NamedTuple):
    """The answer to a worker's heartbeat.

    Attributes:
        alive: False if its lease had run out and its tasks were taken away.
        wanted: "pause" or "stop" for tasks of its own.
        taken: the tasks that were taken from lost workers just now.
        limits: of the fleet, as they are now.
    """

    alive: bool
    wanted: dict[str, str]
    taken: tuple[str, ...]
    limits: FleetLimits


class Occurrence(NamedTuple):
    """A schedule that is due: its name, the moment, and the following one."""

    schedule: str
    due: float
    following: float

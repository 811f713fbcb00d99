"""Queries and transactions of a fleet, synchronous and over one connection, for one thread at a time."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)

from ralph.errors import UsageError
from ralph.fleet import schema
from ralph.fleet.records import (
    ACTIVE,
    ENDED,
    MOST_KILLS,
    OPEN,
    Beat,
    Entry,
    FleetLimits,
    FleetStatus,
    Occurrence,
    WorkerEntry,
)
from ralph.fleet.task import VERSION
from ralph.store import Database

_task, _worker, _needs, _schedule = schema.tasks.c, schema.workers.c, schema.needs.c, schema.schedules.c

_PAGES = 4
"""Rows that are looked at for each task that is taken: some have to wait for others in the same place."""

_LOST = "its worker was lost"
_ASKED_FOR = {"pause": "paused", "stop": "stopped"}
_SET_ASIDE = (
    f"{MOST_KILLS} workers in a row were lost while it ran, so it is set aside: look at it, then `ralph fleet retry`"
)

_PROGRESS = (
    update(schema.tasks)
    .where(_task.id == bindparam("task_id"), _task.worker == bindparam("of"), _task.turn == bindparam("in_turn"))
    .values(
        iterations=bindparam("done"),
        cost=_task.cost + bindparam("more"),
        kills=case((bindparam("finished", type_=Integer) > 0, 0), else_=_task.kills),
        state=bindparam("now_is"),
        run_id=bindparam("run"),
        reason=bindparam("why"),
    )
)


class Tables:
    """The tables of a fleet in a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.connection = database.open(schema.MIGRATION, patience=10.0)
        self._now: ColumnElement[float] = literal_column(database.clock)

    def close(self) -> None:
        self.connection.close()

    # what users do

    def submit(
        self,
        rows: Sequence[dict[str, Any]],
        needs: Sequence[tuple[str, str]],
        names: Sequence[str],
        occurrence: Occurrence | None = None,
    ) -> bool:
        """Add tasks, with pairs of a task's id and the name of one that it needs.

        With an occurrence of a schedule, it advances that, too; returns False if another worker was faster.
        """
        with self.database.transaction(self.connection):
            if occurrence is not None and not self._advanced(occurrence):
                return False
            self._require_free(names)
            wanted = {name for _, name in needs}
            own = {row["name"]: row["id"] for row in rows if row["name"]}
            known = {**self._named(wanted - own.keys()), **{name: (id_, "queued") for name, id_ in own.items()}}
            if unknown := sorted(wanted - known.keys()):
                raise UsageError(f"No task has the name {unknown[0]!r}, which `after` names.", "Submit that one first.")
            pairs = list(dict.fromkeys((id_, known[name][0]) for id_, name in needs if known[name][1] != "done"))
            blocked: dict[str, int] = {}
            for task_id, _ in pairs:
                blocked[task_id] = blocked.get(task_id, 0) + 1
            first = (self.connection.scalar(select(func.max(_task.seq))) or 0) + 1
            now = self._time()
            full = [
                {**row, "seq": first + number, "submitted_at": now, "blocked": blocked.get(row["id"], 0)}
                for number, row in enumerate(rows)
            ]
            self.connection.execute(insert(schema.tasks), full)
            if pairs:
                made = [{"task_id": task_id, "needed_id": needed} for task_id, needed in pairs]
                self.connection.execute(insert(schema.needs), made)
            return True

    def _require_free(self, names: Sequence[str], but: str = "") -> None:
        """Raise `UsageError` if a task with one of the names is open, apart from one task."""
        if names:
            self.connection.execute(select(schema.settings.c.body).with_for_update())  # one at a time
        if taken := self._open_names(names, but):
            raise UsageError(
                f"A task with the name {taken!r} has not ended yet.", "Choose another name, or stop that task."
            )

    def _open_names(self, names: Sequence[str], but: str) -> str | None:
        for start in range(0, len(names), 500):
            part = names[start : start + 500]
            found = select(_task.name).where(_task.name.in_(part), _task.state.in_(OPEN), _task.id != but)
            if (name := self.connection.scalar(found.limit(1))) is not None:
                return name
        return None

    def _named(self, names: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return the id and state of the newest task with each name."""
        found = select(_task.name, _task.id, _task.state).where(_task.name.in_(sorted(names))).order_by(_task.seq)
        return {str(row.name): (row.id, row.state) for row in self.connection.execute(found)}

    def find(self, name: str, limit: int = 3) -> list[Entry]:
        """Return the task with an id; else the newest with a name; else those with an id that begins so."""
        for which in (_task.id == name, _task.name == name):
            if found := self._entries(select(schema.tasks).where(which).order_by(_task.seq.desc()).limit(1)):
                return found
        begins = _task.id.startswith(name, autoescape=True)
        return self._entries(select(schema.tasks).where(begins).limit(limit)) if name else []

    def entries(self, states: Sequence[str] = (), limit: int = 100) -> list[Entry]:
        """Return the tasks in some states, running ones first, then in the order of the queue."""
        order = case({state: number for number, state in enumerate((*ACTIVE, "paused", "queued"))}, value=_task.state)
        wanted = select(schema.tasks).where(*([_task.state.in_(states)] if states else []))
        newest = _task.finished_at.desc()
        return self._entries(wanted.order_by(order.nulls_last(), newest, _task.priority.desc(), _task.seq).limit(limit))

    def needed(self, task_id: str) -> list[Entry]:
        """Return the tasks that a task waits for."""
        ids = select(_needs.needed_id).where(_needs.task_id == task_id)
        return self._entries(select(schema.tasks).where(_task.id.in_(ids)).limit(100))

    def want(self, task_id: str, what: str) -> Entry:
        """Ask for a task to pause or stop; one that no worker has does so at once. Return it as it was."""
        with self.database.transaction(self.connection):
            entry = self._locked(task_id)
            if entry.state in ACTIVE:
                self._set(task_id, wanted=entry.wanted if entry.wanted == "stop" else what)
            elif entry.state == "queued" or (entry.state == "paused" and what == "stop"):
                ended = {"finished_at": self._time()} if what == "stop" else {}
                self._set(task_id, state="stopped" if what == "stop" else "paused", reason="you asked for it", **ended)
            return entry

    def requeue(self, task_id: str, *, anew: bool) -> Entry:
        """Put a task back into the queue; return it as it was. With `anew` its next run begins from the start."""
        with self.database.transaction(self.connection):
            entry = self._locked(task_id)
            if entry.state == "paused" or entry.state in ENDED:
                self._require_free([entry.name] if entry.name else [], entry.id)
                run = {"run_id": "", "iterations": 0} if anew else {}
                self._set(
                    task_id, state="queued", wanted="", kills=0, not_before=0.0, finished_at=0.0, reason="", **run
                )
            elif entry.wanted == "pause" and not anew:
                self._set(task_id, wanted="")
            return entry

    def limits(self, limits: FleetLimits | None = None) -> FleetLimits:
        """Return the limits of the fleet, after setting them if they are given."""
        with self.database.transaction(self.connection):
            if limits is not None:
                self.connection.execute(update(schema.settings).values(body=limits.model_dump_json()))
            return self._limits()

    def status(self) -> FleetStatus:
        """Return the fleet at a glance."""
        with self.connection.begin():
            now = self._time()
            counted = select(_task.state, func.count()).group_by(_task.state)
            tasks = {str(state): count for state, count in self.connection.execute(counted)}
            ready = self.connection.scalar(select(func.count()).select_from(schema.tasks).where(*self._ready()))
            limits, (cost, iterations) = self._limits(), self._spent()
            workers = tuple(self._workers(now))
        return FleetStatus(
            at=now,
            tasks=tasks,
            ready=ready or 0,
            workers=workers,
            throughput=sum(worker.rate for worker in workers if worker.seen_at > now - 60),
            cost=cost,
            iterations=iterations,
            limits=limits,
            halted=limits.reached(cost, sum(tasks.get(state, 0) for state in ACTIVE)),
        )

    def _workers(self, now: float) -> Iterable[WorkerEntry]:
        for row in self.connection.execute(select(schema.workers).order_by(_worker.name)).mappings():
            worker = _worker_of(row)
            late = worker.token and worker.until < now
            gone = not worker.token and worker.state != "stopped"
            yield worker.model_copy(update={"state": "lost"}) if late or gone else worker

    # what workers do

    def register(
        self, worker: WorkerEntry, lease: float, *, dead: bool, own: str = "", alive: Sequence[str] = ()
    ) -> bool:
        """Begin a worker's lease; return False if another process under its name has a valid one.

        The tasks of an earlier process under this name go back into the queue.

        Args:
            dead: the process that has the lease is known to have ended.
            own: the token of an earlier lease of this process.
            alive: tasks that this process gave up; that it was lost does not count against them, as it was not.
        """
        with self.database.transaction(self.connection):
            row = self.connection.execute(self._worker_row(worker.name)).first()
            another = row is not None and row.token not in {"", own, worker.token} and row.until > self._time()
            if another and not dead:
                return False
            kept = self._take_from([worker.name], kills=0 if own else 1)
            if taken := set(alive).difference(kept):  # by others, who took it for lost
                given_up = (_task.id.in_(taken), _task.kills > 0, _task.state.not_in(ENDED))
                self.connection.execute(update(schema.tasks).where(*given_up).values(kills=_task.kills - 1))
            values = self._beating(worker, lease) | {"token": worker.token, "started_at": self._time()}
            self.connection.execute(delete(schema.workers).where(_worker.name == worker.name))
            self.connection.execute(insert(schema.workers).values(name=worker.name, **values))
        return True

    def registered(self, name: str) -> WorkerEntry | None:
        with self.connection.begin():
            row = self.connection.execute(self._worker_row(name)).mappings().first()
        return None if row is None else _worker_of(row)

    def beat(self, worker: WorkerEntry, lease: float, progress: Sequence[Mapping[str, Any]]) -> Beat:
        """Renew a worker's lease, store the progress of its runs, and take tasks from workers that were lost.

        One that is late itself takes none: the database was away, and the others are to renew theirs first.
        """
        with self.database.transaction(self.connection):
            late_itself = select(_worker.name).where(_worker.name == worker.name, _worker.until < self._now)
            was_away = self.connection.scalar(late_itself) is not None
            this = (_worker.name == worker.name, _worker.token == worker.token)
            renewed = update(schema.workers).where(*this).values(self._beating(worker, lease))
            if not self.connection.execute(renewed).rowcount:
                return Beat(alive=False, wanted={}, taken=(), limits=self._limits())
            if progress:
                self._progressed(worker.name, progress)
            mine = select(_task.id, _task.wanted).where(_task.worker == worker.name, _task.wanted != "")
            wanted = {str(task_id): str(what) for task_id, what in self.connection.execute(mine)}
            late = select(_worker.name).where(_worker.token != "", _worker.until < self._now)
            lost = [] if was_away else [str(name) for name in self.connection.scalars(late)]
            taken = self._take_from(lost) if lost else ()
            if lost:
                self.connection.execute(update(schema.workers).where(_worker.name.in_(lost)).values(token=""))
            return Beat(alive=True, wanted=wanted, taken=taken, limits=self._limits())

    def _progressed(self, worker: str, progress: Sequence[Mapping[str, Any]]) -> None:
        self.connection.execute(_PROGRESS, [{**each, "of": worker} for each in progress])
        cost = sum(each["more"] for each in progress)
        finished = sum(each["finished"] for each in progress)
        month = f"{datetime.fromtimestamp(self._time(), UTC):%Y-%m}"
        if cost or finished:
            row, costs = schema.costs.c, schema.costs
            more = {"cost": row.cost + cost, "iterations": row.iterations + finished}
            if not self.connection.execute(update(costs).where(row.month == month).values(more)).rowcount:
                self.connection.execute(insert(costs).values(month=month, cost=cost, iterations=finished))

    def leave(self, worker: WorkerEntry) -> None:
        """End a worker's lease; tasks that it still has go back into the queue."""
        with self.database.transaction(self.connection):
            mine = update(schema.workers).where(_worker.name == worker.name, _worker.token == worker.token)
            if self.connection.execute(mine.values(self._beating(worker, 0.0) | {"token": ""})).rowcount:
                self._take_from([worker.name], kills=0)

    def claim(self, worker: WorkerEntry, count: int) -> list[Entry]:
        """Hand out up to so many tasks to a worker, in the order of the queue and within the limits of the fleet.

        A task with `dangling` set was lost by a worker, so its workflow is resumed in place of a new one.
        """
        with self.database.transaction(self.connection):
            locked = select(schema.settings.c.body).with_for_update()
            limits = FleetLimits.model_validate_json(self.connection.scalar(locked) or "{}")
            mine = select(_worker.name).where(_worker.name == worker.name, _worker.token == worker.token)
            if self.connection.scalar(mine) is None:  # its lease is over, and it does not know that yet
                return []
            counted = select(_task.place, func.count()).where(_task.state.in_(ACTIVE)).group_by(_task.place)
            places = {str(place): number for place, number in self.connection.execute(counted)}
            running = sum(places.values())
            if limits.reached(self._spent()[0] if limits.cost_per_month else 0.0, running):
                return []
            room = min(count, limits.concurrency - running if limits.concurrency else count)
            most = limits.per_repository or 10**9
            chosen: list[Entry] = []
            for entry in self._candidates(worker, most, room * _PAGES):
                if len(chosen) < room and places.get(entry.place, 0) < most:
                    places[entry.place] = places.get(entry.place, 0) + 1
                    chosen.append(entry)
            return [self._handed_out(entry, worker.name) for entry in chosen]

    def _candidates(self, worker: WorkerEntry, most: int, limit: int) -> list[Entry]:
        kinds = self.connection.scalars(select(_task.labels).where(_task.state == "queued").distinct())
        fitting = [kind for kind in kinds if set(json.loads(kind)) <= set(worker.labels)]
        other = schema.tasks.alias("other").c
        full = select(other.place).where(other.state.in_(ACTIVE)).group_by(other.place).having(func.count() >= most)
        where = [*self._ready(), _task.labels.in_(fitting), _task.place.not_in(full)]
        queue = select(schema.tasks).where(*where).order_by(_task.priority.desc(), _task.seq).limit(limit)
        return [_entry(row) for row in self.connection.execute(queue).mappings()] if fitting else []

    def _ready(self) -> list[ColumnElement[bool]]:
        return [
            _task.state == "queued",
            _task.blocked <= 0,
            _task.not_before <= self._now,
            _task.version <= VERSION,
        ]

    def _handed_out(self, entry: Entry, worker: str) -> Entry:
        values = {
            "state": "running",
            "worker": worker,
            "turn": entry.turn if entry.dangling else entry.turn + 1,
            "run_id": entry.run_id or (entry.id if not entry.turn else f"{entry.id}-{entry.turn + 1}"),
            "wanted": "",
            "reason": "",
            "started_at": entry.started_at or self._time(),
        }
        self._set(entry.id, **values, dangling=0)  # the caller sees what it was
        return entry.model_copy(update=values)

    def next_turn(self, entry: Entry) -> Entry | None:
        """Count another turn of a task, with a workflow of its own; None if it is not this worker's any more."""
        with self.database.transaction(self.connection):
            mine = (_task.id == entry.id, _task.worker == entry.worker, _task.turn == entry.turn)
            if not self.connection.execute(update(schema.tasks).where(*mine).values(turn=entry.turn + 1)).rowcount:
                return None
        return entry.model_copy(update={"turn": entry.turn + 1})

    def let_go(
        self, entry: Entry, worker: str, progress: Mapping[str, Any], *, state: str, reason: str, delay: float = 0.0
    ) -> str:
        """Store that a worker no longer has a task: it has ended, or returns to the queue, also paused.

        What the user asked for of a task that returns prevails. Those that waited for a task that is done may begin.
        Returns the state; empty if the task is not this worker's any more.
        """
        with self.database.transaction(self.connection):
            mine = (_task.id == entry.id, _task.worker == worker, _task.turn == entry.turn)
            row = self.connection.execute(select(_task.wanted).where(*mine).with_for_update()).first()
            if row is None:
                return ""
            if state in {"queued", "paused"} and row.wanted:
                state, reason = _ASKED_FOR[row.wanted], "you asked for it"
            elif state == "paused":
                state, reason = "queued", ""  # the pause was taken back
            self._progressed(worker, [progress])
            values: dict[str, Any] = {"state": state, "worker": "", "wanted": "", "reason": reason[:2_000]}
            if state in ENDED:
                values["finished_at"] = self._now
            self._set(entry.id, **values, not_before=self._now + delay if delay else 0.0)
            if state == "done":
                waiting = select(_needs.task_id).where(_needs.needed_id == entry.id)
                freed = update(schema.tasks).where(_task.id.in_(waiting)).values(blocked=_task.blocked - 1)
                self.connection.execute(freed)
                self.connection.execute(delete(schema.needs).where(_needs.needed_id == entry.id))
            return state

    def keep(self, entry: Entry, iteration: int, tip: str) -> bool:
        """Store the commit with an iteration's files; return False if the task is not this worker's any more."""
        with self.database.transaction(self.connection):
            mine = (_task.id == entry.id, _task.worker == entry.worker, _task.turn == entry.turn)
            if self.connection.scalar(select(_task.id).where(*mine).with_for_update()) is None:
                return False
            self.connection.execute(delete(schema.saved).where(schema.saved.c.run_id == entry.run_id))
            self.connection.execute(insert(schema.saved).values(run_id=entry.run_id, iteration=iteration, tip=tip))
            return True

    def kept(self, run_id: str) -> tuple[int, str]:
        """Return the last iteration of a run with files that were kept, and their commit; 0 without one."""
        with self.connection.begin():
            row = self.connection.execute(select(schema.saved).where(schema.saved.c.run_id == run_id)).first()
            return (row.iteration, row.tip) if row else (0, "")

    def call(self, per_minute: int) -> float:
        """Count a call of an agent, and return 0; or the seconds to wait if there were too many in the last minute."""
        with self.database.transaction(self.connection):
            self.connection.execute(select(schema.settings.c.body).with_for_update())
            now, at = self._time(), schema.calls.c.at
            self.connection.execute(delete(schema.calls).where(at < now - 60))
            last = select(at).order_by(at.desc()).offset(per_minute - 1).limit(1)
            if (oldest := self.connection.scalar(last)) is not None:
                return max(0.05, oldest + 60 - now)
            self.connection.execute(insert(schema.calls).values(at=now))
            return 0.0

    def _take_from(self, names: Sequence[str], *, kills: int = 1) -> tuple[str, ...]:
        """Put the tasks of lost workers back into the queue; set those aside that were there when too many were.

        Args:
            kills: 0 if the workers were not lost, but gave their tasks up.
        """
        theirs = (_task.worker.in_(names), _task.state.in_(ACTIVE))
        ids = tuple(self.connection.scalars(select(_task.id).where(*theirs).with_for_update()))
        if not ids:
            return ()
        aside, stops, pauses = _task.kills + kills >= MOST_KILLS, _task.wanted == "stop", _task.wanted == "pause"
        state = case((aside, "set_aside"), (stops, "stopped"), (pauses, "paused"), else_="queued")
        reason = case((aside, _SET_ASIDE), else_=_LOST)
        taken = {"state": state, "reason": reason, "kills": _task.kills + kills, "dangling": 1}
        ended = case((aside | stops, self._now), else_=0.0)
        values = {**taken, "worker": "", "wanted": "", "not_before": 0.0, "finished_at": ended}
        self.connection.execute(update(schema.tasks).where(*theirs).values(values))
        return ids

    def _beating(self, worker: WorkerEntry, lease: float) -> dict[str, Any]:
        columns = {"name", "token", "until", "started_at", "seen_at", "state", "slots", "iterations"}
        body = worker.model_dump_json(exclude=columns)
        counted = {"state": worker.state, "slots": worker.slots, "iterations": worker.iterations}
        return {**counted, "until": self._now + lease, "seen_at": self._now, "body": body}

    @staticmethod
    def _worker_row(name: str) -> Select[*tuple[Any, ...]]:
        return select(schema.workers).where(_worker.name == name).with_for_update()

    # schedules

    def schedules(self) -> list[dict[str, Any]]:
        """Return the schedules by name."""
        with self.connection.begin():
            found = self.connection.execute(select(schema.schedules).order_by(_schedule.name))
            return [dict(row) for row in found.mappings()]

    def schedule(self, name: str, cron: str, due: float, body: str) -> None:
        """Add a schedule, or replace the one of that name."""
        values = {"cron": cron, "due": due, "body": body}
        with self.database.transaction(self.connection):
            changed = update(schema.schedules).where(_schedule.name == name).values(values)
            if not self.connection.execute(changed).rowcount:
                self.connection.execute(insert(schema.schedules).values(name=name, **values))

    def unschedule(self, name: str) -> bool:
        with self.database.transaction(self.connection):
            return self.connection.execute(delete(schema.schedules).where(_schedule.name == name)).rowcount > 0

    def _advanced(self, occurrence: Occurrence) -> bool:
        name, due, following = occurrence
        mine = (_schedule.name == name, _schedule.due == due)
        advanced = update(schema.schedules).where(*mine).values(due=following, count=_schedule.count + 1)
        return self.connection.execute(advanced).rowcount > 0

    def now(self) -> float:
        """Return the time by the database's clock."""
        with self.connection.begin():
            return self._time()

    # parts

    def _time(self) -> float:
        return self.connection.scalar(select(self._now)) or 0.0

    def _limits(self) -> FleetLimits:
        return FleetLimits.model_validate_json(self.connection.scalar(select(schema.settings.c.body)) or "{}")

    def _spent(self) -> tuple[float, int]:
        month = f"{datetime.fromtimestamp(self._time(), UTC):%Y-%m}"
        row = self.connection.execute(select(schema.costs).where(schema.costs.c.month == month)).first()
        return (row.cost, row.iterations) if row else (0.0, 0)

    def _set(self, task_id: str, **values: Any) -> None:
        self.connection.execute(update(schema.tasks).where(_task.id == task_id).values(values))

    def _locked(self, task_id: str) -> Entry:
        found = self.connection.execute(select(schema.tasks).where(_task.id == task_id).with_for_update())
        return _entry(found.mappings().one())

    def _entries(self, statement: Select[*tuple[Any, ...]]) -> list[Entry]:
        with self.connection.begin():
            return [_entry(row) for row in self.connection.execute(statement).mappings()]


def _entry(row: Mapping[Any, Any]) -> Entry:
    return Entry.model_validate({str(key): value for key, value in row.items() if key != "seq"})


def _worker_of(row: Mapping[Any, Any]) -> WorkerEntry:
    columns = {str(key): value for key, value in row.items() if key != "body"}
    return WorkerEntry.model_validate({**columns, **json.loads(row["body"])})

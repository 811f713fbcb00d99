"""`ralph fleet`: many tasks on one machine or many."""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.lookup import configured_store, store_option
from ralph.cli.options import AsJson, StoreName
from ralph.cli.output import print_json, print_paragraph, print_table
from ralph.decision.backing import GRADES
from ralph.errors import UsageError

if TYPE_CHECKING:
    from ralph.fleet import Entry, Fleet, FleetLimits, FleetStatus, Task

app = typer.Typer(add_completion=False, no_args_is_help=True)

TaskId = Annotated[str, typer.Argument(metavar="TASK", help="Its name, its id, or the beginning of the id.")]
TaskIds = Annotated[list[str], typer.Argument(metavar="TASK...", help="Names, ids, or the beginnings of ids.")]
TaskFile = Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="Tasks in YAML or JSON.")]
Labels = Annotated[list[str] | None, typer.Option("--label", metavar="LABEL", help="Repeatable.")]
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


@app.callback()
def fleet() -> None:
    """Run many tasks, on one machine or many, with a shared queue."""


@app.command()
async def submit(
    *,
    prompt: Annotated[str | None, typer.Argument(metavar="PROMPT", help="The task, if it is only one.")] = None,
    file: TaskFile = None,
    repository: Annotated[
        str | None, typer.Option("--repository", metavar="URL", help="A git repository; the task works in a copy.")
    ] = None,
    folder: Annotated[Path | None, typer.Option("--folder", metavar="DIR", help="A folder to work in.")] = None,
    ref: Annotated[str | None, typer.Option("--ref", metavar="REF", help="Where to begin in the repository.")] = None,
    branch: Annotated[str | None, typer.Option("--branch", metavar="NAME", help="Receives the result.")] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="For commands, and for --after.")] = None,
    verify: Annotated[list[str] | None, typer.Option("--verify", metavar="COMMAND", help="Repeatable.")] = None,
    priority: Annotated[int, typer.Option("--priority", metavar="N", help="Greater ones start first.")] = 0,
    label: Labels = None,
    after: Annotated[
        list[str] | None, typer.Option("--after", metavar="NAME", help="Begin when that task is done; repeatable.")
    ] = None,
    max_iterations: Annotated[int | None, typer.Option("--max-iterations", metavar="N")] = None,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Add tasks to the queue.

    A file has `tasks:`, a list of tables with the fields task, repository or
    folder, name, ref, branch, verify, limits, priority, labels, after and
    settings; what stands beside `tasks:` is common to all.
    """
    given: dict[str, Any] = {
        "task": prompt,
        "repository": repository,
        "folder": folder.expanduser().absolute() if folder else None,
        "ref": ref,
        "branch": branch,
        "name": name,
        "verify": verify,
        "priority": priority or None,
        "labels": label,
        "after": after,
        "limits": {"max_iterations": max_iterations} if max_iterations else None,
    }
    _require_folder(folder, store)
    tasks = _given_tasks(file, {key: value for key, value in given.items() if value is not None})
    async with _opened(store) as opened:
        ids = await opened.submit(tasks)
    if as_json:
        print_json({"submitted": ids})
    else:
        print_paragraph(f"Submitted {_count(len(ids), 'task')}{f': {ids[0]}' if len(ids) == 1 else ''}.")


def _require_folder(folder: Path | None, store: str | None) -> None:
    """Raise `UsageError` for a folder that is not there, unless a worker on another machine may have it."""
    from ralph.store import file_of

    if folder is None or folder.expanduser().is_dir() or file_of(configured_store(store, Path.cwd())) is None:
        return
    raise UsageError(
        f"The folder {str(folder)!r} does not exist.",
        "Correct --folder. Only with a store on PostgreSQL, another machine may have the folder.",
    )


def _given_tasks(file: Path | None, given: dict[str, Any]) -> "list[Task]":
    from ralph.fleet import read_tasks
    from ralph.fleet.task import tasks_of

    if file is not None:
        if given:
            raise UsageError("--file cannot be combined with the parts of a single task.", "Write them into the file.")
        return read_tasks(file)
    if "task" not in given:
        raise UsageError("There is no task.", "Write it as an argument, or name a file of tasks with --file.")
    if given["task"] == "-":
        given["task"] = sys.stdin.read()
    if "repository" not in given:
        given.setdefault("folder", Path.cwd())
    return tasks_of([given], "The command line", Path.cwd())


@app.command()
def worker(
    *,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Stable over restarts; by default the machine's.")
    ] = None,
    slots: Annotated[int, typer.Option("--slots", min=1, max=1_000, metavar="N", help="Iterations at once.")] = 2,
    label: Labels = None,
    lease: Annotated[
        float, typer.Option("--lease", min=1, max=3_600, metavar="SECONDS", help="Then its tasks go to others.")
    ] = 15.0,
    until_empty: Annotated[bool, typer.Option("--until-empty", help="End when no task is left that can run.")] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Consent to the settings in repositories and folders.")
    ] = False,
    store: StoreName = None,
) -> int:
    """Run tasks of the queue until SIGTERM or Ctrl+C.

    Then it finishes the iterations that are running, returns the tasks to the
    queue, and ends; a second signal ends it at once. With --until-empty it
    ends with code 1 if one of its tasks failed, or if tasks are left that
    wait for one that failed, or whose labels no worker has.
    """
    from ralph.fleet import Worker

    def note(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    with _metrics(note) as look:
        made = Worker(
            configured_store(store, Path.cwd()),
            name=name,
            slots=slots,
            labels=label or (),
            lease=lease,
            trust=trust,
            until_empty=until_empty,
            note=note,
            look=look,
        )
        note(f"Worker {made.name} takes tasks from {made.place}.")
        from ralph.fleet.process import run_worker
        from ralph.system.text import some_of

        run_worker(made)
    if not until_empty or not made.failed:
        return 0
    note(f"{_count(len(made.failed), 'task')} failed or cannot start: {some_of(made.failed)}.")
    return 1


@contextmanager
def _metrics(note: Callable[[str], None]) -> "Generator[Callable[[FleetStatus], None] | None]":
    """Provide what sends the fleet's state as metrics, if the standard variables of OpenTelemetry want that."""
    if not any(name.startswith("OTEL_") for name in os.environ):
        yield None
        return
    from ralph.fleet.metrics import FleetMetrics
    from ralph.watch.telemetry import exporting

    with exporting(note) as observers:
        yield FleetMetrics().look if observers else None


@app.command()
async def status(
    *,
    every: Annotated[bool, typer.Option("--all", help="List the tasks that have ended, too.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, metavar="N", help="Tasks to list.")] = 20,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Show the queue, the workers, the throughput and the cost."""
    from ralph.fleet.records import OPEN

    async with _opened(store) as opened:
        found = await opened.status()
        entries = await opened.entries(() if every else OPEN, limit)
    if as_json:
        print_json({
            **found.model_dump(exclude={"workers": {"__all__": {"token", "owner"}}}),
            "listed": [entry.shown() for entry in entries],
        })
        return
    _print_status(found, entries)


def _print_status(found: "FleetStatus", entries: "list[Entry]") -> None:
    counts = ", ".join(f"{number} {state.replace('_', ' ')}" for state, number in sorted(found.tasks.items()))
    print_paragraph(f"Tasks: {counts or 'none'}; {found.ready} can start.")
    month = f"{_count(found.iterations, 'iteration')} this month{f', {found.cost:.2f} dollars' * bool(found.cost)}"
    print_paragraph(f"{_count(found.throughput, 'iteration')} in the last minute; {month}.")
    if found.halted:
        print_paragraph(f"No task starts: {found.halted}.")
    if found.workers:
        rows = [
            (
                each.name,
                each.state,
                f"{each.running}/{each.slots}",
                f"{each.load:.2f}",
                str(each.iterations),
                _ago(found.at - each.seen_at),
                each.version,
            )
            for each in found.workers
        ]
        print_table(("WORKER", "STATE", "SLOTS", "LOAD", "ITERATIONS", "SEEN", "VERSION"), rows, ("VERSION", "LOAD"))
    if entries:
        columns = ("TASK", "STATE", "ITERATIONS", "WORKER", "PLACE", "WHAT")
        print_table(columns, [_row(entry) for entry in entries], ("PLACE", "ITERATIONS", "WORKER"))


def _row(entry: "Entry") -> tuple[str, ...]:
    state = "blocked" if entry.state == "queued" and entry.blocked else entry.state.replace("_", " ")
    if state == "done":  # with the grade of the completion
        state += next((f", {short}" for short, long in GRADES.items() if f"completed, {long}" in entry.reason), "")
    name = f"{entry.name} " if entry.name else ""
    what = entry.text.strip().partition("\n")[0][:80]
    return f"{name}{entry.id}", state, str(entry.iterations), entry.worker, entry.place, what


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _ago(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size:.0f}{unit} ago"
    return "now"


def _opened(store: str | None) -> "Fleet":
    """Return the fleet in the store that the command line names, or else the settings."""
    from ralph.fleet import Fleet

    return Fleet(configured_store(store, Path.cwd()))


@app.command()
async def show(*, task: TaskId, as_json: AsJson = False, store: StoreName = None) -> None:
    """Show a task: its state, its run, and what it waits for."""
    async with _opened(store) as opened:
        entry = await opened.find(task)
        needed = await opened.needed(entry.id)
    waits = [{"id": each.id, "name": each.name, "state": each.state} for each in needed]
    if as_json:
        print_json({**entry.shown(), "waits_for": waits, "submitted": entry.task.model_dump(mode="json")})
        return
    print_table(("TASK", "STATE", "ITERATIONS", "WORKER", "PLACE", "WHAT"), [_row(entry)])
    facts = [
        entry.reason and f"{entry.reason[0].upper()}{entry.reason[1:]}.".replace("..", "."),
        entry.cost and f"It cost {entry.cost:.2f} dollars.",
        *(_waiting(each, store) for each in needed),
        entry.run_id and f"`ralph show {entry.run_id}{store_option(store)}` shows its run.",
    ]
    for fact in filter(None, facts):
        print_paragraph(str(fact))


def _waiting(needed: "Entry", store: str | None) -> str:
    """Return that a task waits for another one, in words."""
    name, state, where = needed.name or needed.id, needed.state.replace("_", " "), store_option(store)
    if needed.state not in {"failed", "stopped", "set_aside"}:
        return f"It waits for {name} ({state})."
    return f"It waits for {name}, which is {state}: it can't start until `ralph fleet retry {name}{where}`."


@app.command()
async def logs(
    *,
    task: TaskId,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run ends.")] = False,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Print what happened in the run of a task, as `ralph logs` does; wait for it to begin with -f."""
    import anyio

    from ralph.cli.show import logs as logs_of_run
    from ralph.fleet.records import OPEN

    async with _opened(store) as opened:
        entry = await opened.find(task)
        while follow and not entry.run_id and entry.state in OPEN:
            await anyio.sleep(0.5)
            entry = await opened.find(entry.id)
        url = opened.url
    if not entry.run_id:
        raise UsageError(f"Task {entry.id} has not begun.", "`ralph fleet show` says what it waits for.")
    await logs_of_run(run=entry.run_id, follow=follow, as_json=as_json, store=url)


@app.command()
async def pause(*, tasks: TaskIds, store: StoreName = None) -> None:
    """Pause tasks at the end of their iteration, until `ralph fleet resume`."""
    await _control(tasks, store, "pause", {"queued": "is paused", "*": "pauses at the end of its iteration"})


@app.command()
async def resume(*, tasks: TaskIds, store: StoreName = None) -> None:
    """Put tasks that are paused, stopped or set aside back into the queue; their runs continue."""
    await _control(
        tasks, store, "resume", {"running": "continues", "waiting": "continues", "*": "is in the queue again"}
    )


@app.command()
async def stop(*, tasks: TaskIds, store: StoreName = None) -> None:
    """Stop tasks: the agent's turn ends at once, and its output so far is stored."""
    await _control(tasks, store, "stop", {"queued": "is stopped", "paused": "is stopped", "*": "is being stopped"})


@app.command()
async def retry(*, tasks: TaskIds, store: StoreName = None) -> None:
    """Put tasks that have ended back into the queue, each for a new run."""
    await _control(tasks, store, "retry", {"*": "is in the queue again, for a new run"})


_POSSIBLE = {
    "pause": ("queued", "running", "waiting"),
    "stop": ("queued", "running", "waiting", "paused"),
    "resume": ("paused", "stopped", "set_aside", "failed"),
    "retry": ("paused", "stopped", "set_aside", "failed", "done"),
}


async def _control(names: list[str], store: str | None, what: str, said: dict[str, str]) -> None:
    """Ask for something of each task, and print what becomes of it; refuse if it makes no sense for one."""
    async with _opened(store) as opened:
        entries = [await opened.find(name) for name in names]
        for entry in entries:
            taken_back = what == "resume" and entry.wanted == "pause"
            if entry.state not in _POSSIBLE[what] and not taken_back:
                state = entry.state.replace("_", " ")
                raise UsageError(f"Task {entry.name or entry.id} is {state}.", f"So there is nothing to {what}.")
        for entry in entries:
            before = await getattr(opened, what)(entry.id)
            print_paragraph(f"Task {entry.name or entry.id} {said.get(before.state, said['*'])}.")


@app.command()
async def limits(
    *,
    concurrency: Annotated[str | None, typer.Option("--concurrency", metavar="N", help="Tasks at once.")] = None,
    per_repository: Annotated[
        str | None, typer.Option("--per-repository", metavar="N", help="Tasks at once in one repository or folder.")
    ] = None,
    calls_per_minute: Annotated[
        str | None, typer.Option("--calls-per-minute", metavar="N", help="Iterations of all agents in any minute.")
    ] = None,
    cost_per_month: Annotated[
        str | None, typer.Option("--cost-per-month", metavar="USD", help="Then no task starts until the next month.")
    ] = None,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Show the limits of the whole fleet, or set some; `none` removes one."""
    given = {
        "concurrency": concurrency,
        "per_repository": per_repository,
        "calls_per_minute": calls_per_minute,
        "cost_per_month": cost_per_month,
    }
    changed = {key: None if value == "none" else value for key, value in given.items() if value is not None}
    async with _opened(store) as opened:
        now = await opened.limits()
        if changed:
            now = await opened.limits(_limits_of({**now.model_dump(), **changed}))
    if as_json:
        print_json(now.model_dump())
        return
    rows = [
        (name.replace("_", " "), "none" if value is None else f"{value:g}", _described(name))
        for name, value in now.model_dump().items()
    ]
    print_table(("LIMIT", "VALUE", "MEANING"), rows)


def _limits_of(values: dict[str, Any]) -> "FleetLimits":
    from pydantic import ValidationError

    from ralph.errors import plainly
    from ralph.fleet import FleetLimits

    try:
        return FleetLimits.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        flag = f"--{'-'.join(str(first['loc'][0]).split('_'))}"
        raise UsageError(f"{flag}: {plainly(first['msg'])}.", "Write a positive number, or `none`.") from None


def _described(name: str) -> str:
    from ralph.fleet import FleetLimits

    return FleetLimits.model_fields[name].description or ""


@app.command()
async def schedule(
    *,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Of the schedule; without it, list them.")] = None,
    cron: Annotated[str | None, typer.Option("--cron", metavar="TEXT", help="Such as '0 2 * * 1-5', in UTC.")] = None,
    file: TaskFile = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the schedule.")] = False,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Submit the tasks of a file again and again, or list what is scheduled.

    A worker that is alive submits them; what was missed while none was, is
    submitted once.
    """
    from datetime import UTC, datetime

    from ralph.fleet import read_tasks
    from ralph.fleet.schedule import add_schedule, remove_schedule

    async with _opened(store) as opened:
        if name is not None and remove:
            await remove_schedule(opened, name)
            print_paragraph(f"The schedule {name} is removed.")
            return
        if name is not None:
            if cron is None or file is None:
                raise UsageError("A schedule needs its times and its tasks.", "Add --cron and --file.")
            due = await add_schedule(opened, name, cron, read_tasks(file))
            print_paragraph(
                f"The schedule {name} is due first at {datetime.fromtimestamp(due, UTC):%Y-%m-%d %H:%M} UTC."
            )
            return
        found = await opened.schedules()
    if as_json:
        print_json([{key: value for key, value in each.items() if key != "body"} for each in found])
        return
    rows = [
        (each["name"], each["cron"], f"{datetime.fromtimestamp(each['due'], UTC):%Y-%m-%d %H:%M}", str(each["count"]))
        for each in found
    ]
    print_table(("SCHEDULE", "CRON", "DUE (UTC)", "TIMES"), rows)

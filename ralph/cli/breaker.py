"""`ralph breaker`: show or reset the circuit breaker of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.core

from ralph.cli.lookup import is_alive, opened_run, owner_text, store_option
from ralph.cli.options import AnyFolder, AsJson, RunId, StoreName
from ralph.cli.output import console, print_json, print_paragraph, when
from ralph.errors import UsageError
from ralph.system.text import one_line
from ralph.watch.terminal import BREAKER_SIGNS, print_text, sign

if TYPE_CHECKING:
    from ralph.decision.breaker import BreakerState
    from ralph.records.events import BreakerChanged
    from ralph.records.record import RunRecord
    from ralph.store import Store


class _ShowByDefault(typer.core.TyperGroup):
    """Group that passes a run or an option without a sub-command to `show`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = args[0] if args else "last"
        shows = first == "last" or first[:1].isdigit() or (first.startswith("-") and first not in {"--help", "-h"})
        return super().parse_args(ctx, ["show", *args] if shows else args)


app = typer.Typer(cls=_ShowByDefault, add_completion=False)


@app.callback()
def breaker() -> None:
    """Show or reset the circuit breaker of a run; show is the default."""


@app.command()
async def show(
    *, run: RunId = "last", any_folder: AnyFolder = False, as_json: AsJson = False, store: StoreName = None
) -> None:
    """Show its state, its counters and when it changed."""
    from ralph.records.events import BreakerChanged

    async with opened_run(run, store, any_folder=any_folder) as (opened, record):
        state = (await opened.state(record)).breaker
        history = [event async for event in opened.events(record.id) if isinstance(event, BreakerChanged)]
    if as_json:
        changes = [event.model_dump(mode="json") for event in history]
        print_json({"run_id": record.id, **state.model_dump(mode="json"), "history": changes})
    else:
        _print(record, state, history)


@app.command()
async def reset(
    *, run: RunId = "last", any_folder: AnyFolder = False, as_json: AsJson = False, store: StoreName = None
) -> None:
    """Reset its counters and let the run continue with a probe iteration. Not while the run is active."""
    from ralph.workspace.lock import WorkspaceLock

    async with opened_run(run, store, any_folder=any_folder) as (opened, record):
        lock = WorkspaceLock(Path(record.workspace)) if record.workspace else None
        if lock is not None:
            lock.acquire(record.id)  # no other process may write this run meanwhile
        try:
            state = await _reset(opened, record)
        finally:
            if lock is not None:
                lock.release()
    if as_json:
        print_json({"run_id": record.id, **state.model_dump(mode="json")})
        return
    word = state.state.replace("_", " ")
    resume = f"`ralph resume{store_option(store)} {record.id}`"
    probes = f": the first iteration after {resume} probes" if word == "half open" else ""
    print_paragraph(f"The breaker of run {record.id} is now {word}{probes}.")


async def _reset(store: "Store", run: "RunRecord") -> "BreakerState":
    from datetime import UTC, datetime

    from ralph.decision.breaker import CircuitBreaker
    from ralph.loop.ownership import maker_has_died, this_process
    from ralph.loop.recovery import interrupted
    from ralph.records.events import BreakerChanged
    from ralph.types import evolve

    if is_alive(run):
        remedy = f"End it first (`ralph stop {run.id}`); then reset its breaker."
        raise UsageError(f"Run {run.id} is running, in {owner_text(run)}.", remedy)
    before = await store.state(run)
    state = CircuitBreaker().reset(before.breaker)
    if state == before.breaker:
        return state
    event = BreakerChanged(
        run_id=run.id,
        seq=await store.last_seq(run.id) + 1,
        at=datetime.now(UTC),
        iteration=before.number,
        before=before.breaker.state,
        breaker=state,
    )
    cut_off = await interrupted(store, run)  # read from the last event, before the next one is added
    changed = evolve(run, breaker=state, reset_after=before.number, interrupted=cut_off)
    token = this_process().token
    holder = await store.holder(run.id)
    await store.acquire(run.id, token, dead=holder if maker_has_died(holder) else "")
    await store.append(run.id, [event], run=changed, owner=token)
    await store.release(run.id, token)
    return state


def _print(run: "RunRecord", state: "BreakerState", history: "list[BreakerChanged]") -> None:
    out = console()
    warns = state.state == "closed" and state.warning
    mark = sign(out, BREAKER_SIGNS["warning" if warns else state.state])
    word = f"{state.state.replace('_', ' ')}{', and warns' if warns else ''}"
    print_text(out, (f"{mark} {word}", "bold"), " ", (f"(run {run.id})", "dim"))
    rows: list[tuple[str, Any]] = [
        ("reason", one_line(state.reason)),
        ("without progress", state.no_progress),
        ("denied", state.denials),
        ("opened", f"{state.trips} times" if state.trips != 1 else "once"),
        *(("same error", f"{count} times: {one_line(error)}") for error, count in state.errors.items()),
    ]
    for label, value in rows:
        if value not in {"", 0, "0 times"}:
            print_text(out, (f"  {label:<17}", "dim"), str(value))
    for event in history:
        warned = " with a warning" if event.breaker.warning else ""
        change = f"{event.before} → {event.breaker.state}{warned}".replace("_", " ")
        why = f": {one_line(event.breaker.reason)}" if event.breaker.reason else ""
        print_text(out, (f"  {when(event.at)}  ", "dim"), f"after iteration {event.iteration}: {change}{why}")

"""`ralph logs`: what a run has said and done so far, and with -f what it goes on to say."""

from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.options import AsJson, RunId, StoreName

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.watch import Display

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_LOOK = 0.2

Follow = Annotated[bool, typer.Option("--follow", "-f", help="Continue with new events until the run ends.")]


@app.command()
def logs(*, run: RunId = "last", follow: Follow = False, as_json: AsJson = False, store: StoreName = None) -> int:
    """Print a run's events, as `ralph run` shows them; with --json, one per line."""
    import anyio

    from ralph.cli.run import look_up
    from ralph.watch import open_display

    with open_display("json" if as_json else "plain", look_up=look_up(store)) as shown:
        anyio.run(_print, run, store, follow, shown)
    return 1 if shown.out.refused else 0


async def _print(name: str, store: str | None, follow: bool, shown: "Display") -> None:  # noqa: FBT001 - anyio.run's
    import anyio

    from ralph.cli.lookup import find_run, opened_store, state_of
    from ralph.cli.store_url import named

    async with opened_store(store) as opened:
        run = await find_run(opened, name)
        shown.endpoint = bool(run.settings.get("executor", {}).get("base_url"))
        seq = await _show(opened, run, 0, shown)
        while follow and not shown.out.gone:
            run = await opened.run(run.id) or run
            state = state_of(run)
            seq = await _show(opened, run, seq, shown)  # what came before that look is there by now
            if state == "crashed":
                resume = f"`ralph resume{named(store)} {run.id}`"
                shown.note(f"The process of run {run.id} is gone. {resume} continues it.")
            if state not in {"running", "paused"}:
                return
            await anyio.sleep(_LOOK)


async def _show(store: "Store", run: "RunRecord", after: int, shown: "Display") -> int:
    """Shows the events with a greater `seq`; returns that of the last one. A slow reader is waited for."""
    import anyio

    async for event in store.events(run.id, after=after):
        while shown.out.full and not shown.out.gone:  # noqa: ASYNC110 - a thread writes
            await anyio.sleep(_LOOK)
        if shown.out.gone:
            break
        shown.show(event)
        after = event.seq
    return after

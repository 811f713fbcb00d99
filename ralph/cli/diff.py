"""`ralph diff`: what a run, or one of its iterations, has changed."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.options import AsJson, RunId, StoreName

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_MOST = 20_000_000
"""Characters of a difference that are shown."""

_STYLES = (("+++", "bold"), ("---", "bold"), ("diff ", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))

Iteration = Annotated[
    int | None, typer.Option("--iteration", metavar="N", min=1, help="Only that iteration; else the whole run.")
]


@app.command()
def diff(run: RunId = "last", *, iteration: Iteration = None, as_json: AsJson = False, store: StoreName = None) -> None:
    """Show what a run has changed, in commits and in uncommitted files, according to its checkpoints."""
    import anyio

    from ralph.cli.output import print_json

    told = anyio.run(_compare, run, iteration, store)
    if as_json:
        print_json(told)
        return
    _print(told["diff"])


async def _compare(name: str, number: int | None, store: str | None) -> dict[str, Any]:
    from ralph.cli.checkpoints import workspace_of
    from ralph.cli.lookup import find_run, opened_store

    async with opened_store(store) as opened:
        run = await find_run(opened, name)
        before, after = await _ends(opened, run, number)
        async with workspace_of(run, to_read=True) as workspace:
            checkpoints = workspace.checkpoints
            files = await checkpoints.files(before, after) if checkpoints else []
            text = await workspace.difference(before, after, limit=_MOST)
            lost = [each for each in (before, after) if checkpoints and not await checkpoints.holds(each)]
    if lost:
        from ralph.errors import UsageError

        raise UsageError(f"Checkpoint {lost[0][:12]} of run {run.id} no longer exists.", "It cannot be compared.")
    return {
        "run": run.id,
        "iteration": number,
        "before": before,
        "after": after,
        "files": [file._asdict() for file in files],
        "diff": text,
    }


async def _ends(store: "Store", run: "RunRecord", number: int | None) -> tuple[str, str]:
    """The checkpoints before and after an iteration, or the whole run. Raises `UsageError` where there are none."""
    from ralph.cli.checkpoints import iteration_of
    from ralph.errors import UsageError
    from ralph.loop.recovery import checkpoint_before

    last: str | None = None
    if number is None:
        first = run.checkpoint
        async for iteration in store.iterations(run.id):
            last = iteration.checkpoint.commit or last
    else:
        last = (await iteration_of(store, run, number)).checkpoint.commit
        first = await checkpoint_before(store, run.id, number)
    if first is None or last is None:
        what = "the run" if number is None else f"iteration {number}"
        raise UsageError(f"Run {run.id} lacks a checkpoint from before or after {what}.", "`ralph show` says why.")
    return first, last


def _print(text: str) -> None:
    """The difference: in colours in a terminal, else as git would print it, without control characters."""
    from ralph.records.projection import printable

    if not sys.stdout.isatty():
        sys.stdout.writelines(f"{printable(line, len(line) + 1)}\n" for line in text.split("\n")[:-1])
        return
    from rich.text import Text

    from ralph.cli.output import console

    out = console()
    for line in text.split("\n")[:-1]:
        style = next((style for start, style in _STYLES if line.startswith(start)), "")
        out.print(Text(printable(line, len(line) + 1), style=style), soft_wrap=True)

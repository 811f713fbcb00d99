"""`ralph score report`: one self-contained HTML page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph_grounding.cli.options import Domain, Store, context_of, open_store, run_named

if TYPE_CHECKING:
    from ralph_grounding.report import ReportData
    from ralph_grounding.settings import GroundingSettings
    from ralph_grounding.store.grounding import GroundingStore
    from ralph_grounding.store.records import GroundingRun

__all__ = ["report"]

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run to report on: its id, or last.")]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")]
Shown = Annotated[
    int, typer.Option("--worst", metavar="N", min=1, max=50, help="How many answers to show, the worst first.")
]

_MOST_RUNS = 60


def report(
    context: typer.Context,
    *,
    run: RunId = "last",
    output: Output = Path("ralph-score.html"),
    worst: Shown = 20,
    domain: Domain = "",
    store: Store = None,
) -> None:
    """Write an HTML page: scores over time, the worst answers with their evidence, providers side by side."""
    import anyio

    from ralph_grounding.report import render_report

    async def gather() -> "ReportData":
        async with open_store(context, store) as kept:
            named = await run_named(kept, run, store)
            return await _gathered(kept, named, domain, worst, context_of(context).settings)

    page = render_report(anyio.run(gather))
    _write(output, page)
    typer.echo(f"Written: {output}")


async def _gathered(
    store: "GroundingStore", run: "GroundingRun", domain: str, worst: int, settings: "GroundingSettings"
) -> "ReportData":
    from datetime import UTC, datetime

    from ralph_grounding.cli.compare import sides_of
    from ralph_grounding.comparison import compare
    from ralph_grounding.filters import Condition
    from ralph_grounding.report import ReportData

    before = await store.runs(domain=domain or run.domain or None, limit=10 * _MOST_RUNS)
    ended = [each.summary for each in reversed(before) if each.summary and each.started_at <= run.started_at]
    earlier = [summary for summary in ended if summary.run_id != run.id]
    sides = await sides_of(store, {run.id: run})
    lowest = store.analyses([Condition("run", "=", run.id)], order="worst", by="combined", limit=worst)
    return ReportData(
        generated_at=datetime.now(UTC),
        runs=(*earlier[1 - _MOST_RUNS :], await store.summary(run)),
        analyses=tuple([kept.result async for kept in lowest]),
        comparison=compare(sides) if len(sides) > 1 else None,
        tiers=settings.tiers,
    )


def _write(path: Path, page: str) -> None:
    """Write the page completely or not at all. Raises `UsageError`."""
    import os
    from tempfile import NamedTemporaryFile

    from ralph.errors import UsageError

    try:
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            file.write(page)
        os.replace(file.name, path)  # noqa: PTH105 - a name, not a path
        path.chmod(0o644)
    except OSError as error:
        problem = f"The page cannot be written to {path}: {error.strerror or error}."
        raise UsageError(problem, "Name another file with --output.") from error

"""`ralph score compare`: providers, models or runs side by side, query by query."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from ralph_grounding.cli.options import AsJson, Store, open_store, run_named

if TYPE_CHECKING:
    from rich.text import Text

    from ralph_grounding.comparison import Comparison, MetricDifference
    from ralph_grounding.store.grounding import GroundingStore
    from ralph_grounding.store.records import GroundingRun, ScoreRow

__all__ = ["compare", "compared", "sides_of"]

Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="One or more runs, by id, or last.")]

_SURE = 0.05


def compare(context: typer.Context, *, runs: Runs, store: Store = None, as_json: AsJson = False) -> None:
    """Compare the providers and models of one run, or several runs, on the queries that both sides answered."""
    import anyio

    from ralph_grounding.cli.printing import print_json

    async def look() -> "Comparison":
        async with open_store(context, store) as kept:
            return await compared(kept, runs, store)

    found = anyio.run(look)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        _print(found)


async def compared(store: "GroundingStore", names: list[str], place: str | None = None) -> "Comparison":
    """Compare the sides of some runs. Raises `UsageError` if there are fewer than two.

    Args:
        store: an open store.
        names: ids of runs, their beginnings, or "last".
        place: the store's name as given on the command line, for the commands suggested to the user.
    """
    from ralph.errors import UsageError
    from ralph_grounding.comparison import compare as by_query

    runs = {run.id: run for run in [await run_named(store, name, place) for name in names]}
    sides = await sides_of(store, runs)
    if len(sides) < 2:
        raise UsageError(
            f"There is only one side to compare in {' and '.join(runs)}: {next(iter(sides), 'no answer at all')}.",
            "Name another run, or one with answers from several providers or models.",
        )
    return by_query(sides)


async def sides_of(store: "GroundingStore", runs: "Mapping[str, GroundingRun]") -> "dict[str, list[ScoreRow]]":
    """Group the scores by side: the providers and models of one run, or several runs.

    Answers in another language than the expected text are left out.
    """
    from ralph_grounding.filters import Condition
    from ralph_grounding.summary import APART

    sides: dict[str, list[ScoreRow]] = {}
    for run in runs.values():
        async for row in store.scores([Condition("run", "=", run.id)], order="oldest"):
            who = " ".join(part for part in (row.ai_provider, row.model) if part)
            if APART in row.flags:
                continue
            parts = (run.id, who) if len(runs) > 1 else (who or run.id,)
            sides.setdefault(": ".join(part for part in parts if part), []).append(row)
    return sides


def _print(found: "Comparison") -> None:
    from ralph_grounding.cli.printing import console, counted, one_line, print_rows
    from ralph_grounding.comparison import COMPARED

    print_rows(
        ("queries", "acc", "compl", "attr", "all", "supp", "contra", "side"),
        [
            (
                str(side.queries),
                *(f"{side.means[metric]:.1f}" if metric in side.means else "-" for metric in COMPARED),
                one_line(side.name, 60),
            )
            for side in found.sides
        ],
    )
    for pair in found.pairs:
        console().print(f"\n{one_line(pair.first, 60)} against {one_line(pair.second, 60)}", style="bold")
        if measured := [difference for difference in pair.metrics if difference.pairs]:
            columns = ("metric", "queries", "difference", "95 %", "+/-/=", "p", "")
            print_rows(columns, [_row(difference) for difference in measured])
        else:
            console().print("no query was answered by both")
        for side, only in ((pair.first, pair.only_first), (pair.second, pair.only_second)):
            if only:
                left_out = counted(len(only), "query", "queries")
                console().print(f"left out: {left_out} that only {one_line(side, 60)} answered")


def _row(difference: "MetricDifference") -> "tuple[str | Text, ...]":
    interval = "" if difference.low is None else f"{difference.low:+.1f} to {difference.high:+.1f}"
    p_value = difference.adjusted_p
    sure = p_value is not None and p_value < _SURE
    return (
        difference.metric,
        str(difference.pairs),
        "-" if difference.mean is None else f"{difference.mean:+.1f}",
        interval,
        f"{difference.wins}/{difference.losses}/{difference.ties}",
        "-" if p_value is None else f"{p_value:.3f}",
        difference.note or ("unlikely to be chance" if sure else "may be chance"),
    )

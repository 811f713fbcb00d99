"""`ralph show`: a run with its iterations, and what decided each."""

from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.options import AsJson, RunId, StoreName

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rich.console import Console
    from rich.text import Text

    from ralph.pipeline.explain import Stage
    from ralph.records.record import IterationRecord, RunRecord

__all__ = ["app"]

app = typer.Typer(add_completion=False)

Number = Annotated[
    int | None, typer.Option("--iteration", "-i", min=1, metavar="N", help="One iteration, with everything on it.")
]
Why = Annotated[bool, typer.Option("--why", help="With --iteration: the whole chain from the signals to the decision.")]

_MOST_EVIDENCE = 4
_MOST_PROBLEMS = 5


@app.command()
def show(
    *, run: RunId = "last", iteration: Number = None, why: Why = False, as_json: AsJson = False, store: StoreName = None
) -> None:
    """Show why a run stopped, or why it did not: each iteration's decision with its evidence."""
    import anyio

    from ralph.errors import UsageError

    if iteration is not None:
        record, found = anyio.run(_load, run, iteration, store)
        _show_iteration(record, found, why=why, as_json=as_json)
    elif why:
        raise UsageError("--why explains one iteration, and you named none.", "Add --iteration N.")
    else:
        anyio.run(_show_run, run, store, as_json)


def _show_iteration(run: "RunRecord", found: "list[IterationRecord]", *, why: bool, as_json: bool) -> None:
    from ralph.cli.evidence import chain_json, print_chain
    from ralph.cli.output import console, print_json

    chain = _chain(run, found) if why else ()
    if as_json:
        shown = {"run": run.model_dump(mode="json"), "iterations": [found[-1].model_dump(mode="json")]}
        print_json({**shown, **({"chain": chain_json(chain)} if why else {})})
    elif why:
        print_chain(chain)
    else:
        _print_iteration(console(), found[-1])


def _chain(run: "RunRecord", found: "list[IterationRecord]") -> "tuple[Stage, ...]":
    """Return the explanation of the last of the iterations."""
    from ralph.cli.replay_rules import parse_overrides, replay_rules
    from ralph.decision.streaks import Streaks
    from ralph.pipeline.explain import explain

    [rules] = replay_rules(parse_overrides(()), run)
    before = found[-2].tally if len(found) > 1 else Streaks()
    return explain(rules, before, found[-1])


async def _load(name: str, number: int, store: str | None) -> "tuple[RunRecord, list[IterationRecord]]":
    """The run, and its iteration of that number behind the one before it."""
    from ralph.cli.lookup import find_run, opened_store
    from ralph.errors import UsageError

    async with opened_store(store) as opened:
        run = await find_run(opened, name)
        both = [await opened.iteration(run.id, each) for each in (number - 1, number)]
    found = [iteration for iteration in both if iteration is not None]
    if not found or found[-1].number != number:
        raise UsageError(f"Run {run.id} has no iteration {number}.", f"`ralph show {run.id}` lists those that it has.")
    return run, found


async def _show_run(name: str, store: str | None, as_json: bool) -> None:  # noqa: FBT001 - called through anyio.run
    """Reads and prints one iteration after another: a long run has more than fits into memory."""
    from ralph.cli.lookup import find_run, opened_store
    from ralph.cli.output import console
    from ralph.cli.store_url import named

    async with opened_store(store) as opened:
        run = await find_run(opened, name)
        iterations = opened.iterations(run.id)
        await (_write_json(run, iterations) if as_json else _print_run(console(), run, iterations, named(store)))


async def _write_json(run: "RunRecord", iterations: "AsyncIterator[IterationRecord]") -> None:
    from ralph.cli.output import print_json_list

    items = (iteration.model_dump(mode="json") async for iteration in iterations)
    await print_json_list({"run": run.model_dump(mode="json")}, "iterations", items)


async def _print_run(
    out: "Console", run: "RunRecord", iterations: "AsyncIterator[IterationRecord]", store: str
) -> None:
    """Prints the run; `store` is the option that names the store, for the commands that are advised."""
    from rich.text import Text

    from ralph.cli.output import when
    from ralph.watch.terminal import clipped, one_line

    out.print(Text(f"run {run.id}", style="bold"))
    out.print(Text.assemble(("  task        ", "dim"), clipped(run.task, 6)))
    if run.workspace:
        out.print(Text.assemble(("  in          ", "dim"), one_line(run.workspace)))
    out.print(Text.assemble(("  started     ", "dim"), when(run.started_at)))
    last: IterationRecord | None = None
    verifiers: list[str] = []
    async for last in iterations:
        out.print()
        _print_short(out, last)
        if last.verification:
            verifiers = [verdict.verifier for verdict in last.verification.verdicts]
    _print_problems(out, run, store)
    _print_end(out, run, last, verifiers, store)


def _print_problems(out: "Console", run: "RunRecord", store: str) -> None:
    """What was told of plug-ins and observers that failed."""
    from rich.text import Text

    from ralph.errors import naming_store
    from ralph.watch.terminal import one_line

    if run.problems:
        out.print()
    for problem in run.problems[:_MOST_PROBLEMS]:
        out.print(Text(f"  problem     {naming_store(one_line(problem, 400), store)}", style="yellow"))
    if (more := len(run.problems) - _MOST_PROBLEMS) > 0:
        out.print(Text(f"              and {more} more: `ralph show{store} --json {run.id}`", style="yellow"))


def _print_end(
    out: "Console", run: "RunRecord", last: "IterationRecord | None", verifiers: "list[str]", store: str
) -> None:
    from rich.text import Text

    from ralph.cli.lookup import state_of
    from ralph.watch.summary import print_summary

    if run.state == "finished":
        print_summary(
            out,
            run,
            decision=last.decision if last else None,
            outcome=last.outcome if last else None,
            endpoint=bool(run.settings.get("executor", {}).get("base_url")),
            verifiers=verifiers,
            store=store,
        )
        return
    gone = f"Its process is gone, and did not end it. `ralph resume{store} {run.id}` continues it."
    what = {"crashed": gone, "paused": "It waits."}
    out.print()
    state = state_of(run)
    out.print(Text(f"{state.capitalize()}. {what.get(state, 'It is at work.')}", style="bold yellow"))


def _print_short(out: "Console", iteration: "IterationRecord") -> None:
    """What an iteration came to, in a few lines."""
    from rich.text import Text

    from ralph.records.projection import describe, duration
    from ralph.watch.summary import changes_text, outcome_text
    from ralph.watch.terminal import evidence_text, one_line

    who = iteration.executor or "nobody"
    out.print(Text(f"iteration {iteration.number}", style="bold"), end="")
    out.print(Text(f"  {who}, {duration(iteration.duration)}, {changes_text(iteration)}"))
    for attempt in iteration.attempts:
        out.print(Text(f"  before      {attempt.executor}: {outcome_text(attempt.outcome)}", style="yellow"))
    if iteration.outcome.kind != "completed":
        out.print(Text(f"  turn        {outcome_text(iteration.outcome)}", style="red"))
    for verdict in iteration.verification.verdicts if iteration.verification else ():
        style = "green" if verdict.passed else "yellow" if verdict.undecided else "red"
        out.print(Text(f"  verify      {one_line(verdict.verifier)} {verdict.word}", style=style))
    out.print(Text(f"  decision    {one_line(describe(iteration.decision), 400)}"))
    for piece in iteration.decision.evidence[:_MOST_EVIDENCE]:
        out.print(Text(f"              {evidence_text(piece)}", style="dim"))


def _print_iteration(out: "Console", iteration: "IterationRecord") -> None:
    """Everything on one iteration: the reply with its evidence marked, the verdicts' output, the breaker."""
    from rich.text import Text

    from ralph.cli.evidence import marked, print_evidence
    from ralph.watch.terminal import one_line

    _print_short(out, iteration)
    analysis, breaker = iteration.analysis, iteration.breaker
    out.print(Text(f"  state       {analysis.state}, confidence {analysis.confidence:g}"))
    reason = f": {one_line(breaker.reason)}" if breaker.reason else ""
    out.print(Text(f"  breaker     {breaker.state.replace('_', ' ')}{reason}"))
    for warning in analysis.warnings:
        out.print(Text(f"  warning     {one_line(warning, 400)}", style="yellow"))
    for file in iteration.changes.files[:20]:
        out.print(Text(f"  changed     {one_line(file)}"))
    checked = iteration.verification.verdicts if iteration.verification else ()
    for title, lines in (
        ("reply", [marked(iteration.text, analysis.evidence)] if iteration.text.strip() else []),
        (
            "said last, before the turn was cut short",
            _texts(iteration.partial if iteration.partial != iteration.text else ""),
        ),
        *((f"output of {one_line(verdict.verifier)}", _texts(verdict.output)) for verdict in checked),
        ("error output of the agent's program", _texts(iteration.diagnostics)),
    ):
        if lines:
            out.print(Text(f"\n{title}", style="bold"))
        for line in lines:
            out.print(line)
    if evidence := (*analysis.evidence, *analysis.stuck.evidence):
        out.print(Text("\nevidence", style="bold"))
        print_evidence(out, evidence)


def _texts(hostile: str) -> "list[Text]":
    from rich.text import Text

    from ralph.records.projection import printable

    return [Text(printable(hostile))] if hostile.strip() else []

"""`ralph show` explains a run by its iterations; `ralph logs` prints its events."""

from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.options import AsJson, RunId, StoreName
from ralph.cli.output import console, print_json, print_json_list, when
from ralph.cli.store_url import store_option
from ralph.errors import UsageError, naming_store
from ralph.watch.terminal import clipped, evidence_text, one_line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rich.console import Console
    from rich.text import Text

    from ralph.pipeline.explain import Stage
    from ralph.records.record import IterationRecord, RunRecord
    from ralph.store import Store
    from ralph.watch import Display

__all__ = ["logs", "show"]

Number = Annotated[int | None, typer.Option("--iteration", "-i", min=1, metavar="N", help="One iteration, in full.")]
Why = Annotated[bool, typer.Option("--why", help="With --iteration: the whole chain from the signals to the decision.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Continue with new events until the run ends.")]

_MOST_EVIDENCE = 4
_MOST_PROBLEMS = 5
_POLL_SECONDS = 0.2


def show(
    *, run: RunId = "last", iteration: Number = None, why: Why = False, as_json: AsJson = False, store: StoreName = None
) -> None:
    """Show why a run stopped, or why it did not: each iteration's decision with its evidence."""
    import anyio

    if iteration is not None:
        record, found = anyio.run(_load, run, iteration, store)
        _show_iteration(record, found, why=why, as_json=as_json)
    elif why:
        raise UsageError("--why explains one iteration, and you named none.", "Add --iteration N.")
    else:
        anyio.run(_show_run, run, store, as_json)


def _show_iteration(run: "RunRecord", found: "list[IterationRecord]", *, why: bool, as_json: bool) -> None:
    from ralph.cli.evidence import chain_json, print_chain

    chain = _chain(run, found) if why else ()
    if as_json:
        shown = {"run": run.model_dump(mode="json"), "iterations": [found[-1].model_dump(mode="json")]}
        print_json({**shown, **({"chain": chain_json(chain)} if why else {})})
    elif why:
        print_chain(chain)
    else:
        _print_iteration(console(), found[-1])


def _chain(run: "RunRecord", found: "list[IterationRecord]") -> "tuple[Stage, ...]":
    """Return the chain from the signals to the decision of the last of the iterations."""
    from ralph.cli.replay_rules import parse_overrides, replay_rules
    from ralph.decision.streaks import Streaks
    from ralph.pipeline.explain import explain

    [rules] = replay_rules(parse_overrides(()), run)
    before = found[-2].tally if len(found) > 1 else Streaks()
    return explain(rules, before, found[-1])


async def _load(name: str, number: int, store: str | None) -> "tuple[RunRecord, list[IterationRecord]]":
    """Return the run, and the iteration with a number after the one before it."""
    from ralph.cli.lookup import find_iteration, opened_run

    async with opened_run(name, store) as (opened, run):
        found = await find_iteration(opened, run, number)
        before = await opened.iteration(run.id, number - 1)
    return run, [before, found] if before else [found]


async def _show_run(name: str, store: str | None, as_json: bool) -> None:  # noqa: FBT001 - called through anyio.run
    """Show a run iteration by iteration, since all of a long run do not fit into memory."""
    from ralph.cli.lookup import opened_run

    async with opened_run(name, store) as (opened, run):
        iterations = opened.iterations(run.id)
        await (_write_json(run, iterations) if as_json else _print_run(console(), run, iterations, store_option(store)))


async def _write_json(run: "RunRecord", iterations: "AsyncIterator[IterationRecord]") -> None:
    items = (iteration.model_dump(mode="json") async for iteration in iterations)
    await print_json_list({"run": run.model_dump(mode="json")}, "iterations", items)


async def _print_run(
    out: "Console", run: "RunRecord", iterations: "AsyncIterator[IterationRecord]", store: str
) -> None:
    """Print a run; `store` is the `--store` option for suggested commands."""
    from rich.text import Text

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
    if run.problems:
        out.print()
    for problem in run.problems[:_MOST_PROBLEMS]:
        _print_field(out, "problem", naming_store(one_line(problem, 400), store), "yellow")
    if (more := len(run.problems) - _MOST_PROBLEMS) > 0:
        _print_field(out, "", f"and {more} more: `ralph show{store} --json {run.id}`", "yellow")


def _print_end(
    out: "Console", run: "RunRecord", last: "IterationRecord | None", verifiers: "list[str]", store: str
) -> None:
    from rich.text import Text

    from ralph.cli.lookup import run_state
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
    gone = f"Its process is gone. `ralph resume{store} {run.id}` continues it."
    what = {"crashed": gone, "paused": "It waits."}
    out.print()
    state = run_state(run)
    out.print(Text(f"{state.capitalize()}. {what.get(state, 'It is running.')}", style="bold yellow"))


def _print_short(out: "Console", iteration: "IterationRecord") -> None:
    """Print the result of an iteration in a few lines."""
    from rich.text import Text

    from ralph.records.projection import describe, duration
    from ralph.watch.summary import changes_text, outcome_text

    who = iteration.executor or "nobody"
    out.print(Text(f"iteration {iteration.number}", style="bold"), end="")
    out.print(Text(f"  {who}, {duration(iteration.duration)}, {changes_text(iteration)}"))
    for attempt in iteration.attempts:
        _print_field(out, "before", f"{attempt.executor}: {outcome_text(attempt.outcome)}", "yellow")
    if iteration.outcome.kind != "completed":
        _print_field(out, "turn", outcome_text(iteration.outcome), "red")
    for verdict in iteration.verification.verdicts if iteration.verification else ():
        style = "green" if verdict.passed else "yellow" if verdict.undecided else "red"
        _print_field(out, "verify", f"{one_line(verdict.verifier)} {verdict.word}", style)
    _print_field(out, "decision", one_line(describe(iteration.decision), 400))
    for piece in iteration.decision.evidence[:_MOST_EVIDENCE]:
        _print_field(out, "", evidence_text(piece), "dim")


def _print_iteration(out: "Console", iteration: "IterationRecord") -> None:
    """Print all of an iteration: the reply with its evidence marked, the verifiers' output, the breaker."""
    from rich.text import Text

    from ralph.cli.evidence import marked, print_evidence

    _print_short(out, iteration)
    analysis, breaker = iteration.analysis, iteration.breaker
    _print_field(out, "state", f"{analysis.state}, confidence {analysis.confidence:g}")
    reason = f": {one_line(breaker.reason)}" if breaker.reason else ""
    _print_field(out, "breaker", f"{breaker.state.replace('_', ' ')}{reason}")
    for warning in analysis.warnings:
        _print_field(out, "warning", one_line(warning, 400), "yellow")
    for file in iteration.changes.files[:20]:
        _print_field(out, "changed", one_line(file))
    verdicts = iteration.verification.verdicts if iteration.verification else ()
    for title, lines in (
        ("reply", [marked(iteration.text, analysis.evidence)] if iteration.text.strip() else []),
        (
            "last text before the turn was cut short",
            _texts(iteration.partial if iteration.partial != iteration.text else ""),
        ),
        *((f"output of {one_line(verdict.verifier)}", _texts(verdict.output)) for verdict in verdicts),
        ("error output of the agent's program", _texts(iteration.diagnostics)),
    ):
        if lines:
            out.print(Text(f"\n{title}", style="bold"))
        for line in lines:
            out.print(line)
    if evidence := (*analysis.evidence, *analysis.stuck.evidence):
        out.print(Text("\nevidence", style="bold"))
        print_evidence(out, evidence)


def _print_field(out: "Console", label: str, text: str, style: str = "") -> None:
    from rich.text import Text

    out.print(Text(f"  {label:<12}{text}", style=style))


def _texts(untrusted: str) -> "list[Text]":
    from rich.text import Text

    from ralph.records.projection import printable

    return [Text(printable(untrusted))] if untrusted.strip() else []


def logs(*, run: RunId = "last", follow: Follow = False, as_json: AsJson = False, store: StoreName = None) -> int:
    """Print a run's events, as `ralph run` shows them; with --json, one per line."""
    import anyio

    from ralph.cli.run import look_up
    from ralph.watch import open_display

    with open_display("json" if as_json else "plain", look_up=look_up(store)) as display:
        anyio.run(_print_events, run, store, follow, display)
    return 1 if display.out.refused else 0


async def _print_events(name: str, store: str | None, follow: bool, display: "Display") -> None:  # noqa: FBT001 - anyio.run's
    import anyio

    from ralph.cli.lookup import opened_run, run_state

    async with opened_run(name, store) as (opened, run):
        display.endpoint = bool(run.settings.get("executor", {}).get("base_url"))
        seq = await _print_after(opened, run, 0, display)
        while follow and not display.out.gone:
            state = run_state(await opened.run(run.id) or run)
            seq = await _print_after(opened, run, seq, display)  # the events before that state are stored by now
            if state == "crashed":
                resume = f"`ralph resume{store_option(store)} {run.id}`"
                display.note(f"The process of run {run.id} is gone. {resume} continues it.")
            if state not in {"running", "paused"}:
                return
            await anyio.sleep(_POLL_SECONDS)


async def _print_after(store: "Store", run: "RunRecord", after: int, display: "Display") -> int:
    """Show the events with a greater `seq`, waiting for a slow reader, and return the last `seq`."""
    import anyio

    async for event in store.events(run.id, after=after):
        while display.out.full and not display.out.gone:  # noqa: ASYNC110 - a thread writes
            await anyio.sleep(_POLL_SECONDS)
        if display.out.gone:
            break
        display.show(event)
        after = event.seq
    return after

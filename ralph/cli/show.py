"""`ralph show` explains a run by its iterations; `ralph logs` prints its events."""

from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.lookup import find_iteration, opened_run, run_state, store_option
from ralph.cli.options import AnyFolder, AsJson, RunId, StoreName
from ralph.cli.output import console, print_json, print_json_list, when
from ralph.errors import UsageError, naming_store
from ralph.system.text import duration, one_line, printable
from ralph.watch.terminal import clipped, evidence_text, print_text

if TYPE_CHECKING:
    from rich.console import Console

    from ralph.pipeline.explain import Stage
    from ralph.records.record import IterationRecord, RunRecord
    from ralph.store import Store
    from ralph.types.requests import Request
    from ralph.watch import Display

Number = Annotated[int | None, typer.Option("--iteration", "-i", min=1, metavar="N", help="One iteration, in full.")]
Why = Annotated[bool, typer.Option("--why", help="With --iteration: the whole chain from the signals to the decision.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Continue with new events until the run ends.")]

_MOST_EVIDENCE = 4
_MOST_PROBLEMS = 5
_POLL_SECONDS = 0.2


async def show(
    *,
    run: RunId = "last",
    any_folder: AnyFolder = False,
    iteration: Number = None,
    why: Why = False,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Show why a run stopped, or why it did not: each iteration's decision with its evidence."""
    if why and iteration is None:
        raise UsageError("--why explains one iteration, and you named none.", "Add --iteration N.")
    async with opened_run(run, store, any_folder=any_folder) as (opened, record):
        if iteration is not None:
            await _show_iteration(opened, record, iteration, why=why, as_json=as_json)
        elif as_json:
            iterations = (each.model_dump(mode="json") async for each in opened.iterations(record.id))
            told = [
                each.model_dump(mode="json", exclude={"kind", "limits"}) for each in await _messages(opened, record)
            ]
            members = {"run": record.model_dump(mode="json"), **({"messages": told} if told else {})}
            await print_json_list(members, "iterations", iterations)
        else:
            await _print_run(console(), record, opened, store_option(store))


async def _show_iteration(store: "Store", run: "RunRecord", number: int, *, why: bool, as_json: bool) -> None:
    from ralph.cli.evidence import chain_json, print_chain

    found = await find_iteration(store, run, number)
    chain = chain_of(run, await store.iteration(run.id, number - 1), found) if why else ()
    if as_json:
        shown = {"run": run.model_dump(mode="json"), "iterations": [found.model_dump(mode="json")]}
        print_json({**shown, **({"chain": chain_json(chain)} if why else {})})
    elif why:
        print_chain(chain)
    else:
        _print_iteration(console(), found)


def chain_of(run: "RunRecord", before: "IterationRecord | None", found: "IterationRecord") -> "tuple[Stage, ...]":
    """Return the chain from the signals to the decision of an iteration, given the one before it."""
    from ralph.cli.replay_rules import parse_overrides, replay_rules
    from ralph.decision.outcomes import Streaks
    from ralph.pipeline.explain import explain

    [rules] = replay_rules(parse_overrides(()), run)
    return explain(rules, run, before.tally if before else Streaks(), found)


async def _messages(store: "Store", run: "RunRecord") -> "list[Request]":
    return [each for each in await store.requests(run.id) if each.kind == "tell"]


async def _print_run(out: "Console", run: "RunRecord", opened: "Store", store: str) -> None:
    """Print a run; `store` is the `--store` option for suggested commands."""
    print_text(out, f"run {run.id}", style="bold")
    print_text(out, ("  task        ", "dim"), clipped(run.task, 6))
    if run.workspace:
        print_text(out, ("  in          ", "dim"), one_line(run.workspace))
    print_text(out, ("  started     ", "dim"), when(run.started_at))
    for message in await _messages(opened, run):
        print_text(out, ("  told        ", "dim"), f"{clipped(message.text, 3)}{' (once)' * message.once}")
    last: IterationRecord | None = None
    async for last in opened.iterations(run.id):
        out.print()
        _print_short(out, last)
    _print_problems(out, run, store)
    _print_end(out, run, last, store)


def _print_problems(out: "Console", run: "RunRecord", store: str) -> None:
    if run.problems:
        out.print()
    for problem in run.problems[:_MOST_PROBLEMS]:
        _print_field(out, "problem", naming_store(one_line(problem, 400), store), "yellow")
    if (more := len(run.problems) - _MOST_PROBLEMS) > 0:
        _print_field(out, "", f"and {more} more: `ralph show{store} --json {run.id}`", "yellow")


def _print_end(out: "Console", run: "RunRecord", last: "IterationRecord | None", store: str) -> None:
    from ralph.watch.summary import print_summary

    if run.state == "finished":
        endpoint = bool(run.settings.get("executor", {}).get("base_url"))
        print_summary(out, run, last, endpoint=endpoint, store=store)
        return
    state = run_state(run)
    what = {"crashed": f"Its process is gone. `ralph resume{store} {run.id}` continues it.", "paused": "It waits."}
    out.print()
    print_text(out, f"{state.capitalize()}. {what.get(state, 'It is running.')}", style="bold yellow")


def _print_short(out: "Console", iteration: "IterationRecord") -> None:
    from ralph.records.projection import changes_text, describe, findings, outcome_text

    who = iteration.executor or "no executor"
    did = f"  {who}, {duration(iteration.duration)}, {changes_text(iteration)}"
    print_text(out, (f"iteration {iteration.number}", "bold"), did)
    for attempt in iteration.attempts:
        _print_field(out, "before", f"{attempt.executor}: {outcome_text(attempt.outcome)}", "yellow")
    if iteration.outcome.kind != "completed":
        _print_field(out, "turn", outcome_text(iteration.outcome), "red")
    for verdict in iteration.verification.verdicts if iteration.verification else ():
        style = "green" if verdict.passed else "yellow" if verdict.undecided else "red"
        _print_field(out, "verify", f"{one_line(verdict.verifier)} {verdict.word}", style)
    for label, text in findings(iteration.analysis):
        _print_field(out, label, text)
    _print_field(out, "decision", one_line(describe(iteration.decision), 400))
    for piece in iteration.decision.evidence[:_MOST_EVIDENCE]:
        _print_field(out, "", evidence_text(piece), "dim")


def _print_iteration(out: "Console", iteration: "IterationRecord") -> None:
    """Print all of an iteration: the reply with its evidence marked, the verifiers' output, the breaker."""
    from rich.text import Text

    from ralph.analysis.metrics import ladder_text
    from ralph.cli.evidence import marked, print_evidence

    _print_short(out, iteration)
    analysis, breaker = iteration.analysis, iteration.breaker
    _print_field(out, "state", f"{analysis.state}, confidence {analysis.confidence:g}")
    _print_field(out, "level", ladder_text(analysis.metrics))
    reason = f": {one_line(breaker.reason)}" if breaker.reason else ""
    _print_field(out, "breaker", f"{breaker.state.replace('_', ' ')}{reason}")
    for warning in analysis.warnings:
        _print_field(out, "warning", one_line(warning, 400), "yellow")
    for file in iteration.changes.files[:20]:
        _print_field(out, "changed", one_line(file))
    verdicts = iteration.verification.verdicts if iteration.verification else ()
    partial = iteration.partial if iteration.partial != iteration.text else ""
    for title, text in (
        ("reply", marked(iteration.text, analysis.evidence)),
        ("last text before the turn was cut short", Text(printable(partial))),
        *((f"output of {one_line(verdict.verifier)}", Text(printable(verdict.output))) for verdict in verdicts),
        ("error output of the agent's program", Text(printable(iteration.diagnostics))),
    ):
        if text.plain.strip():
            print_text(out, f"\n{title}", style="bold")
            out.print(text)
    if evidence := (*analysis.evidence, *analysis.stuck.evidence):
        print_text(out, "\nevidence", style="bold")
        print_evidence(out, evidence)


def _print_field(out: "Console", label: str, text: str, style: str = "") -> None:
    print_text(out, f"  {label:<12}{text}", style=style)


async def logs(
    *,
    run: RunId = "last",
    any_folder: AnyFolder = False,
    follow: Follow = False,
    as_json: AsJson = False,
    store: StoreName = None,
) -> int:
    """Print a run's events, as `ralph run` shows them; with --json, one per line."""
    from ralph.cli.run import look_up
    from ralph.watch import open_display

    with open_display("json" if as_json else "plain", look_up=look_up(store)) as display:
        async with opened_run(run, store, any_folder=any_folder) as (opened, record):
            display.endpoint = bool(record.settings.get("executor", {}).get("base_url"))
            last = await show_events(opened, record, display, follow=follow)
            if follow and run_state(last) == "crashed":
                resume = f"`ralph resume{store_option(store)} {record.id}`"
                display.note(f"The process of run {record.id} is gone. {resume} continues it.")
    return 1 if display.out.refused else 0


async def show_events(
    store: "Store", run: "RunRecord", display: "Display", *, after: int = 0, follow: bool = True
) -> "RunRecord":
    """Show the events with a greater `seq`, also those to come until the run ends; return its last record.

    It waits for a slow reader, and ends without one.
    """
    import anyio

    def going(run: "RunRecord") -> bool:
        return not display.out.gone and run_state(run) in {"running", "paused"}

    shown = store.follow(run.id, after=after, going=going) if follow else store.events(run.id, after=after)
    async for event in shown:
        while display.out.full and not display.out.gone:  # noqa: ASYNC110 - a thread writes
            await anyio.sleep(_POLL_SECONDS)
        if display.out.gone:
            break
        display.show(event)
    return await store.run(run.id) or run

"""The results of replays: each recorded run through the loop, as JSON and as a report."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ralph.cli.output import console, print_json, print_line
from ralph.cli.replay_sources import Broken
from ralph.decision.limits import Limits
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.replay import Pass, Replay, Replayed, Step
from ralph.records.record import RunRecord
from ralph.system.text import one_line
from ralph.watch.report_stats import passes_text, replay_picture
from ralph.watch.terminal import STOP_SIGNS, evidence_text, print_rows, print_text, sign

if TYPE_CHECKING:
    from rich.console import Console

Row = tuple[str, str]

_ON_THE_WAY = 6
_TURNS = {"pause": "waits", "halt": "stops"}
_EVIDENCE = 3
_WARNINGS = 10
_LOOPS = 6
_end = attrgetter("stopped_at", "stop_reason", "saved")
_DEFAULT_LIMIT = Limits().max_iterations or 0


class Replays:
    """The replays of all runs, in the order in which they began; the passes of one may stand between another's.

    Args:
        variants: the rules of each replay; the results of the first are the answer, others are for comparison.
    """

    def __init__(self, variants: Sequence[Rules]) -> None:
        self._variants = variants
        self._replays: dict[str | None, list[Replay]] = {}

    def add(self, name: str | None, taken: Pass, *, run: RunRecord | None = None) -> None:
        """Judge one more pass of a run; the record of the run counts with its first pass."""
        if name not in self._replays:
            self._replays[name] = [Replay(rules, name, run) for rules in self._variants]
        for replay in self._replays[name]:
            replay.add(taken)

    def results(self) -> Iterator[list[Replayed]]:
        """Yield the results of each run, one for each of the rules."""
        for replays in self._replays.values():
            yield [replay.result for replay in replays]


def replayed_json(result: Replayed) -> dict[str, Any]:
    """Return the object that `ralph replay --json` prints for a run."""
    return {
        "run": result.run,
        "passes": result.passes,
        "stopped_at": result.stopped_at,
        "stop_reason": result.stop_reason,
        "resumed": result.resumed,
        "decisions": [
            {
                "index": step.index,
                "decision": step.decision,
                "reason": step.reason,
                "breaker": step.breaker,
                "progressed": step.progressed,
                **({"pivot": True} if step.pivot else {}),
            }
            for step in result.steps
        ],
        "skipped": result.skipped,
        "saved": {"passes": result.saved, "cost": round(result.saved_cost, 6), "unknown_costs": result.saved_costless},
        "cut": {"passes": result.cut, "unknown": result.cut_unknown},
        "evidence": [piece.model_dump() for piece in result.evidence],
    }


def print_all(
    replays: Replays, broken: Sequence[Broken], overrides: str, *, as_json: bool, as_lines: bool, picture: bool
) -> None:
    """Print the results of all runs, and what was not a pass; at the end a `picture` of them all."""
    if as_lines:
        for first, *_ in replays.results():
            print_line(replayed_json(first))
    elif as_json:
        results = [replayed_json(first) for first, *_ in replays.results()]
        print_json([*results, *(each.as_json() for each in broken)])
    else:
        _warn_of(broken)
        _print_replays(list(replays.results()), overrides, picture=picture)


def print_loops(replays: Replays, broken: Sequence[Broken], overrides: str, notes: Sequence[str]) -> None:
    """Print many runs on one screen: those that would have saved most, notes, and the picture of them all."""
    _warn_of(broken)
    out, results = console(), [first for first, *_ in replays.results()]
    if overrides:
        print_text(out, f"with {one_line(overrides, 400)}\n", style="bold")
    for result in sorted(results, key=attrgetter("saved_cost", "saved", "cost", "passes"), reverse=True)[:_LOOPS]:
        _print_title(out, result)
        spent = [passes_text(result.passes), *([_dollars(result.cost)] if result.cost else [])]
        saved = [f"saves {_saved([result])}", f"cuts {_cut([result])}"] if result.saved else []
        print_text(out, f"  {'; '.join([', '.join(spent), *saved])}")
    if len(results) > _LOOPS:
        print_text(out, f"… {len(results) - _LOOPS} more loops; --json has them all")
    for note in notes:
        print_text(out, one_line(note, 600), style="dim")
    if results:
        print_picture(results)
    else:
        out.print("There is no loop among them: Ralph would have had nothing to stop.")


def _warn_of(broken: Sequence[Broken]) -> None:
    for each in broken[:_WARNINGS]:
        warn(f"left out: {each}")
    if len(broken) > _WARNINGS:
        warn(f"left out: {len(broken) - _WARNINGS} more")


def warn(text: str) -> None:
    """Print a warning to standard error."""
    sys.stderr.write(f"ralph: {one_line(text, 300)}\n")


def _print_replays(runs: Sequence[Sequence[Replayed]], overrides: str, *, picture: bool) -> None:
    """Print the results of runs; a second one of a run is that without the overrides."""
    out = console()
    if not runs:
        out.print("There is no pass to replay.")
        return
    if overrides:
        print_text(out, f"with {one_line(overrides, 400)}\n", style="bold")
    for number, (result, *others) in enumerate(runs):
        if number:
            out.print()
        _print_run(out, result, others[0] if others else None)
    if len(runs) > 1:
        print_text(out, f"\n{_together(first for first, *_ in runs)}", style="bold")
        rows = _sums([first for first, *_ in runs])
        if others := [second for _, second in (each for each in runs if len(each) > 1)]:
            rows.append(("without", "; ".join(f"{label} {text}" for label, text in _sums(others))))
        _print_rows(out, rows)
    if picture:
        print_picture([first for first, *_ in runs])


def print_picture(results: Sequence[Replayed]) -> None:
    """Print the replays of some runs as a picture and one sentence, both from their figures alone."""
    names = ("passes", "saved", "cut", "cut_unknown", "cost", "saved_cost", "costless")
    sums = {name: sum(getattr(result, name) for result in results) for name in names}
    *lines, last = replay_picture(len(results), **sums)
    out = console()
    for line in ("", *lines):
        print_text(out, line)
    print_text(out, last, style="bold")


def _print_run(out: "Console", result: Replayed, without: Replayed | None) -> None:
    _print_title(out, result)
    rows = [*_reasons(result), *_on_the_way(result), *_account(result)]
    if without is not None:
        rows.append(("without", _difference(result, without)))
    _print_rows(out, rows)


def _print_title(out: "Console", result: Replayed) -> None:
    stopped = result.stopped_at is not None
    mark = sign(out, STOP_SIGNS.get(result.stop_reason or "", "✗") if stopped else "→")
    colour = "green" if result.stop_reason == "completed" else "red" if stopped else "none"
    title = f"{mark} {one_line(result.run or 'the run', 60)}"
    print_text(out, title, (f"  {_ending(result)}", "not bold"), style=f"bold {colour}")


def _ending(result: Replayed) -> str:
    """Return where a run ends, in a few words; passes are counted from 1 here."""
    if result.stopped_at is None:
        return f"continues to the end of the record, pass {result.passes}"
    place = f"after pass {result.stopped_at + 1} of {result.passes}"
    if result.stop_reason == "completed":
        return f"is completed {place}"
    return f"stops {place}: {(result.stop_reason or '').replace('_', ' ')}"


def _reasons(result: Replayed) -> Iterator[Row]:
    if result.steps:
        yield "why" if result.stopped_at is not None else "why not", one_line(result.steps[-1].reason, 600)
    for piece in result.evidence[:_EVIDENCE]:
        yield "evidence", evidence_text(piece)


def _on_the_way(result: Replayed) -> Iterator[Row]:
    """Yield where the loop would have changed its course before its end."""
    turns = [f"pass {step.index + 1}: {_turn(step)}" for step in result.steps if _turns(step, result)]
    for turn in turns[:_ON_THE_WAY]:
        yield "on the way", turn
    if len(turns) > _ON_THE_WAY:
        yield "", f"… {len(turns) - _ON_THE_WAY} more"
    if result.resumed:
        passes = ", ".join(f"{index + 1}" for index in result.resumed[:_ON_THE_WAY])
        more = ", …" if len(result.resumed) > _ON_THE_WAY else ""
        yield "resumed", f"as it was then, with pass {passes}{more}"
    if result.skipped:
        yield "skips", f"{passes_text(result.skipped)} that met the same rate limit while Ralph would have waited"


def _turns(step: Step, result: Replayed) -> bool:
    """Return whether the loop changes its course with a step and continues; after an end it does if it is resumed."""
    if step.decision == "halt":
        return any(step.index < index for index in result.resumed)
    return bool(step.pivot or step.decision == "pause")


def _turn(step: Step) -> str:
    """Return the reason for a pivot, a pause or an end that was not the last."""
    words = ["a change of approach is requested"] if step.pivot else []
    words += [_TURNS[step.decision]] if step.decision in _TURNS else []
    return f"{' and '.join(words)}: {one_line(step.pivot or step.reason, 200)}"


def _account(result: Replayed) -> Iterator[Row]:
    if result.saved:
        yield "saves", _saved([result])
        yield "cuts", _cut([result])
    counted = result.passes - result.skipped
    if result.stopped_at is None and not result.bounded and counted > _DEFAULT_LIMIT:
        yield "limit", f"a run ends after {_DEFAULT_LIMIT} iterations by default; this replay ignores that limit"


def _difference(result: Replayed, without: Replayed) -> str:
    if _end(result) == _end(without):
        return "the same"
    saved = f"; saves {_saved([without])}; cuts {_cut([without])}" if without.saved else ""
    return f"{_ending(without)}{saved}"


def _together(results: Iterable[Replayed]) -> str:
    listed = list(results)
    cost = sum(result.cost for result in listed)
    spent = f", {_dollars(cost)}" if cost else ""
    return f"{len(listed)} runs, {passes_text(sum(result.passes for result in listed))}{spent}"


def _sums(results: Sequence[Replayed]) -> list[Row]:
    ends = Counter((result.stop_reason or "continue to the end").replace("_", " ") for result in results)
    told = ", ".join(f"{count} {end}" for end, count in ends.most_common())
    return [("ends", told), ("saves", _saved(results)), ("cuts", _cut(results))]


def _saved(results: Sequence[Replayed]) -> str:
    passes, unknown = sum(result.saved for result in results), sum(result.saved_costless for result in results)
    whole, cost = sum(result.cost for result in results), sum(result.saved_cost for result in results)
    if not passes or unknown == passes:
        return passes_text(passes)
    missing = f"; {unknown:,} of unknown cost" if unknown else ""
    return f"{passes_text(passes)}, {_dollars(cost)} of {_dollars(whole)}{missing}"


def _cut(results: Sequence[Replayed]) -> str:
    cut, unknown = sum(result.cut for result in results), sum(result.cut_unknown for result in results)
    told = f"{passes_text(cut)} with progress" if cut else "none with known progress"
    return f"{told}; {unknown:,} unknown" if unknown else told


def _dollars(cost: float) -> str:
    return f"${cost:,.2f}"


def _print_rows(out: "Console", rows: Iterable[Row]) -> None:
    print_rows(out, ((f"  {label}", text) for label, text in rows), width=13)

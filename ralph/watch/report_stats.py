"""Many runs in figures: how they ended, why they stopped, what they cost and took."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ralph.decision.backing import grade
from ralph.system.text import counted, duration, one_line

if TYPE_CHECKING:
    from ralph.decision.outcomes import Complete
    from ralph.records.record import RunRecord
    from ralph.store.run_list import ListedRun

STATES = (
    "completed",
    "stuck",
    "test_saturation",
    "circuit_open",
    "limit_reached",
    "executor_unavailable",
    "blocked",
    "cancelled",
    "error",
    "running",
    "paused",
    "crashed",
    "finished",
)
"""The possible values of `Wanted.state`: in full, as the list of runs loads no stop reasons."""

_LEVELS = "▁▂▃▄▅▆▇█"


def sparkline(values: Iterable[float | None], most: int = 60) -> str:
    """Return values as a row of bars of one character each; of more than `most` values, the greatest of several."""
    listed = [value or 0.0 for value in values]
    size = -(-len(listed) // most) or 1
    heights = [max(listed[at : at + size]) for at in range(0, len(listed), size)]
    top = max(heights, default=0.0)
    return "".join(_LEVELS[min(7, int(8 * height / top))] if top else _LEVELS[0] for height in heights)


def bars(rows: Sequence[tuple[str, float, str]], width: int = 30) -> list[str]:
    """Return labels with values as lines with bars, the greatest `width` characters long, and the words of each."""
    top, label = max((value for _, value, _ in rows), default=0.0), max((len(name) for name, _, _ in rows), default=0)
    lengths = [round(width * value / top) or (1 if value else 0) if top else 0 for _, value, _ in rows]
    return [
        f"{name:<{label}}  {'█' * length}{'░' * (width - length)}  {words}"
        for (name, _, words), length in zip(rows, lengths, strict=True)
    ]


def diffstat(files: Sequence[tuple[str, int | None, int | None]], most: int = 60) -> list[str]:
    """Return changed files as lines with pictures of their added and removed lines, and the sum of them."""
    names = [one_line(path, 400) for path, _, _ in files]
    names = [name if len(name) <= most else f"…{name[1 - most :]}" for name in names]
    sums = [None if added is None or removed is None else (added, removed) for _, added, removed in files]
    top, width = max((sum(each) for each in sums if each), default=0), max(map(len, names), default=0)
    lines: list[str] = []
    for name, each in zip(names, sums, strict=True):
        drawn = (
            "".join(sign * -(-count * min(top, 40) // top) for sign, count in zip("+-", each, strict=True))
            if each and top
            else ""
        )
        lines.append(f"{name:<{width}}  {f'{sum(each):>5,}  {drawn}' if each else 'binary'}".rstrip())
    added, removed = (sum(each[side] for each in sums if each) for side in (0, 1))
    return [*lines, f"{counted(len(files), 'file')}, {added:,} line{'s' * (added != 1)} added, {removed:,} removed"]


class Wanted(NamedTuple):
    """The runs that a command is about.

    Attributes:
        state: their stop reason, or "running", "paused", "crashed" or "finished"; None for every one.
        since: the earliest start; None for every one.
        words: the task or the id contains each of them, in any case.
    """

    state: str | None = None
    since: datetime | None = None
    words: tuple[str, ...] = ()

    def has(self, run: "RunRecord | ListedRun", state: str) -> bool:
        text = f"{run.id}\n{run.task}".lower()
        states = {state, "finished"} if run.stop_reason else {state}
        return (
            (self.state is None or self.state in states)
            and (self.since is None or run.started_at >= self.since)
            and all(word in text for word in self.words)
        )


def cost_of(run: "RunRecord | ListedRun") -> float | None:
    """Return what a run cost, in US dollars; None if that was not measured."""
    usage = getattr(run, "usage", None)
    return getattr(usage or run, "cost", None)


def outcome_of(run: "RunRecord | ListedRun | Complete", state: str) -> str:
    """Return how a run ended, or its state, in words; of a completion also what supports it."""
    graded = grade(verified=run.verified, already_green=run.already_green)
    return f"completed, {graded}" if state == "completed" else state.replace("_", " ")


def stats_of(runs: "Sequence[tuple[RunRecord, str]]") -> dict[str, Any]:
    """Return the figures of runs with their states as JSON values; what was not measured is None.

    The cost of a completed task is that of all runs, the failed ones included, for each one that completed.
    """
    from statistics import median

    costs = [run.usage.cost for run, _ in runs if run.usage.cost is not None]
    tokens = [run.usage.tokens for run, _ in runs if run.usage.tokens is not None]
    done = [run for run, state in runs if state == "completed"]
    ended = [run.duration for run, _ in runs if run.finished_at]
    took = [run.duration for run in done]
    return {
        "runs": len(runs),
        "outcomes": dict(Counter(outcome_of(run, state) for run, state in runs).most_common()),
        "stop_reasons": dict(Counter(run.stop_reason for run, _ in runs if run.stop_reason).most_common()),
        "completed": len(done),
        "verified": sum(run.verified for run in done),
        "iterations": sum(run.iterations for run, _ in runs),
        "tokens": sum(tokens) if tokens else None,
        "cost": round(sum(costs), 6) if costs else None,
        "runs_of_unknown_cost": len(runs) - len(costs),
        "cost_per_completed": round(sum(costs) / len(done), 6) if costs and done else None,
        "duration": sum(ended),
        "duration_of_completed": {"median": median(took), "longest": max(took)} if took else None,
    }


def stats_lines(stats: dict[str, Any]) -> list[str]:
    """Return the figures as lines for a terminal."""
    outcomes: dict[str, int] = stats["outcomes"]
    lines = bars([(name, count, f"{count:,}") for name, count in outcomes.items()], 24)
    per, took = stats["cost_per_completed"], stats["duration_of_completed"]
    unmeasured = stats["runs_of_unknown_cost"]
    unknown = f"; {counted(unmeasured, 'run')} of unknown cost" if unmeasured else ""
    rows = [
        ("runs", f"{stats['runs']:,}, {stats['completed']:,} completed, {stats['verified']:,} of them verified"),
        ("iterations", f"{stats['iterations']:,}"),
        ("tokens", "" if stats["tokens"] is None else f"{stats['tokens']:,}"),
        ("cost", "" if stats["cost"] is None else f"${stats['cost']:,.2f}{unknown}"),
        ("per task", "" if per is None else f"${per:,.2f} for each completed task, the failed runs included"),
        ("time", duration(stats["duration"])),
        ("a task", f"{duration(took['median'])} in the median, {duration(took['longest'])} at most" if took else ""),
    ]
    return [*lines, "", *(f"{label:<12}{text}" for label, text in rows if text)]


def replay_picture(
    runs: int, *, passes: int, saved: int, cut: int, cut_unknown: int, cost: float, saved_cost: float, costless: int
) -> list[str]:
    """Return what Ralph would have done with recorded runs, as lines with bars, and a sentence as the last one.

    Args:
        saved, saved_cost: the passes after an end, and what they cost in US dollars, as far as known.
        cut, cut_unknown: the saved passes that are known to have made progress, and those of which that is unknown.
        costless: passes of unknown cost.
    """
    rows: list[tuple[str, float, str]] = [("passes", passes, f"{passes:,}")]
    rows += [("with Ralph", passes - saved, f"{passes - saved:,}")]
    rows += [("cut with progress", cut, f"{cut:,}")] if cut else []
    if cost:
        left = cost - saved_cost
        rows = [("cost", cost, f"${cost:,.2f}"), ("with Ralph", left, f"${left:,.2f}")]
    these = "This run" if runs == 1 else f"These {runs:,} runs"
    least = "at least " if costless else ""
    spent = f"{these} cost {least}${cost:,.2f}" if cost else f"{these} took {passes_text(passes)}"
    if not saved:
        return [*bars(rows), f"{spent}; Ralph would have let every pass run."]
    saving = f"${saved_cost:,.2f}" if saved_cost else passes_text(saved)
    lost = f"cut {passes_text(cut)} that made progress" if cut else "cut none that is known to have made progress"
    doubt = f" ({cut_unknown:,} unknown)" if cut_unknown else ""
    return [*bars(rows), f"{spent}; Ralph would have saved {saving} and {lost}{doubt}."]


def passes_text(number: int) -> str:
    """Return a number of passes in words."""
    return f"{number:,} pass{'' if number == 1 else 'es'}"

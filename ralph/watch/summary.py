"""The end of a run in a few lines: why it stopped, what stands behind it, what it took, and where to look further."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ralph.decision.outcomes import Decision
from ralph.errors import naming_store
from ralph.records.events import RunFinished
from ralph.records.projection import duration
from ralph.records.record import RunRecord
from ralph.types.output import Outcome, Usage
from ralph.watch.remedy import next_step
from ralph.watch.terminal import STOP_SIGNS, evidence_text, one_line, print_rows, sign

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["headline", "print_summary", "spent", "told"]

_ENDED = {
    "stuck": "Stopped: stuck",
    "test_saturation": "Stopped: only tests were run",
    "circuit_open": "Stopped: the circuit breaker is open",
    "limit_reached": "Stopped: a limit is reached",
    "executor_unavailable": "Stopped: the agent cannot work",
    "blocked": "Stopped: the agent needs a person",
    "cancelled": "Cancelled",
    "error": "Stopped: a fault in Ralph itself",
}
_EVIDENCE = 3


def headline(end: RunFinished | RunRecord, verifiers: Iterable[str] = ()) -> str:
    """How a run ended, and for a completion whether anything but the agent's word stands behind it."""
    if end.stop_reason != "completed":
        return _ENDED.get(end.stop_reason or "", "Under way")
    if not end.verified:
        return "Completed: claimed, not verified"
    by = ", ".join(f"`{one_line(name, 80)}`" for name in verifiers)
    return f"Completed, verified by {by}" if by else "Completed, verified"


def told(
    end: RunFinished | RunRecord,
    decision: Decision | None = None,
    outcome: Outcome | None = None,
    *,
    endpoint: bool = False,
    store: str = "",
    kept: bool = True,
) -> list[tuple[str, str]]:
    """What is to be told of an end, a label and a text each; the arguments are those of `print_summary`."""
    said: list[tuple[str, str]] = []
    if end.detail:
        why = one_line(end.detail, 600)
        said.append(("why", f"ended by {why}" if end.stop_reason == "cancelled" else naming_store(why, store)))
    evidence = decision.evidence[:_EVIDENCE] if decision is not None else ()
    said += [("evidence", evidence_text(piece)) for piece in evidence]
    if end.stop_reason == "completed" and not end.verified:
        said.append(("", "nothing but the agent's word stands behind it; with --verify CMD a program decides"))
    said += [("despite", one_line(item)) for item in end.still_open[:_EVIDENCE]]
    if len(end.still_open) > _EVIDENCE:
        said.append(("", f"and {len(end.still_open) - _EVIDENCE} more"))
    if step := next_step(end.stop_reason, outcome, detail=end.detail, endpoint=endpoint, kept=kept):
        said.append(("next", naming_store(step, store)))
    by = ", ".join(f"{name} {count}" for name, count in sorted(end.executors.items()))
    said.append(("iterations", f"{end.iterations} ({by})" if by else str(end.iterations)))
    if used := spent(end.usage):
        said.append(("used", used))
    said.append(("took", duration(end.duration)))
    return said


def spent(usage: Usage) -> str:
    """What was used, as far as it was measured."""
    parts: list[str] = []
    if usage.tokens is not None:
        parts.append(f"{usage.tokens:,} tokens")
    if usage.premium_requests:
        parts.append(f"{usage.premium_requests:g} premium requests")
    if usage.cost is not None:
        parts.append(f"${usage.cost:.2f}")
    return " · ".join(parts)


def print_summary(
    console: "Console",
    end: RunFinished | RunRecord,
    *,
    decision: Decision | None = None,
    outcome: Outcome | None = None,
    endpoint: bool = False,
    verifiers: Iterable[str] = (),
    look_up: str = "",
    store: str = "",
    kept: bool = True,
) -> None:
    """Prints the end of a run.

    Args:
        decision, outcome: of the last iteration.
        endpoint: whether the model is at an endpoint of the user's own.
        verifiers: the names of those that a completion passed.
        look_up: the command that shows the run again.
        store: the option that names the store, such as " --store runs.db", for the commands that are advised.
        kept: whether the run is in a store, where such commands find it.
    """
    from rich.text import Text

    done = end.stop_reason == "completed"
    colour = "green" if done and end.verified else "yellow" if done else "red"
    mark = sign(console, STOP_SIGNS.get(end.stop_reason or "", "✗"))
    console.print()
    console.print(Text(f"{mark} {headline(end, verifiers)}", style=f"bold {colour}"))
    rows = told(end, decision, outcome, endpoint=endpoint, store=store, kept=kept)
    if look_up:
        rows.append(("more", look_up))
    print_rows(console, ((Text(f"  {label}", style="dim"), Text(text)) for label, text in rows), width=13)

"""The summary at the end of a run: why it stopped, the evidence, what it used, and the next step."""

from typing import TYPE_CHECKING

from ralph.decision.backing import grade, some, way_back
from ralph.decision.outcomes import StopReason
from ralph.errors import naming_store
from ralph.records.events import IterationFinished, RunFinished
from ralph.records.projection import denials_text, usage_text
from ralph.records.record import IterationRecord, RunRecord
from ralph.system.text import duration, one_line
from ralph.types.output import Failed, Outcome
from ralph.watch.terminal import STOP_SIGNS, evidence_text, print_rows, print_text, sign

if TYPE_CHECKING:
    from rich.console import Console

Iteration = IterationFinished | IterationRecord

_ENDED = {
    "stuck": "Stopped: stuck",
    "test_saturation": "Stopped: only tests were run",
    "circuit_open": "Stopped: the circuit breaker is open",
    "limit_reached": "Stopped: a limit is reached",
    "executor_unavailable": "Stopped: the agent cannot work",
    "blocked": "Stopped: the agent needs you",
    "cancelled": "Cancelled",
    "error": "Stopped: a fault in Ralph or in a plug-in",
}
_EVIDENCE = 3
_NEXT = {
    "stuck": "tell it what is missing (`ralph tell`), then `ralph resume`; or run a smaller task",
    "test_saturation": (
        "tell it what is left besides the tests (`ralph tell`), then `ralph breaker reset` and `ralph resume`"
    ),
    "circuit_open": "fix what blocked it, then `ralph breaker reset` and `ralph resume`",
    "executor_unavailable": "`ralph doctor` checks what the agent needs; then `ralph resume`",
    "blocked": "give it what it needs, and say so (`ralph tell`), then `ralph resume`",
    "limit_reached": "allow it more (`ralph extend`), then `ralph resume`",
    "cancelled": "`ralph resume` continues it",
}
_NEXT_UNSTORED = {
    "stuck": "run a smaller task",
    "circuit_open": "fix what blocked it, then run it again",
    "executor_unavailable": "`ralph doctor` checks what the agent needs",
    "blocked": "give it what it needs, then run it again",
    "limit_reached": "run it again with more",
}
"""For runs that are not in a store, where no command finds them."""

_ALLOW = "start a run that allows it: --allow PATTERN, or another --permission"
_KEY = "RALPH_EXECUTOR__API_KEY, or executor.api_key in your own ralph.toml"
_AT_ENDPOINT = {
    403: f"check the endpoint's key ({_KEY}) and that it may use what --model names; then --base-url",
    404: "check --base-url (most endpoints end in /v1) and that --model names a model that it has",
    "auth": f"set the endpoint's key: {_KEY}",
    "refused": "check --model and --wire-api; if the request was too long, give a smaller task or another model",
}
_OTHER = "check that the endpoint of --base-url answers; its log says more"
_AT_GITHUB = {
    "auth": "log in with `ralph login`, or set GH_TOKEN, or name your own endpoint with --base-url",
    403: "check that the account has Copilot and may use the model, or choose another one with --model",
    "refused": "choose another model with --model; if the request was too long, give a smaller task",
}
"""By the HTTP status or the kind of the failure; the first that fits counts."""

_CANNOT_TELL = "nothing proves that the work is done; a --verify CMD that fails until then does"


def summary_rows(
    end: RunFinished | RunRecord, last: Iteration | None, *, endpoint: bool, store: str, kept: bool
) -> list[tuple[str, str]]:
    """Return the rows of the summary, with their labels; the arguments are those of `print_summary`."""
    rows: list[tuple[str, str]] = []
    if end.detail:
        why = one_line(end.detail, 600)
        rows.append(("why", f"ended by {why}" if end.stop_reason == "cancelled" else naming_store(why, store)))
    rows += [("evidence", evidence_text(piece)) for piece in (last.decision.evidence[:_EVIDENCE] if last else ())]
    if end.lost:
        run_id = end.id if isinstance(end, RunRecord) else end.run_id
        way = f": {naming_store(way_back(run_id, end.lost), store)}" if kept else ""
        rows.append(("lost", f"look at {some(end.lost)}{way}"))
    elif end.stop_reason == "completed" and not end.verified:
        rows.append(("", _CANNOT_TELL))
    rows += [("despite", one_line(item)) for item in end.still_open[:_EVIDENCE]]
    if len(end.still_open) > _EVIDENCE:
        rows.append(("", f"and {len(end.still_open) - _EVIDENCE} more"))
    if step := next_step(
        end.stop_reason,
        last.outcome if last else None,
        last.executor if last else "",
        detail=end.detail,
        endpoint=endpoint,
        kept=kept,
    ):
        rows.append(("next", naming_store(step, store)))
    unanswered = end.iterations - sum(end.executors.values())
    answered = sorted(end.executors.items()) + ([("unanswered", unanswered)] if end.executors and unanswered else [])
    by = ", ".join(f"{name} {count}" for name, count in answered)
    rows.append(("iterations", f"{end.iterations} ({by})" if by else str(end.iterations)))
    if used := usage_text(end.usage):
        rows.append(("used", used))
    if denied := denials_text(end.denials):
        rows.append((
            "denied",
            f"{denied.removesuffix(' denied')}{naming_store('; `ralph logs` shows which', store) * kept}",
        ))
    rows.append(("took", duration(end.duration)))
    return rows


def print_summary(
    console: "Console",
    end: RunFinished | RunRecord,
    last: Iteration | None,
    *,
    endpoint: bool,
    look_up: str = "",
    store: str,
    kept: bool = True,
) -> None:
    """Print the end of a run, given its last iteration.

    Args:
        endpoint: True if the model is served by an endpoint of the user.
        look_up: the command that shows the run again.
        store: the option that names the store, such as " --store runs.db", for suggested commands.
        kept: True if the run is in a store, where such commands find it.
    """
    colour, headline = "red", _ENDED.get(end.stop_reason or "", "Under way")
    if end.stop_reason == "completed":
        graded = grade(verified=end.verified, already_green=end.already_green)
        colour, headline = ("green", f"Completed, {graded}") if end.verified else ("yellow", f"Completed: {graded}")
    mark = sign(console, STOP_SIGNS.get(end.stop_reason or "", "✗"))
    console.print()
    print_text(console, f"{mark} {headline}", style=f"bold {colour}")
    rows = summary_rows(end, last, endpoint=endpoint, store=store, kept=kept)
    if look_up:
        rows.append(("more", look_up))
    print_rows(console, ((f"  {label}", text) for label, text in rows), width=13)


def next_step(
    reason: StopReason | None,
    outcome: Outcome | None = None,
    executor: str = "",
    *,
    detail: str = "",
    endpoint: bool = False,
    kept: bool = True,
) -> str:
    """Return what the user can do after a run, as one line without a full stop; empty if nothing needs to be done.

    The arguments are those of `print_summary`; `executor` is the one that failed last, and `detail` is the reason in
    the words of the run's end.
    """
    usual = (_NEXT if kept else _NEXT_UNSTORED).get(reason or "", "")
    if reason == "executor_unavailable" and isinstance(outcome, Failed):
        steps, other = (_AT_ENDPOINT, _OTHER) if endpoint else (_AT_GITHUB, usual)
        if not endpoint and outcome.failure == "auth" and executor and not executor.startswith("copilot"):
            return f"log in with `ralph login --executor {executor}`, or name your own endpoint with --base-url"
        return next((step for what, step in steps.items() if what in {outcome.status, outcome.failure}), other)
    if reason == "circuit_open" and "permission-denied" in detail:
        return f"see what was denied (`ralph logs`), and {_ALLOW}" if kept else _ALLOW
    return usual

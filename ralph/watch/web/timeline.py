"""The events of a run as entries of a timeline, in the words of the other displays."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from ralph.records import events
from ralph.records.projection import changes_text, describe, outcome_text
from ralph.system.text import duration, limits_text, one_line
from ralph.types.tools import tool_text

_LINE = 300


class Entry(NamedTuple):
    """An entry of a timeline.

    Attributes:
        kind: a class of entries, for the style.
        title: one line; the agent's words in it are printable.
        body: Markdown of the agent or the user.
        detail: text to unfold.
        tone: "good", "bad", "warn" or empty.
    """

    seq: int
    at: datetime
    iteration: int
    kind: str
    title: str
    body: str = ""
    detail: str = ""
    tone: str = ""


def entries(given: Iterable[events.Event], workspace: str | None = None) -> list[Entry]:
    """Return the entries of events, in their order; those that say nothing by themselves are left out."""
    return [entry for event in given if (entry := _entry(event, workspace))]


def _entry(event: events.Event, workspace: str | None) -> Entry | None:
    told = _of_agent(event, workspace) or _of_run(event)
    if told is None:
        return None
    kind, title, more = told
    return Entry(event.seq, event.at, event.iteration, kind, one_line(title, _LINE), **more)


_Told = tuple[str, str, dict[str, str]]


def _of_agent(event: events.Event, workspace: str | None) -> _Told | None:
    match event:
        case events.MessageReceived() if event.text.strip():
            return "message", "", {"body": event.text}
        case events.ToolFinished(tool=tool):
            word = "denied" if tool.denied else "failed" if tool.success is False else ""
            title = f"{tool_text(tool, workspace)} · {f'{word}, ' * bool(word)}{duration(tool.duration)}"
            more = f"{tool.arguments}\n\n{tool.result}".strip()
            return "tool", title, {"detail": more, "tone": "bad" if word else ""}
        case events.ExecutorFellBack():
            who = "is asked again" if event.before == event.after else f"failed, {event.after} tries next"
            return "note", f"{event.before} {who}: {outcome_text(event.attempt.outcome)}", {"tone": "warn"}
        case events.VerificationFinished():
            verdicts = ", ".join(f"{verdict.verifier} {verdict.word}" for verdict in event.verdicts)
            output = "\n\n".join(verdict.output for verdict in event.verdicts if verdict.output)
            tone = "good" if event.passed else "bad"
            when = "" if event.iteration else "before the first iteration: "
            return (
                "check",
                f"{when}{verdicts or event.cut_short or 'nothing was verified'}",
                {"detail": output, "tone": tone},
            )
        case events.IterationFinished():
            title = f"iteration {event.iteration}: {changes_text(event)}; {describe(event.decision)}"
            return "iteration", title, {}
        case _:
            return None


def _of_run(event: events.Event) -> _Told | None:
    tone = ""
    match event:
        case events.RunStarted():
            title = "the run continues" if event.resumed else "the run begins"
        case events.Diagnosed():
            title = event.text
        case events.ProtectedRestored():
            title, tone = f"protected files restored: {', '.join(event.paths[:5])}", "warn"
        case events.BreakerChanged(breaker=breaker):
            why = f"{' with a warning' * breaker.warning}{f': {breaker.reason}' if breaker.reason else ''}"
            title = f"breaker {breaker.state.replace('_', ' ')}{why}"
            tone = "good" if breaker.state == "closed" and not breaker.warning else "warn"
        case events.Paused():
            until = f" until {event.until.astimezone():%H:%M:%S}" if event.until else ""
            title, tone = f"paused{until}: {event.reason}", "warn"
        case events.Resumed():
            title = "continues"
        case events.Told():
            return "told", "you told the agent", {"body": event.text}
        case events.Extended():
            title = f"extended: {limits_text(event.added, ' by ')}"
        case events.OrphansEnded():
            title, tone = f"ended what a dead process had left running: {', '.join(event.processes[:5])}", "warn"
        case events.RunFinished():
            tone = "good" if event.stop_reason == "completed" else "warn"
            return "end", f"{event.stop_reason.replace('_', ' ')}: {event.detail}", {"tone": tone}
        case _:
            return None
    return "note", title, {"tone": tone}

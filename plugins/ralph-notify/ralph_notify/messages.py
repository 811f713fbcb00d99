"""What people are told of an event: short texts, pure functions of the event.

What the agent or a file of the workspace has said is hostile: it is cut to a line of bounded length, without
characters that are not seen, and without those by which chats make mentions, links and tags of a text.
"""

from typing import Literal, NamedTuple

from ralph.records.events import (
    BreakerChanged,
    Event,
    ExecutorFellBack,
    IterationFinished,
    Paused,
    ProtectedRestored,
    Resumed,
    RunFinished,
    RunStarted,
    VerificationFinished,
)

__all__ = ["Message", "is_asking", "line", "message", "trial"]

_LOOK_ALIKES = str.maketrans({"@": "＠", "<": "‹", ">": "›", "`": "'", "*": "∗", "[": "(", "]": ")", "|": "¦"})
_TASK, _REASON, _ITEM = 200, 500, 120


Kind = Literal["info", "success", "warning", "failure"]


class Message(NamedTuple):
    """A notification.

    Attributes:
        kind: how it went, by which services choose a colour or a sound.
    """

    title: str
    body: str
    kind: Kind = "info"


def line(text: str, most: int) -> str:
    """Foreign text as one harmless line of at most `most` characters."""
    seen = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    words = " ".join(seen.split()).translate(_LOOK_ALIKES).replace("://", ":⁄⁄")
    return words if len(words) <= most and len(text) <= 4 * most else f"{words[: most - 1]}…"


def is_asking(event: Event) -> bool:
    """Whether an iteration ended with the agent in need of a person."""
    return isinstance(event, IterationFinished) and event.analysis.state in {"blocked", "question"}


def message(event: Event, task: str) -> Message | None:
    """What is told of an event; None for one of which there is nothing to tell.

    Args:
        task: that of the run; empty where it is not known.
    """
    match event:
        case RunStarted():
            title, kind = "resumed" if event.resumed else "started", "info"
            lines = (f"Workspace: {line(event.workspace, _REASON)}" if event.workspace else "",)
        case RunFinished():
            title, kind, lines = _ending(event)
        case _:
            told = _under_way(event)
            if told is None:
                return None
            title, kind, lines = told
    subject = line(task, _TASK)
    body = (f"Task: {subject}" if subject else "", *lines, f"Look it up: ralph show {line(event.run_id, 100)}")
    return Message(f"Ralph: {title}", "\n".join(filter(None, body)), kind)


def trial() -> Message:
    """What is sent to see whether it arrives."""
    return Message("Ralph: on trial", "Ralph can reach you here.")


_Told = tuple[str, Kind, tuple[str, ...]]


def _ending(event: RunFinished) -> _Told:
    done = event.stop_reason == "completed"
    kind = ("success" if event.verified else "warning") if done else "failure"
    verified = "yes" if event.verified else "no: nothing but the agent's word stands behind it" if done else ""
    open_points = "; ".join(line(each, _ITEM) for each in event.still_open[:5])
    lines = (
        f"Why: {line(event.detail, _REASON)}" if event.detail else "",
        f"Verified: {verified}" if verified else "",
        f"Still open: {open_points}" if open_points else "",
        f"Iterations: {event.iterations}, in {_spell(event.duration)}",
    )
    return event.stop_reason.replace("_", " "), kind, lines


def _under_way(event: Event) -> _Told | None:
    match event:
        case IterationFinished():
            return _iteration(event)
        case VerificationFinished() if event.iteration:
            return _verification(event)
        case BreakerChanged():
            state = event.breaker.state.replace("_", " ")
            return f"the breaker is {state}", "info" if state == "closed" else "warning", ()
        case ExecutorFellBack():
            return "another executor tries", "warning", (f"{line(event.before, 40)} → {line(event.after, 40)}",)
        case ProtectedRestored():
            paths = ", ".join(line(path, _ITEM) for path in event.paths[:5])
            return "protected paths were changed, and given back", "warning", (f"Paths: {paths}",)
        case Paused():
            until = f"Until: {event.until:%Y-%m-%d %H:%M} UTC" if event.until else "Until a person lets it go on."
            return "paused", "warning", (f"Why: {line(event.reason, _REASON)}", until)
        case Resumed():
            return "goes on", "info", ()
        case _:
            return None


def _iteration(event: IterationFinished) -> _Told:
    if is_asking(event):
        asked = line(event.analysis.question or event.analysis.work_summary, _REASON)
        return f"the agent asks in iteration {event.iteration}", "warning", (f"It says: {asked}" if asked else "",)
    said = line(event.decision.reason, _REASON)
    return f"iteration {event.iteration} is over", "info", (f"What follows: {said}" if said else "",)


def _verification(event: VerificationFinished) -> _Told:
    failed = ", ".join(line(each.verifier, _ITEM) for each in event.verdicts if not each.passed)
    lines = (f"Failed: {failed}" if failed else "", line(event.cut_short, _REASON))
    return ("verified", "success", lines) if event.passed else ("a claim was refuted", "warning", lines)


def _spell(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"

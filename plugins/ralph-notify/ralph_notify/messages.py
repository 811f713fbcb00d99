"""The texts of notifications: pure functions of an event.

Text from the agent or from the workspace is untrusted. It is reduced to one line of limited length, without invisible
characters and without the characters that chats turn into mentions, links and tags.
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

__all__ = ["Message", "is_asking", "line", "message", "sample_message"]

_LOOK_ALIKES = str.maketrans({"@": "＠", "<": "‹", ">": "›", "`": "'", "*": "∗", "[": "(", "]": ")", "|": "¦"})
_TASK, _REASON, _ITEM = 200, 500, 120


Kind = Literal["info", "success", "warning", "failure"]


class Message(NamedTuple):
    """A notification.

    Attributes:
        kind: severity, from which services choose a colour or a sound.
    """

    title: str
    body: str
    kind: Kind = "info"


def line(text: str, most: int) -> str:
    """Return untrusted text as one harmless line of at most `most` characters."""
    seen = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    words = " ".join(seen.split()).translate(_LOOK_ALIKES).replace("://", ":⁄⁄")
    return words if len(words) <= most and len(text) <= 4 * most else f"{words[: most - 1]}…"


def is_asking(event: Event) -> bool:
    """Return True if an iteration ended and the agent needs the user: it asks a question or is blocked."""
    return isinstance(event, IterationFinished) and event.analysis.state in {"blocked", "question"}


def message(event: Event, task: str) -> Message | None:
    """Return the notification about an event; None for an event that is not worth one.

    Args:
        event: an event of any type.
        task: the run's task; empty if unknown.
    """
    match event:
        case RunStarted():
            title, kind = "resumed" if event.resumed else "started", "info"
            lines = (f"Workspace: {line(event.workspace, _REASON)}" if event.workspace else "",)
        case RunFinished():
            title, kind, lines = _ending(event)
        case _:
            parts = _in_progress(event)
            if parts is None:
                return None
            title, kind, lines = parts
    subject = line(task, _TASK)
    body = (f"Task: {subject}" if subject else "", *lines, f"Details: ralph show {line(event.run_id, 100)}")
    return Message(f"Ralph: {title}", "\n".join(filter(None, body)), kind)


def sample_message() -> Message:
    """Return the message that `ralph notify` sends."""
    return Message("Ralph: test notification", "Notifications about your runs arrive here.")


_Parts = tuple[str, Kind, tuple[str, ...]]


def _ending(event: RunFinished) -> _Parts:
    done = event.stop_reason == "completed"
    kind = ("success" if event.verified else "warning") if done else "failure"
    verified = f"{'yes' if event.verified else 'no'}: {line(event.verified_by, _REASON)}" if done else ""
    open_points = "; ".join(line(each, _ITEM) for each in event.still_open[:5])
    lines = (
        f"Why: {line(event.detail, _REASON)}" if event.detail else "",
        f"Verified: {verified}" if verified else "",
        f"Still open: {open_points}" if open_points else "",
        f"Iterations: {event.iterations}, in {_duration_text(event.duration)}",
    )
    return event.stop_reason.replace("_", " "), kind, lines


def _in_progress(event: Event) -> _Parts | None:
    match event:
        case IterationFinished():
            return _iteration(event)
        case VerificationFinished() if event.iteration:
            return _verification(event)
        case BreakerChanged():
            state = event.breaker.state.replace("_", " ")
            return f"the breaker is {state}", "info" if state == "closed" else "warning", ()
        case ExecutorFellBack():
            return "another executor is trying", "warning", (f"{line(event.before, 40)} → {line(event.after, 40)}",)
        case ProtectedRestored():
            paths = ", ".join(line(path, _ITEM) for path in event.paths[:5])
            return "protected paths were changed and restored", "warning", (f"Paths: {paths}",)
        case Paused():
            return "paused", "warning", (f"Why: {line(event.reason, _REASON)}", _pause_end(event))
        case Resumed():
            return "running again", "info", ()
        case _:
            return None


def _pause_end(event: Paused) -> str:
    if event.until:
        return f"Until: {event.until:%Y-%m-%d %H:%M} UTC"
    return "Until you resume it." if event.seq else ""  # without a seq the store cannot be written: no one can resume


def _iteration(event: IterationFinished) -> _Parts:
    if is_asking(event):
        asked = line(event.analysis.question or event.analysis.work_summary, _REASON)
        return (
            f"the agent needs you in iteration {event.iteration}",
            "warning",
            (f"The agent says: {asked}" if asked else "",),
        )
    said = line(event.decision.reason, _REASON)
    return f"iteration {event.iteration} finished", "info", (f"Decision: {said}" if said else "",)


def _verification(event: VerificationFinished) -> _Parts:
    failed = ", ".join(line(each.verifier, _ITEM) for each in event.verdicts if not each.passed)
    lines = (f"Failed: {failed}" if failed else "", line(event.cut_short, _REASON))
    return ("verified", "success", lines) if event.passed else ("verification failed", "warning", lines)


def _duration_text(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"

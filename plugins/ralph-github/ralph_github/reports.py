"""What is told of a run on its issue: Markdown, in which nothing that the agent said can act."""

from dataclasses import dataclass

from ralph.records.events import RunFinished
from ralph_github.task import IssueName
from ralph_github.text import code, line

__all__ = ["Run", "mark", "report", "request"]

_REASON = 500


@dataclass(slots=True)
class Run:
    """What is known of a run.

    Attributes:
        resumed: it may have a comment from before.
        said: what follows from its last iteration.
        told_at: when a report of it was last handed over, in seconds of the monotonic clock.
    """

    id: str
    issue: IssueName
    workspace: str | None
    resumed: bool
    state: str = "Ralph is at work on this."
    iterations: int = 0
    said: str = ""
    told_at: float = 0.0
    ending: RunFinished | None = None


def mark(run_id: str) -> str:
    """What the comment of a run begins with; nobody sees it."""
    return f"<!-- ralph run {line(run_id, 100).replace('-->', '')} -->"


def report(run: Run) -> str:
    """The comment on a run as it is now."""
    lines = [mark(run.id), f"**{run.state if run.ending is None else _ended(run.ending)}**", ""]
    return "\n".join([*lines, *_facts(run)])


def request(run: Run) -> str:
    """The text of a pull request with what a run has done."""
    return "\n".join([
        f"For #{run.issue.number}, by a run of Ralph that no person has looked at yet.",
        "",
        *_facts(run),
    ])


def _facts(run: Run) -> list[str]:
    ending = run.ending
    why = ending.detail if ending else run.said
    facts = [
        f"- {'Why' if ending else 'What follows'}: {code(why, _REASON)}" if why else "",
        f"- Verified: {_verified(ending)}" if ending and ending.stop_reason == "completed" else "",
        *(f"- Still open: {code(each, 200)}" for each in (ending.still_open[:5] if ending else ())),
        f"- Iterations: {ending.iterations if ending else run.iterations}",
        f"- Look it up, where it ran: {code(f'ralph show {run.id}', 150)}",
    ]
    return [each for each in facts if each]


def _ended(ending: RunFinished) -> str:
    if ending.stop_reason == "completed":
        return "Ralph has completed this."
    return f"Ralph has stopped without completing this: {ending.stop_reason.replace('_', ' ')}."


def _verified(ending: RunFinished) -> str:
    return "yes" if ending.verified else "no, nothing but the agent's word stands behind it"

"""The Markdown that is published about a run. Text from the agent appears as code, so it has no effect on GitHub."""

from dataclasses import dataclass

from ralph.records.events import RunFinished
from ralph_github.task import IssueName, code, line

__all__ = ["Run", "mark", "report", "request"]

_REASON = 500


@dataclass(slots=True)
class Run:
    """The reported state of a run.

    Attributes:
        resumed: True if its comment may exist already.
        state: headline of the comment until the run ends.
        reason: reason of the last decision or pause.
        reported_at: time of the last report, in seconds of the monotonic clock.
        ending: the event that ended the run; None while it runs.
    """

    id: str
    issue: IssueName
    workspace: str | None
    resumed: bool
    state: str = "Ralph is working on this."
    iterations: int = 0
    reason: str = ""
    reported_at: float = 0.0
    ending: RunFinished | None = None


def mark(run_id: str) -> str:
    """Return the invisible start of a run's comment, by which the comment is found again."""
    return f"<!-- ralph run {line(run_id, 100).replace('-->', '')} -->"


def report(run: Run) -> str:
    """Return the comment for the current state of a run."""
    lines = [mark(run.id), f"**{run.state if run.ending is None else _ended(run.ending)}**", ""]
    return "\n".join([*lines, *_facts(run)])


def request(run: Run) -> str:
    """Return the text of the pull request for a run's changes."""
    return "\n".join([
        f"For #{run.issue.number}, from a run of Ralph. These changes have not been reviewed yet.",
        "",
        *_facts(run),
    ])


def _facts(run: Run) -> list[str]:
    ending = run.ending
    why = ending.detail if ending else run.reason
    facts = [
        f"- {'Why' if ending else 'Decision'}: {code(why, _REASON)}" if why else "",
        f"- Verified: {_verified(ending)}" if ending and ending.stop_reason == "completed" else "",
        *(f"- Still open: {code(each, 200)}" for each in (ending.still_open[:5] if ending else ())),
        f"- Iterations: {ending.iterations if ending else run.iterations}",
        f"- Details, on the machine of the run: {code(f'ralph show {run.id}', 150)}",
    ]
    return [each for each in facts if each]


def _ended(ending: RunFinished) -> str:
    if ending.stop_reason == "completed":
        return "Ralph has completed this."
    return f"Ralph has stopped without completing this: {ending.stop_reason.replace('_', ' ')}."


def _verified(ending: RunFinished) -> str:
    return f"{'yes' if ending.verified else 'no'}: {code(ending.verified_by, _REASON)}"

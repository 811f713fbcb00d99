"""A run as lines of a log: for pipes, files and people who like to scroll."""

from datetime import UTC, datetime
from functools import singledispatchmethod
from typing import TextIO

from ralph.decision.outcomes import Halt, Pause
from ralph.errors import naming_store
from ralph.records.events import (
    BreakerChanged,
    Diagnosed,
    Event,
    ExecutorFellBack,
    Extended,
    IterationFinished,
    IterationStarted,
    MessageReceived,
    OrphansEnded,
    Paused,
    ProtectedRestored,
    Resumed,
    RunFinished,
    RunStarted,
    Told,
    ToolFinished,
    VerificationFinished,
)
from ralph.records.projection import describe, duration, numbered
from ralph.records.record import IterationRecord
from ralph.system.text import additions
from ralph.types.output import Failed, Outcome, TimedOut
from ralph.watch.base import Display
from ralph.watch.summary import print_summary
from ralph.watch.terminal import BREAKER_SIGNS, clipped, console_for, one_line, sign

__all__ = ["PlainDisplay", "changes_text", "looking_text", "outcome_text"]

_MESSAGE_LINES = 20
_OUTPUT_LINES = 12
_LAST_LINES = 8
"""Of those, the last ones of an output: that is where programs say what failed."""


class PlainDisplay(Display):
    """Writes a line or more for each event that a person cares for, with the local time in front."""

    def __init__(self, out: TextIO | None = None, *, look_up: str = "ralph show", endpoint: bool = False) -> None:
        super().__init__(out, look_up=look_up, endpoint=endpoint)
        self.console = console_for(self.out)
        self._most: int | None = None
        self._verifiers: tuple[str, ...] = ()
        self._limited = 0
        self._looked = -2
        self._last: IterationFinished | None = None

    def show(self, event: Event) -> None:
        self._tell(event)

    def verifying(self, verifier: str) -> None:
        self.say(datetime.now(UTC), "verify", f"{verifier} is at work", most=1)

    def looking(self, read: int, of: int) -> None:
        """Once, and again at each quarter of the files."""
        quarter = read * 4 // of if of else -1
        if quarter > self._looked:
            self._looked = quarter
            self.note(looking_text(read, of))

    def say(self, at: datetime, label: str, text: str, *, style: str = "", most: int = 4, last: int = 0) -> None:
        """One entry of the log; text that is longer than the line goes on below itself."""
        from rich.text import Text

        time = f"{at.astimezone():%H:%M:%S}"
        body = clipped(text, most, last)
        indent = len(time) + 12
        wraps = not self.console.soft_wrap
        lines = body.wrap(self.console, max(self.console.width - indent, 20)) if wraps else body.split("\n")
        for number, line in enumerate(lines):
            front = f"{time}  {label:<9} " if number == 0 else " " * indent
            said = line.plain.rstrip()
            self.console.print(Text.assemble((front if said else front.rstrip(), "dim"), (said, style)))

    @singledispatchmethod
    def _tell(self, event: object) -> None:
        """An event that is told nothing of, such as a piece of a message."""

    @_tell.register
    def _(self, event: RunStarted) -> None:
        self._most, self._verifiers = event.max_iterations, event.verifiers
        self.say(event.at, "run", f"{event.run_id}{' goes on' if event.resumed else ''}", style="bold")
        self.say(event.at, "task", event.task)
        if event.workspace:
            self.say(event.at, "in", event.workspace)
        if event.verifiers:
            green = ", which succeeds already: it cannot tell when the work is done" if event.already_green else ""
            self.say(event.at, "verified", f"by {', '.join(event.verifiers)}{green}", style="yellow" if green else "")

    @_tell.register
    def _(self, event: IterationStarted) -> None:
        number = numbered(event.iteration, self._most, self._limited, of="of at most")
        self.say(event.at, "iteration", number, style="bold")

    @_tell.register
    def _(self, event: MessageReceived) -> None:
        if event.text.strip():
            self.say(event.at, "agent", event.text, most=_MESSAGE_LINES)

    @_tell.register
    def _(self, event: ToolFinished) -> None:
        call = event.tool
        ended = "denied" if call.denied else "" if call.success else "failed"
        took = f" ({duration(call.duration)})" if call.duration >= 1 else ""
        front = f"{ended}: " if ended else ""
        self.say(
            event.at,
            "tool",
            f"{front}{one_line(call.name, 40)} {one_line(call.arguments, 160)}{took}",
            style="yellow" if ended else "",
        )

    @_tell.register
    def _(self, event: ExecutorFellBack) -> None:
        what = "is asked again" if event.before == event.after else f"gives way to {event.after}"
        self.say(event.at, "fallback", f"{event.before} {what}: {outcome_text(event.attempt.outcome)}", style="yellow")

    @_tell.register
    def _(self, event: Diagnosed) -> None:
        self.say(event.at, "note", naming_store(event.text, self._store_option), style="yellow")

    @_tell.register
    def _(self, event: VerificationFinished) -> None:
        for verdict in event.verdicts:
            took = f"({duration(verdict.duration)})"
            if verdict.passed:
                self.say(event.at, "verify", f"{verdict.verifier} succeeds {took}", style="green")
                continue
            if not event.iteration:
                self.say(event.at, "verify", f"{verdict.verifier} does not succeed yet {took}")
                continue
            style = "yellow" if verdict.undecided else "red"
            self.say(event.at, "verify", f"{verdict.verifier} {verdict.word} {took}", style=style)
            if verdict.output:
                self.say(event.at, "", verdict.output, most=_OUTPUT_LINES, last=_LAST_LINES)

    @_tell.register
    def _(self, event: BreakerChanged) -> None:
        state = event.breaker
        warns = state.state == "closed" and state.warning
        mark = sign(self.console, BREAKER_SIGNS["warning" if warns else state.state])
        word = "warns" if warns else state.state.replace("_", " ")
        self.say(event.at, "breaker", f"{mark} {word}{f': {state.reason}' if state.reason else ''}", style="yellow")

    @_tell.register
    def _(self, event: IterationFinished) -> None:
        self._last, decision = event, event.decision
        self._limited += event.limited
        failure = outcome_text(event.outcome)
        if event.outcome.kind != "completed" and failure.partition(": ")[2] not in decision.reason:
            self.say(event.at, "turn", failure, style="red")
        self.say(event.at, "ended", f"iteration {event.iteration} {changes_text(event)}; {duration(event.duration)}")
        style = "red" if isinstance(decision, Halt) else "yellow" if isinstance(decision, Pause) else ""
        self.say(event.at, "decision", describe(decision), style=style)

    @_tell.register
    def _(self, event: Paused) -> None:
        if event.until is not None:
            until = f"until {event.until.astimezone():%H:%M:%S}: "
        else:
            until = f"until `ralph resume{self._store_option} {event.run_id}`: " if event.seq else ""
        self.say(event.at, "paused", f"{until}{event.reason}", style="yellow")

    @_tell.register
    def _(self, event: Resumed) -> None:
        self.say(event.at, "resumed", "")

    @_tell.register
    def _(self, event: Told) -> None:
        self.say(event.at, "told", event.text, most=_MESSAGE_LINES)

    @_tell.register
    def _(self, event: Extended) -> None:
        self._most = None if (most := event.limits.get("max_iterations", self._most)) is None else int(most)
        self.say(event.at, "extended", one_line(additions(event.added)))

    @_tell.register
    def _(self, event: OrphansEnded) -> None:
        left = ", ".join(event.processes)
        self.say(event.at, "ended", f"what the dead process left running: {left}", style="yellow")

    @_tell.register
    def _(self, event: ProtectedRestored) -> None:
        if event.paths:
            self.say(event.at, "restored", one_line(f"{', '.join(event.paths)}: protected"), style="yellow")
        if event.aside:
            self.say(event.at, "note", f"what was found in their place is now in {event.aside}", style="yellow")
        if event.left:
            left = one_line(f"{', '.join(event.left)}: protected, changed, and left as found")
            self.say(event.at, "note", left, style="yellow")

    @_tell.register
    def _(self, event: RunFinished) -> None:
        look_up = f"{self.look_up} {event.run_id}" if self.look_up else ""
        print_summary(
            self.console,
            event,
            decision=self._last.decision if self._last else None,
            outcome=self._last.outcome if self._last else None,
            endpoint=self.endpoint,
            verifiers=self._verifiers,
            look_up=look_up,
            store=self._store_option,
            kept=bool(self.look_up),
        )


def outcome_text(outcome: Outcome) -> str:
    """How a turn ended, in a few words."""
    match outcome:
        case Failed():
            status = f" (HTTP {outcome.status})" if outcome.status else ""
            return f"{outcome.failure.replace('_', ' ')}{status}: {one_line(outcome.message, 300)}"
        case TimedOut():
            what = {"idle": "no sign of life", "iteration": "the turn took too long", "tool": "a tool took too long"}
            return f"{what[outcome.limit]}: ended after {duration(outcome.after)}"
        case _ if outcome.kind == "interrupted":
            return f"interrupted: {one_line(outcome.detail)}"
        case _:
            return "completed"


def changes_text(done: IterationFinished | IterationRecord) -> str:
    """What an iteration changed, in a few words."""
    changes = done.changes
    parts = ["1 file" if changes.files_changed == 1 else f"{changes.files_changed} files"]
    if changes.commits:
        parts.append("1 commit" if changes.commits == 1 else f"{changes.commits} commits")
    if not changes.known:
        parts = ["unknown"]
    elif not changes.files_changed and not changes.commits:
        parts = ["nothing"]
    plan = f"; plan {done.plan.done}/{done.plan.total}" if done.plan is not None and done.plan.total else ""
    return f"changed {', '.join(parts)}{plan}"


def looking_text(read: int, of: int) -> str:
    """What is told of a long look at the workspace; see `Display.looking`."""
    return f"looking at the workspace: {read:,} of {of:,} files" if of else "looking at the workspace"

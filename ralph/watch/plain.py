"""The plain display: a run as the lines of a log."""

from datetime import UTC, datetime
from functools import singledispatchmethod
from typing import TextIO

from rich.text import Text

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
from ralph.records.projection import bounds_text, changes_text, describe, findings, numbered, outcome_text
from ralph.system.text import duration, limits_text, one_line
from ralph.types.tools import tool_text
from ralph.watch.base import Display
from ralph.watch.summary import print_summary
from ralph.watch.terminal import BREAKER_SIGNS, clipped, console_for, sign

_MESSAGE_LINES = 20
_OUTPUT_LINES = 12
_LAST_LINES = 8
"""The number of `_OUTPUT_LINES` from the end, where programs report what failed."""


class PlainDisplay(Display):
    """Writes one or more lines for each event of interest, with the local time in front."""

    _most: int | None = None
    _limited = 0
    _workspace: str | None = None
    _scanned = -2
    _last: IterationFinished | None = None

    def __init__(self, out: TextIO | None = None, *, look_up: str = "ralph show", endpoint: bool = False) -> None:
        super().__init__(out, look_up=look_up, endpoint=endpoint)
        self.console = console_for(self.out)

    def show(self, event: Event) -> None:
        self._print(event)

    def verifying(self, verifier: str) -> None:
        self.say(datetime.now(UTC), "verify", f"{verifier} is running", most=1)

    def scanning(self, read: int, of: int) -> None:
        """Show the scan once, and again at each quarter of the files."""
        quarter = read * 4 // of if of else -1
        if quarter > self._scanned:
            self._scanned = quarter
            self.note(scan_text(read, of))

    def say(self, at: datetime | None, label: str, text: str, *, style: str = "", most: int = 4, last: int = 0) -> None:
        """Print one entry of the log, with its time if it has one; longer text is wrapped below itself."""
        time = f"{at.astimezone():%H:%M:%S}" if at else " " * 8
        body = clipped(text, most, last)
        indent = len(time) + 12
        wraps = not self.console.soft_wrap
        lines = body.wrap(self.console, max(self.console.width - indent, 20)) if wraps else body.split("\n")
        for number, line in enumerate(lines):
            front = f"{time}  {label:<9} " if number == 0 else " " * indent
            said = line.plain.rstrip()
            self.console.print(Text.assemble((front if said else front.rstrip(), "dim"), (said, style)))

    def ended(self, event: IterationFinished) -> None:
        """Print what an iteration has changed, and how long it took."""
        self.say(event.at, "ended", f"iteration {event.iteration} {changes_text(event)}; {duration(event.duration)}")

    @singledispatchmethod
    def _print(self, event: object) -> None:
        """Print an event; one without a method below, such as a piece of a message, is not shown."""

    @_print.register
    def _(self, event: RunStarted) -> None:
        self._most, self._workspace = event.max_iterations, event.workspace
        self.say(event.at, "run", f"{event.run_id}{' continues' if event.resumed else ''}", style="bold")
        self.say(event.at, "task", event.task)
        if event.workspace:
            self.say(event.at, "in", event.workspace)
        if bounds := bounds_text(event):
            self.say(event.at, "bounds", one_line(bounds, 600))
        if event.verifiers:
            green = ", which passes already: it cannot tell when the work is done" if event.already_green else ""
            self.say(event.at, "verify", f"by {', '.join(event.verifiers)}{green}", style="yellow" if green else "")

    @_print.register
    def _(self, event: IterationStarted) -> None:
        number = numbered(event.iteration, self._most, self._limited, of="of at most")
        self.say(event.at, "iteration", number, style="bold")

    @_print.register
    def _(self, event: MessageReceived) -> None:
        if event.text.strip():
            self.say(event.at, "agent", event.text, most=_MESSAGE_LINES)

    @_print.register
    def _(self, event: ToolFinished) -> None:
        call = event.tool
        ended = "denied" if call.denied else "" if call.success else "failed"
        took = f" ({duration(call.duration)})" if call.duration >= 1 else ""
        front = f"{ended}: " if ended else ""
        self.say(
            event.at,
            "tool",
            f"{front}{tool_text(call, self._workspace, 200)}{took}",
            style="yellow" if ended else "",
        )

    @_print.register
    def _(self, event: ExecutorFellBack) -> None:
        what = "is tried again" if event.before == event.after else f"falls back to {event.after}"
        self.say(event.at, "fallback", f"{event.before} {what}: {outcome_text(event.attempt.outcome)}", style="yellow")

    @_print.register
    def _(self, event: Diagnosed) -> None:
        self.say(event.at, "note", naming_store(event.text, self._store_option), style="yellow")

    @_print.register
    def _(self, event: VerificationFinished) -> None:
        for verdict in event.verdicts:
            took = f"({duration(verdict.duration)})"
            if verdict.passed:
                self.say(event.at, "verify", f"{verdict.verifier} succeeds {took}", style="green")
                continue
            if not event.iteration:
                self.say(event.at, "verify", f"{verdict.verifier} does not succeed yet {took}")
                self.say(event.at, "", verdict.output, most=4, last=2)
                continue
            style = "yellow" if verdict.undecided else "red"
            self.say(event.at, "verify", f"{verdict.verifier} {verdict.word} {took}", style=style)
            if verdict.output:
                self.say(event.at, "", verdict.output, most=_OUTPUT_LINES, last=_LAST_LINES)

    @_print.register
    def _(self, event: BreakerChanged) -> None:
        state = event.breaker
        warns = state.state == "closed" and state.warning
        mark = sign(self.console, BREAKER_SIGNS["warning" if warns else state.state])
        word = "warns" if warns else state.state.replace("_", " ")
        self.say(event.at, "breaker", f"{mark} {word}{f': {state.reason}' if state.reason else ''}", style="yellow")

    @_print.register
    def _(self, event: IterationFinished) -> None:
        self._last, decision = event, event.decision
        self._limited += event.limited
        self.ended(event)
        failure = outcome_text(event.outcome)
        if event.outcome.kind != "completed" and failure.partition(": ")[2] not in decision.reason:
            self.say(event.at, "turn", failure, style="red")
        for label, text in findings(event.analysis):
            self.say(event.at, label, text)
        style = "red" if isinstance(decision, Halt) else "yellow" if isinstance(decision, Pause) else ""
        self.say(event.at, "decision", describe(decision), style=style)

    @_print.register
    def _(self, event: Paused) -> None:
        if event.until is not None:
            until = f"until {event.until.astimezone():%H:%M:%S}: "
        else:
            until = f"until `ralph resume{self._store_option} {event.run_id}`: " if event.seq else ""
        self.say(event.at, "paused", f"{until}{event.reason}", style="yellow")

    @_print.register
    def _(self, event: Resumed) -> None:
        self.say(event.at, "resumed", "")

    @_print.register
    def _(self, event: Told) -> None:
        self.say(event.at, "told", event.text, most=_MESSAGE_LINES)

    @_print.register
    def _(self, event: Extended) -> None:
        self._most = None if (most := event.limits.get("max_iterations", self._most)) is None else int(most)
        self.say(event.at, "extended", one_line(limits_text(event.added, " by ")))

    @_print.register
    def _(self, event: OrphansEnded) -> None:
        left = ", ".join(event.processes)
        self.say(event.at, "ended", f"what the dead process left running: {left}", style="yellow")

    @_print.register
    def _(self, event: ProtectedRestored) -> None:
        for why in dict.fromkeys(event.because.get(path, "") for path in event.paths):
            paths = (path for path in event.paths if event.because.get(path, "") == why)
            names = ", ".join(f"{event.parts[path]} in {path}" if path in event.parts else path for path in paths)
            told = f", which {why} (--protect-checks off leaves it)" if why else ": protected"
            self.say(event.at, "restored", one_line(f"{names}{told}"), style="yellow")
        if event.aside:
            self.say(event.at, "note", f"what was found in their place is now in {event.aside}", style="yellow")
        if event.left:
            left = one_line(f"{', '.join(event.left)}: protected, changed, and left as found")
            self.say(event.at, "note", left, style="yellow")

    @_print.register
    def _(self, event: RunFinished) -> None:
        look_up = f"{self.look_up} {event.run_id}" if self.look_up else ""
        print_summary(
            self.console,
            event,
            self._last,
            endpoint=self.endpoint,
            look_up=look_up,
            store=self._store_option,
            kept=bool(self.look_up),
        )


def scan_text(read: int, of: int) -> str:
    """Return the text for a scan of the workspace; the arguments are those of `Display.scanning`."""
    return f"saving files for a checkpoint: {read:,} of {of:,}" if of else "scanning the workspace for a checkpoint"

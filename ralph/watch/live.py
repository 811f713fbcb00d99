"""The live display: a panel that stays in place at the end of the terminal, and above it the lines to keep."""

import time
from datetime import UTC, datetime
from typing import Self, TextIO

from rich.box import ASCII, ROUNDED
from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.spinner import Spinner
from rich.text import Text

from ralph.records.events import (
    Event,
    ExecutorFellBack,
    IterationFinished,
    IterationStarted,
    MessageReceived,
    MessageStreamed,
    Resumed,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
)
from ralph.records.projection import RunView, numbered, usage_text
from ralph.system.text import duration, one_line
from ralph.watch.plain import PlainDisplay, scan_text
from ralph.watch.terminal import BREAKER_SIGNS, clipped, sign

_IN_PANEL = (IterationStarted, MessageReceived, MessageStreamed, Resumed, ToolFinished, ToolStarted)
"""Events that only the panel shows."""

_MESSAGE_LINES = 5
_BREAKER_STYLES = {"closed": "green", "half_open": "yellow", "open": "red"}


class LiveDisplay(PlainDisplay):
    """Shows iteration, state, breaker, time, tokens, plan and the last message as they change."""

    def __init__(self, out: TextIO | None = None, *, look_up: str = "ralph show", endpoint: bool = False) -> None:
        super().__init__(out, look_up=look_up, endpoint=endpoint)
        self.view = RunView()
        self._active_since = time.monotonic()
        self._fetching = self._scanning = self._verifying = self._who = ""
        self._utf = self.console.encoding.lower().startswith("utf")
        self._live = Live(
            console=self.console, get_renderable=self.panel, refresh_per_second=4, transient=True, redirect_stdout=False
        )

    def __enter__(self) -> Self:
        self._live.start()
        return super().__enter__()

    def __exit__(self, *raised: object) -> None:
        self._live.stop()
        super().__exit__(*raised)

    def show(self, event: Event) -> None:
        before = self.view
        self.view = before.after(event)
        if self.view.activity != before.activity or self.view.iteration != before.iteration:
            self._active_since = time.monotonic()
        match event:
            case RunStarted():
                self._scanning = ""
            case IterationStarted():
                self._fetching = self._scanning = ""
            case VerificationStarted():
                self._verifying = one_line(event.verifier)
            case VerificationFinished() | RunFinished():
                self._verifying = ""
            case ExecutorFellBack():
                self._who = event.after
            case IterationFinished():
                self._verifying, self._who = "", event.executor or self._who
            case _:
                pass
        if isinstance(event, RunFinished):
            self._live.stop()
        if not isinstance(event, _IN_PANEL):
            super().show(event)

    def note(self, text: str) -> None:
        self.console.print(Text(f"ralph: {one_line(text, 500)}", style="yellow"))

    def verifying(self, verifier: str) -> None:
        self._verifying, self._active_since = one_line(verifier), time.monotonic()

    def scanning(self, read: int, of: int) -> None:
        self._scanning = scan_text(read, of)

    def progress(self, step: str, done: int, total: int | None) -> None:
        share = f" {done * 100 // total} % of {total / 1e6:.0f} MB" if total else ""
        self._fetching = f"fetching the Copilot CLI: {step}{share}"

    def panel(self) -> RenderableType:
        """Return the current panel."""
        view = self.view
        if view.state == "finished":
            return ""
        task = Text(one_line(view.task, 300) or "starting", style="bold", no_wrap=True, overflow="ellipsis")
        return Panel(
            Group(task, self._figures(), self._activity(), *self._message()),
            box=ROUNDED if self._utf else ASCII,
            title=f"ralph {view.run_id}".strip(),
            title_align="left",
            border_style="dim",
            width=self._width,
        )

    @property
    def _width(self) -> int:
        """The width of the panel. The terminal needs room beside it to echo Ctrl-C, or the next panel is too low."""
        return max(min(self.console.width - 4, 110), 1)

    def _figures(self) -> Text:
        view, dot = self.view, f" {sign(self.console, '·')} "
        warns = view.breaker == "closed" and bool(view.breaker_warning)
        mark = sign(self.console, BREAKER_SIGNS["warning" if warns else view.breaker])
        style = "yellow" if warns else _BREAKER_STYLES.get(view.breaker, "")
        parts: list[Text | tuple[str, str] | str] = []
        if view.iteration:
            parts += [(f"iteration {numbered(view.iteration, view.max_iterations, view.limited)}", "bold"), dot]
        word = "warning" if warns else view.breaker.replace("_", " ")
        parts += [(f"{mark} breaker {word}", style)]
        if view.started_at:
            parts += [dot, duration(max(0.0, (datetime.now(UTC) - view.started_at).total_seconds()))]
        if used := usage_text(view.usage):
            parts += [dot, used]
        if view.plan and view.plan.total:
            parts += [dot, f"plan {view.plan.done}/{view.plan.total}"]
        if view.fallbacks:
            parts += [dot, (f"{view.fallbacks} fallback{'s' * (view.fallbacks > 1)}", "yellow")]
        return Text.assemble(*parts)

    def _activity(self) -> RenderableType:
        view = self.view
        if view.state == "paused" and view.paused_until is None:
            return Text(f"paused: {one_line(view.activity)}", style="yellow")
        if view.state == "paused" and view.paused_until:
            left = max(0.0, (view.paused_until - datetime.now(UTC)).total_seconds())
            until = f"{view.paused_until.astimezone():%H:%M:%S}"
            return Text(f"paused until {until} (in {duration(left)}): {one_line(view.activity)}", style="yellow")
        since = time.monotonic() - self._active_since
        text = Text(f"{self._doing()} ({duration(since)})", style="cyan", no_wrap=True, overflow="ellipsis")
        return Spinner("dots" if self._utf else "line", text=text, style="cyan")

    def _doing(self) -> str:
        if self._verifying:
            return f"verifying: {self._verifying}"
        if preparing := self._scanning or self._fetching:
            return preparing
        doing = (one_line(self.view.activity) or "working") if self.view.iteration else "starting the agent"
        return f"{self._who}: {doing}" if self._who else doing

    def _message(self) -> list[Text]:
        """Return the end of the last message, in as many lines as fit."""
        room = min(_MESSAGE_LINES, self.console.height - 7)
        if room < 1 or not self.view.message.strip():
            return []
        whole = clipped(self.view.message.partition("---RALPH_STATUS---")[0], 1_000)
        lines = whole.wrap(self.console, max(self._width - 4, 10))
        shown = [line for line in lines if line.plain.strip()][-room:]
        for line in shown:
            line.stylize("dim")
        return shown

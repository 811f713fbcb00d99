"""The live display: what the run is doing stays in place at the end of the terminal, finished iterations above it."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Self, TextIO

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.text import Text
from rich.theme import Theme

from ralph.records.events import (
    Event,
    IterationFinished,
    IterationStarted,
    MessageReceived,
    MessageStreamed,
    Paused,
    Resumed,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
)
from ralph.records.projection import RunView, ToolUse, changes_text, denials_text, numbered, usage_text
from ralph.system.text import counted, duration, one_line, printable, some_of
from ralph.watch.live_region import Region
from ralph.watch.plain import PlainDisplay, scan_text
from ralph.watch.terminal import BREAKER_SIGNS, sign

_ONLY_BELOW = (IterationStarted, MessageReceived, MessageStreamed, Resumed, ToolFinished, ToolStarted)
"""Events that only the region at the end shows."""

_BREAKER_STYLES = {"closed": "green", "half_open": "yellow", "open": "red"}
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_LAST_TOOLS = 4
_WIDEST = 110
_TWO_COLUMNS = 72
"""The width from which on two meters stand side by side."""

_KINDS_OF_USE = 200
"""Different uses of tools in an iteration that are counted apart."""

_SMALL = 15
"""The height of a window up to which the display takes nearly all of it."""

_BLANK = 99
"""The rank of an empty row: the first to be left out."""

_STATUS = "---RALPH_STATUS"


class LiveDisplay(PlainDisplay):
    """Shows task, agent, limits, breaker, the current tool, the last ones and the last message as they change."""

    def __init__(self, out: TextIO | None = None, *, look_up: str = "ralph show", endpoint: bool = False) -> None:
        super().__init__(out, look_up=look_up, endpoint=endpoint)
        self.view = RunView()
        self._active_since = time.monotonic()
        self._fetching = self._scanning = self._verifying = self._remedy = ""
        self._uses: dict[str, int] = {}
        self._utf = self.console.encoding.lower().startswith("utf")
        self._said: tuple[object, list[Text]] = ((), [])
        self.console.push_theme(Theme({"markdown.code": "cyan", "markdown.code_block": "cyan"}))
        self._region = Region(self.console, self.panel, lambda: self.out.idle)

    def __enter__(self) -> Self:
        self._region.start()
        return super().__enter__()

    def __exit__(self, *raised: object) -> None:
        self._region.stop()
        super().__exit__(*raised)

    def show(self, event: Event) -> None:
        before = self.view
        self.view = before.after(event)
        if self.view.activity_since != before.activity_since:
            self._active_since = time.monotonic()
        match event:
            case RunStarted():
                self._scanning = ""
            case IterationStarted():
                self._fetching = self._scanning = ""
                self._uses = {}
            case ToolFinished():
                self._count(self.view.tools[-1])
            case VerificationStarted():
                self._verifying = one_line(event.verifier)
            case VerificationFinished() | RunFinished():
                self._verifying = ""
            case IterationFinished() | Paused() | Resumed():
                self._verifying = ""
                self._remedy = self._remedy_for(event)
            case _:
                pass
        if isinstance(event, RunFinished):
            self._region.stop()
        if not isinstance(event, _ONLY_BELOW):
            with self._region.above():
                super().show(event)

    def note(self, text: str) -> None:
        with self._region.above():
            self.console.print(Text(f"ralph: {one_line(text, 500)}", style="yellow"))

    def verifying(self, verifier: str) -> None:
        self._verifying, self._active_since = one_line(verifier), time.monotonic()

    def scanning(self, read: int, of: int) -> None:
        self._scanning = scan_text(read, of)

    def progress(self, step: str, done: int, total: int | None) -> None:
        share = f" {done * 100 // total} % of {total / 1e6:.0f} MB" if total else ""
        self._fetching = f"fetching the Copilot CLI: {step}{share}"

    def ended(self, event: IterationFinished) -> None:
        """Print the iteration as a block that stays: its tools and its files."""
        dot = f" {sign(self.console, '·')} "
        said = (duration(event.duration), changes_text(event), usage_text(event.usage), event.executor)
        self.say(event.at, "iteration", f"{self._number}{dot}{dot.join(filter(None, said))}", style="bold")
        if self._uses:
            times = sign(self.console, "×")
            uses = [f"{text} {times}{count}" if count > 1 else text for text, count in self._uses.items()]
            self.say(None, "tools", f"{sum(self._uses.values())}: {some_of(uses, 5)}", most=3)
        if event.changes.files:
            self.say(None, "files", some_of(event.changes.files), most=2)

    def panel(self) -> RenderableType:
        """Return what stands at the end of the terminal now, in at most as many lines as fit."""
        if self.view.state == "finished":
            return ""
        width, height = self.console.size
        rows = [(rank, self._framed(text)) for rank, text in self._rows()]
        narrower, most = max(width * 5 // 8, 1), height * 5 // 6 - 1
        while len(rows) > 1:  # until it would still fit a window that has become that much smaller, and so folds rows
            folded = sum(-(-max(text.cell_len, 1) // narrower) for _, text in rows)
            if (folded <= most or height <= _SMALL) and len(rows) <= max(height * 3 // 5, min(height, _SMALL) - 2):
                break
            worst = max(rank for rank, _ in rows)
            del rows[max(index for index, (rank, _) in enumerate(rows) if rank == worst)]
        top, side, bottom = "╭│╰" if self._utf else "+|+"
        sides = (top, *[side] * (len(rows) - 2), bottom)
        return Group(*(Text.assemble((f"{side} ", "dim"), text) for side, (_, text) in zip(sides, rows, strict=False)))

    @property
    def _number(self) -> str:
        return numbered(self.view.iteration, self.view.max_iterations, self.view.limited)

    @property
    def _width(self) -> int:
        return max(min(self.console.width, _WIDEST) - 3, 1)

    def _framed(self, text: Text) -> Text:
        """Return a row that fits the frame, which has no right side: a narrower window would fold that."""
        text.truncate(self._width, overflow="ellipsis" if self._utf else "crop")
        text.rstrip()
        return text

    def _rows(self) -> Iterator[tuple[int, Text]]:
        """Yield the rows, each with its rank: of the rows that do not fit, those of the highest rank are left out."""
        view = self.view
        yield 2, Text(one_line(view.task, 300) or "starting", style="bold")
        if view.run_id:
            yield 3, self._about()
            yield _BLANK, Text()
        for meters in self._meters():
            yield 5, meters
        if view.breaker_warning:
            yield 4, Text(f"breaker: {one_line(view.breaker_warning, 300)}", style="yellow")
        if view.started_at:
            yield 1, self._figures()
            yield _BLANK, Text()
        yield from self._activity()
        for row, use in enumerate(reversed(view.tools[-_LAST_TOOLS:])):
            yield (4 if row < 2 else 7), self._used(use)
        if self._remedy:
            yield 1, Text(self._remedy, style="yellow")
        said = self._message()
        if said:
            yield _BLANK, Text()
        for row, line in enumerate(said, 1 - len(said)):
            yield (5, 6)[-row] if row > -2 else 8 - row, line
        if view.run_id:
            yield 3, Text(self._hint(), style="dim")

    def _meters(self) -> Iterator[Text]:
        """Yield what is used of each limit, and of the plan what is done; two in a row if there is room."""
        view = self.view
        shares = [(use.name, use.used, use.allowed) for use in view.used(datetime.now(UTC))]
        if view.plan and view.plan.total:
            shares.insert(min(1, len(shares)), ("plan", view.plan.done, view.plan.total))
        columns = 2 if self._width >= _TWO_COLUMNS and len(shares) > 1 else 1
        cells = [self._meter(name, used, of, columns) for name, used, of in shares]
        for row in range(0, len(cells), columns):
            left, *right = cells[row : row + columns]
            if right:
                left.truncate(self._width // 2, overflow="ellipsis", pad=True)
            yield Text.assemble(left, *right)

    def _meter(self, name: str, used: float, of: float, columns: int) -> Text:
        size = 8 if self._width // columns < 50 else 20
        share = min(used / of, 1.0)
        filled = min(size, round(share * size) or (1 if used else 0))
        full, empty = ("━", "─") if self._utf else ("#", "-")
        style = "green" if name == "plan" else "red" if share >= 0.95 else "yellow" if share >= 0.8 else "cyan"
        amount = f"{_short(name, used)} of {_short(name, of)}"
        if name == "max_iterations" and used < self.view.iteration:
            amount = self._number
        label = (f"{name.removeprefix('max_').replace('duration', 'time'):<11}", "dim")
        bar = ((full * filled, style), (empty * (size - filled), "dim"))
        return Text.assemble(label, *bar, f" {amount}")

    def _figures(self) -> Text:
        """Return the time, what is used, and when the run ends if it continues so."""
        view, now = self.view, datetime.now(UTC)
        parts: list[tuple[str, str]] = []
        if view.iteration and "max_iterations" not in view.limits:
            parts.append((f"iteration {self._number}", "bold"))
        if view.started_at:
            parts.append((_clock(view.elapsed(now)), ""))
        if used := usage_text(view.usage):
            parts.append((used, ""))
        if end := view.expected_end(now):
            by = end[1].removeprefix("max_").replace("_", " ")
            parts.append((f"ends about {end[0].astimezone():%H:%M} ({by})", "dim"))
        return self._joined(parts)

    def _about(self) -> Text:
        """Return the breaker's state, the agent, its model, and what checks its claims."""
        view = self.view
        warns = view.breaker == "closed" and bool(view.breaker_warning)
        mark = sign(self.console, BREAKER_SIGNS["warning" if warns else view.breaker])
        word = "warns" if warns else view.breaker.replace("_", " ")
        parts = [(f"{mark} breaker {word}", "yellow" if warns else _BREAKER_STYLES.get(view.breaker, ""))]
        if view.fallbacks:
            parts.append((counted(view.fallbacks, "fallback"), "yellow"))
        if view.denials:
            parts.append((denials_text(view.denials), "yellow"))
        checks = f"checked by {some_of(view.verifiers, 2)}" if view.verifiers else "no check"
        run = "" if self.look_up else f"run {view.run_id}"  # else the last row has it
        parts += [(one_line(said), "dim") for said in (view.executor, view.model, checks, run) if said]
        return self._joined(parts)

    def _joined(self, parts: list[tuple[str, str]]) -> Text:
        between = (f" {sign(self.console, '·')} ", "dim")
        return Text.assemble(*[part for each in parts for part in (between, each)][1:])

    def _activity(self) -> Iterator[tuple[int, Text]]:
        """Yield what the agent is doing now, and for how long: one row for each of its running tools."""
        view = self.view
        if view.state == "paused":
            until = ""
            if view.paused_until:
                left = max(0.0, (view.paused_until - datetime.now(UTC)).total_seconds())
                until = f" until {view.paused_until.astimezone():%H:%M:%S} (in {_clock(left)})"
            yield 0, Text(f"paused{until}: {one_line(view.activity)}", style="yellow")
            return
        frame = int(time.monotonic() * 4)
        mark = _SPINNER[frame % len(_SPINNER)] if self._utf else "-\\|/"[frame % 4]
        since = _clock(time.monotonic() - self._active_since)
        yield 0, Text.assemble((f"{mark} {since:>7}  ", "cyan"), (self._doing(), "bold cyan"))
        for use in view.running[:-1][-2:]:
            yield 4, Text.assemble((f"{mark} {'':>7}  {use.text}", "cyan"))

    def _doing(self) -> str:
        if self._verifying:
            return f"verifying: {self._verifying}"
        if preparing := self._scanning or self._fetching:
            return preparing
        return (one_line(self.view.activity) or "working") if self.view.iteration else "starting the agent"

    def _used(self, use: ToolUse) -> Text:
        mark, style = ("✓", "green") if use.outcome == "ok" else ("✗", "red")
        word = "" if use.outcome == "ok" else f" ({use.outcome})"
        took = duration(use.duration)
        return Text.assemble((sign(self.console, mark), style), (f" {took:>7}  ", "dim"), use.text, (word, style))

    def _message(self) -> list[Text]:
        """Return the last lines of the last message as Markdown, without the status block."""
        text = self.view.message.partition(_STATUS)[0].strip()
        key = (text, self._width)
        if self._said[0] != key:
            self._said = (key, self._as_markdown(text) if text else [])
        return [line.copy() for line in self._said[1][-(12 if self.console.height >= 40 else 5) :]]

    def _as_markdown(self, text: str) -> list[Text]:
        options = self.console.options.update(width=self._width, height=None)
        clean = printable(text, 4_000)
        try:
            found = self.console.render_lines(Markdown(clean, code_theme="bw", hyperlinks=False), options, pad=False)
        except Exception:  # noqa: BLE001 - what an agent writes must not end the display
            found = self.console.render_lines(Text(clean), options, pad=False)
        lines = [Text.assemble(*((part.text, part.style or "") for part in line)) for line in found]
        for line in lines:
            line.rstrip()
        return [line for line in lines if line.plain]

    def _count(self, use: ToolUse) -> None:
        text = one_line(use.text, 60) + ("" if use.outcome == "ok" else f" ({use.outcome})")
        if text not in self._uses and len(self._uses) >= _KINDS_OF_USE:
            text = "others"
        self._uses[text] = self._uses.get(text, 0) + 1

    def _remedy_for(self, event: Event) -> str:
        """Return the command that helps a run that waits for the user; empty if it does not."""
        if not self.look_up:
            return ""
        where = f"{self._store_option} {event.run_id}"
        match event:
            case Paused(until=None) if event.seq:
                return f"`ralph resume{where}` continues it"
            case Paused() if event.seq:
                return f"`ralph resume{where}` continues it at once"
            case IterationFinished() if event.analysis.state in {"blocked", "question"}:
                return f"it needs you: `ralph tell{where} TEXT` answers"
            case _:
                return ""

    def _hint(self) -> str:
        if not self.look_up:
            return "Ctrl-C stops"
        dot = f" {sign(self.console, '·')} "
        return f"Ctrl-C stops{dot}`ralph pause{self._store_option} {self.view.run_id}`, tell, extend, stop"


def _short(name: str, amount: float) -> str:
    """Return an amount of a limit in few characters."""
    if name == "max_duration":
        return _clock(amount).removesuffix(" 0 min").removesuffix(" 0 s")
    if name == "max_tokens" and amount >= 10_000:
        return f"{amount / 1e6:.1f}M" if amount >= 1e6 else f"{amount / 1e3:.0f}k"
    return f"${amount:,.2f}" if name == "max_cost" else f"{amount:,.15g}"


def _clock(seconds: float) -> str:
    """Return seconds in words that change once a second at most."""
    return f"{int(seconds)} s" if seconds < 60 else duration(seconds)

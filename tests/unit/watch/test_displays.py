"""The displays of a run, and the choice between them."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import IO, Any, cast

import pytest
from rich.console import Console
from rich.segment import Segment

from ralph.analysis.result import Analysis
from ralph.records.events import (
    Event,
    Extended,
    IterationFinished,
    IterationStarted,
    MessageReceived,
    OrphansEnded,
    Paused,
    Resumed,
    RunFinished,
    RunStarted,
    Told,
    VerificationFinished,
    VerificationStarted,
)
from ralph.types.output import Failed, Usage
from ralph.types.verification import Verdict
from ralph.watch import Display, open_display
from ralph.watch.base import JsonDisplay
from ralph.watch.live import LiveDisplay
from ralph.watch.live_region import Region
from ralph.watch.plain import PlainDisplay

HOSTILE = "\x1b[2J\x1b]0;pwned\x07\u202e[red]x[/red] :smile: \x9b31m\r overwritten"


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def _shown(display: Display, events: list[Event]) -> None:
    with display:
        for event in events:
            display.show(event)


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "30")


class TestJson:
    def test_one_event_a_line_with_its_type_in_front(self, whole_run: list[Event]) -> None:
        out = io.StringIO()
        _shown(JsonDisplay(out), whole_run)
        told = [json.loads(line) for line in out.getvalue().splitlines()]
        assert all(list(event)[:4] == ["type", "run_id", "seq", "at"] for event in told)
        assert [event["seq"] for event in told] == list(range(1, len(whole_run)))
        assert "message_streamed" not in {event["type"] for event in told}
        end = told[-1]
        assert end["type"] == "run_finished"
        assert {"stop_reason", "verified", "detail", "iterations", "executors", "usage", "duration"} <= end.keys()
        assert {"analysis", "breaker", "decision"} <= next(e for e in told if e["type"] == "iteration_finished").keys()

    def test_where_the_program_ends_before_the_run_all_that_it_used_is_in_the_last_line(
        self, whole_run: list[Event]
    ) -> None:
        out = io.StringIO()
        over = [event for event in whole_run if isinstance(event, IterationFinished)] * 2
        with JsonDisplay(out) as display:
            for event in over:
                display.show(event)
            display.end("error", "The disk is full.", exit_code=1)
        usage = json.loads(out.getvalue().splitlines()[-1])["usage"]
        assert usage["input_tokens"] == sum(event.usage.input_tokens or 0 for event in over) > 0

    def test_no_text_breaks_a_line(self) -> None:
        out = io.StringIO()
        text = "a\u2028b\u0085c\nd\x1b 測試"
        _shown(JsonDisplay(out), [MessageReceived(run_id="r", at=datetime.now(UTC), text=text)])
        (line,) = out.getvalue().splitlines()
        assert json.loads(line)["text"] == text


FROM_ELSEWHERE: list[Event] = [
    OrphansEnded(run_id="r", at=datetime.now(UTC), processes=("4711 copilot", f"4712 {HOSTILE}")),
    Told(run_id="r", at=datetime.now(UTC), text=f"Mind the gap. {HOSTILE}"),
    Extended(run_id="r", at=datetime.now(UTC), added={"max_iterations": 10, HOSTILE: 1}, limits={"max_iterations": 60}),
    Paused(run_id="r", seq=7, at=datetime.now(UTC), reason="a person asked for it"),
]


class TestPlain:
    def test_what_comes_from_elsewhere_is_told(self) -> None:
        out = io.StringIO()
        locked = Paused(run_id="r", at=datetime.now(UTC), reason="another process keeps it locked.")
        _shown(PlainDisplay(out), [*FROM_ELSEWHERE, locked])
        told = " ".join(out.getvalue().split())
        for said in (
            "left running: 4711 copilot, 4712",
            "Mind the gap.",
            "extended max iterations by 10",
            "paused until `ralph resume r`: a person asked for it",
            "paused another process keeps it locked.",
        ):
            assert said in told, said
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(out.getvalue())

    def test_it_tells_what_happened(self, whole_run: list[Event]) -> None:
        out = io.StringIO()
        _shown(PlainDisplay(out), whole_run)
        told = out.getvalue()
        for said in (
            "Make the tests pass.",
            "pytest -q does not succeed yet",
            "iteration 1 of at most 50",
            "$ ls (2.0 s)",
            "copilot-sdk falls back to copilot-cli: crashed: the runtime died",
            "The runtime was started anew.",
            "It is done.",
            "pytest -q fails",
            "1 failed: test_median",
            "warns: 2 iterations without progress",
            "changed 2 files, 1 commit; plan 1/2",
            "continue: a claim of completion was refuted",
            "rate limited: slow down",
            "refused (HTTP 403): forbidden",
            "✓ Completed, verified",
            "2 (copilot-cli 1, copilot-sdk 1)",
            "1,200 tokens",
            "ralph show r-1",
        ):
            assert said in told, said
        assert "\x1b" not in told

    def test_the_start_says_what_confines_the_agent_and_what_ends_the_run(self) -> None:
        stamp: dict[str, Any] = {"run_id": "r", "at": datetime.now(UTC), "task": "mend"}
        limits = {"max_iterations": 100, "max_duration": 8, "max_cost": 2.5}
        for started, said in (
            (
                RunStarted(**stamp, sandbox="off", permission="approve-all", limits=limits),
                "sandbox: off · permission: approve-all · limits: max iterations 100, ends after 8.0 s, max cost 2.5\n",
            ),
            (RunStarted(**stamp, sandbox="bwrap, network: hosts", permission="workspace"), "limits: none\n"),
        ):
            for display in (PlainDisplay, LiveDisplay):
                out = io.StringIO()
                _shown(display(out), [started])
                assert said in out.getvalue()
        out = io.StringIO()
        _shown(PlainDisplay(out), [RunStarted(**stamp)])
        assert "bounds" not in out.getvalue(), "an event of an older version"

    def test_a_check_that_fails_before_the_run_shows_why(self) -> None:
        out = io.StringIO()
        output = "\n".join([
            "Traceback:",
            *["…"] * 9,
            "OSError: can't open file 'nope.py'",
            "[It ended with status 2.]",
        ])
        verdict = Verdict(verifier="python nope.py", passed=False, output=output)
        stamp: dict[str, Any] = {"run_id": "r-1", "at": datetime.now(UTC), "iteration": 0}
        _shown(PlainDisplay(out), [VerificationFinished(**stamp, passed=False, verdicts=(verdict,))])
        said, *lines = out.getvalue().splitlines()
        assert "does not succeed yet" in said
        assert [line[10:].strip() for line in lines] == ["Traceback:", "… 9 more lines", *output.split("\n")[-2:]]

    def test_a_verifier_that_could_not_find_out_neither_succeeds_nor_fails(self) -> None:
        out = io.StringIO()
        verdict = Verdict.unknown("review", "There was no review: unavailable.")
        stamp: dict[str, Any] = {"run_id": "r-1", "at": datetime.now(UTC), "iteration": 1}
        display = PlainDisplay(out)
        display.verifying("review")
        _shown(display, [VerificationFinished(**stamp, passed=False, verdicts=(verdict,))])
        assert "review is running" in out.getvalue()
        assert "review is undecided (0.0 s)" in out.getvalue()
        assert "There was no review: unavailable." in out.getvalue()

    def test_of_a_long_failure_the_end_is_shown_too(self) -> None:
        out = io.StringIO()
        output = "\n".join(["collected 99 items", *["."] * 99, "1 failed, 98 passed", "[It ended with status 1.]"])
        verdict = Verdict(verifier="pytest", passed=False, output=output)
        stamp: dict[str, Any] = {"run_id": "r-1", "at": datetime.now(UTC), "iteration": 1}
        _shown(PlainDisplay(out), [VerificationFinished(**stamp, passed=False, verdicts=(verdict,))])
        shown = [line[10:].strip() for line in out.getvalue().splitlines()][1:]
        assert shown == ["collected 99 items", ".", ".", "… 91 more lines", *["."] * 6, *output.split("\n")[-2:]]

    def test_a_rate_limited_iteration_does_not_count_against_the_limit(self, whole_run: list[Event]) -> None:
        out = io.StringIO()
        events: list[Event] = [
            event.model_copy(update={"outcome": Failed(failure="rate_limited", status=429)})
            if isinstance(event, IterationFinished)
            else event.model_copy(update={"max_iterations": 1})
            if isinstance(event, RunStarted)
            else event
            for event in whole_run
        ]
        _shown(PlainDisplay(out), events)
        assert "iteration 2, counts as 1 of at most 1\n" in out.getvalue()

    def test_more_time_leaves_the_most_iterations_as_they_were(self) -> None:
        out, stamp = io.StringIO(), dict[str, Any](run_id="r", at=datetime.now(UTC))
        events: list[Event] = [
            RunStarted(**stamp, task="t", max_iterations=5),
            Extended(**stamp, added={"max_duration": 60}, limits={"max_duration": 120}),
            IterationStarted(**stamp, iteration=2),
        ]
        _shown(PlainDisplay(out), events)
        assert "iteration 2 of at most 5\n" in out.getvalue()

    def test_a_line_is_never_broken_in_a_pipe(self) -> None:
        out = io.StringIO()
        display = PlainDisplay(out)
        _shown(display, [MessageReceived(run_id="r", at=datetime.now(UTC), text="word " * 500)])
        assert len(out.getvalue().splitlines()) == 1

    @pytest.mark.parametrize("columns", ["20", "40", "200"])
    def test_lines_fit_the_terminal(
        self, monkeypatch: pytest.MonkeyPatch, whole_run: list[Event], columns: str
    ) -> None:
        from rich.cells import cell_len
        from rich.text import Text

        monkeypatch.setenv("COLUMNS", columns)
        out = Terminal()
        wide = MessageReceived(run_id="r", at=datetime.now(UTC), text="測試" * 100)
        _shown(PlainDisplay(out), [*whole_run[:-1], wide])
        most = max(int(columns), 42)
        assert all(cell_len(Text.from_ansi(line).plain) <= most for line in out.getvalue().splitlines())

    def test_no_color_is_respected(self, monkeypatch: pytest.MonkeyPatch, whole_run: list[Event]) -> None:
        coloured, plain = Terminal(), Terminal()
        _shown(PlainDisplay(coloured), whole_run)
        monkeypatch.setenv("NO_COLOR", "1")
        _shown(PlainDisplay(plain), whole_run)
        assert "\x1b[32m" in coloured.getvalue() or "\x1b[1;32m" in coloured.getvalue()
        assert not any(f"[{code}m" in plain.getvalue() for code in ("31", "32", "33", "1;31", "1;32", "1;33"))

    @pytest.mark.parametrize(
        ("reason", "said"),
        [
            ("circuit_open", "✗ Stopped: the circuit breaker is open"),
            ("limit_reached", "✗ Stopped: a limit is reached"),
            ("executor_unavailable", "ralph doctor"),
            ("cancelled", "■ Cancelled"),
            ("completed", "Completed: claimed, not verified"),
        ],
    )
    def test_every_end_says_what_it_is(self, reason: str, said: str) -> None:
        out = io.StringIO()
        end = RunFinished.model_validate({
            "run_id": "r",
            "at": datetime.now(UTC),
            "stop_reason": reason,
            "verified": False,
            "detail": "why",
            "iterations": 1,
            "executors": {},
            "usage": Usage(),
            "duration": 1,
        })
        _shown(PlainDisplay(out), [end])
        assert said in out.getvalue()


@pytest.mark.parametrize("make", [PlainDisplay, LiveDisplay])
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_hostile_text_does_nothing_to_a_terminal(
    make: Callable[..., Display], stream: Callable[[], io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = stream()
    at = datetime.now(UTC)
    _shown(make(out), [RunStarted(run_id="r", at=at, task=HOSTILE), MessageReceived(run_id="r", at=at, text=HOSTILE)])
    told = out.getvalue()
    assert not {"\x07", "\u202e", "\x9b"} & set(told)
    assert "\x1b[2J" not in told
    assert "\x1b]0;" not in told
    assert "[red]x[/red] :smile:" in told


def test_the_panel_says_what_a_paused_run_waits_for() -> None:
    display = LiveDisplay(Terminal())
    for event in FROM_ELSEWHERE:
        display.view = display.view.after(event)
    display.console.print(display.panel())
    assert display.view.max_iterations == 60
    assert isinstance(display.out._stream, Terminal)
    assert "paused: a person asked for it" in display.out._stream.getvalue()


class Recorded:
    """A terminal that remembers each write."""

    def __init__(self) -> None:
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing."""


def test_a_line_and_the_panel_below_it_reach_the_terminal_at_once() -> None:
    out = Recorded()
    console = Console(file=cast("IO[str]", out), force_terminal=True, width=40)
    region = Region(console, lambda: "the panel", lambda: False)
    region.start()
    with region.above():
        console.print("a line")
        console.print("another")
    region.stop()
    [together] = [text for text in out.writes if "line" in text or "another" in text]
    assert together.index("a line") < together.index("another") < together.index("the panel")


def panel_of(display: LiveDisplay) -> str:
    """What stands at the end of the terminal, without colours."""
    from rich.text import Text

    with display.console.capture() as captured:
        display.console.print(display.panel())
    return Text.from_ansi(captured.get()).plain


class TestLive:
    def test_the_panel_shows_what_is_going_on(self, whole_run: list[Event]) -> None:
        display = LiveDisplay(Terminal())
        for event in whole_run[:12]:
            display.show(event)
        shown = panel_of(display)
        for said in ("Make the tests pass.", "iteration 1 of 50", "breaker warns", "1,200 tokens", "1 of 2"):
            assert said in shown, said
        assert "2 iterations without progress" in shown
        assert "✓   2.0 s  $ ls" in shown
        assert "1 fallback · copilot-cli · checked by" in shown
        assert "`ralph pause r-1`" in shown
        assert "It is done." in shown

    def test_while_it_verifies_it_says_so(self, whole_run: list[Event]) -> None:
        display = LiveDisplay(Terminal())

        def shown() -> str:
            with display.console.capture() as captured:
                display.console.print(display.panel())
            return captured.get()

        display.verifying("pytest -q")
        assert "verifying: pytest -q" in shown()
        for event in whole_run[:2]:
            display.show(event)
        assert "verifying" not in shown()
        assert "starting the agent" in shown()
        stamp: dict[str, Any] = {"run_id": "r-1", "at": datetime.now(UTC), "iteration": 1}
        for verifier in ("pytest -q", "review"):
            display.show(VerificationStarted(**stamp, verifier=verifier))
            assert f"verifying: {verifier}" in shown()
        display.show(whole_run[9])
        assert "verifying: " not in shown()

    def test_above_it_stands_what_is_worth_scrolling_back_to(self, whole_run: list[Event]) -> None:
        out = Terminal()
        _shown(LiveDisplay(out), whole_run)
        told = out.getvalue()
        assert "falls back to" in told
        assert "continue: a claim of completion" in told
        assert "Completed, verified" in told
        assert '"command": "ls"' not in told
        from rich.text import Text

        block = " ".join(Text.from_ansi(told).plain.split("iteration 1 of 50", 1)[1].split())
        assert "tools 1: $ ls files a.py, b.py" in block
        assert block.index("files a.py") < block.index("decision continue: a claim")

    def test_it_names_the_command_that_helps(self, whole_run: list[Event]) -> None:
        stamp: dict[str, Any] = {"run_id": "r-1", "seq": 9, "at": datetime.now(UTC)}
        blocked = whole_run[11].model_copy(update={"analysis": Analysis(state="blocked")})
        for event, store, said in (
            (Paused(**stamp, reason="you asked for it"), "", "`ralph resume r-1` continues it"),
            (Paused(**stamp, reason="x", until=datetime.now(UTC)), " --store s.db", "`ralph resume --store s.db r-1`"),
            (blocked, "", "it needs you: `ralph tell r-1 TEXT` answers"),
        ):
            display = LiveDisplay(Terminal(), look_up=f"ralph show{store}")
            for each in (*whole_run[:3], event):
                display.show(each)
            assert said in panel_of(display)
            display.show(Resumed(**stamp))
            assert said not in panel_of(display)
        unstored = LiveDisplay(Terminal(), look_up="")
        unstored.show(whole_run[0])
        unstored.show(Paused(**stamp, reason="you asked for it"))
        assert "`" not in panel_of(unstored), "no command finds it"

    def test_the_last_message_is_markdown_without_its_status_block(
        self, monkeypatch: pytest.MonkeyPatch, whole_run: list[Event]
    ) -> None:
        monkeypatch.setenv("LINES", "50")
        said = "I fixed **mean**.\n\n- one\n- two [here](https://x.example/\x07)\n\n"
        status = "---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"
        deep = "> " * 500 + "- " * 500 + "`" * 3 + "\n" + "[" * 900
        for text, shown in ((said + status, "I fixed mean."), (deep, ""), (HOSTILE * 100, ":smile:")):
            display = LiveDisplay(Terminal())
            for event in (*whole_run[:3], MessageReceived(run_id="r-1", at=datetime.now(UTC), text=text)):
                display.show(event)
            panel = panel_of(display)
            assert shown in panel
            assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(panel)
            assert "EXIT_SIGNAL" not in panel
            assert panel.count("\n") < 31

    @pytest.mark.parametrize(
        ("columns", "lines"), [("10", "3"), ("20", "5"), ("50", "10"), ("80", "24"), ("300", "100")]
    )
    def test_it_fits_any_window(
        self, monkeypatch: pytest.MonkeyPatch, whole_run: list[Event], columns: str, lines: str
    ) -> None:
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setenv("LINES", lines)
        out = Terminal()
        with LiveDisplay(out) as display:
            for event in whole_run:
                display.show(event)
                panel = display.console.render_lines(display.panel(), pad=False)
                assert max(map(Segment.get_line_length, panel)) <= int(columns)
                assert len(panel) < max(int(lines), 2)
        assert "Completed" in out.getvalue()

    def test_a_pause_counts_down(self, monkeypatch: pytest.MonkeyPatch, whole_run: list[Event]) -> None:
        monkeypatch.setenv("COLUMNS", "120")
        display = LiveDisplay(Terminal())
        for event in whole_run[:13]:
            display.show(event)
        with display.console.capture() as captured:
            display.console.print(display.panel())
        assert "paused until" in captured.get()
        assert "rate limited: slow down" in captured.get()


class TestChoice:
    @pytest.mark.parametrize(
        ("name", "tty", "ci", "term", "kind"),
        [
            ("auto", True, "", "xterm", LiveDisplay),
            ("auto", True, "true", "xterm", PlainDisplay),
            ("auto", False, "", "xterm", PlainDisplay),
            ("auto", True, "", "dumb", PlainDisplay),
            ("live", True, "true", "xterm", LiveDisplay),
            ("live", False, "", "xterm", PlainDisplay),
            ("plain", True, "", "xterm", PlainDisplay),
            ("json", True, "", "xterm", JsonDisplay),
            ("none", True, "", "xterm", Display),
        ],
    )
    def test_by_name_and_place(
        self, monkeypatch: pytest.MonkeyPatch, name: str, tty: bool, ci: str, term: str, kind: type[Display]
    ) -> None:
        monkeypatch.setattr("sys.stdout", Terminal() if tty else io.StringIO())
        monkeypatch.setenv("CI", ci)
        monkeypatch.setenv("TERM", term)
        assert type(open_display(name)) is kind


def test_a_long_look_at_the_workspace_is_told_a_few_times(capsys: pytest.CaptureFixture[str]) -> None:
    display = PlainDisplay(io.StringIO())
    for read, of in ((0, 0), (0, 0), (0, 300_000), (20_000, 300_000), (80_000, 300_000), (120_000, 300_000)):
        display.scanning(read, of)
    assert capsys.readouterr().err.splitlines() == [
        "ralph: scanning the workspace for a checkpoint",
        "ralph: saving files for a checkpoint: 0 of 300,000",
        "ralph: saving files for a checkpoint: 80,000 of 300,000",
    ]


def test_programs_are_told_nothing_of_a_long_look(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    with JsonDisplay(out) as display:
        display.scanning(80_000, 300_000)
    assert (out.getvalue(), *capsys.readouterr()) == ("", "", "")


def test_the_panel_tells_a_long_look_until_the_run_has_begun(whole_run: list[Event]) -> None:
    display = LiveDisplay(Terminal())
    display.scanning(80_000, 300_000)
    with display.console.capture() as panel:
        display.console.print(display.panel())
    assert "saving files for a checkpoint: 80,000 of 300," in panel.get()
    display.show(next(event for event in whole_run if isinstance(event, RunStarted)))
    with display.console.capture() as panel:
        display.console.print(display.panel())
    assert "scanning" not in panel.get()

"""The screens of the terminal app: what they show, and what keys and mouse do."""

import os
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from textual.css.query import NoMatches

from ralph.cli.watch import _ask as ask
from ralph.cli.watch import watch
from ralph.errors import StoreError, UsageError
from ralph.fleet.records import Entry, FleetLimits, FleetStatus, WorkerEntry
from ralph.fleet.screen import FleetScreen
from ralph.fleet.view import FleetView
from ralph.records.events import ToolFinished
from ralph.records.record import RunRecord
from ralph.store import MemoryStore
from ralph.types.output import ToolCall
from ralph.watch.tui.app import WatchApp
from ralph.watch.tui.runs import sign_of

SNAPSHOTS = Path(__file__).with_name("snapshots")
Tui = Callable[..., Any]
Make = Callable[..., Awaitable[None]]


def compare(name: str, shown: str) -> None:
    """Compare a screen with the one that is kept; RALPH_SNAPSHOTS=update keeps this one."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("RALPH_SNAPSHOTS") == "update":
        path.write_text(f"{shown}\n")
    assert shown == path.read_text().removesuffix("\n"), f"{path} shows another screen; RALPH_SNAPSHOTS=update keeps it"


@pytest.mark.parametrize("size", [(80, 24), (160, 50)], ids=["80x24", "160x50"])
async def test_every_screen_is_as_it_is_kept(tui: Tui, size: tuple[int, int]) -> None:
    async with tui(size) as app:
        await app.shows("Upgrade the database")
        compare(f"runs-{size[0]}", app.text)
        await app.press("enter")
        await app.shows("13  running")
        await app.press("right_square_bracket", "left_square_bracket")
        await app.shows("decision")
        for key, name in enumerate(("message", "timeline", "diff", "breaker", "plots"), start=1):
            await app.press(str(key))
            compare(f"{name}-{size[0]}", app.text)
        await app.press("question_mark")
        compare(f"help-{size[0]}", app.text)


async def test_search_and_filter_leave_the_runs_that_match(tui: Tui) -> None:
    async with tui() as app:
        await app.shows("Upgrade the database")
        await app.press("/", *"DOCS bb")
        assert "Translate the docs" in app.text
        assert "Port the parser" not in app.text
        assert "All 1" in app.text
        await app.press("escape")
        assert "All 5" in app.text
        await app.press("f", "f")
        assert "Port the parser" in app.text
        assert "Translate the docs" not in app.text
        await app.pilot.click("#crashed")
        await app.settle()
        assert "Upgrade the database" in app.text
        assert "Port the parser" not in app.text


async def test_an_answer_for_a_screen_that_was_left_is_dropped_and_a_wrong_name_is_not(tui: Tui) -> None:
    """The store can answer between the moment when a screen loses its widgets and the one when its reading ends."""
    async with tui() as app:
        shown, viewer = app.app.screen, cast("WatchApp", app.app)
        with pytest.raises(NoMatches), viewer.reporting(shown):
            shown.query_one("#nothing")
        await app.press("enter")
        left = viewer.screen
        await app.press("escape")
        with viewer.reporting(left):
            left.query_one("#header")
    with viewer.reporting(shown):
        shown.query_one("#search")


async def test_a_second_click_opens_a_run_and_escape_leaves_it(tui: Tui) -> None:
    async with tui() as app:
        await app.shows("Upgrade the database")
        await app.pilot.click("#runs", offset=(20, 3), times=2)
        await app.shows("EXIT_SIGNAL")
        assert "run 20261121-cccc" in app.text
        await app.press("escape")
        assert "Upgrade the database" in app.text


async def test_controls_ask_for_what_their_keys_say(tui: Tui) -> None:
    run = "20261121-aaaa"
    async with tui(run=run) as app:
        await app.press("p", "r", "s", "n", "s", "y")
        await app.press("t", *"Hurry", "enter", "t", "escape")
        await app.press("e", "enter")
        await app.until(lambda: len(app.fake.asked) == 5, "the fifth request")
        assert app.fake.asked == [
            (run, "pause", ""),
            (run, "resume", ""),
            (run, "stop", ""),
            (run, "tell", "Hurry"),
            (run, "extend", "--max-iterations +10"),
        ]
        await app.shows("asked: extend")


async def test_a_refused_request_says_why(tui: Tui) -> None:
    async def refuse(*_: object) -> str:
        raise UsageError("Run [b]x[/b] is not running: its process is gone.", "`ralph resume x` continues it.")

    async with tui(run="20261119-eeee", ask=refuse) as app:
        assert "Its process is gone. `ralph resume 20261119-eeee` continues it." in app.text
        await app.press("p")
        await app.shows("Run [b]x[/b] is not running")


async def test_the_end_of_a_run_names_what_continues_it_or_what_supports_it(tui: Tui) -> None:
    async with tui(run="20261120-dddd") as app:
        assert "ended  3 iterations changed nothing · `ralph resume 20261120-dddd`" in app.text
    async with tui(run="20261121-cccc") as app:
        assert "✓ completed, verified" in app.text
        assert "ended  EXIT_SIGNAL: true · pytest -q went from failing to passing" in app.text


@pytest.mark.parametrize(
    ("green", "listed", "said"),
    [(True, "green before", "checks pass, but they did before"), (False, "claimed", "claimed, not verified")],
)
async def test_a_completion_that_nothing_proves_says_so(tui: Tui, green: bool, listed: str, said: str) -> None:
    store = MemoryStore()
    at = datetime(2026, 11, 21, 1, tzinfo=UTC)
    facts: dict[str, Any] = {"state": "finished", "stop_reason": "completed", "already_green": green}
    await store.create(RunRecord(id="r1", task="Do it", workspace="/srv/a", started_at=at, finished_at=at, **facts))
    async with tui(store=store) as app:
        await app.shows(f"✓  {listed}")
        await app.press("enter")
        await app.shows(f"✓ completed, {said}")
    assert sign_of("completed", verified=False) == ("✓", "warn")


async def test_denied_tool_calls_stand_in_the_header(tui: Tui, make: Make) -> None:
    store = MemoryStore()
    await make(store, "run-1", 2, running=True)
    async with tui(run="run-1", store=store) as app:
        assert "denied" not in app.text
        call = ToolCall(id="d", name="bash", arguments="{}", success=False, denied=True)
        seq = await store.last_seq("run-1") + 1
        event = ToolFinished(run_id="run-1", seq=seq, at=datetime.now(UTC), iteration=3, tool=call)
        await store.append("run-1", [event])
        await app.shows("1 tool call denied")


async def test_the_newest_iteration_is_followed_until_another_one_is_chosen(tui: Tui, make: Make) -> None:
    store = MemoryStore()
    await make(store, "one", 2, running=True)
    async with tui(run="one", store=store) as app:
        seq = await store.last_seq("one")
        event, *_ = [each async for each in store.events("one", after=1)]
        news = event.model_copy(update={"seq": seq + 1, "iteration": 4})
        await store.append("one", [news])
        await app.shows("●      4  running")
        assert "it. 4/20" in app.text
        await app.press("left_square_bracket", "left_square_bracket")
        assert "decision" in app.text
        await store.append("one", [news.model_copy(update={"seq": seq + 2, "iteration": 5})])
        await app.shows("●      5  running")
        assert "decision" in app.text
        await app.press("home")
        assert "Its last message so far" in app.text


async def test_a_run_that_does_not_exist_is_an_error_of_the_command(tui: Tui) -> None:
    async def find(*_: object) -> None:
        raise UsageError("There is no run 'x' in the store.", "`ralph runs` lists them all.")

    async with tui(run="x", find=find, ready=False) as app:
        await app.until(lambda: app.app.problem, "the error")
        assert str(app.app.problem) == "There is no run 'x' in the store. `ralph runs` lists them all."
        assert app.app.return_code == UsageError.exit_code


async def test_the_command_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"needs a terminal.*`ralph logs -f last`"):
        watch()
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    with pytest.raises(UsageError, match=r"'mauve' is not a theme.*nord"):
        watch(theme="mauve")
    monkeypatch.setitem(sys.modules, "ralph.watch.tui.app", None)
    with pytest.raises(UsageError, match=r"textual, which is not installed.*extra `tui`"):
        watch()


async def test_the_controls_are_those_of_the_command_line(make: Make) -> None:
    store = MemoryStore()
    await make(store, "one", 1, running=True, state="running", pid=os.getpid())
    run = await store.run("one")
    assert run
    assert "pauses at the end" in await ask(store, run, "pause")
    assert "max iterations by 10" in await ask(store, run, "extend", "--max-iterations +10")
    assert [request.limits for request in await store.requests("one")] == [{}, {"max_iterations": 10.0}]
    for wrong in ("", "--max-nonsense +1", "--max-iterations many", "iterations"):
        with pytest.raises(UsageError):
            await ask(store, run, "extend", wrong)
    with pytest.raises(UsageError, match="is empty"):
        await ask(store, run, "tell", " ")


async def test_a_store_that_fails_for_a_while_is_reported_and_ends_nothing(
    tui: Tui, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph.watch.tui.run._AGAIN", 0.05)
    monkeypatch.setattr("ralph.watch.tui.runs._EVERY", 0.05)
    store = MemoryStore()
    await make(store, "one", 2, running=True)
    async with tui(store=store) as app:
        await app.shows("Fix the median")
        await make(store, "two", 1, task="A second one")
        await app.shows("A second one")
        runs, run, removed = store.runs, store.run, store.remove
        store.runs = store.run = store.iteration = broken  # pyright: ignore[reportAttributeAccessIssue]
        await app.shows("The server is [b]gone[/b].")
        store.runs, store.run = runs, run
        await removed("two")
        await app.until(lambda: "A second one" not in app.text, "the removal")
        await app.press("enter")
        await app.shows("The server is [b]gone[/b].")
        assert app.app.is_running


async def broken(*_: object, **__: object) -> None:
    raise StoreError("The server is [b]gone[/b].", "Start it.")


async def test_a_store_that_does_not_exist_yet_is_waited_for(tui: Tui, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph.watch.tui.app._LOOK", 0.01)
    is_missing = True
    async with tui(missing=lambda: is_missing) as app:
        assert "No run yet. `ralph run` makes one." in app.text
        is_missing = False
        await app.shows("Upgrade the database")


async def test_a_search_that_leaves_nothing_says_so(tui: Tui, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph.watch.tui.runs._EVERY", 0.2)
    async with tui() as app:
        await app.shows("Fix the median")
        await app.press("slash", *"zzz")
        await app.shows("No run matches the filter and the search; Esc clears them.")
        await app.press("x")
        await app.shows("No run matches the filter and the search; Esc clears them.")


async def test_the_fleet_is_shown_live_and_opens_a_run(tui: Tui) -> None:
    def task(iterations: int) -> Entry:
        run, body = "20261121-aaaa", '{"task": "Fix the\\u001b[31m median"}'
        return Entry(id="t1", run_id=run, state="running", worker="one", iterations=iterations, body=body)

    def view(iterations: int, halted: str = "") -> FleetView:
        workers = (WorkerEntry(name="one", slots=4, running=1),)
        facts: dict[str, Any] = {"at": 0.0, "ready": 0, "throughput": 3, "cost": 0.0, "iterations": 9}
        status = FleetStatus(**facts, tasks={"running": 1}, workers=workers, limits=FleetLimits(), halted=halted)
        return FleetView(status, (task(iterations),))

    fleet = view(12)

    async def read() -> FleetView:
        return fleet

    def screen(viewer: WatchApp) -> FleetScreen:
        return FleetScreen(viewer, read)

    async with tui(fleet=screen) as app:
        await app.shows("Upgrade the database")
        await app.press("F")
        await app.shows("1/1 workers")
        await app.shows("Fix the")
        assert "\x1b" not in app.text
        fleet = view(99, "the month is spent")
        await app.shows("no task starts")
        await app.shows("99")
        await app.press("enter")
        await app.shows("breaker")
        await app.press("escape")
        await app.shows("no task starts")
        await app.press("escape")
        await app.shows("Upgrade the database")


async def test_a_store_without_a_fleet_says_so(tui: Tui) -> None:
    async with tui() as app:
        await app.press("F")
        await app.shows("no fleet")

"""The pages on real runs of a scripted agent, and on hostile texts."""

import asyncio
import re
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from markupsafe import Markup

from ralph import Runner
from ralph.cli.serve import commands
from ralph.decision.breaker import BreakerState, Position
from ralph.plugins import Plugins, hookimpl
from ralph.records.events import BreakerChanged, Event, MessageReceived
from ralph.records.record import IterationRecord, RunRecord
from ralph.store import open_store
from ralph.store.base import Store
from ralph.testing import ScriptedExecutor, writes
from ralph.types.output import Usage
from ralph.watch.web import Page, PageRequest
from ralph.watch.web.library import Library
from ralph.watch.web.render import markdown
from ralph.watch.web.rows import RunQuery
from ralph.watch.web.timeline import entries
from ralph.workspace import PlainWorkspace

from .conftest import NOW, Open, ended

DONE = "All parts are written.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"
HOSTILE = (
    "<script>window.hit=1</script><img src=x onerror='window.hit=1'>\"><svg onload=window.hit=1>"
    "{{ 7*7 }} {% raw %} [a](javascript:window.hit=1) ![b](http://night.example/x.png) <b style=color:red>b</b>"
    " [c](/login?token=x) [d](https://night.example/) </script></pre></div>\u202e\x1b[31m"
)
ALLOWED = {"script", "link", "meta"}


class Seen(HTMLParser):
    """Collects what a page would run or load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.odd: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name, value in attrs:
            if name.startswith("on") or name == "style" or (value or "").strip().lower().startswith("javascript:"):
                self.odd.append(f"{tag} {name}={value}")
        source = given.get("src") or (given.get("href") if tag == "link" else "") or ""
        if source and not source.startswith("/static/"):
            self.odd.append(f"{tag} {source}")
        if tag in {"script", "img", "iframe", "object", "base"} and not source.startswith("/static/"):
            self.odd.append(tag)


async def made(store: Store, folder: Path, *replies: object, task: str = "Write the parts.") -> RunRecord:
    await anyio.Path(folder).mkdir(exist_ok=True)
    executor = ScriptedExecutor([*replies, DONE])  # pyright: ignore[reportArgumentType]
    async with Runner(executor=executor, store=store, workspace=PlainWorkspace(folder)) as runner:
        return await runner.run(task)


async def test_every_page_of_a_run_shows_what_it_did(dashboard: Open, store: Store, tmp_path: Path) -> None:
    run = await made(
        store,
        tmp_path / "work",
        writes("a.txt", "one", "Wrote the first part."),
        writes("b.txt", "two", "Wrote **more**."),
    )
    client = dashboard()
    shown: dict[str, str] = {}
    for path in ("", "/timeline", "/iterations", "/iterations/1", "/iterations/1/diff", "/diff", "/plots"):
        answer = await client.get(f"/runs/{run.id}{path}")
        assert answer.status_code == 200, (path, answer.text)
        assert Seen(answer.text).odd == []
        shown[path] = answer.text
    assert "Write the parts." in shown[""]
    assert "completed" in shown[""]
    assert "<strong>more</strong>" in shown["/timeline"]
    assert "Wrote the first part." in shown["/iterations/1"]
    assert "Why this decision" in shown["/iterations/1"]
    assert "a.txt" in shown["/iterations/1/diff"]
    assert 'class="add">+one' in shown["/diff"]
    assert '<path d="M' in shown["/plots"]
    last = (await client.get(f"/runs/{run.id}/iterations/{run.iterations}")).text
    assert '<mark class="for"' in last
    assert "<h1>Runs</h1>" in (await client.get("/")).text


async def test_a_completion_that_nothing_proves_is_not_called_verified(
    dashboard: Open, store: Store, tmp_path: Path
) -> None:
    run = await made(store, tmp_path / "work", writes("a.txt", "one", DONE))
    page = (await dashboard().get(f"/runs/{run.id}")).text
    assert 'data-said="completed, claimed, not verified"' in page
    assert "Nothing proves it: the agent&#39;s word alone" in page
    assert 'class="badge completed unverified"' in page
    assert 'class="badge completed unverified"' in (await dashboard().get("/")).text


async def test_hostile_texts_stay_text(dashboard: Open, store: Store, tmp_path: Path) -> None:
    run = await made(store, tmp_path / "work", writes("<script>.txt", HOSTILE, HOSTILE), task=HOSTILE)
    client = dashboard()
    for path in (
        "/",
        *(f"/runs/{run.id}{path}" for path in ("", "/timeline", "/iterations", "/iterations/1", "/diff")),
    ):
        answer = await client.get(path)
        assert answer.status_code == 200, answer.text
        assert Seen(answer.text).odd == []
        assert "49" not in answer.text.replace(run.id, "") or "{{ 7*7 }}" in answer.text
        assert "\u202e" not in answer.text
        assert "\x1b" not in answer.text


@pytest.mark.parametrize(
    "text", ["[" * 8_000, "*a " * 2_600, "`" * 8_000, "> " * 4_000, "![[](" * 1_600, "<a " * 2_600]
)
def test_hostile_markdown_is_rendered_quickly(text: str) -> None:
    assert Seen(markdown(text)).odd == []


def test_a_link_leads_to_the_web_alone() -> None:
    assert 'rel="noopener noreferrer nofollow"' in markdown("[a](https://example.org)")
    for target in ("/login?token=x", "//night.example", "javascript:x", "data:text/html,x", "vbscript:x", "#a"):
        assert "href" not in markdown(f"[a]({target})")
    assert "<img" not in markdown("![a](http://night.example/x.png)")


async def test_runs_are_filtered_searched_and_paged(dashboard: Open, store: Store) -> None:
    for number in range(1, 61):
        await store.create(ended(number))
    client = dashboard()
    first = (await client.get("/")).text
    assert first.count('class="task"') == 50
    assert "run-060" in first
    assert "run-010" not in first
    second = (await client.get("/?offset=50")).text
    assert (second.count('class="task"'), "run-010" in second) == (10, True)
    for query, count in (
        ("q=NUMBER+7.", 6),
        ("q=task+/work/0", 20),
        ("reason=stuck&limit=200", 30),
        ("workspace=/work/1&limit=200", 20),
        ("state=running", 0),
        ("state=&reason=&q=&workspace=", 50),
    ):
        assert (await client.get(f"/?{query}")).text.count('class="task"') == count, query
    for query in ("state=odd", "limit=0", "offset=-1", "offset=9999999999999", "stranger=1", "limit=x"):
        assert (await client.get(f"/?{query}")).status_code == 400, query


async def test_what_does_not_exist_is_said(dashboard: Open, store: Store) -> None:
    await store.create(ended(1))
    client = dashboard()
    for path in (
        "/runs/none",
        "/runs/run-001/iterations/9",
        "/runs/run-001/iterations/99999999999",
        "/odd",
        "/runs/%00",
    ):
        answer = await client.get(path)
        assert answer.status_code == 404, path
        assert "<h1>" in answer.text
    assert (await client.get("/runs/run-001/diff")).status_code == 409


async def test_controls_ask_what_the_commands_ask(dashboard: Open, store: Store) -> None:
    limits = {"limits": {"max_iterations": 5, "max_duration": 60.0, "max_cost": None}}
    await store.create(ended(2, settings=limits))
    client = dashboard()
    page = "/runs/run-002"
    assert (await client.post(f"{page}/tell", data={"text": "<b>Go on.</b>"})).headers["location"] == page
    assert (
        "The agent reads the message in the next iteration, when `ralph resume run-002`"
        in (await client.get(page)).text
    )
    assert (
        await client.post(f"{page}/extend", data={"iterations": "+3", "duration": "1h", "cost": ""})
    ).status_code == 303
    asked = await store.requests("run-002")
    assert [(each.kind, each.text, each.limits) for each in asked] == [
        ("tell", "<b>Go on.</b>", {}),
        ("extend", "", {"max_iterations": 3.0, "max_duration": 3600.0}),
    ]
    for path, data in (
        ("pause", {}),
        ("stop", {}),
        ("resume", {}),
        ("tell", {"text": " "}),
        ("extend", {"iterations": "no"}),
        ("extend", {"cost": "5"}),
        ("extend", {"odd": "5"}),
        ("extend", {}),
    ):
        client = dashboard()
        answer = await client.post(f"{page}/{path}", data=data)
        assert answer.status_code == 409, (path, answer.text)
    assert len(await store.requests("run-002")) == 2


async def test_a_form_is_bounded(dashboard: Open, store: Store) -> None:
    await store.create(ended(2))
    for body in (b"text=" + b"x" * 70_000, b"\xff=\xff", b"&".join(b"a%d=1" % number for number in range(20))):
        answer = await dashboard().post("/runs/run-002/tell", content=body)
        assert answer.status_code == 409
    assert await store.requests("run-002") == []


@pytest.mark.parametrize(("cost", "known"), [(0.0, True), (None, False)])
async def test_a_run_that_cost_nothing_is_not_one_of_unknown_cost(
    dashboard: Open, store: Store, cost: float | None, known: bool
) -> None:
    await store.create(ended(1, started_at=datetime.now(UTC), usage=Usage(cost=cost)))
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^ <]+)", (await dashboard().get("/totals")).text))
    assert (facts["cost"] == "$0.00") is known
    assert (facts["cost per completed task"] == "$0.00") is known


@pytest.mark.parametrize(
    ("state", "warning", "tone"), [("closed", False, "good"), ("closed", True, "warn"), ("open", False, "warn")]
)
def test_a_breaker_that_warns_is_not_shown_as_good_news(state: Position, warning: bool, tone: str) -> None:
    breaker = BreakerState(state=state, warning=warning, reason="2 iterations without progress")
    [entry] = entries([BreakerChanged(run_id="r", at=NOW, before="closed", breaker=breaker)])
    assert entry.tone == tone


async def test_totals_count_outcomes_and_the_cost_of_a_completed_task(dashboard: Open, store: Store) -> None:
    now = datetime.now(UTC)
    for number in range(1, 7):
        await store.create(ended(number, started_at=now - timedelta(days=number % 2), verified=number == 1))
    await store.create(ended(9, started_at=now - timedelta(days=80)))
    page = (await dashboard().get("/totals")).text
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^ <]+)", page))
    assert facts["runs"] == "6"
    assert facts["completed"] == "3"
    assert facts["cost"] == "$1.50"
    assert facts["cost per completed task"] == "$0.50"
    assert page.count('<tr><td class="task">') == 2
    assert 'href="/?reason=stuck"' in page
    assert "<dt>runs</dt><dd>7" in (await dashboard().get("/totals?days=90")).text
    assert (await dashboard().get("/totals?days=0")).status_code == 400


async def test_two_runs_are_compared(dashboard: Open, store: Store) -> None:
    await store.create(ended(1, settings={"executor": {"model": "small"}, "limits": {"max_cost": 5}}))
    await store.create(ended(2, settings={"executor": {"model": "<b>large</b>"}, "limits": {"max_cost": 5}}))
    client = dashboard()
    page = (await client.get("/compare?a=run-001&b=run-002")).text
    assert "executor.model" in page
    assert "&lt;b&gt;large&lt;/b&gt;" in page
    assert "max_cost" not in page
    assert (await client.get("/compare")).status_code == 200
    assert (await client.get("/compare?a=run-001&b=none")).status_code == 404


@pytest.mark.parametrize("per", [1, 3, 700])
async def test_the_first_event_of_an_iteration_is_found(store: Store, per: int) -> None:
    """Runs of events of very different lengths, with some outside of any iteration between them."""
    await store.create(ended(1))
    events: list[Event] = []
    starts: dict[int, int] = {}
    for number in range(1, 12):
        starts[number] = len(events)
        for part in range(per if number % 2 else 1):
            seq, iteration = len(events) + 1, 0 if part == 1 else number
            events.append(MessageReceived(run_id="run-001", seq=seq, at=NOW, iteration=iteration, text="x"))
    await store.append("run-001", events)
    library = Library(store, commands())
    run = await library.run("run-001")
    assert {number: await library.first_event(run, number) for number in starts} == starts


async def test_a_plugin_adds_a_page(dashboard: Open, store: Store) -> None:
    await store.create(ended(1, task=HOSTILE))

    class Tasks:
        @hookimpl
        def ralph_pages(self):
            yield Page("tasks", "Tasks & more", self.show)
            yield Page("broken", "Broken", self.fail)

        async def show(self, request: PageRequest) -> Markup:
            [run] = await request.store.runs()
            return Markup("<p class=task>{} {}</p>").format(run.task, request.query.get("q", ""))

        async def fail(self, request: PageRequest) -> str:
            raise KeyError("<b>no</b>")

    plugins = Plugins.of([Tasks()])
    plugins.require_sound()
    assert plugins.problems == ()
    client = dashboard(extra=plugins.things("ralph_pages"))
    shown = await client.get("/pages/tasks?q=<i>")
    assert "<p class=task>&lt;script&gt;" in shown.text
    assert "&lt;i&gt;</p>" in shown.text
    assert Seen(shown.text).odd == []
    assert '<a href="/pages/tasks" aria-current="page">Tasks &amp; more</a>' in shown.text
    broken = await client.get("/pages/broken")
    assert (broken.status_code, "&lt;b&gt;no&lt;/b&gt;" in broken.text) == (500, True)
    assert (await client.get("/pages/none")).status_code == 404
    assert (await dashboard(token=None, extra=plugins.things("ralph_pages")).get("/pages/tasks")).status_code == 401


async def test_plots_that_are_asked_for_at_once_count_no_iteration_twice(tmp_path: Path) -> None:
    replies = [writes("a.txt", "a", "Wrote one."), writes("b.txt", "b", "Wrote two.")]
    async with open_store(str(tmp_path / "runs.db")) as store:
        run = await made(store, tmp_path / "work", *replies)
        library = Library(store, commands())
        library._series[run.id] = (await library.series(run)).points[:1]
        series = await asyncio.gather(*(library.series(run) for _ in range(3)))
    assert [[point.number for point in each.points] for each in series] == [[1, 2, 3]] * 3


async def test_a_search_also_looks_in_replies_if_asked(dashboard: Open, store: Store, tmp_path: Path) -> None:
    run = await made(store, tmp_path / "one", "The lantern is <lit>.")
    await made(store, tmp_path / "two", "It is dark.")
    client = dashboard()

    async def found(query: str) -> list[str]:
        return [each["id"] for each in (await client.get(f"/api/runs?q={query}")).json()["runs"]]

    assert await found("LANTERN+%3Clit%3E") == []
    assert await found("LANTERN+%3Clit%3E&replies=true") == [run.id]
    assert len(await found("parts&replies=true")) == 2  # their tasks have it
    page = await client.get("/?q=lantern&replies=true")
    assert 'name="replies" value="true" checked' in page.text
    assert run.id in page.text


async def test_one_search_in_replies_at_a_time_ends_within_a_run(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await made(store, tmp_path / "one", "It is dark.")
    [dark, *_] = [each async for each in store.iterations(run.id)]
    now, searches, seen = 0.0, 0, set[int]()

    async def iterations(_run: str) -> AsyncGenerator[IterationRecord]:
        nonlocal now, searches
        searches += 1
        mine = searches
        for _ in range(1_000):
            now += 1.0
            seen.add(searches - mine)
            await anyio.lowlevel.checkpoint()
            yield dark

    library = Library(store, commands())
    await library.every_run()
    monkeypatch.setattr(store, "iterations", iterations)
    monkeypatch.setattr("ralph.watch.web.library.monotonic", lambda: now)
    pages = await asyncio.gather(
        *(library.runs(RunQuery.model_validate({"q": "lantern", "replies": True})) for _ in range(3))
    )
    assert [(page.runs, page.partial) for page in pages] == [([], True)] * 3
    assert (searches, seen) == (3, {0}), "none began while another one was reading"
    assert now < 50, "each search ends after some ten seconds"


async def test_denied_tool_calls_are_on_the_pages_and_in_the_api(dashboard: Open, store: Store) -> None:
    await store.create(ended(1, denials=3))
    client = dashboard()
    for page in ("/", "/runs/run-001"):
        assert "3 tool calls denied" in (await client.get(page)).text
    assert (await client.get("/api/runs")).json()["runs"][0]["denials"] == 3

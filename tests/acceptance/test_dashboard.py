"""`ralph serve` in a real browser: pages, live updates, controls, hostile texts, 10,000 iterations, accessibility."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from ralph import Runner
from ralph.records.record import RunRecord
from ralph.store import open_store
from ralph.testing import ScriptedExecutor, writes
from ralph.workspace import open_workspace

from .long_run import long_run

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
expect.set_options(timeout=60_000)

AXE = "axe-core@4.11"
T = TypeVar("T")
HOSTILE = (
    "<script>window.hit=1</script><img src=x onerror='window.hit=1'>\"><svg onload=window.hit=1><iframe srcdoc=x>"
    " [a](javascript:window.hit=1) ![b](http://night.example/x.png) <style>body{display:none}</style>"
    "<form action=/runs/x/stop method=post><button>go</button></form></script></pre></title></textarea>\u202e"
)
DONE = "All parts are written.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"
RED = "FAILED tests/test_parts.py::test_two - assert 1 == 2. I could not fix it yet."


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """Chromium, headless; without it the test is skipped with the reason, but in CI it fails."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is not installed.")
        pytest.skip("Chromium is not installed.")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, fetched once into the user's cache by npm."""
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "ralph" / "tests" / AXE
    source = cache / "node_modules" / "axe-core" / "axe.min.js"
    if not source.exists():
        cache.mkdir(parents=True, exist_ok=True)
        fetched = ("npm", "install", "--prefix", str(cache), "--no-audit", "--no-fund", "--ignore-scripts", AXE)
        ended = subprocess.run(fetched, capture_output=True, text=True, check=False, timeout=300)
        if ended.returncode:
            if os.environ.get("CI"):
                pytest.fail(ended.stderr)
            pytest.skip(f"axe-core cannot be fetched: {ended.stderr[-300:]}")
    return source.read_text(encoding="utf-8")


@contextmanager
def served(store: Path, *options: str) -> Generator[str]:
    """Serve a store; yield the address with the token."""
    words = (sys.executable, "-m", "ralph", "serve", "--port", "0", "--store", str(store), *options)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 130


class Watched:
    """A signed-in page that records what goes wrong in it."""

    def __init__(self, browser: Browser, address: str, width: int = 1280, scheme: Any = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.base = address.split("/login", maxsplit=1)[0]
        self.wrong: list[str] = []
        self.page.on(
            "console", lambda said: self.wrong.append(said.text) if said.type in {"error", "warning"} else None
        )
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda asked: self.wrong.append(asked.url) if not self.is_own(asked.url) else None)
        self.page.goto(address)

    def is_own(self, url: str) -> bool:
        return url.startswith(self.base)

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.base}{path}")
        return self.page


Open = Callable[..., Watched]


@pytest.fixture
def opened(browser: Browser) -> Generator[Open]:
    pages: list[Watched] = []

    def open_page(address: str, **options: Any) -> Watched:
        pages.append(Watched(browser, address, **options))
        return pages[-1]

    yield open_page
    for each in pages:
        each.context.close()


def apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run asynchronous work in a thread: Playwright's own loop runs in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, work).result()


def made(folder: Path, *replies: Any, task: str) -> RunRecord:
    """Make a run in a store of its own."""
    workspace = folder / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)

    async def whole() -> RunRecord:
        store = open_store(str(folder / "runs.db"))
        executor = ScriptedExecutor([*replies, DONE])
        async with Runner(executor=executor, store=store, workspace=open_workspace(workspace)) as runner:
            return await runner.run(task)

    return apart(whole)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[RunRecord]]:
    """A store with an ordinary run and one full of hostile texts."""
    folder = tmp_path_factory.mktemp("ended")
    plain = made(folder, writes("a.py", "one = 1\n", "Wrote *the* first part."), RED, task="Write all parts.")
    bad = made(folder, writes("<script>.txt", HOSTILE, HOSTILE), HOSTILE, task=HOSTILE)
    return folder / "runs.db", [plain, bad]


def paths_of(run: RunRecord) -> list[str]:
    ends = ("", "/timeline", "/iterations", "/iterations/1", "/iterations/1/diff", "/diff", "/plots")
    return [f"/runs/{run.id}{end}" for end in ends]


def settled(watched: Watched, path: str) -> Page:
    """Open a page, and wait for the part that it loads itself."""
    page = watched.open(path)
    if page.locator("[data-load]").count():
        expect(page.locator(".loaded")).to_be_visible()
    return page


GENERAL = ["/", "/?q=parts&reason=completed", "/totals", "/nothing"]


def test_no_page_has_a_serious_finding_or_is_too_wide(
    ended: tuple[Path, list[RunRecord]], opened: Open, axe: str
) -> None:
    store, runs = ended
    with served(store) as address:
        for width, scheme in ((1280, "light"), (390, "dark")):
            watched = opened(address, width=width, scheme=scheme)
            general = [*GENERAL, f"/compare?a={runs[0].id}&b={runs[1].id}"]
            for path in [*general, *paths_of(runs[0]), f"/runs/{runs[0].id}/iterations/2"]:
                page = settled(watched, path)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, path
                page.evaluate(axe)
                found = page.evaluate("axe.run({resultTypes: ['violations']}).then((result) => result.violations)")
                serious = [each for each in found if each["impact"] in {"serious", "critical"}]
                assert [(path, each["id"], [node["html"] for node in each["nodes"]]) for each in serious] == []
            assert [each for each in watched.wrong if "404" not in each] == []


def test_hostile_texts_do_not_run_load_or_hide_anything(ended: tuple[Path, list[RunRecord]], opened: Open) -> None:
    store, runs = ended
    with served(store) as address:
        watched = opened(address)
        for path in ["/", *paths_of(runs[1])]:
            page = settled(watched, path)
            assert page.evaluate("window.hit") is None, path
            assert page.locator("img, iframe, style, main form[action*=stop]").count() == 0, path
            expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert watched.wrong == []


def test_the_pages_are_used_by_keyboard_and_link_to_each_other(
    ended: tuple[Path, list[RunRecord]], opened: Open
) -> None:
    store, runs = ended
    with served(store) as address:
        watched = opened(address)
        page = watched.page
        assert "token" not in page.url
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.get_by_label("Search").fill("all parts")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Write all parts.").click()
        expect(page.get_by_text("completed").first).to_be_visible()
        expect(page.get_by_role("img", name=re.compile("^Tokens of 3 iterations"))).to_be_visible()
        page.get_by_role("table").get_by_role("link", name="2", exact=True).click()
        expect(page.locator("mark.against").first).to_be_visible()
        expect(page.get_by_role("heading", name="Why this decision")).to_be_visible()
        page.get_by_role("link", name="Before").click()
        page.get_by_role("link", name="Changes").click()
        expect(page.locator(".diff")).to_contain_text("+one = 1")
        assert runs[0].id in page.url
        assert watched.wrong == []


OBSERVE = """
window.lags = [];
new MutationObserver((changes) => {
  for (const change of changes) for (const each of change.addedNodes) {
    const at = each.querySelector && each.querySelector("time");
    if (at) window.lags.push((Date.now() - Date.parse(at.dateTime)) / 1000);
  }
}).observe(document.getElementById("timeline"), {childList: true});
"""


@contextmanager
def paced(folder: Path, pace: float) -> Generator[Path]:
    """A run in another process; yield its workspace."""
    workspace = folder / "workspace"
    workspace.mkdir()
    words = (sys.executable, str(Path(__file__).with_name("paced_run.py")), str(folder), str(pace))
    with subprocess.Popen(words) as running:
        try:
            yield workspace
        finally:
            running.terminate()


def open_run(page: Page) -> None:
    """Open the page of the paced run, once it is in the list."""
    link = page.get_by_role("link", name="Write all parts of the shop")
    for _ in range(600):
        if link.count():
            break
        page.wait_for_timeout(100)
        page.reload()
    link.click()


@pytest.mark.alone
def test_a_page_shows_an_event_of_another_process_within_a_second(tmp_path: Path, opened: Open) -> None:
    store = tmp_path / "runs.db"
    with paced(tmp_path, 0.2) as workspace, served(store) as address:
        watched = opened(address)
        page = watched.page
        open_run(page)
        page.evaluate(OBSERVE)
        lags: list[float] = []
        while len(lags) < 25:  # the policy forbids what waits for a function
            page.wait_for_timeout(100)
            lags = page.evaluate("window.lags")
        assert max(lags) < 1.0, lags
        expect(page.locator("#status")).to_contain_text("running")
        expect(page.locator("#said")).to_have_text(re.compile(r"running, iteration \d+"))
        expect(page.locator("#iterations tr").first).to_contain_text("changed 1 file")
        (workspace / "done").touch()
        expect(page.locator("#status")).to_contain_text("completed")
        assert watched.wrong == []


def test_each_control_reaches_the_run(tmp_path: Path, opened: Open) -> None:
    store = tmp_path / "runs.db"
    with paced(tmp_path, 0.2), served(store) as address:
        watched = opened(address)
        page = watched.page
        open_run(page)
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("It pauses at the end of the current iteration.")).to_be_visible()
        expect(page.locator("#status")).to_contain_text("paused")
        page.reload()
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_text("It continues.")).to_be_visible()
        expect(page.locator("#status")).to_contain_text("running")
        page.get_by_label("Tell the agent").fill("Use <b>tabs</b>.")
        page.get_by_role("button", name="Tell").click()
        expect(page.locator("#timeline .told").first).to_contain_text("Use <b>tabs</b>.")
        page.get_by_label("Add iterations").fill("7")
        page.get_by_role("button", name="Extend").click()
        expect(page.locator("#timeline")).to_contain_text("extended: max iterations by 7")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#status")).to_contain_text("cancelled")
        assert watched.wrong == []


def test_a_read_only_page_has_no_controls(ended: tuple[Path, list[RunRecord]], opened: Open) -> None:
    store, runs = ended
    with served(store, "--read-only") as address:
        page = opened(address).open(f"/runs/{runs[0].id}")
        assert page.locator("form[method=post]").count() == 0


PAINTED = "performance.getEntriesByName('first-contentful-paint').map((paint) => paint.startTime)[0] ?? null"


@pytest.mark.alone
def test_a_run_of_10_000_iterations_paints_within_a_second_and_a_half(tmp_path: Path, opened: Open) -> None:
    store = tmp_path / "runs.db"
    run = apart(partial(long_run, store))
    with served(store) as address:
        watched = opened(address)
        sizes: list[int] = []
        watched.page.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", 0))))
        for path in (f"/runs/{run.id}", f"/runs/{run.id}/timeline?iteration=9000", f"/runs/{run.id}/iterations/5000"):
            sizes.clear()
            page = watched.open(path)
            while (painted := page.evaluate(PAINTED)) is None:
                page.wait_for_timeout(50)
            assert painted <= 1_500, path
            assert 0 < sum(sizes) <= 500_000, path
        assert page.locator("#timeline, .timeline").first.locator("li").count() >= 5
        page = watched.open(f"/runs/{run.id}")
        expect(page.get_by_role("img", name=re.compile("^Tokens of 476 iterations, one in 21"))).to_be_visible()
        assert watched.wrong == []

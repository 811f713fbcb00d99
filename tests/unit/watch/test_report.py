"""Reports of a run: HTML and Markdown, in which nothing that an agent wrote is anything but text."""

import re
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from html.parser import HTMLParser
from typing import get_args

import pytest
from markdown_it import MarkdownIt

from ralph.analysis.result import Analysis, Evidence
from ralph.decision.outcomes import Complete, Continue, StopReason
from ralph.records.record import IterationRecord, PlanCount, RunRecord
from ralph.store.run_list import ListedRun
from ralph.types.output import Answered, Changes, Usage
from ralph.types.verification import Verdict, Verification
from ralph.watch.report import html_report
from ralph.watch.report_stats import STATES, Wanted, bars, diffstat, sparkline, stats_lines, stats_of
from ralph.watch.report_text import Chain, Point, Report, markdown_report

AT = datetime(2026, 11, 22, 23, 0, tzinfo=UTC)
ATTACKS = (
    "</script><script>alert(1)</script>",
    '</pre></title></style><img src=x onerror="alert(1)">',
    "' onmouseover='alert(1)' x='",
    "<svg/onload=alert(1)>",
    "<!--",
    "]]>",
    "\x1b[2J\x1b]0;pwned\x07 \u202eturned\u2066 \u200bhidden \x9b31m",
    "[here](javascript:alert(1)) ![x](https://evil.example/p.png) <https://evil.example> https://evil.example",
    "``` \n\n# heading\n\n````html\n<b>x</b>\n~~~\n| a | b |\n|--|--|",
    "@everyone see #1 &lt;b&gt; \\`x\\` $x^2$ </details></summary>",
    "ctrl \x00 \ud800 end",
)
HOSTILE = "\n".join(ATTACKS)


class Page(HTMLParser):
    """The elements of a page, their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "path"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "path":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def iteration(number: int, text: str = "", *, last: bool = False) -> IterationRecord:
    evidence = (
        Evidence(signal=text[:60] or "exit_signal", start=3, end=40, text=text[:200], weight=100, why=text[:400]),
        Evidence(signal="open_work", start=20, end=60, weight=-30, why="left"),
    )
    verdict = Verdict(verifier=text[:300] or "pytest", passed=last, output=text)
    return IterationRecord(
        run_id="r-1",
        number=number,
        started_at=AT,
        finished_at=AT + timedelta(seconds=5),
        text=text,
        executor=text[:300] or "copilot-sdk",
        model=text[:100] or "gpt",
        outcome=Answered(),
        usage=Usage(input_tokens=1_000 * number, output_tokens=10, cost=0.25),
        duration=5,
        changes=Changes(fingerprint="a", files=(text[:300] or "a.py",), files_changed=1),
        plan=PlanCount(done=number, total=4),
        analysis=Analysis(evidence=evidence),
        verification=Verification(verdicts=(verdict,)),
        decision=Complete(reason=text[:500], verified=True) if last else Continue(reason=text[:500] or "work is left"),
    )


def report(text: str = "", *, iterations: int = 3, state: str = "completed") -> Report:
    records = [iteration(number, text, last=number == iterations) for number in range(1, min(iterations, 300) + 1)]
    run = RunRecord(
        id="r-1",
        task=text or "Make the tests pass.",
        workspace=text[:300] or "/ws",
        started_at=AT,
        finished_at=AT,
        state="finished",
        stop_reason="completed" if state == "completed" else "stuck",
        verified=state == "completed",
        verified_by=text,
        detail=text or "EXIT_SIGNAL: true",
        still_open=(text,) if text else (),
        lost=(text,) if text else (),
        iterations=iterations,
        executors={text[:200] or "copilot-sdk": iterations},
        usage=Usage(input_tokens=6_000, output_tokens=30, cost=0.75),
        duration=3700,
    )
    points = [Point(number, number, 0.25, 5.0, 50.0) for number in range(1, iterations + 1)]
    chain = (Chain(text or "claim", text or "done", (("✓", text or "x"),)),)
    files = [(text or "src/a.py", 12, 3), ("logo.png", None, None)]
    return Report(run, state, points, records, records[-1], records[-1], chain, files, "", AT)


def test_the_page_shows_the_run_and_needs_nothing_else() -> None:
    text = "I fixed it. All tests pass, but median is left to do, and so on."
    html = html_report(report(text))
    page = Page(html)
    assert not page.open
    for said in ("Completed, verified", "1 h 1 min", "$0.75", "6,030", "src/a.py" if not text else "+12", "binary"):
        assert said in page.text, said
    assert [attributes["class"] for tag, attributes in page.tags if tag == "mark"] == ["for", "against"]
    assert len([tag for tag, _ in page.tags if tag == "svg"]) == 4
    assert all(attributes.get("aria-label") for tag, attributes in page.tags if tag == "svg")
    [policy] = [each["content"] for _, each in page.tags if each.get("http-equiv") == "Content-Security-Policy"]
    style = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)[0]
    assert f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" in str(policy)
    assert str(policy).startswith("default-src 'none'; ")
    assert "prefers-color-scheme: dark" in style
    assert "Stopped" not in page.text
    assert "Stuck" in Page(html_report(report(state="stuck"))).text


@pytest.mark.parametrize("text", [*ATTACKS, HOSTILE, HOSTILE * 4_000])
def test_nothing_that_an_agent_wrote_is_html(text: str) -> None:
    html, plain = html_report(report(text)), html_report(report("x" * 500))
    page = Page(html)
    assert not page.open
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in Page(plain).tags} | {"p"}
    allowed = {"class", "content", "charset", "name", "http-equiv", "lang", "title", "open"}
    allowed |= {"viewbox", "preserveaspectratio", "role", "aria-label", "d", "colspan"}
    assert {name for _, attributes in page.tags for name in attributes} <= allowed
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u200b", "\x00", "\ud800"} & set(html)
    assert len(html) < 600_000


@pytest.mark.parametrize("text", [*ATTACKS, HOSTILE, HOSTILE * 4_000])
def test_nothing_that_an_agent_wrote_is_markdown(text: str) -> None:
    written = markdown_report(report(text))
    parser = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"])
    tokens = [each for token in parser.parse(written) for each in (token, *(token.children or ()))]
    kinds = [token.type for token in tokens]
    assert not {"link_open", "image", "em_open", "s_open", "html_inline_other"} & set(kinds)
    html = "".join(token.content for token in tokens if token.type in {"html_block", "html_inline"})
    assert set(re.findall(r"<[^>]*>", html)) <= {
        "<details>", "</details>", "<summary>", "</summary>", "<sub>", "</sub>",
    }  # fmt: skip
    assert kinds.count("heading_open") == 1
    assert kinds.count("table_open") == 2
    prose = " ".join(token.content for token in tokens if token.type == "text")
    assert not re.search(r"[@#](?=[\w])|://", prose), "a mention, a reference or an address"
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\x00"} & set(written)
    assert len(written) < 100_000


def test_a_long_run_has_a_report_of_bounded_size() -> None:
    long = report("word " * 100, iterations=10_000)
    html, written = html_report(long), markdown_report(long)
    assert len(html) < 500_000
    assert "9,800 earlier iterations" in html
    assert "9,960 before" in written
    assert max(len(line) for line in written.splitlines() if line.startswith("tokens")) <= 70


def listed(name: str, **facts: object) -> RunRecord:
    common = {"id": name, "task": f"Task {name}", "started_at": AT, "finished_at": AT, "state": "finished"}
    return RunRecord.model_validate({**common, "duration": 60, **facts})


def test_many_runs_in_figures() -> None:
    runs = [
        (listed("a", stop_reason="completed", verified=True, usage=Usage(cost=1), iterations=2), "completed"),
        (listed("b", stop_reason="completed", usage=Usage(cost=2), duration=120), "completed"),
        (listed("c", stop_reason="stuck", usage=Usage(cost=3), iterations=5), "stuck"),
        (listed("d", finished_at=None, state="running"), "crashed"),
    ]
    stats = stats_of(runs)
    assert stats["outcomes"] == {
        "completed, verified": 1, "completed, claimed, not verified": 1, "stuck": 1, "crashed": 1,
    }  # fmt: skip
    assert (stats["cost"], stats["cost_per_completed"], stats["runs_of_unknown_cost"]) == (6, 3, 1)
    assert stats["stop_reasons"] == {"completed": 2, "stuck": 1}
    assert stats["duration_of_completed"] == {"median": 90, "longest": 120}
    lines = "\n".join(stats_lines(stats))
    assert "$3.00 for each completed task" in lines
    assert "$6.00; 1 run of unknown cost" in lines
    assert stats_lines(stats_of([]))
    assert set(get_args(StopReason)) < set(STATES)


def test_runs_that_are_wanted() -> None:
    run = listed("20261122-abc", task="Fix the Parser", stop_reason="stuck")
    fast = ListedRun(run.id, run.task, AT, AT, "finished", "stuck", False, False, 1, 1.0, None, None, None, 0)
    for each in (run, fast):
        for wanted, is_in in (
            (Wanted(), True),
            (Wanted("stuck"), True),
            (Wanted("finished"), True),
            (Wanted("completed"), False),
            (Wanted(since=AT), True),
            (Wanted(since=AT + timedelta(seconds=1)), False),
            (Wanted(words=("parser", "abc")), True),
            (Wanted(words=("parser", "other")), False),
        ):
            assert wanted.has(each, "stuck") is is_in, wanted


def test_pictures_of_characters() -> None:
    assert sparkline([0, None, 4, 8]) == "▁▁▅█"
    assert len(sparkline(range(10_000))) <= 60
    assert sparkline([]) == ""
    assert bars([("one", 10, "ten"), ("two", 0.1, "little"), ("none", 0, "zero")], 10) == [
        "one   ██████████  ten",
        "two   █░░░░░░░░░  little",
        "none  ░░░░░░░░░░  zero",
    ]
    shown = diffstat([("src/a.py", 3, 1), ("x" * 90, 4000, 0), ("logo\x1b[31m.png", None, None)])
    assert shown[0].endswith("    4  +-")
    assert shown[1].endswith("4,000  " + "+" * 40)
    assert shown[2].split() == ["logo.png", "binary"]
    assert shown[3] == "3 files, 4,003 lines added, 1 removed"

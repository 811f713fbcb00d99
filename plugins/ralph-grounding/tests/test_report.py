"""The report, looked at in a real browser."""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from ralph_grounding.comparison import compare
from ralph_grounding.materials import ExpectedClaim
from ralph_grounding.report import ReportData, render_report, worst
from ralph_grounding.report.data import MOST_ANALYSES, marked_spans
from ralph_grounding.result import (
    AccuracyResult,
    AnalysisResult,
    AttributionMention,
    AttributionResult,
    ClaimFeedback,
    ClaimJudgement,
    ClaimMatch,
    CompletenessResult,
    Conflict,
    Contradiction,
    Feedback,
    GroundTruthSource,
    Highlight,
    HighlightFeedback,
    Scores,
    Segment,
    TextPosition,
)
from ralph_grounding.summary import DomainScoreSummary, Point, ScoreTally

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def _at(response: str, text: str) -> TextPosition:
    start = response.index(text)
    return TextPosition(start=start, end=start + len(text))


def _judged(claim: str, **more: object) -> ClaimJudgement:
    return ClaimJudgement.model_validate({"claim": claim, "similarity": 0.1, "raw": 0.1, "found": False, **more})


def _analysis(
    query: str = "q1",
    combined: float | None = 50,
    response: str = "Storage is included. It costs 500 euros. Penguins swim. See example.com.",
    url: str = "https://example.com/plans",
    hostile: str = "",
    model: str = "alpha",
) -> AnalysisResult:
    """An analysis with evidence of every kind; the hostile text is in each place that has one."""
    included, costs, penguins = (
        _at(response, text) for text in ("Storage is included. ", "It costs 500 euros.", "Pen")
    )
    conflict = Conflict(kind="number", expected=f"50{hostile}", said="500", position=_at(response, "500"))
    judgements = (
        _judged(f"Storage is included{hostile}", found=True, similarity=0.9, matched_text="Storage is"),
        _judged("It costs 50 euros", matched_text="It costs 500", conflicts=(conflict,)),
        _judged(f"Support is free{hostile}", importance="optional"),
    )
    claim = ClaimMatch(
        claim=ExpectedClaim(statement="Storage is included"),
        matched_text="",
        similarity=0.9,
        raw=0.9,
        position=included,
    )
    mention = AttributionMention(
        type="domain",
        matched_text="example.com",
        target="example.com",
        position=_at(response, "example.com"),
        context=hostile,
    )
    source = GroundTruthSource(chunk_id="c", page_url=url, matched_text=f"Storage comes with it.{hostile}")
    return AnalysisResult(
        id=query,
        query_id=query,
        query=f"What of {query}?{hostile}",
        domain=f"example.com{hostile}",
        ai_provider=f"openai{hostile}",
        model=f"{model}{hostile}",
        response=response,
        scores=Scores(
            accuracy=AccuracyResult(score=41, tier="poor", similarity=0.4, calibrated=0.41),
            completeness=CompletenessResult(
                score=50, tier="fair", claims_found=(claim,), total_required=2, total_found=1, matches=judgements
            ),
            attribution=AttributionResult(score=75, tier="good", mentions=(mention,)),
            combined=combined,
        ),
        feedback=Feedback(
            claims=ClaimFeedback(
                contradicts=(
                    Contradiction(
                        claim=f"It costs 50 euros{hostile}",
                        statement=f"It costs 500 euros.{hostile}",
                        position=costs,
                        conflicts=(conflict,),
                        source="c",
                    ),
                ),
                not_in_ground_truth=(Segment(text="Pen", position=penguins),),
            ),
            highlights=HighlightFeedback(
                highlights=(
                    Highlight(
                        response_range=included,
                        response_text="Storage is included. ",
                        ground_truth_source=source,
                        similarity=0.9,
                    ),
                ),
                coverage_percent=28,
            ),
        ),
        flags=("needs_review",),
        notes=(f"A note.{hostile}",),
        provider=f"lexical{hostile}",
        analyzed_at=NOW,
        analyzer_version="1",
    )


def _runs(count: int = 3, hostile: str = "") -> tuple[DomainScoreSummary, ...]:
    runs: list[DomainScoreSummary] = []
    for place in range(count):
        tally = ScoreTally()
        tally.add(Point(60 + place, "fair"), Point(90 - 20 * place, "good"), None)
        tally.add(Point(70 + place, "good"), Point(90 - 20 * place, "good"), None)
        summary = tally.summary(
            domain=f"example.com{hostile}", run_id=f"r{place}", run_at=NOW + timedelta(days=place), failed=place
        )
        runs.append(summary.against(runs[-1], same_queries=False) if runs else summary)
    return tuple(runs)


def _soup(data: ReportData) -> BeautifulSoup:
    return BeautifulSoup(render_report(data), "html.parser")


def _words(tag: Any) -> str:
    return " ".join(tag.get_text(" ").split())


def test_the_cards_tell_score_tier_and_trend_of_the_last_run() -> None:
    accuracy, completeness, attribution = _soup(ReportData(generated_at=NOW, runs=_runs())).select(".card")
    assert _words(accuracy).startswith("accuracy 67 fair ▲ +1.0")
    assert "1 good" in _words(accuracy)
    assert "median 67 · from 62 to 72" in _words(accuracy)
    assert "completeness 50 fair ▼ −20.0" in _words(completeness)
    assert "not measured" in _words(attribution)


def test_the_header_tells_of_failures_and_the_page_of_drops() -> None:
    page = _words(_soup(ReportData(generated_at=NOW, runs=_runs())))
    assert "2 answers judged · 2 failed" in page
    assert "completeness fell by 28.6 %" in page
    assert "another set of queries" in page


def test_the_first_run_has_no_trend() -> None:
    assert not _soup(ReportData(generated_at=NOW, runs=_runs(1))).select(".trend")


def test_the_chart_has_a_line_for_each_measured_score() -> None:
    soup = _soup(ReportData(generated_at=NOW, runs=_runs(5)))
    for chart in soup.select("svg.chart"):
        assert [_words(text) for text in chart.select("g.line > text")] == ["accuracy", "completeness"]
        heights = [float(str(circle["cy"])) for circle in chart.select("g.line.completeness circle")]
        assert heights == sorted(heights)  # it falls, so that its dots go down
        assert len(heights) == 5


@pytest.mark.parametrize("count", [0, 1, 2, 59, 200])
def test_any_number_of_runs_can_be_drawn(count: int) -> None:
    circles = _soup(ReportData(generated_at=NOW, runs=_runs(min(count, 5)) * (count // 5 or 1))).select(
        "svg.wide circle"
    )
    assert len(circles) <= 120


def test_runs_of_one_day_are_told_apart_by_the_hour() -> None:
    first, second, _ = _runs(3)
    later = second.model_copy(update={"run_at": NOW + timedelta(hours=3)})

    def labels(*runs: DomainScoreSummary) -> list[str]:
        chart = _soup(ReportData(generated_at=NOW, runs=runs)).select("svg.wide > text[text-anchor=middle]")
        return [_words(label) for label in chart]

    assert labels(first, later) == ["12:00", "15:00"]
    assert labels(first, second) == ["21 Nov", "22 Nov"]


def test_the_worst_answers_come_first() -> None:
    scores = {"b": 70.0, "a": 20.0, "c": None, "d": 20.0}
    found = worst(_analysis(query, combined) for query, combined in scores.items())
    assert [analysis.query_id for analysis in found] == ["a", "d", "b", "c"]
    assert len(worst(_analysis(str(place)) for place in range(80))) == MOST_ANALYSES
    assert [analysis.query_id for analysis in worst((_analysis("x", 3), _analysis("y", 2)), 1)] == ["y"]
    table = _soup(ReportData(generated_at=NOW, analyses=found)).find("h2", string="Worst answers first")
    assert table is not None
    rows = table.find_next("tbody")
    assert rows is not None
    assert [_words(row.find("a")) for row in rows.select("tr")] == [f"What of {query}?" for query in "adbc"]
    assert [row.select("a")[0]["href"] for row in rows.select("tr")] == [f"#answer-{place}" for place in range(1, 5)]


def test_a_response_is_shown_with_its_marks() -> None:
    quote = _soup(ReportData(generated_at=NOW, analyses=(_analysis(),))).blockquote
    assert quote is not None
    assert quote.get_text() == "Storage is included. It costs 500 euros. Penguins swim. See example.com."
    marked = [(" ".join(mark["class"]), mark.get_text()) for mark in quote.select("mark")]
    assert marked == [
        ("supported", "Storage is included."),
        ("doubtful", "It costs "),
        ("doubtful conflict", "500"),
        ("doubtful", " euros."),
        ("unknown", "Pen"),
        ("mention", "example.com"),
    ]
    assert "Storage comes with it." in quote.select("mark")[0]["title"]


def test_claims_are_a_check_list_with_importance_and_evidence() -> None:
    soup = _soup(ReportData(generated_at=NOW, analyses=(_analysis(),)))
    claims = [_words(item) for item in soup.select("ul.claims")[0].select("li")]
    assert claims == [
        "✓ Storage is included required Storage is (0.90)",
        "≠ It costs 50 euros required It costs 500 ; number: 500 instead of 50",
        "✗ Support is free optional not mentioned",
    ]


def test_sides_are_compared() -> None:
    sides = {
        "alpha": [_analysis(str(place), 80) for place in range(8)],
        "beta": [_analysis(str(place), 60 + place) for place in range(9)],
    }
    page = _words(_soup(ReportData(generated_at=NOW, comparison=compare(sides))))
    assert "alpha against beta" in page
    assert "combined 8 16.5" in page
    assert "8 · 0 · 0 0.008 alpha is better" in page
    assert "both sides have the same score in every query" in page
    assert "0 by the first, 1 by the second: 8" in page


def test_a_side_is_only_called_better_after_the_correction_for_many_sides() -> None:
    sides = {name: [_analysis(str(place), 60 + more + place % 2 * more) for place in range(6)] for name, more in
             (("alpha", 0), ("beta", 4), ("gamma", 9))}  # fmt: skip
    two, three = compare({name: sides[name] for name in ("alpha", "beta")}), compare(sides)
    assert "beta is better" in _words(_soup(ReportData(generated_at=NOW, comparison=two)))
    page = _words(_soup(ReportData(generated_at=NOW, comparison=three)))
    assert "no difference shown" in page
    assert "is better" not in page


@pytest.mark.parametrize(
    ("address", "links"),
    [
        ("https://example.com/a?b=c&d#e", True),
        ("HTTP://example.com", True),
        ("javascript:alert(1)", False),
        ("https:javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("//example.com/a", False),
        ("docs/a.md", False),
        (" https://example.com", False),
        ("", False),
    ],
)
def test_only_addresses_of_the_web_become_links(address: str, links: bool) -> None:
    soup = _soup(ReportData(generated_at=NOW, analyses=(_analysis(url=address),)))
    found = [str(tag["href"]) for tag in soup.select("a") if not str(tag["href"]).startswith("#")]
    assert set(found) == ({address} if links else set())


def test_nothing_at_all_is_a_page_too() -> None:
    assert "nothing to report yet" in render_report(ReportData(generated_at=NOW))


def test_a_long_answer_is_cut_and_says_so() -> None:
    response = "Storage is included. It costs 500 euros. Penguins. example.com " + "x" * 1_000_000
    page = render_report(ReportData(generated_at=NOW, analyses=(_analysis(response=response),) * MOST_ANALYSES))
    assert "and 980063 more characters" in page
    assert len(page) < 2_000_000


def test_the_stretches_are_the_response() -> None:
    analysis = _analysis()
    assert "".join(stretch.text for stretch in marked_spans(analysis)) == analysis.response
    assert [stretch.text for stretch in marked_spans(analysis.model_copy(update={"response": ""}))] == []


HOSTILE = [
    "<script>document.title='ran'</script>",
    "</style><script>document.title='ran'</script>",
    "</title><script>document.title='ran'</script>",
    '"><img src=x onerror="document.title=\'ran\'">',
    "' onmouseover='document.title=1' autofocus onfocus='document.title=1",
    "<svg onload=\"document.title='ran'\"><iframe srcdoc='<script>parent.document.title=1</script>'></iframe>",
    "<base href='http://127.0.0.1:1/'><meta http-equiv=refresh content='0;url=http://127.0.0.1:1/'>",
    "<!--<script>document.title='ran'</script>",
    "]]><a href=javascript:document.title='ran'>x</a>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202e\u2066evil\u2069 \x00\x1b[31m\ud800 \u2028",
    "@import 'http://127.0.0.1:1/x.css';",
]


def _hostile_data(more: str = "") -> ReportData:
    """Every hostile text in every place, and in the answers themselves."""
    texts = [*HOSTILE, more, "a" * 1_000_000]
    response = "Storage is included. It costs 500 euros. Penguins. example.com "
    analyses = tuple(
        _analysis(f"q{place}", place, response + text, "javascript:document.title='ran'", text)
        for place, text in enumerate(texts)
    )
    everything = "".join(texts[:-1])
    return ReportData(
        title=f"Report{everything}",
        generated_at=NOW,
        runs=_runs(3, everything),
        analyses=analyses,
        comparison=compare({f"alpha{everything}": analyses, f"beta{everything}": analyses[1:]}),
    )


@pytest.fixture
def outside() -> Iterator[tuple[str, list[str]]]:
    """A server that a page might load something from, and what was asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it has there
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _in_chromium(page: str, folder: Path) -> BeautifulSoup:
    """The page as Chromium has it when it is loaded and its scripts have run."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "The report is tested in a real browser: install chromium."
    file = folder / "page.html"
    file.write_text(page, "utf-8")
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    shown = subprocess.run(
        [program, *arguments, f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=50,
    )
    return BeautifulSoup(shown.stdout.decode(), "html.parser")


def _loading(address: str) -> str:
    return (
        f"<script>document.title = 'ran'</script><img src='{address}/image'><link rel=stylesheet href='{address}/css'>"
        f"<style>body {{ background: url({address}/background) }}</style>"
    )


def test_hostile_texts_do_nothing_in_a_browser(tmp_path: Path, outside: tuple[str, list[str]]) -> None:
    address, asked = outside
    page = _in_chromium(render_report(_hostile_data(_loading(address))), tmp_path)
    assert asked == []
    assert page.title is not None
    assert page.title.get_text().startswith("Report<script>document.title='ran'")
    assert {tag.name for tag in page.find_all(True)} <= {
        *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "article", "div", "p", "span"),
        *("h1", "h2", "h3", "bdi", "strong", "i", "q", "a", "mark", "ul", "li", "blockquote", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "line", "text", "g", "polyline", "circle"),
    }
    assert len(page.find_all("meta")) == 5
    for tag in page.find_all(True):
        assert not [name for name in tag.attrs if name.startswith("on") or name in {"style", "src", "srcdoc"}]
        assert re.match(r"#|https?://", str(tag.get("href", "#")))
    text = page.get_text()
    assert "{{ 7 * 7 }}" in text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b]", text)


def test_the_page_forbids_what_might_slip_in(tmp_path: Path, outside: tuple[str, list[str]]) -> None:
    """The same that a page without the policy does, so that the test sees what it looks for."""
    address, asked = outside
    page = render_report(ReportData(generated_at=NOW, runs=_runs()))
    injected = page.replace("</main>", f"{_loading(address)}</main>")
    shown = _in_chromium(injected, tmp_path)
    assert shown.title is not None
    assert (shown.title.get_text(), asked) == ("Answers against ground truth", [])
    free = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", injected)
    shown = _in_chromium(free, tmp_path)
    assert shown.title is not None
    assert shown.title.get_text() == "ran"
    assert {"/image", "/css", "/background"} <= set(asked)


def test_the_page_loads_nothing_and_its_own_style_is_allowed(tmp_path: Path) -> None:
    page = render_report(_hostile_data())
    assert "default-src 'none'" in page
    assert page.encode()  # no lone surrogates are left
    measured = page.replace("default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'").replace(
        "</main>", "<script>document.title = getComputedStyle(document.body).maxWidth</script></main>"
    )
    shown = _in_chromium(measured, tmp_path)
    assert shown.title is not None
    assert shown.title.get_text() == "992px"

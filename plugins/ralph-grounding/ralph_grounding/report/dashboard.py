"""The page of scores in Ralph's dashboard: questions by providers, answers side by side, the trend of each provider."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from ralph.store import default_path
from ralph_grounding.claim_rates import side_of
from ralph_grounding.filters import Condition
from ralph_grounding.report.data import LONGEST_RESPONSE, MarkedSpan, marked_spans
from ralph_grounding.report.page import templates
from ralph_grounding.store import open_grounding_store

if TYPE_CHECKING:
    from ralph.watch.web import PageRequest
    from ralph_grounding.result import AnalysisResult, Tier
    from ralph_grounding.settings import GroundingSettings
    from ralph_grounding.store.grounding import GroundingStore
    from ralph_grounding.store.records import GroundingRun, ScoreRow, StoredAnalysis

__all__ = ["show_scores"]

_RUNS = 30
_MOST_QUESTIONS, _MOST_SIDES = 200, 12
_MOST_ROWS = _MOST_QUESTIONS * _MOST_SIDES
_TREND = 12
"""Runs in the trend of a provider."""

_KINDS = {"conflict": "against", "doubtful": "against", "supported": "for"}
"""The dashboard's classes of marks; every other mark is "told"."""


class Cell(NamedTuple):
    """A provider's scores for one question; `tier` is that of the worst."""

    score: float | None
    tier: "Tier | None"


class Question(NamedTuple):
    """A row of the matrix: one question, with a cell for each provider."""

    text: str
    address: str
    cells: tuple[Cell | None, ...]


class Trend(NamedTuple):
    """The mean combined scores of a provider in the last runs, as bars of a plot 1000 wide and 100 high."""

    side: str
    path: str
    first: float
    last: float
    runs: int


class Answer(NamedTuple):
    """One provider's answer with its marks."""

    side: str
    result: "AnalysisResult"
    spans: tuple[tuple[MarkedSpan, str], ...]
    left_out: int


async def show_scores(request: "PageRequest", settings: "GroundingSettings") -> str:
    """Return the page: the runs and the matrix of one of them, or with `question` the answers to it."""
    query = request.query
    if settings.store is None and not default_path().with_name("grounding.db").exists():
        return _page(runs=(), run=None)
    async with open_grounding_store(settings.store) as store:
        runs = await store.runs(limit=_RUNS)
        run = await store.run(query["run"]) if query.get("run") else next(iter(runs), None)
        if run is None:
            return _page(runs=runs, run=None, wanted=query.get("run", ""))
        if query.get("question"):
            answers = await _answers(store, run, query["question"])
            return _page(runs=runs, run=run, answers=answers, question=query["question"])
        rows = [row async for row in store.scores([Condition("run", "=", run.id)], order="oldest", limit=_MOST_ROWS)]
        sides, questions = matrix(run.id, rows)
        trends = await _trends(store, run, sides)
        chosen = {name: query.get(name, "")[:200] for name in ("find", "tier", "order")}
        shown = selected(questions, **chosen)
        return _page(
            runs=runs, run=run, sides=sides, questions=shown, every=len(questions), trends=trends, chosen=chosen
        )


def _page(**values: object) -> Markup:
    """Return the page as HTML, in which everything that is not from the template is escaped."""
    given = {"answers": None, "wanted": "", "address": _address, **values}
    return Markup(templates().get_template("dashboard.html").render(**given))  # noqa: S704 - the template escapes


def _address(run: str, question: str = "") -> str:
    return "?" + urlencode({"run": run, **({"question": question} if question else {})})


def matrix(run_id: str, rows: "Sequence[ScoreRow]") -> tuple[tuple[str, ...], tuple[Question, ...]]:
    """Return the providers, and for each question the combined score of each; of several answers, the worst."""
    sides = tuple(dict.fromkeys(_side(row) for row in rows))[:_MOST_SIDES]
    found: dict[str, dict[str, Cell]] = {}
    texts: dict[str, str] = {}
    for row in rows:
        texts.setdefault(row.query_id, row.query or row.query_id)
        cells = found.setdefault(row.query_id, {})
        before = cells.get(_side(row))
        if before is None or (row.combined is not None and (before.score is None or row.combined < before.score)):
            cells[_side(row)] = Cell(row.combined, _worst_tier(row))
    return sides, tuple(
        Question(texts[query], _address(run_id, query), tuple(cells.get(side) for side in sides))
        for query, cells in list(found.items())[:_MOST_QUESTIONS]
    )


def selected(questions: Sequence[Question], *, find: str, tier: str, order: str) -> list[Question]:
    """Return the questions with a text and with an answer of a tier; in order: as asked, "worst" first, or "text"."""
    found = [
        each
        for each in questions
        if find.casefold() in each.text.casefold()
        and (not tier or any(cell and cell.tier == tier for cell in each.cells))
    ]
    if order == "worst":
        found.sort(key=lambda each: min((c.score for c in each.cells if c and c.score is not None), default=101.0))
    elif order == "text":
        found.sort(key=lambda each: each.text.casefold())
    return found


def _side(answer: "ScoreRow | StoredAnalysis") -> str:
    return side_of(answer.ai_provider, answer.model)


def _worst_tier(row: "ScoreRow") -> "Tier | None":
    tiers = {row.accuracy_tier, row.completeness_tier, row.attribution_tier}
    order: tuple[Tier, ...] = ("poor", "fair", "good", "excellent")
    return next((tier for tier in order if tier in tiers), None)


async def _answers(store: "GroundingStore", run: "GroundingRun", question: str) -> tuple[Answer, ...]:
    wanted = [Condition("run", "=", run.id), Condition("query", "=", question)]
    kept = [each async for each in store.analyses(wanted, order="oldest", limit=_MOST_SIDES)]
    return tuple(
        Answer(
            side=_side(each),
            result=each.result,
            spans=tuple((span, _kind_of(span)) for span in marked_spans(each.result)),
            left_out=max(0, len(each.result.response) - LONGEST_RESPONSE),
        )
        for each in kept
    )


def _kind_of(span: MarkedSpan) -> str:
    marks = span.marks.split()
    return next((kind for name, kind in _KINDS.items() if name in marks), "told" if marks else "")


async def _trends(store: "GroundingStore", run: "GroundingRun", sides: Sequence[str]) -> tuple[Trend, ...]:
    """Return the trend of each provider over the last runs of the same domain, up to this one."""
    known = await store.runs(domain=run.domain, limit=_RUNS)
    runs = sorted((each for each in known if each.started_at <= run.started_at), key=lambda each: each.started_at)
    means: list[Mapping[str, float]] = []
    for each in runs[-_TREND:]:
        by_side: dict[str, list[float]] = {}
        async for row in store.scores([Condition("run", "=", each.id)], limit=_MOST_ROWS):
            if row.combined is not None:
                by_side.setdefault(_side(row), []).append(row.combined)
        means.append({side: sum(scores) / len(scores) for side, scores in by_side.items()})
    return tuple(trend for side in sides if (trend := _trend(side, [each.get(side) for each in means])))


def _trend(side: str, scores: Sequence[float | None]) -> Trend | None:
    known = [score for score in scores if score is not None]
    if not known:
        return None
    width = 1000 / max(len(scores), 1)
    bars = (
        f"M{place * width + 4:.1f} 100V{100 - max(score, 1):.1f}h{width - 8:.1f}V100z"
        for place, score in enumerate(scores)
        if score is not None
    )
    return Trend(side, "".join(bars), known[0], known[-1], len(known))

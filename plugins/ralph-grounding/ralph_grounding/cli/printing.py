"""Output of the commands: JSON for programs, and text for readers that cannot control their terminal."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ralph_grounding.result import AnalysisResult, ClaimJudgement, Conflict, Scores, TextPosition
from ralph_grounding.summary import METRICS, DomainScoreSummary, Metric

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ralph_grounding.store.records import StoredAnalysis

__all__ = [
    "TIER_STYLES",
    "console",
    "counted",
    "one_line",
    "print_json",
    "print_line",
    "print_origin",
    "print_result",
    "print_rows",
    "score_cell",
    "summary_rows",
]

TIER_STYLES = {"excellent": "green", "good": "cyan", "fair": "yellow", "poor": "red"}

_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_ENDLESS = 10_000


def console() -> "Console":
    """Make a console on standard output; in a pipe it folds no line."""
    from rich.console import Console

    out = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if not out.is_terminal:
        out.width = _ENDLESS
    return out


def one_line(text: str, most: int = 200) -> str:
    """Put a hostile text on one line, without terminal control characters, cut to `most` characters."""
    flat = " ".join(_ACTING.sub(" ", text[: 4 * most]).split())
    return flat if len(flat) <= most and len(text) <= 4 * most else f"{flat[: most - 1]}…"


def counted(number: int, one: str, many: str = "") -> str:
    """Format a number of things, as in "1 page" and "2 pages"."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def print_json(value: Any) -> None:
    """Print a JSON value, indented, in ASCII for any reader."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_line(value: Any) -> None:
    """Print a JSON value as one line, flushed at once, in ASCII for any reader."""
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


def print_rows(columns: Sequence[str], rows: "Iterable[Sequence[str | Text]]") -> None:
    """Print rows under headings; omit the headings if all are empty. The last column folds if it is too wide."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(columns))
    for number, column in enumerate(columns, start=1):
        last = number == len(columns)
        table.add_column(column, overflow="fold", no_wrap=not last)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    if out.is_terminal:
        out.print(table)
        return
    with out.capture() as printed:
        out.print(table)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in printed.get().splitlines())


def summary_rows(summary: DomainScoreSummary) -> "list[tuple[str | Text, ...]]":
    """Make a row for each measured metric: mean, median, lowest, highest, change of the mean, and tiers."""
    rows: list[tuple[str | Text, ...]] = []
    for name in METRICS:
        metric = summary.metric(name)
        if metric.mean is None:
            continue
        numbers = [
            f"{number:.1f}" for number in (metric.mean, metric.median, metric.min, metric.max) if number is not None
        ]
        tiers = ", ".join(f"{count} {tier}" for tier, count in metric.distribution.items() if count)
        rows.append((name, *numbers, _change(summary, name), tiers))
    return rows


def _change(summary: DomainScoreSummary, name: Metric) -> str:
    """Format the change of the mean since the run before: an arrow and the difference."""
    trend = summary.trend
    if trend is None:
        return ""
    delta = {
        "accuracy": trend.accuracy_delta,
        "completeness": trend.completeness_delta,
        "attribution": trend.attribution_delta,
    }[name]
    if delta is None:
        return ""
    arrow = "→" if abs(delta) < 0.05 else "↑" if delta > 0 else "↓"
    return f"{arrow} {abs(delta):.1f}"


_MOST = 20
"""The number of statements of one kind to list."""


def print_result(result: AnalysisResult) -> None:
    """Print the scores with their evidence, the checklist of claims, and what the ground truth says about the rest."""
    if rows := _score_rows(result.scores):
        print_rows(("", "", "", ""), rows)
    if result.scores.completeness and result.scores.completeness.matches:
        _head("claims")
        for judged in result.scores.completeness.matches:
            _print_claim(judged)
    _print_statements(result)
    if console().is_terminal:
        _print_marked(result)
    for note in result.notes:
        console().print(f"note: {one_line(note, 400)}", soft_wrap=True)


def print_origin(stored: "StoredAnalysis") -> None:
    """Print who answered which query."""
    result = stored.result
    rows = (
        ("query", result.query or result.query_id),
        ("answer of", " ".join(part for part in (result.ai_provider, result.model) if part)),
        ("run", stored.run_id),
        ("analysed", f"{result.analyzed_at.astimezone():%Y-%m-%d %H:%M:%S}"),
        ("made from", result.previous_id),
    )
    print_rows(("", ""), [(name, one_line(text)) for name, text in rows if text])


def score_cell(score: float | None, tier: str = "") -> "Text":
    """Format a score in the colour of its tier."""
    from rich.text import Text

    return Text("-" if score is None else f"{score:3.0f}", style=TIER_STYLES.get(tier, ""))


def _score_rows(scores: Scores) -> "list[tuple[str | Text, ...]]":
    rows: list[tuple[str | Text, ...]] = []
    if accuracy := scores.accuracy:
        said = f"similarity {accuracy.calibrated:.2f} to the expected answer (measured: {accuracy.similarity:.2f})"
        rows.append(("accuracy", score_cell(accuracy.score, accuracy.tier), accuracy.tier, said))
    if completeness := scores.completeness:
        said = f"{completeness.total_found} of {completeness.total_required} required claims"
        said = f"{said}: does not pass" if not completeness.passed else said
        rows.append(("completeness", score_cell(completeness.score, completeness.tier), completeness.tier, said))
    if attribution := scores.attribution:
        named = [one_line(mention.matched_text, 60) for mention in attribution.mentions]
        said = f"names {', '.join(named[:3])}" if named else "the source is not named"
        said = f"{said} and {len(named) - 3} more" if len(named) > 3 else said
        rows.append(("attribution", score_cell(attribution.score, attribution.tier), attribution.tier, said))
    if scores.combined is not None:
        rows.append(("combined", score_cell(scores.combined), "", ""))
    if scores.support_rate is not None:
        rows.append(("supported", score_cell(scores.support_rate), "", "% of its statements are in the ground truth"))
    if scores.contradiction_rate:
        rows.append(("contradicted", score_cell(scores.contradiction_rate), "", "% contradict it, or a claim"))
    return rows


def _print_claim(judged: ClaimJudgement) -> None:
    """Print the claim with a mark, and below it the evidence for or against it."""
    from rich.text import Text

    mark, style, said = "✗", "red", "not found"
    if judged.found:
        mark, style, said = "✓", "green", f"“{_quoted(judged.matched_text)}” ({judged.similarity:.2f})"
    elif judged.conflicts:
        mark, style, said = "≠", "yellow", f"“{_quoted(judged.matched_text)}” ({_differences(judged.conflicts)})"
    if judged.judged and judged.judged.outcome:
        said = f"{said}, says {one_line(judged.judged.judge, 60)}"
    wanted = "" if judged.importance == "required" else f" ({judged.importance})"
    out = console()
    out.print(Text.assemble((mark, style), f" {one_line(judged.claim)}{wanted}"), soft_wrap=True)
    out.print(Text(f"    {said}", "dim" if judged.found else ""), soft_wrap=True)


def _quoted(text: str) -> str:
    return one_line(text, 120)


def _differences(conflicts: tuple[Conflict, ...]) -> str:
    """Format the differences between a statement and a claim: `number: 500 instead of 50`."""
    return "; ".join(
        conflict.kind
        if conflict.kind == "meaning"
        else f"{conflict.kind}: {one_line(conflict.said, 40) or 'none'} instead of {one_line(conflict.expected, 40)}"
        for conflict in conflicts[:3]
    )


def _head(title: str) -> None:
    from rich.text import Text

    console().print(Text(f"\n{title}", style="bold"))


def _print_statements(result: AnalysisResult) -> None:
    """Print the statements that may contradict the ground truth, and those it does not know."""
    said, out = result.feedback.claims, console()
    of_ground = [one for one in said.contradicts if one.source]
    if of_ground:
        _head("may contradict the ground truth")
        for one in of_ground[:_MOST]:
            out.print(f"  “{_quoted(one.statement)}” ({_differences(one.conflicts)})", soft_wrap=True)
    if said.not_in_ground_truth:
        _head("not in the ground truth (which need not be false)")
        for segment in said.not_in_ground_truth[:_MOST]:
            out.print(f"  “{_quoted(segment.text)}”", soft_wrap=True)
        if (more := len(said.not_in_ground_truth) - _MOST) > 0:
            out.print(f"  and {more} more")
    if result.feedback.highlights.highlights:
        out.print(f"\n{result.feedback.highlights.coverage_percent:.0f} % of the answer is supported.")


def _print_marked(result: AnalysisResult) -> None:
    """Print the answer with supported text in green and doubtful text in yellow; at most a few thousand characters."""
    from rich.text import Text

    most = 4_000
    shown = Text()
    doubtful = [one.position for one in result.feedback.claims.contradicts]
    supported = [one.response_range for one in result.feedback.highlights.highlights]
    _head("the answer")
    ends = {0, min(most, len(result.response))}
    ends |= {end for at in (*doubtful, *supported) for end in (at.start, at.end) if end < most}
    places = sorted(ends)
    for start, end in pairwise(places):
        style = "yellow" if _within(start, doubtful) else "green" if _within(start, supported) else ""
        for line in result.response[start:end].splitlines(keepends=True):
            text = one_line(line, most)
            lead = " " if line[:1].isspace() and text else ""
            tail = "\n" if line.endswith(("\n", "\r")) else " " if line[-1:].isspace() else ""
            shown.append(f"{lead}{text}{tail}", style)
    console().print(shown)


def _within(place: int, ranges: list[TextPosition]) -> bool:
    return any(at.start <= place < at.end for at in ranges)

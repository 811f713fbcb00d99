"""One analysis as text for readers."""

from itertools import pairwise
from typing import TYPE_CHECKING

from ralph_grounding.cli.printing import TIER_STYLES, console, one_line, print_rows
from ralph_grounding.result import AnalysisResult, ClaimJudgement, Conflict, Scores, TextPosition

if TYPE_CHECKING:
    from rich.text import Text

    from ralph_grounding.store.records import StoredAnalysis

__all__ = ["print_origin", "print_result", "score_cell"]

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
    return rows


def _print_claim(judged: ClaimJudgement) -> None:
    """Print the claim with a mark, and below it the evidence for or against it."""
    from rich.text import Text

    mark, style, said = "✗", "red", "not found"
    if judged.found:
        mark, style, said = "✓", "green", f"“{_quoted(judged.matched_text)}” ({judged.similarity:.2f})"
    elif judged.conflicts:
        mark, style, said = "≠", "yellow", f"“{_quoted(judged.matched_text)}” ({_differences(judged.conflicts)})"
    wanted = "" if judged.importance == "required" else f" ({judged.importance})"
    out = console()
    out.print(Text.assemble((mark, style), f" {one_line(judged.claim)}{wanted}"), soft_wrap=True)
    out.print(Text(f"    {said}", "dim" if judged.found else ""), soft_wrap=True)


def _quoted(text: str) -> str:
    return one_line(text, 120)


def _differences(conflicts: tuple[Conflict, ...]) -> str:
    """Format the differences between a statement and a claim: `number: 500 instead of 50`."""
    return "; ".join(
        f"{conflict.kind}: {one_line(conflict.said, 40) or 'none'} instead of {one_line(conflict.expected, 40)}"
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
        _head("not in the ground truth (which does not make it false)")
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
    borne_out = [one.response_range for one in result.feedback.highlights.highlights]
    _head("the answer")
    ends = {0, min(most, len(result.response))}
    ends |= {end for at in (*doubtful, *borne_out) for end in (at.start, at.end) if end < most}
    places = sorted(ends)
    for start, end in pairwise(places):
        style = "yellow" if _within(start, doubtful) else "green" if _within(start, borne_out) else ""
        for line in result.response[start:end].splitlines(keepends=True):
            text = one_line(line, most)
            lead = " " if line[:1].isspace() and text else ""
            tail = "\n" if line.endswith(("\n", "\r")) else " " if line[-1:].isspace() else ""
            shown.append(f"{lead}{text}{tail}", style)
    console().print(shown)


def _within(place: int, ranges: list[TextPosition]) -> bool:
    return any(at.start <= place < at.end for at in ranges)

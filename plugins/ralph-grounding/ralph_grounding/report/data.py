"""The content of a report, and texts made fit for display: deceptive or invalid characters are replaced."""

import re
from collections.abc import Iterable
from datetime import datetime
from heapq import nsmallest

from pydantic import BaseModel, Field

from ralph_grounding.comparison import Comparison
from ralph_grounding.result import AnalysisResult
from ralph_grounding.settings import TierSettings
from ralph_grounding.summary import DomainScoreSummary

__all__ = ["MOST_ANALYSES", "ReportData", "clipped", "number", "web_address", "worst"]

_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]{1,2000}", re.IGNORECASE)


def clipped(text: str, most: int = 300) -> str:
    """Return at most `most` characters, with an ellipsis if there are more. Controls, also of direction, become �."""
    shown = _UNSHOWN.sub("\ufffd", text[:most].replace("\r\n", "\n"))
    return f"{shown}…" if len(text) > most else shown


def number(value: float | None, digits: int = 0) -> str:
    """Format a score for readers; a dash if there is none. Minus signs are real ones."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def web_address(url: str) -> str:
    """Return the address if a link may lead there, else nothing: neither scripts nor files."""
    return url if _ADDRESS.fullmatch(url) else ""


MOST_ANALYSES = 50


class ReportData(BaseModel, frozen=True):
    """The content of a report; every part may be empty.

    Attributes:
        runs: the oldest first. The cards show the last one, the chart the last 60.
        analyses: those shown with their evidence, in the order of `worst`; at most 50.
        comparison: of providers or models, if there are two or more.
        tiers: the names of the mean scores.
    """

    title: str = "Answers against ground truth"
    generated_at: datetime
    runs: tuple[DomainScoreSummary, ...] = ()
    analyses: tuple[AnalysisResult, ...] = Field(default=(), max_length=MOST_ANALYSES)
    comparison: Comparison | None = None
    tiers: TierSettings = TierSettings()


def worst(analyses: Iterable[AnalysisResult], most: int = MOST_ANALYSES) -> tuple[AnalysisResult, ...]:
    """Return those with the lowest combined scores, the worst first, unscored ones last. Keeps at most 50."""
    return tuple(nsmallest(min(most, MOST_ANALYSES), analyses, key=_badness))


def _badness(analysis: AnalysisResult) -> tuple[bool, float, str]:
    combined = analysis.scores.combined
    return combined is None, 0.0 if combined is None else combined, analysis.query_id

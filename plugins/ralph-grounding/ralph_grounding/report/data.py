"""The content of a report."""

from collections.abc import Iterable
from datetime import datetime
from heapq import nsmallest

from pydantic import BaseModel, Field

from ralph_grounding.comparison import Comparison
from ralph_grounding.result import AnalysisResult
from ralph_grounding.settings import TierSettings
from ralph_grounding.summary import DomainScoreSummary

__all__ = ["MOST_ANALYSES", "ReportData", "worst"]

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

"""Scoring of answers against ground truth: accuracy, completeness and attribution, each with its evidence.

Each name is imported on first use, because Ralph looks at the plug-in on every start.
"""

from typing import TYPE_CHECKING

from ralph.plugins import lazy_exports

if TYPE_CHECKING:
    from ralph_grounding.analyzer import GroundingAnalyzer
    from ralph_grounding.batch import BatchResult, run_batch
    from ralph_grounding.comparison import compare
    from ralph_grounding.errors import NoGroundTruthError, ProviderError
    from ralph_grounding.filters import parse_filter
    from ralph_grounding.ground_truth import GroundTruth, Page
    from ralph_grounding.ground_truth.chunks import page_of_text
    from ralph_grounding.ground_truth.claims_file import read_claims
    from ralph_grounding.ground_truth.reading import read_ground_truth
    from ralph_grounding.judging.asking import Judging
    from ralph_grounding.judging.base import Judge, JudgeQuestion, Verdict
    from ralph_grounding.judging.choose import judge_for
    from ralph_grounding.loop.verifier import GroundingVerifier
    from ralph_grounding.materials import AIResponse, ExpectedAnswer, ExpectedClaim, Query
    from ralph_grounding.queries import make_queries, read_queries
    from ralph_grounding.report import ReportData, render_report
    from ralph_grounding.result import AnalysisResult
    from ralph_grounding.settings import GroundingKeys, GroundingSettings, JudgeSettings
    from ralph_grounding.similarity.base import Similarity, SimilarityProvider
    from ralph_grounding.similarity.lexical import LexicalProvider
    from ralph_grounding.store import open_grounding_store
    from ralph_grounding.store.records import BatchError


__all__ = [
    "AIResponse",
    "AnalysisResult",
    "BatchError",
    "BatchResult",
    "ExpectedAnswer",
    "ExpectedClaim",
    "GroundTruth",
    "GroundingAnalyzer",
    "GroundingKeys",
    "GroundingSettings",
    "GroundingVerifier",
    "Judge",
    "JudgeQuestion",
    "JudgeSettings",
    "Judging",
    "LexicalProvider",
    "NoGroundTruthError",
    "Page",
    "ProviderError",
    "Query",
    "ReportData",
    "Similarity",
    "SimilarityProvider",
    "Verdict",
    "compare",
    "judge_for",
    "make_queries",
    "open_grounding_store",
    "page_of_text",
    "parse_filter",
    "read_claims",
    "read_ground_truth",
    "read_queries",
    "render_report",
    "run_batch",
]

__getattr__, __dir__ = lazy_exports(__name__)

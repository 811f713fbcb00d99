"""What a reply says, found with its evidence: completion, certainty, errors, tests, progress, going in circles.

The detectors are pure functions from one reading of the text to signals; `ResponseAnalyzer` runs them and draws the
conclusions. A language is a module of `ralph.analysis.lexicon`.
"""

from ralph.analysis.analyzer import (
    ResponseAnalyzer,
    analyze_text,
    calculate_confidence,
    detect_completion,
    extract_work_summary,
)
from ralph.analysis.detectors import DETECTORS, Detector
from ralph.analysis.expectations import expectation_messages
from ralph.analysis.lexicon import Keyword
from ralph.analysis.report import to_json
from ralph.analysis.result import (
    Analysis,
    AnalysisContext,
    Analyzer,
    Completion,
    Coverage,
    Evidence,
    Metrics,
    Past,
    Stuck,
)
from ralph.analysis.signals import Reply, Signal, Signals
from ralph.analysis.stuck import detect_stuck_loop

__all__ = [
    "DETECTORS",
    "Analysis",
    "AnalysisContext",
    "Analyzer",
    "Completion",
    "Coverage",
    "Detector",
    "Evidence",
    "Keyword",
    "Metrics",
    "Past",
    "Reply",
    "ResponseAnalyzer",
    "Signal",
    "Signals",
    "Stuck",
    "analyze_text",
    "calculate_confidence",
    "detect_completion",
    "detect_stuck_loop",
    "expectation_messages",
    "extract_work_summary",
    "to_json",
]

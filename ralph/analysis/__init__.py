"""The analysis of replies: completion, certainty, errors, tests, progress and circles, each with its evidence.

The detectors are pure functions from one reading of the text to signals; `ResponseAnalyzer` runs them and draws the
conclusions. A language is a module of `ralph.analysis.lexicon`.

Each name is imported when it is first used: code that only needs the form of an analysis does not load the detectors.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.analysis.analyzer import (
        ResponseAnalyzer,
        SeveralAnalyzers,
        analyze_text,
        calculate_confidence,
        detect_completion,
        extract_work_summary,
    )
    from ralph.analysis.detectors import DETECTORS, Detector
    from ralph.analysis.lexicon import Keyword
    from ralph.analysis.metrics import expectation_messages
    from ralph.analysis.result import (
        Analysis,
        AnalysisContext,
        Analyzer,
        CompletionSignal,
        Coverage,
        Evidence,
        Further,
        Metrics,
        Opinion,
        Past,
        Reply,
        Signal,
        Signals,
        Stuck,
        to_json,
    )
    from ralph.analysis.stuck import detect_stuck_loop

__all__ = [
    "DETECTORS",
    "Analysis",
    "AnalysisContext",
    "Analyzer",
    "CompletionSignal",
    "Coverage",
    "Detector",
    "Evidence",
    "Further",
    "Keyword",
    "Metrics",
    "Opinion",
    "Past",
    "Reply",
    "ResponseAnalyzer",
    "SeveralAnalyzers",
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

__getattr__, __dir__ = lazy_exports(__name__)

"""The analysis of replies: completion, certainty, errors, tests, progress and circles, each with its evidence.

The detectors are pure functions from one reading of the text to signals; `ResponseAnalyzer` runs them and draws the
conclusions. A language is a module of `ralph.analysis.lexicon`.

Each name is imported when it is first used: code that only needs the form of an analysis does not load the detectors.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.analysis.analyzer import ResponseAnalyzer as ResponseAnalyzer
    from ralph.analysis.analyzer import SeveralAnalyzers as SeveralAnalyzers
    from ralph.analysis.analyzer import analyze_text as analyze_text
    from ralph.analysis.analyzer import calculate_confidence as calculate_confidence
    from ralph.analysis.analyzer import detect_completion as detect_completion
    from ralph.analysis.analyzer import extract_work_summary as extract_work_summary
    from ralph.analysis.detectors import DETECTORS as DETECTORS
    from ralph.analysis.detectors import Detector as Detector
    from ralph.analysis.lexicon import Keyword as Keyword
    from ralph.analysis.metrics import expectation_messages as expectation_messages
    from ralph.analysis.result import Analysis as Analysis
    from ralph.analysis.result import AnalysisContext as AnalysisContext
    from ralph.analysis.result import Analyzer as Analyzer
    from ralph.analysis.result import CompletionSignal as CompletionSignal
    from ralph.analysis.result import Coverage as Coverage
    from ralph.analysis.result import Evidence as Evidence
    from ralph.analysis.result import Further as Further
    from ralph.analysis.result import Metrics as Metrics
    from ralph.analysis.result import Opinion as Opinion
    from ralph.analysis.result import Past as Past
    from ralph.analysis.result import Reply as Reply
    from ralph.analysis.result import Signal as Signal
    from ralph.analysis.result import Signals as Signals
    from ralph.analysis.result import Stuck as Stuck
    from ralph.analysis.result import to_json as to_json
    from ralph.analysis.stuck import detect_stuck_loop as detect_stuck_loop

__getattr__, __dir__ = lazy_exports(__name__)

WINDOW = 5
"""Iterations that are searched for repetition, by default."""
REPEATS = 3
"""The repetitions in them that are a circle, by default."""

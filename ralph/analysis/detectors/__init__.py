"""The detectors: each finds one kind of thing in a reply, with its place and its weight.

`DETECTORS` are the built-in ones, in order; `ResponseAnalyzer(detectors=…)` takes further ones, which are the same
kind of function.
"""

from ralph.analysis.detectors.accounts import detect_accounts
from ralph.analysis.detectors.achievements import detect_achievements
from ralph.analysis.detectors.announcements import detect_announcements
from ralph.analysis.detectors.base import Detector
from ralph.analysis.detectors.blocks import detect_blocks
from ralph.analysis.detectors.boxes import detect_boxes
from ralph.analysis.detectors.certainty import detect_certainty
from ralph.analysis.detectors.claims import detect_claims
from ralph.analysis.detectors.faults import detect_faults
from ralph.analysis.detectors.idleness import detect_idleness
from ralph.analysis.detectors.keywords import detect_keywords
from ralph.analysis.detectors.leftovers import detect_leftovers
from ralph.analysis.detectors.limits import detect_limits
from ralph.analysis.detectors.percentages import detect_percentages
from ralph.analysis.detectors.questions import detect_questions
from ralph.analysis.detectors.reports import detect_reports
from ralph.analysis.detectors.shares import detect_shares
from ralph.analysis.detectors.statuses import detect_status
from ralph.analysis.detectors.testruns import detect_tests
from ralph.analysis.detectors.wordings import detect_wording
from ralph.analysis.detectors.work import detect_work

__all__ = ["DETECTORS", "OF_CLAIMS", "Detector"]

DETECTORS: tuple[Detector, ...] = (
    detect_status,
    detect_boxes,
    detect_tests,
    detect_announcements,
    detect_keywords,
    detect_claims,
    detect_achievements,
    detect_reports,
    detect_leftovers,
    detect_shares,
    detect_accounts,
    detect_percentages,
    detect_faults,
    detect_certainty,
    detect_work,
    detect_idleness,
    detect_limits,
    detect_questions,
    detect_blocks,
    detect_wording,
)
"""The built-in detectors, in the order in which they run."""

OF_CLAIMS: frozenset[Detector] = frozenset((
    detect_announcements,
    detect_claims,
    detect_achievements,
    detect_reports,
    detect_leftovers,
    detect_shares,
    detect_accounts,
    detect_wording,
))
"""Those that look for claims beyond the keywords, and for what speaks against them. Where `EXIT_SIGNAL: false` vetoes
every claim made by words they are not asked."""

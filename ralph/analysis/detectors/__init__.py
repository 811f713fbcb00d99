"""The detectors: functions from a reply to signals, each for one kind of thing.

`DETECTORS` has the built-in ones in order; `ResponseAnalyzer(detectors=…)` takes further ones of the same kind.
"""

from collections.abc import Callable, Iterable

from ralph.analysis.detectors.activity import (
    detect_announcements,
    detect_certainty,
    detect_idleness,
    detect_questions,
    detect_work,
)
from ralph.analysis.detectors.blockers import detect_blockers
from ralph.analysis.detectors.claims import (
    detect_achievements,
    detect_claims,
    detect_keywords,
    detect_reports,
    detect_status,
)
from ralph.analysis.detectors.failures import detect_errors, detect_limits
from ralph.analysis.detectors.implicit_claims import detect_accounts, detect_wording
from ralph.analysis.detectors.open_work import detect_open_work
from ralph.analysis.detectors.progress import detect_boxes, detect_percentages, detect_shares
from ralph.analysis.detectors.tests import detect_tests
from ralph.analysis.result import Reply, Signal

__all__ = ["DETECTORS", "OF_CLAIMS", "Detector"]

Detector = Callable[[Reply], Iterable[Signal]]
"""A function that finds signals of one or a few kinds in a reply. It is pure, takes time linear in the length of the
text, and sees the signals of the detectors before it."""

DETECTORS: tuple[Detector, ...] = (
    detect_status,
    detect_boxes,
    detect_tests,
    detect_announcements,
    detect_keywords,
    detect_claims,
    detect_achievements,
    detect_reports,
    detect_open_work,
    detect_shares,
    detect_accounts,
    detect_percentages,
    detect_errors,
    detect_certainty,
    detect_work,
    detect_idleness,
    detect_limits,
    detect_questions,
    detect_blockers,
    detect_wording,
)
"""The built-in detectors, in the order in which they run."""

OF_CLAIMS: frozenset[Detector] = frozenset((
    detect_announcements,
    detect_claims,
    detect_achievements,
    detect_reports,
    detect_open_work,
    detect_shares,
    detect_accounts,
    detect_wording,
))
"""The detectors of claims beyond the keywords, and of what speaks against them. They do not run if `EXIT_SIGNAL: false`
vetoes every claim made by words."""

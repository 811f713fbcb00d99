"""The detectors: functions from a reply to signals, each for one kind of thing.

`DETECTORS` has the built-in ones in order; `ResponseAnalyzer(detectors=…)` takes further ones of the same kind.
"""

from collections.abc import Callable, Iterable

from ralph.analysis.detectors import (
    activity,
    blockers,
    claims,
    failures,
    implicit_claims,
    open_work,
    progress,
    tests,
    wording,
)
from ralph.analysis.result import Reply, Signal

__all__ = ["DETECTORS", "OF_CLAIMS", "Detector"]

Detector = Callable[[Reply], Iterable[Signal]]
"""A function that finds signals of one or a few kinds in a reply. It is pure, takes time linear in the length of the
text, and sees the signals of the detectors before it."""

DETECTORS: tuple[Detector, ...] = (
    claims.detect_status,
    progress.detect_boxes,
    tests.detect_tests,
    activity.detect_announcements,
    claims.detect_keywords,
    claims.detect_claims,
    claims.detect_achievements,
    claims.detect_reports,
    open_work.detect_open_work,
    progress.detect_shares,
    implicit_claims.detect_accounts,
    progress.detect_percentages,
    failures.detect_errors,
    activity.detect_certainty,
    activity.detect_work,
    activity.detect_idleness,
    failures.detect_limits,
    activity.detect_questions,
    blockers.detect_blockers,
    wording.detect_wording,
)
"""The built-in detectors, in the order in which they run."""

OF_CLAIMS: frozenset[Detector] = frozenset((
    activity.detect_announcements,
    claims.detect_claims,
    claims.detect_achievements,
    claims.detect_reports,
    open_work.detect_open_work,
    progress.detect_shares,
    implicit_claims.detect_accounts,
))
"""The detectors of claims beyond the keywords, and of what speaks against them. They do not run if `EXIT_SIGNAL: false`
vetoes every claim made by words."""

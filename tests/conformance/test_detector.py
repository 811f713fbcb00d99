"""Every built-in detector does what a detector does."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import pytest

from ralph.analysis import DETECTORS, Detector, Reply, ResponseAnalyzer, Signals
from ralph.status import parse_status
from ralph.testing import DetectorConformance
from ralph.types.output import Output

TELLING = {
    "detect_status": "---RALPH_STATUS---\nEXIT_SIGNAL: true\nSTATUS: COMPLETE\n---END_RALPH_STATUS---",
    "detect_boxes": "- [x] the parser\n- [ ] the printer",
    "detect_tests": "I ran pytest: 12 passed, 1 failed in 0.3 s.",
    "detect_announcements": "The parser is done. Next, I'll write the printer.",
    "detect_keywords": "The task is complete.",
    "detect_claims": "All acceptance criteria are met.",
    "detect_achievements": "Implemented the parser.",
    "detect_reports": "## Summary\n\nThe printer prints.\n\n## Files changed\n- printer.py\n\n## Tests\n- 12 passed",
    "detect_open_work": "The parser works. Remaining work: the printer.",
    "detect_shares": "2 of 5 tasks are done.",
    "detect_accounts": "Added `--json` to the printer. Tests: `pytest -q` → 221 passed",
    "detect_percentages": "About 80% complete.",
    "detect_errors": "Error: the file is missing.",
    "detect_certainty": "I am not sure, maybe it works.",
    "detect_work": "I modified printer.py and fixed 2 errors.",
    "detect_idleness": "There was nothing to do.",
    "detect_limits": "You've hit your usage limit. It resets at 3pm.",
    "detect_questions": "Which database should I use?",
    "detect_blockers": "I'm blocked: I cannot proceed without a password.",
    "detect_wording": "The printer has been rewritten, and every criterion is met. Lines that are too long are broken "
    "and reported at the end, and the whole book goes through in nine seconds. Typecheck and all tests pass.",
}
"""A reply in which each finds something."""


class TestBuiltIn(DetectorConformance):
    @pytest.fixture(params=DETECTORS, ids=lambda detector: detector.__name__)
    def detector(self, request: pytest.FixtureRequest) -> Detector:
        return request.param

    @pytest.fixture
    def telling(self, request: pytest.FixtureRequest, detector: Detector) -> str:
        return TELLING[request.node.callspec.id]

    @pytest.fixture
    def read(self, detector: Detector) -> Callable[[str], Reply]:
        return partial(_read, detector)


@cache
def _read(detector: Detector, text: str) -> Reply:
    """A reply as the detectors before this one leave it."""
    reply = ResponseAnalyzer().detect(Output(text=text), parse_status(text))[0]
    reply = replace(reply, signals=Signals())
    for earlier in DETECTORS[: DETECTORS.index(detector)]:
        reply.signals.add(earlier(reply))
    return reply

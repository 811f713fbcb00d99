"""Test runs reported or shown in a reply: how the last one ended, and whether there is nothing else in the reply."""

import re
from collections.abc import Iterable, Iterator

from ralph.analysis.detectors.testclosing import Report
from ralph.analysis.detectors.testcounts import last_report
from ralph.analysis.detectors.testonly import only_tests
from ralph.analysis.detectors.testshapes import runner_lines
from ralph.analysis.detectors.uncoloured import is_coloured, uncoloured
from ralph.analysis.signals import AGAINST, Reply, Signal
from ralph.analysis.text import Span
from ralph.system.text import pattern

__all__ = ["detect_tests"]

_PASSING, _EXCUSED, _ONLY = 25, -20, -60
_LINE = 200

_BAD_LINE = pattern(
    r"""\s{0,12}(?:FAIL(?:ED)?[\s:] | ---\sFAIL | not\sok\s | [✗✕✘×]\s | test\s\S.{0,200}\sFAILED$ | \(fail\)
    |\[FAIL | Some\stests\sfailed | \*\*\sTEST\sFAILED | evaluation\sfailed | Result:\sFAIL | TEST\sRUN\sFAILED
    |Test\sRun\sFailed | There\swere\sfailing\stests | .{1,200}[\s:.](?:FAIL(?:ED)?|\|\sFAIL\s\|)$)""",
    re.VERBOSE,
)
_GOOD_LINE = pattern(
    r"""\s{0,12}(?:PASS(?:ED)?[\s:] | ---\sPASS | ok\s(?!.{0,200}\[no\s) | [✓✔√]\s | test\s\S.{0,200}\sok$
    |\(pass\)\s | \[PASS\] | (?i:\W{0,80}all\stests\spassed) | \*\*\sTEST\sSUCCEEDED | congratulations
    |Result:\sPASS | TEST\sRUN\sPASSED | Test\sRun\sSuccessful | All\stests\ssuccessful
    |.{1,200}[\s:.](?:PASS(?:ED)?|\|\sPASS\s\|)$)""",
    re.VERBOSE,
)


def detect_tests(reply: Reply) -> Iterable[Signal]:
    """The last report on tests: `tests_passed` and `tests_failed` with their counts where they are told, `test_run`
    with the result, and `test_only` where the reply is test output and nothing else.

    Tests pass where some have passed and none has failed.
    """
    reading = reply.reading
    shown = uncoloured(reading.text) if is_coloured(reading.text) else None
    text, lower = (shown.text, shown.text.lower()) if shown else (reading.text, reading.lower)
    begins = runner_lines(text)
    report = last_report(lower) or (_uncounted(text, begins) if begins else None)
    if not report and not begins:
        return ()
    span = report.span if report else (0, 0)
    return _signals(report, shown.span(*span) if shown else span, only=bool(begins) and only_tests(text, begins))


def _signals(report: Report | None, span: Span, *, only: bool) -> Iterator[Signal]:
    if report:
        yield Signal("test_run", "", *span, *_judged(report))
        if report.passed:
            yield Signal("tests_passed", "", *span, why=f"{report.passed} tests passed.", amount=report.passed)
        if report.failed:
            yield Signal("tests_failed", "", *span, why=f"{report.failed} tests failed.", amount=report.failed)
    if only:
        yield Signal("test_only", weight=_ONLY, why="The reply is test output and nothing else.")


def _judged(report: Report) -> tuple[float, str]:
    """What the report weighs, and why."""
    if report.passing:
        return _PASSING, "Tests pass."
    if not report.failed:
        return 0, "No test is told to have passed."
    return (_EXCUSED, "Known tests fail.") if report.excused else (AGAINST, "Tests fail.")


def _uncounted(text: str, begins: set[int]) -> Report | None:
    """The last run of which only single results are shown: one that failed is enough."""
    good: Span | None = None
    fence = max(text.rfind("\n```", 0, max(begins)), text.rfind("\n~~~", 0, max(begins)))
    for start in sorted((start for start in begins if start > fence), reverse=True):
        line = text[start : start + _LINE].partition("\n")[0].rstrip()
        span = start + len(line) - len(line.lstrip()), start + len(line)
        if _BAD_LINE.match(line):
            return Report(None, 1, span)
        if not good and _GOOD_LINE.match(line):
            good = span
    return Report(None, None, good) if good else None

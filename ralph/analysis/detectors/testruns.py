"""Test runs reported or shown in a reply: how they ended, and whether there is nothing else in it.

Knows the shapes of jest, vitest, mocha, pytest, unittest, go test, cargo test, TAP, and plain words.
"""

import re
from collections import deque
from collections.abc import Iterable

from ralph.analysis.anchored import Anchored
from ralph.analysis.scope import Scope
from ralph.analysis.signals import AGAINST, Reply, Signal
from ralph.analysis.text import Reading, Span

__all__ = ["detect_tests"]

_LINES = 1000
"""Lines looked at from the beginning, and as many from the end."""

_KIND = r"(?:(?:unit|integration|new|existing|total|of)\s)?(?:tests?|specs?|test\scases?|examples?)?\s?"
_COUNT = Anchored(
    (*"0123456789", "pass", "fail"),
    rf"""(?<![\w.])(?P<n>\d{{1,7}})(?:/\d{{1,7}})?\s{_KIND}(?:are\s|now\s|have\s)?
            (?P<how>pass(?:ed|ing|es)?|fail(?:ed|ing|ures?|s)?)\b
        |\b(?P<how_first>passed|passing|failed|failures|fail|pass)\s?[:=]\s?(?P<n_last>\d{{1,7}})\b
        |\b(?P<passes>pass(?:es|ed)?):?\s(?:all\s)?(?P<n_passes>\d{{1,7}})\s(?:tests?|specs?)\b""",
)
_SUITES = re.compile(r"test (?:suites?|files?)\W")
_RAN = re.compile(r"^Ran (\d{1,7}) tests? in [\d.]+s\s{1,4}(OK|FAILED)", re.MULTILINE)
_BAD_LINE = re.compile(r"^[ \t]{0,8}(?:FAIL(?:ED)?\b|--- FAIL|✗|✕|not ok\b|test result: FAILED)", re.MULTILINE)
_GOOD_LINE = re.compile(r"^[ \t]{0,8}(?:PASS\b|--- PASS|✓|✔|ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\)))", re.MULTILINE)

_TEST_LINE = re.compile(
    r"""\s{0,12}(?:
      (?:PASS|FAIL|SKIP)(?:ED)?\b(?:\s|$|:) | --- (?:PASS|FAIL|SKIP): | ===\sRUN | ===\s(?:PAUSE|CONT)
    | (?:ok|FAIL|\?)[ \t]+[\w./-]+[ \t]+(?:[\d.]+s|\(cached\)|\[no\stest) | exit\sstatus\s\d
    | ={3,} | _{5,}\s | -{5,} | ⎯{3,} | collected\s\d | platform\s\w+\s-- | rootdir: | plugins: | cachedir:
    | \S{1,200}::\S{1,200} | \S{1,200}\.(?:py|js|ts|tsx|jsx|rb|go|rs)[ \t]+[.FEsxX]+(?:\s|$)
    | Tests?\sSuites?: | Test\sFiles\s | Tests:?\s | Snapshots: | Time:\s | Duration\s | Start\sat\s | Ran\s(?:all|\d)
    | RUN\s+v\d | running\s\d{1,7}\stests? | test\s[\w:]+\s\.\.\. | test\sresult: | Doc-tests
    | Running\s(?:unittests|tests)
    | [✓✔✗✕❯×√]\s | \d{1,7}\s(?:passing|failing|pending) | (?:not\s)?ok\s\d | \d\.\.\d | OK$ | FAILED\s\(
    | (?:(?:\$|>)\s)?(?:npm|npx|pnpm|yarn|pytest|cargo|go|make|jest|vitest)\s(?:run\s)?test\b | Exit\scode\s\d
    )""",
    re.VERBOSE,
)
_TEST_WORDS = re.compile(
    r"\s{0,12}(?:[-*]\s)?(?:\w{1,20}:?\s){0,3}\d{1,7}\s(?:tests?|specs?)\s(?:passed|failed|passing|failing)",
    re.IGNORECASE,
)
_REPORT_LINE = re.compile(r"#{1,6}\s|\s{0,4}(?:[-*]\s\*\*|\d{1,2}\.\s\*\*)")
_FENCE = re.compile(r"\s{0,8}(?:```|~~~)")


def detect_tests(reply: Reply) -> Iterable[Signal]:
    """The last report on tests: `tests_passed` and `tests_failed` with their counts where they are told, `test_run`
    with the result, and `test_only` where the reply is test output and nothing else.
    """
    reading = reply.reading
    passed, failed, span = _counted(reading.lower)
    if passed is None and not failed:
        passed, failed, span = _uncounted(reading.text)
    if span[1]:
        passing = not failed and passed != 0
        why, weight = ("Tests pass.", 25) if passing else ("Tests fail.", AGAINST if failed else 0)
        yield Signal("test_run", "", *span, weight, why)
    if passed:
        yield Signal("tests_passed", "", *span, why=f"{passed} tests passed.", amount=passed)
    if failed:
        yield Signal("tests_failed", "", *span, why=f"{failed} tests failed.", amount=failed)
    if _only_tests(reading, reply.scope):
        yield Signal("test_only", weight=-60, why="The reply is test output and nothing else.")


def _counted(lower: str) -> tuple[int | None, int, Span]:
    """The last number of passed tests, and of failed ones unless they belong to an earlier report."""
    passed: re.Match[str] | None = None
    failed: re.Match[str] | None = None
    for match in _COUNT.finditer(lower):
        if _SUITES.search(lower, _line_start(lower, match.start()), match.start()):
            continue
        if (match["how"] or match["how_first"] or "passes").startswith("pass"):
            passed = match
        else:
            failed = match
    if failed and passed and failed.end() < _line_start(lower, passed.start()) - 200:
        failed = None
    spans = [match.span() for match in (passed, failed) if match]
    span = (min(start for start, _ in spans), max(end for _, end in spans)) if spans else (0, 0)
    return _number(passed), _number(failed) or 0, span


def _uncounted(text: str) -> tuple[int | None, int, Span]:
    """The same from lines that give no total."""
    if ran := _last(_RAN, text):
        return (int(ran[1]), 0, ran.span()) if ran[2] == "OK" else (None, 1, ran.span())
    if bad := _last(_BAD_LINE, text):
        return None, 1, bad.span()
    good = _last(_GOOD_LINE, text)
    return None, 0, good.span() if good else (0, 0)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def _number(match: re.Match[str] | None) -> int | None:
    return int(match["n"] or match["n_last"] or match["n_passes"]) if match else None


def _line_start(text: str, position: int) -> int:
    """Where the line begins, or eighty characters back."""
    floor = max(0, position - 80)
    return max(text.rfind("\n", floor, position) + 1, floor)


def _only_tests(reading: Reading, scope: Scope) -> bool:
    """Whether nothing but the output of tests is there: most lines are of that kind and none reports work, or it
    begins as a test run does and ends without a report.
    """
    lines = [line for line in _sampled(reading.text) if line.strip() and not _FENCE.match(line)]
    kinds = [bool(_TEST_LINE.match(line) or _TEST_WORDS.match(line)) for line in lines]
    if not any(kinds):
        return False
    reported = any(_REPORT_LINE.match(line) for line in lines)
    if any(kinds[:3]) and not reported and sum(kinds) >= 3:
        return any(kinds[-5:])
    return sum(kinds) * 2 >= len(kinds) and not reported and not scope.of("work")


def _sampled(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if len(lines) <= 2 * _LINES else lines[:_LINES] + lines[-_LINES:]

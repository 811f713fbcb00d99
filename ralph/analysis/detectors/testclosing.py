"""The lines that test runners close a run with: how many tests passed, and how many failed.

Suites, files, steps and assertions are not tests.
"""

import re
from typing import NamedTuple

from ralph.analysis.text import Span
from ralph.pattern import pattern

__all__ = ["SUMMED", "Found", "Report", "closing", "excused"]


class Report(NamedTuple):
    """What a report says.

    Attributes:
        passed: how many tests; None where that is not told.
        failed: how many tests; None where that is not told. One stands for a run that failed without a number.
        span: where it stands.
        excused: the failures are told to be known, or to have nothing to do with the work.
    """

    passed: int | None
    failed: int | None
    span: Span
    excused: bool = False

    @property
    def passing(self) -> bool:
        """Something has passed and nothing failed."""
        return not self.failed and self.passed != 0 and (self.passed is not None or self.failed is None)


class Found(NamedTuple):
    """One line of a report.

    Attributes:
        complete: it says everything: what is not in it is not so.
        shape: equal for lines of one kind; empty for the agent's words.
    """

    report: Report
    complete: bool = False
    shape: str = ""


_N = r"(?<![\w.])\d{1,7}"
_COUNTED = rf"{_N}\s(?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests\spassed)"
_UNITS = "doctests?|propert(?:y|ies)|tests?|runs?|examples?|specs?|scenarios?|test\\scases?"
_BEFORE = pattern(r"(?:\[(?:info|error|warning)\]\s|\S{1,60}:test\S{0,30}:\s)?[\s=*─│|#ℹ✓✔✖✘×✅❌🎉-]{0,200}")
"""What a line of a report may begin with."""
_COMPLETE = pattern(
    rf"""(?:
      (?P<pytest>{_COUNTED}(?:,\s{_COUNTED}){{0,9}}\sin\s[\d.] | no\stests\sran\b)
    | (?P<jest>tests:?\s{{1,12}}(?:{_N}\s(?:failed|passed|skipped|todo|total|pending|risky|incomplete)|no\stests))
    | (?P<cargo>test\sresult:\s) | (?P<forge>suite\sresult:\s) | (?P<forge_total>ran\s{_N}\stest\ssuites?\b)
    | (?P<junit>tests\srun:\s?\d) | (?P<phpunit>ok\s\({_N}\stests?,|tests:\s{_N},\sassertions:)
    | (?P<xunit>(?:{_N}\s(?:{_UNITS}|assertions?),\s){{1,4}}{_N}\s(?:failures?|passed|failed|errors?))
    | (?P<minitest>{_N}\s(?:runs|tests),\s{_N}\sassertions,)
    | (?P<gradle>{_N}\stests?\scompleted\b) | (?P<gotestsum>done\s{_N}\stests?)
    | (?P<swift>executed\s{_N}\stests?,\swith) | (?P<karma>(?:[a-z][^\n:]{{0,100}}:\s)?executed\s{_N}\sof\s{_N})
    | (?P<dotnet>(?:passed|failed|skipped)!\s{{1,4}}-\sfailed:|test\ssummary:\stotal:)
    | (?P<nextest>summary\s\[) | (?P<ctest>\d{{1,3}}%\stests\spassed,)
    | (?P<catch>all\stests\spassed\s\({_N}|(?:\[doctest\]\s)?test\scases:\s{{1,8}}\d)
    | (?P<deno>(?:ok|failed)\s\|\s{_N}\spassed) | (?P<testthat>\[\sfail\s{_N}\s\|\swarn)
    | (?P<flutter>\d\d:\d\d\s\+\d)
    | (?P<scala>tests:\ssucceeded\s\d|(?:passed|failed):\stotal\s\d) | (?P<nunit>test\scount:\s\d|tests\spassed:\s\d)
    | (?P<busted>{_N}\ssuccess(?:es)?\s/) | (?P<eunit>all\s{_N}\stests?\spassed|failed:\s{_N}\.\s{{1,4}}skipped:)
    | (?P<ginkgo>(?:success|fail)!\s--\s\d) | (?P<cucumber>{_N}\sscenarios?\s(?:\(\d|passed,))
    | (?P<zig>build\ssummary:\s[^\n]{{0,80}}?;\s(?=\d{{1,7}}/))
    | (?P<alcotest>test\ssuccessful\sin\s[^\n]{{0,30}}?\s(?=\d{{1,7}}\stests\srun))
    )""",
    re.VERBOSE,
)
_PARTIAL = pattern(
    rf"""(?:
      (?P<mocha>{_N}\s(?:passing|failing)(?:\s\(|$)) | (?P<playwright>{_N}\s(?:passed\s\([\d.]|failed$|interrupted$))
    | (?P<node>(?:pass|fail|passed|failed)\s\d{{1,7}}$) | (?P<bun>{_N}\s(?:pass|fail)$)
    | (?P<gtest>\[\s\s(?:passed|failed)\s\s\]\s{_N}\stests?\b|{_N}\sfailed\stests?$)
    | (?P<ava>{_N}\stests?\s(?:passed|failed)$)
    | (?P<listed>(?:passed|failed|passing|failing|passes|failures|errors|ok|fail):\s{{1,20}}\d{{1,7}}[\s│|]{{0,80}}$)
    | (?P<total>total:\s{_N}\s(?:success|failed))
    )""",
    re.VERBOSE,
)
SUMMED = {"cargo", "dotnet", "forge"}
"""Runners that report on every binary or project by itself."""
_OUTCOME = pattern(
    r"""[ \t]{0,12}(?:
    ran\s(?P<total>\d{1,7})\stests?\sin\s[^\n]{1,40}\s{1,4}(?P<how>ok|failed)(?:\s\((?P<parts>[^)\n]{0,100})\))?
    |files=\d{1,6},\stests=(?P<tests>\d{1,7})[^\n]{0,200}\nresult:\s(?P<result>pass|fail)
    |(?:[✔✘]\s{1,3})?test\srun\swith\s(?P<swift>\d{1,7})\stests?(?:\sin\s\d{1,6}\ssuites?)?\s(?P<ended>passed|failed)
    |ran\s(?P<run>\d{1,7})\stests\scontaining\s\d{1,7}\sassertions\.\n(?P<faults>\d{1,7}\sfailures,\s\d{1,7}\serrors)
    |ran:\s(?P<ounit>\d{1,7})\stests\sin:?\s[^\n]{1,60}\n(?P<ounit_how>ok|failed)(?P<cases>[^\n]{0,150}))""",
    re.VERBOSE,
)
"""Reports that take more than one line."""
_OTHERS = "suites?|files?|asserts?|assertions?|snapshots?|steps?|features?|rules?"
_OTHER = pattern(
    rf"""(?:test\s(?:suites?|files?)|{_OTHERS})[:\s]\s{{0,12}}\d
    |{_N}\s(?:test\s(?:suites?|files?)|{_OTHERS})\s(?:\(|passed|failed)
    |(?:failed|ok)\s\((?:failures|errors|skipped|expected|unexpected)
    |{_N}\sfailures,\s{_N}\serrors\. | failed:\scases:""",
    re.VERBOSE,
)
"""Lines that count something else than tests, or that belong to a report that began above."""

_PASSED = "passed|passing|passes|pass|succeeded|success(?:es)?"
_FAILED = "failed|failing|failures?|fail|errors?|timed\\sout"
_SKIPPED = "skipped|skips?|pending|excluded|ignored|disabled|omitted|todo|canceled|cancelled|inconclusive|incomplete"
_NUMBER = pattern(
    rf"""(?:executed|ran)\s(?P<of>\d{{1,7}})\sof\s\d{{1,7}}(?:\s[a-z]{{1,8}})?
    |out\sof\s(?P<out>\d{{1,7}})
    |(?P<n>{_N})(?:/(?P<whole>\d{{1,7}}))?\s{{1,4}}(?:(?:{_UNITS})\s)?(?P<what>{_PASSED}|{_FAILED}|{_SKIPPED}|{_UNITS}|total)\b
    |(?P<word>{_PASSED}|{_FAILED}|{_SKIPPED}|{_UNITS}|total|tests\srun|test\scount|cases)\s?[:=]?\s{{0,12}}(?P<m>\d{{1,7}}\b)
        (?!\s{{1,4}}[a-z]+(?:[\s,;|)]|$))""",
    re.VERBOSE,
)
_KINDS = {kind: pattern(words) for kind, words in (("passed", _PASSED), ("failed", _FAILED), ("skipped", _SKIPPED))}
_FLUTTER = pattern(r"\d\d:\d\d\s\+(\d{1,7})(?:\s~\d{1,7})?(?:\s-(\d{1,7}))?:")
_DIGITS = pattern(r"\d{1,7}")
_EXCUSE = pattern(r"[^\n]{0,80}?(?:pre-?existing|unrelated|known|flaky|also\sfail|on\smain|before\smy|既有|無關|无关)")


def closing(lower: str, span: Span) -> Found | None:
    """A runner's closing line.

    Returns:
        None where the line is none; without numbers where it is one that counts something else than tests.
    """
    start, end = span
    if outcome := _OUTCOME.match(lower, start):
        return Found(_of_outcome(outcome), complete=True, shape="outcome")
    line = lower[start:end].rstrip()
    before = _BEFORE.match(line)
    at = before.end() if before else 0
    place = start + at, start + len(line)
    if _OTHER.match(line, at):
        return Found(Report(None, None, place))
    if complete := _COMPLETE.match(line, at):
        passed, failed = _numbers(line)
        report = Report(passed, failed, place, excused(line, 0) if failed else False)
        return Found(report, complete=True, shape=complete.lastgroup or "")
    if partial := _PARTIAL.match(line, at):
        number = next(int(found[0]) for found in _DIGITS.finditer(partial[0]))
        bad = any(word in partial[0] for word in ("fail", "error", "interrupted"))
        report = Report(None, number, place) if bad else Report(number, None, place)
        return Found(report, shape=partial.lastgroup or "")
    return None


def excused(line: str, start: int) -> bool:
    """Whether what fails is told, soon after a position, to be known or to have nothing to do with the work."""
    return bool(_EXCUSE.match(line, start))


def _of_outcome(match: re.Match[str]) -> Report:
    """A report of more than one line: how many ran, and whether all went well."""
    total = int(next(match[name] for name in ("total", "tests", "swift", "run", "ounit") if match[name]))
    how = match["how"] or match["result"] or match["ended"] or match["ounit_how"] or "ok"
    parts = match["parts"] or match["faults"] or match["cases"] or ""
    _, failed, skipped = _sums(parts)
    if how in {"ok", "pass", "passed"} and not failed:
        return Report(max(0, total - skipped), 0, match.span())
    return Report(max(0, total - failed - skipped) if failed else None, failed or 1, match.span())


def _numbers(line: str) -> tuple[int, int]:
    """How many tests passed and failed by a closing line; of one that gives no such number, what is left of all."""
    if progress := _FLUTTER.match(line):
        return int(progress[1]), int(progress[2] or "0")
    total, failed, skipped = _sums(line)
    passed = sum(int(found["n"] or found["m"]) for found in _NUMBER.finditer(line) if _kind(found) == "passed")
    return passed or max(0, total - failed - skipped), failed


def _sums(line: str) -> tuple[int, int, int]:
    """All tests, those that failed, and those that were left out."""
    sums = {"total": 0, "failed": 0, "skipped": 0, "passed": 0}
    for found in _NUMBER.finditer(line):
        sums[_kind(found)] += int(found["n"] or found["m"] or found["of"] or found["out"])
    return sums["total"], sums["failed"], sums["skipped"]


def _kind(found: re.Match[str]) -> str:
    word = found["what"] or found["word"] or "total"
    return next((kind for kind, words in _KINDS.items() if words.fullmatch(word)), "total")

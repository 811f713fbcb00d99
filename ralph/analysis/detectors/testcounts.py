"""The last report on tests in a text: how many passed, how many failed, and where it says so.

A report is a line that a runner closes its run with, or the agent's own words. Some runners write what passed and what
failed on lines of their own: what stands close together is one report. Suites, files, steps and assertions are not
tests.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from ralph.analysis.text import Span

__all__ = ["Report", "last_report"]


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


class _Found(NamedTuple):
    report: Report
    complete: bool
    """The line says it all: what is not in it is not so."""
    shape: str
    """Equal for lines of one kind; empty for the agent's words."""


_LINES = 200
"""Lines with a word of tests that are looked at, from the end."""
_REACH = 300
"""Characters of a line in which that word has to stand."""
_CLOSE, _NEAR = 2000, 200
"""Characters between the lines of one report by a runner, and between an agent's words on what passed and failed."""

_N = r"(?<![\w.])\d{1,7}"
_COUNTED = rf"{_N}\s(?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests\spassed)"
_UNITS = "doctests?|propert(?:y|ies)|tests?|runs?|examples?|specs?|scenarios?|test\\scases?"
_BEFORE = r"(?:\[(?:info|error|warning)\]\s|\S{1,60}:test\S{0,30}:\s|[a-z][^\n:]{0,100}:\s(?=executed))?[\s=*─│|#ℹ✓✔✖✘×✅❌🎉-]{0,200}"
_COMPLETE = re.compile(
    rf"""{_BEFORE}(?:
      (?P<pytest>{_COUNTED}(?:,\s{_COUNTED}){{0,9}}\sin\s[\d.] | no\stests\sran\b)
    | (?P<jest>tests:?\s{{1,12}}(?:{_N}\s(?:failed|passed|skipped|todo|total|pending|risky|incomplete)|no\stests))
    | (?P<cargo>test\sresult:\s) | (?P<forge>suite\sresult:\s) | (?P<forge_total>ran\s{_N}\stest\ssuites?\b)
    | (?P<junit>tests\srun:\s?\d) | (?P<phpunit>ok\s\({_N}\stests?,|tests:\s{_N},\sassertions:)
    | (?P<xunit>(?:{_N}\s(?:{_UNITS}|assertions?),\s){{1,4}}{_N}\s(?:failures?|passed|failed|errors?))
    | (?P<minitest>{_N}\s(?:runs|tests),\s{_N}\sassertions,)
    | (?P<gradle>{_N}\stests?\scompleted\b) | (?P<gotestsum>done\s{_N}\stests?)
    | (?P<swift>executed\s{_N}\stests?,\swith) | (?P<karma>executed\s{_N}\sof\s{_N})
    | (?P<dotnet>(?:passed|failed|skipped)!\s{{1,4}}-\sfailed:|test\ssummary:\stotal:)
    | (?P<nextest>summary\s\[) | (?P<ctest>\d{{1,3}}%\stests\spassed,)
    | (?P<catch>all\stests\spassed\s\({_N}|(?:\[doctest\]\s)?test\scases:\s{{1,8}}\d)
    | (?P<deno>(?:ok|failed)\s\|\s{_N}\spassed) | (?P<testthat>\[\sfail\s{_N}\s\|\swarn)
    | (?P<flutter>\d\d:\d\d\s\+\d)
    | (?P<scala>tests:\ssucceeded\s\d|(?:passed|failed):\stotal\s\d) | (?P<nunit>test\scount:\s\d|tests\spassed:\s\d)
    | (?P<busted>{_N}\ssuccess(?:es)?\s/) | (?P<eunit>all\s{_N}\stests?\spassed|failed:\s{_N}\.\s{{1,4}}skipped:)
    | (?P<ginkgo>(?:success|fail)!\s--\s\d) | (?P<cucumber>{_N}\sscenarios?\s(?:\(\d|passed,))
    | (?P<zig>build\ssummary:\s[^\n]{{0,80}}?;\s(?=\d{{1,7}}/)) | (?P<alcotest>test\ssuccessful\sin\s[^\n]{{0,30}}?\s(?=\d{{1,7}}\stests\srun))
    )""",
    re.VERBOSE,
)
_PARTIAL = re.compile(
    rf"""{_BEFORE}(?:
      (?P<mocha>{_N}\s(?:passing|failing)(?:\s\(|$)) | (?P<playwright>{_N}\s(?:passed\s\([\d.]|failed$|interrupted$))
    | (?P<node>(?:pass|fail|passed|failed)\s\d{{1,7}}$) | (?P<bun>{_N}\s(?:pass|fail)$)
    | (?P<gtest>\[\s\s(?:passed|failed)\s\s\]\s{_N}\stests?\b|{_N}\sfailed\stests?$)
    | (?P<ava>{_N}\stests?\s(?:passed|failed)$)
    | (?P<listed>(?:passed|failed|passing|failing|passes|failures|errors|ok|fail):\s{{1,20}}\d{{1,7}}[\s│|]{{0,80}}$)
    | (?P<total>total:\s{_N}\s(?:success|failed))
    )""",
    re.VERBOSE,
)
_SUMMED = {"cargo", "dotnet", "forge"}
"""Runners that report on every binary or project by itself."""
_OUTCOME = re.compile(
    r"""[ \t]{0,12}(?:ran\s(?P<total>\d{1,7})\stests?\sin\s[^\n]{1,40}\s{1,4}(?P<how>ok|failed)(?:\s\((?P<parts>[^)\n]{0,100})\))?
    |files=\d{1,6},\stests=(?P<tests>\d{1,7})[^\n]{0,200}\nresult:\s(?P<result>pass|fail)
    |(?:[✔✘]\s{1,3})?test\srun\swith\s(?P<swift>\d{1,7})\stests?(?:\sin\s\d{1,6}\ssuites?)?\s(?P<ended>passed|failed)
    |ran\s(?P<run>\d{1,7})\stests\scontaining\s\d{1,7}\sassertions\.\n(?P<faults>\d{1,7}\sfailures,\s\d{1,7}\serrors)
    |ran:\s(?P<ounit>\d{1,7})\stests\sin:?\s[^\n]{1,60}\n(?P<ounit_how>ok|failed)(?P<cases>[^\n]{0,150}))""",
    re.VERBOSE,
)
"""Reports that take more than one line."""
_OTHER = re.compile(
    rf"{_BEFORE}(?:test\s(?:suites?|files?)|suites?|files?|asserts?|assertions?|snapshots?|steps?|features?|rules?|specs?\sfiles?)[:\s]\s{{0,12}}\d"
    rf"|{_BEFORE}{_N}\s(?:steps?|features?|rules?|test\s(?:suites?|files?)|suites?|files?|assertions?|snapshots?)\s(?:\(|passed|failed)"
    rf"|(?:failed|ok)\s\((?:failures|errors|skipped|expected|unexpected)|{_N}\sfailures,\s{_N}\serrors\.|failed:\scases:"
)
"""Lines that count something else than tests, or that belong to a report that began above."""

_PASSED = "passed|passing|passes|pass|succeeded|success(?:es)?"
_FAILED = "failed|failing|failures?|fail|errors?|timed\\sout"
_SKIPPED = "skipped|skips?|pending|excluded|ignored|disabled|omitted|todo|canceled|cancelled|inconclusive|incomplete"
_NUMBER = re.compile(
    rf"""(?:executed|ran)\s(?P<of>\d{{1,7}})\sof\s\d{{1,7}}(?:\s[a-z]{{1,8}})?
    |out\sof\s(?P<out>\d{{1,7}})
    |(?P<n>{_N})(?:/(?P<whole>\d{{1,7}}))?\s{{1,4}}(?:(?:{_UNITS})\s)?(?P<what>{_PASSED}|{_FAILED}|{_SKIPPED}|{_UNITS}|total)\b
    |(?P<word>{_PASSED}|{_FAILED}|{_SKIPPED}|{_UNITS}|total|tests\srun|test\scount|cases)\s?[:=]?\s{{0,12}}(?P<m>\d{{1,7}}\b)
        (?!\s{{1,4}}[a-z]+(?:[\s,;|)]|$))""",
    re.VERBOSE,
)
_KINDS = {kind: re.compile(words) for kind, words in (("passed", _PASSED), ("failed", _FAILED), ("skipped", _SKIPPED))}
_FLUTTER = re.compile(r"\d\d:\d\d\s\+(\d{1,7})(?:\s~\d{1,7})?(?:\s-(\d{1,7}))?:")
_DIGITS = re.compile(r"\d{1,7}")

_KIND = r"(?:(?:[a-z][\w-]{0,20}\s){0,2}(?:tests?|specs?|test\scases?|cases|examples?|scenarios))"
_WORDS = re.compile(
    rf"""(?<![\w.,/-])(?P<n>\d{{1,7}})(?:\s?(?:/|of|out\sof)\s?(?:the\s)?(?P<whole>\d{{1,7}}))?\s
        (?:{_KIND}\s)?(?:(?:are|were|is|now|all|have|had|still|also|has)\s){{0,2}}
        (?P<how>pass(?:ed|ing|es)?|fail(?:ed|ing|ures?|s)?|green|succeed(?:ed|s)?)\b
    |\b(?P<first>pass(?:es|ed|ing)?|fail(?:s|ed|ing)?)(?::|,|\s\(|\s)\s?(?:all\s|with\s)?
        (?:(?P<n2>\d{{1,7}})(?:\s?/\s?(?P<whole2>\d{{1,7}}))?\s{_KIND}\b|(?P<n3>\d{{1,7}})\s?/\s?(?P<whole3>\d{{1,7}})\b)
    |\b(?P<label>passed|passing|failed|failures|fail|pass)\s?[:=]\s?(?P<n4>\d{{1,7}})\b
    |(?<!\d)(?P<n5>\d{{1,7}})\s?[個个項项條条]?\s?(?:單元|单元|整合|集成)?(?:測試|测试)(?:用例|案例)?\s?[均全都已部皆]{{0,4}}\s?
        (?P<zh>通過|通过|失敗|失败)
    |(?P<zh_first>通過|通过|失敗|失败)了?[:：\s]{{0,3}}(?P<n6>\d{{1,7}})\s?[個个項项條条]?\s?(?:測試|测试)?""",
    re.VERBOSE,
)
_ONLY_WANTED = re.compile(
    r"""\b(?:not|no|never|without|will|should|would|must|once|until|unless|if|when|make|makes|get|need|needs|want|expect(?:ed|s)?
        |previous(?:ly)?|earlier|initially|used\sto|instead\sof|goal|target|least|cannot|can't|don't|didn't|doesn't|aren't|isn't)\b[^.,;:!?\n]{0,30}$""",
    re.VERBOSE,
)
"""In front of a number that is wished for, denied, or past."""
_MENDED_BEFORE = re.compile(
    r"\b(?:fix(?:ed|es|ing)?|resolved?|repaired|corrected|was|were|from|before)\b[^.;:!?\n]{0,25}$"
)
_MENDED_AFTER = re.compile(r"[^.;!?\n]{0,25}\b(?:now|fixed|resolved|before|earlier|initially|previously|at\sfirst)\b")
_EXCUSE = re.compile(
    r"[^\n]{0,80}?(?:pre-?existing|unrelated|known|flaky|also\sfail|on\smain|before\smy|既有|無關|无关)"
)

_SOUGHT = AhoCorasick(
    (
        *(
            "pass",
            "fail",
            "tests",
            "test ",
            "examples",
            "specs",
            "executed ",
            "success",
            "succeeded",
            "scenario",
            "ran ",
        ),
        *("ran: ", "runs, ", " +", "green", "cases:", "通過", "通过", "失敗", "失败"),
    ),
    store_patterns=False,
)


def last_report(lower: str) -> Report | None:
    """The last report on tests in a text, which is in lower case and without colours.

    A report that nothing ran counts only where there is no other.
    """
    whole: _Found | None = None
    empty: Report | None = None
    for found in _reports(lower):
        if found.complete and not found.report.passed and not found.report.failed:
            empty = empty or found.report
        elif whole is None or (whole.report.passed is None and not whole.report.failed):
            whole = found
        elif whole.complete:
            if found.shape != whole.shape or _other_run(lower[found.report.span[1] : whole.report.span[0]]):
                break
            whole = whole._replace(report=_sum(found.report, whole.report))
        elif joined := _joined(found, whole):
            whole = joined
        else:
            break
        if whole and _settled(whole):
            break
    return whole.report if whole else empty


def _settled(found: _Found) -> bool:
    """Whether no line before can add to it."""
    if found.complete:
        return found.shape not in _SUMMED
    return found.report.passed is not None and found.report.failed is not None


def _other_run(between: str) -> bool:
    return "```" in between or "\n$ " in between or "finished `test`" in between or "finished test [" in between


def _sum(one: Report, other: Report) -> Report:
    passed = (one.passed or 0) + (other.passed or 0)
    return Report(passed, (one.failed or 0) + (other.failed or 0), (one.span[0], other.span[1]))


def _joined(found: _Found, whole: _Found) -> _Found | None:
    """What passed and what failed, told close together, as one report; None where they are two."""
    one, other = found.report, whole.report
    far = _CLOSE if found.shape and whole.shape else _NEAR
    if found.complete or other.span[0] - one.span[1] > far:
        return None
    passed = one.passed if other.passed is None else other.passed
    failed = one.failed if other.failed is None else other.failed
    if (passed, failed) == (other.passed, other.failed):
        return whole
    return whole._replace(report=Report(passed, failed, (one.span[0], other.span[1]), one.excused or other.excused))


def _reports(lower: str) -> Iterator[_Found]:
    """Reports line by line, from the last to the first."""
    above, lines = len(lower) + 1, 0
    for _, position, _ in reversed(_SOUGHT.find_matches_as_indexes(lower, overlapping=True)):
        if position >= above or lines >= _LINES:
            continue
        lines += 1
        floor = max(0, position - _REACH)
        line_break = lower.rfind("\n", floor, position)
        start = line_break + 1 if line_break >= 0 else floor
        end = lower.find("\n", position, position + _REACH)
        span = (start, min(position + _REACH, above - 1) if end < 0 else end)
        above = start
        if not _DIGITS.search(lower, *span) and "no tests" not in lower[slice(*span)]:
            continue
        if line_break < 0 and start:
            found = _worded(lower, span)
        elif _OTHER.match(lower, *span):
            continue
        else:
            found = _closing(lower, span) or _worded(lower, span)
        if found:
            yield found


def _closing(lower: str, span: Span) -> _Found | None:
    """A runner's closing line."""
    start, end = span
    if outcome := _OUTCOME.match(lower, start):
        return _Found(_of_outcome(outcome), True, "outcome")
    line = lower[start:end].rstrip()
    place = start + len(line) - len(line.lstrip()), start + len(line)
    if complete := _COMPLETE.match(line):
        passed, failed = _numbers(line)
        return _Found(
            Report(passed, failed, place, bool(failed and _EXCUSE.match(line))), True, complete.lastgroup or ""
        )
    if partial := _PARTIAL.match(line):
        number = int(_DIGITS.findall(partial[0])[-1])
        bad = "fail" in partial[0] or "error" in partial[0] or "interrupted" in partial[0]
        return _Found(Report(None if bad else number, number if bad else None, place), False, partial.lastgroup or "")
    return None


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


def _worded(lower: str, span: Span) -> _Found | None:
    """What the agent says in a line: the last numbers of both kinds."""
    passed: re.Match[str] | None = None
    failed: re.Match[str] | None = None
    for match in _WORDS.finditer(lower, *span):
        bad = _is_failure(match)
        if _is_told(lower, match, span, bad=bad):
            passed, failed = (passed, match) if bad else (match, failed)
    found = [match for match in (passed, failed) if match]
    if not found:
        return None
    place = min(match.start() for match in found), max(match.end() for match in found)
    good, bad_ones = _of_words(passed), _of_words(failed)
    report = Report(
        passed=good[0] if passed else bad_ones[1] if failed and bad_ones[1] else None,
        failed=bad_ones[0] if failed else good[1] or None,
        span=place,
        excused=bool(failed and _EXCUSE.match(lower, failed.start())),
    )
    return _Found(report, False, "")


def _of_words(match: re.Match[str] | None) -> tuple[int, int]:
    """The number that is told, and the rest: of "12 of 15" the other 3."""
    if not match:
        return 0, 0
    number = int(next(match[name] for name in ("n", "n2", "n3", "n4", "n5", "n6") if match[name]))
    whole = int(match["whole"] or match["whole2"] or match["whole3"] or "0")
    return number, max(0, whole - number)


def _is_failure(match: re.Match[str]) -> bool:
    how = match["how"] or match["first"] or match["label"] or match["zh"] or match["zh_first"]
    return how.startswith(("fail", "失"))


def _is_told(lower: str, match: re.Match[str], span: Span, *, bad: bool) -> bool:
    """Whether the words say how it is, and not how it should be or how it was."""
    before = lower[max(span[0], match.start() - 60) : match.start()]
    if _ONLY_WANTED.search(before):
        return False
    return not bad or not (_MENDED_BEFORE.search(before) or _MENDED_AFTER.match(lower, match.end(), span[1]))

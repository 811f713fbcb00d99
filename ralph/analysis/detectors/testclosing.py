"""The lines that test runners close a run with: how many tests passed, and how many failed.

Suites, files, steps and assertions are not tests.
"""

import re
from typing import NamedTuple

from ralph.analysis.text import Span
from ralph.system.text import pattern

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


_N = r"\d{1,7}"
_COUNTED = rf"{_N}\s(?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests\spassed)"
_UNITS = "doctests?|propert(?:y|ies)|tests?|runs?|examples?|specs?|scenarios?|test\\scases?"
_OTHERS = "suites?|files?|asserts?|assertions?|snapshots?|steps?|features?|rules?"
_SPACES = " \t\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What `re` takes for white space, line feeds aside."""
_DECORATION = f"{_SPACES}=*─│|#ℹ✓✔✖✘×✅❌🎉-"
"""What a line of a report may begin with."""
_TAGGED = pattern(rf"(?:\[(?:info|error|warning)\]\s|\S{{1,60}}:test\S{{0,30}}:\s)?[{_DECORATION}]{{0,200}}")
"""The same with the tags of tools that print what other tools say."""
_IN_TAGS = (":test", "executed")
"""Of lines that do not begin with a bracket, those with a tag have one of these."""
_OPENINGS = frozenset((
    *("al", "as", "bu", "do", "er", "ex", "fa", "fe", "fi", "no", "ok", "pa", "ra", "ru", "sk", "sn", "st", "su", "te"),
    *("to", *(f"[{character}" for character in ("d", *_SPACES))),
))
"""What such a line then begins with, if not with a number; prose seldom does."""
_OF_LONGER = frozenset(("ra", "fi", "te"))
"""What reports of more than one line begin with."""
_NUMBERED = pattern(
    rf"""(?:{_N}\s(?:test\s(?:suites?|files?)|{_OTHERS})\s(?:\(|passed|failed)|{_N}\sfailures,\s{_N}\serrors\.)(?P<other>)
    | {_COUNTED}(?:,\s{_COUNTED}){{0,9}}\sin\s[\d.](?P<pytest>)
    | (?:{_N}\s(?:{_UNITS}|assertions?),\s){{1,4}}{_N}\s(?:failures?|passed|failed|errors?)(?P<xunit>)
    | {_N}\s(?:runs|tests),\s{_N}\sassertions,(?P<minitest>)
    | {_N}\stests?\scompleted\b(?P<gradle>)
    | \d{{1,3}}%\stests\spassed,(?P<ctest>)
    | \d\d:\d\d[ ]\+[0-9](?P<flutter>)
    | {_N}\ssuccess(?:es)?\s/(?P<busted>)
    | {_N}\sscenarios?\s(?:\(\d|passed,)(?P<cucumber>)
    | {_N}\s(?:passing|failing)(?:\s\(|$)(?P<mocha>)
    | {_N}\s(?:passed\s\([\d.]|failed$|interrupted$)(?P<playwright>)
    | {_N}\s(?:pass|fail)$(?P<bun>)
    | {_N}\sfailed\stests?$(?P<gtest>)
    | {_N}\stests?\s(?:passed|failed)$(?P<ava>)""",
    re.VERBOSE,
)
_WORDED = pattern(
    rf"""test\s(?:suites?|files?)[:\s]\s{{0,12}}\d(?P<other>) | (?:{_OTHERS})[:\s]\s{{0,12}}\d(?P<other_label>)
    | (?:failed|ok)\s\((?:failures|errors|skipped|expected|unexpected)(?P<outcome>) | failed:\scases:(?P<cases>)
    | no\stests\sran\b(?P<pytest>)
    | tests:?\s{{1,12}}(?:{_N}\s(?:failed|passed|skipped|todo|total|pending|risky|incomplete)|no\stests)(?P<jest>)
    | test\sresult:\s(?P<cargo>)
    | suite\sresult:\s(?P<forge>)
    | ran\s{_N}\stest\ssuites?\b(?P<forge_total>)
    | tests\srun:\s?\d(?P<junit>)
    | (?:ok\s\({_N}\stests?,|tests:\s{_N},\sassertions:)(?P<phpunit>)
    | done\s{_N}\stests?(?P<gotestsum>)
    | executed\s{_N}\stests?,\swith(?P<swift>)
    | executed\s{_N}\sof\s{_N}(?P<karma>)
    | (?:(?:passed|failed|skipped)!\s{{1,4}}-\sfailed:|test\ssummary:\stotal:)(?P<dotnet>)
    | summary\s\[(?P<nextest>)
    | (?:all\stests\spassed\s\({_N}|(?:\[doctest\]\s)?test\scases:\s{{1,8}}\d)(?P<catch>)
    | (?:ok|failed)\s\|\s{_N}\spassed(?P<deno>)
    | \[\sfail\s{_N}\s\|\swarn(?P<testthat>)
    | (?:tests:\ssucceeded\s\d|(?:passed|failed):\stotal\s\d)(?P<scala>)
    | (?:test\scount:\s\d|tests\spassed:\s\d)(?P<nunit>)
    | (?:all\s{_N}\stests?\spassed|failed:\s{_N}\.\s{{1,4}}skipped:)(?P<eunit>)
    | (?:success|fail)!\s--\s\d(?P<ginkgo>)
    | build\ssummary:\s[^\n]{{0,80}}?;\s(?=\d{{1,7}}/)(?P<zig>)
    | test\ssuccessful\sin\s[^\n]{{0,30}}?\s(?=\d{{1,7}}\stests\srun)(?P<alcotest>)
    | (?:pass|fail|passed|failed)\s\d{{1,7}}$(?P<node>)
    | \[\s\s(?:passed|failed)\s\s\]\s{_N}\stests?\b(?P<gtest>)
    | (?:passed|failed|passing|failing|passes|failures|errors|ok|fail):\s{{1,20}}\d{{1,7}}[\s│|]{{0,80}}$(?P<listed>)
    | total:\s{_N}\s(?:success|failed)(?P<total>)""",
    re.VERBOSE,
)
"""Lines by how they begin: with a number, or with a word. The group that ends an alternative is its name: `re` skips
those that begin with another letter, which it does not do where a group opens in front of it.
"""
_KARMA = pattern(rf"[a-z][^\n:]{{0,100}}:\sexecuted\s{_N}\sof\s{_N}(?P<karma>)")
_OTHER = {"other", "other_label", "outcome", "cases"}
"""Lines that count something else than tests, or that belong to a report that began above."""
_PARTIAL = {"mocha", "playwright", "node", "bun", "gtest", "ava", "listed", "total"}
"""Lines that tell of those that passed or of those that failed, and of no others."""
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

_PASSED = "passed|passing|passes|pass|succeeded|success(?:es)?"
_FAILED = "failed|failing|failures?|fail|errors?|timed\\sout"
_SKIPPED = "skipped|skips?|pending|excluded|ignored|disabled|omitted|todo|canceled|cancelled|inconclusive|incomplete"
_NUMBER = pattern(
    rf"""(?:executed|ran)\s(?P<of>\d{{1,7}})\sof\s\d{{1,7}}(?:\s[a-z]{{1,8}})?
    |out\sof\s(?P<out>\d{{1,7}})
    |(?P<n>(?<![\w.])\d{{1,7}})(?:/(?P<whole>\d{{1,7}}))?\s{{1,4}}(?:(?:{_UNITS})\s)?(?P<what>{_PASSED}|{_FAILED}|{_SKIPPED}|{_UNITS}|total)\b
    |(?P<word>{_PASSED}|{_FAILED}|{_SKIPPED}|{_UNITS}|total|tests\srun|test\scount|cases)\s?[:=]?\s{{0,12}}(?P<m>\d{{1,7}}\b)
        (?!\s{{1,4}}[a-z]+(?:[\s,;|)]|$))""",
    re.VERBOSE,
)
_KINDS = {kind: pattern(words) for kind, words in (("passed", _PASSED), ("failed", _FAILED), ("skipped", _SKIPPED))}
_FLUTTER = pattern(r"\d\d:\d\d \+([0-9]{1,7})(?:\s~\d{1,7})?(?:\s-(\d{1,7}))?:")
_DIGITS = pattern(r"\d{1,7}")
_EXCUSE = pattern(
    r"[^\n]{0,160}?(?:pre-?existing|unrelated|known|flaky|also\sfail|on\s`?(?:main|master)\b"
    r"|before\s(?:my|i\sstarted)|既有|無關|无关"
    r"|without\s(?:my|this|the)\schange|(?:unmodified|unchanged|untouched|base)\sbranch|nothing\sto\sdo\swith"
    r"|not\s(?:caused\sby|related\sto)\s(?:this|my))"
)
_NOT_ALL = pattern(
    r"\sof\s(?:them|these|those|the\s(?:\w{1,12}\s)?fail(?:ures|ing))\b(?<!all\sof\sthem)(?<!both\sof\sthem)"
)
"""What is told of some of those that fail."""


def closing(lower: str, start: int, line: str) -> Found | None:
    """A runner's closing line.

    Args:
        line: the one that begins at `start`, or the first part of it.

    Returns:
        None where the line is none; without numbers where it is one that counts something else than tests.
    """
    line = line.rstrip()
    tagged = line[:1] == "[" or (":" in line and any(map(line.__contains__, _IN_TAGS)))
    at = _after_tags(line) if tagged else len(line) - len(line.lstrip(_DECORATION))
    opening = line[at : at + 2]
    match = None
    if opening in _OPENINGS:
        if opening in _OF_LONGER and (outcome := _OUTCOME.match(lower, start)):
            return Found(_of_outcome(outcome), complete=True, shape="outcome")
        match = _WORDED.match(line, at)
    elif opening[:1].isdecimal():
        match = _NUMBERED.match(line, at)
    if tagged and not match:
        match = _KARMA.match(line, at)
    return _closed(match, line, start) if match else None


def _after_tags(line: str) -> int:
    found = _TAGGED.match(line)
    return found.end() if found else 0


def _closed(match: re.Match[str], line: str, start: int) -> Found:
    """What a line says that was found to be one of a runner."""
    shape = match.lastgroup or ""
    place = start + match.start(), start + len(line)
    if shape in _OTHER:
        return Found(Report(None, None, place))
    if shape in _PARTIAL:
        return Found(_of_partial(match[0], place), shape=shape)
    passed, failed = _numbers(line)
    return Found(Report(passed, failed, place, excused(line, 0) if failed else False), complete=True, shape=shape)


def _of_partial(text: str, place: Span) -> Report:
    """A report on those that passed, or on those that failed."""
    number = next(int(found[0]) for found in _DIGITS.finditer(text))
    bad = any(word in text for word in ("fail", "error", "interrupted"))
    return Report(None, number, place) if bad else Report(number, None, place)


def excused(line: str, start: int) -> bool:
    """Whether what fails is told, soon after a position, to be known or to have nothing to do with the work."""
    excuse = _EXCUSE.match(line, start)
    return excuse is not None and _NOT_ALL.search(excuse[0]) is None


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

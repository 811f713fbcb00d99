"""Test runs shown or reported in a reply: the result of the last one, and replies that are only test output.

A report is a summary line of a test runner or the agent's own words. Some runners write what passed and what failed on
separate lines: lines that stand close together are one report. Suites, files, steps and assertions are not tests.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, MatchKind

from ralph.analysis.detectors.runner_lines import find_runner_lines, is_only_tests
from ralph.analysis.result import AGAINST, Reply, Signal
from ralph.analysis.text import PrefilteredPattern, Span, has_digit
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern


class _Report(NamedTuple):
    """A report on a test run, or one line of it.

    Attributes:
        passed: number of tests; None if unknown.
        failed: number of tests; None if unknown, 1 for a run that failed without a number.
        span: its place in the text.
        excused: the failures are known, or unrelated to the work.
        complete: the line says everything; what it does not count did not happen.
        shape: equal for lines of one runner; empty for the agent's words.
    """

    passed: int | None
    failed: int | None
    span: Span
    excused: bool = False
    complete: bool = False
    shape: str = ""


_N = r"\d{1,7}"
_COUNTED = rf"{_N}\s(?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests\spassed)"
_UNITS = "doctests?|propert(?:y|ies)|tests?|runs?|examples?|specs?|scenarios?|test\\scases?"
_OTHERS = "suites?|files?|asserts?|assertions?|snapshots?|steps?|features?|rules?"
# what `re` takes for white space, without line feeds
_SPACES = " \t\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_DECORATION = f"{_SPACES}=*─│|#ℹ✓✔✖✘×✅❌🎉-"  # what a summary line may begin with
# The decoration with the tags of tools that print what other tools say.
_TAGGED = pattern(rf"(?:\[(?:info|error|warning)\]\s|\S{{1,60}}:test\S{{0,30}}:\s)?[{_DECORATION}]{{0,200}}")
_IN_TAGS = (":test", "executed")  # a line with a tag that does not begin with a bracket has one of these
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
# Summary lines by how they begin: with a number, or with a word. The group that ends an alternative names it: an
# opening group would keep `re` from skipping the alternatives with another first letter.
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
_TAGGED_KARMA = pattern(rf"[a-z][^\n:]{{0,100}}:\sexecuted\s{_N}\sof\s{_N}(?P<karma>)")
# lines that count something other than tests, or belong to a report that began above
_OTHER = {"other", "other_label", "outcome", "cases"}
# lines that count only the tests that passed, or only those that failed
_PARTIAL = {"mocha", "playwright", "node", "bun", "gtest", "ava", "listed", "total"}
_SUMMED = {"cargo", "dotnet", "forge"}  # runners that report on every binary or project separately
# Summaries that take more than one line.
_LONG_SUMMARY = pattern(
    r"""[ \t]{0,12}(?:
    ran\s(?P<total>\d{1,7})\stests?\sin\s[^\n]{1,40}\s{1,4}(?P<how>ok|failed)(?:\s\((?P<parts>[^)\n]{0,100})\))?
    |files=\d{1,6},\stests=(?P<tests>\d{1,7})[^\n]{0,200}\nresult:\s(?P<result>pass|fail)
    |(?:[✔✘]\s{1,3})?test\srun\swith\s(?P<swift>\d{1,7})\stests?(?:\sin\s\d{1,6}\ssuites?)?\s(?P<ended>passed|failed)
    |ran\s(?P<run>\d{1,7})\stests\scontaining\s\d{1,7}\sassertions\.\n(?P<faults>\d{1,7}\sfailures,\s\d{1,7}\serrors)
    |ran:\s(?P<ounit>\d{1,7})\stests\sin:?\s[^\n]{1,60}\n(?P<ounit_how>ok|failed)(?P<cases>[^\n]{0,150}))""",
    re.VERBOSE,
)

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
# An excuse for only some of the failures.
_NOT_ALL = pattern(
    r"\sof\s(?:them|these|those|the\s(?:\w{1,12}\s)?fail(?:ures|ing))\b(?<!all\sof\sthem)(?<!both\sof\sthem)"
)


def _parse_summary(lower: str, start: int, line: str) -> _Report | None:
    """Parse the summary line of a test runner: the line that begins at `start`, or the first part of it.

    Returns:
        None if it is not a summary; a report without numbers if it counts something other than tests.
    """
    line = line.rstrip()
    tagged = line[:1] == "[" or (":" in line and any(map(line.__contains__, _IN_TAGS)))
    decoration = _TAGGED.match(line) if tagged else None
    at = decoration.end() if decoration else len(line) - len(line.lstrip(_DECORATION))
    if outcome := _LONG_SUMMARY.match(lower, start):
        return _parse_long(outcome)._replace(complete=True, shape="outcome")
    match = (_NUMBERED if line[at : at + 1].isdecimal() else _WORDED).match(line, at)
    if tagged and not match:
        match = _TAGGED_KARMA.match(line, at)
    return _parse_matched(match, line, start) if match else None


def _parse_matched(match: re.Match[str], line: str, start: int) -> _Report:
    shape = match.lastgroup or ""
    place = start + match.start(), start + len(line)
    if shape in _OTHER:
        return _Report(None, None, place)
    if shape in _PARTIAL:
        number = next(int(found[0]) for found in _DIGITS.finditer(match[0]))
        bad = any(word in match[0] for word in ("fail", "error", "interrupted"))
        return _Report(None if bad else number, number if bad else None, place, shape=shape)
    passed, failed = _count_results(line)
    return _Report(passed, failed, place, failed > 0 and _has_excuse(line, 0), complete=True, shape=shape)


def _has_excuse(line: str, start: int) -> bool:
    """Return True if the text right after `start` calls the failures known or unrelated to the work."""
    excuse = _EXCUSE.match(line, start)
    return excuse is not None and _NOT_ALL.search(excuse[0]) is None


def _parse_long(match: re.Match[str]) -> _Report:
    """Parse a summary of more than one line: how many ran, and whether all went well."""
    total = int(next(match[name] for name in ("total", "tests", "swift", "run", "ounit") if match[name]))
    how = match["how"] or match["result"] or match["ended"] or match["ounit_how"] or "ok"
    parts = match["parts"] or match["faults"] or match["cases"] or ""
    counts = _counts(parts)
    failed, skipped = counts["failed"], counts["skipped"]
    if how in {"ok", "pass", "passed"} and not failed:
        return _Report(max(0, total - skipped), 0, match.span())
    return _Report(max(0, total - failed - skipped) if failed else None, failed or 1, match.span())


def _count_results(line: str) -> tuple[int, int]:
    """Return how many tests passed and failed; what passed may have to be calculated from the total."""
    if progress := _FLUTTER.match(line):
        return int(progress[1]), int(progress[2] or "0")
    counts = _counts(line)
    rest = max(0, counts["total"] - counts["failed"] - counts["skipped"])
    return counts["passed"] or rest, counts["failed"]


def _counts(line: str) -> Counter[str]:
    """Return the numbers of a summary by their kind: total, passed, failed, skipped."""
    counts = Counter[str]()
    for found in _NUMBER.finditer(line):
        word = found["what"] or found["word"] or "total"
        kind = next((kind for kind, words in _KINDS.items() if words.fullmatch(word)), "total")
        counts[kind] += int(found["n"] or found["m"] or found["of"] or found["out"])
    return counts


_MOST_LINES = 200  # lines with a word about tests that are read, from the end
_REACH = 300  # characters of a line in which that word has to stand
_GAPS = (200, 2000)  # most characters between the lines of one report: in the agent's words, and of a runner

_Place = tuple[int, int, int]  # which word, its begin and its end
_KIND = r"(?:(?:[a-z][\w-]{0,20}\s){0,2}(?:tests?|specs?|test\scases?|cases|examples?|scenarios))"
# Nouns that make "failed" something other than a test result: "10 failed attempts".
_NO_OTHER = (
    r"(?!\s(?:[a-z-]{1,15}\s)?(?:attempts?|tries|logins?|log-ins|sign-ins|requests?|retries|uploads?|downloads?|payments?"
    r"|calls?|jobs?|deliver(?:y|ies)|imports?|orders?|messages?|connections?|rows?|records?|passwords?)\b)"
)
_COUNTED_WORDS = PrefilteredPattern(
    (*"0123456789", "pass", "fail", "通過", "通过", "失敗", "失败"),
    rf"""(?<![\w.,/-])(?P<n>\d{{1,7}})(?:\s?(?:/|of|out\sof)\s?(?:the\s)?(?P<whole>\d{{1,7}}))?\s
        (?P<kind>{_KIND}\s)?(?:(?:are|were|is|now|all|have|had|still|also|has)\s){{0,2}}
        (?P<how>pass(?:ed|ing|es)?|fail(?:ed|ing|ures?|s)?|green|succeed(?:ed|s)?)\b{_NO_OTHER}
    |\b(?P<first>pass(?:es|ed|ing)?|fail(?:s|ed|ing)?)(?::|,|\s\(|\s)\s?(?:all\s|with\s)?
        (?:(?P<n2>\d{{1,7}})(?:\s?/\s?(?P<whole2>\d{{1,7}}))?\s{_KIND}\b|(?P<n3>\d{{1,7}})\s?/\s?(?P<whole3>\d{{1,7}})\b)
    |\b(?P<label>passed|passing|failed|failures|fail|pass)\s?[:=]\s?(?P<n4>\d{{1,7}})\b
    |(?<!\d)(?P<n5>\d{{1,7}})\s?[個个項项條条]?\s?(?:單元|单元|整合|集成)?(?:測試|测试)(?:用例|案例)?\s?[均全都已部皆]{{0,4}}\s?
        (?P<zh>通過|通过|失敗|失败)
    |(?P<zh_first>通過|通过|失敗|失败)了?[:：\s]{{0,3}}(?P<n6>\d{{1,7}})\s?[個个項项條条]?\s?(?:測試|测试)?""",
    needed=("pass", "fail", "green", "succeed", "通", "失"),
)
# Every match has one of these. `re` skips to a character of the set.
_BESIDE = pattern(r"[\d:=通失](?:(?<=\d)(?:\s[a-z]|\s?/\s?\d)|(?<=[:=])\s?\d|(?<=[通失]))")
_NEED_A_KIND = {"passes", "green", "succeed", "succeeds", "succeeded", "fails"}
_CLAUSE_END = pattern(r"[.,;:!?()]\s|\n")
# In the clause before a number, these say that it is wished for, denied or past.
_NOT_CURRENT = frozenset((
    *("not", "no", "never", "without", "will", "should", "would", "must", "once", "until", "unless", "if", "when"),
    *("make", "makes", "get", "need", "needs", "want", "wants", "expect", "expected", "expects", "require", "least"),
    *("previous", "previously", "earlier", "initially", "used", "instead", "goal", "target", "cannot", "can't"),
    *("don't", "didn't", "doesn't", "aren't", "isn't", "won't", "ensure"),
))
_MENDED_BEFORE = pattern(
    r"\b(?:fix(?:ed|es|ing)?|resolved?|repaired|corrected|was|were|from|before)\b[^.;:!?\n]{0,25}$"
)
_MENDED_AFTER = pattern(r"[^.;!?\n]{0,25}\b(?:now|fixed|resolved|before|earlier|initially|previously|at\sfirst)\b")
_SOUGHT = AhoCorasick(
    (
        *("pass", "fail", "green", "succeed", "通過", "通过", "失敗", "失败"),
        *("tests", "test ", "examples", "specs", "executed ", "success", "scenario", "ran ", "ran: ", "runs, "),
        *("error in ", "errors in ", "cases:", *(f" +{digit}" for digit in range(10))),
    ),
    MatchKind.LeftmostFirst,  # `re` would take ten times as long, and a search for all that overlap twice as long
    store_patterns=False,
)


def _last_report(lower: str) -> _Report | None:
    """Return the last report on tests.

    A report that nothing ran counts only if there is no other.

    Args:
        lower: the text in lower case and without colours.
    """
    if not (has_digit(lower) or "no tests" in lower):
        return None
    whole: _Report | None = None
    empty: _Report | None = None
    places = _SOUGHT.find_matches_as_indexes(lower)
    for start, end, is_line in _lines_with_tests(lower, places) if places else ():
        if whole and not whole.complete and whole.span[0] - end > _GAPS[bool(whole.shape)]:
            break
        line = lower[start:end]
        if not (has_digit(line) or "no tests" in line):
            continue
        found = (_parse_summary(lower, start, line) if is_line else None) or _parse_words(line, start)
        if not found or (found.passed is None and found.failed is None):
            continue
        if found.complete and not found.passed and not found.failed:
            empty = empty or found
            continue
        joined = _join(whole, found) if whole else found
        if joined is None:
            break
        whole = joined
        if whole.shape not in _SUMMED if whole.complete else None not in whole[:2]:
            break  # no line above can add to the report
    return whole or empty


def _join(whole: _Report, found: _Report) -> _Report | None:
    """Return a report together with a line above it; None if that line belongs to another report."""
    span = found.span[0], whole.span[1]
    if whole.passed is None and whole.failed == 0 and not found.failed:
        return found
    if whole.complete and found.shape == whole.shape:
        passed, failed = (found.passed or 0) + (whole.passed or 0), (found.failed or 0) + (whole.failed or 0)
        return found._replace(passed=passed, failed=failed, span=span, excused=False)
    separate = None not in found[:2] and found.passed != whole.passed and found.failed != whole.failed
    if whole.complete or found.complete or separate:
        return None
    passed = found.passed if whole.passed is None else whole.passed
    failed = found.failed if whole.failed is None else whole.failed
    if (passed, failed) == whole[:2]:
        return whole
    return whole._replace(passed=passed, failed=failed, span=span, excused=found.excused or whole.excused)


def _lines_with_tests(lower: str, places: Sequence[_Place]) -> Iterator[tuple[int, int, bool]]:
    """Yield the lines with words about tests, from the last to the first.

    Yields:
        Begin and end of the line (of a long one only the part around the last word), and whether that includes the
        beginning of the line.
    """
    above, lines = len(lower) + 1, 0
    for _, position, _ in reversed(places):
        if position >= above:
            continue
        floor = position - _REACH if position > _REACH else 0
        line_break = lower.rfind("\n", floor, position)
        start = line_break + 1 if line_break >= 0 else floor
        end = lower.find("\n", position, position + _REACH)
        if end < 0:
            end = min(position + _REACH, above - 1)
        above, lines = start, lines + 1
        yield start, end, line_break >= 0 or start == 0
        if lines == _MOST_LINES:
            return


def _parse_words(line: str, start: int) -> _Report | None:
    """Parse the agent's words in a line: the last number of each kind."""
    passed: tuple[int, int] | None = None
    failed: tuple[int, int] | None = None
    place, known = (len(line), 0), False
    for match in _COUNTED_WORDS.finditer(line) if _BESIDE.search(line) else ():
        how = match["how"] or match["first"] or match["label"] or match["zh"] or match["zh_first"]
        bad = how.startswith(("fail", "失"))
        if not _is_current(line, match, bad=bad):
            continue
        place = min(place[0], match.start()), match.end()
        if bad:
            failed, known = _number_and_rest(match), _has_excuse(line, match.start())
        else:
            passed = _number_and_rest(match)
    if not passed and not failed:
        return None
    good = passed[0] if passed else (failed and failed[1]) or None
    bad = failed[0] if failed else (passed and passed[1]) or None
    return _Report(good, bad, (start + place[0], start + place[1]), known)


def _number_and_rest(match: re.Match[str]) -> tuple[int, int]:
    """Return the number that is named, and the rest: 12 and 3 for "12 of 15"."""
    number = int(match["n"] or match["n2"] or match["n3"] or match["n4"] or match["n5"] or match["n6"])
    whole = int(match["whole"] or match["whole2"] or match["whole3"] or number)
    return number, max(0, whole - number)


def _is_current(line: str, match: re.Match[str], *, bad: bool) -> bool:
    """Return False if the words say how the tests should be or were, not how they are."""
    if match["how"] in _NEED_A_KIND and not match["kind"]:
        return False
    before = line[max(0, match.start() - 60) : match.start()]
    if not _NOT_CURRENT.isdisjoint(_CLAUSE_END.split(before)[-1].split()):
        return False
    return not bad or not (_MENDED_BEFORE.search(before) or _MENDED_AFTER.match(line, match.end()))


_PASSING, _EXCUSED, _ONLY = 25, -20, -60  # weights
_SHOWN = 200  # characters of a line with a single result
_COLOUR = pattern(
    r"\x1b(?:\[[0-9;?]{0,20}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])|\[\d{1,3}(?:;\d{1,3}){0,4}m"
)
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
    """Find the last test run.

    `tests_passed` and `tests_failed` have the counts if they are known, `test_run` has the result, and `test_only` says
    that the reply is test output and nothing else. Tests pass if some passed and none failed.
    """
    text, lower = reply.reading.text, reply.reading.lower
    coloured = "\x1b" in text or ("[" in text and ("[0m" in text or "[39m" in text))  # a log may have lost its escapes
    if coloured:
        text = _COLOUR.sub("", text)
        lower = text.lower()
    begins = find_runner_lines(text)
    report = _last_report(lower) or (_last_single_results(text, begins) if begins else None)
    if report:
        span = _coloured_span(reply.reading.text, report.span) if coloured else report.span
        yield Signal("test_run", "", *span, *_weigh(report))
        if report.passed:
            yield Signal("tests_passed", "", *span, why=f"{report.passed} tests passed.", amount=report.passed)
        if report.failed:
            yield Signal("tests_failed", "", *span, why=f"{report.failed} tests failed.", amount=report.failed)
    if begins and is_only_tests(text, begins):
        yield Signal("test_only", weight=_ONLY, why="The reply is test output and nothing else.")


def _coloured_span(coloured: str, plain: Span) -> Span:
    """Return the span of a text for a span of the same text without its colours."""
    start, last = plain[0], plain[1] - 1
    for code in _COLOUR.finditer(coloured):
        length = len(code[0])
        start += length if code.start() <= start else 0
        last += length if code.start() <= last else 0
    return start, last + 1


def _weigh(report: _Report) -> tuple[float, str]:
    """Return the weight of a report, and the reason."""
    if report.failed:
        return (_EXCUSED, "All failures are known.") if report.excused else (AGAINST, "Tests fail.")
    passing = report.passed or report[:2] == (None, None)
    return (_PASSING, "Tests pass.") if passing else (0, "No passed test is reported.")


def _last_single_results(text: str, begins: set[int]) -> _Report | None:
    """Return the result of a run that shows single results only: one failure is enough."""
    good: Span | None = None
    fence = max(text.rfind("\n```", 0, max(begins)), text.rfind("\n~~~", 0, max(begins)))
    for start in sorted((start for start in begins if start > fence), reverse=True):
        line = text[start : start + _SHOWN].partition("\n")[0].rstrip()
        span = start + len(line) - len(line.lstrip()), start + len(line)
        if _BAD_LINE.match(line):
            return _Report(None, 1, span)
        if not good and _GOOD_LINE.match(line):
            good = span
    return _Report(None, None, good) if good else None


_COMMAND = pattern(r"\b(?:build|tests?|lint|tsc|checks?|compile|make|pytest|vet|clippy|mypy|ruff|eslint|verify)\b")
_CALL = pattern(r"[a-z][\w./-]{1,30}\s\S")  # A command with an argument, whatever its name.
_CHECK_REACH = 100
_VERDICT_REACH = 8


def is_check_verdict(reply: Reply, verdict: Hit) -> bool:
    """Return True if a verdict is one on a check: "the build passes", "Lint: clean", "`npm test` passes"."""
    scope, reading = reply.scope, reply.reading
    if scope.before("check", verdict, _VERDICT_REACH):
        return True
    begin = max(reading.sentence(verdict.start)[0], verdict.start - _CHECK_REACH)
    for check in scope.within("check", (begin, verdict.start))[-1:]:
        label = reading.prose[check.end : verdict.start].lstrip(" *_")
        return label.startswith((":", "：")) and len(label.split()) <= _VERDICT_REACH
    code, mark, between = reading.text[begin : verdict.start].rpartition("`")
    if not mark or len(between.split()) > 2:
        return False
    command = code.rpartition("`")[2]
    return bool(_COMMAND.search(command) or _CALL.match(command))

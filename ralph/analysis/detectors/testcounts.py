"""The last report on tests in a text: how many passed, how many failed, and where it says so.

A report is a line that a runner closes its run with, or the agent's own words. Some runners write what passed and what
failed on lines of their own: what stands close together is one report. Suites, files, steps and assertions are not
tests.
"""

import re
from collections.abc import Iterator, Sequence

from ahocorasick_rs import AhoCorasick, MatchKind

from ralph.analysis.anchored import Anchored
from ralph.analysis.counting import has_digit
from ralph.analysis.detectors.testclosing import SUMMED, Found, Report, closing, excused
from ralph.system.text import pattern

__all__ = ["Report", "last_report"]


_LINES = 200
"""Lines with a word of tests that are looked at, from the end."""
_REACH = 300
"""Characters of a line in which that word has to stand."""
_CLOSE, _NEAR = 2000, 200
"""Characters between the lines of one report by a runner, and between an agent's words on what passed and failed."""

_Place = tuple[int, int, int]
"""Which word, where it begins and where it ends."""

_KIND = r"(?:(?:[a-z][\w-]{0,20}\s){0,2}(?:tests?|specs?|test\scases?|cases|examples?|scenarios))"
_NO_OTHER = (
    r"(?!\s(?:[a-z-]{1,15}\s)?(?:attempts?|tries|logins?|log-ins|sign-ins|requests?|retries|uploads?|downloads?|payments?"
    r"|calls?|jobs?|deliver(?:y|ies)|imports?|orders?|messages?|connections?|rows?|records?|passwords?)\b)"
)
"""What "failed" may stand before that is no test: "10 failed attempts"."""
_WORDS = Anchored(
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
_NEED_A_KIND = {"passes", "green", "succeed", "succeeds", "succeeded", "fails"}
_CLAUSE_END = pattern(r"[.,;:!?()]\s|\n")
_ONLY_WANTED = frozenset((
    *("not", "no", "never", "without", "will", "should", "would", "must", "once", "until", "unless", "if", "when"),
    *("make", "makes", "get", "need", "needs", "want", "wants", "expect", "expected", "expects", "require", "least"),
    *("previous", "previously", "earlier", "initially", "used", "instead", "goal", "target", "cannot", "can't"),
    *("don't", "didn't", "doesn't", "aren't", "isn't", "won't", "ensure"),
))
"""In the clause before a number that is wished for, denied, or past."""
_MENDED_BEFORE = pattern(
    r"\b(?:fix(?:ed|es|ing)?|resolved?|repaired|corrected|was|were|from|before)\b[^.;:!?\n]{0,25}$"
)
_MENDED_AFTER = pattern(r"[^.;!?\n]{0,25}\b(?:now|fixed|resolved|before|earlier|initially|previously|at\sfirst)\b")
_OUTCOMES = ("pass", "fail", "green", "succeed", "通過", "通过", "失敗", "失败")
"""The first of the words that are sought."""
_SOUGHT = AhoCorasick(
    (
        *_OUTCOMES,
        *("tests", "test ", "examples", "specs", "executed ", "success", "scenario", "ran ", "ran: ", "runs, "),
        *("error in ", "errors in ", "cases:", *(f" +{digit}" for digit in range(10))),
    ),
    MatchKind.LeftmostFirst,  # `re` would take ten times as long, and a search for all that overlap twice as long
    store_patterns=False,
)
_NUMBERED = pattern(
    r"""(?<=\d\s)|(?<=(?:ts|st|cs|ec|es|se|le|os|re|is|ow|ll|ve|ad|so|as)\s)|[通失]
    |(?:pass(?:es|ed|ing)?|fail(?:s|ed|ing|ures)?)
        (?:\s?[:=]\s?\d|(?::|,|\s\(|\s)\s?(?:all\s|with\s)?\d{1,7}[\s/])""",
    re.VERBOSE,
)
"""What stands around a word of outcome that belongs to a number: the number, or an end of the words between the two."""


def last_report(lower: str) -> Report | None:
    """The last report on tests in a text, which is in lower case and without colours.

    A report that nothing ran counts only where there is no other.
    """
    if not _counts(lower):
        return None
    whole: Found | None = None
    empty: Report | None = None
    places = _SOUGHT.find_matches_as_indexes(lower)
    for start, end, is_line, numbered in _spans(lower, places) if places else ():
        if whole and not whole.complete and whole.report.span[0] - end > (_CLOSE if whole.shape else _NEAR):
            break
        line = lower[start:end]
        found = closing(lower, start, line) if is_line else None
        if not (found or numbered) or not (has_digit(line) or "no tests" in line):
            continue
        found = found or _worded(line, start)
        if not found or (found.report.passed is None and found.report.failed is None):
            continue
        if found.complete and not found.report.passed and not found.report.failed:
            empty = empty or found.report
            continue
        joined = _joined(whole, found, lower) if whole else found
        if joined:
            whole = joined
        if not joined or _settled(joined):
            break
    return whole.report if whole else empty


def _counts(lower: str) -> bool:
    """Whether a report may be there at all: one has a digit, or says that there are no tests."""
    if any(map(lower.__contains__, "0123456789")) or "no tests" in lower:
        return True
    return not lower.isascii() and has_digit(lower)


def _joined(whole: Found, found: Found, lower: str) -> Found | None:
    """A report and what a line above it adds to it; None where that is another report."""
    one, other = found.report, whole.report
    span = one.span[0], other.span[1]
    if other.passed is None and other.failed == 0 and not one.failed:
        return found
    if whole.complete and found.shape == whole.shape and not _other_run(lower[one.span[1] : other.span[0]]):
        return found._replace(report=Report(_sum(one.passed, other.passed), _sum(one.failed, other.failed), span))
    whole_of_its_own = (
        None not in (one.passed, one.failed) and one.passed != other.passed and one.failed != other.failed
    )
    if whole.complete or found.complete or whole_of_its_own:
        return None
    passed = one.passed if other.passed is None else other.passed
    failed = one.failed if other.failed is None else other.failed
    if (passed, failed) == (other.passed, other.failed):
        return whole
    return whole._replace(report=Report(passed, failed, span, one.excused or other.excused))


def _sum(one: int | None, other: int | None) -> int:
    return (one or 0) + (other or 0)


def _settled(found: Found) -> bool:
    """Whether no line above can add to it."""
    if found.complete:
        return found.shape not in SUMMED
    return found.report.passed is not None and found.report.failed is not None


def _other_run(between: str) -> bool:
    """Whether another run begins in a text."""
    return "```" in between or "\n$ " in between or "finished `test`" in between or "finished test [" in between


def _spans(lower: str, places: Sequence[_Place]) -> Iterator[tuple[int, int, bool, bool]]:
    """The lines in which words of tests stand, from the last to the first.

    Yields:
        Where the line begins and ends, of a long one only the part around the last word; whether its beginning is in
        that, and whether a number may belong to one of the words of outcome.
    """
    above, index, lines = len(lower) + 1, len(places), 0
    while index and lines < _LINES:
        lines += 1
        position = places[index - 1][1]
        floor = position - _REACH if position > _REACH else 0
        line_break = lower.rfind("\n", floor, position)
        start = line_break + 1 if line_break >= 0 else floor
        end = lower.find("\n", position, position + _REACH)
        if end < 0:
            end = min(position + _REACH, above - 1)
        numbered = False
        while index:
            word, place, _ = places[index - 1]
            if place < start:
                break
            index -= 1
            if word < len(_OUTCOMES) and not numbered:
                numbered = _NUMBERED.match(lower, place) is not None
        above = start
        yield start, end, line_break >= 0 or start == 0, numbered


def _worded(line: str, start: int) -> Found | None:
    """What the agent says in a line that begins at a position: the last numbers of both kinds."""
    passed: tuple[int, int] | None = None
    failed: tuple[int, int] | None = None
    place, known = (len(line), 0), False
    for match in _WORDS.finditer(line):
        how = match["how"] or match["first"] or match["label"] or match["zh"] or match["zh_first"]
        bad = how.startswith(("fail", "失"))
        if not _is_told(line, match, bad=bad):
            continue
        place = min(place[0], match.start()), match.end()
        if bad:
            failed, known = _of_words(match), excused(line, match.start())
        else:
            passed = _of_words(match)
    if not passed and not failed:
        return None
    report = Report(
        passed=passed[0] if passed else (failed and failed[1]) or None,
        failed=failed[0] if failed else (passed and passed[1]) or None,
        span=(start + place[0], start + place[1]),
        excused=known,
    )
    return Found(report)


def _of_words(match: re.Match[str]) -> tuple[int, int]:
    """The number that is told, and the rest: of "12 of 15" the other 3."""
    number = int(match["n"] or match["n2"] or match["n3"] or match["n4"] or match["n5"] or match["n6"])
    whole = int(match["whole"] or match["whole2"] or match["whole3"] or number)
    return number, max(0, whole - number)


def _is_told(line: str, match: re.Match[str], *, bad: bool) -> bool:
    """Whether the words say how it is with tests, and not how it should be or how it was."""
    if match["how"] in _NEED_A_KIND and not match["kind"]:
        return False
    before = line[max(0, match.start() - 60) : match.start()]
    if not _ONLY_WANTED.isdisjoint(_CLAUSE_END.split(before)[-1].split()):
        return False
    return not bad or not (_MENDED_BEFORE.search(before) or _MENDED_AFTER.match(line, match.end()))

"""Test runs shown or reported in a reply: the result of the last run, and replies that are only test output."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ralph.analysis.detectors.runner_lines import find_runner_lines
from ralph.analysis.detectors.runner_results import TestReport, last_test_report
from ralph.analysis.result import AGAINST, Reply, Signal
from ralph.analysis.text import Span
from ralph.system.text import pattern

__all__ = ["StrippedText", "detect_tests", "has_colours", "is_only_tests", "strip_colours"]

_CODE = pattern(
    r"\x1b(?:\[[0-9;?]{0,20}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])|\[\d{1,3}(?:;\d{1,3}){0,4}m"
)


class StrippedText(NamedTuple):
    """A text without the codes with which a terminal colours it.

    Attributes:
        text: what is left.
        cuts: positions in `text` at which something was removed, ascending.
        before: how many characters were removed up to each of them.
    """

    text: str
    cuts: tuple[int, ...] = ()
    before: tuple[int, ...] = ()

    def original_position(self, position: int) -> int:
        """Return the position in the original."""
        index = bisect_right(self.cuts, position)
        return position + self.before[index - 1] if index else position

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original, from its first character to its last."""
        return (self.original_position(start), self.original_position(end - 1) + 1) if end > start else (0, 0)


def has_colours(text: str) -> bool:
    """Return True if there are colour codes, including those of a log that lost its control characters."""
    return "\x1b" in text or ("[" in text and ("[0m" in text or "[39m" in text))


def strip_colours(text: str) -> StrippedText:
    """Remove the colour codes."""
    pieces: list[str] = []
    cuts: list[int] = []
    before: list[int] = []
    at = removed = 0
    for code in _CODE.finditer(text):
        pieces.append(text[at : code.start()])
        cuts.append(code.start() - removed)
        removed += code.end() - code.start()
        before.append(removed)
        at = code.end()
    return StrippedText("".join((*pieces, text[at:])), tuple(cuts), tuple(before))


_LINES = 1000  # lines read from the beginning, and as many from the end
_LONGEST = 300  # characters of a line that are read
_HEAD, _TAIL = 3, 4  # most unknown lines before and after a framed run
_NEAR = 6  # A part of a run has a runner's line among so many last ones, or one in ten.

_FENCE = pattern(r"\s{0,8}(?:```|~~~)")
# Output of other tools, source text, and the marks of a report.
_FOREIGN = pattern(
    r"""diff\s--git\s | (?:\+\+\+|---)\s[ab]/ | index\s[0-9a-f]{7,40}\.\. | commit\s[0-9a-f]{40} | On\sbranch\s
    |Changes\s(?:to\sbe\scommitted|not\sstaged) | Untracked\sfiles:
    |\[\S{1,80}\s(?:\(root-commit\)\s)?[0-9a-f]{7,40}\]\s
    |\s{0,3}[0-9a-f]{7,40}(?:\s|\.\.)\S | To\s(?:https?://|git@)\S | \s\d{1,6}\sfiles?\schanged
    |total\s\d{1,9}$ | [dl-][rwxsStT-]{9}[.+@]?\s
    |(?:import|from|export|def|class|async|func|fn|pub|use|package|const|let|var|describe|it|test)\b[^\n]{0,200}[;:{(,]$
    |\#{2,6}\s | \#\s[A-Z][a-z] | \s{0,4}(?:[-*]|\d{1,2}[.)])\s(?:\*\*|\[[ xX]\]\s) | \*\*\w""",
    re.VERBOSE,
)
# How an agent writes about its work, and no runner about its own.
_VOICE = pattern(
    r"""(?-i:\b(?:I|We)(?:'ve|'ll|'m|'re)?\s[a-z])
    |\b(?:let\sme|let's|implement(?:ed|s|ation)|refactored|looks\sgood|as\sexpected
        |(?:added|fixed|created|updated|changed|rewrote|removed|moved)\s(?:the|an?|all|new|it|this|both|\d|`)
        |(?:all|the)\s(?:\w{1,20}\s)?tests\s(?:are\s)?(?:pass|green)\w{0,3}
        |(?:task|story|work|feature|everything)\s(?:is|are|done))\b
    |^\W{0,4}(?:all\s)?(?:done|finished|completed?|ready|next|summary)\b[^\n]{0,80}[.!:]$
    |[我已]|完成|修[復复正]|新增|實作|实现""",
    re.VERBOSE | re.IGNORECASE,
)
_ANNOUNCED = pattern(
    r"""(?:(?:first|now|next|ok|okay),?\s)?(?:let\sme|let's|i'll|i\swill|i|i'm|we)?\s?(?:now\s)?
    (?:run|ran|running|rerun|re-run|execute)\w{0,4}\s
    (?:\S{1,20}\s){0,4}(?:tests?|suite|specs?|pytest|jest|vitest)\b[^\n]{0,40}[:.]$""",
    re.VERBOSE | re.IGNORECASE,
)
# What follows, up to the runner's next line, was printed by the tested program.
_CAPTURED = pattern(r"-{3,200}\sCaptured\s|std(?:out|err)\s\|\s|----\s\S{1,200}\sstdout\s")
_SENTENCE = pattern(r"[\"'(*_]{0,3}[A-Z\u3400-\u9fff](?:\S{1,60}\s){3}[^\n]{0,300}[.!?:。！？：]$")
# What stands in a run between the runner's own lines.
_FILLING = pattern(
    r"""\s{2,} | \t | \s?(?:
      [E>]\s | at\s | \$\s | [=\-_─━═⎯*~.\#]{3,} | [│┃|┌└├┐┘┤┬┴┼╭╰╮╯╔╚║] | [\[\](){}"'<,;]
    | [✓✔✗✕✘✖❯×√↓●○∅▶◼◇✅❌⚠⏭★·•→↳⚡🌈🎉ℹ] | [-+]\s?(?:[Ee]xpected|[Rr]eceived|actual|[\[\]{}"'0-9<(])
    | (?i:(?:npm|yarn|pnpm|bun|warn(?:ing)?|info|error|err|debug|note|notice|hint|help|fatal|panic|log|caused\sby)
        (?:\s?[:!\[]|\s(?:err!|warn|error|notice|run|exec|test|command|visit)\b))
    | [\w.]{0,80}(?:Error|Exception|Warning|Failure)\b | Traceback\s | During\shandling | The\sabove\sex | File\s"
    | (?:Compiling|Finished|Running|Building|Download(?:ing|ed)|Updating|Locking|Blocking|Checking|Resolv(?:ing|ed)
        |Fetching|Install(?:ing|ed)|Prepared|Uninstalled|Audited|Using|Creating|Destroying|Start(?:ing|ed)|Collecting
        |Load(?:ing|ed)|Generating|Determining|Restored|Linking|Build|Built|Transforming|Processing|Watching|Waiting
        |Executing|Adding|Packaging|Connect(?:ing|ed)|Applying|Migrating|Operations\sto|System\scheck|Synchronizing
        |Analyzing|Configuring|Stopping|Initializing|Launching|Reading|Writing|Wrote|Coverage|Captured|Expected|Received
        |Actual|Difference)\b
    | [\w.-]{1,40}:\s\w{1,30}(?:\[\d{1,3}\])?>\s | \d\d\s\d\d\s\d{4}\s | \d{4}-\d\d-\d\d | \d{1,2}:\d\d
    | \(node:\d | \(Use\s | \S{1,200}:\d{1,6}(?:[:,)\s]|$) | \S{1,200}\.\w{1,5}(?::|\s\(|\(\d|$)
    | Exit\scode\s\d | exit\sstatus\s | make(?:\[\d\])?:\s | \S{1,60}@\S{1,60}[:\s][^\n]{0,60}[\#$%] | ELIFECYCLE
    | Command\sfailed | Done\sin\s | BUILD\s | \d{1,6}\sactionable\stasks? | Tasks:\s | Cached:\s | Time:\s | See\s
    | To\s(?:open|learn|view|see|rerun|debug)\s | For\smore\s | Name\s{2,} | TOTAL\s | All\sfiles | Slow\stests?
    | Required\stest\scoverage | \d{1,6}\sfiles?\sskipped\sdue | Jest\s | Force\sexiting | A\sworker\sprocess
    | (?:Failures?|Errors?|failures|successes|OK|ok|FAIL|PASS):?$ | This\scan\s | std(?:out|err)\b
    | thread\s' | stack\sbacktrace | goroutine\s\d | (?:goos|goarch|pkg|cpu|left|right):\s | expected | received
    | actual | Feature: | Scenario: | (?:Given|When|Then|And)\s | …
    | [\w./@-]{1,120}\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kt|swift|php|exs?|dart|c|cc|cpp|h|cs)\b
    | \d{1,6}(?:\s\||\)\s|%|\s(?:pending|skipped|todo)$) | [.FEsxX]{4,}$ | [^\s.!。！]{1,200}$)""",
    re.VERBOSE,
)


class _Line(NamedTuple):
    """A line that is not empty.

    Attributes:
        runner: a runner printed it.
        fenced: it stands in a code fence.
        captured: the tested program printed it.
    """

    text: str
    runner: bool
    fenced: bool
    captured: bool

    @property
    def is_foreign(self) -> bool:
        """True if the line is about something other than tests."""
        if self.runner or self.captured:
            return False
        return bool(_FOREIGN.match(self.text) or (_VOICE.search(self.text) and not _ANNOUNCED.match(self.text)))

    @property
    def is_plausible(self) -> bool:
        """True if a test run may print the line."""
        return self.runner or self.captured or bool(_FILLING.match(self.text) or _ANNOUNCED.match(self.text))


def is_only_tests(text: str, begins: AbstractSet[int]) -> bool:
    """Return True if a text is the output of tests and nothing else.

    A line is a runner's; or it fills a run (stack traces, coverage, warnings, build output); or it is about something
    else (a diff, source text, a report on work); or it is unknown. A run that is framed by a runner's lines may hold
    nearly anything; of a part of a run most lines have to be known.

    Args:
        text: without colours; of a long text the first and the last 1000 lines are read.
        begins: positions at which the lines of a test runner begin.
    """
    lines = _lines(text, begins)
    own = [index for index, line in enumerate(lines) if line.runner]
    if not own:
        return False
    lines[own[-1] :] = [line._replace(captured=False) for line in lines[own[-1] :]]  # it may have ended there
    unknown = [index for index, line in enumerate(lines) if not line.is_plausible]
    early, late = sum(index < own[0] for index in unknown), sum(index > own[-1] for index in unknown)
    framed = len(own) > 1 and early <= _HEAD and late <= _TAIL and early + late <= len(own)
    enough = len(own) * 10 >= len(lines) or own[-1] >= len(lines) - _NEAR
    piece = enough and len(unknown) * 5 <= len(lines) * 2
    if not (framed or piece) or _has_foreign_frame(lines, own):
        return False
    foreign = sum(lines[index].is_foreign for index in unknown)
    return (framed and foreign * 10 <= len(lines)) or (piece and not foreign)


def _has_foreign_frame(lines: Sequence[_Line], own: Sequence[int]) -> bool:
    """Return True if lines around a run are about something else; around a fenced run: all that are not fenced."""
    fenced = lines[own[0]].fenced
    spoken = [line for line in lines if not line.fenced] if fenced else [lines[0], lines[-1]]
    around = (*lines[: own[0]], *lines[own[-1] + 1 :], *(spoken if fenced else ()))
    if any(line.is_foreign for line in around):
        return True
    return any(_SENTENCE.match(line.text) for line in spoken if not line.is_plausible)


def _lines(text: str, begins: AbstractSet[int]) -> list[_Line]:
    """Return the lines that are neither empty nor fences; of many the first and the last."""
    all_lines = text.split("\n")
    if len(all_lines) <= 2 * _LINES:
        return list(_read(all_lines, begins, 0))
    last = all_lines[-_LINES:]
    at = len(text) - sum(map(len, last)) - len(last) + 1
    return [*_read(all_lines[:_LINES], begins, 0), *_read(last, begins, at)]


def _read(lines: Iterable[str], begins: AbstractSet[int], at: int) -> Iterator[_Line]:
    fenced = captured = False
    for line in lines:
        shown = line[:_LONGEST].rstrip()
        if _FENCE.match(shown):
            fenced, captured = not fenced, False
        elif shown:
            runner = at in begins
            yield _Line(shown, runner, fenced, captured and not runner)
            captured = _CAPTURED.match(shown) is not None if runner else captured
        at += len(line) + 1


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
    """Find the last test run.

    `tests_passed` and `tests_failed` have the counts if they are known, `test_run` has the result, and `test_only` says
    that the reply is test output and nothing else. Tests pass if some passed and none failed.
    """
    reading = reply.reading
    shown = strip_colours(reading.text) if has_colours(reading.text) else None
    text, lower = (shown.text, shown.text.lower()) if shown else (reading.text, reading.lower)
    begins = find_runner_lines(text)
    report = last_test_report(lower) or (_last_single_results(text, begins) if begins else None)
    if report:
        span = shown.original_span(*report.span) if shown else report.span
        yield Signal("test_run", "", *span, *_weigh(report))
        if report.passed:
            yield Signal("tests_passed", "", *span, why=f"{report.passed} tests passed.", amount=report.passed)
        if report.failed:
            yield Signal("tests_failed", "", *span, why=f"{report.failed} tests failed.", amount=report.failed)
    if begins and is_only_tests(text, begins):
        yield Signal("test_only", weight=_ONLY, why="The reply is test output and nothing else.")


def _weigh(report: TestReport) -> tuple[float, str]:
    """Return the weight of a report, and the reason."""
    if report.passing:
        return _PASSING, "Tests pass."
    if not report.failed:
        return 0, "No passed test is reported."
    return (_EXCUSED, "All failures are known.") if report.excused else (AGAINST, "Tests fail.")


def _last_single_results(text: str, begins: set[int]) -> TestReport | None:
    """Return the result of a run that shows single results only: one failure is enough."""
    good: Span | None = None
    fence = max(text.rfind("\n```", 0, max(begins)), text.rfind("\n~~~", 0, max(begins)))
    for start in sorted((start for start in begins if start > fence), reverse=True):
        line = text[start : start + _LINE].partition("\n")[0].rstrip()
        span = start + len(line) - len(line.lstrip()), start + len(line)
        if _BAD_LINE.match(line):
            return TestReport(None, 1, span)
        if not good and _GOOD_LINE.match(line):
            good = span
    return TestReport(None, None, good) if good else None

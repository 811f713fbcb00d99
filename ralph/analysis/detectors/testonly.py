"""Whether a reply is the output of tests and nothing else.

A line is a runner's, or it fills a run (stack traces, coverage, warnings, what was built before), or it tells of
something else (a diff, source text, a report on work), or nothing is known of it. A run that is framed by a runner's
lines may hold nearly anything; of a piece of a run most lines have to be known.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ralph.system.text import pattern

__all__ = ["only_tests"]

_LINES = 1000
"""Lines looked at from the beginning, and as many from the end."""
_LONGEST = 300
"""Characters of a line that are looked at."""
_HEAD, _TAIL = 3, 4
"""Lines that nothing is known of, at most, before and after a run that is framed."""
_NEAR = 6
"""A piece of a run has a runner's line among so many last ones, or one in ten."""

_FENCE = pattern(r"\s{0,8}(?:```|~~~)")
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
"""What other tools print, source text, and the marks of a report."""
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
"""How an agent writes about its work, and no runner about its own."""
_ANNOUNCED = pattern(
    r"""(?:(?:first|now|next|ok|okay),?\s)?(?:let\sme|let's|i'll|i\swill|i|i'm|we)?\s?(?:now\s)?
    (?:run|ran|running|rerun|re-run|execute)\w{0,4}\s
    (?:\S{1,20}\s){0,4}(?:tests?|suite|specs?|pytest|jest|vitest)\b[^\n]{0,40}[:.]$""",
    re.VERBOSE | re.IGNORECASE,
)
_CAPTURED = pattern(r"-{3,200}\sCaptured\s|std(?:out|err)\s\|\s|----\s\S{1,200}\sstdout\s")
"""What follows, up to the runner's next line, was printed by what is tested."""
_SENTENCE = pattern(r"[\"'(*_]{0,3}[A-Z\u3400-\u9fff](?:\S{1,60}\s){3}[^\n]{0,300}[.!?:。！？：]$")
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
"""What stands in a run between a runner's own lines."""


class _Line(NamedTuple):
    """A line that is not empty.

    Attributes:
        runner: a runner printed it.
        fenced: it stands in a code fence.
        captured: what is tested printed it.
    """

    text: str
    runner: bool
    fenced: bool
    captured: bool

    @property
    def told(self) -> bool:
        """Whether it tells of something else than tests."""
        if self.runner or self.captured:
            return False
        return bool(_FOREIGN.match(self.text) or (_VOICE.search(self.text) and not _ANNOUNCED.match(self.text)))

    @property
    def known(self) -> bool:
        """Whether a run may hold it."""
        return self.runner or self.captured or bool(_FILLING.match(self.text) or _ANNOUNCED.match(self.text))


def only_tests(text: str, begins: AbstractSet[int]) -> bool:
    """Whether there is nothing in a text but the output of tests.

    Args:
        text: without colours; of a long one the first and the last 1000 lines are looked at.
        begins: where the lines of a test runner begin in it.
    """
    lines = _lines(text, begins)
    own = [index for index, line in enumerate(lines) if line.runner]
    if not own:
        return False
    lines[own[-1] :] = [line._replace(captured=False) for line in lines[own[-1] :]]  # it may have ended there
    unknown = [index for index, line in enumerate(lines) if not line.known]
    early, late = sum(index < own[0] for index in unknown), sum(index > own[-1] for index in unknown)
    framed = len(own) > 1 and early <= _HEAD and late <= _TAIL and early + late <= len(own)
    enough = len(own) * 10 >= len(lines) or own[-1] >= len(lines) - _NEAR
    piece = enough and len(unknown) * 5 <= len(lines) * 2
    if not (framed or piece) or _reported(lines, own):
        return False
    told = sum(lines[index].told for index in unknown)
    return (framed and told * 10 <= len(lines)) or (piece and not told)


def _reported(lines: Sequence[_Line], own: Sequence[int]) -> bool:
    """Whether the lines around a run tell of something else; those of a fenced run are all that are not fenced."""
    fenced = lines[own[0]].fenced
    spoken = [line for line in lines if not line.fenced] if fenced else [lines[0], lines[-1]]
    around = (*lines[: own[0]], *lines[own[-1] + 1 :], *(spoken if fenced else ()))
    return any(line.told for line in around) or any(_SENTENCE.match(line.text) for line in spoken if not line.known)


def _lines(text: str, begins: AbstractSet[int]) -> list[_Line]:
    """The lines that are not empty, without the fences themselves; of many the first and the last."""
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

"""Error words that report an error. The seven patterns are the Ralph Runtime guide's."""

import re
from collections.abc import Iterable, Iterator

from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.text import Reading, Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["detect_faults"]

_WORDS: frozenset[Role] = frozenset({"fault", "fatal"})
LOOKED_AT = 500
"""Error words that are looked at, half of them from the end."""
_EMPTY = pattern(
    r"""(?:\s(?:tests?|checks?|cases?|count|found|remaining|left|detected|reported))?["'*_]{0,3}\s{0,3}[:=][*_]{0,3}
        (?:\s{0,3}[-*]\s|\s{0,3})[*_]{0,3}
        (?:0(?!\w|\.\d)
        |(?:null|nil|false|\[\]|\{\}|无|無|-)(?!\w|[ \t]*[a-z])
        |(?:none|no|nothing)(?:\s(?:so\sfar|found|known|remaining|left|detected|reported|yet))?(?!\w|[ \t]*[\w'-]))""",
    re.VERBOSE,
)
"""What says behind an error word that there is none: "errors: 0", "Known issues: none so far"."""
_NUMBER = pattern(r"\s?#\d")
_FAILING = pattern(r":?\s{0,2}[1-9]")
"""What makes "exit code" an error."""
_MARKS = " \t\n*_-:."
"""What an empty section may hold."""
_SECTIONS, _READ = 20, 2000
"""Sections below a heading that are looked into, and characters of one."""


def detect_faults(reply: Reply) -> Iterable[Signal]:
    """The error words that report an error: neither negated nor mended, and no empty heading."""
    if not reply.scope.has(_WORDS):
        return ()
    return _faults(reply.scope)


def _faults(scope: Scope) -> Iterator[Signal]:
    hits = scope.of("fault")
    if len(hits) > LOOKED_AT:
        hits = [*hits[: LOOKED_AT // 2], *hits[-LOOKED_AT // 2 :]]
    for hit in hits:
        if _reports(scope, hit):
            yield Signal.at(hit, "error", -10, f"Speaks of an error ({hit.name}).")
    for hit in scope.of("fatal")[:LOOKED_AT]:
        if _reports(scope, hit):
            yield Signal.at(hit, "fatal_error", -30, "There is no way on from this.")


def _reports(scope: Scope, hit: Hit) -> bool:
    """Whether an error word says that there is an error."""
    if _absent(scope, hit) or _is_mended(scope, hit):
        return False
    prose = scope.reading.prose
    if _EMPTY.match(prose, hit.end) or (hit.name == "issue" and _NUMBER.match(prose, hit.end)):
        return False
    if prose.startswith("exit", hit.start) and not _FAILING.match(prose, hit.end):
        return False
    return not scope.reading.in_heading(hit.start) or _has_content(scope, hit)


def _absent(scope: Scope, hit: Hit) -> bool:
    """ "No errors", "not a bug", "did not find any problems"; but not "did not fix the bug"."""
    if scope.before("absence", hit, 4):
        return True
    negation = scope.negated(hit, 5)
    if negation is None:
        return False
    return " any " in scope.reading.prose[negation.end : hit.start] or scope.negated(hit, 1) is not None


def _is_mended(scope: Scope, hit: Hit) -> bool:
    """ "Fixed the bug", "the error is resolved"; but not "the error is not resolved"."""
    if not scope.of("mended"):
        return False
    for word in (scope.before("mended", hit, 4), scope.after("mended", hit, 4)):
        if word and not scope.negated(word):
            return True
    return False


def _has_content(scope: Scope, heading: Hit) -> bool:
    """Whether the section under a heading says something other than that there is nothing."""
    begin, end = _section(scope.reading, heading.start)
    content = scope.reading.prose[begin:end].strip(_MARKS)
    if not content:
        return False
    start = scope.reading.prose.index(content, begin)
    return not any(hit.start == start for hit in scope.within("nothing", (start, start + 20)))


def _section(reading: Reading, heading: int) -> Span:
    """The beginning of what stands under a heading: right there, or else under a heading below it."""
    top = _depth(reading, heading)
    begin, end = reading.section(heading)
    for _ in range(_SECTIONS):
        if reading.prose[begin : min(end, begin + _READ)].strip(_MARKS) or end == len(reading.prose):
            break
        if _depth(reading, end) <= top:
            break
        begin, end = reading.section(end)
    return begin, min(end, begin + _READ)


def _depth(reading: Reading, heading: int) -> int:
    """How many marks the heading around a position has."""
    begin = reading.sentence(heading)[0]
    line = reading.prose[begin : begin + 12].strip()
    return len(line) - len(line.lstrip("#"))

"""Error words that report an error. The seven patterns are the Ralph Runtime guide's."""

import re
from collections.abc import Iterable

from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.vocabulary import Hit

__all__ = ["detect_faults"]

LOOKED_AT = 500
"""Error words that are looked at, half of them from the end."""
_EMPTY = re.compile(r"[\"']?\s{0,3}[:=]\s{0,3}(?:null|none|nil|0|false|no|\[\]|\{\}|无|無|-)(?![\w.])")
_NUMBER = re.compile(r"\s?#\d")


def detect_faults(reply: Reply) -> Iterable[Signal]:
    """The error words that report an error: neither negated nor mended, and no empty heading."""
    scope, hits = reply.scope, reply.scope.of("fault")
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
    return not scope.reading.in_heading(hit.start) or _has_content(scope, hit)


def _absent(scope: Scope, hit: Hit) -> bool:
    """ "No errors", "not a bug", "did not find any problems"; but not "did not fix the bug"."""
    if scope.before("absence", hit, 4) or scope.negated(hit, 1):
        return True
    negation = scope.negated(hit, 5)
    return negation is not None and " any " in scope.reading.prose[negation.end : hit.start]


def _is_mended(scope: Scope, hit: Hit) -> bool:
    """ "Fixed the bug", "the error is resolved"; but not "the error is not resolved"."""
    for word in (scope.before("mended", hit, 4), scope.after("mended", hit, 4)):
        if word and not scope.negated(word):
            return True
    return False


def _has_content(scope: Scope, heading: Hit) -> bool:
    """Whether the section under a heading says something other than that there is nothing."""
    begin, end = scope.reading.section(heading.start)
    content = scope.reading.prose[begin : min(end, begin + 2000)].strip(" \t\n*_-:.")
    if not content:
        return False
    start = scope.reading.prose.index(content, begin)
    return not any(hit.start == start for hit in scope.within("nothing", (start, start + 20)))

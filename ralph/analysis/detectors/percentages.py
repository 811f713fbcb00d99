"""Percentages that are a share of the work."""

import re
from collections import deque
from collections.abc import Iterable, Iterator

from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.text import Span
from ralph.system.text import pattern

__all__ = ["detect_percentages"]

_PERCENT = pattern(r"(?P<n>[0-9](?<![\w.,].)[0-9]{0,2})(?:\.[0-9]{1,6}|,[0-9]{1,2})?\s?(?:[%％]|percent\b|per\scent\b)")
"""Its first character is one of a set, to which `re` skips ahead."""
_IN_CHINESE = pattern(r"百分之\s?(?P<n>[0-9]{1,3})(?![0-9])")
_SIGNS, _SIGN_IN_CHINESE = ("%", "％", "percent", "per cent"), "百分之"
_MARKS = (*_SIGNS, _SIGN_IN_CHINESE)
_NEAR, _BESIDE = 40, 20
_LOOKED_AT = 200
_NEXT = 4
"""Characters between a percentage and what stands right behind it, marks of emphasis included."""


def detect_percentages(reply: Reply) -> Iterable[Signal]:
    """The last percentage that stands beside a word of progress and not beside another quantity."""
    prose = reply.reading.prose
    if not reply.scope.of("progress") or not any(map(prose.__contains__, _MARKS)):
        return ()
    return _shares(reply)


def _shares(reply: Reply) -> Iterator[Signal]:
    for match in _matches(reply.reading.prose):
        number = int(match["n"])
        if number <= 100 and _of_work(reply.scope, match.span()):
            why = f"The reply says {number} %."
            yield Signal("percentage", "", *match.span(), number, why, amount=number)
            return


def _matches(prose: str) -> list[re.Match[str]]:
    """The last percentages, last first."""
    found: list[re.Match[str]] = []
    if any(map(prose.__contains__, _SIGNS)):
        found += deque(_PERCENT.finditer(prose), _LOOKED_AT)
    if _SIGN_IN_CHINESE in prose:
        found += deque(_IN_CHINESE.finditer(prose), _LOOKED_AT)
    return sorted(found, key=lambda match: match.start(), reverse=True)[:_LOOKED_AT]


def _of_work(scope: Scope, span: Span) -> bool:
    """Whether a percentage is a share of the work: "30% complete" is, whatever else its sentence measures."""
    start, end = span
    begin, stop = scope.reading.sentence(start)
    right_behind = (end, min(stop, end + _NEXT + len("completed")))
    if any(hit.start <= end + _NEXT for hit in scope.within("progress", right_behind)):
        return True
    near = (max(begin, start - _NEAR), min(stop, end + _NEAR))
    beside = (max(begin, start - _BESIDE), min(stop, end + _BESIDE))
    return bool(scope.within("progress", near)) and not scope.within("unrelated", beside)

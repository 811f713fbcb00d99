"""Percentages that are a share of the work."""

import re
from collections.abc import Iterable

from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.text import Span

__all__ = ["detect_percentages"]

_PERCENT = re.compile(
    r"(?<![\w.,])(?P<n>\d{1,3})(?:\.\d{1,6}|,\d{1,2})?\s?(?:[%％]|percent\b|per\scent\b)|百分之\s?(?P<zh>\d{1,3})(?!\d)"
)
_SIGNS = ("%", "％", "percent", "per cent", "百分之")
_NEAR, _BESIDE = 40, 20
_LOOKED_AT = 200
_NEXT = 4
"""Characters between a percentage and what stands right behind it, marks of emphasis included."""


def detect_percentages(reply: Reply) -> Iterable[Signal]:
    """The last percentage that stands beside a word of progress and not beside another quantity."""
    prose = reply.reading.prose
    matches = list(_PERCENT.finditer(prose)) if any(sign in prose for sign in _SIGNS) else []
    for match in reversed(matches[-_LOOKED_AT:]):
        number = int(match["n"] or match["zh"])
        if number <= 100 and _of_work(reply.scope, match.span()):
            why = f"The reply says {number} %."
            yield Signal("percentage", "", *match.span(), number, why, amount=number)
            return


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

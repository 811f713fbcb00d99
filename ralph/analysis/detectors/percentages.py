"""Percentages that are a share of the work."""

import re
from collections.abc import Iterable

from ralph.analysis.signals import Reply, Signal

__all__ = ["detect_percentages"]

_PERCENT = re.compile(r"(?<![\w.,])(\d{1,3})(?:\.\d{1,6})?\s?[%％]")
_NEAR = 40
_LOOKED_AT = 200


def detect_percentages(reply: Reply) -> Iterable[Signal]:
    """The last percentage that stands beside a word of progress and not beside another quantity."""
    scope, prose = reply.scope, reply.reading.prose
    matches = list(_PERCENT.finditer(prose)) if "%" in prose or "％" in prose else []
    for match in reversed(matches[-_LOOKED_AT:]):
        number = int(match[1])
        begin, end = scope.reading.sentence(match.start())
        around = (max(begin, match.start() - _NEAR), min(end, match.end() + _NEAR))
        close = (
            max(begin, match.start() - _NEAR // 2),
            around[1] - _NEAR // 2 if around[1] > match.end() + 20 else around[1],
        )
        if number <= 100 and scope.within("progress", around) and not scope.within("unrelated", close):
            why = f"The reply says {number} %."
            yield Signal("percentage", "", *match.span(), number, why, amount=number)
            return

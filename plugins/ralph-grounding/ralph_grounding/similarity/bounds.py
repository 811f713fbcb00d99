"""Bounds of amounts: "at most 12" and "at least 12" name the same number, and say the opposite."""

import re
from typing import NamedTuple

from ralph_grounding.similarity.statement import Statement

__all__ = ["Bound", "bound_of"]

_UPPER = (
    "at (?:the )?(?:very )?most|up to|(?:less|fewer|lower|earlier|younger|shorter) than|under|below|beneath|"
    "(?:a )?max(?:imum)?(?: of)?|before|by|until|till|within|höchstens|maximal|bis zu|bis|weniger als|unter|vor|"
    "au plus|moins de|avant|jusqu'à|como máximo|menos de|antes de|hasta|al massimo|meno di|prima di|fino a"
)
_LOWER = (
    "at (?:the )?(?:very )?least|(?:more|greater|higher|later|older|longer) than|over|above|exceeding|"
    "(?:a )?min(?:imum)?(?: of)?|after|from|since|starting at|mindestens|wenigstens|mehr als|über|ab|nach|seit|"
    "au moins|plus de|après|à partir de|al menos|más de|después de|desde|almeno|più di|dopo|oltre"
)
_BEFORE = re.compile(
    rf"(?:^|[^\w])(?P<no>(?:no|not|nicht|pas|no es|non) )?(?:(?P<upper>{_UPPER})|(?P<lower>{_LOWER}))"
    r"(?: (?:the )?ages?(?: of)?| aged| the)?[ \u00a0]?$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r" ?(?:[\w-]+ ){0,2}?(?:or|and|oder|und|ou|et|o|y) "
    r"(?:(?P<upper>less|fewer|under|below|younger|earlier|weniger|jünger|früher|moins|menos|meno)|"
    r"(?P<lower>more|over|above|older|up|upwards|later|mehr|älter|später|plus|más|più))\b"
    r"(?! (?:than|to|als|bis|de|que|di)\b| ?[$€£¥]?\d)"
    r"| ?(?:at (?:the )?(?:(?P<most>most|latest)|(?P<least>least|earliest))"
    r"|(?P<max>max(?:imum)?)\b|(?P<min>minimum)\b)",
    re.IGNORECASE,
)
_LAST = frozenset(re.findall(r"[^\W\d_]+", f"{_UPPER} {_LOWER} the age ages of aged"))
"""The words that may stand directly before the amount; most amounts have another one there."""
_REACH = 40


class Bound(NamedTuple):
    """The bound that an amount is.

    Attributes:
        upper: True for "at most" and "before", False for "at least" and "after".
        start, end: of its words in the text, with the amount.
        places: of its words, without those of the amount.
    """

    upper: bool
    start: int
    end: int
    places: tuple[int, ...]


def bound_of(said: Statement, start: int, end: int) -> Bound | None:
    """Return the bound that the amount or date there is; None for a plain one."""
    first = max(0, start - _REACH)
    before = said.text[first:start]
    last = before.rpartition(" ")[2] or before[:-1].rpartition(" ")[2]
    if (last.strip().lower() in _LAST or "'" in last) and (match := _BEFORE.search(before)):
        upper = (match["upper"] is not None) is not bool(match["no"])
        begins = first + min(at for at in (match.start("no"), match.start("upper"), match.start("lower")) if at >= 0)
        return Bound(upper, begins, end, _places(said, begins, start))
    if match := _AFTER.match(said.text, end, end + _REACH):
        upper = any(match[name] for name in ("upper", "most", "max"))
        return Bound(upper, start, match.end(), _places(said, end, match.end())[-2:])
    return None


def _places(said: Statement, start: int, end: int) -> tuple[int, ...]:
    return tuple(place for place, word in enumerate(said.words) if start <= word.start < end)

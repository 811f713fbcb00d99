"""Lines of the prose, for what depends on where in its line a word stands."""

from ralph.system.text import pattern

__all__ = ["in_list", "line_end", "line_start"]

_BACK = 300
"""Characters of a line that are looked at before a word, and as many behind it."""
_ITEM = pattern(r"\s{0,8}(?:[-*+•]\s|\d{1,3}[.)]\s|\|)")


def line_start(prose: str, position: int) -> int:
    """Where the line around a position begins, or a place far enough before."""
    floor = position - _BACK if position > _BACK else 0
    return prose.rfind("\n", floor, position) + 1 or floor


def line_end(prose: str, position: int) -> int:
    """Where it ends, or a place far enough behind."""
    end = prose.find("\n", position, position + _BACK)
    return end if end >= 0 else min(len(prose), position + _BACK)


def in_list(prose: str, position: int) -> bool:
    """Whether it is an item of a list, or a row of a table."""
    return _ITEM.match(prose, line_start(prose, position)) is not None

"""Checks of the work: the build, the tests, the linter, by their names or by their commands."""

from ralph.analysis.signals import Reply
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["is_of_check"]

_COMMAND = pattern(r"\b(?:build|tests?|lint|tsc|checks?|compile|make|pytest|vet|clippy|mypy|ruff|eslint|verify)\b")
_REACH = 100


def is_of_check(reply: Reply, verdict: Hit) -> bool:
    """Whether a verdict such as "passes" is one on a check: "the build passes", "`npm test` now passes"."""
    if reply.scope.before("check", verdict, 3):
        return True
    before = reply.reading.text[max(0, verdict.start - _REACH) : verdict.start]
    code, mark, between = before.rpartition("`")
    return bool(mark) and len(between.split()) <= 2 and _COMMAND.search(code.rpartition("`")[2]) is not None

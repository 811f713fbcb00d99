"""Checks of the work: the build, the tests, the linter, by their names or by their commands."""

from ralph.analysis.signals import Reply
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["is_of_check"]

_COMMAND = pattern(r"\b(?:build|tests?|lint|tsc|checks?|compile|make|pytest|vet|clippy|mypy|ruff|eslint|verify)\b")
_CALL = pattern(r"[a-z][\w./-]{1,30}\s\S")
"""A command with what it is called with, whatever its name."""
_REACH = 100
_WORDS = 8


def is_of_check(reply: Reply, verdict: Hit) -> bool:
    """Whether a verdict such as "passes" is one on a check: "the build passes", "Lint: clean", "`npm test` passes"."""
    scope, reading = reply.scope, reply.reading
    if scope.before("check", verdict, _WORDS):
        return True
    begin = max(reading.sentence(verdict.start)[0], verdict.start - _REACH)
    for check in scope.within("check", (begin, verdict.start))[-1:]:
        label = reading.prose[check.end : verdict.start].lstrip(" *_")
        return label.startswith((":", "：")) and len(label.split()) <= _WORDS
    code, mark, between = reading.text[begin : verdict.start].rpartition("`")
    if not mark or len(between.split()) > 2:
        return False
    command = code.rpartition("`")[2]
    return bool(_COMMAND.search(command) or _CALL.match(command))

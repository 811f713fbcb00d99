"""What was done, in one line: "Modified 3 files, 12 tests passing, 2 errors fixed"."""

from ralph.analysis.anchored import Anchored
from ralph.analysis.signals import Reply, Signals

__all__ = ["work_summary"]

_CHANGED = ("modified", "changed", "updated", "edited", "created", "added")
_DIGITS = tuple("0123456789")
_FILES = Anchored(
    (*_CHANGED, "touched", "wrote", *_DIGITS),
    rf"""\b(?:{"|".join(_CHANGED)}|touched|wrote)\s(?P<n>\d{{1,6}})\s(?:\w{{1,20}}\s)?files?\b
        |\b(?P<m>\d{{1,6}})\s(?:\w{{1,20}}\s)?files?\s(?:were\s|was\s)?(?:{"|".join(_CHANGED)})\b""",
)
_WROTE = (*_CHANGED, "wrote", "implemented", "refactored", "rewrote", "fixed")
_NAMED = Anchored(
    _WROTE,
    rf"\b(?:{'|'.join(_WROTE)})\b[^\n.;`]{{0,40}}?`?((?:[\w-]{{1,40}}/){{0,8}}[\w-]{{1,60}}\.[a-z]{{1,5}})\b",
)
_MENDED = ("fixed", "resolved", "corrected")
_FIXING = f"(?:{'|'.join(_MENDED)})"
_FAULT = r"(?:error|bug|issue|problem|failure)"
_FIXED = Anchored(
    (*_MENDED, *_DIGITS),
    rf"""\b{_FIXING}\s(?:(?:all|the|these)\s){{0,2}}(?P<n>\d{{1,6}})\s(?:[\w-]{{1,20}}\s){{0,2}}?{_FAULT}s?\b
        |\b(?P<m>\d{{1,6}})\s(?:[\w-]{{1,20}}\s)?{_FAULT}s?\s(?:(?:were|was|are|have\sbeen)\s)?{_FIXING}\b""",
)
_FIXED_ONE = Anchored(_MENDED, rf"\b{_FIXING}\s(?:an?|the|this|that|one)\s(?:[\w-]{{1,20}}\s){{0,4}}?{_FAULT}\b")
_MATCHES = 500


def work_summary(reply: Reply) -> str:
    """Files changed, tests run and errors fixed; empty where nothing of that is told. The workspace's changes, where
    they are known, say how many files changed, not the reply.
    """
    changes, lower = reply.context.changes, reply.reading.lower
    files = changes.files_changed if changes.known else _files(lower)
    parts = [f"Modified {_number(files, 'file')}"] if files else []
    if passed := _counted(reply.signals, "tests_passed"):
        parts.append(f"{_number(passed, 'test')} passing")
    if failed := _counted(reply.signals, "tests_failed"):
        parts.append(f"{_number(failed, 'test')} failing")
    if fixed := _count(_FIXED, lower) or _matches(_FIXED_ONE, lower):
        parts.append(f"{_number(fixed, 'error')} fixed")
    return ", ".join(parts)


def _counted(signals: Signals, kind: str) -> int:
    signal = signals.first(kind)
    return signal.amount if signal else 0


def _files(lower: str) -> int:
    """How many files the reply says it changed, or else how many it names beside a word of change."""
    if counted := _count(_FILES, lower):
        return counted
    names: set[str] = set()
    for index, match in enumerate(_NAMED.finditer(lower)):
        names.add(match[1])
        if index >= _MATCHES:
            break
    return len(names)


def _count(pattern: Anchored, lower: str) -> int:
    match = pattern.search(lower)
    return int(match["n"] or match["m"]) if match else 0


def _matches(pattern: Anchored, lower: str) -> int:
    return sum(1 for _, _ in zip(pattern.finditer(lower), range(_MATCHES), strict=False))


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

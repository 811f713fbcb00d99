"""What was done, in one line: "Modified 3 files, 12 tests passing, 2 errors fixed"."""

import re

from ralph.analysis.testruns import SuiteOutcome
from ralph.analysis.text import Reading
from ralph.changes import Changes

__all__ = ["work_summary"]

_FILES = re.compile(
    r"\b(?:modified|changed|updated|edited|created|added|touched|wrote)\s(?P<n>\d{1,6})\s(?:\w{1,20}\s)?files?\b"
    r"|\b(?P<m>\d{1,6})\s(?:\w{1,20}\s)?files?\s(?:were\s|was\s)?(?:modified|changed|updated|edited|created|added)\b"
)
_NAMED = re.compile(
    r"\b(?:modified|changed|updated|edited|created|added|wrote|implemented|refactored|rewrote|fixed)\b"
    r"[^\n.;`]{0,40}?`?((?:[\w-]{1,40}/){0,8}[\w-]{1,60}\.[a-z]{1,5})\b"
)
_MENDED = r"(?:fixed|resolved|corrected)"
_FAULT = r"(?:error|bug|issue|problem|failure)"
_FIXED = re.compile(
    rf"\b{_MENDED}\s(?:(?:all|the|these)\s){{0,2}}(?P<n>\d{{1,6}})\s(?:[\w-]{{1,20}}\s){{0,2}}?{_FAULT}s?\b"
    rf"|\b(?P<m>\d{{1,6}})\s(?:[\w-]{{1,20}}\s)?{_FAULT}s?\s(?:(?:were|was|are|have\sbeen)\s)?{_MENDED}\b"
)
_FIXED_ONE = re.compile(rf"\b{_MENDED}\s(?:an?|the|this|that|one)\s(?:[\w-]{{1,20}}\s){{0,4}}?{_FAULT}\b")
_MATCHES = 500


def work_summary(reading: Reading, suite: SuiteOutcome, changes: Changes | None = None) -> str:
    """Files changed, tests run and errors fixed; empty where nothing of that is told.

    Args:
        changes: of the workspace; where they are known they say how many files changed, not the reply.
    """
    files = changes.files_changed if changes and changes.known else _files(reading.lower)
    parts = [f"Modified {_number(files, 'file')}"] if files else []
    if suite.passed:
        parts.append(f"{_number(suite.passed, 'test')} passing")
    if suite.failed:
        parts.append(f"{_number(suite.failed, 'test')} failing")
    if fixed := _count(_FIXED, reading.lower) or _matches(_FIXED_ONE, reading.lower):
        parts.append(f"{_number(fixed, 'error')} fixed")
    return ", ".join(parts)


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


def _count(pattern: re.Pattern[str], lower: str) -> int:
    match = pattern.search(lower)
    return int(match["n"] or match["m"]) if match else 0


def _matches(pattern: re.Pattern[str], lower: str) -> int:
    return sum(1 for _, _ in zip(pattern.finditer(lower), range(_MATCHES), strict=False))


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

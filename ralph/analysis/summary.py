"""What was done, in one line: "Modified 3 files, 12 tests passing, 2 errors fixed"."""

from ralph.analysis.anchored import Anchored, Around
from ralph.analysis.pattern import pattern
from ralph.analysis.signals import Reply, Signals

__all__ = ["work_summary"]

_TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDS = {word: count for count, word in enumerate(_TEN, start=1)} | {"both": 2}
_COUNT = rf"(?:\d{{1,6}}|{'|'.join(_WORDS)})"

_CHANGED = ("modified", "changed", "updated", "edited", "created", "added")
_CHANGING = "|".join(_CHANGED)
_FILES = Around(
    ("file",),
    rf"""\b(?:{_CHANGING}|touched|wrote)\s(?P<n>{_COUNT})\s(?:\w{{1,20}}\s)?files?\b
        |\b(?P<m>{_COUNT})\s(?:\w{{1,20}}\s)?files?\s(?:were\s|was\s)?(?:{_CHANGING})\b
        |\bfiles?\s(?:{_CHANGING})\s?[:=]\s?(?P<l>{_COUNT})\b""",
    before=50,
    after=50,
)
_WROTE = (*_CHANGED, "wrote", "implemented", "refactored", "rewrote", "fixed")
_NAME = r"(?:[\w-]{1,40}/){0,8}[\w-]{1,60}\.[a-z]{1,5}\b"
_NAMED = Anchored(
    _WROTE,
    rf"\b(?:{'|'.join(_WROTE)})\b[^\n.;`]{{0,40}}?(?P<names>`?{_NAME}`?(?:(?:,?[ ]and|,)[ ]`?{_NAME}`?){{0,20}})",
)
_NAMES = pattern(_NAME)
_MENDED = ("fixed", "resolved", "corrected")
_FIXING = f"(?:{'|'.join(_MENDED)})"
_FAULT = r"(?:error|bug|issue|problem|failure)"
_FIXED = Around(
    _MENDED,
    rf"""\b{_FIXING}\s(?:(?:all|the|these)\s){{0,2}}(?P<n>{_COUNT})\s(?:[\w-]{{1,20}}\s){{0,2}}?{_FAULT}s?\b
        |\b(?P<m>{_COUNT})\s(?:[\w-]{{1,20}}\s)?{_FAULT}s?\s(?:(?:were|was|are|have\sbeen)\s)?{_FIXING}\b
        |\b{_FAULT}s?\s{_FIXING}\s?[:=]\s?(?P<l>{_COUNT})\b""",
    before=60,
    after=80,
)
_FIXED_ONE = Anchored(_MENDED, rf"\b{_FIXING}\s(?:an?|the|this|that)\s(?:[\w-]{{1,20}}\s){{0,4}}?{_FAULT}\b")
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
        names.update(_NAMES.findall(match["names"]))
        if index >= _MATCHES:
            break
    return len(names)


def _count(pattern: Around, lower: str) -> int:
    match = pattern.search(lower)
    said = (match["n"] or match["m"] or match["l"]) if match else "0"
    return _WORDS.get(said) or int(said)


def _matches(pattern: Anchored, lower: str) -> int:
    return sum(1 for _, _ in zip(pattern.finditer(lower), range(_MATCHES), strict=False))


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

"""What was done, in one line: "Modified 3 files, 12 tests passing, 2 errors fixed"."""

from itertools import islice

from ralph.analysis.anchored import Anchored, Around
from ralph.analysis.counting import COUNT, counted
from ralph.analysis.files import told_files
from ralph.analysis.signals import Reply, Signals

__all__ = ["work_summary"]

_READ = 20_000
"""Characters in which single errors are looked for, from the end."""
_MENDED = ("fixed", "resolved", "corrected", "修復", "修复", "修正", "解決", "解决")
_FIXING = f"(?:{'|'.join(word for word in _MENDED if word.isascii())})"
_FAULTS = ("error", "bug", "issue", "problem", "failure")
_FAULTS_IN_CHINESE = ("錯誤", "错误", "問題", "问题", "缺陷", "bug", "漏洞")
_FAULT = f"(?:{'|'.join(_FAULTS)})"
_FIXED = Around(
    _MENDED,
    rf"""\b(?:{_FIXING}\s(?:(?:all|the|these)\s){{0,2}}(?P<n>{COUNT})\s(?:[\w-]{{1,20}}\s){{0,2}}?{_FAULT}s?
            |(?P<m>{COUNT})\s(?:[\w-]{{1,20}}\s)?{_FAULT}s?\s(?:(?:were|was|are|have\sbeen)\s)?{_FIXING}
            |{_FAULT}s?\s{_FIXING}[*_]{{0,2}}[ ]?[:=(][*_]{{0,2}}[ ]?(?P<l>{COUNT})
        )\b
        |(?:修[復复正]|解[決决])了?\s?(?P<z>\d{{1,6}}|[一二兩两三四五六七八九十])\s?[個个項项]?\s?
            (?:{"|".join(_FAULTS_IN_CHINESE)})""",
    before=60,
    after=80,
    needed="|".join((*_FAULTS, *_FAULTS_IN_CHINESE)),
)
_FIXED_ONE = Anchored(
    _MENDED[:3], rf"\b{_FIXING}\s(?:an?|the|this|that)\s(?:[\w-]{{1,20}}\s){{0,4}}?{_FAULT}\b", needed=_MENDED[:3]
)
_MOST = 100


def work_summary(reply: Reply) -> str:
    """Files changed, tests run and errors fixed; empty where nothing of that is told. The workspace's changes, where
    they are known, say how many files changed, not the reply.
    """
    changes, lower = reply.context.changes, reply.reading.lower
    files = changes.files_changed if changes.known else told_files(lower)
    parts = [f"Modified {_number(files, 'file')}"] if files else []
    if passed := _amount(reply.signals, "tests_passed"):
        parts.append(f"{_number(passed, 'test')} passing")
    if failed := _amount(reply.signals, "tests_failed"):
        parts.append(f"{_number(failed, 'test')} failing")
    if fixed := _errors_fixed(lower):
        parts.append(f"{_number(fixed, 'error')} fixed")
    return ", ".join(parts)


def _amount(signals: Signals, kind: str) -> int:
    signal = signals.first(kind)
    return signal.amount if signal else 0


def _errors_fixed(lower: str) -> int:
    """How many errors the text says were fixed, or else how many it tells of one by one."""
    if match := _FIXED.search(lower):
        return counted(match["n"] or match["m"] or match["l"] or match["z"])
    return sum(1 for _ in islice(_FIXED_ONE.finditer(lower[-_READ:]), _MOST))


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

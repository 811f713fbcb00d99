"""What was done, in one line: "Modified 3 files, 12 tests passing, 2 errors fixed"."""

from itertools import islice

from ralph.analysis.anchored import Around, matches_at
from ralph.analysis.counting import COUNT, counted
from ralph.analysis.files import told_files
from ralph.analysis.mentions import MENDED, MENDED_IN_CHINESE, Mentions, mentions
from ralph.analysis.signals import Reply, Signals
from ralph.system.text import pattern

__all__ = ["work_summary"]

_FIXING = f"(?:{'|'.join(MENDED)})"
_FAULTS = ("error", "bug", "issue", "problem", "failure")
_FAULTS_IN_CHINESE = ("錯誤", "错误", "問題", "问题", "缺陷", "bug", "漏洞")
_FAULT = f"(?:{'|'.join(_FAULTS)})"
_FAULT_BEFORE = 22
"""Characters before a word of `MENDED` within which a fault that it is said of begins."""
_NUMBER_BEHIND = pattern(
    rf"{_FIXING}\s(?:(?:all|the|these)\s){{0,2}}{COUNT}\s|[修解]\w了?\s?[\d一二兩两三四五六七八九十]"
)


def _may_be_of_faults(lower: str, place: int) -> bool:
    """Whether the word of mending at a place may have a number behind it, or a fault before it: a quick look."""
    before = lower[max(0, place - _FAULT_BEFORE) : place]
    if before[-1:].isspace() and any(map(before.__contains__, _FAULTS)):
        return True
    return _NUMBER_BEHIND.match(lower, place) is not None


_FIXED = Around(
    (*MENDED, *MENDED_IN_CHINESE),
    rf"""\b(?:{_FIXING}\s(?:(?:all|the|these)\s){{0,2}}(?P<n>{COUNT})\s(?:(?!\d)[\w-]{{1,20}}\s){{0,2}}?{_FAULT}s?
            |(?P<m>{COUNT})\s(?:(?!\d)[\w-]{{1,20}}\s)?{_FAULT}s?\s(?:(?:were|was|are|have\sbeen)\s)?{_FIXING}
            |{_FAULT}s?\s{_FIXING}[*_]{{0,2}}[ ]?[:=(][*_]{{0,2}}[ ]?(?P<l>{COUNT})
        )\b
        |(?:修[復复正]|解[決决])了?\s?(?P<z>\d{{1,6}}|[一二兩两三四五六七八九十])\s?[個个項项]?\s?
            (?:{"|".join(_FAULTS_IN_CHINESE)})""",
    before=60,
    after=80,
    likely=_may_be_of_faults,
)
_FIXED_ONE = pattern(rf"\b{_FIXING}\s(?:an?|the|this|that)\s(?:[\w-]{{1,20}}\s){{0,4}}?{_FAULT}\b")
_MOST = 100


def work_summary(reply: Reply) -> str:
    """Files changed, tests run and errors fixed; empty where nothing of that is told. The workspace's changes, where
    they are known, say how many files changed, not the reply.
    """
    changes, lower = reply.context.changes, reply.reading.lower
    mentioned = mentions(lower)
    told = told_files(lower, mentioned) if mentioned and not changes.known else 0
    files = changes.files_changed if changes.known else told
    parts = [f"Modified {_number(files, 'file')}"] if files else []
    if passed := _amount(reply.signals, "tests_passed"):
        parts.append(f"{_number(passed, 'test')} passing")
    if failed := _amount(reply.signals, "tests_failed"):
        parts.append(f"{_number(failed, 'test')} failing")
    if mentioned and (fixed := _errors_fixed(lower, mentioned)):
        parts.append(f"{_number(fixed, 'error')} fixed")
    return ", ".join(parts)


def _amount(signals: Signals, kind: str) -> int:
    signal = signals.first(kind)
    return signal.amount if signal else 0


def _errors_fixed(lower: str, mentioned: Mentions) -> int:
    """How many errors the text says were fixed, or else how many it tells of one by one."""
    places = mentioned.mended
    may_count = places or mentioned.chinese or not mentioned.everywhere
    if may_count and (match := _FIXED.search(lower)):
        return counted(match["n"] or match["m"] or match["l"] or match["z"])
    return sum(1 for _ in islice(matches_at(_FIXED_ONE, mentioned.tail, places), _MOST)) if places else 0


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

"""Errors made comparable: what stays the same of one from a time to the next.

The strong lines are what programs print.
"""

import re
from collections.abc import Iterable

from ralph.analysis.patterns import PrefilteredPattern
from ralph.analysis.text import Reading
from ralph.system.text import pattern, storable
from ralph.types.output import Failed

__all__ = ["error_signature", "error_signatures", "failure_signature"]

SIGNATURES = 20
_LENGTH = 120
_STRONG_LINES = 60
_LINE = 300

_NAMES = ("error", "exception", "panic", "fatal")
_SAID = (
    *("traceback (most recent call last)", "command not found", "segmentation fault", "permission denied"),
    "no such file or directory",
)
_STRONG = PrefilteredPattern(
    (*(f"{name}{end}" for name in _NAMES for end in (": ", "[")), *_SAID, "exit code ", "exit status "),
    rf"""(?:{"|".join(_NAMES)})(?:\[\w{{1,12}}\])?:[ ]
        |exit[ ](?:code|status)[ ][1-9]
        |{"|".join(map(re.escape, _SAID))}""",
)
_DROPPED = (
    (pattern(r"0x[0-9a-f]+|\b[0-9a-f]{7,64}\b"), " "),
    (pattern(r"(?<![\w.~@+-])(?:[a-z]:)?(?:[\w.~@+-]{0,80}[/\\]){1,40}[\w.~@+-]{0,80}"), "path"),
    (pattern(r"\d+(?:[.:,]\d+)*"), " "),
    (pattern(r"[\"'`“”‘’]"), ""),
    (pattern(r"\s+"), " "),
)


def error_signatures(reading: Reading, errors: Iterable[str] = (), failure: Failed | None = None) -> tuple[str, ...]:
    """What went wrong, made comparable: error lines of the reply (those in fences too), errors from outside it, and
    the executor's failure. Distinct, at most twenty.
    """
    found: dict[str, None] = {}
    for error in errors:
        found[error_signature(error)] = None
    if failure is not None:
        found[failure_signature(failure)] = None
    for line in _strong_lines(reading):
        found[error_signature(line)] = None
    if not found:
        return ()
    found.pop("", None)
    return tuple(found)[:SIGNATURES]


def failure_signature(failure: Failed) -> str:
    """Such as "failed:unavailable:503"."""
    return f"failed:{failure.failure}" + (f":{failure.status}" if failure.status is not None else "")


def error_signature(error: str) -> str:
    """An error without what differs from one time to the next: paths, numbers, hexadecimal, quotes, case."""
    text = storable(error[: 4 * _LENGTH]).lower()
    for dropped, instead in _DROPPED:
        text = dropped.sub(instead, text)
    return text.strip(" .:,;-")[:_LENGTH]


def _strong_lines(reading: Reading) -> Iterable[str]:
    after = count = 0
    for match in _STRONG.finditer(reading.lower):
        if match.start() < after:
            continue
        begin = max(reading.lower.rfind("\n", max(0, match.start() - _LINE), match.start()) + 1, match.start() - _LINE)
        end = reading.lower.find("\n", match.end(), match.end() + _LINE)
        after = end if end >= 0 else match.end() + _LINE
        yield reading.text[begin:after]
        count += 1
        if count >= _STRONG_LINES:
            return

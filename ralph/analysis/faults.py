"""Error words that report an error, and the normalised signatures of error lines.

The seven patterns are the Ralph Runtime guide's; the strong lines below are what programs print.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ralph.analysis.anchored import Anchored
from ralph.analysis.result import Evidence
from ralph.analysis.scope import Scope
from ralph.analysis.text import Reading
from ralph.analysis.vocabulary import Hit
from ralph.output import Failed

__all__ = ["Faults", "failure_signature", "faults", "normalised", "signatures"]

LOOKED_AT = 500
"""Error words that are looked at, half of them from the end."""
SIGNATURES = 20
_LENGTH = 120
_STRONG_LINES = 60
_LINE = 300

_NAMES = ("error", "exception", "panic", "fatal")
_SAID = (
    *("traceback (most recent call last)", "command not found", "segmentation fault", "permission denied"),
    "no such file or directory",
)
_STRONG = Anchored(
    (*_NAMES, *_SAID, "exit code ", "exit status "),
    rf"""(?:{"|".join(_NAMES)})(?:\[\w{{1,12}}\])?:[ ]
        |exit[ ](?:code|status)[ ][1-9]
        |{"|".join(map(re.escape, _SAID))}""",
)
_EMPTY = re.compile(r"[\"']?\s{0,3}[:=]\s{0,3}(?:null|none|nil|0|false|no|\[\]|\{\}|无|無|-)(?![\w.])")
_NUMBER = re.compile(r"\s?#\d")
_DROPPED = (
    (re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,64}\b"), " "),
    (re.compile(r"(?<![\w.~@+-])(?:[a-z]:)?(?:[\w.~@+-]{0,80}[/\\]){1,40}[\w.~@+-]{0,80}"), "path"),
    (re.compile(r"\d+(?:[.:,]\d+)*"), " "),
    (re.compile(r"[\"'`“”‘’]"), ""),
    (re.compile(r"\s+"), " "),
)


class Faults(NamedTuple):
    """The errors that a reply speaks of.

    Attributes:
        names: the distinct patterns, of seven.
        occurrences: how often they occur.
        fatal: something after which there is no way on.
    """

    names: tuple[str, ...]
    occurrences: int
    fatal: bool
    evidence: tuple[Evidence, ...]


def faults(scope: Scope) -> Faults:
    """The error words of a reply that report an error: neither negated nor mended, and no empty heading."""
    hits = scope.of("fault")
    if len(hits) > LOOKED_AT:
        hits = [*hits[: LOOKED_AT // 2], *hits[-LOOKED_AT // 2 :]]
    counted = [hit for hit in hits if _reports(scope, hit)]
    fatal = [hit for hit in scope.of("fatal")[:LOOKED_AT] if _reports(scope, hit)]
    found = [_evidence("error", hit, -10, f"Speaks of an error ({hit.name}).") for hit in counted]
    found += [_evidence("fatal_error", hit, -30, "There is no way on from this.") for hit in fatal]
    names = {hit.name for hit in counted} or {"error" for _ in fatal}
    return Faults(tuple(sorted(names)), len(counted) + len(fatal), bool(fatal), tuple(found))


def signatures(reading: Reading, errors: Iterable[str] = (), failure: Failed | None = None) -> tuple[str, ...]:
    """What went wrong, made comparable: error lines of the reply (those in fences too), errors from outside it, and
    the executor's failure. Distinct, at most twenty.
    """
    found = dict.fromkeys(normalised(error) for error in errors if error.strip())
    if failure is not None:
        found[failure_signature(failure)] = None
    for line in _strong_lines(reading):
        found.setdefault(normalised(line))
    found.pop("", None)
    return tuple(found)[:SIGNATURES]


def failure_signature(failure: Failed) -> str:
    """Such as "failed:unavailable:503"."""
    return f"failed:{failure.failure}" + (f":{failure.status}" if failure.status is not None else "")


def normalised(error: str) -> str:
    """An error without what differs from one time to the next: paths, numbers, hexadecimal, quotes, case."""
    text = error[: 4 * _LENGTH].lower()
    for pattern, instead in _DROPPED:
        text = pattern.sub(instead, text)
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


def _reports(scope: Scope, hit: Hit) -> bool:
    """Whether an error word says that there is an error."""
    if _absent(scope, hit) or _is_mended(scope, hit):
        return False
    prose = scope.reading.prose
    if _EMPTY.match(prose, hit.end) or (hit.name == "issue" and _NUMBER.match(prose, hit.end)):
        return False
    return not scope.reading.in_heading(hit.start) or _has_content(scope, hit)


def _absent(scope: Scope, hit: Hit) -> bool:
    """ "No errors", "not a bug", "did not find any problems"; but not "did not fix the bug"."""
    if scope.before("absence", hit, 4) or scope.negated(hit, 1):
        return True
    negation = scope.negated(hit, 5)
    return negation is not None and " any " in scope.reading.prose[negation.end : hit.start]


def _is_mended(scope: Scope, hit: Hit) -> bool:
    """ "Fixed the bug", "the error is resolved"; but not "the error is not resolved"."""
    for word in (scope.before("mended", hit, 4), scope.after("mended", hit, 4)):
        if word and not scope.negated(word):
            return True
    return False


def _has_content(scope: Scope, heading: Hit) -> bool:
    """Whether the section under a heading says something other than that there is nothing."""
    begin, end = scope.reading.section(heading.start)
    content = scope.reading.prose[begin : min(end, begin + 2000)].strip(" \t\n*_-:.")
    if not content:
        return False
    start = scope.reading.prose.index(content, begin)
    return not any(hit.start == start for hit in scope.within("nothing", (start, start + 20)))


def _evidence(signal: str, hit: Hit, weight: float, why: str) -> Evidence:
    return Evidence(signal=signal, start=hit.start, end=hit.end, weight=weight, why=why)

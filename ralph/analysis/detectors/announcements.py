"""What the agent announces to do next: a turn that ends so is not at its end, whatever was said before.

An announcement of the end is none: "Let me summarize", "I'll finish with a short report".
"""

from collections.abc import Iterable

from ralph.analysis.detectors.lines import in_list
from ralph.analysis.scope import Scope
from ralph.analysis.signals import AGAINST, Reply, Signal
from ralph.analysis.text import Reading, Span
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["announced", "detect_announcements"]

_LOOKED_AT = 100
"""Announcements that are looked at, from the end."""
_BEFORE = 200
_CLOSES = 90
"""Characters behind an announcement in which it may turn out to be one of the end."""
_MARK = pattern(r"[,;:—–，、；：(-]|\b(?:so|and|but|then)\b")
_WORD = pattern(r"[a-z0-9']+|[\u3400-\u9fff]{1,2}")
_COMMAND = pattern(r"\s{0,4}(?:\[\w{2,12}\]\s)?[$❯]\s\S")


def detect_announcements(reply: Reply) -> Iterable[Signal]:
    """The last announcement of further work. It contradicts where nothing that is said after it may be a claim."""
    found = _last(reply.scope)
    if found:
        begin, end = found
        rest = end, len(reply.reading.prose)
        later = any(reply.scope.within(role, rest) for role in ("keyword", "achieve", "closed", "nothing left"))
        weight = 0 if later else AGAINST
        yield Signal("announcement", "", begin, end, weight, "Announces what it will do next.")


def announced(reply: Reply) -> int:
    """Where the last announcement ends; what is said before it is not the end of the work."""
    signal = reply.signals.first("announcement")
    return signal.end if signal else 0


def _last(scope: Scope) -> Span | None:
    reading = scope.reading
    ends: list[Span] = []
    for hit in reversed(scope.of("act")[-_LOOKED_AT:]):
        if _announces(scope, hit):
            ends.append((hit.start, reading.sentence(hit.start)[1]))
            break
    if command := _command(reading):
        ends.append(command)
    if colon := _colon(scope):
        ends.append(colon)
    return max(ends, key=lambda span: span[1], default=None)


def _announces(scope: Scope, hit: Hit) -> bool:
    """Whether a clause begins with the words, outside of a list, and what they say is not the end."""
    reading = scope.reading
    begin, end = reading.sentence(hit.start)
    if reading.in_heading(hit.start) or in_list(reading.prose, hit.start):
        return False
    before = reading.prose[max(begin, hit.start - _BEFORE) : hit.start]
    clause = _MARK.split(before)[-1]
    led = len(_WORD.findall(clause)) <= 2 or bool(scope.within("stage", (hit.start - len(clause), hit.start)))
    return led and not scope.within("closer", (hit.start, min(end, hit.end + _CLOSES)))


def _command(reading: Reading) -> Span | None:
    """The last line that is a command and no more: what a transcript shows of a tool call."""
    if "$" not in reading.unfenced and "❯" not in reading.unfenced:
        return None
    at = reading.unfenced.rfind("] $ ")
    tail = reading.unfenced.rstrip()
    for place in (at, len(tail) - 1):
        begin = reading.unfenced.rfind("\n", max(0, place - 500), max(0, place)) + 1
        if place > 0 and _COMMAND.match(reading.unfenced, begin):
            end = reading.unfenced.find("\n", begin)
            return begin, end if end >= 0 else len(reading.unfenced)
    return None


def _colon(scope: Scope) -> Span | None:
    """The sentence that the reply ends with, where it ends in a colon."""
    tail = scope.reading.text.rstrip(" \t\n*_")
    if not tail.endswith((":", "：")):
        return None
    begin = scope.reading.sentence(len(tail) - 1)[0]
    return None if scope.within("closer", (begin, len(tail))) else (begin, len(tail))

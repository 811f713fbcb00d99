"""Completion keywords, and which of them count.

A keyword counts where it reports work: not where it is negated, expected, taken back by its sentence, asked, said in
passing, copied from the task, or said of one part of several.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from ralph.analysis.scope import Scope
from ralph.analysis.signals import HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit

__all__ = ["detect_keywords"]


LOOKED_AT = 50
"""Occurrences of one keyword that are looked at, from the beginning and as many from the end."""

_WORD = re.compile(r"[a-z0-9']+|[\u3400-\u9fff]")
_UNIT = re.compile(r"\b(?:step|phase|part|task|story|milestone|iteration|stage|item|sprint|session)\s{0,2}#?\d{1,4}\b")
_PART = re.compile(r"\bfirst\s(?:\d{1,4}|one|two|three|four|five|few|half|part|step|phase|batch)\b")
_SHARE = re.compile(r"(?<![\d/])(\d{1,6})\s?(?:/|of|out of)\s?(?:the )?(\d{1,6})(?![\d/])")
_PERCENT = re.compile(r"(?<![\w.,])\d{1,2}(?:\.\d{1,3})?\s?[%％]")
_ASIDE = re.compile(r"(?:ok|okay|great|good|well|right|nice)?[\s,]{0,3}(?:that's|that is|this is)\s+\w+[.!]?")
_BOX = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s\[[ x]\]")
_TASK_READ = 20_000


def detect_keywords(reply: Reply) -> Iterable[Signal]:
    """Every completion keyword, with what speaks against those that do not count; and the weaker words that only move
    the completion score. Without a task nothing is taken for an echo of it.
    """
    scope, echo = reply.scope, _Echo(reply.context.task)
    for hit in _bounded(scope.of("keyword")):
        keyword = reply.words.keywords[hit.name]
        if objection := _objection(scope, hit, echo):
            yield Signal.at(hit, "discounted_keyword", 0, objection)
        else:
            weight = VERY_HIGH if keyword.weight == "very_high" else HIGH
            why = f"Says that the work is complete ({keyword.text})."
            yield Signal("completion_keyword", keyword.text, hit.start, hit.end, weight, why, "done")
    for hit in scope.of("success")[:LOOKED_AT]:
        if not (scope.negated(hit, 5) or scope.before("future", hit, 6) or scope.taken_back(hit)):
            yield Signal.at(hit, "success_word", 0, "A word of success.")
            break
    for hit in scope.of("lost")[:1]:
        yield Signal.at(hit, "lost", 0, "The agent does not know what to do.")


def _bounded(hits: Sequence[Hit]) -> list[Hit]:
    """The first and the last occurrences of each keyword, in order."""
    if len(hits) <= LOOKED_AT:
        return list(hits)
    names = {hit.name for hit in hits}
    kept: set[Hit] = set()
    for name in names:
        kept.update(islice((hit for hit in hits if hit.name == name), LOOKED_AT))
        kept.update(islice((hit for hit in reversed(hits) if hit.name == name), LOOKED_AT))
    return sorted(kept, key=lambda hit: hit.start)


def _objection(scope: Scope, hit: Hit, echo: "_Echo") -> str:
    """Why a keyword does not count; empty where it does."""
    if scope.reading.in_heading(hit.start):
        return "It stands in a heading."
    if negation := scope.negated(hit, 5):
        return f"“{negation.name}” turns it round."
    if future := scope.before("future", hit, 6):
        return f"It has not happened yet: “{future.name}”."
    if taken := scope.taken_back(hit):
        return f"“{taken.name}” takes it back."
    return _misplaced(scope, hit) or echo.objection(scope, hit)


def _misplaced(scope: Scope, hit: Hit) -> str:
    """What the shape of its sentence says against a keyword."""
    begin, end = scope.reading.sentence(hit.start)
    sentence = scope.reading.prose[max(begin, hit.start - 300) : min(end, hit.end + 300)].strip()
    if sentence.endswith(("?", "？")):
        return "It is asked, not said."
    if _ASIDE.fullmatch(sentence):
        return "It is said in passing, not in a report of work."
    if _BOX.match(sentence):
        return "It stands in a checklist, whose boxes count by themselves."
    near = scope.reading.prose[max(begin, hit.start - 30) : min(end, hit.end + 30)]
    if (
        _PERCENT.search(near)
        or _PART.search(near)
        or any(int(part) < int(whole) for part, whole in _SHARE.findall(sentence))
    ):
        return "It is said of a part of the whole."
    if scope.of("more") and _UNIT.search(sentence):
        return "It is said of one part, and more is to come."
    return ""


class _Echo:
    """Recognises what was copied from the task: four words in a row, the keyword among them."""

    def __init__(self, task: str) -> None:
        words = _WORD.findall(task[:_TASK_READ].lower())
        self._runs = set(zip(words, words[1:], words[2:], words[3:], strict=False))

    def objection(self, scope: Scope, hit: Hit) -> str:
        if not self._runs:
            return ""
        around: Span = (max(0, hit.start - 60), hit.end + 60)
        found = list(_WORD.finditer(scope.reading.prose, *around))
        for run in zip(found, found[1:], found[2:], found[3:], strict=False):
            if run[0].start() < hit.end and run[3].end() > hit.start and tuple(word[0] for word in run) in self._runs:
                return "It repeats the task's own words."
        return ""

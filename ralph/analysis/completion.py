"""Completion keywords, and which of them count.

A keyword counts where it reports work: not where it is negated, expected, taken back by its sentence, asked, said in
passing, copied from the task, or said of one part of several.
"""

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from ralph.analysis.lexicon import Keyword
from ralph.analysis.result import Completion, Evidence
from ralph.analysis.scope import Scope
from ralph.analysis.testruns import SuiteOutcome
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit, Vocabulary

__all__ = ["Claim", "claims", "completion", "evidence", "points"]

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


class Claim(NamedTuple):
    """A completion keyword in the text. It counts when there is no objection."""

    keyword: Keyword
    hit: Hit
    objection: str


def claims(scope: Scope, words: Vocabulary, task: str = "") -> tuple[Claim, ...]:
    """Every completion keyword of a reply, with what speaks against it.

    Args:
        task: the task's description; without it nothing is taken for an echo.
    """
    echo = _Echo(task)
    hits = _bounded(scope.of("keyword"))
    return tuple(Claim(words.keywords[hit.name], hit, _objection(scope, hit, echo)) for hit in hits)


def completion(found: Sequence[Claim], run: SuiteOutcome, *, open_items: int = 0, said_so: bool = False) -> Completion:
    """Whether the words say that the task is done: a very high keyword, or two signals.

    Args:
        open_items: unticked boxes in the reply's own checklist; they contradict a claim.
        said_so: the status block says so; a signal of its own.
    """
    counted = {claim.keyword.text: claim.keyword for claim in found if not claim.objection}
    very_high = any(keyword.weight == "very_high" for keyword in counted.values())
    signals = len(counted) + run.passing + said_so
    enough = very_high or (bool(counted) and signals >= 2)
    contradicted = run.test_only or run.failed > 0 or open_items > 0
    confidence = 100.0 if very_high or len(counted) >= 2 else 60.0 * len(counted)
    return Completion(
        detected=enough and not contradicted,
        keywords=tuple(counted),
        test_only=run.test_only,
        confidence=confidence,
    )


def points(found: Sequence[Claim]) -> tuple[int, tuple[str, ...]]:
    """The go-ralph rule: the points of every group of keywords that has a hit, and the first hit of each."""
    groups: dict[str, Keyword] = {}
    for claim in found:
        if not claim.objection and claim.keyword.points:
            groups.setdefault(claim.keyword.indicator, claim.keyword)
    return sum(keyword.points for keyword in groups.values()), tuple(keyword.text for keyword in groups.values())


def evidence(found: Sequence[Claim]) -> list[Evidence]:
    """Where the keywords stand, with the weight that each has or would have had."""
    return [
        Evidence(
            signal="completion_keyword" if not claim.objection else "discounted_keyword",
            start=claim.hit.start,
            end=claim.hit.end,
            weight=(100 if claim.keyword.weight == "very_high" else 60) if not claim.objection else 0,
            why=claim.objection or f"Says that the work is complete ({claim.keyword.text}).",
        )
        for claim in found
    ]


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

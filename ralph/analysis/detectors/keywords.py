"""Completion keywords, and which of them count.

A keyword counts where it reports work: not where it is negated, expected, taken back by its sentence, asked, said in
passing, copied from the task, or said of one part of several, nor before the agent announces what it will do next.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ralph.analysis.detectors.objections import Objections
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.vocabulary import Hit

__all__ = ["detect_keywords"]

LOOKED_AT = 50
"""Occurrences of one keyword that are looked at, from the beginning and as many from the end."""
_ALL: frozenset[Role] = frozenset({"keyword", "success", "lost"})


def detect_keywords(reply: Reply) -> Iterable[Signal]:
    """Every completion keyword, with what speaks against those that do not count; and the weaker words that only move
    the completion score. Without a task nothing is taken for an echo of it.
    """
    return _found(reply) if reply.scope.has(_ALL) else ()


def _found(reply: Reply) -> Iterator[Signal]:
    scope, objections = reply.scope, Objections.of(reply)
    for hit in _bounded(scope.of("keyword")):
        if scope.reading.in_heading(hit.start):
            yield Signal.at(hit, "discounted_keyword", 0, "It stands in a heading.")
        elif objection := objections.to_word(hit):
            yield Signal.at(hit, "discounted_keyword", 0, objection)
        else:
            keyword = reply.words.keywords[hit.name]
            weight = VERY_HIGH if keyword.weight == "very_high" else HIGH
            why = f"Says that the work is complete ({keyword.text})."
            named = hit if hit.name == keyword.text else hit._replace(name=keyword.text)
            yield Signal.at(named, "completion_keyword", weight, why, state="done")
    for hit in scope.of("success")[:LOOKED_AT]:
        if not (scope.negated(hit, 5) or scope.before("future", hit, 6) or scope.taken_back(hit)):
            yield Signal.at(hit, "success_word", 0, "A word of success.")
            break
    for hit in scope.of("lost")[:1]:
        yield Signal.at(hit, "lost", 0, "The agent does not know what to do.")


def _bounded(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The first and the last occurrences of each keyword, in order."""
    if len(hits) <= LOOKED_AT:
        return hits
    names = {hit.name for hit in hits}
    kept: set[Hit] = set()
    for name in names:
        kept.update(islice((hit for hit in hits if hit.name == name), LOOKED_AT))
        kept.update(islice((hit for hit in reversed(hits) if hit.name == name), LOOKED_AT))
    return sorted(kept, key=lambda hit: hit.start)

"""How sure the agent is of itself (Ralph Runtime guide): an explicit level, moved by hedges and certainties."""

from collections.abc import Iterable
from typing import NamedTuple

from ralph.analysis.result import Evidence
from ralph.analysis.scope import Scope
from ralph.analysis.vocabulary import Hit

__all__ = ["Certainty", "certainty"]

HIGH, LIKELY, LOW, NEUTRAL = 90, 60, 20, 50
STEP = 10


class Certainty(NamedTuple):
    """The agent's own certainty.

    Attributes:
        score: 0–100.
        explicit: the level that a cue set; None where there is no cue.
        evidence: the cue, and every word that moved the score.
    """

    score: int
    explicit: int | None
    evidence: tuple[Evidence, ...]


def certainty(scope: Scope, *, reported: bool = False) -> Certainty:
    """The agent's own certainty.

    The level of the first cue, or 50; then 10 up or down once for each certain or hedging word. A word that set the
    level is not counted again, and hedges do not lower a level that is low already. A report of completion without
    a hedge is a cue of its own.

    Args:
        reported: the reply reports completion.
    """
    cue, level = _cue(scope)
    hedges = _once(hit for hit in scope.of("hedge") if not _quiet(scope, hit))
    certain = _once(
        hit for hit in scope.of("certainty") if not _quiet(scope, hit) and not scope.negated(hit, 1) and hit != cue
    )
    if level is None and reported and not hedges:
        level = HIGH
    score = (NEUTRAL if level is None else level) + STEP * len(certain)
    if level != LOW:
        score -= STEP * len(hedges)
    found = [_evidence("certainty_cue", cue, level or 0, f"Sets the level to {level}.")] if cue else []
    found += [_evidence("hedge", hit, -STEP, "Sounds unsure.") for hit in hedges]
    found += [_evidence("certainty", hit, STEP, "Sounds sure.") for hit in certain]
    return Certainty(min(100, max(0, score)), level, tuple(found))


def _cue(scope: Scope) -> tuple[Hit | None, int | None]:
    """The word that sets the level: a high one that is not negated, else a low one, else a likely one."""
    unsure = [hit for hit in scope.of("unsure") if not _quiet(scope, hit)]
    high: list[Hit] = []
    for hit in scope.of("certain"):
        if scope.negated(hit):
            unsure.append(hit)
        elif not _quiet(scope, hit) and not _answering(scope, hit):
            high.append(hit)
    likely = [hit for hit in scope.of("likely") if not _quiet(scope, hit) and not scope.negated(hit)]
    for hits, level in ((high, HIGH), (unsure, LOW), (likely, LIKELY)):
        if hits:
            return hits[0], level
    return None, None


def _once(hits: Iterable[Hit]) -> list[Hit]:
    """The first hit of every name."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.name, hit)
    return list(first.values())


def _quiet(scope: Scope, hit: Hit) -> bool:
    """Whether a word says nothing of the agent's mind: it stands in a heading."""
    return scope.reading.in_heading(hit.start)


def _answering(scope: Scope, hit: Hit) -> bool:
    """Whether a word only opens an answer, as in "Sure, I can do that"."""
    prose = scope.reading.prose
    opens = not prose[scope.reading.sentence(hit.start)[0] : hit.start].strip()
    return hit.name == "sure" and opens and prose[hit.end : hit.end + 1] in {",", "!", ".", ":"}


def _evidence(signal: str, hit: Hit, weight: float, why: str) -> Evidence:
    return Evidence(signal=signal, start=hit.start, end=hit.end, weight=weight, why=why)

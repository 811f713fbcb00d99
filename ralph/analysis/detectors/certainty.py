"""Words that show how sure the agent is of itself: a cue that sets the level, hedges and certainties that move it."""

from collections.abc import Iterable

from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.vocabulary import Hit

__all__ = ["HIGH", "LOW", "STEP", "detect_certainty"]

HIGH, LIKELY, LOW = 90, 60, 20
STEP = 10


def detect_certainty(reply: Reply) -> Iterable[Signal]:
    """The cue, and every hedge and certainty once. A word that set the level is not counted again."""
    scope = reply.scope
    cue, level = _cue(scope)
    if cue:
        why = f"Sets the agent's certainty to {level}."
        yield Signal.at(cue, "certainty_cue", level, why)._replace(amount=level)
    for hit in _once(hit for hit in scope.of("hedge") if not _quiet(scope, hit)):
        yield Signal.at(hit, "hedge", -STEP, "Sounds unsure.")
    for hit in _once(
        hit for hit in scope.of("certainty") if not _quiet(scope, hit) and not scope.negated(hit, 1) and hit != cue
    ):
        yield Signal.at(hit, "certainty", STEP, "Sounds sure.")


def _cue(scope: Scope) -> tuple[Hit | None, int]:
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
    return None, 0


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

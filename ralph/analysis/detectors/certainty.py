"""Words that show how sure the agent is of itself: a cue that sets the level, hedges and certainties that move it."""

from collections.abc import Iterable, Iterator

from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.vocabulary import Hit

__all__ = ["HIGH", "LOW", "STEP", "detect_certainty"]

HIGH, LIKELY, LOW = 90, 60, 20
STEP = 10
_CLAUSE = 12
"""Words of a clause that are looked at on either side of a low word."""
_AROUND = 200
_CUES: frozenset[Role] = frozenset({"unsure", "certain", "likely"})
_WORDS: frozenset[Role] = frozenset({*_CUES, "hedge", "certainty"})


def detect_certainty(reply: Reply) -> Iterable[Signal]:
    """The cue, and every hedge and certainty once. A word that set the level is not counted again."""
    return _signals(reply.scope) if reply.scope.has(_WORDS) else ()


def _signals(scope: Scope) -> Iterator[Signal]:
    cue, level = _cue(scope) if scope.has(_CUES) else (None, 0)
    if cue:
        why = f"Sets the agent's certainty to {level}."
        yield Signal("certainty_cue", cue.name, cue.start, cue.end, level, why, amount=level)
    hedges: set[str] = set()
    for hit in scope.of("hedge"):
        if hit.name not in hedges and not _quiet(scope, hit):
            hedges.add(hit.name)
            yield Signal.at(hit, "hedge", -STEP, "Sounds unsure.")
    sure = {cue.name} if cue else set[str]()
    for hit in scope.of("certainty"):
        if hit.name not in sure and not _quiet(scope, hit) and not scope.negated(hit, 1):
            sure.add(hit.name)
            yield Signal.at(hit, "certainty", STEP, "Sounds sure.")


def _cue(scope: Scope) -> tuple[Hit | None, int]:
    """The word that sets the level: a high one without a low one in its clause, else a low one, else a likely one."""
    unsure = [hit for hit in scope.of("unsure") if not _quiet(scope, hit)]
    high: list[Hit] = []
    for hit in scope.of("certain"):
        if scope.negated(hit):
            unsure.append(hit)
        elif not _quiet(scope, hit) and not _talking(scope, hit):
            high.append(hit)
    doubted = {scope.before("certain", hit, _CLAUSE) for hit in unsure}
    doubted |= {scope.after("certain", hit, _CLAUSE) for hit in unsure}
    high = [hit for hit in high if hit not in doubted]
    likely = [hit for hit in scope.of("likely") if not _quiet(scope, hit) and not scope.negated(hit)]
    for hits, level in ((high, HIGH), (unsure, LOW), (likely, LIKELY)):
        if hits:
            return hits[0], level
    return None, 0


def _quiet(scope: Scope, hit: Hit) -> bool:
    """Whether a word says nothing of the agent's mind: it stands in a heading."""
    return scope.reading.in_heading(hit.start)


def _talking(scope: Scope, hit: Hit) -> bool:
    """Whether a word is only talk with a person: "Sure, I can do that", "Are you sure?"."""
    prose = scope.reading.prose
    begin, end = scope.reading.sentence(hit.start)
    opens = hit.name == "sure" and not prose[max(begin, hit.start - _AROUND) : hit.start].strip()
    asked = prose[hit.end : min(end, hit.end + _AROUND)].rstrip().endswith(("?", "？"))
    return asked or (opens and prose[hit.end : hit.end + 1] in {",", "!", ".", ":"})

"""What keeps the agent from going on: its own word that it cannot, and permissions and hands that it lacks.

| signal | said | counts |
|---|---|---|
| `blocked` | "I cannot proceed", "I'm blocked", "Blocked." as a sentence, at the beginning or the end of the reply | \
by itself |
| `blocked` | what stops the work from outside, as `impasses` finds it | by itself |
| `obstacle` | the same in between or after finished work; "needs approval", "no write permission", "please run it \
manually", or something that the agent cannot do with something that a person shall do ("Cannot …" alone where nothing \
goes on), at the beginning or the end | where the reply tells of no work, and leaves none that nothing bars |

None counts under a condition ("if you need approval"), nor where there is none of it ("no approval needed", "Blocked:
none"), nor an obstacle that the task has in its title. "Unblocked" and "blocking" are other words.
"""

from collections.abc import Iterable, Iterator, Sequence

from ralph.analysis.completion import completion
from ralph.analysis.detectors.impasses import impasse
from ralph.analysis.detectors.lines import in_list
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["detect_blocks"]

_LOOKED_AT = 25
"""Words of one role that are looked at, from the beginning and as many from the end."""
_TITLE = 200
"""Characters of the task that say what it is about."""
_OPENING, _ENDING = 250, 300
"""Characters of a reply that are its beginning and its end."""
_HINDERING: frozenset[Role] = frozenset({"blocked", "halted", "obstacle", "leave", "unable", "barred", "parting"})
_ASKING: frozenset[Role] = frozenset({"demand", "hand", "bidding", "leave"})
_ZERO = pattern(r"[\s*_:]{0,6}0(?!\w)")
_LETTER = pattern(r"\w")
_LETTERS = pattern(r"\w+")
_CLAUSE = pattern(r"[,;:]|\b(?:so|and|because|which)\b")
_NEEDED: frozenset[Role] = frozenset({"demand", "obstacle", "lack"})
_BY = pattern(r"[\s*_]{1,4}by\b")
_GOING = frozenset((
    *("can't proceed", "cannot proceed", "can't continue", "cannot continue", "unable to proceed"),
    *("unable to continue",),
))
"""What goes no further, whoever it is said of."""
_END = pattern(r"[\s*_]{0,4}(?:[.:!,;(—–-]|\Z|(?<=\n))")


def detect_blocks(reply: Reply) -> Iterable[Signal]:
    """The first word that says so by itself, and the first obstacle."""
    return _hindrances(reply) if reply.scope.has(_HINDERING) else ()


def _hindrances(reply: Reply) -> Iterable[Signal]:
    scope = reply.scope
    edges = _edges(reply.reading.prose)
    halts = (hit for hit in _bounded(scope.of("halted")) if _by_itself(scope, hit))
    stops = [hit for hit in (*_bounded(scope.of("blocked")), *halts) if _stands(scope, hit)]
    asked = reply.signals.first("question") is not None
    openly = [] if asked else list(_openly(scope, announced=reply.signals.first("announcement") is not None))
    finished = bool(stops or openly) and completion(reply.signals).detected
    firm = [hit for hit in stops if _firm(hit, edges, finished=finished)] or ([] if finished else openly)
    if not firm and (stopped := impasse(reply)):
        firm = [stopped]
    if firm:
        yield Signal.at(firm[0], "blocked", -40, "Says that it cannot go on.", state="blocked")
    possible = (*(hit for hit in stops if hit not in firm), *_obstacles(scope, edges, asked=asked))
    obstacles = [hit for hit in possible if not _is_of_task(reply, hit)]
    if obstacles and not _goes_on(reply):
        first = min(obstacles, key=lambda hit: hit.start)
        yield Signal.at(first, "obstacle", -20, "A person's permission or hand is needed.", state="blocked")


def _is_of_task(reply: Reply, hit: Hit) -> bool:
    """Whether an obstacle is what the task is about, in its own words: "Show who has no permission"."""
    title = reply.context.task[:_TITLE].lower()
    return " " in (said := reply.reading.prose[hit.start : hit.end].strip()) and said in title


def _goes_on(reply: Reply) -> bool:
    """Whether the agent announces what it does next and asks nobody for anything."""
    act = reply.signals.first("announcement")
    return act is not None and act.weight < 0 and not reply.scope.has(_ASKING)


def _openly(scope: Scope, *, announced: bool) -> Iterator[Hit]:
    """What the first sentence cannot do while a person is told what to do, or what it is blocked by."""
    prose = scope.reading.prose
    begin = len(prose) - len(prose.lstrip(" \t\n#*_>-⛔❌⚠️"))
    first = begin, scope.reading.sentence(begin)[1] if begin < len(prose) else begin
    for hit in scope.within("halted", first)[:1]:
        if _opens(scope, hit) and _BY.match(prose, hit.end):
            yield hit
    for hit in scope.within("obstacle", first)[:1]:
        if hit.name in _GOING and _stands(scope, hit):
            yield hit
    if scope.has(_NEEDED) and not announced:
        for hit in scope.within("unable", first)[:1]:
            clause = _CLAUSE.split(prose[begin : hit.start])[-1]
            if len(_LETTERS.findall(clause)) <= 1 and not scope.before("condition", hit, 4):
                yield hit


def _obstacles(scope: Scope, edges: tuple[int, int], *, asked: bool) -> Iterator[Hit]:
    for hit in _bounded(scope.of("obstacle")):
        if _at_edge(hit, edges) and _stands(scope, hit):
            yield hit
    for hit in _bounded(scope.of("leave")):
        if _at_edge(hit, edges) and (lacking := _lacking(scope, hit)):
            yield lacking
    if asked:
        return  # what cannot be done is what the question is about
    demanded, going_on = bool(scope.of("demand")), bool(scope.of("ongoing"))
    for hit in _bounded(scope.of("unable")):
        asks = demanded or (not going_on and _opens(scope, hit))
        if asks and _at_edge(hit, edges) and not scope.before("condition", hit, 4):
            yield hit


def _lacking(scope: Scope, leave: Hit) -> Hit | None:
    """ "Needs your approval", "permission is required", "without permissions"; not "no approval needed", "I do not
    need permission", "no permission errors".
    """
    lack = scope.before("lack", leave, 4) or scope.after("lack", leave, 3)
    none = scope.negated(leave, 3)
    word = lack or none
    if word is None or (lack and (none or scope.negated(lack, 1))) or scope.after("fault", leave, 0):
        return None
    whole = Hit(leave.name, min(word.start, leave.start), max(word.end, leave.end))
    return None if scope.before("condition", whole, 4) else whole


def _stands(scope: Scope, hit: Hit) -> bool:
    """Whether a word says what it seems to say."""
    nothing = scope.within("nothing", (hit.end, hit.end + 12)) or _ZERO.match(scope.reading.prose, hit.end)
    return not (nothing or scope.negated(hit, 0) or scope.before("condition", hit, 4))


def _by_itself(scope: Scope, hit: Hit) -> bool:
    """Whether a word is a sentence or a heading, or opens one as its label: "Blocked. …", "# BLOCKED". In a list it
    labels an item. Several words may go on: "Still waiting for approval of …".
    """
    prose = scope.reading.prose
    labels = " " in hit.name or _END.match(prose, hit.end) is not None
    return labels and _opens(scope, hit) and not in_list(prose, hit.start)


def _opens(scope: Scope, hit: Hit) -> bool:
    """Whether a word is the first of its sentence, as in "Cannot write": the agent speaks of itself then."""
    return not _LETTER.search(scope.reading.prose, scope.reading.sentence(hit.start)[0], hit.start)


def _firm(hit: Hit, edges: tuple[int, int], *, finished: bool) -> bool:
    """At the beginning, or at the end of a reply that does not report finished work."""
    return hit.start < edges[0] or (hit.end > edges[1] and not finished)


def _at_edge(hit: Hit, edges: tuple[int, int]) -> bool:
    return hit.start < edges[0] or hit.end > edges[1]


def _edges(prose: str) -> tuple[int, int]:
    """Where the beginning ends, and where the end begins."""
    return len(prose) - len(prose.lstrip()) + _OPENING, len(prose.rstrip()) - _ENDING


def _bounded(hits: Sequence[Hit]) -> Sequence[Hit]:
    return hits if len(hits) <= 2 * _LOOKED_AT else (*hits[:_LOOKED_AT], *hits[-_LOOKED_AT:])

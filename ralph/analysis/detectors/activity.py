"""The agent's activity: announcements of the next step, work reported as done or going on, and idleness.

An iteration that ends with an announcement is not the end of the work, whatever was said before. An announcement of the
end is not one: "Let me summarize", "I'll finish with a short report".
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter

from ralph.analysis.lexicon import Role
from ralph.analysis.signals import AGAINST, Reply, Signal
from ralph.analysis.text import Reading, Span
from ralph.analysis.vocabulary import Hit, Scope
from ralph.system.text import pattern

__all__ = [
    "announcement_end",
    "detect_announcements",
    "detect_idleness",
    "detect_work",
    "ends_of",
    "in_list",
    "line_end",
    "line_start",
]

_BACK = 300  # characters of a line that are read before a word, and as many after it
_ITEM = pattern(r"\s{0,8}(?:[-*+•]\s|\d{1,3}[.)]\s|\|)")


def line_start(prose: str, position: int) -> int:
    """Return where the line around a position begins, at most 300 characters before."""
    floor = position - _BACK if position > _BACK else 0
    return prose.rfind("\n", floor, position) + 1 or floor


def line_end(prose: str, position: int) -> int:
    """Return where the line around a position ends, at most 300 characters after."""
    end = prose.find("\n", position, position + _BACK)
    return end if end >= 0 else min(len(prose), position + _BACK)


def in_list(prose: str, position: int) -> bool:
    """Return True if a position is in an item of a list, or a row of a table."""
    return _ITEM.match(prose, line_start(prose, position)) is not None


def ends_of(hits: Sequence[Hit], count: int) -> Sequence[Hit]:
    """Return the hits, or of many the first `count` and the last `count`."""
    return hits if len(hits) <= 2 * count else (*hits[:count], *hits[-count:])


_LOOKED_AT = 100  # announcements that are examined, from the end
_BEFORE = 200
_CLOSES = 90  # characters after an announcement in which it may turn out to announce the end
_EMPHASIS = " \t\n*_"
_AFTER_COLON = f":：{_EMPHASIS}"  # last characters of a reply that ends in a colon
_CLAIMING: tuple[Role, ...] = ("keyword", "achieve", "closed", "nothing left")
_MARK = pattern(r"[,;:—–，、；：(-]|\b(?:so|and|but|then)\b")
_WORD = pattern(r"[a-z0-9']+|[\u3400-\u9fff]{1,2}")
_END = itemgetter(1)
# The beginning of a sentence that offers something.
_IF_YOU_LIKE = pattern(
    r"\W*(?:(?:(?:just )?let me know if you|if you (?:want|like|wish|prefer|would like|need)|if you'd (?:like|prefer)"
    r"|if wanted|si (?:quieres|lo deseas|prefieres)|wenn (?:du (?:willst|möchtest|magst)|sie (?:möchten|wollen))"
    r"|falls gewünscht)\b|(?:如果?|若)[您你]?(?:需要|愿意|願意|想要|有需))"
)
_REST = pattern(
    r"\b(?:rest|remaining|others?|left|two|three|four|five|six)\b|剩|其余|其餘|其他|\b(?:demás|resto|übrigen)\b"
)
_COMMAND = pattern(r"\s{0,4}(?:\[\w{2,12}\]\s)?[$❯]\s\S")


def detect_announcements(reply: Reply) -> Iterable[Signal]:
    """Find the last announcement of further work; it contradicts if no claim can follow it."""
    found = _last_announcement(reply.scope)
    if found is None:
        return ()
    later = reply.scope.any_within(_CLAIMING, (found[1], len(reply.reading.prose)))
    return (Signal("announcement", "", *found, 0 if later else AGAINST, "The agent announces its next step."),)


def announcement_end(reply: Reply) -> int:
    """Return where the last announcement ends; claims before it do not count."""
    signal = reply.signals.first("announcement")
    return signal.end if signal else 0


def _last_announcement(scope: Scope) -> Span | None:
    reading = scope.reading
    spans = [_announced_action(scope)] if "act" in scope.hits else []
    if "$" in reading.unfenced or "❯" in reading.unfenced:
        spans.append(_last_command(reading))
    if reading.text[-1:] in _AFTER_COLON:
        spans.append(_final_colon(scope))
    return max(filter(None, spans), key=_END, default=None) if spans else None


def _announced_action(scope: Scope) -> Span | None:
    """Return the last sentence that announces an action, from the announcing words on."""
    for hit in reversed(scope.of("act")[-_LOOKED_AT:]):
        if _announces(scope, hit):
            return hit.start, scope.reading.sentence(hit.start)[1]
    return None


def _announces(scope: Scope, hit: Hit) -> bool:
    """Return True if the words open a clause outside of a list, and do not announce the end."""
    reading = scope.reading
    if in_list(reading.prose, hit.start) or reading.in_heading(hit.start):
        return False
    begin, end = reading.sentence(hit.start)
    before = reading.prose[max(begin, hit.start - _BEFORE) : hit.start]
    if (before and not _opens_clause(scope, before, hit)) or _is_offer(scope, (begin, end)):
        return False
    return not scope.within("closer", (hit.start, min(end, hit.end + _CLOSES)))


def _is_offer(scope: Scope, sentence: Span) -> bool:
    """Return True for an offer of something extra, not the rest of the work: "If you like, I'll add a chart"."""
    if _IF_YOU_LIKE.match(scope.reading.prose, sentence[0]) is None:
        return False
    return not (scope.within("resume", sentence) or _REST.search(scope.reading.prose, *sentence))


def _opens_clause(scope: Scope, before: str, hit: Hit) -> bool:
    """Return True if the words open their clause, except for two words or the name of a stage."""
    clause = _MARK.split(before)[-1]
    return len(_WORD.findall(clause)) <= 2 or bool(scope.within("stage", (hit.start - len(clause), hit.start)))


def _last_command(reading: Reading) -> Span | None:
    """Return the last line that is only a shell command: a transcript shows tool calls so."""
    at = reading.unfenced.rfind("] $ ")
    tail = reading.unfenced.rstrip()
    for place in (at, len(tail) - 1):
        begin = reading.unfenced.rfind("\n", max(0, place - 500), max(0, place)) + 1
        if place > 0 and _COMMAND.match(reading.unfenced, begin):
            end = reading.unfenced.find("\n", begin)
            return begin, end if end >= 0 else len(reading.unfenced)
    return None


def _final_colon(scope: Scope) -> Span | None:
    """Return the last sentence if the reply ends in a colon."""
    tail = scope.reading.text.rstrip(_EMPHASIS)
    if not tail.endswith((":", "：")):
        return None
    begin = scope.reading.sentence(len(tail) - 1)[0]
    return None if scope.within("closer", (begin, len(tail))) else (begin, len(tail))


_WORK_LOOKED_AT, _WORK_REPORTED = 50, 3  # words of one role that are examined, and that are reported
_OF_WORK: frozenset[Role] = frozenset({"work", "ongoing", "more"})


def detect_work(reply: Reply) -> Iterable[Signal]:
    """Find the first words of each kind about work: done (neither negated nor in the future), going on, to come."""
    scope = reply.scope
    if not scope.has(_OF_WORK):
        return ()
    ongoing, more = scope.of("ongoing")[:_WORK_REPORTED], scope.of("more")[:_WORK_REPORTED]
    return [
        *(Signal.at(hit, "work", 0, "Reports work.", state="progress") for hit in _work_done(scope)),
        *(Signal.at(hit, "ongoing", 0, "Reports work in progress.", state="progress") for hit in ongoing),
        *(Signal.at(hit, "more_to_come", 0, "Names further work.", state="progress") for hit in more),
    ]


def _work_done(scope: Scope) -> Iterator[Hit]:
    hits = scope.of("work")[:_WORK_LOOKED_AT]
    done = (hit for hit in hits if not (scope.before("negation", hit, 3) or scope.before("future", hit, 4)))
    return islice(done, _WORK_REPORTED)


_IDLE_LOOKED_AT = 20
_OF_IDLENESS: frozenset[Role] = frozenset({"idle", "change", "watching"})


def detect_idleness(reply: Reply) -> Iterable[Signal]:
    """Find words by which the agent says that it did nothing.

    `idle` is "nothing to do", or "already" before a word of completion; `unchanged` is a negated word of change, such
    as "did not modify"; `watching` is "still running".
    """
    scope = reply.scope
    if not (scope.has(_OF_IDLENESS) or reply.signals.first("completion_keyword")):
        return
    yield from _idle(reply)
    for hit in scope.of("change")[:_IDLE_LOOKED_AT]:
        if scope.negated(hit) and not scope.before("condition", hit, 4):
            yield Signal.at(hit, "unchanged", 0, "Says that nothing was changed.")
            break
    for hit in scope.of("watching")[:_IDLE_LOOKED_AT]:
        if not scope.negated(hit, 1) and not scope.before("future", hit, 4):
            yield Signal.at(hit, "watching", 0, "Says that something still runs.")
            break


def _idle(reply: Reply) -> Iterable[Signal]:
    """Yield the first idle word of each name; else a keyword that says that no work is left."""
    if idle := reply.scope.of("idle"):
        first = {hit.name: hit for hit in reversed(idle[:_IDLE_LOOKED_AT]) if _is_idle(reply.scope, hit)}
        for hit in first.values():
            yield Signal.at(hit, "idle", 0, "Says that there was nothing to do.")
        if first:
            return
    for signal in reply.signals.of("completion_keyword"):
        keyword = reply.words.keywords.get(signal.name)
        if keyword and keyword.group == "no_more_work":
            yield signal._replace(kind="idle", weight=0, why="Says that there was nothing to do.", state=None)
            return


def _is_idle(scope: Scope, hit: Hit) -> bool:
    """Return True if a word says that nothing was to do; "already" does so only before a word of completion."""
    if scope.negated(hit, 1) or scope.before("future", hit, 4) or scope.before("condition", hit, 4):
        return False
    return hit.name != "already" or scope.after("keyword", hit, 2) is not None

"""What the agent announces to do next: a turn that ends so is not at its end, whatever was said before.

An announcement of the end is none: "Let me summarize", "I'll finish with a short report".
"""

from collections.abc import Iterable
from operator import itemgetter

from ralph.analysis.detectors.lines import in_list
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import AGAINST, Reply, Signal
from ralph.analysis.text import Reading, Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["announced", "detect_announcements"]

_LOOKED_AT = 100
"""Announcements that are looked at, from the end."""
_BEFORE = 200
_CLOSES = 90
"""Characters behind an announcement in which it may turn out to be one of the end."""
_ACTS: frozenset[Role] = frozenset({"act"})
_EMPHASIS = " \t\n*_"
_AFTER_COLON = f":：{_EMPHASIS}"
"""What a reply that ends in a colon ends in; most end in something else."""
_CLAIMING: tuple[Role, ...] = ("keyword", "achieve", "closed", "nothing left")
_MARK = pattern(r"[,;:—–，、；：(-]|\b(?:so|and|but|then)\b")
_WORD = pattern(r"[a-z0-9']+|[\u3400-\u9fff]{1,2}")
_END = itemgetter(1)
_IF_YOU_LIKE = pattern(
    r"\W*(?:(?:(?:just )?let me know if you|if you (?:want|like|wish|prefer|would like|need)|if you'd (?:like|prefer)"
    r"|if wanted|si (?:quieres|lo deseas|prefieres)|wenn (?:du (?:willst|möchtest|magst)|sie (?:möchten|wollen))"
    r"|falls gewünscht)\b|(?:如果?|若)[您你]?(?:需要|愿意|願意|想要|有需))"
)
"""How a sentence begins that offers something."""
_REST = pattern(
    r"\b(?:rest|remaining|others?|left|two|three|four|five|six)\b|剩|其余|其餘|其他|\b(?:demás|resto|übrigen)\b"
)
_COMMAND = pattern(r"\s{0,4}(?:\[\w{2,12}\]\s)?[$❯]\s\S")


def detect_announcements(reply: Reply) -> Iterable[Signal]:
    """The last announcement of further work. It contradicts where nothing that is said after it may be a claim."""
    found = _last(reply.scope)
    if found is None:
        return ()
    begin, end = found
    rest = end, len(reply.reading.prose)
    later = any(reply.scope.within(role, rest) for role in _CLAIMING)
    weight = 0 if later else AGAINST
    return (Signal("announcement", "", begin, end, weight, "Announces what it will do next."),)


def announced(reply: Reply) -> int:
    """Where the last announcement ends; what is said before it is not the end of the work."""
    signal = reply.signals.first("announcement")
    return signal.end if signal else 0


def _last(scope: Scope) -> Span | None:
    reading = scope.reading
    spans = [_act(scope)] if scope.has(_ACTS) else []
    if "$" in reading.unfenced or "❯" in reading.unfenced:
        spans.append(_command(reading))
    if reading.text[-1:] in _AFTER_COLON:
        spans.append(_colon(scope))
    return max(filter(None, spans), key=_END, default=None) if spans else None


def _act(scope: Scope) -> Span | None:
    """The sentence that announces the next act, from the words on that do."""
    for hit in reversed(scope.of("act")[-_LOOKED_AT:]):
        if _announces(scope, hit):
            return hit.start, scope.reading.sentence(hit.start)[1]
    return None


def _announces(scope: Scope, hit: Hit) -> bool:
    """Whether a clause begins with the words, outside of a list, and what they say is not the end."""
    reading = scope.reading
    if in_list(reading.prose, hit.start) or reading.in_heading(hit.start):
        return False
    begin, end = reading.sentence(hit.start)
    before = reading.prose[max(begin, hit.start - _BEFORE) : hit.start]
    leads = not before or _leads(scope, before, hit)
    if leads and _is_offer(scope, (begin, end)):
        return False
    return leads and not scope.within("closer", (hit.start, min(end, hit.end + _CLOSES)))


def _is_offer(scope: Scope, sentence: Span) -> bool:
    """Whether a sentence offers something more, and not the rest of the work: "If you like, I'll add a chart"."""
    if _IF_YOU_LIKE.match(scope.reading.prose, sentence[0]) is None:
        return False
    return not (scope.within("resume", sentence) or _REST.search(scope.reading.prose, *sentence))


def _leads(scope: Scope, before: str, hit: Hit) -> bool:
    """Whether no more than two words stand before others in their clause, or what names a stage."""
    clause = _MARK.split(before)[-1]
    return len(_WORD.findall(clause)) <= 2 or bool(scope.within("stage", (hit.start - len(clause), hit.start)))


def _command(reading: Reading) -> Span | None:
    """The last line that is a command and no more: what a transcript shows of a tool call."""
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
    tail = scope.reading.text.rstrip(_EMPHASIS)
    if not tail.endswith((":", "：")):
        return None
    begin = scope.reading.sentence(len(tail) - 1)[0]
    return None if scope.within("closer", (begin, len(tail))) else (begin, len(tail))

"""Shares of the work that are told as such: what is done is not all of it, whatever else is claimed.

| share | such as |
|---|---|
| of a number, in the opening | "212 of the 240 programs compile", "Three of four criteria are met" |
| as a label or a sentence of progress | "Progress: 3/7 views" |
| of what is to come | "three views to go" |
| in percent | "60 % of the views are done"; less than the task wants to be reached |
| of the pieces that the task names | the task is "S-1 to S-6", and S-6 is not named |

A share of the task that the task itself names ("session 3 of 5") is the whole.
"""

from collections.abc import Iterable, Iterator

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.claims import bounded, finished
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.signals import AGAINST, Reply, Signal
from ralph.analysis.text import Span
from ralph.pattern import pattern

__all__ = ["detect_shares"]

_REACHED = pattern(r"(?<![\d.,])(\d{1,3})(?:[.,]\d{1,2})? ?[%％]")
_FIRST = 260
"""Characters of the opening."""
_BACK = 80
"""Characters before a word in which its number stands."""
_LOOKED_AT = 10
_COUNTS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORDS, _SEVERAL = "|".join(_COUNTS[1:]), "|".join(_COUNTS[2:])
_OF_ALL = pattern(
    rf"(?<![\w.,/-])(\d{{1,5}}|{_SEVERAL}) (?:(?:out )?of|von) (?:the |all |den )?(\d{{1,5}}|{_WORDS})(?![\w.,]\d)\b"
)
_OF_A_NUMBER = pattern(rf" (?:of|von) (?:the |all |den )?(?:\d|{_WORDS})")
"""What is looked for first: the text up to it holds many numbers."""
_OUT_OF = pattern(r"(?<![\w.,/-])(\d{1,5}) ?(?:/|of|out of|von) ?(\d{1,5})(?![\w.,/]\d)\b")
_TO_GO = pattern(rf"(?<![\w.,])(?:[1-9]\d{{0,3}}|{_WORDS}|several|a few) (?:[a-z-]{{2,20}} ){{0,3}}\Z")
_PERCENT = pattern(r"(?<![\w.,])\d{1,2}(?:\.\d{1,2})? ?(?:%|percent) of [^.;:]{1,40}\Z")


def detect_shares(reply: Reply) -> Iterable[Signal]:
    """The first share that is told after the last announcement."""
    if span := next(_shares(reply), None):
        yield Signal("unfinished", "", *span, AGAINST, "A share of the work is told.", "progress")


def _shares(reply: Reply) -> Iterator[Span]:
    begin, objections = announced(reply), Objections(reply)
    yield from _of_a_number(reply, begin)
    yield from _of_the_task(reply, begin)
    for hit in reply.scope.within("progress", (begin, len(reply.reading.prose)))[:_LOOKED_AT]:
        end = objections.sentence(hit)[1]
        if any(int(part) < int(whole) for part, whole in _OUT_OF.findall(reply.reading.prose, hit.end, end)):
            yield hit.start, hit.end
    told = [(hit, _TO_GO) for hit in bounded(reply, reply.scope.of("open")) if hit.name == "to go"]
    if "%" in reply.reading.prose or "percent" in reply.reading.prose:
        told += [(hit, _PERCENT) for hit in bounded(reply, finished(reply))]
    for hit, before in told:
        place = max(begin, objections.sentence(hit)[0], hit.start - _BACK)
        number = before.search(reply.reading.prose, place, hit.start)
        if number and not reply.scope.within("optional", objections.sentence(hit)):
            yield number.start(), hit.end


def _of_the_task(reply: Reply, begin: int) -> Iterator[Span]:
    """Less than the percentage that the task wants, in the opening; some of its pieces, and not the last."""
    task = assignment(reply.context.task)
    if not task.given:
        return
    lower = reply.reading.lower
    begin = len(lower) - len(lower[begin:].lstrip())
    reached = list(_REACHED.finditer(lower, begin, begin + _FIRST)) if task.goal else []
    if reached and all(int(found[1]) < task.goal for found in reached):
        yield reached[0].span()
    elif task.is_missed(lower[begin:]):
        yield begin, reply.reading.sentence(begin)[1]


def _of_a_number(reply: Reply, begin: int) -> Iterator[Span]:
    """ "212 of the 240 programs" in the opening, which is about the whole."""
    prose, task = reply.reading.prose, assignment(reply.context.task)
    begin = len(prose) - len(prose[begin:].lstrip())
    if not _OF_A_NUMBER.search(prose, begin, begin + _FIRST):
        return
    for found in _OF_ALL.finditer(prose, begin, begin + _FIRST):
        part, whole = (int(number) if number.isdigit() else _COUNTS.index(number) for number in found.groups())
        if part < whole and not task.is_named(prose[slice(*reply.reading.sentence(found.start()))]):
            yield found.span()

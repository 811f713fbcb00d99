"""Shares of the work that are told as such: what is done is not all of it, whatever else is claimed.

| share | such as |
|---|---|
| of a number, in the opening | "212 of the 240 programs compile", "Three of four criteria are met" |
| of things, at the beginning of a clause | "Half of the pages are converted" |
| as a label or a sentence of progress | "Progress: 3/7 views" |
| of what is to come | "three views to go" |
| in percent | "60 % of the views are done"; less than the task wants to be reached |
| of as many things as the task names | the task is "the 60 samples", and 20 of the 60 are told |
| of the pieces that the task names | the task is "S-1 to S-6", and S-6 is not named |

A share of the task that the task itself names ("session 3 of 5") is the whole.
"""

import re
from collections.abc import Iterable, Iterator

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.claims import bounded
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import AGAINST, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["detect_shares"]

_REACHED = pattern(r"(?<![\d.,])(\d{1,3})(?:[.,]\d{1,2})? ?[%％]")
_FIRST = 260
"""Characters of the opening."""
_BACK = 80
"""Characters before a word in which its number stands."""
_LOOKED_AT = 10
_OF_SHARES: frozenset[Role] = frozenset({"progress", "finished", "open"})
_FRACTIONS: frozenset[Role] = frozenset({"fraction"})
_OF_NUMBERS: frozenset[Role] = frozenset({"finished", "closed", "qualifier", "verified", "keyword"})
_OF_PARTS: frozenset[Role] = frozenset({"part"})
_COUNTS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh")
_WORDS, _SEVERAL = "|".join(_COUNTS[1:]), "|".join(_COUNTS[2:])
_OF_ALL = pattern(
    rf"(?<![\w.,/-])(\d{{1,5}}|{_SEVERAL}) (?:(?:out )?of|von|de) (?:the |all |den |las |los )?(\d{{1,5}}|{_WORDS})"
    r"(?![\w.,]\d)\b"
)
_NEW = pattern(r"(?: [a-z-]{2,20}){0,2} (?:is|are|was|were) (?:new|skipped|mine)\b")
"""What tells of some of them no more than that they are there."""
_OF_A_NUMBER = {
    f" {of} ": pattern(rf" {of} (?:the |all |den |las |los )?(?:\d|{_WORDS})") for of in ("of", "von", "de")
}
"""What is looked for first: the text up to it holds many numbers. Each is a pattern of its own, for `re` skips to what
every match begins with.
"""
_OUT_OF = pattern(r"(\d(?<![\w.,/-]\d)\d{0,4}) ?(?:/|of|out of|von) ?(\d{1,5})(?![\w.,/]\d)\b")
_SOME_OF_ALL = pattern(
    rf"(?<![\w.,/-])(\d{{1,4}}|{_WORDS}|{'|'.join(_ORDINALS)}) (?:[a-z]{{3,12}} ){{0,2}}"
    rf"(?:out )?of (?:the |all |its )?(\d{{1,4}}|{_WORDS})"
    r"(?!\w)"
)
_SO_MANY = pattern(rf"[\s*_#>✅-]*(?:the (?:first )?)?(\d{{1,4}}|{_WORDS}) (?:[a-z-]{{3,12}} )?([a-z-]{{3,20}}s)\b")
_FIRST_OF_ALL = pattern(r"\b[a-z]{3,12}s 1 ?(?:to|through|[-–]) ?(\d{1,3})(?![\w.])")
_TO_GO = pattern(rf"(?<![\w.,])(?:[1-9]\d{{0,3}}|{_WORDS}|several|a few) (?:[a-z-]{{2,20}} ){{0,3}}\Z")
_THERE_ARE = pattern(
    rf"(?:\bthere(?:'s| is| are) (?:still )?|\()(?:[1-9]\d{{0,3}}|{_WORDS}|several|a few) (?:[a-z-]{{2,20}} ){{0,3}}\Z"
)
_AHEAD = {"to go": _TO_GO, "to do": _TO_GO, "left": _THERE_ARE}
"""What stands before a word of what is to come."""
_DONE = (
    r"(?:finished|done|complete|completed|converted|migrated|implemented|translated|ported|covered|through|ready|ticked"
    r"|in place|checked off|written|fixed|moved|replaced|processed|reviewed|working)\b"
)
_OF_PIECES = (
    r"(?:\d{1,2}(?:\.\d{1,2})? ?(?:%|percent)|half|(?:a|one) (?:third|quarter|fifth|half)"
    r"|(?:two|three)[ -](?:third|quarter)s"
    r"|(?:\d{1,4}|one|two|three|four|five|six|a few|some|most) of them)"
)
_FRACTION = pattern(
    rf"(?:[\s*_>,;–—-]|\b(?:about|around|roughly|almost|nearly|only|just|so far)\s){{0,6}}{_OF_PIECES}"
    r"(?: of (?:the|all|all the|its|our) (?!code\b|branch|lines?\b|time\b|memory\b|traffic\b|requests?\b)[a-z -]{2,30}?"
    rf")? (?:is|are|has been|have been) (?:now |already |all )?{_DONE}"
)
"""A fraction of things that are done, as what a clause begins with: "Half of the pages are converted"."""
_ALL_AND_DONE = pattern(r"共(?:有|计|計)?\s?(\d{1,4})\s?[个個项項章页頁][^。；\n]{0,30}?完成了?\s?(\d{1,4})")
_DONE_AND_LEFT = pattern(r"完成了?\s?\d{1,4}\s?[个個项項章页頁][^。；\n]{0,20}?(?:剩[余餘下]|[还還][剩有])\s?[1-9]")
_SOME_OF_THEM = pattern(
    r"(\d(?<!\d\d)\d{0,3})\s?[个個项項页頁章][^。；\n]{1,24}了\s?(\d{1,4})\s?[个個项項页頁章](?=[\s，。；]|\Z)"
)
_LEFT = tuple(
    pattern(rf"{there_are}\s?[1-9]\d{{0,3}}\s?[个個项項章页頁][^。；，\n]{{0,12}}[没沒未待]")
    for there_are in ("还有", "還有")
)
"""Numbers of things in Chinese, done and left. Each begins with its letters, for `re` skips to them."""
_PERCENT = pattern(r"(?<![\w.,])\d{1,2}(?:\.\d{1,2})? ?(?:%|percent) of [^.;:]{1,40}\Z")


def detect_shares(reply: Reply) -> Iterable[Signal]:
    """The first share that is told after the last announcement."""
    for begin, end in _shares(reply):
        return (Signal("unfinished", "", begin, end, AGAINST, "A share of the work is told.", "progress"),)
    return ()


def _shares(reply: Reply) -> Iterator[Span]:
    yield from _of_a_number(reply)
    if reply.context.task:
        yield from _of_the_task(reply)
    if reply.scope.has(_OF_SHARES):
        yield from _beside_words(reply)
    if reply.scope.has(_FRACTIONS):
        yield from _of_things(reply)
    if not reply.reading.prose.isascii() and reply.scope.has(_OF_NUMBERS):
        yield from _in_chinese(reply.reading.prose, announced(reply))


def _beside_words(reply: Reply) -> Iterator[Span]:
    """What stands beside words of progress, of what is to go, and of what is done."""
    scope, prose, begin = reply.scope, reply.reading.prose, announced(reply)
    for hit in scope.within("progress", (begin, len(prose)))[:_LOOKED_AT]:
        shares = _OUT_OF.findall(prose, hit.end, Objections.of(reply).sentence(hit)[1])
        if shares and any(int(part) < int(whole) for part, whole in shares):
            yield hit.start, hit.end
    told: list[tuple[Hit, re.Pattern[str]]] = []
    ahead = [hit for hit in scope.of("open") if hit.name in _AHEAD and _may_be_ahead(prose, hit)]
    if ahead:
        told += [(hit, _AHEAD[hit.name]) for hit in bounded(reply, ahead)]
    if (done := scope.of("finished")) and ("%" in prose or "percent" in prose):
        told += [(hit, _PERCENT) for hit in bounded(reply, done)]
    for hit, before in told:
        sentence = Objections.of(reply).sentence(hit)
        number = before.search(prose, max(begin, sentence[0], hit.start - _BACK), hit.start)
        if number and not scope.within("optional", sentence):
            yield number.start(), hit.end


def _may_be_ahead(prose: str, hit: Hit) -> bool:
    """Whether a word of what is to come may have its number before it, at a quick look: most that is left is not."""
    if hit.name != "left":
        return True
    begin = max(0, hit.start - _BACK)
    return prose.find("there", begin, hit.start) >= 0 or prose.find("(", begin, hit.start) >= 0


def _of_things(reply: Reply) -> Iterator[Span]:
    """A fraction of things that are done, at the beginning of a clause."""
    prose = reply.reading.prose
    for hit in bounded(reply, reply.scope.of("fraction")):
        start, end = Objections.of(reply).sentence(hit)
        clause = max(start, prose.rfind(",", start, hit.start) + 1, prose.rfind(";", start, hit.start) + 1)
        if (found := _FRACTION.match(prose, clause)) and not reply.scope.within("optional", (start, end)):
            yield found.span()


def _in_chinese(prose: str, begin: int) -> Iterator[Span]:
    """A number of all, or a number that is left."""
    for found in (*_ALL_AND_DONE.finditer(prose, begin), *_SOME_OF_THEM.finditer(prose, begin)):
        if int(found[2]) < int(found[1]):
            yield found.span()
    for expression in (_DONE_AND_LEFT, *_LEFT):
        if found := expression.search(prose, begin):
            yield found.span()


def _of_the_task(reply: Reply) -> Iterator[Span]:
    """Less than the percentage that the task wants, in the opening; some of its pieces, and not the last."""
    task, lower = Objections.of(reply).task, reply.reading.lower
    begin = len(lower) - len(lower[announced(reply) :].lstrip())
    if not task.given:
        return
    reached = list(_REACHED.finditer(lower, begin, begin + _FIRST)) if task.goal else []
    if reached and all(int(found[1]) < task.goal for found in reached):
        yield reached[0].span()
    elif task.is_missed(lower[begin:]):
        yield begin, reply.reading.sentence(begin)[1]
    elif task.count and not task.is_counted(lower[begin:]):
        yield from _of_its_count(lower, begin, task.count, task.counted)
    elif reply.scope.has(_OF_PARTS) and begin < len(lower):
        yield from _of_several(reply, begin)


def _of_several(reply: Reply, begin: int) -> Iterator[Span]:
    """ "Most of the defects are fixed", in the first sentence and of what the task names."""
    scope, objections = reply.scope, Objections.of(reply)
    span = begin, reply.reading.sentence(begin)[1]
    for hit in scope.within("part", span)[:_LOOKED_AT]:
        behind = hit.end, span[1]
        done = any(scope.within(role, behind) for role in ("finished", "closed", "stands"))
        if done and objections.is_of_several(hit) and not scope.negated(hit, 3):
            yield hit.start, hit.end
            return


def _of_its_count(lower: str, begin: int, count: int, counted: str) -> Iterator[Span]:
    """ "20 of the 60 files", "20/60", "the third of the 60", "items 1 to 4", or "Three files …" as the opening, where
    the task is so many.
    """
    opening = _SO_MANY.match(lower, begin)
    if opening and opening[2] == counted and _number(opening[1]) < count:
        yield opening.span()
    for expression in (_SOME_OF_ALL, _OUT_OF):
        for found in expression.finditer(lower, begin):
            if _number(found[1]) < count == _number(found[2]):
                yield found.span()
    for found in _FIRST_OF_ALL.finditer(lower, begin):
        if 1 < _number(found[1]) < count:
            yield found.span()


def _number(written: str) -> int:
    """The number that digits, a word, or an ordinal ("third") are."""
    if written.isdigit():
        return int(written)
    return _COUNTS.index(written) if written in _COUNTS else _ORDINALS.index(written) + 1


def _of_a_number(reply: Reply) -> Iterator[Span]:
    """ "212 of the 240 programs" in the opening, which is about the whole."""
    prose = reply.reading.prose
    begin = len(prose) - len(prose[announced(reply) :].lstrip())
    end = begin + _FIRST
    opening = prose[begin:end]
    if not any(of in opening and number.search(opening) for of, number in _OF_A_NUMBER.items()):
        return
    task = Objections.of(reply).task
    for found in _OF_ALL.finditer(prose, begin, end):
        part, whole = map(_number, found.groups())
        if part >= whole or _NEW.match(prose, found.end()):
            continue
        counted = found[2] in reply.context.task.lower()
        if not (counted and task.is_named(prose[slice(*reply.reading.sentence(found.start()))])):
            yield found.span()

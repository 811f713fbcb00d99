"""Amounts of work that is done: checklists, percentages, and shares such as "3 of 7".

| share | such as |
|---|---|
| of a number, in the opening | "212 of the 240 programs compile", "Three of four criteria are met" |
| of things, at the beginning of a clause | "Half of the pages are converted" |
| as a label or a sentence of progress | "Progress: 3/7 views" |
| of what is to come | "three views to go" |
| in percent | "60 % of the views are done"; less than the task asks for |
| of as many things as the task names | the task is "the 60 samples", and the reply has 20 of the 60 |
| of the pieces that the task names | the task is "S-1 to S-6", and S-6 is not named |

A share that the task itself names ("session 3 of 5") is the whole. A task may set a bound ("below 300 kB").
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ralph.analysis.detectors.activity import announcement_end
from ralph.analysis.detectors.claims import relevant_hits
from ralph.analysis.detectors.objections import NUMBERS, ORDINALS, Objections, number_of
from ralph.analysis.lexicon import Role
from ralph.analysis.result import AGAINST, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Scope
from ralph.system.text import pattern
from ralph.types.plan import TaskPlan, parse_plan

__all__ = ["Bound", "bound_of", "detect_boxes", "detect_percentages", "detect_shares"]

_BOXES = ("[ ]", "[x]", "[X]")
# After an open box these say that it will stay open.
_SETTLED = pattern(
    r"\b(?:out of scope|not in scope|not applicable|n/a|won't (?:do|fix)|wontfix|obsolete|superseded|no longer needed"
    r"|declined|fuera de alcance|no aplica|entfällt|nicht nötig|hors périmètre|sans objet)(?!\w)"
    r"|超出范围|超出範圍|不在范围|不在範圍|不适用|不適用|无需处理|無需處理"
)


def detect_boxes(reply: Reply) -> Iterable[Signal]:
    """Count the ticked boxes of the plan and of the reply; open ones of the reply contradict a claim."""
    plan = reply.context.plan
    if plan is not None:
        yield _box_signal("plan_boxes", plan, "the plan")
    text = reply.reading.unfenced
    if "[" not in text or not any(map(text.__contains__, _BOXES)):
        return
    boxes = parse_plan(text)
    if boxes.total:
        yield _box_signal("reply_boxes", boxes, "the reply")
    count = sum(not _SETTLED.search(item.text.lower()) for item in boxes.open)
    if count:
        why = "1 box of the reply is open." if count == 1 else f"{count} boxes of the reply are open."
        yield Signal("open_boxes", weight=AGAINST, why=why, amount=count)


def _box_signal(kind: str, plan: TaskPlan, whose: str) -> Signal:
    why = f"{plan.done} of {plan.total} boxes of {whose} are ticked."
    return Signal(kind, weight=plan.score, amount=plan.score, why=why)


# Its first character is one of a set, to which `re` skips ahead.
_PERCENTAGE = pattern(
    r"(?P<n>[0-9](?<![\w.,].)[0-9]{0,2})(?:\.[0-9]{1,6}|,[0-9]{1,2})?\s?(?:[%％]|percent\b|per\scent\b)"
)
_IN_CHINESE = pattern(r"百分之\s?(?P<n>[0-9]{1,3})(?![0-9])")
_SIGNS = ("%", "％", "percent", "per cent", "百分之")
_NEAR, _BESIDE = 40, 20
_MOST_PERCENTAGES = 200
_NEXT = 4  # characters between a percentage and the word after it, emphasis included


def detect_percentages(reply: Reply) -> Iterable[Signal]:
    """Find the last percentage beside a word of progress, and not beside another quantity."""
    prose = reply.reading.prose
    if not (reply.scope.of("progress") and any(map(prose.__contains__, _SIGNS))):
        return
    found = (*_PERCENTAGE.finditer(prose), *_IN_CHINESE.finditer(prose))
    for match in sorted(found, key=re.Match[str].start, reverse=True)[:_MOST_PERCENTAGES]:
        number = int(match["n"])
        if number <= 100 and _is_about_work(reply.scope, match.span()):
            why = f"The reply says {number} %."
            yield Signal("percentage", "", *match.span(), number, why, amount=number)
            return


def _is_about_work(scope: Scope, span: Span) -> bool:
    """Return True for a share of the work: "30% complete" is one, whatever else its sentence measures."""
    start, end = span
    begin, stop = scope.reading.sentence(start)
    right_behind = (end, min(stop, end + _NEXT + len("completed")))
    if any(hit.start <= end + _NEXT for hit in scope.within("progress", right_behind)):
        return True
    near = (max(begin, start - _NEAR), min(stop, end + _NEAR))
    beside = (max(begin, start - _BESIDE), min(stop, end + _BESIDE))
    return bool(scope.within("progress", near)) and not scope.within("unrelated", beside)


_REACHED = pattern(r"(?<![\d.,])(\d{1,3})(?:[.,]\d{1,2})? ?[%％]")
_FIRST = 260  # characters of the opening
_BACK = 80  # characters before a word in which its number stands
_LOOKED_AT = 10
_OF_NUMBERS: frozenset[Role] = frozenset({"finished", "closed", "qualifier", "verified", "keyword"})
_WORDS, _SEVERAL = "|".join(NUMBERS[1:]), "|".join(NUMBERS[2:])
_OF_ALL = pattern(
    rf"(?<![\w.,/-])(\d{{1,5}}|{_SEVERAL}) (?:(?:out )?of|von|de) (?:the |all |den |las |los )?(\d{{1,5}}|{_WORDS})"
    r"(?![\w.,]\d)\b"
)
# These say of some things only that they exist.
_NEW = pattern(r"(?: [a-z-]{2,20}){0,2} (?:is|are|was|were) (?:new|skipped|mine)\b")
# Found sooner than `_OF_ALL`; `re` skips to the one word with which all matches begin.
_OF_A_NUMBER = {
    f" {of} ": pattern(rf" {of} (?:the |all |den |las |los )?(?:\d|{_WORDS})") for of in ("of", "von", "de")
}
_OUT_OF = pattern(r"(\d(?<![\w.,/-]\d)\d{0,4}) ?(?:/|of|out of|von) ?(\d{1,5})(?![\w.,/]\d)\b")
_SOME_OF_ALL = pattern(
    rf"(?<![\w.,/-])(\d{{1,4}}|{_WORDS}|{'|'.join(ORDINALS)}) (?:[a-z]{{3,12}} ){{0,2}}"
    rf"(?:out )?of (?:the |all |its )?(\d{{1,4}}|{_WORDS})"
    r"(?!\w)"
)
_SO_MANY = pattern(rf"[\s*_#>✅-]*(?:the (?:first )?)?(\d{{1,4}}|{_WORDS}) (?:[a-z-]{{3,12}} )?([a-z-]{{3,20}}s)\b")
_FIRST_OF_ALL = pattern(r"\b[a-z]{3,12}s 1 ?(?:to|through|[-–]) ?(\d{1,3})(?![\w.])")
_TO_GO = pattern(rf"(?<![\w.,])(?:[1-9]\d{{0,3}}|{_WORDS}|several|a few) (?:[a-z-]{{2,20}} ){{0,3}}\Z")
_THERE_ARE = pattern(
    rf"(?:\bthere(?:'s| is| are) (?:still )?|\()(?:[1-9]\d{{0,3}}|{_WORDS}|several|a few) (?:[a-z-]{{2,20}} ){{0,3}}\Z"
)
_BEFORE_LEFT = {"to go": _TO_GO, "to do": _TO_GO, "left": _THERE_ARE}  # What precedes a word of what is to come.
_DONE = (
    r"(?:finished|done|complete|completed|converted|migrated|implemented|translated|ported|covered|through|ready|ticked"
    r"|in place|checked off|written|fixed|moved|replaced|processed|reviewed|working)\b"
)
_OF_PIECES = (
    r"(?:\d{1,2}(?:\.\d{1,2})? ?(?:%|percent)|half|(?:a|one) (?:third|quarter|fifth|half)"
    r"|(?:two|three)[ -](?:third|quarter)s"
    r"|(?:\d{1,4}|one|two|three|four|five|six|a few|some|most) of them)"
)
# A fraction of things that are done, at the beginning of a clause: "Half of the pages are converted".
_FRACTION = pattern(
    rf"(?:[\s*_>,;–—-]|\b(?:about|around|roughly|almost|nearly|only|just|so far)\s){{0,6}}{_OF_PIECES}"
    r"(?: of (?:the|all|all the|its|our) (?!code\b|branch|lines?\b|time\b|memory\b|traffic\b|requests?\b)[a-z -]{2,30}?"
    rf")? (?:is|are|has been|have been) (?:now |already |all )?{_DONE}"
)
_ALL_AND_DONE = pattern(r"共(?:有|计|計)?\s?(\d{1,4})\s?[个個项項章页頁][^。；\n]{0,30}?完成了?\s?(\d{1,4})")
_DONE_AND_LEFT = pattern(r"完成了?\s?\d{1,4}\s?[个個项項章页頁][^。；\n]{0,20}?(?:剩[余餘下]|[还還][剩有])\s?[1-9]")
_SOME_OF_THEM = pattern(
    r"(\d(?<!\d\d)\d{0,3})\s?[个個项項页頁章][^。；\n]{1,24}了\s?(\d{1,4})\s?[个個项項页頁章](?=[\s，。；]|\Z)"
)
# Numbers of things in Chinese, done and left. Each pattern begins with its letters, to which `re` skips.
_LEFT = tuple(
    pattern(rf"{there_are}\s?[1-9]\d{{0,3}}\s?[个個项項章页頁][^。；，\n]{{0,12}}[没沒未待]")
    for there_are in ("还有", "還有")
)
_PERCENT = pattern(r"(?<![\w.,])\d{1,2}(?:\.\d{1,2})? ?(?:%|percent) of [^.;:]{1,40}\Z")


def detect_shares(reply: Reply) -> Iterable[Signal]:
    """Find the first share of the work after the last announcement."""
    if span := next(_shares(reply), None):
        yield Signal("unfinished", "", *span, AGAINST, "Only a share of the work is done.", "progress")


def _shares(reply: Reply) -> Iterator[Span]:
    yield from _shares_of_number(reply)
    if reply.context.task:
        yield from _shares_of_task(reply)
    yield from _beside_words(reply)
    yield from _fractions(reply)
    if not reply.reading.prose.isascii() and reply.scope.has(_OF_NUMBERS):
        yield from _in_chinese(reply.reading.prose, announcement_end(reply))


def _beside_words(reply: Reply) -> Iterator[Span]:
    """Yield numbers beside words of progress, of what is left, and of what is done."""
    scope, prose, begin = reply.scope, reply.reading.prose, announcement_end(reply)
    for hit in scope.within("progress", (begin, len(prose)))[:_LOOKED_AT]:
        shares = _OUT_OF.findall(prose, hit.end, Objections.of(reply).sentence(hit)[1])
        if shares and any(int(part) < int(whole) for part, whole in shares):
            yield hit.start, hit.end
    ahead = [hit for hit in scope.of("open") if hit.name in _BEFORE_LEFT]
    done = scope.of("finished") if "%" in prose or "percent" in prose else ()
    for hit in (*relevant_hits(reply, ahead), *relevant_hits(reply, done)):
        before = _BEFORE_LEFT.get(hit.name, _PERCENT)
        first = max(begin, hit.start - _BACK)
        if before is _THERE_ARE and max(prose.find("there", first, hit.start), prose.find("(", first, hit.start)) < 0:
            continue  # most of what is left has no number
        sentence = Objections.of(reply).sentence(hit)
        number = before.search(prose, max(first, sentence[0]), hit.start)
        if number and not scope.within("optional", sentence):
            yield number.start(), hit.end


def _fractions(reply: Reply) -> Iterator[Span]:
    """Yield fractions of things at the beginning of a clause."""
    prose = reply.reading.prose
    for hit in relevant_hits(reply, reply.scope.of("fraction")):
        start, end = Objections.of(reply).sentence(hit)
        clause = max(start, prose.rfind(",", start, hit.start) + 1, prose.rfind(";", start, hit.start) + 1)
        if (found := _FRACTION.match(prose, clause)) and not reply.scope.within("optional", (start, end)):
            yield found.span()


def _in_chinese(prose: str, begin: int) -> Iterator[Span]:
    """Yield a number of all, or a number that is left."""
    for found in (*_ALL_AND_DONE.finditer(prose, begin), *_SOME_OF_THEM.finditer(prose, begin)):
        if int(found[2]) < int(found[1]):
            yield found.span()
    for expression in (_DONE_AND_LEFT, *_LEFT):
        if found := expression.search(prose, begin):
            yield found.span()


def _shares_of_task(reply: Reply) -> Iterator[Span]:
    """Yield less than the percentage that the task asks for; some of its pieces, and not the last."""
    task, lower = Objections.of(reply).task, reply.reading.lower
    if not task.given:
        return
    begin = len(lower) - len(lower[announcement_end(reply) :].lstrip())
    reached = list(_REACHED.finditer(lower, begin, begin + _FIRST)) if task.target_percent else []
    if reached and all(int(found[1]) < task.target_percent for found in reached):
        yield reached[0].span()
    elif task.misses_last_item(lower[begin:]):
        yield begin, reply.reading.sentence(begin)[1]
    elif task.item_count and not task.covers_all_items(lower[begin:]):
        yield from _shares_of_count(lower, begin, task.item_count, task.item_noun)
    elif "part" in reply.scope.hits and begin < len(lower):
        yield from _some_of_several(reply, begin)


def _some_of_several(reply: Reply, begin: int) -> Iterator[Span]:
    """Yield "Most of the defects are fixed", in the first sentence and about what the task names."""
    scope, objections = reply.scope, Objections.of(reply)
    end = reply.reading.sentence(begin)[1]
    for hit in scope.within("part", (begin, end))[:_LOOKED_AT]:
        done = scope.any_within(("finished", "closed", "stands"), (hit.end, end))
        if done and objections.is_of_several(hit) and not scope.negated(hit, 3):
            yield hit.start, hit.end
            return


def _shares_of_count(lower: str, begin: int, count: int, counted: str) -> Iterator[Span]:
    """Yield shares of the number that the task names.

    "20 of the 60 files", "20/60", "the third of the 60", "items 1 to 4", or "Three files …" as the opening.
    """
    opening = _SO_MANY.match(lower, begin)
    if opening and opening[2] == counted and number_of(opening[1]) < count:
        yield opening.span()
    for expression in (_SOME_OF_ALL, _OUT_OF):
        for found in expression.finditer(lower, begin):
            if number_of(found[1]) < count == number_of(found[2]):
                yield found.span()
    for found in _FIRST_OF_ALL.finditer(lower, begin):
        if 1 < number_of(found[1]) < count:
            yield found.span()


def _shares_of_number(reply: Reply) -> Iterator[Span]:
    """Yield "212 of the 240 programs" in the opening, which is about the whole."""
    prose = reply.reading.prose
    begin = len(prose) - len(prose[announcement_end(reply) :].lstrip())
    opening = prose[begin : begin + _FIRST]
    if not any(of in opening and number.search(opening) for of, number in _OF_A_NUMBER.items()):
        return
    task = Objections.of(reply).task
    for found in _OF_ALL.finditer(prose, begin, begin + _FIRST):
        part, whole = map(number_of, found.groups())
        if part >= whole or _NEW.match(prose, found.end()):
            continue
        counted = found[2] in reply.context.task.lower()
        if not (counted and task.is_named(prose[slice(*reply.reading.sentence(found.start()))])):
            yield found.span()


_TARGET = 200  # characters of a task in which its number is sought
# The base unit of each unit, and the factor.
_UNITS = {
    **dict.fromkeys(("%", "％", "percent", "prozent"), ("%", 1.0)),
    **dict.fromkeys(("ms", "milliseconds", "毫秒"), ("s", 0.001)),
    **dict.fromkeys(("s", "sec", "second", "seconds", "segundos", "sekunden", "秒"), ("s", 1.0)),
    **dict.fromkeys(("min", "minute", "minutes", "minutos", "minuten", "分钟", "分鐘"), ("s", 60.0)),
    **dict.fromkeys(("kb", "kib"), ("kB", 1.0)),
    **dict.fromkeys(("mb", "mib"), ("kB", 1000.0)),
    **dict.fromkeys(("gb", "gib"), ("kB", 1_000_000.0)),
}
_NAMES = "|".join(sorted(_UNITS, key=len, reverse=True))
_AMOUNT = rf"(\d(?<![\w.,]\d)\d{{0,8}}(?:[.,]\d{{1,3}})?) ?({_NAMES})(?![a-z])"
_AMOUNTS = pattern(_AMOUNT)
_LEAST = pattern(
    r"(?:\b(?:at least|above|over|more than|reach(?:es)?|mindestens|über|al menos|más de)|>=?|≥"
    rf"|至少|达到|達到|超过|超過) {{0,2}}{_AMOUNT}"
)
_MOST = pattern(
    r"(?:\b(?:below|under|less than|at most|within|no more than|unter|höchstens|weniger als|menos de|por debajo de)"
    rf"|<=?|≤|不超过|不超過|低于|低於|小于|小於|少于|少於) {{0,2}}{_AMOUNT}"
)
# These follow a number and say which way it is meant.
_MORE, _LESS = (
    pattern(r" (?:or (?:more|higher|better)|o más|oder mehr)|以上"),
    pattern(r" or (?:less|lower)|以[内內下]"),
)


class Bound(NamedTuple):
    """A number to reach, or to stay below, such as "at least 90 %" or "under 300 kB".

    Attributes:
        unit: "%", "s" or "kB".
        least: the number is to be reached.
    """

    amount: float
    unit: str
    least: bool

    def find_in(self, text: str, span: Span) -> tuple[Span, bool] | None:
        """Find the first number of this unit in a span of a text in lower case.

        Returns:
            Its span, and whether it meets the bound.
        """
        for found in _AMOUNTS.finditer(text, *span):
            unit, amount = _measured(found[1], found[2])
            if unit == self.unit:
                return found.span(), amount >= self.amount if self.least else amount <= self.amount
        return None


@lru_cache(maxsize=8)
def bound_of(task: str) -> Bound | None:
    """Return the bound that the beginning of a task sets; None if it sets none or several."""
    title = task[:_TARGET].lower()
    bounds: set[Bound] = set()
    for least, before, behind in ((True, _LEAST, _MORE), (False, _MOST, _LESS)):
        amounts = (each for each in _AMOUNTS.finditer(title) if behind.match(title, each.end()))
        for found in (*before.finditer(title), *amounts):
            unit, amount = _measured(found[1], found[2])
            bounds.add(Bound(amount, unit, least))
    return bounds.pop() if len(bounds) == 1 else None


def _measured(number: str, name: str) -> tuple[str, float]:
    """Convert to the base unit. A comma before three digits separates thousands."""
    unit, factor = _UNITS[name]
    whole, mark, rest = number.replace(",", ".").partition(".")
    thousands = "," in number and len(rest) == 3
    return unit, float(whole + rest if thousands else whole + mark + rest) * factor

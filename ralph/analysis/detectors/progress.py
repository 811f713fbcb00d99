"""Amounts of work that is done: checklists, percentages, and shares such as "3 of 7".

| share | such as |
|---|---|
| of a number, in the opening | "212 of the 240 programs compile", "Three of four criteria are met" |
| of things, at the beginning of a clause | "Half of the pages are converted" |
| as a label or a sentence of progress | "Progress: 3/7 views" |
| of what is to come | "three views to go" |
| in percent | "60 % of the views are done" |
| of as many things as the task names | the task is "the 60 samples", the reply has 20/60 or "Three samples" |

A share that the task itself names ("session 3 of 5") is the whole.
"""

import re
from collections.abc import Iterable, Iterator

from ralph.analysis.detectors.activity import announcement_end
from ralph.analysis.detectors.claims import relevant_hits
from ralph.analysis.detectors.objections import NUMBERS, ORDINALS, Objections, number_of
from ralph.analysis.result import AGAINST, Reply, Signal
from ralph.analysis.text import Span, has_digit
from ralph.analysis.vocabulary import Scope
from ralph.system.text import pattern
from ralph.types.plan import TaskPlan, parse_plan

_CHECKLIST = 40_000  # characters at the end of a reply in which its checklist stands
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
    text = reply.reading.unfenced[-_CHECKLIST:]
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


_FIRST = 260  # characters of the opening
_BACK = 80  # characters before a word in which its number stands
_LOOKED_AT = 10
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
    yield from _shares_of_task(reply)
    yield from _beside_words(reply)
    yield from _fractions(reply)


def _beside_words(reply: Reply) -> Iterator[Span]:
    """Yield numbers beside words of progress, of what is left, and of what is done."""
    scope, prose, begin = reply.scope, reply.reading.prose, announcement_end(reply)
    numbered = has_digit(prose)
    for hit in scope.within("progress", (begin, len(prose)))[:_LOOKED_AT] if numbered else ():
        shares = _OUT_OF.findall(prose, hit.end, Objections.of(reply).sentence(hit)[1])
        if shares and any(int(part) < int(whole) for part, whole in shares):
            yield hit.start, hit.end
    ahead = [hit for hit in scope.of("open") if hit.name in _BEFORE_LEFT]
    done = scope.of("finished") if "%" in prose or "percent" in prose else ()
    if not (ahead or done):
        return
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
    for hit in relevant_hits(reply, reply.scope.of("fraction")) if "fraction" in reply.scope.hits else ():
        start, end = Objections.of(reply).sentence(hit)
        clause = max(start, prose.rfind(",", start, hit.start) + 1, prose.rfind(";", start, hit.start) + 1)
        if (found := _FRACTION.match(prose, clause)) and not reply.scope.within("optional", (start, end)):
            yield found.span()


def _shares_of_task(reply: Reply) -> Iterator[Span]:
    """Yield less than the number that the task names, or in Chinese than the reply itself names."""
    task, prose = Objections.of(reply).task, reply.reading.prose
    begin = announcement_end(reply)
    begin += len(prose[begin : begin + _FIRST]) - len(prose[begin : begin + _FIRST].lstrip())
    if task.item_count and not task.covers_all_items(prose[begin:]):
        yield from _shares_of_count(prose, begin, task.item_count, task.item_noun)
    if not prose.isascii():
        for found in (*_ALL_AND_DONE.finditer(prose, begin), *_SOME_OF_THEM.finditer(prose, begin)):
            if int(found[2]) < int(found[1]):
                yield found.span()
        for expression in (_DONE_AND_LEFT, *_LEFT):
            if found := expression.search(prose, begin):
                yield found.span()
    if task.given and "part" in reply.scope.hits and begin < len(prose):
        yield from _some_of_several(reply, begin)


def _shares_of_count(prose: str, begin: int, count: int, counted: str) -> Iterator[Span]:
    """Yield "20 of the 60", "20/60", "the third of the 60", "items 1 to 4", or "Three files …" as the opening."""
    opening = _SO_MANY.match(prose, begin)
    if opening and opening[2] == counted and number_of(opening[1]) < count:
        yield opening.span()
    for expression in (_SOME_OF_ALL, _OUT_OF):
        for found in expression.finditer(prose, begin):
            if number_of(found[1]) < count == number_of(found[2]):
                yield found.span()
    for found in _FIRST_OF_ALL.finditer(prose, begin):
        if 1 < number_of(found[1]) < count:
            yield found.span()


def _some_of_several(reply: Reply, begin: int) -> Iterator[Span]:
    """Yield "Most of the defects are fixed", in the first sentence and about what the task names."""
    scope, objections = reply.scope, Objections.of(reply)
    end = reply.reading.sentence(begin)[1]
    for hit in scope.within("part", (begin, end))[:_LOOKED_AT]:
        done = scope.any_within(("finished", "closed", "stands"), (hit.end, end))
        if done and objections.is_of_several(hit) and not scope.negated(hit, 3):
            yield hit.start, hit.end
            return


def _shares_of_number(reply: Reply) -> Iterator[Span]:
    """Yield "212 of the 240 programs" in the opening, which is about the whole."""
    prose = reply.reading.prose
    begin = announcement_end(reply)
    opening = prose[begin : begin + _FIRST]
    if not any(of in opening and number.search(opening) for of, number in _OF_A_NUMBER.items()):
        return
    task, named = reply.context.task.lower(), Objections.of(reply).task.item_count
    for found in _OF_ALL.finditer(prose, begin, begin + _FIRST):
        part, whole = map(number_of, found.groups())
        if part < whole != named and not _NEW.match(prose, found.end()) and found[0] not in task:
            yield found.span()

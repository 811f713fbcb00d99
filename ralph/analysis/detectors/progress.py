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

from collections.abc import Iterable, Iterator

from ralph.analysis.detectors.activity import announcement_end
from ralph.analysis.detectors.claims import relevant_hits
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.result import AGAINST, Reply, Signal
from ralph.analysis.text import NUMBERS, Span, number_of
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


def detect_percentages(reply: Reply) -> Iterable[Signal]:
    """Find the last percentage of the work."""
    for share in reversed(Objections.of(reply).shares):
        if share.whole == _HUNDRED:
            why = f"The reply says {share.part:g} %."
            yield Signal("percentage", "", share.start, share.end, int(share.part), why, amount=int(share.part))
            return


_HUNDRED = 100
_FIRST = 260  # characters of the opening
_BACK = 80  # characters before a word in which its number stands
_LOOKED_AT = 10
_WORDS = "|".join(NUMBERS[1:])
# These say of some things only that they exist.
_NEW = pattern(r"(?: [a-z-]{2,20}){0,2} (?:is|are|was|were) (?:new|skipped|mine)\b")
_SO_MANY = pattern(rf"[\s*_#>✅-]*(?:the (?:first )?)?(\d{{1,4}}|{_WORDS}) (?:[a-z-]{{3,12}} )?([a-z-]{{3,20}}s)\b")
_FIRST_OF_ALL = pattern(r"\b[a-z]{3,12}s 1 ?(?:to|through|[-–]) ?(\d{1,3})(?![\w.])")
_TO_GO = pattern(rf"(?<![\w.,])(?:[1-9]\d{{0,3}}|{_WORDS}|several|a few) (?:[a-z-]{{2,20}} ){{0,3}}\Z")
_THERE_ARE = pattern(
    rf"(?:\bthere(?:'s| is| are) (?:still )?|\()(?:[1-9]\d{{0,3}}|{_WORDS}|several|a few) (?:[a-z-]{{2,20}} ){{0,3}}\Z"
)
_BEFORE_LEFT = {"to go": _TO_GO, "to do": _TO_GO, "left": _THERE_ARE}  # What precedes a word of what is to come.
_DONE_AND_LEFT = pattern(r"完成了?\s?\d{1,4}\s?[个個项項章页頁][^。；\n]{0,20}?(?:剩[余餘下]|[还還][剩有])\s?[1-9]")
# Numbers of things in Chinese that are left. Each pattern begins with its letters, to which `re` skips.
_LEFT = tuple(
    pattern(rf"{there_are}\s?[1-9]\d{{0,3}}\s?[个個项項章页頁][^。；，\n]{{0,12}}[没沒未待]")
    for there_are in ("还有", "還有")
)


ONLY_A_SHARE = "Only a share of the work is done."


def detect_shares(reply: Reply) -> Iterable[Signal]:
    """Find the first share of the work after the last announcement."""
    if span := next(_shares(reply), None):
        yield Signal("unfinished", "", *span, AGAINST, ONLY_A_SHARE, "progress")
    elif span := next(_to_come(reply), None):
        yield Signal("unfinished", "", *span, AGAINST, "Things are still to come.", "progress")


def _shares(reply: Reply) -> Iterator[Span]:
    """Yield what is less than its whole; not one that the task names, or that the rest of the sentence completes."""
    objections, prose = Objections.of(reply), reply.reading.prose
    begin, task = announcement_end(reply), reply.context.task.lower()
    for share in objections.shares:
        if share.start < begin or not share.is_partial or share.whole == objections.task.item_count:
            continue
        if not (_NEW.match(prose, share.end) or prose[share.start : share.end] in task):
            yield share.start, share.end
    yield from _shares_of_task(reply)


def _to_come(reply: Reply) -> Iterator[Span]:
    """Yield numbers of things that are to come."""
    scope, prose, begin = reply.scope, reply.reading.prose, announcement_end(reply)
    for hit in relevant_hits(reply, [hit for hit in scope.of("open") if hit.name in _BEFORE_LEFT]):
        before = _BEFORE_LEFT[hit.name]
        first = max(begin, hit.start - _BACK)
        if before is _THERE_ARE and max(prose.find("there", first, hit.start), prose.find("(", first, hit.start)) < 0:
            continue  # most of what is left has no number
        sentence = Objections.of(reply).sentence(hit)
        number = before.search(prose, max(first, sentence[0]), hit.start)
        if number and not scope.within("optional", sentence):
            yield number.start(), hit.end


def _shares_of_task(reply: Reply) -> Iterator[Span]:
    """Yield less than the number that the task names, or in Chinese than the reply itself names."""
    task, prose = Objections.of(reply).task, reply.reading.prose
    begin = announcement_end(reply)
    begin += len(prose[begin : begin + _FIRST]) - len(prose[begin : begin + _FIRST].lstrip())
    if task.item_count and not task.covers_all_items(prose[begin:]):
        yield from _shares_of_count(reply, begin, task.item_count, task.item_noun)
    for expression in () if prose.isascii() else (_DONE_AND_LEFT, *_LEFT):
        if found := expression.search(prose, begin):
            yield found.span()
    if task.given and "part" in reply.scope.hits and begin < len(prose):
        yield from _some_of_several(reply, begin)


def _shares_of_count(reply: Reply, begin: int, count: int, counted: str) -> Iterator[Span]:
    """Yield "20 of the 60", "20/60", "the third of the 60", "items 1 to 4", or "Three files …" as the opening."""
    prose = reply.reading.prose
    opening = _SO_MANY.match(prose, begin)
    if opening and opening[2] == counted and number_of(opening[1]) < count:
        yield opening.span()
    for quantity in Objections.of(reply).quantities:
        if quantity.part < count == quantity.whole and quantity.start >= begin:
            yield quantity.start, quantity.end
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

"""Work that a reply leaves open: other work of the loop, open ends of this work, and checks that fail.

docs/explanation/signals.md describes each kind of signal and what it contradicts.

Optional work, work for later and empty lists do not count; nor do checks that fail for a reason beyond the work: the
sandbox, the network, a failure that was there before. "Ready for the next task" waits, and leaves nothing open.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from operator import itemgetter

from ralph.analysis.detectors.activity import announcement_end, line_end, line_start
from ralph.analysis.detectors.claims import is_stated, relevant_hits
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.tests import is_check_verdict
from ralph.analysis.lexicon import Role
from ralph.analysis.result import AGAINST, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

_ROWS = 400  # rows and items that are read
_LOOKED_AT = 40  # words of one role that are examined, from the end
_SECTION = 600  # characters under a label that are read
# After the first words of a label: the rest of it up to its colon, its end, or a list.
_LABEL = pattern(
    r"([^\n:：]{0,60})[:：]|[ *_]{0,4}(?:[.。]|\s[–—-]\s)"
    r"|(?:[^\n:：*]{0,60}[*_]{2,3}[ \t]{0,4}|[ \t]{0,4})\n(?=\n?[ \t]{0,3}(?:[-*+•]|\d{1,2}[.)])\s)"
)
_LEFT_OF_IT = frozenset({"remaining", "pending", "outstanding", "missing", "open", "pendiente", "pendientes"})
_AMOUNT = pattern(r"[\s*_~]{0,6}\d")
_NUMBER = pattern(r"[\s*_#-]{0,4}\d")
_ITEM = pattern(r"\n[ \t]{0,8}(?:[-*+•]|\d{1,2}[.)])[ \t][^\n]{0,200}")
_MARKS = " \t\n*_#>-•.0123456789)✅❌⚠️🔄⏳"
# A number of things as the subject of a sentence, up to its verb.
_SOME = pattern(
    r"[\s*_>-]*(?:the )?(?:other |remaining )?"
    r"(?:\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]{3,5}teen|twenty|some|several"
    r"|a few|most|many|rest|others?|remaining"
    r"|(?:stor(?:y|ies)|sections?|phases?|steps?|parts?|tasks?|items?|milestones?|chapters?|[a-z]{4,12}s)"
    r"\s#?(?:[a-z]{1,6}-)?\d{1,4})"
    r"\b[^;:]{0,80}\Z"
)
_OTHERS = pattern(r"[\s*_>-]*(?:the )?(?:other|remaining|rest)\b")
_NEEDLESS = pattern(
    r"[\s*_]{1,3}(?:no|nothing|neither|only|pass|passes|work|works|green|valid|succeed|run|runs|behave|behaves|there|have)\b"
)
_UNTOUCHED = frozenset({"is untouched", "are untouched"})  # true of the other items when the task is one of them
_FOLLOWS = frozenset({"follow", "follows"})
# After "follows" these are not about time: "the rest follows from it".
_OUT_OF_IT = pattern(r"[\s*_]{1,3}(?:directly |naturally )?(?:from (?!tomorrow|next|monday)|out of|suit)\b")
# Said of the others, these leave work open: "the other six need a lookup table".
_LACKS = frozenset((
    "still",
    *("need", "needs", "have to be", "has to be", "require", "requires", "wait", "are waiting", "follow", "follows"),
))
_OF_KIND = pattern(
    r"[\s*_>-]*(?!the |two |three |\d)(?:[a-z-]{2,20} ){0,3}[a-z-]{2,20}s (?:that|which|who)\b[^,.;:]{0,30}\Z"
)
# These make a sentence general: "Rows that are not … are skipped".
_GOES_ON = pattern(
    r"(?: yet)?,? (?:is|are|give|gives|get|gets|will be|use|uses|fall|falls"
    r"|raise|raises|return|returns|show|see|keep|stay)\b"
)
_REMAINS = pattern(r"remains?(?: to be done| to do| open| undone)?[\s*_]{0,3}(?:[.!]|\Z)")
_NONE_LEFT: tuple[Role, ...] = ("negation", "keyword", "nothing left")
_FINDING = ("found", "turn", "show", "it seems", "noticed", "saw", "means")
# The end of a denial without an object: "found that it hasn't.".
_CLOSED = pattern(r"(?: (?:there|done|complete|finished|yet|so|all|true|the case)){0,3}[\s*_]{0,3}(?:[.,;:!)—–]|\Z)")
# A sentence up to its verb that denies it, even if "no" is a part of another word: "no key is missing".
_NOT_ONE = pattern(r"[\s*_>-]*(?:there(?:'s| is| are) )?no\s[a-z-]{2,20}\s(?:[a-z-]{2,12}\s)?\Z")
_NONE_YET = pattern(r"[\s*_>-]*(?:there(?:'s| is| are) )?no\s")
_BEFORE = pattern(
    r"[^.;。；]{0,60}?[\s*_]{1,3}(?:before|at first|without|until|earlier|previously"
    r"|(?:on|with|against|under|in) (?:the )?(?:old|previous|original|former|unpatched|unfixed|main|master)"
    r"|antes|ohne|vorher)\b"
)
# After "fails" these say that it is meant to: "fails the build if …", "fails above 900 ms", "fails properly".
_IF = pattern(
    r"(?:[\s*_`]{1,3}(?:the|a|any|every) (?:build|check|ci|job|merge|pipeline|run))?[\s*_`]{1,3}"
    r"(?:(?:if|unless|whenever|si|cuando|when (?:an?|any|one|somebody|someone)|on any|properly|loudly"
    r"|as (?:it should|intended))\b|(?:above|below|over) \d)"
)
# And these before it.
_MEANT = pattern(
    r"\b(?:so that|to see (?:that|whether)|deliberately|on purpose)\b[^.;:]{0,40}\Z"
    r"|(?:[低高][于於]|[超][过過]|不足|[少小大][于於]|一旦|如果|若)[^，。；\n]{1,20}[时時就则則][^，。；\n]{0,10}\Z"
)
_MEANS = 80  # characters before a failing check in which it is said to be meant
# After "failed" these say that nothing did: "Failed checks: 0".
_NONE = pattern(r"(?:[ \t]\w{1,12}){0,2}[\s*_`]{0,4}[:：=][\s*_`]{0,4}(?:0|none|zero)\b")
_ROW = pattern(r"\n[ \t]{0,8}(?:\||[-*+•]|\d{1,2}[.)])[^\n]{1,400}")
_TICKS = "✅✔☑"
_TICK = pattern(f"[{_TICKS}]")
_OPEN = "🔄⏳🚧⌛⬜🔲"
_UNTICKED = pattern(rf"[{_OPEN}]|❌(?=[\s*_]*(?:\||\Z|not|no|missing|todo|pending|open|未|没|沒|尚))")
_STATES = (
    "todo|to do|open|pending|not started|not yet|next|in progress|planned|missing|pendiente"
    "|未开始|未開始|待开始|待開始|即将开始|即將開始|进行中|進行中|未完成|待办|待辦"
)
# The last cell of a row, from the bar before it, if it says that the row is not done.
_UNDONE = pattern(rf"[\s*_]{{0,6}}(?i:{_STATES})[\s*_]{{0,6}}\|?\s{{0,4}}\Z")
# A cell that may say so. Without one the rows are not read one by one.
_MAY_BE_UNDONE = pattern(rf"\|[\s*_]{{0,6}}(?=[topnimTOPNIMİı未待即进進])(?i:{_STATES})")
_NOT_BEGUN = frozenset("🔜⬜🔲☐◻◽▢")
_PENDING = frozenset({"once", "as soon as", "una vez", "en cuanto", "sobald", "一旦"})
_ALLOWED: tuple[Role, ...] = ("beyond", "optional", "proviso")
_EXCUSES: tuple[Role, ...] = ("beyond", "mended", "optional")
_SHARE_ROLES: tuple[Role, ...] = ("part", "pieced", "qualifier")
_FINAL = pattern(r"\b(?:last|final|letzte[nrs]?|últim[oa])\b|最[后後]")
_WHOLE: tuple[Role, ...] = ("all", "everything", "whole", "piece", "trouble", "goal", "member")
_NOTHING = frozenset({"nothing left", "last", "promise"})  # names of claims of the whole
# roles that excuse the items under a label, besides "optional"
_LABEL_EXCUSES: Mapping[Role, tuple[Role, ...]] = {"left": (), "later": ("handover",)}


def detect_open_work(reply: Reply) -> Iterable[Signal]:
    """Find the first piece of open work of each kind, after the last announcement."""
    has, marked = reply.scope.has, _may_list_states(reply.reading.unfenced, announcement_end(reply))
    found = _OpenWork(reply)
    for kind, roles, find, why in found.kinds():
        if has(roles) or (marked and kind == "open_end"):
            for begin, end in find(found):
                yield Signal(kind, "", begin, end, AGAINST, why, "progress")
                break


def _may_list_states(text: str, begin: int) -> bool:
    """Return True if there may be a list of states, which can show open items without any word."""
    if not text.isascii() and _shows(text, begin, _TICKS) and _shows(text, begin, _OPEN + "❌"):
        return True
    return "|" in text and _MAY_BE_UNDONE.search(text, begin) is not None


def _shows(text: str, begin: int, marks: str) -> bool:
    return any(text.find(mark, begin) >= 0 for mark in marks)


class _OpenWork:
    """The open work of a reply, by kinds."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope = reply, reply.scope
        self._text, self._prose = reply.reading.text, reply.reading.prose
        self._objections = Objections.of(reply)
        self._begin = self._objections.start

    def kinds(self) -> "Sequence[_Kind]":
        """Return the kinds that count. If the task is one item of work, others may follow it."""
        task = self._objections.task
        if task.given and task.is_single_item:
            return _ANY_REPLY
        claims = self._reply.signals.of("completion_claim")
        whole = any(signal.weight >= VERY_HIGH for signal in claims)
        if task.given and not task.has_many_items:
            return _ANY_REPLY if whole and any(map(self._claims_whole, claims)) else _WHOLE_NOT_CLAIMED
        return _WHOLE_CLAIMED if whole else _NO_TASK

    def _claims_whole(self, claim: Signal) -> bool:
        """Return True if a claim names the whole or says that nothing is left, and is not about checks."""
        if claim.weight < VERY_HIGH or claim.name == "passing":
            return False
        return claim.name in _NOTHING or self._scope.any_within(_WHOLE, (claim.start, claim.end))

    def open_ends(self) -> Iterator[Span]:
        """Yield labels of what is left with something under them, and items marked as in progress."""
        yield from self._labels("left")
        for hit in self._after("underway"):
            if self._is_status(hit) and not self._is_optional(hit):
                yield hit.start, hit.end
        if _may_list_states(self._reply.reading.unfenced, self._begin):
            yield from self._open_rows()

    def _open_rows(self) -> Iterator[Span]:
        """Yield rows and items marked as not done, in a list of states with some ticked."""
        text = self._reply.reading.unfenced
        ticked = _shows(text, self._begin, _TICKS)
        for row in islice(_ROW.finditer(text, self._begin), _ROWS):
            mark = _UNTICKED.search(row[0]) if ticked else None
            if not mark and (cell := row[0].rstrip().removesuffix("|").rfind("|") + 1):
                mark = _UNDONE.match(row[0], cell)
            if mark and not _TICK.search(row[0]) and not self._scope.within("optional", row.span()):
                yield row.start() + mark.start(), row.start() + mark.end()

    def unfinished(self) -> Iterator[Span]:
        """Yield statements that something is left, or that a number of things are still as they were."""
        for hit in self._after("unfinished"):
            # "found that it isn't." says so; "found that it isn't the list" denies something else
            denies = hit.name.startswith(_FINDING) and not _CLOSED.match(self._prose, hit.end)
            if denies or self._scope.negated(hit, 4) or self._is_excused(hit):
                continue
            if not _NOT_ONE.match(self._prose, self._objections.sentence(hit)[0], hit.start):
                yield hit.start, hit.end
        for hit in self._after("yet"):
            turned = self._scope.negated(hit, 4)
            if turned and self._is_lack(turned) and not self._is_excused(turned._replace(end=hit.end)):
                yield turned.start, hit.end
        for hit in self._after("persisting"):
            begin, _ = self._objections.sentence(hit)
            begin = max(begin, self._prose.rfind(";", begin, hit.start) + 1)
            if self._objections.task.is_single_item and hit.name in _UNTOUCHED:
                continue
            if self._is_about_several(hit, begin) and not self._is_excused(hit):
                yield hit.start, hit.end
        yield from self._remaining()
        yield from self._pending()

    def _remaining(self) -> Iterator[Span]:
        """Yield what a sentence says to remain and nothing else, such as "The search page remains"."""
        for hit in () if self._objections.task.is_single_item else self._after("open"):
            begin, _ = self._objections.sentence(hit)
            begin = max(begin, self._prose.rfind(";", begin, hit.start) + 1)
            told = _REMAINS.match(self._prose, hit.start) and self._prose[begin : hit.start].strip(_MARKS)
            if told and not (self._scope.any_within(_NONE_LEFT, (begin, hit.end)) or self._is_excused(hit)):
                yield hit.start, hit.end

    def _is_lack(self, turned: Hit) -> bool:
        """Return True if what is negated is missing: "no code yet"; not "no problems yet"."""
        if turned.name != "no":
            return True
        begin, end = self._objections.sentence(turned)
        return _NONE_YET.match(self._prose, begin) is not None and not self._scope.within("fault", (begin, end))

    def _is_about_several(self, hit: Hit, begin: int) -> bool:
        """Return True if a number of things are the subject, and of the others also what they lack."""
        if hit.name in _LACKS:
            needless = self._scope.negated(hit, 2) or _NEEDLESS.match(self._prose, hit.end)
            needless = needless or (hit.name in _FOLLOWS and _OUT_OF_IT.match(self._prose, hit.end))
            if needless or not _OTHERS.match(self._prose, begin):
                return False
        subject = self._prose[begin : hit.start]
        return ", which" not in subject and _SOME.match(subject) is not None

    def _pending(self) -> Iterator[Span]:
        """Yield what is done only after something else: "Once approved, the feature is complete"."""
        for hit in self._after("proviso"):
            begin, end = self._objections.sentence(hit)
            if hit.name not in _PENDING or self._prose[begin : hit.start].strip(_MARKS):
                continue
            if any(hit.end <= done.start < end for done in relevant_hits(self._reply, self._scope.of("finished"))):
                yield hit.start, hit.end

    def _is_excused(self, hit: Hit) -> bool:
        sentence = self._objections.sentence(hit)
        if self._scope.reading.in_heading(hit.start) or self._objections.is_described(hit):
            return True
        if _OF_KIND.match(self._prose, sentence[0], hit.start) and _GOES_ON.match(self._prose, hit.end):
            return True
        if self._scope.any_within(_ALLOWED, sentence):
            return True
        headings = self._scope.reading.headings  # of a section beyond the work: known limitations, ideas for later
        index = bisect_right(headings, hit.start, key=itemgetter(0))
        return index > 0 and bool(self._scope.within("optional", headings[index - 1]))

    def failing_checks(self) -> Iterator[Span]:
        """Yield checks that are said to fail, without a condition or an excuse."""
        scope, run = self._scope, self._reply.signals.first("test_run")
        for hit in self._after("failing"):
            if run and AGAINST < run.weight < 0 and run.start <= hit.start < run.end:
                continue  # all failures are known
            turned = scope.negated(hit, 4) or scope.before("future", hit, 6) or scope.before("proviso", hit, 6)
            if turned or scope.reading.in_heading(hit.start) or not is_check_verdict(self._reply, hit):
                continue
            sentence = scope.reading.sentence(hit.start)
            if scope.any_within(_EXCUSES, sentence) or self._objections.is_described(hit):
                continue
            past = _BEFORE.match(self._prose, hit.end) and self._is_past(hit, sentence[1])
            meant = _IF.match(self._prose, hit.end) or _MEANT.search(
                self._prose, max(sentence[0], hit.start - _MEANS), hit.start
            )
            if not (past or meant or _NONE.match(self._prose, hit.end)):
                yield hit.start, hit.end

    def _is_past(self, hit: Hit, end: int) -> bool:
        """Return True if a check failed before and passes now, or is described: "a test that failed before"."""
        scope, rest = self._scope, (hit.end, end)
        if scope.any_within(("verified", "passes"), rest):
            return True
        return self._prose.endswith(("that ", "which "), 0, hit.start) and not scope.within("qualifier", rest)

    def next_pieces(self) -> Iterator[Span]:
        """Yield items of work that are called next or remaining, that are open, or about to begin."""
        scope = self._scope
        for hit in self._after("following"):
            turned = scope.before("ready", hit, 4) or scope.negated(hit, 2) or self._objections.is_described(hit)
            if not (turned or self._is_optional(hit)):
                yield hit.start, hit.end
        for hit in self._after("open"):
            goal = scope.before("goal", hit, 2)
            if goal is None or goal.name == "changes" or self._objections.is_described(hit):
                continue
            if scope.within("keyword", (goal.end, hit.end)):
                continue  # "no issues remain" is one
            if not (scope.negated(goal, 3) or scope.negated(hit, 2) or self._is_optional(hit)):
                yield goal.start, hit.end
        for hit in self._after("begin"):
            stage = scope.after("stage", hit, 2)
            if stage and _NUMBER.match(self._prose, stage.end) and not self._is_optional(hit):
                yield hit.start, stage.end

    def next_steps(self) -> Iterator[Span]:
        """Labels of next steps."""
        return self._labels("later")

    def groundwork(self) -> Iterator[Span]:
        """Yield what precedes the work, and what says that it begins only now."""
        for hit in () if self._objections.task.is_preparation else self._after("groundwork"):
            if not (self._scope.negated(hit, 3) or self._is_excused(hit)):
                yield hit.start, hit.end

    def parts(self) -> Iterator[Span]:
        """Yield parts that are said to be complete, except the last, if no word claims more."""
        known = self._reply.words.keywords
        said = (signal.name.lower() for signal in self._reply.signals.of("completion_keyword", "completion_claim"))
        if any(name in known and known[name].points for name in said):
            return
        for hit in relevant_hits(self._reply, self._scope.of("finished")):
            span = self._objections.sentence(hit)
            if self._objections.partial(hit, span) and not _FINAL.search(self._prose, *span):
                yield hit.start, hit.end

    def shares(self) -> Iterator[Span]:
        """Yield what suggests a share of the work, if a single word is all that is claimed.

        Not in a report: the longer a text is, the less a word in it says.
        """
        signals = self._reply.signals
        if signals.first("completion_report"):
            return
        if len({signal.name for signal in signals.all() if signal.state == "done"}) != 1:
            return
        for role in _SHARE_ROLES:
            for hit in self._after(role):
                if not (self._scope.negated(hit, 3) or self._is_excused(hit) or self._is_ticked(hit)):
                    yield hit.start, hit.end

    def _is_ticked(self, hit: Hit) -> bool:
        """Return True if all of a plan is said to be done: "every item of the plan is checked off"."""
        sentence = self._objections.sentence(hit)
        if self._scope.any_within(("all", "everything"), sentence):
            return True
        return any(is_stated(self._prose, closed) for closed in self._scope.within("closed", sentence))

    def _labels(self, role: Role) -> Iterator[Span]:
        for hit in self._after(role):
            if self._is_label(hit) and not self._is_empty(hit) and not self._is_optional(hit, *_LABEL_EXCUSES[role]):
                yield hit.start, hit.end

    def _after(self, role: Role) -> Sequence[Hit]:
        hits, begin = self._scope.of(role), self._begin
        return [hit for hit in hits[-_LOOKED_AT:] if hit.start >= begin] if hits else ()

    def _is_label(self, hit: Hit) -> bool:
        """Return True if a line begins with the words, and is a heading or continues to a colon."""
        begin = max(line_start(self._prose, hit.start), self._scope.reading.sentence(hit.start)[0])
        if any(map(str.isalpha, self._prose[begin : hit.start])):
            return False
        if hit.name == "next":  # which begins many sentences and headings
            return self._scope.reading.in_heading(hit.start) and not self._rest_of_line(hit).strip(_MARKS + ":")
        if self._scope.reading.in_heading(hit.start) or self._prose[hit.end - 1] == ":":
            return True
        label = _LABEL.match(self._prose, hit.end)
        if label is None or hit.name not in _LEFT_OF_IT or not (label[1] or "").strip(_MARKS):
            return label is not None
        if self._scope.within("goal", (hit.end, label.end())):
            return True
        return not _AMOUNT.match(self._prose, label.end())  # of another quantity: "Remaining minutes: 41,000"

    def _rest_of_line(self, hit: Hit) -> str:
        return self._prose[hit.end : line_end(self._prose, hit.end)]

    def _section(self, label: Hit) -> Span:
        """Return what a label is about: the section of a heading, else the rest of its line or its list."""
        if self._scope.reading.in_heading(label.start):
            begin, end = self._scope.reading.section(label.start)
            return begin, min(end, begin + _SECTION)
        behind = _LABEL.match(self._prose, label.end)
        begin = behind.end() if behind else label.end
        end = self._prose.find("\n\n", begin + 40, begin + _SECTION)
        return begin, end if end >= 0 else min(len(self._prose), begin + _SECTION)

    def _is_empty(self, label: Hit) -> bool:
        begin, end = self._section(label)
        section = self._text[begin:end]
        start = begin + len(section) - len(section.lstrip(_MARKS + ":：（("))
        return start == end or any(hit.start == start for hit in self._scope.within("nothing", (start, start + 20)))

    def _is_optional(self, hit: Hit, *further: Role) -> bool:
        """Return True if its line has "optional" or a further role, or each item of the list under it has."""
        roles: tuple[Role, ...] = ("optional", *further)
        line = line_start(self._prose, hit.start), line_end(self._prose, hit.end)
        if self._scope.any_within(roles, line):
            return True
        items = [item.span() for item in _ITEM.finditer(self._prose, line[1], self._section(hit)[1])]
        return bool(items) and all(self._scope.any_within(roles, item) for item in items)

    def _is_status(self, hit: Hit) -> bool:
        """Return True if an item begins with a mark of progress, or ends in one after a colon or a dash."""
        if self._scope.reading.in_heading(hit.start):
            return False
        before = self._prose[line_start(self._prose, hit.start) : hit.start]
        if (before.strip() or hit.name in _NOT_BEGUN) and not before.strip(_MARKS):
            return True
        if self._rest_of_line(hit).strip(" *_()0123456789/."):
            return False
        return before.rstrip(" *_").endswith((":", "：", "—", "-", ","))


_NOT_FINISHED: frozenset[Role] = frozenset({"unfinished", "yet", "persisting", "open", "proviso"})
_Kind = tuple[str, AbstractSet[Role], Callable[[_OpenWork], Iterator[Span]], str]
# The open work of any reply: kind, roles that it needs (a list of states needs none), how to find it, and why it
# counts.
_ANY_REPLY: Sequence[_Kind] = [
    ("open_end", frozenset({"left", "underway"}), _OpenWork.open_ends, "Something is left to do."),
    ("unfinished", _NOT_FINISHED, _OpenWork.unfinished, "It says that something is not finished."),
    ("failing_check", frozenset({"failing"}), _OpenWork.failing_checks, "A check fails."),
]
# For a reply without a task that claims the whole: its "next steps" may be the user's.
_WHOLE_CLAIMED: Sequence[_Kind] = [
    *_ANY_REPLY,
    ("next_piece", frozenset({"following", "open", "begin"}), _OpenWork.next_pieces, "Other work follows."),
]
_STEPS: Sequence[_Kind] = [("next_steps", frozenset({"later"}), _OpenWork.next_steps, "Further steps follow.")]
_PARTS: Sequence[_Kind] = [
    ("part_claim", frozenset({"finished"}), _OpenWork.parts, "Only a part is reported as complete."),
]
# For a reply that does not claim the whole of its task, which is not a single item by its name.
_WHOLE_NOT_CLAIMED: Sequence[_Kind] = [
    *(*_WHOLE_CLAIMED, *_STEPS),
    ("unfinished", frozenset({"groundwork"}), _OpenWork.groundwork, "It is about preparations."),
    *_PARTS,
]
# For any other reply without a task.
_NO_TASK: Sequence[_Kind] = [
    *(*_WHOLE_CLAIMED, *_STEPS, *_PARTS),
    ("share", frozenset(_SHARE_ROLES), _OpenWork.shares, "It reports one piece of the work and mentions others."),
]

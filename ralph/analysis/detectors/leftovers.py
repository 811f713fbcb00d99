"""What a reply says is left: other work of the loop, open ends of this work, and checks that fail.

| signal | such as | contradicts |
|---|---|---|
| `open_end` | "Remaining work: …", "- ⏳ …", 待完成：… | every claim |
| `unfinished` | "The printer is left.", "Ten services are still on the old logger." | every claim |
| `failing_check` | "The build fails" | every claim |
| `next_piece` | "Next task (Phase 4): …", "Remaining stories:", 下一个任务 | a reply whose task is no such piece |
| `next_steps` | "Next steps: …" | the same, where it does not claim the whole |
| `part_claim` | "Phase 2 is complete" | the same, where no keyword says so of more |
| `share` | "Implemented it, as the plan has it" | a single claim of a reply that is given no task |

What is called optional, or for later, is none, nor is an empty list. Nor is a check that fails for a reason beyond the
work: the sandbox, the network, a failure that was there before. "Ready for the next task" waits, and leaves nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from operator import itemgetter

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.checks import is_of_check
from ralph.analysis.detectors.claims import bounded
from ralph.analysis.detectors.lines import line_end, line_start
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.statements import is_stated
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import AGAINST, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["detect_leftovers"]

_ROWS = 400
"""Rows and items that are looked at."""
_LOOKED_AT = 40
"""Words of one role that are looked at, from the end."""
_SECTION = 600
"""Characters under a label that are looked at."""
_LABEL = pattern(
    r"([^\n:：]{0,60})[:：]|[ *_]{0,4}(?:[.。]|\s[–—-]\s)"
    r"|(?:[^\n:：*]{0,60}[*_]{2,3}[ \t]{0,4}|[ \t]{0,4})\n(?=\n?[ \t]{0,3}(?:[-*+•]|\d{1,2}[.)])\s)"
)
"""What is behind the first words of a label: the rest of it up to its colon, or nothing but its end, or a list."""
_LEFT_OF_IT = frozenset({"remaining", "pending", "outstanding", "missing", "open", "pendiente", "pendientes"})
_AMOUNT = pattern(r"[\s*_~]{0,6}\d")
_NUMBER = pattern(r"[\s*_#-]{0,4}\d")
_ITEM = pattern(r"\n[ \t]{0,8}(?:[-*+•]|\d{1,2}[.)])[ \t][^\n]{0,200}")
_MARKS = " \t\n*_#>-•.0123456789)✅❌⚠️🔄⏳"
_SOME = pattern(
    r"[\s*_>-]*(?:the )?(?:other |remaining )?"
    r"(?:\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]{3,5}teen|twenty|some|several"
    r"|a few|most|many|rest|others?|remaining"
    r"|(?:stor(?:y|ies)|sections?|phases?|steps?|parts?|tasks?|items?|milestones?|chapters?|[a-z]{4,12}s)"
    r"\s#?(?:[a-z]{1,6}-)?\d{1,4})"
    r"\b[^;:]{0,80}\Z"
)
"""A number of things, as the subject of a sentence, up to its verb."""
_OTHERS = pattern(r"[\s*_>-]*(?:the )?(?:other|remaining|rest)\b")
_NEEDLESS = pattern(
    r"[\s*_]{1,3}(?:no|nothing|neither|only|pass|passes|work|works|green|valid|succeed|run|runs|behave|behaves|there|have)\b"
)
_UNTOUCHED = frozenset({"is untouched", "are untouched"})
"""What is right for other pieces than the one that the task is."""
_FOLLOWS = frozenset({"follow", "follows"})
_OUT_OF_IT = pattern(r"[\s*_]{1,3}(?:directly |naturally )?(?:from (?!tomorrow|next|monday)|out of|suit)\b")
"""What is behind "follows" where that is no word of time: "the rest follows from it"."""
_LACKS = frozenset((
    "still",
    *("need", "needs", "have to be", "has to be", "require", "requires", "wait", "are waiting", "follow", "follows"),
))
"""What keeps things as they are where it is said of the others: "the other six need a lookup table"."""
_OF_KIND = pattern(
    r"[\s*_>-]*(?!the |two |three |\d)(?:[a-z-]{2,20} ){0,3}[a-z-]{2,20}s (?:that|which|who)\b[^,.;:]{0,30}\Z"
)
_GOES_ON = pattern(
    r"(?: yet)?,? (?:is|are|give|gives|get|gets|will be|use|uses|fall|falls"
    r"|raise|raises|return|returns|show|see|keep|stay)\b"
)
"""What says that a sentence is about things of a kind, in general: "Rows that are not … are skipped"."""
_STEMS = pattern(
    r"[\s*_]{1,3}(?:(?:all|both) )?(?:comes?|stems?) from\b"
    r"|[\s*_]{1,3}(?:are|is) (?:all |both )?(?:false|accepted|harmless|intended|intentional|by design|generated)\b"
)
"""What says of "the two that remain" that they are no work."""
_FINDING = ("found", "turn", "show", "it seems", "noticed", "saw", "means")
_CLOSED = pattern(r"(?: (?:there|done|complete|finished|yet|so|all|true|the case)){0,3}[\s*_]{0,3}(?:[.,;:!)—–]|\Z)")
"""What a denial ends with that has nothing to deny: "found that it hasn't."."""
_NOT_ONE = pattern(r"[\s*_>-]*(?:there(?:'s| is| are) )?no\s[a-z-]{2,20}\s(?:[a-z-]{2,12}\s)?\Z")
"""What a sentence is up to its verb that denies it, also where "no" is a part of another word: "no key is missing"."""
_NONE_YET = pattern(r"[\s*_>-]*(?:there(?:'s| is| are) )?no\s")
_BEFORE = pattern(
    r"[^.;。；]{0,60}?[\s*_]{1,3}(?:before|at first|without|until|earlier|previously"
    r"|(?:on|with|against|under|in) (?:the )?(?:old|previous|original|former|unpatched|unfixed|main|master)"
    r"|antes|ohne|vorher)\b"
)
_IF = pattern(
    r"(?:[\s*_`]{1,3}(?:the|a|any|every) (?:build|check|ci|job|merge|pipeline|run))?[\s*_`]{1,3}"
    r"(?:(?:if|unless|whenever|si|cuando|when (?:an?|any|one|somebody|someone)|on any|properly|loudly"
    r"|as (?:it should|intended))\b|(?:above|below|over) \d)"
)
"""What says behind "fails" that it is meant to: "fails the build if …", "fails above 900 ms", "fails properly"."""
_MEANT = pattern(
    r"\b(?:so that|to see (?:that|whether)|deliberately|on purpose)\b[^.;:]{0,40}\Z"
    r"|(?:[低高][于於]|[超][过過]|不足|[少小大][于於]|一旦|如果|若)[^，。；\n]{1,20}[时時就则則][^，。；\n]{0,10}\Z"
)
"""What says so before it."""
_MEANS = 80
"""Characters before a check that fails in which it is said to be meant."""
_NONE = pattern(r"(?:[ \t]\w{1,12}){0,2}[\s*_`]{0,4}[:：=][\s*_`]{0,4}(?:0|none|zero)\b")
"""What says behind "failed" that nothing did: "Failed checks: 0"."""
_ROW = pattern(r"\n[ \t]{0,8}(?:\||[-*+•]|\d{1,2}[.)])[^\n]{1,400}")
_TICKS = "✅✔☑"
_TICK = pattern(f"[{_TICKS}]")
_OPEN = "🔄⏳🚧⌛⬜🔲"
_UNTICKED = pattern(rf"[{_OPEN}]|❌(?=[\s*_]*(?:\||\Z|not|no|missing|todo|pending|open|未|没|沒|尚))")
_STATES = (
    "todo|to do|open|pending|not started|not yet|next|in progress|planned|missing|pendiente"
    "|未开始|未開始|待开始|待開始|即将开始|即將開始|进行中|進行中|未完成|待办|待辦"
)
_UNDONE = pattern(rf"[\s*_]{{0,6}}(?i:{_STATES})[\s*_]{{0,6}}\|?\s{{0,4}}\Z")
"""The last cell of a row, where it says that the row is not done; from behind the bar before it."""
_MAY_BE_UNDONE = pattern(rf"\|[\s*_]{{0,6}}(?=[topnimTOPNIMİı未待即进進])(?i:{_STATES})")
"""A cell that may say so. Where there is none the rows are not looked at one by one."""
_NOT_BEGUN = frozenset("🔜⬜🔲☐◻◽▢")
_PENDING = frozenset({"once", "as soon as", "una vez", "en cuanto", "sobald", "一旦"})
_ALLOWED: tuple[Role, ...] = ("beyond", "optional", "proviso")
_EXCUSES: tuple[Role, ...] = ("beyond", "mended", "optional")
_SHARES: tuple[Role, ...] = ("part", "pieced", "qualifier")
_FINAL = pattern(r"\b(?:last|final|letzte[nrs]?|últim[oa])\b|最[后後]")
_WHOLE: tuple[Role, ...] = ("all", "everything", "whole", "piece", "trouble", "goal", "member")
_NOTHING = frozenset({"nothing left", "last", "promise"})
"""What a claim of the whole has, or is called."""
_OF_LABELS: Mapping[Role, tuple[Role, ...]] = {"left": (), "later": ("handover",)}
"""What excuses the items under a label, besides that they are optional."""


def detect_leftovers(reply: Reply) -> Iterable[Signal]:
    """The first leftover of each kind after the last announcement."""
    has, marked = reply.scope.has, _is_marked(reply.reading.unfenced, announced(reply))
    if marked or has(_ANY) or (has(_AHEAD) and has(_PIECES)):
        return _found(reply, marked=marked)
    return ()


def _is_marked(text: str, begin: int) -> bool:
    """Whether it may have a list of states, which may say that something is open without any word."""
    if not text.isascii() and _shows(text, begin, _TICKS) and _shows(text, begin, _OPEN + "❌"):
        return True
    return "|" in text and _MAY_BE_UNDONE.search(text, begin) is not None


def _shows(text: str, begin: int, marks: str) -> bool:
    return any(text.find(mark, begin) >= 0 for mark in marks)


def _found(reply: Reply, *, marked: bool) -> Iterator[Signal]:
    """What is found by kinds."""
    scope, found = reply.scope, _Leftovers(reply)
    for kind, roles, find, why in found.kinds():
        if scope.has(roles) or (marked and kind == "open_end"):
            for begin, end in find(found):
                yield Signal(kind, "", begin, end, AGAINST, why, "progress")
                break


class _Leftovers:
    """What is left, by its kinds."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope = reply, reply.scope
        self._text, self._prose = reply.reading.text, reply.reading.prose
        self._objections = Objections.of(reply)
        self._begin = self._objections.since

    def kinds(self) -> "Sequence[_Kind]":
        """The kinds that count. Behind one piece of work, which the task is, others may come."""
        task = self._objections.task
        if task.given and task.is_piece:
            return _ALWAYS
        claims = self._reply.signals.of("completion_claim")
        whole = any(signal.weight >= VERY_HIGH for signal in claims)
        if task.given and not task.of_many:
            return _ALWAYS if whole and any(map(self._is_of_the_whole, claims)) else _BEFORE_THE_WHOLE
        return _BESIDE_THE_WHOLE if whole else _KINDS

    def _is_of_the_whole(self, claim: Signal) -> bool:
        """Whether a claim names the whole, or says that nothing is left, and is not of the checks."""
        if claim.weight < VERY_HIGH or claim.name == "passing":
            return False
        return claim.name in _NOTHING or self._has(_WHOLE, (claim.start, claim.end))

    def open_ends(self) -> Iterator[Span]:
        """Labels of what is left with something under them, and items that are marked as being worked on."""
        yield from self._labels("left")
        for hit in self._after("underway"):
            if self._is_status(hit) and not self._is_optional(hit):
                yield hit.start, hit.end
        if _is_marked(self._reply.reading.unfenced, self._begin):
            yield from self._open_rows()

    def _open_rows(self) -> Iterator[Span]:
        """Rows and items of a list of states, of which some are ticked, that are marked as not done."""
        text = self._reply.reading.unfenced
        ticked = _shows(text, self._begin, _TICKS)
        for row in islice(_ROW.finditer(text, self._begin), _ROWS):
            mark = _UNTICKED.search(row[0]) if ticked else None
            if not mark and (cell := row[0].rstrip().removesuffix("|").rfind("|") + 1):
                mark = _UNDONE.match(row[0], cell)
            if mark and not _TICK.search(row[0]) and not self._scope.within("optional", row.span()):
                yield row.start() + mark.start(), row.start() + mark.end()

    def unfinished(self) -> Iterator[Span]:
        """Statements that something is left, or that a number of things are still as they were."""
        for hit in self._after("unfinished"):
            if self._scope.negated(hit, 4) or self._is_excused(hit) or self._is_denial_of(hit):
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
            if self._objections.task.is_piece and hit.name in _UNTOUCHED:
                continue
            if self._is_of_some(hit, begin) and not self._is_excused(hit):
                yield hit.start, hit.end
        yield from self._pending()

    def _is_denial_of(self, hit: Hit) -> bool:
        """Whether a denial goes on to what it denies: "found that it isn't the list", but "found that it isn't."."""
        return hit.name.startswith(_FINDING) and _CLOSED.match(self._prose, hit.end) is None

    def _is_lack(self, turned: Hit) -> bool:
        """Whether what is negated is missing: "no code yet", but "no problems yet"."""
        if turned.name != "no":
            return True
        begin, end = self._objections.sentence(turned)
        return _NONE_YET.match(self._prose, begin) is not None and not self._scope.within("fault", (begin, end))

    def _is_of_some(self, hit: Hit, begin: int) -> bool:
        """Whether a number of things are the subject, and of the others also what they lack."""
        if hit.name in _LACKS:
            needless = self._scope.negated(hit, 2) or _NEEDLESS.match(self._prose, hit.end)
            if hit.name in _FOLLOWS:
                needless = needless or _OUT_OF_IT.match(self._prose, hit.end)
            if needless or not _OTHERS.match(self._prose, begin):
                return False
        subject = self._prose[begin : hit.start]
        if subject.endswith("that ") and _STEMS.match(self._prose, hit.end):
            return False
        return ", which" not in subject and _SOME.match(subject) is not None

    def _pending(self) -> Iterator[Span]:
        """What is done only when something else has happened: "Once approved, the feature is complete"."""
        for hit in self._after("proviso"):
            if hit.name not in _PENDING:
                continue
            begin, end = self._objections.sentence(hit)
            if self._prose[begin : hit.start].strip(_MARKS):
                continue
            if any(hit.end <= done.start < end for done in bounded(self._reply, self._scope.of("finished"))):
                yield hit.start, hit.end

    def _is_excused(self, hit: Hit) -> bool:
        sentence = self._objections.sentence(hit)
        if self._scope.reading.in_heading(hit.start) or self._objections.is_described(hit):
            return True
        if _OF_KIND.match(self._prose, sentence[0], hit.start) and _GOES_ON.match(self._prose, hit.end):
            return True
        return any(self._scope.within(role, sentence) for role in _ALLOWED) or self._is_beside(hit)

    def _is_beside(self, hit: Hit) -> bool:
        """Whether it stands in a section of what is no part of the work: known limitations, ideas for later."""
        headings = self._scope.reading.headings
        index = bisect_right(headings, hit.start, key=itemgetter(0))
        return index > 0 and bool(self._scope.within("optional", headings[index - 1]))

    def failing_checks(self) -> Iterator[Span]:
        """Checks that are said to fail, without a condition or an excuse."""
        scope, known = self._scope, self._known
        for hit in self._after("failing"):
            if known and known.start <= hit.start < known.end:
                continue
            turned = scope.negated(hit, 4) or scope.before("future", hit, 6) or scope.before("proviso", hit, 6)
            if turned or scope.reading.in_heading(hit.start) or not is_of_check(self._reply, hit):
                continue
            sentence = scope.reading.sentence(hit.start)
            if any(scope.within(role, sentence) for role in _EXCUSES) or self._objections.is_described(hit):
                continue
            past = _BEFORE.match(self._prose, hit.end) and self._is_over(hit, sentence[1])
            if not (past or _NONE.match(self._prose, hit.end) or self._is_meant(hit)):
                yield hit.start, hit.end

    def _is_over(self, hit: Hit, end: int) -> bool:
        """Whether what failed before passes now, or is told of as what did: "a test that failed before"."""
        scope, rest = self._scope, (hit.end, end)
        if scope.within("verified", rest) or scope.within("passes", rest):
            return True
        return self._prose.endswith(("that ", "which "), 0, hit.start) and not scope.within("qualifier", rest)

    @property
    def _known(self) -> Signal | None:
        """The report on tests of which those that fail are all known."""
        run = self._reply.signals.first("test_run")
        return run if run and AGAINST < run.weight < 0 else None

    def _is_meant(self, hit: Hit) -> bool:
        """Whether a check is meant to fail: what it guards against is told."""
        begin = max(self._scope.reading.sentence(hit.start)[0], hit.start - _MEANS)
        return bool(_IF.match(self._prose, hit.end) or _MEANT.search(self._prose, begin, hit.start))

    def next_pieces(self) -> Iterator[Span]:
        """Pieces of the work that are called the next or remaining ones, that are open, or that are about to begin."""
        scope = self._scope
        for hit in self._after("following"):
            turned = scope.before("ready", hit, 4) or scope.negated(hit, 2) or self._objections.is_described(hit)
            if not (turned or self._is_optional(hit)):
                yield hit.start, hit.end
        for hit in self._after("open"):
            goal = scope.before("goal", hit, 2)
            if goal is None or goal.name == "changes" or self._objections.is_described(hit):
                continue
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
        """What comes before the work, and what says that this begins only now."""
        for hit in () if self._objections.task.prepares else self._after("groundwork"):
            if not (self._scope.negated(hit, 3) or self._is_excused(hit)):
                yield hit.start, hit.end

    def parts(self) -> Iterator[Span]:
        """Parts that are said to be complete, none of them the last, where no word says so of more."""
        known = self._reply.words.keywords
        said = (signal.name.lower() for signal in self._reply.signals.of("completion_keyword", "completion_claim"))
        if any(name in known and known[name].points for name in said):
            return
        for hit in bounded(self._reply, self._scope.of("finished")):
            if self._objections.is_partial(hit) and not _FINAL.search(self._prose, *self._objections.sentence(hit)):
                yield hit.start, hit.end

    def shares(self) -> Iterator[Span]:
        """What smells of a share of the work, where a single word is all that is claimed, and not in a report: the
        longer a text is, the less a word in it says.
        """
        signals = self._reply.signals
        if signals.first("completion_report"):
            return
        if len({signal.name for signal in signals.all() if signal.state == "done"}) != 1:
            return
        for role in _SHARES:
            for hit in self._after(role):
                if not (self._scope.negated(hit, 3) or self._is_excused(hit) or self._is_ticked(hit)):
                    yield hit.start, hit.end

    def _is_ticked(self, hit: Hit) -> bool:
        """Whether it is said of a plan that all of it is done: "every item of the plan is checked off"."""
        sentence = self._objections.sentence(hit)
        if self._scope.within("all", sentence) or self._scope.within("everything", sentence):
            return True
        return any(is_stated(self._prose, closed) for closed in self._scope.within("closed", sentence))

    def _labels(self, role: Role) -> Iterator[Span]:
        for hit in self._after(role):
            if self._is_label(hit) and not self._is_empty(hit) and not self._is_optional(hit, *_OF_LABELS[role]):
                yield hit.start, hit.end

    def _after(self, role: Role) -> Sequence[Hit]:
        hits, begin = self._scope.of(role), self._begin
        return [hit for hit in hits[-_LOOKED_AT:] if hit.start >= begin] if hits else ()

    def _is_label(self, hit: Hit) -> bool:
        """Whether a line begins with the words, and is a heading or goes on to a colon."""
        begin = max(line_start(self._prose, hit.start), self._scope.reading.sentence(hit.start)[0])
        if any(map(str.isalpha, self._prose[begin : hit.start])):
            return False
        if hit.name == "next":  # which begins many sentences and headings
            return self._scope.reading.in_heading(hit.start) and not self._line_behind(hit).strip(_MARKS + ":")
        if self._scope.reading.in_heading(hit.start) or self._prose[hit.end - 1] == ":":
            return True
        label = _LABEL.match(self._prose, hit.end)
        return label is not None and not self._is_amount(hit, label)

    def _line_behind(self, hit: Hit) -> str:
        return self._prose[hit.end : line_end(self._prose, hit.end)]

    def _is_amount(self, hit: Hit, label: re.Match[str]) -> bool:
        """Whether a label is about an amount of something else than work: "Remaining minutes: 41,000"."""
        about = (label[1] or "").strip(_MARKS)
        if not about or hit.name not in _LEFT_OF_IT or self._scope.within("goal", (hit.end, label.end())):
            return False
        return _AMOUNT.match(self._prose, label.end()) is not None

    def _section(self, label: Hit) -> Span:
        """What a label is about: the section under a heading, else the rest of its line or the list under it."""
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
        """Whether its line says so, or each item of the list under it.

        Args:
            further: roles of words that say so as well.
        """
        roles: tuple[Role, ...] = ("optional", *further)
        line = line_start(self._prose, hit.start), line_end(self._prose, hit.end)
        if self._has(roles, line):
            return True
        items = [item.span() for item in _ITEM.finditer(self._prose, line[1], self._section(hit)[1])]
        return bool(items) and all(self._has(roles, item) for item in items)

    def _has(self, roles: Iterable[Role], span: Span) -> bool:
        return any(self._scope.within(role, span) for role in roles)

    def _is_status(self, hit: Hit) -> bool:
        """Whether an item of a list begins with a mark of work in progress, or ends in one behind a colon or a dash."""
        if self._scope.reading.in_heading(hit.start):
            return False
        before = self._prose[line_start(self._prose, hit.start) : hit.start]
        if (before.strip() or hit.name in _NOT_BEGUN) and not before.strip(_MARKS):
            return True
        behind = self._prose[hit.end : line_end(self._prose, hit.end)]
        return not behind.strip(" *_()0123456789/.") and before.rstrip(" *_").endswith((":", "：", "—", "-", ","))


_Kind = tuple[str, AbstractSet[Role], Callable[[_Leftovers], Iterator[Span]], str]
_ALWAYS: Sequence[_Kind] = [
    ("open_end", frozenset({"left", "underway"}), _Leftovers.open_ends, "Something is left to do."),
    (
        "unfinished",
        frozenset({"unfinished", "yet", "persisting", "proviso"}),
        _Leftovers.unfinished,
        "Something is said not to be finished.",
    ),
    ("failing_check", frozenset({"failing"}), _Leftovers.failing_checks, "A check fails."),
]
"""The leftovers of any reply: the kind, the words of which it has one (a list of states is marked without), what finds
it, and why it counts.
"""
_BESIDE_THE_WHOLE: Sequence[_Kind] = [
    *_ALWAYS,
    ("next_piece", frozenset({"following", "open", "begin"}), _Leftovers.next_pieces, "Other work follows."),
]
"""Those of a reply that is given no task and claims the whole: what it calls next steps a person may do."""
_BEFORE_THE_WHOLE: Sequence[_Kind] = [
    *_BESIDE_THE_WHOLE,
    ("next_steps", frozenset({"later"}), _Leftovers.next_steps, "Further steps follow."),
    ("unfinished", frozenset({"groundwork"}), _Leftovers.groundwork, "It comes before the work."),
    ("part_claim", frozenset({"finished"}), _Leftovers.parts, "Only a part is said to be complete."),
]
"""Those of a reply that does not claim the whole of its task, which is no piece of work by its name."""
_KINDS: Sequence[_Kind] = [
    *_BESIDE_THE_WHOLE,
    ("next_steps", frozenset({"later"}), _Leftovers.next_steps, "Further steps follow."),
    ("part_claim", frozenset({"finished"}), _Leftovers.parts, "Only a part is said to be complete."),
    ("share", frozenset(_SHARES), _Leftovers.shares, "It tells of one piece of the work, and of others."),
]
"""Those of any other reply that is given no task."""
_AHEAD: frozenset[Role] = frozenset({"open", "begin"})
_PIECES: frozenset[Role] = frozenset({"goal", "stage"})
_ANY: frozenset[Role] = frozenset(
    role for _, roles, _, _ in (*_KINDS, *_BEFORE_THE_WHOLE) for role in roles if role not in _AHEAD
)
"""Words without which nothing is left: some say so only of a piece of the work."""

"""What a reply says is left: other work of the loop, open ends of this work, and checks that fail.

| signal | such as | contradicts |
|---|---|---|
| `open_end` | "Remaining work: …", "- ⏳ …", 待完成：… | every claim |
| `unfinished` | "The printer is left.", "Ten services are still on the old logger." | every claim |
| `failing_check` | "The build fails" | every claim |
| `next_piece` | "Next task (Phase 4): …", "Remaining stories:", 下一个任务 | a reply that is given no task |
| `next_steps` | "Next steps: …" | the same, where it does not claim the whole |
| `part_claim` | "Phase 2 is complete" | the same, where no keyword says so of more |

What is called optional, or for later, is none, nor is an empty list. Nor is a check that fails for a reason beyond the
work: the sandbox, the network, a failure that was there before. "Ready for the next task" waits, and leaves nothing.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from operator import itemgetter

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.checks import is_of_check
from ralph.analysis.detectors.claims import bounded, finished
from ralph.analysis.detectors.lines import line_end, line_start
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.statements import is_stated
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import AGAINST, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["detect_leftovers"]

_ROWS = 400
"""Rows and items that are looked at."""
_LOOKED_AT = 40
"""Words of one role that are looked at, from the end."""
_SECTION = 600
"""Characters under a label that are looked at."""
_LABEL = pattern(r"[^\n:：]{0,60}[:：]")
_NUMBER = pattern(r"[\s*_#-]{0,4}\d")
_ITEM = pattern(r"\n[ \t]{0,8}(?:[-*+•]|\d{1,2}[.)])[ \t][^\n]{0,200}")
_MARKS = " \t\n*_#>-•.0123456789)✅❌⚠️🔄⏳"
_SOME = pattern(
    r"[\s*_>-]*(?:the )?(?:other |remaining )?"
    r"(?:\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|some|several"
    r"|a few|most|many|rest|others?|remaining"
    r"|(?:stor(?:y|ies)|sections?|phases?|steps?|parts?|tasks?|items?|milestones?)\s#?\d)\b[^;:]{0,80}\Z"
)
"""A number of things, as the subject of a sentence, up to its verb."""
_BEFORE = pattern(r"[^.;。；]{0,60}?[\s*_]{1,3}(?:before|at first|without|until|earlier|previously)\b")
_IF = pattern(r"[\s*_`]{1,3}(?:if|unless|whenever)\b")
_NONE = pattern(r"(?:[ \t]\w{1,12}){0,2}[\s*_`]{0,4}[:：=][\s*_`]{0,4}(?:0|none|zero)\b")
"""What says behind "failed" that nothing did: "Failed checks: 0"."""
_ROW = pattern(r"\n[ \t]{0,8}(?:\||[-*+•]|\d{1,2}[.)])[^\n]{1,400}")
_TICK = pattern(r"[✅✔☑]")
_UNTICKED = pattern(r"[🔄⏳🚧⌛⬜🔲]|❌(?=[\s*_]*(?:\||\Z|not|no|missing|todo|pending|open|未|没|沒|尚))")
_UNDONE = pattern(
    r"[\s*_]{0,6}(?i:todo|to do|open|pending|not started|not yet|in progress|planned|missing|pendiente"
    r"|未开始|未開始|待开始|待開始|即将开始|即將開始|进行中|進行中|未完成|待办|待辦)[\s*_]{0,6}\|?\s{0,4}\Z"
)
"""The last cell of a row, where it says that the row is not done; from behind the bar before it."""
_PENDING = frozenset({"once", "as soon as", "una vez", "en cuanto", "sobald", "一旦"})
_ALLOWED: tuple[Role, ...] = ("beyond", "optional", "proviso")
_EXCUSES: tuple[Role, ...] = ("beyond", "mended", "optional")
_SHARES: tuple[Role, ...] = ("part", "pieced", "qualifier")


def detect_leftovers(reply: Reply) -> Iterable[Signal]:
    """The first leftover of each kind after the last announcement."""
    scope, found, task = reply.scope, None, assignment(reply.context.task)
    marked = not reply.reading.unfenced.isascii() or "|" in reply.reading.unfenced
    for kind, roles, find, why in _ALWAYS if task.given and not task.of_many else _KINDS:
        if scope.has(roles) or (marked and kind == "open_end"):
            found = found or _Leftovers(reply)
            if span := next(find(found), None):
                yield Signal(kind, "", *span, AGAINST, why, "progress")


class _Leftovers:
    """What is left, by its kinds."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope = reply, reply.scope
        self._text, self._prose = reply.reading.text, reply.reading.prose
        self._begin = announced(reply)
        self._objections = Objections(reply)

    def open_ends(self) -> Iterator[Span]:
        """Labels of what is left with something under them, and items that are marked as being worked on."""
        yield from self._labels("left")
        for hit in self._after("underway"):
            if self._is_status(hit):
                yield hit.start, hit.end
        yield from self._open_rows()

    def _open_rows(self) -> Iterator[Span]:
        """Rows and items of a list of states, of which some are ticked, that are marked as not done."""
        text = self._reply.reading.unfenced
        ticked = not text.isascii() and _TICK.search(text, self._begin) is not None
        if not ticked and "|" not in text:
            return
        for row in islice(_ROW.finditer(text, self._begin), _ROWS):
            mark = _UNTICKED.search(row[0]) if ticked else None
            if not mark and (cell := row[0].rstrip().removesuffix("|").rfind("|") + 1):
                mark = _UNDONE.match(row[0], cell)
            if mark and not _TICK.search(row[0]) and not self._scope.within("optional", row.span()):
                yield row.start() + mark.start(), row.start() + mark.end()

    def unfinished(self) -> Iterator[Span]:
        """Statements that something is left, or that a number of things are still as they were."""
        for hit in self._after("unfinished"):
            if not (self._is_excused(hit) or self._scope.negated(hit, 4)):
                yield hit.start, hit.end
        for hit in self._after("yet"):
            turned = self._scope.negated(hit, 4)
            if turned and turned.name != "no" and not self._is_excused(turned):
                yield turned.start, hit.end
        for hit in self._after("persisting"):
            begin, _ = self._objections.sentence(hit)
            begin = max(begin, self._prose.rfind(";", begin, hit.start) + 1)
            if _SOME.match(self._prose[begin : hit.start]) and not self._is_excused(hit):
                yield hit.start, hit.end
        yield from self._pending()

    def _pending(self) -> Iterator[Span]:
        """What is done only when something else has happened: "Once approved, the feature is complete"."""
        for hit in self._after("proviso"):
            begin, end = self._objections.sentence(hit)
            if hit.name not in _PENDING or self._prose[begin : hit.start].strip(_MARKS):
                continue
            if any(hit.end <= done.start < end for done in bounded(self._reply, finished(self._reply))):
                yield hit.start, hit.end

    def _is_excused(self, hit: Hit) -> bool:
        sentence = self._objections.sentence(hit)
        if self._scope.reading.in_heading(hit.start) or self._objections.is_described(hit):
            return True
        return any(self._scope.within(role, sentence) for role in _ALLOWED) or self._is_beside(hit)

    def _is_beside(self, hit: Hit) -> bool:
        """Whether it stands in a section of what is no part of the work: known limitations, ideas for later."""
        headings = self._scope.reading.headings
        index = bisect_right(headings, hit.start, key=itemgetter(0))
        return index > 0 and bool(self._scope.within("optional", headings[index - 1]))

    def failing_checks(self) -> Iterator[Span]:
        """Checks that are said to fail, without a condition or an excuse."""
        scope = self._scope
        for hit in self._after("failing"):
            if scope.reading.in_heading(hit.start) or not is_of_check(self._reply, hit):
                continue
            sentence = scope.reading.sentence(hit.start)
            excused = any(scope.within(role, sentence) for role in _EXCUSES)
            turned = scope.negated(hit, 4) or scope.before("future", hit, 6) or scope.before("proviso", hit, 6)
            turned = turned or _NONE.match(self._prose, hit.end) or _IF.match(self._prose, hit.end)
            rest = hit.end, sentence[1]
            past = _BEFORE.match(self._prose, hit.end) and (
                scope.within("verified", rest) or scope.within("passes", rest)
            )
            if not (excused or turned or past or self._objections.is_described(hit)):
                yield hit.start, hit.end

    def next_pieces(self) -> Iterator[Span]:
        """Pieces of the work that are called the next or remaining ones, that are open, or that are about to begin."""
        scope = self._scope
        for hit in self._after("following"):
            if not (scope.before("ready", hit, 4) or scope.negated(hit, 2) or self._is_optional(hit)):
                yield hit.start, hit.end
        for hit in self._after("open"):
            goal = scope.before("goal", hit, 2)
            if goal is None or self._objections.is_described(hit):
                continue
            if not (scope.negated(goal, 3) or scope.negated(hit, 2) or self._is_optional(hit)):
                yield goal.start, hit.end
        for hit in self._after("begin"):
            stage = scope.after("stage", hit, 2)
            if stage and _NUMBER.match(self._prose, stage.end) and not self._is_optional(hit):
                yield hit.start, stage.end

    def next_steps(self) -> Iterator[Span]:
        """Labels of next steps, unless the whole is claimed: then they are what a person may do."""
        if not self._claims_whole():
            yield from self._labels("later")

    def parts(self) -> Iterator[Span]:
        """Parts that are said to be complete, where no word says so of more."""
        known = self._reply.words.keywords
        said = (signal.name.lower() for signal in self._reply.signals.of("completion_keyword", "completion_claim"))
        if self._claims_whole() or any(name in known and known[name].points for name in said):
            return
        for hit in bounded(self._reply, finished(self._reply)):
            if self._objections.is_partial(hit):
                yield hit.start, hit.end

    def shares(self) -> Iterator[Span]:
        """What smells of a share of the work, where a single word is all that is claimed, and not in a report: the
        longer a text is, the less a word in it says.
        """
        signals = self._reply.signals
        claimed = {signal.name for signal in signals.all() if signal.state == "done"}
        if len(claimed) != 1 or self._claims_whole() or signals.first("completion_report"):
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

    def _claims_whole(self) -> bool:
        return any(signal.weight >= VERY_HIGH for signal in self._reply.signals.of("completion_claim"))

    def _labels(self, role: Role) -> Iterator[Span]:
        for hit in self._after(role):
            if self._is_label(hit) and not self._is_empty(hit) and not self._is_optional(hit):
                yield hit.start, hit.end

    def _after(self, role: Role) -> Iterator[Hit]:
        return (hit for hit in self._scope.of(role)[-_LOOKED_AT:] if hit.start >= self._begin)

    def _is_label(self, hit: Hit) -> bool:
        """Whether a line begins with the words, and is a heading or goes on to a colon."""
        begin = max(line_start(self._prose, hit.start), self._scope.reading.sentence(hit.start)[0])
        if self._prose[begin : hit.start].strip(_MARKS):
            return False
        return self._scope.reading.in_heading(hit.start) or _LABEL.match(self._prose, hit.end) is not None

    def _section(self, label: Hit) -> Span:
        """What a label is about: the section under a heading, else the rest of its line or the list under it."""
        if self._scope.reading.in_heading(label.start):
            begin, end = self._scope.reading.section(label.start)
            return begin, min(end, begin + _SECTION)
        end = self._prose.find("\n\n", label.end + 40, label.end + _SECTION)
        return label.end, end if end >= 0 else min(len(self._prose), label.end + _SECTION)

    def _is_empty(self, label: Hit) -> bool:
        begin, end = self._section(label)
        section = self._text[begin:end]
        start = begin + len(section) - len(section.lstrip(_MARKS + ":：（("))
        return start == end or any(hit.start == start for hit in self._scope.within("nothing", (start, start + 20)))

    def _is_optional(self, hit: Hit) -> bool:
        """Whether its line says so, or each item of the list under it."""
        line = line_start(self._prose, hit.start), line_end(self._prose, hit.end)
        if self._scope.within("optional", line):
            return True
        items = [item.span() for item in _ITEM.finditer(self._prose, line[1], self._section(hit)[1])]
        return bool(items) and all(self._scope.within("optional", item) for item in items)

    def _is_status(self, hit: Hit) -> bool:
        """Whether an item of a list begins with a mark of work in progress, or ends in one behind a colon or a dash."""
        if self._scope.reading.in_heading(hit.start):
            return False
        before = self._prose[line_start(self._prose, hit.start) : hit.start]
        if before.strip() and not before.strip(_MARKS):
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
_KINDS: Sequence[_Kind] = [
    *_ALWAYS,
    ("next_piece", frozenset({"following", "open", "begin"}), _Leftovers.next_pieces, "Other work follows."),
    ("next_steps", frozenset({"later"}), _Leftovers.next_steps, "Further steps follow."),
    ("part_claim", frozenset({"keyword"}), _Leftovers.parts, "Only a part is said to be complete."),
    ("share", frozenset(_SHARES), _Leftovers.shares, "It tells of one piece of the work, and of others."),
]
"""Those of a reply that is given no task."""

"""What a reply says is left: other work of the loop, open ends of this work, and checks that fail.

| signal | such as | contradicts |
|---|---|---|
| `next_piece` | "Next task (Phase 4): …", "Remaining stories:", 下一个任务 | a reply that is given no task |
| `open_end` | "Remaining work: …", "⏳ …", 待完成：… | every claim |
| `failing_check` | "The build fails" | every claim |

What is called optional, or for later, is none, nor is an empty list. Nor is a check that fails for a reason beyond the
work: the sandbox, the network, a failure that was there before. "Ready for the next task" waits, and leaves nothing.
"""

from collections.abc import Iterable, Iterator

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.checks import is_of_check
from ralph.analysis.signals import AGAINST, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["detect_leftovers"]

_LOOKED_AT = 40
_LABEL = pattern(r"[^\n:：]{0,60}[:：]")
_NUMBER = pattern(r"[\s*_#-]{0,4}\d")
_MARKS = " \t\n*_#>-•.0123456789)✅❌⚠️🔄⏳"
_SECTION = 600
"""Characters under a label that are looked at."""
_ITEM = pattern(r"\n[ \t]{0,8}(?:[-*+•]|\d{1,2}[.)])[ \t][^\n]{0,200}")
_READY = pattern(r"\bready\b[^\n.]{0,30}$|\bno\s$|准备好|準備好")


def detect_leftovers(reply: Reply) -> Iterable[Signal]:
    """The first leftover of each kind after the last announcement."""
    found = _Leftovers(reply)
    kinds: list[tuple[str, Iterator[Span], str]] = [
        ("open_end", found.open_ends(), "Something is left to do."),
        ("failing_check", found.failing(), "A check fails."),
    ]
    if not assignment(reply.context.task).given:
        kinds.append(("next_piece", found.next_pieces(), "Other work follows."))
    for kind, spans, why in kinds:
        for span in spans:
            yield Signal(kind, "", *span, AGAINST, why, "progress")
            break


class _Leftovers:
    def __init__(self, reply: Reply) -> None:
        self.reply, self.scope = reply, reply.scope
        self.text, self.prose = reply.reading.text, reply.reading.prose
        self.begin = announced(reply)
        self._whole = any(signal.weight >= VERY_HIGH for signal in reply.signals.of("completion_claim"))

    def next_pieces(self) -> Iterator[Span]:
        """Pieces of the work that are called the next or remaining ones, that are open, or that are about to begin;
        next steps where nothing claims the whole.
        """
        for hit in self._after("following"):
            before = self.prose[max(0, hit.start - 60) : hit.start]
            if not (_READY.search(before) or self.scope.negated(hit, 2) or self._is_optional(hit)):
                yield hit.start, hit.end
        if not self._whole:
            for hit in self._after("later"):
                if self._is_label(hit) and not self._is_empty(hit) and not self._is_optional(hit):
                    yield hit.start, hit.end
        for hit in self._after("open"):
            goal = self.scope.before("goal", hit, 2)
            if goal and not (self.scope.negated(goal, 3) or self.scope.negated(hit, 2) or self._is_optional(hit)):
                yield goal.start, hit.end
        for hit in self._after("begin"):
            stage = self.scope.after("stage", hit, 2)
            if stage and _NUMBER.match(self.prose, stage.end) and not self._is_optional(hit):
                yield hit.start, stage.end

    def open_ends(self) -> Iterator[Span]:
        for hit in self._after("left"):
            if self._is_label(hit) and not self._is_empty(hit) and not self._is_optional(hit):
                yield hit.start, hit.end
        for hit in self._after("underway"):
            if self._is_status(hit):
                yield hit.start, hit.end

    def failing(self) -> Iterator[Span]:
        scope = self.scope
        for hit in self._after("failing"):
            if not is_of_check(self.reply, hit):
                continue
            sentence = scope.reading.sentence(hit.start)
            excused = any(scope.within(role, sentence) for role in ("beyond", "mended", "optional"))
            turned = scope.negated(hit, 4) or scope.before("future", hit, 6) or scope.before("proviso", hit, 6)
            if not excused and not turned and not scope.reading.in_heading(hit.start):
                yield hit.start, hit.end

    def _after(self, role: str) -> Iterator[Hit]:
        hits = self.scope.of(role)  # type: ignore[arg-type]
        yield from (hit for hit in hits[-_LOOKED_AT:] if hit.start >= self.begin)

    def _is_label(self, hit: Hit) -> bool:
        """Whether a line begins with the words, and is a heading or goes on to a colon."""
        line = self.prose.rfind("\n", max(0, hit.start - 60), hit.start) + 1
        if self.prose[line : hit.start].strip(_MARKS):
            return False
        return self.scope.reading.in_heading(hit.start) or _LABEL.match(self.prose, hit.end) is not None

    def _section(self, hit: Hit) -> Span:
        """What a label is about: the rest of its line, or the list under it."""
        if self.scope.reading.in_heading(hit.start):
            begin, end = self.scope.reading.section(hit.start)
            return begin, min(end, begin + _SECTION)
        end = self.prose.find("\n\n", hit.end + 40, hit.end + _SECTION)
        return hit.end, end if end >= 0 else min(len(self.prose), hit.end + _SECTION)

    def _is_empty(self, label: Hit) -> bool:
        begin, end = self._section(label)
        content = self.text[begin:end].lower().lstrip(_MARKS + ":：（(")
        start = self.text[begin:end].lower().find(content) + begin
        return not content or any(hit.start == start for hit in self.scope.within("nothing", (start, start + 20)))

    def _is_optional(self, hit: Hit) -> bool:
        """Whether the label says so, or each item of its list."""
        line_end = self.prose.find("\n", hit.end)
        line_end = line_end if line_end >= 0 else len(self.prose)
        line = self.prose.rfind("\n", max(0, hit.start - 200), hit.start) + 1
        if self.scope.within("optional", (line, line_end)):
            return True
        items = list(_ITEM.finditer(self.prose, line_end, self._section(hit)[1]))
        return bool(items) and all(self.scope.within("optional", item.span()) for item in items)

    def _is_status(self, hit: Hit) -> bool:
        """Whether an item of a list begins with a mark of work in progress, or a line ends in it."""
        line = self.prose.rfind("\n", max(0, hit.start - 200), hit.start) + 1
        end = self.prose.find("\n", hit.end, hit.end + 200)
        if self.scope.reading.in_heading(hit.start):
            return False
        leads = not self.prose[line : hit.start].strip(_MARKS) and self.prose[line : hit.start].strip(" ") != ""
        ends = end >= 0 and len(self.prose[hit.end : end].strip(" *_)(0123456789/.")) == 0
        labelled = self.prose[max(0, hit.start - 4) : hit.start].rstrip(" *_").endswith((":", "：", "—", "-"))
        return leads or (ends and labelled)

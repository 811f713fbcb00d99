"""Accounts of finished work that use no word of completion: what was changed, or is so now, and how it was proven.

| account | such as | counts |
|---|---|---|
| of the task | work on what the task's title names, and a check passes; or one sentence does both | very high |
| of the task | any plain opening, a check that passes, and a commit, a report or the task's name | high |
| of a mended fault | "Root cause: … Fix: … The suite passes" | high |
| of a change | "Added `--json`. Tests: `pytest -q` → 221 passed" | high |

Without a task an account is none where anything in it smells of a share: a loop, a phase, a plan, what is left. It is
not looked at where something is claimed, for it would add nothing, nor where something contradicts.
"""

from collections.abc import Iterable, Iterator, Sequence

from ralph.analysis.completion import completion
from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.checks import is_of_check
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.statements import is_stated
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["detect_accounts"]

_SHORT, _LONG = 20, 20_000
"""Characters of a reply that can be an account."""
_FULL = 200
"""Characters of a reply that tells of finished work, not of one step of it."""
_LEAD = 700
"""Characters of a reply in which it says what it is about."""
_HEADINGS = 3
"""Headings that are passed over at the beginning."""
_LOOKED_AT = 12
"""Words of one role that are looked at."""
_SHARES: tuple[Role, ...] = ("part", "pieced", "following")
_NOT_PLAIN: tuple[Role, ...] = (
    "ongoing",
    "future",
    "verified",
    "recap",
    "contrast",
    "unable",
    "lack",
    "fault",
)
"""What an opening has that tells of no finished work."""
_NOT_FINAL: tuple[Role, ...] = ("obstacle", "blocked", "halted", "limit", "fatal", "plea", "yours")
"""What a report on finished work has nowhere."""
_KNOWN = pattern(r"\bthe\b|\b(?:el|los|las)\b|[\u3400-\u9fff]{2}")
"""What a reply has that is written in a language whose words are known: of others nobody can say what is left open."""
_END = 300
"""Characters of the end, in which nothing is asked."""
_NEWS = frozenset({"now", "is now", "are now", "no longer", "ahora", "ya no", "不再"})
"""What tells of a new state, which may be one of several."""
_STANDING = frozenset((
    *("still", "remain", "remains", "remaining", "fails", "failing", "blocked", "broken", "apart from", "other than"),
    *("still blocked", "仍", "仍然", "部分"),
))
"""What takes a sentence back, but is no doubt by itself; what is left, and checks that fail, are found elsewhere."""
_BARE = 30
"""Characters of a sentence that says that it is done, and nothing else."""
_PLAIN = 3
"""Words of an opening at least."""
_WORD = pattern(r"[^\W\d_]+")
_OF_ITSELF = pattern(r"[\s*_#>-]{0,6}i(?:'ve|'m)?\s")
_OPENING = pattern(r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also|i've|i have|we've|we have)\b)*\Z")
_PAST = pattern(
    r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also|successfully|i've|i have|we've|we have)\b)*"
    r"([a-z][a-z-]{1,15}ed|wrote|built|set up|put|made|split|cut|rewrote|took|got rid of|sped up|brought)\b(?=[\s*_]{1,3}[^\s:])"
)
"""An opening that tells what was done."""


def detect_accounts(reply: Reply) -> Iterable[Signal]:
    """The account that the reply is, if it is one."""
    if not _may_be(reply):
        return
    account = _Account(reply)
    told, weight = account.of_the_task()
    if told is None:
        told, weight = account.of_a_change()
    if told is None and (told := account.as_a_final()):
        weight = VERY_HIGH
    if told is None:
        yield from account.as_a_report()
    else:
        span = told.start, told.end
        yield Signal("completion_account", told.name, *span, weight, "It tells of work and proof.", "done")
        if not account.proven and weight < VERY_HIGH:
            yield Signal("verified", "", *span, 25, "What was mended is held by a test or a measurement.")


def _may_be(reply: Reply) -> bool:
    """Whether nothing contradicts, and what was found so far is not enough by itself."""
    if not _SHORT <= len(reply.reading.text) <= _LONG:
        return False
    signals = (signal for signal in reply.signals.all() if signal.kind not in {"exit_signal", "status_blocked"})
    return not any(signal.weight <= AGAINST for signal in signals) and not completion(reply.signals).detected


class _Account:
    """What a reply tells after its last announcement."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = Objections(reply)
        self._task = assignment(reply.context.task)
        self._ready: Hit | None = None
        self._begin = self._first(announced(reply))
        self._whole = self._begin, len(self._prose)
        self._lead = self._begin, self._begin + _LEAD
        tests = reply.signals.first("test_run")
        self.proven = reply.signals.first("verified") is not None or bool(tests and tests.weight > 0)

    def _first(self, begin: int) -> int:
        """Where the first sentence begins that is no heading."""
        for _ in range(_HEADINGS):
            begin = len(self._prose) - len(self._prose[begin:].lstrip())
            if begin >= len(self._prose) or not (self._reply.reading.in_heading(begin) or self._is_bare(begin)):
                break
            begin = self._reply.reading.sentence(begin)[1]
        return begin

    def _is_bare(self, begin: int) -> bool:
        """Whether a sentence is nothing but that it is done: "Done.", "Deployed.", "搞定了"."""
        end = self._reply.reading.sentence(begin)[1]
        if end - begin > _BARE:
            return False
        words = _WORD.findall(self._prose[begin:end])
        hits = (*self._scope.within("keyword", (begin, end)), *self._within("changed", (begin, end)))
        for hit in hits:
            if words == _WORD.findall(self._prose[hit.start : hit.end]):
                self._ready = Hit("opening", hit.start, hit.end)
        ready = self._ready is not None and self._ready.start >= begin
        text = self._reply.reading.text[begin:end]
        return ready or (text.isascii() and len(_WORD.findall(text)) < _PLAIN)

    def of_the_task(self) -> tuple[Hit | None, float]:
        """What is told of the task, and how much it counts."""
        if not self._task.given:
            return None, 0
        told = list(self._told(self._lead))
        if named := next(filter(self._names_task, told), None):
            return named, VERY_HIGH
        if self._is_doubted():
            return None, 0
        if told and self.proven and self._task.is_named(self._reply.reading.lower[self._begin :]):
            return told[0], VERY_HIGH
        if self._is_share():
            return None, 0
        if told and self.proven:
            return told[0], HIGH
        if len(self._prose) - self._begin >= _FULL and (opening := self._opening()):
            return opening, VERY_HIGH
        return (self._plainly() if self.proven else None), HIGH

    def _names_task(self, told: Hit) -> bool:
        """Whether a sentence names the task, and more than a state that may be one of several."""
        said, task = self._reply.reading.lower[slice(*self._objections.sentence(told))], self._task
        return task.is_named(said) and (self.proven or told.name not in _NEWS or task.is_named(said, share=1))

    def of_a_change(self) -> tuple[Hit | None, float]:
        """What is told of a change by itself, and how much it counts."""
        if self._is_share() or self._is_doubted():
            return None, 0
        if self._ready and len(self._prose) - self._begin >= _BARE:
            return self._ready, HIGH
        if self._scope.within("cause", self._lead) and (self.proven or self._scope.within("proof", self._whole)):
            return next(self._told(self._whole), None), HIGH
        return (self._opening() if self.proven else None), HIGH

    def as_a_final(self) -> Hit | None:
        """The opening of a reply that is too long for one step of the work, and leaves nothing open: no doubt, no share,
        no obstacle, nothing asked of a person, and no word of what is to come at its end.
        """
        prose = self._prose.rstrip()
        if len(prose) - self._begin < _FULL or self._is_doubted() or self._is_share():
            return None
        last = self._reply.reading.sentence(len(prose) - 1)
        open_end = any(self._scope.within(role, last) for role in ("future", "unable"))
        if open_end or any(self._scope.of(role) for role in _NOT_FINAL) or any(mark in prose[-_END:] for mark in "?？"):
            return None
        known = self.proven or _KNOWN.search(prose, *self._lead) or next(self._told(self._whole), None)
        return self._plainly() if known and "[ ]" not in prose else None

    def as_a_report(self) -> Iterable[Signal]:
        """The final report on a task, with proof: a task is what such a report is about, whatever its words."""
        report = self._reply.signals.first("completion_report")
        whole = self._task.given or not self._is_share()
        if report and whole and self.proven and not self._is_doubted():
            why = "It is a final report on the task, with proof."
            yield Signal("completion_account", "report", report.start, report.end, HIGH, why, "done")

    def _plainly(self) -> Hit | None:
        """The opening of a proven reply to a task that says plainly how things are, in whatever words."""
        span = self._begin, self._reply.reading.sentence(self._begin)[1]
        opening = Hit("opening", *span)
        plain = not any(self._scope.within(role, span) for role in _NOT_PLAIN)
        plain = plain and not self._scope.within("regarded", (self._begin, self._begin + _BARE))
        plain = plain and not any(is_of_check(self._reply, hit) for hit in self._within("passes", span))
        words = _WORD.findall(self._reply.reading.text[slice(*span)])
        enough = len(words) >= _PLAIN or not self._prose[slice(*span)].isascii()
        return opening if plain and enough and not self._objections.to(opening) else None

    def _opening(self) -> Hit | None:
        """What the first sentence tells: "Added …", "I've added …", "The page now …", "The error is fixed"."""
        if self._begin >= len(self._prose):
            return None
        span = self._begin, self._reply.reading.sentence(self._begin)[1]
        opening = [hit for hit in self._within("changed", span) if self._is_told_of(hit)]
        return next(self._unopposed((*opening, *self._past(), *self._news(span), *self._stated(span))), None)

    def _is_told_of(self, hit: Hit) -> bool:
        """Whether a verb opens the reply ("Added …", "I've added …"), or is said of something ("… has been replaced")."""
        return _OPENING.match(self._prose, self._begin, hit.start) is not None or is_stated(self._prose, hit)

    def _past(self) -> Iterator[Hit]:
        """A verb in the past that opens the reply, whichever it is, unless it is one of looking and trying."""
        if (found := _PAST.match(self._prose, self._begin)) and not self._within("regarded", found.span()):
            yield Hit(found[1], found.start(1), found.end(1))

    def _told(self, span: Span) -> Iterator[Hit]:
        """What is told as done, or as being so now."""
        return self._unopposed((*self._past(), *self._within("changed", span), *self._news(span), *self._stated(span)))

    def _stated(self, span: Span) -> Iterator[Hit]:
        """What is stated to be so: "is fixed", "is gone"."""
        hits = (*self._within("closed", span), *self._within("stands", span))
        return (hit for hit in hits if is_stated(self._prose, hit))

    def _news(self, span: Span) -> Iterator[Hit]:
        """What is so now, other than that the check passes."""
        for hit in self._within("news", span):
            sentence = self._objections.sentence(hit)
            if not (self._scope.within("verified", sentence) or _OF_ITSELF.match(self._prose, sentence[0])):
                yield hit

    def _within(self, role: Role, span: Span) -> Sequence[Hit]:
        return self._scope.within(role, span)[:_LOOKED_AT]

    def _unopposed(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        return (hit for hit in hits if not (self._scope.reading.in_heading(hit.start) or self._objections.to(hit)))

    def _is_share(self) -> bool:
        return any(self._scope.within(role, self._whole) for role in _SHARES)

    def _is_doubted(self) -> bool:
        """Whether anything is said to be open, outside of what the work does."""
        return any(
            not (self._scope.negated(hit, 2) or self._objections.is_described(hit))
            for hit in self._within("qualifier", self._whole)
            if hit.name not in _STANDING and not self._scope.within("beyond", self._objections.sentence(hit))
        )

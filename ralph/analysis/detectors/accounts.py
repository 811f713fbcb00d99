"""Accounts of finished work that use no word of completion: what was changed, or is so now, and how it was proven.

| account | such as | counts |
|---|---|---|
| of the number that the task is about | "Coverage is at 94 % of branches", of at least 90 % | very high |
| of the task | work on what the task's title names, and a check passes; or one sentence does both | very high |
| of the task | an opening that tells of work, in a reply of some length | very high |
| of the task | a plain opening, and a check passes | high |
| of no need | "This exists already, and is tested. I changed nothing." | very high |
| of a mended fault | "Root cause: … Fix: … The suite passes" | high |
| of a change | "Added `--json`. Tests: `pytest -q` → 221 passed"; "Done. The page now …" | high |
| in a final message | a plain opening, some length, nothing that is left, asked or doubted | very high |
| in a final report | its shape, and a check passes | high |
| in an answer to one task | a plain opening, nothing that is left, asked or doubted | high |

Without a task an account is none where anything in it smells of a share: a loop, a phase, a plan, what is left. It is
not looked at where what was found before is enough by itself, nor where something contradicts.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ralph.analysis.completion import completion
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.bounds import bound
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.openings import Opening, is_to_come
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import AGAINST, HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["detect_accounts"]

_SHORT, _LONG = 20, 20_000
"""Characters of a reply that can be an account."""
_SOME, _FULL = 110, 200
"""Characters of a reply that tells of finished work, not of one step: with an opening that does, and with any."""
_BRIEF = 40
"""Characters of an answer to a task."""
_GOES_ON = 30
"""Characters behind "Done." that tell what is."""
_LEAD = 700
"""Characters of a reply in which it says what it is about."""
_END = 300
"""Characters of the end, in which nothing is asked."""
_LOOKED_AT = 12
"""Doubts that are looked at."""
_THIRD = 1 / 3
"""Of a task's words, those that its number is about: others say which number that is."""
_OF_STATUS = ("exit_signal", "status_blocked")
"""What the status block says: not a word of the reply."""
_SHARES: tuple[Role, ...] = ("part", "pieced", "following")
_ANY_SHARE: frozenset[Role] = frozenset(_SHARES)
_BEFORE: frozenset[Role] = frozenset({"idle"})
_ALREADY = frozenset({"already", "already done", "in an earlier run"})
"""What says that it was done before."""
_OF_ONE: tuple[Role, ...] = ("part", "following")
"""What smells of a share also where one task is given: its words may speak of loops and plans."""
_NOT_FINAL: frozenset[Role] = frozenset({"obstacle", "blocked", "limit", "fatal", "plea", "yours"})
"""What a report on finished work has nowhere."""
_HALTED: frozenset[Role] = frozenset({"halted"})
"""What none of its sentences begins with."""
_KNOWN = {word: pattern(rf"{word}\b(?<=\b{word})") for word in ("the", "el", "los", "las", "der", "das", "und")}
_CHINESE = pattern(r"[\u3400-\u9fff]{2}")
"""What a reply has that is written in a language whose words are known: of others nobody can say what is left open.
A pattern that begins with its letters is found in a tenth of the time.
"""
_TO_COME = (" next", " tomorrow", " mañana", " als nächstes", " morgen")
"""What a reply ends with that tells of what comes next."""
_THAT = pattern(r"\b(?:which|that|so that \w{1,12}) \Z")
"""What tells before "cannot" and "would" of things, and not of the agent."""
_UP_TO_NOW = frozenset({"so far", "bisher"})
"""What leaves something open also where it is negated: "nothing so far"."""
_THOUGH = frozenset({"though", "however", "unfortunately", "allerdings", "jedoch", "leider"})
"""What the last sentence of finished work has not."""
_AS_BEFORE = pattern(
    r"\s(?:uses?|using|loads?|calls?|imports?|depends?|relies|rely|needs?|goes|differs?|lacks?|leaks?|takes?|refers?)\b"
)
"""What "still" stands before that is as it was."""
_ON = pattern(
    r"[\s*_>-]{0,6}(?:(?:and|so) )?(?:(?:now|next),? (?:the|for|to|on)|ahora,? (?:con|el|la|los|las|a)"
    r"|jetzt (?:der|die|das|zum|zur))\b"
)
"""What a last sentence opens with that goes on to something: "Now the fix."."""
_NEWS = frozenset({"now", "is now", "are now", "no longer", "ahora", "ya no", "不再"})
"""What tells of a new state, which may be one of several."""
_STANDING = frozenset((
    *("still", "remain", "remains", "remaining", "fails", "failing", "blocked", "broken", "apart from", "other than"),
    *("still blocked", "仍", "仍然", "部分"),
))
"""What takes a sentence back, but is no doubt by itself; what is left, and checks that fail, are found elsewhere."""


class _Told(NamedTuple):
    """What an account rests on, and how much it counts."""

    hit: Hit
    weight: float
    why: str = "It tells of work and proof."
    held: bool = False
    """Whether a test or a measurement holds what was mended."""


def detect_accounts(reply: Reply) -> Iterable[Signal]:
    """The account that the reply is, if it is one."""
    if not _may_be(reply):
        return ()
    account = _Account(reply)
    told = account.told()
    if told is None:
        return ()
    hit = told.hit
    signal = Signal("completion_account", hit.name, hit.start, hit.end, told.weight, told.why, "done")
    if not told.held or account.proven:
        return (signal,)
    return signal, Signal("verified", "", hit.start, hit.end, 25, "What was mended is held by a test or a measurement.")


def _may_be(reply: Reply) -> bool:
    """Whether nothing contradicts, and what was found so far is not enough by itself."""
    if not _SHORT <= len(reply.reading.text) <= _LONG:
        return False
    most = 0.0
    for kind, _, _, _, weight, _, state, _ in reply.signals.all():
        if kind not in _OF_STATUS:
            if weight <= AGAINST:
                return False
            if state == "done" and weight > most:
                most = weight
    # without a high signal nothing is claimed, and with a very high one all is: only in between is it worth asking
    return most < HIGH or (most < VERY_HIGH and not completion(reply.signals).detected)


class _Account:
    """What a reply tells after its last announcement."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = Objections.of(reply)
        self._opening = Opening(reply, self._objections)
        self._task = assignment(reply.context.task)
        begin = self._opening.begin
        self._whole, self._lead = (begin, len(self._prose)), (begin, begin + _LEAD)
        self._length = len(self._prose) - begin
        tests = reply.signals.first("test_run")
        self.proven = reply.signals.first("verified") is not None or bool(tests and tests.weight > 0)
        self._doubted = self._is_doubted()
        self._sure = not (self._doubted or self._has_shares())

    def told(self) -> _Told | None:
        """What the account is, by the first rule that finds one; none of what the last sentence takes back."""
        last = self._reply.reading.sentence(len(self._prose.rstrip()) - 1)
        if any(hit.name in _THOUGH for hit in self._scope.within("contrast", last)):
            return None
        if self._task.given:
            return self._of_given()
        if not self._sure:
            return None
        return self.of_a_change() or self.as_a_final() or self.as_a_report()

    def _of_given(self) -> _Told | None:
        """The same of a task that is given; none where the number that it is about is missed."""
        wanted = bound(self._reply.context.task)
        number = wanted.told(self._reply.reading.lower, self._opening.sentence) if wanted else None
        if number and not number[1]:
            return None
        told = self.of_its_number(number[0]) if number else None
        told = told or self.of_the_task() or self.of_a_change() or self.as_a_final() or self.as_a_report()
        return told or (None if self._task.of_many else (self.of_no_need() or self.as_an_answer()))

    def of_its_number(self, met: Span) -> _Told | None:
        """The opening that tells that the number is met which the task is about: "Coverage is at 94 %"."""
        if self._doubted or self._has_shares(_OF_ONE) or not self._ends():
            return None
        if not self._task.is_named(self._reply.reading.lower[slice(*self._opening.sentence)], share=_THIRD):
            return None
        if self._scope.within("absence", (met[1], self._opening.sentence[1])):
            return None
        told = Hit("number", *met)
        return None if self._objections.to(told, parts=False) else _Told(told, VERY_HIGH, "The task asks for that.")

    def of_the_task(self) -> _Told | None:
        """What is told of the task."""
        told = list(self._opening.told(self._lead))
        if named := next(filter(self._names_task, told), None):
            return _Told(named, VERY_HIGH)
        about = told and self.proven and self._task.is_named(self._reply.reading.lower[slice(*self._whole)])
        if about and not self._doubted:
            return _Told(told[0], VERY_HIGH)
        if not self._sure:
            return None
        if told and self.proven:
            return _Told(told[0], HIGH)
        if self._length >= _FULL and (opening := self._opening.tells):
            return _Told(opening, VERY_HIGH, "It opens with what was done, and leaves nothing open.")
        plain = self._opening.plain() if self.proven else None
        return _Told(plain, HIGH) if plain else None

    def _names_task(self, told: Hit) -> bool:
        """Whether a sentence names the task, and more than a state that may be one of several."""
        said, task = self._reply.reading.lower[slice(*self._objections.sentence(told))], self._task
        return task.is_named(said) and (self.proven or told.name not in _NEWS or task.is_named(said, share=1))

    def of_a_change(self) -> _Told | None:
        """What is told of a change by itself."""
        if not self._sure:
            return None
        if self._opening.bare and self._length >= _GOES_ON:
            return _Told(self._opening.bare, HIGH, "It opens with that, and tells what is so now.")
        if self._scope.within("cause", self._lead) and (self.proven or self._scope.within("proof", self._whole)):
            mended = next(self._opening.told(self._whole), None)
            return _Told(mended, HIGH, held=True) if mended else None
        told = self._opening.tells if self.proven else None
        return _Told(told, HIGH) if told else None

    def of_no_need(self) -> _Told | None:
        """What the task asks for was there before, and nothing was changed."""
        scope = self._scope
        if not scope.has(_BEFORE) or self._doubted or not self._ends():
            return None
        changes = scope.within("change", self._whole)[:_LOOKED_AT]
        acts = (*changes, *scope.within("work", self._whole)[:_LOOKED_AT])
        if not (any(map(scope.negated, changes)) or any(scope.after("negation", hit, 0) for hit in acts)):
            return None
        before = (hit for hit in scope.within("idle", self._lead)[:_LOOKED_AT] if hit.name in _ALREADY)
        there = next((hit for hit in before if not self._objections.to(hit, echoes=False)), None)
        return _Told(there, VERY_HIGH, "It was done before, and nothing was changed.") if there else None

    def as_a_final(self) -> _Told | None:
        """The opening of a reply that is too long for one step of the work and leaves nothing open: no doubt, no share,
        no obstacle, nothing asked of a person, and no word of what is to come at its end.
        """
        if self._length < _SOME or not self._sure or not self._ends():
            return None
        opening = self._opening.tells or (self._opening.plain() if self._length >= _FULL else None)
        if opening is None or not (self.proven or self._is_known() or next(self._opening.told(self._whole), None)):
            return None
        return _Told(opening, VERY_HIGH, "It opens with how things are, and leaves nothing open.")

    def as_an_answer(self) -> _Told | None:
        """The plain opening of a reply on one task: a second signal where it sounds finished as well."""
        if self._doubted or self._length < _BRIEF or self._has_shares(_OF_ONE) or not self._ends():
            return None
        opening = self._opening.tells or self._opening.plain()
        return _Told(opening, HIGH, "It opens with how things are.") if opening else None

    def _ends(self) -> bool:
        """Whether nothing hinders, nothing is asked at the end, and the last sentence tells of nothing to come."""
        scope, prose = self._scope, self._prose.rstrip()
        if scope.has(_NOT_FINAL) and any(map(scope.of, _NOT_FINAL)):
            return False
        if scope.has(_HALTED) and any(map(self._begins, scope.of("halted"))):
            return False
        end = prose[-_END:]
        if "?" in end or "？" in end or ("[" in prose and "[ ]" in prose):
            return False
        if prose.rstrip(".!*_").endswith(_TO_COME):
            return False
        last = self._reply.reading.sentence(len(prose) - 1)
        ahead = [*scope.within("unable", last), *(hit for hit in scope.within("future", last) if is_to_come(hit))]
        agents = any(not _THAT.search(prose, last[0], hit.start) for hit in ahead[:_LOOKED_AT])
        return not (agents or _ON.match(prose, last[0]))

    def _begins(self, hit: Hit) -> bool:
        """Whether a sentence begins with a word."""
        return not self._prose[self._reply.reading.sentence(hit.start)[0] : hit.start].strip(" \n*_#>-")

    def as_a_report(self) -> _Told | None:
        """The final report with proof: a task is what such a report is about, whatever its words."""
        report = self._reply.signals.first("completion_report")
        if report and self.proven and (self._sure or (self._task.given and not self._doubted)):
            return _Told(Hit("report", report.start, report.end), HIGH, "It is a final report with proof.")
        return None

    def _is_known(self) -> bool:
        """Whether the language is known."""
        prose, (begin, end) = self._prose, self._lead
        for word, standing in _KNOWN.items():
            if prose.find(word, begin, end) >= 0 and standing.search(prose, begin, end):
                return True
        return not prose.isascii() and _CHINESE.search(prose, begin, end) is not None

    def _has_shares(self, roles: Sequence[Role] = _SHARES) -> bool:
        return self._scope.has(_ANY_SHARE) and any(self._scope.within(role, self._whole) for role in roles)

    def _is_doubted(self) -> bool:
        """Whether anything is said to be open, outside of what the work does."""
        hits = self._scope.within("qualifier", self._whole)
        return bool(hits) and any(map(self._doubts, hits[:_LOOKED_AT]))

    def _doubts(self, hit: Hit) -> bool:
        if hit.name in _STANDING and not (hit.name == "still" and _AS_BEFORE.match(self._prose, hit.end)):
            return False
        if (hit.name not in _UP_TO_NOW and self._scope.negated(hit, 2)) or self._objections.is_described(hit):
            return False
        return not self._scope.within("beyond", self._objections.sentence(hit))

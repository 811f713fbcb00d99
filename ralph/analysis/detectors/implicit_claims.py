"""Finished work that no word of completion claims: accounts of what changed, in brief replies.

| account | such as | counts |
|---|---|---|
| of the task | work on what the task's title names, and a check passes; or one sentence does both | very high |
| of the task | an opening that reports work, in a reply of some length | very high |
| of the task | a plain opening, and a check passes | high |
| of no need | "This exists already, and is tested. I changed nothing." | very high |
| of a repaired fault | "Root cause: … Fix: … The suite passes" | high |
| of a change | "Added `--json`. Tests: `pytest -q` → 221 passed"; "Done. The page now …" | high |
| in a final message | a plain opening, some length, nothing that is left, asked or doubted | very high |
| in a final report | its shape, and a check passes | high |
| in an answer to one task | a plain opening, nothing that is left, asked or doubted | high |

Without a task an account does not count if anything in it suggests a share of the work: a loop, a phase, a plan, what
is left. Accounts are sought only in replies of up to 500 characters, if the signals so far are not enough, and nothing
contradicts: of longer ones the learned chances (`wording`) say more.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from ralph.analysis.detectors.activity import announcement_end
from ralph.analysis.detectors.claims import is_stated
from ralph.analysis.detectors.objections import Objections, task_of
from ralph.analysis.detectors.tests import is_check_verdict
from ralph.analysis.lexicon import Role
from ralph.analysis.result import AGAINST, HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.state import completion_signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

_WORD = pattern(r"[^\W\d_]+")
_LOOKED_AT = 12  # words of one role that are examined
_SKIPPED = 3  # headings and bare words that are skipped at the beginning
_BARE = 30  # characters of a sentence of a word or two
_PLAIN = 3  # fewest words of a plain sentence
_OF_ITSELF = pattern(r"[\s*_#>-]{0,6}i(?:'ve|'m)?\s")
_LEADS = r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also|successfully|i've|i have|we've|we have)\b)*"
# openings of a sentence about a finding, not about an action
_FINDINGS = ("i see", "i found", "i've found", "i looked", "looks like")
_OPENS = pattern(rf"{_LEADS}\Z")
_PAST = pattern(
    rf"{_LEADS}([a-z][a-z-]{{1,15}}ed|wrote|built|set up|put|made|split|cut|rewrote|took|got rid of|sped up|brought)\b"
    r"(?=[\s*_]{1,3}[^\s:])"
)
# A sentence with one of these does not report finished work.
_NOT_PLAIN: tuple[Role, ...] = ("ongoing", "verified", "recap", "contrast", "unable", "lack", "fault")
# These words of the future may also stand in a sentence about the present.
_WITHOUT_TIME = frozenset((
    *("once", "when", "if", "until", "till", "unless", "before", "after", "whether", "as soon as", "can be"),
    *("could be",),
    *("considered", "reply", "say", "cuando", "si", "una vez", "hasta que", "antes de", "después de", "para que"),
))
# The same with words for what happens regularly: "danach werden alle Sitzungen beendet".
_OR_HABITUAL = _WITHOUT_TIME | {"wird", "werden", "会", "會"}


class _Opening:
    """The opening of a reply, after its last announcement.

    Attributes:
        begin: where the first sentence begins that is neither a heading nor bare.
        bare: a word before it that is a sentence and says that the work is done: "Done.", "Deployed.", "搞定了".
    """

    def __init__(self, reply: Reply, objections: Objections) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = objections
        self.bare: Hit | None = None
        self.begin = self._first(announcement_end(reply))

    def reports_in(self, span: Span) -> Iterator[Hit]:
        """Yield what a span reports as done, or as the state now."""
        changed = self._within("changed", span)
        return filter(self._counts, chain(self._past, changed, self._news(span), self._stated(span)))

    @cached_property
    def report(self) -> Hit | None:
        """The report in the first sentence: "Added …", "I've added …", "The page now …", "The error is fixed"."""
        span = self.sentence
        if any(hit.name.startswith(_FINDINGS) for hit in self._within("ongoing", (self.begin, self.begin + _BARE))):
            return None
        changed = (
            hit
            for hit in self._within("changed", span)
            if _OPENS.match(self._prose, self.begin, hit.start) or is_stated(self._prose, hit)
        )
        return next(filter(self._counts, chain(changed, self._past, self._news(span), self._stated(span))), None)

    def plain_statement(self) -> Hit | None:
        """Return the first sentence if it says how things are, in whatever words.

        It may use the words of the task, unless it says what is wanted.
        """
        span = self.sentence
        said, scope = self._reply.reading.text[slice(*span)], self._scope
        if _is_short(said):
            return None
        if any(hit.name not in _OR_HABITUAL for hit in scope.within("future", span)[:_LOOKED_AT]):
            return None
        if scope.any_within(_NOT_PLAIN, span):
            return None
        if scope.within("regarded", (self.begin, self.begin + _BARE)):
            return None
        if any(is_check_verdict(self._reply, hit) for hit in self._within("passes", span)):
            return None
        proviso = next(iter(scope.within("proviso", span)), None)  # "Until …"
        if proviso and proviso.name != "if" and not self._prose[span[0] : proviso.start].strip(" *_#>-"):
            return None
        whole, wanted = Hit("opening", *span), bool(scope.within("wanted", span))
        return None if self._objections.against(whole, echoes=wanted) else whole

    @property
    def sentence(self) -> Span:
        """The span of the first sentence."""
        return self.begin, self._reply.reading.sentence(self.begin)[1]

    def _first(self, begin: int) -> int:
        for _ in range(_SKIPPED):
            begin = len(self._prose) - len(self._prose[begin:].lstrip())
            if begin >= len(self._prose):
                break
            end = self._reply.reading.sentence(begin)[1]
            if not (self._reply.reading.in_heading(begin) or self._is_bare(begin, end)):
                break
            begin = end
        return begin

    def _is_bare(self, begin: int, end: int) -> bool:
        """Return True if a sentence has a word or two; keep it if it says that the work is done."""
        if end - begin > _BARE:
            return False
        span = begin, end
        words = _WORD.findall(self._prose[slice(*span)])
        for hit in (*self._within("keyword", span), *self._within("changed", span)):
            if words == _WORD.findall(self._prose[hit.start : hit.end]):
                self.bare = Hit("opening", hit.start, hit.end)
                return True
        return _is_short(self._reply.reading.text[slice(*span)])

    @cached_property
    def _past(self) -> Sequence[Hit]:
        """The verb in the past that opens the reply, unless it means looking or trying."""
        found = _PAST.match(self._prose, self.begin)
        if found is None or self._within("regarded", found.span()):
            return ()
        return (Hit(found[1], found.start(1), found.end(1)),)

    def _stated(self, span: Span) -> Iterator[Hit]:
        """Yield states: "is fixed", "is gone"."""
        hits = (*self._within("closed", span), *self._within("stands", span))
        return (hit for hit in hits if is_stated(self._prose, hit))

    def _news(self, span: Span) -> Iterator[Hit]:
        """Yield what is so now, except passing checks."""
        for hit in self._within("news", span):
            sentence = self._objections.sentence(hit)
            if not (self._scope.within("verified", sentence) or _OF_ITSELF.match(self._prose, sentence[0])):
                yield hit

    def _within(self, role: Role, span: Span) -> Sequence[Hit]:
        return self._scope.within(role, span)[:_LOOKED_AT]

    def _counts(self, hit: Hit) -> bool:
        return not (self._reply.reading.in_heading(hit.start) or self._objections.against(hit))


def _is_short(said: str) -> bool:
    """Return True if a sentence has a word or two."""
    return said.isascii() and len(list(islice(_WORD.finditer(said), _PLAIN))) < _PLAIN


_SHORT, _LONG = 20, 500  # characters of a reply that can be an account; longer ones are judged by the fold
# Fewest characters of a report on finished work, not on one step: with an opening that says so, and with any.
_SOME, _FULL = 110, 200
_BRIEF = 40  # fewest characters of an answer to a task
_GOES_ON = 30  # fewest characters after "Done." that describe the result
_LEAD = 700  # characters in which a reply says what it is about
_END = 300  # characters of the end, in which nothing is asked
_OF_STATUS = ("exit_signal", "status_blocked")  # signals of the status block, not of words
_SHARES: tuple[Role, ...] = ("part", "pieced", "following")
_ALREADY = frozenset({"already", "already done", "in an earlier run"})  # words that say that it was done before
# Roles that suggest a share even if a single task is given: its words may speak of loops and plans.
_OF_ONE: tuple[Role, ...] = ("part", "following")
# A report on finished work has none of these roles.
_NOT_FINAL: frozenset[Role] = frozenset({"obstacle", "blocked", "limit", "fatal", "plea", "yours"})
# A reply needs one of these words, or Chinese: what other languages leave open is unknown.
_KNOWN = pattern(r"\b(?:the|el|los|las|der|das|und)\b|[\u3400-\u9fff]{2}")
# endings of a reply that speak of the next step
_TO_COME = (" next", " tomorrow", " mañana", " als nächstes", " morgen")
# Before "cannot" and "would" these make things the subject, not the agent.
_THAT = pattern(r"\b(?:which|that|so that \w{1,12}) \Z")
# The last sentence of finished work has none of these.
_THOUGH = frozenset({"though", "however", "unfortunately", "allerdings", "jedoch", "leider"})
# After "still" these say that something is as it was.
_AS_BEFORE = pattern(
    r"\s(?:uses?|using|loads?|calls?|imports?|depends?|relies|rely|needs?|goes|differs?|lacks?|leaks?|takes?|refers?)\b"
)
# The opening of a last sentence that continues the work: "Now the fix.".
_ON = pattern(
    r"[\s*_>-]{0,6}(?:(?:and|so) )?(?:(?:now|next),? (?:the|for|to|on)|ahora,? (?:con|el|la|los|las|a)"
    r"|jetzt (?:der|die|das|zum|zur))\b"
)
# A new state, which may be one of several.
_NEWS = frozenset({"now", "is now", "are now", "no longer", "ahora", "ya no", "不再"})
# These retract a sentence, but are no doubt by themselves; other detectors find what is left, and failing checks.
_STANDING = frozenset((
    *("still", "remain", "remains", "remaining", "fails", "failing", "blocked", "broken", "apart from", "other than"),
    *("still blocked", "仍", "仍然", "部分"),
))


class _Evidence(NamedTuple):
    """The basis of an account, and its weight."""

    hit: Hit
    weight: float
    why: str = "It reports work and proof."
    proven: bool = False  # a test or a measurement proves the repair


def detect_accounts(reply: Reply) -> Iterable[Signal]:
    """Find the account of finished work that the reply is, if any."""
    if not _may_be(reply):
        return ()
    account = _Account(reply)
    evidence = account.evidence()
    if evidence is None:
        return ()
    hit = evidence.hit
    signal = Signal("completion_account", hit.name, hit.start, hit.end, evidence.weight, evidence.why, "done")
    if not evidence.proven or account.proven:
        return (signal,)
    return signal, Signal("verified", "", hit.start, hit.end, 25, "A test or a measurement proves the repair.")


def _may_be(reply: Reply) -> bool:
    """Return True if nothing contradicts, and the signals so far are not enough."""
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
    return most < HIGH or (most < VERY_HIGH and not completion_signal(reply.signals).detected)


class _Account:
    """The report of a reply after its last announcement."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = Objections.of(reply)
        self._opening = _Opening(reply, self._objections)
        self._task = task_of(reply.context.task)
        begin = self._opening.begin
        self._whole, self._lead = (begin, len(self._prose)), (begin, begin + _LEAD)
        self._length = len(self._prose) - begin
        tests = reply.signals.first("test_run")
        self.proven = reply.signals.first("verified") is not None or bool(tests and tests.weight > 0)
        doubts = self._scope.within("qualifier", self._whole)[:_LOOKED_AT]
        self._doubted = any(map(self._is_doubt, doubts))
        self._sure = not (self._doubted or self._has_shares())

    def evidence(self) -> _Evidence | None:
        """Return the account by the first rule that finds one, unless the last sentence retracts it."""
        last = self._reply.reading.sentence(len(self._prose.rstrip()) - 1)
        if any(hit.name in _THOUGH for hit in self._scope.within("contrast", last)):
            return None
        if self._task.given:
            return self._for_given_task()
        if not self._sure:
            return None
        return self._on_change() or self._as_final_message() or self._as_report()

    def _for_given_task(self) -> _Evidence | None:
        """Return the account of a given task."""
        evidence = self._on_task() or self._on_change() or self._as_final_message() or self._as_report()
        return evidence or (None if self._task.has_many_items else (self._on_no_need() or self._as_answer()))

    def _on_task(self) -> _Evidence | None:
        """Return what is reported about the task."""
        reports = list(self._opening.reports_in(self._lead))
        if named := next(filter(self._names_task, reports), None):
            return _Evidence(named, VERY_HIGH)
        about = reports and self.proven and self._task.is_named(self._reply.reading.lower[slice(*self._whole)])
        if about and not self._doubted:
            return _Evidence(reports[0], VERY_HIGH)
        if not self._sure:
            return None
        if reports and self.proven:
            return _Evidence(reports[0], HIGH)
        if self._length >= _FULL and (opening := self._opening.report):
            return _Evidence(opening, VERY_HIGH, "It opens with what was done, and leaves nothing open.")
        plain = self._opening.plain_statement() if self.proven else None
        return _Evidence(plain, HIGH) if plain else None

    def _names_task(self, report: Hit) -> bool:
        """Return True if a sentence names the task, and more than a state that may be one of several."""
        said, task = self._reply.reading.lower[slice(*self._objections.sentence(report))], self._task
        return task.is_named(said) and (self.proven or report.name not in _NEWS or task.is_named(said, share=1))

    def _on_change(self) -> _Evidence | None:
        """Return a change that is reported by itself."""
        if not self._sure:
            return None
        if self._opening.bare and self._length >= _GOES_ON:
            return _Evidence(self._opening.bare, HIGH, "It opens with that, and describes the new state.")
        if self._scope.within("cause", self._lead) and (self.proven or self._scope.within("proof", self._whole)):
            repair = next(self._opening.reports_in(self._whole), None)
            return _Evidence(repair, HIGH, proven=True) if repair else None
        report = self._opening.report if self.proven else None
        return _Evidence(report, HIGH) if report else None

    def _on_no_need(self) -> _Evidence | None:
        """Return the words that say that the result was there before, if nothing was changed."""
        scope = self._scope
        if "idle" not in scope.hits or self._doubted or not self._ends_cleanly():
            return None
        changes = scope.within("change", self._whole)[:_LOOKED_AT]
        acts = (*changes, *scope.within("work", self._whole)[:_LOOKED_AT])
        if not (any(map(scope.negated, changes)) or any(scope.after("negation", hit, 0) for hit in acts)):
            return None
        before = (hit for hit in scope.within("idle", self._lead)[:_LOOKED_AT] if hit.name in _ALREADY)
        there = next((hit for hit in before if not self._objections.against(hit, echoes=False)), None)
        return _Evidence(there, VERY_HIGH, "It was done before, and nothing was changed.") if there else None

    def _as_final_message(self) -> _Evidence | None:
        """Return the opening of a reply that is too long for one step and leaves nothing open.

        It has no doubt, share, obstacle or question, and no word of the future at its end.
        """
        if self._length < _SOME or not self._sure or not self._ends_cleanly():
            return None
        opening = self._opening.report or (self._opening.plain_statement() if self._length >= _FULL else None)
        if opening is None:
            return None
        if self.proven or _KNOWN.search(self._prose, *self._lead) or next(self._opening.reports_in(self._whole), None):
            return _Evidence(opening, VERY_HIGH, "It opens with how things are, and leaves nothing open.")
        return None

    def _as_answer(self) -> _Evidence | None:
        """Return the plain opening of an answer to one task: a second signal besides another."""
        if self._doubted or self._length < _BRIEF or self._has_shares(_OF_ONE) or not self._ends_cleanly():
            return None
        opening = self._opening.report or self._opening.plain_statement()
        return _Evidence(opening, HIGH, "It opens with how things are.") if opening else None

    def _ends_cleanly(self) -> bool:
        """Return True if nothing hinders or is asked at the end, and the last sentence is not about the future."""
        scope, prose = self._scope, self._prose.rstrip()
        opens = (prose[self._reply.reading.sentence(hit.start)[0] : hit.start] for hit in scope.of("halted"))
        if any(map(scope.of, _NOT_FINAL)) or not all(lead.strip(" \n*_#>-") for lead in opens):
            return False
        end = prose[-_END:]
        if "?" in end or "？" in end or ("[" in prose and "[ ]" in prose):
            return False
        if prose.rstrip(".!*_").endswith(_TO_COME):
            return False
        last = self._reply.reading.sentence(len(prose) - 1)
        future = (hit for hit in scope.within("future", last) if hit.name not in _WITHOUT_TIME)
        ahead = [*scope.within("unable", last), *future]
        agents = any(not _THAT.search(prose, last[0], hit.start) for hit in ahead[:_LOOKED_AT])
        return not (agents or _ON.match(prose, last[0]))

    def _as_report(self) -> _Evidence | None:
        """Return the final report with proof."""
        report = self._reply.signals.first("completion_report")
        if report and self.proven and (self._sure or (self._task.given and not self._doubted)):
            return _Evidence(Hit("report", report.start, report.end), HIGH, "It is a final report with proof.")
        return None

    def _has_shares(self, roles: Sequence[Role] = _SHARES) -> bool:
        return self._scope.any_within(roles, self._whole)

    def _is_doubt(self, hit: Hit) -> bool:
        """Return True if a word says that something is open, except in a description of what the work does."""
        if hit.name in _STANDING and not (hit.name == "still" and _AS_BEFORE.match(self._prose, hit.end)):
            return False
        return not self._scope.within("beyond", self._objections.sentence(hit))

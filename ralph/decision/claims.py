"""The exit strategies: which replies are a claim that the task is done.

A claim ends nothing by itself: the run's verifiers check it, and `ralph.decision.rules` decides what follows.

| strategy | a claim is |
|---|---|
| `auto` | `EXIT_SIGNAL: true`; else the plan's boxes all ticked during this run; else completion words of strength 70 |
| `exit_signal` | `EXIT_SIGNAL: true`, nothing else (go-ralph) |
| `natural_language` | completion words of 30 points and two kinds (go-ralph) |
| `done_signals` | completion words detected and an overall confidence of 40 (Nity Loop) |
| `fix_plan` | every box of the plan ticked (Ralph Runtime, Nity Loop) |
| `circuit_breaker` | nothing: only limits and the safety net end the run |

Only a turn that the agent itself ended can claim anything (`claimed`). An explicit `EXIT_SIGNAL: false` vetoes every
claim made by words. Under `auto`, an explicit claim that the evidence does not support (open boxes in the plan, a run
that changed nothing, `contradictions` in the reply) needs a confirming iteration, and so do words alone after a turn of
unknown effect, or after work on an unknown task. A report of further work confirms nothing: each part of a task may be
called done. Words never outweigh open boxes, nor another place in the reply that says that it is blocked, asks, or
continues.

A reply contradicts an `EXIT_SIGNAL: true` by `STATUS: IN_PROGRESS`, by tests that fail, by a recommendation that names
further work, and by words that say what is left. Anything that it calls optional does not count. A number below its
whole is a doubt that a repeated claim settles, for the number may measure something else.

A further analyzer may block a claim: nothing confirms it as long as that analyzer says so. One that supports a claim
made by words is the second witness that such a claim needs. None can make a claim.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from pydantic import BaseModel, JsonValue

from ralph.analysis import analyze_text
from ralph.analysis.detectors.progress import ONLY_A_SHARE
from ralph.analysis.result import AGAINST, HIGH, VERY_HIGH, Analysis, Evidence
from ralph.errors import UnknownNameError
from ralph.status import StatusMalformed, StatusReport
from ralph.system.text import one_line
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Outcome, Output
from ralph.types.plan import PlanState

STRENGTH = 70.0
"""The least strength of completion words, of 100, that `auto` counts as a claim."""

_WHOLE = re.compile(
    r"\b(?:project|plan|task|goal|proyecto|tarea)\b"
    r"|\b(?:all|every|todas?|todos?)(?: \w{1,20}){0,3} (?:box|item|phase|requirement|stor|tarea|task|to-?do|work)"
    r"|\b(?:nothing|nada)\b|\b(?:no|zero|0)(?: \w{1,20}){0,3} (?:left|open|outstanding|remain|unchecked)"
    r"|项目|專案|所有(?!测试|測試|的?测试|的?測試)|任务|任務|没有|沒有|无|無",
    re.IGNORECASE,
)
"""Words for the whole task alone; every part has its implementation, and its changes that are all in place."""

NOTHING_CHANGED = "the whole run has changed nothing in the workspace"
"""The doubt about a claim of a run that has left the workspace as it was."""

WORDS_ALONE = "only words say so, without a status block that agrees, and no verifier checks them"
"""The doubt about a claim by words in a run without verifiers."""

_OPEN = "still open in the plan: "
_HOLDS = "the analyzer "
"""The beginnings of doubts: an open item of the plan, and an analyzer that blocks the claim."""
_TOLD = 3
"""Doubts in one line."""

_READ = 600
"""Characters that are read of a field of the status block."""
_BEHIND = 80
"""Characters after a contradicting word that are quoted with it."""
_BLOCK = frozenset({"exit_signal", "status_blocked"})
_SAYS = frozenset({"completion_keyword", "completion_claim"})
"""The signals of words; the form of a reply says nothing by itself."""
_COMPLETE = frozenset({"COMPLETE", "COMPLETED", "DONE"})
_NONE_LEFT = re.compile(
    r"\b(?:no|0|zero|nothing|none|without)\b(?: (?:further|other|more|additional))? ?(?:\w{1,20} )?"
    r"(?:remain(?:s|ing)?|left|outstanding|pending|next)\b"
    r"|(?:无需|無需|没有|沒有|无|無)\w{0,4}(?:下一|剩余|剩餘|后续|後續)\w?",
    re.IGNORECASE,
)
_PIECE = r"(?:epic|feature|item|iteration|loop|milestone|phase|section|sprint|stor(?:y|ies)|task)s?"
_DO = r"(?:add|build|complet|finish|fix|implement|mend|port|refactor|repair|tackl|writ)\w{0,4}"
_LEFT = re.compile(
    rf"\b(?:remain(?:s|ing)?|still (?:open|to do|missing|needed|needs|need|requires?)|left to {_DO}|left to do|not yet"
    rf"|continu(?:e|ing) (?:with|work\w*|{_DO}|to (?:the )?{_PIECE})"
    rf"|(?:another|following|next)(?: \w{{1,20}}){{0,2}}? {_PIECE}\b(?! (?:can|could|may|might)\b)"
    rf"|proceed (?:to|with)(?: \w{{1,20}}){{0,2}}? (?:{_DO}|{_PIECE})"
    rf"|(?:next(?: up)?:?|then)(?: (?!can|could|may|might)\w{{1,20}}){{0,2}}? {_DO}"
    rf"|{_DO}(?: \w{{1,20}}){{1,4}} next"
    rf"|(?:begin|move|moving|proceed|ready|start)(?: (?:for|on|start|the|to|with)){{0,3}} {_PIECE} ?#?\d[\d.]*"
    rf"|(?:{_PIECE} ?#?\d[\d.]*|[a-z]{{1,6}}-\d{{1,5}})(?: is| are)? (?:next|not started|open|pending)"
    rf"|{_PIECE} to follow"
    rf"|[1-9]\d{{0,3}}(?: \w{{1,20}})?? (?:more|open|pending|unchecked|unfinished)(?: {_PIECE})"
    r"|continuar con|(?<!no )quedan? (?:\d|por )|siguiente:)"
    r"(?!\w)|\bnext up:|\b(?<!no )to-?dos?:|\b(?<!no )(?-i:TODOs?)\b(?![-/\w]|\.\w)"
    r"|\b[1-9]\d{0,3} (?:more |open )?to-?dos?\b"
    r"|剩余|剩餘|尚未|未完成|下一(?:步|轮|輪|个|個|项|項|阶段|階段)|[还還]有 ?\d"
    r"|(?<![需须須用必])(?:继续|繼續)(?:实现|實作|實現|开发|開發|完成|处理|處理|进行|進行|阶段|階段)",
    re.IGNORECASE,
)
_OF_NEXT = frozenset({"RECOMMENDATION", "NEXT_STEP", "NEXT_STEPS"})
_PROSE = frozenset({"RECOMMENDATION", "NEXT", "REASON", "SUMMARY"})
_OF_PROGRESS = frozenset({
    *("PROGRESS", "COMPLETE", "COMPLETED", "COMPLETION", "DONE", "TASK", "TASKS", "STORY", "STORIES"),
    *("ITEM", "ITEMS", "PHASE", "PHASES", "STEP", "STEPS", "TEST", "TESTS"),
})
_OF_REST = frozenset({"REMAINING", "LEFT", "OPEN", "PENDING", "FAILED", "FAILING", "SKIPPED"})
"""Words in the names of fields: of sentences, of numbers that measure the work, and of numbers of something else."""
_OPTIONAL = re.compile(
    r"\b(?:optional(?:ly)?|future|later|nice.to.have|out of scope|not required|follow.ups?)\b|可选|可選|选做|選做",
    re.IGNORECASE,
)


class Case(BaseModel, frozen=True):
    """The facts of an iteration before its decision.

    Attributes:
        plan: the plan compared with the start of the run; None without a plan.
        changed: whether the workspace differs from the start of the run; None if unknown.
        progressed: whether this iteration moved workspace or plan; None if unknown.
        task: the task of the run; empty if unknown.
        lost: what the run has removed of the user's.
    """

    iteration: int = 1
    output: Output = Output()
    analysis: Analysis = Analysis()
    plan: PlanState | None = None
    changed: bool | None = None
    progressed: bool | None = None
    task: str = ""
    lost: tuple[str, ...] = ()

    @property
    def exit_signal(self) -> bool | None:
        """The agent's explicit `EXIT_SIGNAL`; None if it gave none."""
        status = self.analysis.status
        return status.exit_signal if isinstance(status, StatusReport) else None

    @property
    def moved(self) -> bool | None:
        """The known progress, else the agent's own count of its changes; None if there is neither."""
        return self.analysis.reports_change if self.progressed is None else self.progressed

    @property
    def limited(self) -> bool:
        """True if the turn met a limit of the service, and so counts against nothing."""
        return limited(self.output.outcome, self.analysis, progressed=self.progressed)

    @property
    def logged_out(self) -> bool:
        """True if the limit that the turn met is a missing login."""
        return self.limited and self.analysis.limit == "login"

    @property
    def unanswered(self) -> bool:
        """True if the service failed before the agent had used a tool: the agent is not to blame."""
        return unanswered(self.output.outcome, len(self.output.tool_calls))

    @property
    def says_done(self) -> tuple[str, str]:
        """The first words of completion, and what contradicts them; empty without any, or if more than words decides.

        An explicit `EXIT_SIGNAL` is more, and so are a question, a failure, and a turn that the agent did not end.
        """
        evidence = self.analysis.evidence
        said = next((piece.text for piece in evidence if piece.signal in _SAYS and piece.weight >= HIGH), "")
        ended = isinstance(self.output.outcome, Answered) and self.exit_signal is None
        if not said or not ended or _contradicts(self):
            return "", ""
        against = (piece for piece in evidence if piece.weight <= AGAINST and piece.signal not in _BLOCK)
        told = [f"{piece.why.rstrip('.')}{f' (“{one_line(piece.text)}”)' if piece.text else ''}" for piece in against]
        told += [open_boxes(self.plan.still_open)] if self.plan is not None and self.plan.still_open else []
        return one_line(said), told[0] if told else ""

    @property
    def waits(self) -> bool:
        """True if the agent asks the user and did nothing else.

        That is so by its own count or, without one and with unknown changes, by its words and the number of its tool
        calls.
        """
        if self.analysis.state not in {"blocked", "question"} or self.analysis.reports_change:
            return False
        return self.moved is not None or not (self.worked or self.busy)

    @property
    def worked(self) -> bool:
        """True if the iteration moved something or, with unknown changes, reports work of its tools."""
        if self.moved is not None:
            return self.moved
        return self.analysis.tells_of_work and len(self.output.tool_calls) > 2 * self.output.denials

    @property
    def busy(self) -> bool:
        """True if the changes are unknown, but the tool calls make some most likely."""
        return self.moved is None and self.output.busy


class Claim(BaseModel, frozen=True):
    """A claim that the task is done.

    Attributes:
        reason: what makes it, in a few words.
        doubts: what speaks against it; with any of them the claim needs a confirming iteration.
        confirms: whether it can confirm the claim before it; the report of further work cannot.
        by_words: neither a status block makes it or says `STATUS: COMPLETE`, nor any box.
    """

    reason: str
    doubts: tuple[str, ...] = ()
    confirms: bool = True
    by_words: bool = False
    evidence: tuple[Evidence, ...] = ()

    def holds(self, *, confirming: bool) -> bool:
        """Return whether it needs no further confirmation.

        Args:
            confirming: the iteration before has made a claim that waits for its confirmation.
        """
        return not self.doubts or (confirming and self.confirms)

    @property
    def unverified(self) -> "Claim":
        """The same claim if no verifier checks it: words alone are then a doubt of their own."""
        return evolve(self, doubts=(WORDS_ALONE,)) if self.by_words and not self.doubts else self


class Strategy(Protocol):
    """An exit strategy: a named, pure function of the case."""

    @property
    def name(self) -> str: ...

    def claim(self, case: Case) -> Claim | None:
        """Return the claim that the iteration makes, or None."""
        ...


class _BuiltIn(NamedTuple):
    name: str
    find: Callable[[Case], Claim | None]

    def claim(self, case: Case) -> Claim | None:
        return self.find(case)


def _auto(case: Case) -> Claim | None:
    if case.exit_signal is not None:
        return _explicit(case) if case.exit_signal else None
    if _contradicts(case):
        return None
    if case.plan is not None and case.plan.all_ticked_during_run:
        return Claim(reason="every box of the plan was ticked during this run", evidence=evidence_of(case, "boxes"))
    return _by_words(case)


def _exit_signal(case: Case) -> Claim | None:
    return Claim(reason="EXIT_SIGNAL: true", evidence=evidence_of(case, "exit_signal")) if case.exit_signal else None


def _natural_language(case: Case) -> Claim | None:
    if case.exit_signal is not None:
        return _exit_signal(case)
    analysis = case.analysis
    if analysis.points < 30 or len(analysis.indicators) < 2:
        return None
    reason = f"{analysis.points} points from {', '.join(analysis.indicators)}"
    return Claim(reason=reason, evidence=evidence_of(case, "completion"))


def _done_signals(case: Case) -> Claim | None:
    analysis = case.analysis
    if case.exit_signal is False or not analysis.completion.detected or analysis.confidence < 40:
        return None
    reason = f"confidence {analysis.confidence:g} with {', '.join(analysis.completion.keywords)}"
    return Claim(reason=reason, evidence=evidence_of(case, "completion"))


def _fix_plan(case: Case) -> Claim | None:
    if case.plan is None or not case.plan.now.total or case.plan.now.open or case.plan.now.problem:
        return None
    return Claim(reason="every box of the plan is ticked", evidence=evidence_of(case, "boxes"))


def _none(case: Case) -> Claim | None:
    return None


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        _BuiltIn("auto", _auto),
        _BuiltIn("circuit_breaker", _none),
        _BuiltIn("done_signals", _done_signals),
        _BuiltIn("exit_signal", _exit_signal),
        _BuiltIn("fix_plan", _fix_plan),
        _BuiltIn("natural_language", _natural_language),
    )
}
"""The built-in strategies by name."""


def strategy_named(name: str) -> Strategy:
    """Return the built-in strategy of that name.

    Raises:
        UnknownNameError: no strategy has that name.
    """
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownNameError("exit strategy", name, STRATEGIES) from None


def limited(outcome: Outcome, analysis: Analysis, *, progressed: bool | None) -> bool:
    """Return whether a turn met a limit of the service: by its failure or, if it moved nothing, by its words."""
    if isinstance(outcome, Failed) and outcome.failure == "rate_limited":
        return True
    return isinstance(outcome, Answered | Failed) and analysis.state == "limited" and not progressed


def unanswered(outcome: Outcome, calls: int) -> bool:
    """Return whether the service failed before the agent had used a tool."""
    return isinstance(outcome, Failed) and outcome.failure == "unavailable" and not calls


def claimed(strategy: Strategy, case: Case) -> Claim | None:
    """Return the claim that a strategy sees in a case, weighed by the further analyzers.

    A turn that failed or was cut short claims nothing, whatever it said before.
    """
    claim = strategy.claim(case) if isinstance(case.output.outcome, Answered) else None
    return _weighed(claim, case.analysis) if claim is not None and case.analysis.further else claim


def _weighed(claim: Claim, analysis: Analysis) -> Claim:
    holding, supporting = analysis.opinions("holds_back"), analysis.opinions("supports")
    doubts = tuple(f"{_HOLDS}{name} blocks it: {reason}".rstrip(": ") for name, reason in holding.items())
    update: dict[str, object] = {"doubts": (*claim.doubts, *doubts), "confirms": claim.confirms and not doubts}
    if supporting:
        update["reason"] = f"{claim.reason}; supported by {', '.join(supporting)}"
    return evolve(claim, **update)


def _explicit(case: Case) -> Claim | None:
    """Return the claim of an `EXIT_SIGNAL: true`; none if the same block says BLOCKED, which only wants to stop."""
    if _status_word(case) == "BLOCKED":
        return None
    against = dict(_contradictions(case.output.text, case.analysis))
    return Claim(
        reason="EXIT_SIGNAL: true",
        doubts=(*_doubts(case), *against),
        confirms=all(against.values()) or not case.moved,
        evidence=evidence_of(case, "exit_signal"),
    )


def _by_words(case: Case) -> Claim | None:
    completion = case.analysis.completion
    if not completion.detected or completion.confidence < STRENGTH or (case.plan is not None and case.plan.still_open):
        return None
    doubts = list(_doubts(case))
    seconded = bool(case.analysis.opinions("supports"))
    partly = (case.worked or case.busy) and not seconded and not _speaks_of_the_whole(case)
    if not seconded and case.changed is None and case.output.tool_calls and case.analysis.standstill != "done":
        doubts.append("only the reply says so, and the changes of this turn are unknown")
    elif partly and not case.task:
        doubts.append("the whole task is unknown, and this turn may have done a part of it")
    if isinstance(case.analysis.status, StatusMalformed):
        doubts.append(f"the status block could not be read: {case.analysis.status.problem}")
    reason = f"the reply says so: {', '.join(completion.keywords)}"
    return Claim(
        reason=reason,
        doubts=tuple(doubts),
        confirms=not partly,
        by_words=_status_word(case) not in _COMPLETE,
        evidence=evidence_of(case, "completion"),
    )


def too_little(case: Case) -> str:
    """Return why the words of completion are no claim; empty without any, or if more than words decides."""
    said, against = case.says_done
    if against:
        return f"the words say done, but: {against}"
    return f"one word says done (“{said}”), which needs a second sign" if said else ""


def _speaks_of_the_whole(case: Case) -> bool:
    """Return whether the words name the whole task as done, and not what may be a part."""
    claims = (piece for piece in case.analysis.evidence if piece.signal == "completion_claim")
    return any(piece.weight >= VERY_HIGH and _WHOLE.search(piece.text) for piece in claims)


def _doubts(case: Case) -> tuple[str, ...]:
    doubts = [f"{_OPEN}{item}" for item in (case.plan.still_open if case.plan else ())]
    if case.changed is False and not (case.plan is not None and case.plan.ticked_during_run):
        doubts.append(NOTHING_CHANGED)
    return tuple(doubts)


def _contradicts(case: Case) -> bool:
    working = _status_word(case) in {"IN_PROGRESS", "BLOCKED"}
    return working or case.analysis.state in {"blocked", "question", "limited", "error"}


def _status_word(case: Case) -> str:
    status = case.analysis.status
    return status.status.strip().upper().replace(" ", "_") if isinstance(status, StatusReport) else ""


def evidence_of(case: Case, *signals: str) -> tuple[Evidence, ...]:
    """Return the evidence of the signals with these beginnings."""
    return tuple(piece for piece in case.analysis.evidence if piece.signal.startswith(signals))


def waiting(doubts: Sequence[str]) -> str:
    """Return why a claim does not count yet, in one line: who blocks it, or what speaks against it."""
    held = [doubt for doubt in doubts if doubt.startswith(_HOLDS)]
    boxes = [doubt.removeprefix(_OPEN) for doubt in doubts if doubt.startswith(_OPEN)]
    others = [doubt for doubt in doubts if not doubt.startswith((_HOLDS, _OPEN))]
    told = [*held, *([open_boxes(boxes)] if boxes else []), *others]
    more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    why = "; ".join(one_line(doubt) for doubt in told[:_TOLD])
    return f"{'does not count' if held else 'waits for its confirmation'}: {why}{more}"


def open_boxes(items: Sequence[str]) -> str:
    """Return the open items of the plan in one line: their number, and the first."""
    counted = "one item of the plan is open" if len(items) == 1 else f"{len(items)} items of the plan are open"
    return f"{counted}{': ' if len(items) == 1 else ', the first: '}{one_line(items[0])}"


def contradictions(text: str, analysis: Analysis) -> Iterator[str]:
    """Yield a sentence for each statement of the reply against being finished."""
    for sentence, _ in _contradictions(text, analysis):
        yield sentence


def _contradictions(text: str, analysis: Analysis) -> Iterator[tuple[str, bool]]:
    """Yield the sentences, each with whether it is only a number, which a repeated claim settles."""
    status = analysis.status
    if isinstance(status, StatusReport):
        yield from _in_block(status.status, {**status.fields, "REASON": status.reason})
    if found := tuple(_in_words(text, analysis)):
        share = any(piece.why == ONLY_A_SHARE for _, piece in found)
        counted = share and all(piece.why == ONLY_A_SHARE or piece.signal == "part_claim" for _, piece in found)
        yield f"the reply says what is left: {found[0][0]}", counted


def _in_block(word: str, fields: Mapping[str, JsonValue]) -> Iterator[tuple[str, bool]]:
    if word.strip().upper().replace(" ", "_") == "IN_PROGRESS":
        yield "the status block says IN_PROGRESS", False
    if str(fields.get("TESTS_STATUS", "")).strip().upper().startswith("FAIL"):
        yield "the status block says that tests fail", False
    for name, value in fields.items():
        said = " ".join(str(value)[:_READ].split())
        named = name in _OF_NEXT
        left = bool(named and _LEFT.search(_NONE_LEFT.sub("", said)))
        if (left or _is_share(name, said)) and not _OPTIONAL.search(said):
            yield f"the status block says what is left: {said if named else f'{name}: {said}'}", not left


def _is_share(name: str, said: str) -> bool:
    """Return whether a field says that a share of the work is done, as the analyzer reads it in a reply."""
    words = {*name.split("_")}
    if words & _OF_REST or not words & (_PROSE | _OF_PROGRESS):
        return False
    read = analyze_text(said if words & _PROSE else f"Progress: {said}")
    return any(piece.why == ONLY_A_SHARE for piece in read.evidence)


def _in_words(text: str, analysis: Analysis) -> Iterator[tuple[str, Evidence]]:
    for piece in analysis.evidence:
        if piece.weight <= AGAINST and piece.signal not in _BLOCK:
            said = " ".join(text[piece.start : piece.end + _BEHIND].split()) or piece.text
            if not _OPTIONAL.search(said):
                yield said, piece

"""The analysis of one reply, and the signals from which everything in it follows, each with its place.

The weight of a signal says what it does to the claim that the task is done: `VERY_HIGH` is enough by itself, two of
`HIGH` or more are enough together, and one of `AGAINST` or less contradicts them all. Weights in between are only
reported.

Four numbers are called confidence, each another one: `Metrics.confidence` is the agent's own certainty (Ralph Runtime
guide), `Analysis.confidence` the weighted sum that the work is complete (Nity Loop), `CompletionSignal.confidence` the
strength of its completion words, `Stuck.confidence` the share of the window that repeats. All are 0–100.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel, Field, JsonValue, NonNegativeInt, TypeAdapter

from ralph.status import Status, StatusMalformed, StatusMissing, StatusReport
from ralph.types.output import Changes, Output
from ralph.types.plan import TaskPlan

if TYPE_CHECKING:
    from ralph.analysis.text import Reading
    from ralph.analysis.vocabulary import Hit, Scope, Vocabulary

PAST_KEPT = 15
"""Earlier iterations that an analysis reads: five for repetition (Nity Loop's window), the others for cycles."""

PAST_TEXT = 20_000
"""Characters of an earlier reply that are kept for comparison."""

CONFIDENCE_WEIGHTS = {"keywords": 0.35, "tests": 0.25, "quality": 0.20, "no_errors": 0.20}
"""The weights of the sum `Analysis.confidence` (Nity Loop): completion words, passing tests, the quality of the output,
and freedom from errors."""

State = Literal["done", "progress", "blocked", "question", "limited", "error", "unknown"]
Standstill = Literal["", "done", "unchanged", "watching", "tests", "waiting", "no-op", "error"]
Source = Literal["plan", "checklist", "percentage", "keyword", "default"]
Level = Literal["below_minimum", "minimum", "good", "excellent"]


class Evidence(BaseModel, frozen=True):
    """One finding and its place.

    Attributes:
        signal: the kind of finding, in snake_case, such as "exit_signal" or "completion_keyword".
        start, end: characters of the text as stored; both 0 if it is not a span of the text.
        text: the text of the span, at most 200 characters.
        weight: how much it counts; negative counts against completion.
        why: one short sentence for the user.
    """

    signal: str
    start: NonNegativeInt = 0
    end: NonNegativeInt = 0
    text: str = ""
    weight: float = 0.0
    why: str = ""


class Metrics(BaseModel, frozen=True):
    """The Ralph Runtime guide's four numbers, and others that follow from them.

    Attributes:
        completion_score: 0–100.
        completion_source: its source: plan, checklist, percentage, keyword or default.
        confidence: 0–100, the agent's own certainty; 50 if it shows none.
        error_count: distinct error patterns, 0–7.
        error_occurrences: how often they occur.
        response_length: in characters, after trimming.
        progress: completion_score less that of the iteration before; None in the first.
        quality_score: 0–100.
        level: the expectation ladder.
    """

    completion_score: int = 50
    completion_source: Source = "default"
    confidence: int = 50
    error_count: int = 0
    error_occurrences: int = 0
    response_length: int = 0
    progress: int | None = None
    quality_score: int = 0
    level: Level = "minimum"


class CompletionSignal(BaseModel, frozen=True):
    """The completion words of a reply, and whether they say that the task is done."""

    detected: bool = False
    keywords: tuple[str, ...] = ()
    test_only: bool = False
    confidence: float = 0.0


class Stuck(BaseModel, frozen=True):
    """The circles in which the loop goes, if any.

    Attributes:
        repeated_patterns: the circles, such as "repeated output", and the normalised errors that repeat.
        error_frequency: how often each normalised error occurred.
        confidence: the share of the last iterations that repeats.
        evidence: for each pattern, what repeats and how often.
    """

    detected: bool = False
    repeated_patterns: tuple[str, ...] = ()
    error_frequency: dict[str, int] = {}
    confidence: float = 0.0
    evidence: tuple[Evidence, ...] = ()


class Coverage(BaseModel, frozen=True):
    """The part that was read of a reply that is long, or full of words with a meaning.

    Attributes:
        closely: characters that every detector has read: all of a reply of up to 80 KB; of a longer one the first 16
            KB, the last 64 KB and the surroundings of strong phrases in between.
        of: characters of the reply.
        left_out: characters of these in which no words were searched, as those before and after them have thousands.
    """

    closely: NonNegativeInt
    of: NonNegativeInt
    left_out: NonNegativeInt = 0


class Opinion(BaseModel, frozen=True):
    """A further analyzer's opinion on completing the run on this reply. It can force nothing.

    Attributes:
        on_completion: it "supports" a claimed completion, "holds_back" any, or has no say.
        reason: why, in a few words, for the agent and the user.
    """

    on_completion: Literal["", "supports", "holds_back"] = ""
    reason: str = Field(default="", max_length=500)


class Further(BaseModel, frozen=True, extra="allow"):
    """The result of a further analyzer: its opinion, and any other findings as JSON."""

    opinion: Opinion = Opinion()


class Analysis(BaseModel, frozen=True):
    """The result of an analyzer for one reply. Other analyzers may return a subclass with further fields.

    Attributes:
        indicators: completion indicators of the go-ralph rule (0–3 tiers) with their points in `points`.
        error_signatures: normalised errors of this reply and of the executor's failure, for the breaker.
        claims_done: the reply's state is "done".
        confidence_parts: the parts of the weighted sum `confidence`, each 0–100.
        question: the question to the user, if `state` is "question" or "blocked".
        retry_after: seconds after which a "limited" agent may be asked again; None if unknown.
        limited_until: the end of the limit, in the reply's words or as a Unix time: "3pm (Europe/Berlin)",
            "1760000000". `reset_time.resets_at` makes a point in time of it; empty if none is named.
        limit: the limit of a "limited" reply: "usage limit", "rate limit", "credit", "overloaded" or "login".
        reports_change: whether the status block counts changed files or completed tasks; None if it does not count.
        standstill: this iteration moved nothing, in the reply's own words: everything was "done" before, all was left
            "unchanged", it is "watching" what still runs, it reports "tests" alone, it is "waiting" for the user's
            word, it calls itself a "no-op", or it is an "error" and nothing else; empty if it says none of that, or
            reports work.
        warnings: for the user, such as sources of completion that disagree.
        opinion: of a further analyzer.
        further: the results of further analyzers, by name.
        read: how much of the reply was read; None if all of it was. Status blocks are found everywhere.
    """

    status: Status = StatusMissing()
    metrics: Metrics = Metrics()
    completion: CompletionSignal = CompletionSignal()
    stuck: Stuck = Stuck()
    state: State = "unknown"
    confidence: float = 0.0
    confidence_parts: dict[str, float] = {}
    work_summary: str = ""
    points: int = 0
    indicators: tuple[str, ...] = ()
    error_signatures: tuple[str, ...] = ()
    question: str = ""
    retry_after: float | None = None
    limited_until: str = ""
    limit: str = ""
    reports_change: bool | None = None
    standstill: Standstill = ""
    warnings: tuple[str, ...] = ()
    opinion: Opinion = Opinion()
    further: dict[str, Further] = {}
    read: Coverage | None = None
    evidence: tuple[Evidence, ...] = ()

    def opinions(self, kind: Literal["supports", "holds_back"]) -> dict[str, str]:
        """Return the further analyzers of an opinion, with their reasons."""
        return {name: said.opinion.reason for name, said in self.further.items() if said.opinion.on_completion == kind}

    @property
    def tells_of_work(self) -> bool:
        """True if the reply reports work of this iteration."""
        return not self.standstill and any(piece.signal == "work" for piece in self.evidence)


class Past(BaseModel, frozen=True):
    """The facts of an earlier iteration that an analysis needs.

    Attributes:
        text: of the reply, at most 20,000 characters.
        denied: tool calls were denied.
        progressed: whether workspace or plan moved; None if unknown.
        reported: whether the agent's own counters report changes; None if it has none.
        standstill: as in `Analysis`.
        worked: the reply reports work.
        busy: its tool calls make it most likely that it has changed something.
    """

    text: str = ""
    error_signatures: tuple[str, ...] = ()
    completion_score: int | None = None
    test_only: bool = False
    denied: bool = False
    state: State = "unknown"
    progressed: bool | None = None
    reported: bool | None = None
    standstill: Standstill = ""
    worked: bool = False
    busy: bool = False

    @classmethod
    def of(
        cls, text: str, analysis: Analysis, *, denied: bool = False, progressed: bool | None = None, busy: bool = False
    ) -> "Past":
        """Keep of an analysis what those of later iterations need."""
        return cls(
            text=text[:PAST_TEXT],
            error_signatures=analysis.error_signatures,
            completion_score=analysis.metrics.completion_score,
            test_only=analysis.completion.test_only,
            denied=denied,
            state=analysis.state,
            progressed=progressed,
            reported=analysis.reports_change,
            standstill=analysis.standstill,
            worked=analysis.tells_of_work,
            busy=busy,
        )

    @property
    def moved(self) -> bool | None:
        """True if anything was changed, as far as known, else by the agent's own count; None if unknown."""
        return self.reported if self.progressed is None else self.progressed


class AnalysisContext(BaseModel, frozen=True):
    """The circumstances of a reply that its analysis needs.

    Attributes:
        past: the earlier iterations, oldest first; the last fifteen count.
        progressed: whether this iteration moved workspace or plan; None if unknown.
        errors: error texts from outside the reply, such as those of the verifiers that refuted the claim before it.
    """

    task: str = ""
    iteration: int = Field(default=1, ge=1)
    max_iterations: int | None = None
    plan: TaskPlan | None = None
    changes: Changes = Changes()
    progressed: bool | None = None
    past: tuple[Past, ...] = ()
    errors: tuple[str, ...] = ()


class Analyzer(Protocol):
    """A source of analyses. It never raises on an agent's text."""

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis: ...


VERY_HIGH, HIGH, AGAINST = 100, 60, -50


class Signal(NamedTuple):
    """One finding of a detector.

    Attributes:
        kind: in snake_case, such as "completion_keyword".
        name: which of its kind, such as the keyword; signals of one kind and name are one signal, found twice.
        start, end: its span in `Reply.reading`; both 0 if it has no place.
        weight: how much it counts for completion (-100 to 100).
        why: one short sentence for the user.
        state: the state of the reply that it supports; None if it supports none.
        amount: the number of what it counts, such as tests.
    """

    kind: str
    name: str = ""
    start: int = 0
    end: int = 0
    weight: float = 0.0
    why: str = ""
    state: State | None = None
    amount: int = 1

    @classmethod
    def at(cls, hit: "Hit", kind: str, weight: float, why: str, *, state: State | None = None) -> "Signal":
        """Return a signal at the place of a word of the vocabulary."""
        name, start, end = hit
        return cls(kind, name, start, end, weight, why, state)


class Signals:
    """The signals of one reply, by kind, in the order in which they were found."""

    def __init__(self, found: Iterable[Signal] = ()) -> None:
        self._kinds: dict[str, list[Signal]] = {}
        self.add(found)

    def add(self, found: Iterable[Signal]) -> None:
        kinds = self._kinds
        for signal in found:
            kind = signal.kind
            if kind in kinds:
                kinds[kind].append(signal)
            else:
                kinds[kind] = [signal]

    def has(self, kinds: AbstractSet[str]) -> bool:
        """Return whether there is a signal of any of the kinds."""
        return not kinds.isdisjoint(self._kinds)

    def of(self, *kinds: str) -> Sequence[Signal]:
        """Return the signals of some kinds."""
        if len(kinds) == 1:
            return self._kinds.get(kinds[0], ())
        return [signal for kind in kinds for signal in self._kinds.get(kind, ())]

    def first(self, kind: str) -> Signal | None:
        """Return the first signal of a kind."""
        found = self._kinds.get(kind)
        return found[0] if found else None

    def all(self) -> list[Signal]:
        """Return every signal."""
        return list(chain.from_iterable(self._kinds.values()))


@dataclass(frozen=True, slots=True)
class Reply:
    """The input of a detector.

    Attributes:
        output: the agent's turn; `output.text` is the whole reply.
        status: as parsed from it.
        context: the task, the plan, the earlier iterations.
        words: the vocabulary that was searched for.
        reading: the text as it is read: `prose` for words, `text` with everything in it.
        scope: the words that were found, and how far each reaches.
        signals: of the detectors before this one.
        kept: results that the built-in detectors share, by class, for them alone. They reflect the signals at the time
            of their first use.
    """

    output: Output
    status: Status
    context: AnalysisContext
    words: "Vocabulary"
    reading: "Reading"
    scope: "Scope"
    signals: Signals
    kept: dict[type, Any] = field(default_factory=dict[type, Any], init=False, repr=False, compare=False)


EVIDENCE_KEPT = 100
"""Pieces of evidence that are kept of one reply: those with the largest weights."""
_EVIDENCE_TEXT = 200
_IN_REPLY = frozenset({"exit_signal", "status_blocked"})
"""Signals with a place in the whole reply, not in the reading."""
_EVIDENCE = TypeAdapter(tuple[Evidence, ...])  # makes many in half the time
_SPAN_OF = itemgetter(Signal._fields.index("start"), Signal._fields.index("end"))


def collect_evidence(reply: Reply) -> tuple[Evidence, ...]:
    """Return the signals as evidence, in the order of the text."""
    found = reply.signals.all()
    if len(found) > EVIDENCE_KEPT:
        found = sorted(found, key=lambda signal: -abs(signal.weight))[:EVIDENCE_KEPT]
    if len(reply.reading.stretches) > 1:
        found = [_placed(signal, reply.reading) for signal in found]
    found.sort(key=_SPAN_OF)
    whole, plain = reply.output.text, reply.output.text.isascii()
    pieces: list[dict[str, object]] = []
    for kind, _, start, end, weight, why, _, _ in found:
        text = whole[start : end if end - start < _EVIDENCE_TEXT else start + _EVIDENCE_TEXT]
        if not (plain or text.isascii()):
            text = text.encode(errors="replace").decode()  # JSON has no lone surrogates
        pieces.append({"signal": kind, "start": start, "end": end, "text": text, "weight": weight, "why": why})
    return _EVIDENCE.validate_python(pieces)


def _placed(signal: Signal, reading: "Reading") -> Signal:
    """Return a signal with its place in the reply, if it has one."""
    if not signal.end or signal.kind in _IN_REPLY:
        return signal
    start, end = reading.place(signal.start, signal.end)
    return signal._replace(start=start, end=end)


_NOT_SHOWN = {"status", "error_signatures", "limit", "reports_change", "standstill", "opinion"}


def to_json(analysis: Analysis) -> dict[str, JsonValue]:
    """Return an analysis as `ralph analyze --json` prints it, without what the decision adds."""
    status = analysis.status
    shown = analysis.model_dump(mode="json", include=Analysis.model_fields.keys() - _NOT_SHOWN)
    return {
        "status": _status(status) if isinstance(status, StatusReport) else None,
        "status_problem": status.problem if isinstance(status, StatusMalformed) else None,
        **shown,
        "evidence": [*shown["evidence"], *shown["stuck"].pop("evidence")],
    }


def _status(status: StatusReport) -> dict[str, JsonValue]:
    dumped = status.model_dump(mode="json")
    return {name: dumped.get(name) for name in ("exit_signal", "reason", "status", "fields")}

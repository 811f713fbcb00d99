"""The analysis of one reply: what was found in it, and where.

Four numbers are called confidence, all from 0 to 100: `Metrics.confidence` is the agent's own certainty (Ralph Runtime
guide), `Analysis.confidence` the weighted sum that the work is complete (Nity Loop), `CompletionSignal.confidence` the
strength of its completion words, `Stuck.confidence` the share of the window that repeats.
"""

from typing import Literal, Protocol

from pydantic import BaseModel, Field, JsonValue, NonNegativeInt

from ralph.status import Status, StatusMalformed, StatusMissing, StatusReport
from ralph.types.changes import Changes
from ralph.types.output import Output
from ralph.types.plan import TaskPlan

__all__ = [
    "CONFIDENCE_WEIGHTS",
    "PAST_KEPT",
    "Analysis",
    "AnalysisContext",
    "Analyzer",
    "CompletionSignal",
    "Coverage",
    "Evidence",
    "Further",
    "Metrics",
    "Opinion",
    "Past",
    "Percent",
    "Standstill",
    "State",
    "Stuck",
    "to_json",
]

PAST_KEPT = 15
"""Iterations that an analysis looks back on: five for what repeats (Nity Loop's window), the others for cycles."""

PAST_TEXT = 20_000
"""Characters of an earlier reply that are kept for comparison."""

CONFIDENCE_WEIGHTS = {"keywords": 0.35, "tests": 0.25, "quality": 0.20, "no_errors": 0.20}
"""What `Analysis.confidence` is the weighted sum of (Nity Loop): completion words, passing tests, the quality of the
output, and freedom from errors."""

Percent = float
State = Literal["done", "progress", "blocked", "question", "limited", "error", "unknown"]
Standstill = Literal["", "done", "unchanged", "watching", "tests"]
Level = Literal["below_minimum", "minimum", "good", "excellent"]


class Evidence(BaseModel, frozen=True):
    """One thing that was found, and where.

    Attributes:
        signal: what kind of thing, in snake_case, such as "exit_signal" or "completion_keyword".
        start, end: characters of the text as stored; both 0 where it is no span of the text.
        text: what stands there, at most 200 characters.
        weight: how much it counts; negative counts against completion.
        why: one short sentence for a person.
    """

    signal: str
    start: NonNegativeInt = 0
    end: NonNegativeInt = 0
    text: str = ""
    weight: float = 0.0
    why: str = ""


class Metrics(BaseModel, frozen=True):
    """The Ralph Runtime guide's four numbers, and what follows from them.

    Attributes:
        completion_score: 0–100.
        completion_source: where that comes from: plan, checklist, percentage, keyword or default.
        confidence: 0–100, the agent's own certainty; 50 where it shows none.
        error_count: distinct error patterns, 0–7.
        error_occurrences: how often they occur.
        response_length: in characters, after trimming.
        progress: completion_score now less that of the iteration before; None in the first.
        quality_score: 0–100.
        level: the expectation ladder.
    """

    completion_score: int = 50
    completion_source: Literal["plan", "checklist", "percentage", "keyword", "default"] = "default"
    confidence: int = 50
    error_count: int = 0
    error_occurrences: int = 0
    response_length: int = 0
    progress: int | None = None
    quality_score: int = 0
    level: Level = "minimum"


class CompletionSignal(BaseModel, frozen=True):
    """Whether the words of the reply say that the task is done."""

    detected: bool = False
    keywords: tuple[str, ...] = ()
    test_only: bool = False
    confidence: Percent = 0.0


class Stuck(BaseModel, frozen=True):
    """Whether the loop goes in circles.

    Attributes:
        repeated_patterns: how, such as "repeated output", and the normalised errors that repeat.
        error_frequency: how often each normalised error was met.
        confidence: the share of the last iterations that repeats.
        evidence: what repeats and how often, for each pattern.
    """

    detected: bool = False
    repeated_patterns: tuple[str, ...] = ()
    error_frequency: dict[str, int] = {}
    confidence: Percent = 0.0
    evidence: tuple[Evidence, ...] = ()


class Coverage(BaseModel, frozen=True):
    """How much of a long reply, or of one that is full of words that mean something, was read.

    Attributes:
        closely: characters that every detector has seen: all of a reply of up to 80 KB, and of a longer one the first
            16 KB, the last 64 KB and the surroundings of strong phrases in between.
        of: characters of the reply.
        left_out: characters of these in which no words were looked for, because those before and behind them hold
            thousands.
    """

    closely: NonNegativeInt
    of: NonNegativeInt
    left_out: NonNegativeInt = 0


class Opinion(BaseModel, frozen=True):
    """What an analyzer beside the first thinks of completing the run on this reply. It can force nothing.

    Attributes:
        on_completion: it "supports" one that is claimed, "holds_back" any, or has no say.
        reason: why, in a few words, for the agent and for people.
    """

    on_completion: Literal["", "supports", "holds_back"] = ""
    reason: str = Field(default="", max_length=500)


class Further(BaseModel, frozen=True, extra="allow"):
    """What an analyzer beside the first made of a reply: its opinion, and whatever else it found, as JSON."""

    opinion: Opinion = Opinion()


class Analysis(BaseModel, frozen=True):
    """What an analyzer makes of one reply. An analyzer of one's own may give a subclass with further fields.

    Attributes:
        indicators: completion indicators of the go-ralph rule (0–3 tiers) with their points in `points`.
        error_signatures: normalised errors of this reply and of the executor's failure, for the breaker.
        claims_done: the reply's state is "done".
        confidence_parts: what `confidence` is the weighted sum of, each 0–100.
        question: the question asked of a person, where `state` is "question" or "blocked".
        retry_after: seconds after which a "limited" agent may be asked again; None where it does not say.
        limited_until: when the limit ends, in the reply's words or as a Unix time: "3pm (Europe/Berlin)", "1760000000".
            `reset_time.resets_at` makes a point in time of it; empty where none is named.
        limit: what a "limited" reply met: "usage limit", "rate limit", "credit", "overloaded" or "login".
        reports_change: whether the status block counts changed files or completed tasks; None where it does not count.
        standstill: that this iteration moved nothing, in the reply's own words: everything was "done" before, all was
            left "unchanged", it is "watching" what still runs, or tells of "tests" alone; empty where it says none of
            that, or tells of work.
        warnings: for a person, such as sources of completion that disagree.
        opinion: of an analyzer beside the first.
        further: what the analyzers beside the first found, by their names.
        read: what was read of the reply; None where that was all of it. Status blocks are found everywhere.
    """

    status: Status = StatusMissing()
    metrics: Metrics = Metrics()
    completion: CompletionSignal = CompletionSignal()
    stuck: Stuck = Stuck()
    state: State = "unknown"
    confidence: Percent = 0.0
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
        """The analyzers beside the first that are of an opinion, with their reasons."""
        return {name: said.opinion.reason for name, said in self.further.items() if said.opinion.on_completion == kind}

    @property
    def tells_of_work(self) -> bool:
        """Whether the reply says of anything that it was done in this iteration."""
        return not self.standstill and any(piece.signal == "work" for piece in self.evidence)


class Past(BaseModel, frozen=True):
    """What the analysis of an iteration needs to know of one before.

    Attributes:
        text: of the reply, at most 20,000 characters of it.
        denied: tool calls were turned down.
        progressed: whether workspace or plan moved; None where that is unknown.
        reported: whether the agent's own counters tell of changes; None where it has none.
        standstill: as in `Analysis`.
        worked: the reply tells of work.
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
        cls,
        text: str,
        analysis: Analysis,
        *,
        denied: bool = False,
        progressed: bool | None = None,
        busy: bool = False,
    ) -> "Past":
        """What the analyses of later iterations need of this one."""
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
        """Whether anything was changed: as far as known, else by the agent's own count."""
        return self.reported if self.progressed is None else self.progressed


class AnalysisContext(BaseModel, frozen=True):
    """What a reply is judged against.

    Attributes:
        past: the iterations before, oldest first; the last fifteen are looked at.
        progressed: whether this iteration moved workspace or plan; None where unknown.
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
    """Anything that makes an `Analysis` of a reply. It never raises on an agent's text."""

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis: ...


def to_json(analysis: Analysis) -> dict[str, JsonValue]:
    """The contract's object without what the decision adds: `should_exit`, `exit_reason`, `decision`."""
    status = analysis.status
    metrics = analysis.metrics.model_dump(mode="json")
    return {
        "status": _status(status) if isinstance(status, StatusReport) else None,
        "status_problem": status.problem if isinstance(status, StatusMalformed) else None,
        "metrics": metrics,
        "completion": analysis.completion.model_dump(mode="json"),
        "stuck": analysis.stuck.model_dump(mode="json", exclude={"evidence"}),
        "state": analysis.state,
        "confidence": analysis.confidence,
        "confidence_parts": dict(analysis.confidence_parts),
        "work_summary": analysis.work_summary,
        "points": analysis.points,
        "indicators": list(analysis.indicators),
        "question": analysis.question,
        "retry_after": analysis.retry_after,
        "limited_until": analysis.limited_until,
        "warnings": list(analysis.warnings),
        "further": {name: said.model_dump(mode="json") for name, said in analysis.further.items()},
        "read": analysis.read.model_dump() if analysis.read else None,
        "evidence": [piece.model_dump(mode="json") for piece in (*analysis.evidence, *analysis.stuck.evidence)],
    }


def _status(status: StatusReport) -> dict[str, JsonValue]:
    dumped = status.model_dump(mode="json")
    return {name: dumped.get(name) for name in ("exit_signal", "reason", "status", "fields")}

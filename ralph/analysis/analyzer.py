"""The built-in analyzer: reads a reply once and hands the reading to one detector after another."""

from collections.abc import Sequence
from typing import NamedTuple

from ralph.analysis.certainty import Certainty, certainty
from ralph.analysis.completion import Claim, claims, completion, evidence, points
from ralph.analysis.expectations import expectation_messages, level, output_quality, quality_score
from ralph.analysis.faults import Faults, faults, normalised, signatures
from ralph.analysis.lexicon import Keyword
from ralph.analysis.progress import WorkDone, checklist, work_done
from ralph.analysis.result import Analysis, AnalysisContext, Completion, Evidence, Metrics, Past, Stuck, bounded
from ralph.analysis.scope import Scope
from ralph.analysis.state import standing
from ralph.analysis.stuck import REPEATS, WINDOW, Pass, stuck
from ralph.analysis.summary import work_summary
from ralph.analysis.testruns import SuiteOutcome, suite_outcome
from ralph.analysis.text import Reading, read
from ralph.analysis.vocabulary import Vocabulary, vocabulary
from ralph.output import Output
from ralph.plan import TaskPlan, parse_plan
from ralph.status import Status, StatusField, StatusMalformed, StatusMissing, StatusReport, parse_status

__all__ = [
    "LANGUAGES",
    "ResponseAnalyzer",
    "analyze_text",
    "calculate_confidence",
    "detect_completion",
    "extract_work_summary",
]

LANGUAGES = ("en", "zh")

_SHOWN = 200


class _Signals(NamedTuple):
    """What the detectors found in one reply."""

    scope: Scope
    claims: tuple[Claim, ...]
    suite: SuiteOutcome
    faults: Faults
    boxes: TaskPlan
    completion: Completion
    certainty: Certainty
    quality: float

    @property
    def tests_pass(self) -> bool:
        """By a run that is shown, or in the agent's words."""
        said = any("test" in claim.keyword.text or "測試" in claim.keyword.text for claim in self.counted)
        return self.suite.passing or (said and not self.suite.failed)

    @property
    def counted(self) -> list[Claim]:
        return [claim for claim in self.claims if not claim.objection]


class ResponseAnalyzer:
    """Finds completion, stuck loops, errors, certainty and quality in a reply, each with its evidence.

    Args:
        keywords: further completion keywords, registered as the built-in ones are.
        languages: whose words are known.
        window: iterations that are searched for repetition.
        repeats: how often something has to repeat.
    """

    def __init__(
        self,
        keywords: Sequence[Keyword] = (),
        languages: Sequence[str] = LANGUAGES,
        *,
        window: int = WINDOW,
        repeats: int = REPEATS,
    ) -> None:
        self._words = vocabulary(tuple(keywords), tuple(languages))
        self._window, self._repeats = window, repeats

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        """The analysis of one reply; the same for the same arguments. It never raises on an agent's text.

        Args:
            status: as parsed from `output.text`; its block is no prose.
        """
        found = _signals(self._words, output.text, status, context.task)
        work = work_done(found.scope, context.plan, found.boxes, found.claims)
        metrics = _metrics(found, work, output.text, context)
        errors = signatures(found.scope.reading, context.errors, output.failure)
        loop = self._loop(output, found.suite, context, errors)
        summary = work_summary(found.scope.reading, found.suite, context.changes)
        state = standing(
            found.scope,
            status,
            output.outcome,
            found.completion,
            open_items=len((context.plan or found.boxes).open),
            worked=bool(output.tool_calls or summary or context.progressed or found.boxes.total),
        )
        score, points_from = points(found.claims)
        return Analysis(
            status=status,
            metrics=metrics,
            completion=found.completion,
            stuck=loop,
            state=state.state,
            confidence=_confidence(found, output.text),
            work_summary=summary,
            points=score,
            indicators=points_from,
            error_signatures=errors,
            question=state.question,
            warnings=_warnings(metrics, work, status),
            evidence=_evidence(found, work, status, output.text),
        )

    def _loop(self, output: Output, suite: SuiteOutcome, context: AnalysisContext, errors: Sequence[str]) -> Stuck:
        """Repetition, over the iterations before and this one; those that only met a rate limit do not count."""
        if output.failure and output.failure.failure == "rate_limited":
            return Stuck()
        outside = [normalised(error) for error in context.errors]
        own = frozenset(errors) - frozenset(outside)
        passes = [Pass.of(past) for past in context.past if past.state != "limited"]
        passes.append(Pass(output.text, own, suite.test_only, context.progressed))
        known = [pattern for pattern in outside if pattern]
        return stuck(passes, known, window=self._window, repeats=self._repeats)


def analyze_text(
    text: str,
    *,
    task: str = "",
    plan: TaskPlan | str | None = None,
    previous: Sequence[str] = (),
    errors: Sequence[str] = (),
    fields: Sequence[StatusField] = (),
    promise: str | None = None,
    iteration: int | None = None,
    max_iterations: int | None = None,
    analyzer: ResponseAnalyzer | None = None,
) -> Analysis:
    """The analysis of a text by itself, its status block included.

    Args:
        plan: the task plan, or its Markdown text.
        previous: earlier replies, oldest first.
        errors: error texts from outside the reply, oldest first; they count as often as they stand there.
        fields, promise: as in `parse_status`.
        iteration: counted from 1; by default it follows from `previous`.
    """
    analyzer = analyzer or ResponseAnalyzer()
    past: tuple[Past, ...] = ()
    for earlier in previous:
        past = (*past, _past(analyzer, earlier, task, past))
    context = AnalysisContext(
        task=task,
        iteration=iteration or len(past) + 1,
        max_iterations=max_iterations,
        plan=parse_plan(plan) if isinstance(plan, str) else plan,
        past=past,
        errors=tuple(errors),
    )
    return analyzer.analyze(Output(text=text), parse_status(text, fields, promise=promise), context)


def _past(analyzer: ResponseAnalyzer, text: str, task: str, past: tuple[Past, ...]) -> Past:
    output = Output(text=text)
    context = AnalysisContext(task=task, iteration=len(past) + 1, past=past)
    return Past.of(output, analyzer.analyze(output, parse_status(text), context), progressed=None)


def detect_completion(response: str, task: str | None = None) -> Completion:
    """Nity Loop's completion signal of a reply; without the task nothing is taken for an echo of it."""
    return _signals(vocabulary((), LANGUAGES), response, parse_status(response), task or "").completion


def extract_work_summary(response: str) -> str:
    """What was done, such as "Modified 3 files, 12 tests passing, 2 errors fixed"; empty where nothing is told."""
    found = _signals(vocabulary((), LANGUAGES), response, parse_status(response))
    return work_summary(found.scope.reading, found.suite)


def calculate_confidence(response: str, context: AnalysisContext | None = None) -> float:
    """Nity Loop's weighted sum of a reply, 0–100: that the work is complete."""
    task = context.task if context else ""
    return _confidence(_signals(vocabulary((), LANGUAGES), response, parse_status(response), task), response)


def _signals(words: Vocabulary, text: str, status: Status, task: str = "") -> _Signals:
    hidden = () if isinstance(status, StatusMissing) else ((status.start, status.end),)
    reading = read(text, hidden)
    scope = Scope(reading, words.find(reading.prose))
    suite = suite_outcome(reading, scope)
    boxes = checklist(reading.unfenced)
    said = claims(scope, words, task)
    done = completion(
        said,
        suite,
        open_items=len(boxes.open),
        said_so=isinstance(status, StatusReport) and status.exit_signal is True,
    )
    return _Signals(
        scope,
        said,
        suite,
        faults(scope),
        boxes,
        done,
        certainty(scope, reported=done.detected),
        output_quality(reading.text),
    )


def _metrics(found: _Signals, work: WorkDone, text: str, context: AnalysisContext) -> Metrics:
    before = context.past[-1].completion_score if context.past else None
    metrics = Metrics(
        completion_score=work.score,
        completion_source=work.source,
        confidence=found.certainty.score,
        error_count=len(found.faults.names),
        error_occurrences=found.faults.occurrences,
        response_length=len(text.strip()),
        progress=None if before is None else work.score - before,
    )
    return metrics.model_copy(
        update={
            "quality_score": quality_score(metrics, found.quality),
            "level": level(metrics, fatal=found.faults.fatal),
        }
    )


def _confidence(found: _Signals, text: str) -> float:
    """Completion words 35 %, tests passing 25 %, output quality 20 %, no errors 20 % (Nity Loop)."""
    clean = max(0, 100 - 25 * len(found.faults.names)) if text.strip() else 0
    whole = (
        0.35 * found.completion.confidence
        + 0.25 * (100 if found.tests_pass else 0)
        + 0.20 * found.quality
        + 0.20 * clean
    )
    return round(whole, 1)


def _warnings(metrics: Metrics, work: WorkDone, status: Status) -> tuple[str, ...]:
    messages = [message for message in expectation_messages(metrics) if message.startswith("⚠")]
    if isinstance(status, StatusMalformed):
        messages.append(f"The status block cannot be read: {status.problem}.")
    return (*work.warnings, *messages)


def _evidence(found: _Signals, work: WorkDone, status: Status, text: str) -> tuple[Evidence, ...]:
    """All evidence, weightiest first where there is too much of it, with its place in the reply as it was given."""
    reading = found.scope.reading
    pieces = [
        *evidence(found.claims),
        *found.certainty.evidence,
        *found.faults.evidence,
        *found.suite.evidence(),
        *work.evidence,
    ]
    return tuple(_placed(piece, reading, text) for piece in (*_status_evidence(status), *bounded(pieces)))


def _placed(piece: Evidence, reading: Reading, text: str) -> Evidence:
    """A piece of evidence with its place in the whole reply; the status block's is known already."""
    if not piece.end:
        return piece
    start, end = piece.start, piece.end
    if piece.signal != "exit_signal":
        start, end = reading.place(start), reading.place(end)
    return piece.model_copy(update={"start": start, "end": end, "text": text[start : min(end, start + _SHOWN)]})


def _status_evidence(status: Status) -> list[Evidence]:
    if isinstance(status, StatusMissing):
        return []
    if isinstance(status, StatusMalformed):
        why, weight = f"A status block was meant, but {status.problem}.", 0
    elif status.exit_signal is None:
        why, weight = "The status block does not say whether the work is done.", 0
    else:
        why = f"The status block says EXIT_SIGNAL: {str(status.exit_signal).lower()}."
        weight = 100 if status.exit_signal else -100
    return [Evidence(signal="exit_signal", start=status.start, end=status.end, weight=weight, why=why)]

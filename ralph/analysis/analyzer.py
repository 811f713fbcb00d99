"""The built-in analyzer reads a reply once, runs the detectors on it, and draws conclusions from their signals.

Further analyzers may run in addition to it: each has an opinion on a completion, and a namespace for its findings. One
may support a completion or block it (`Analysis.opinion`); `ralph.decision.claims` decides what follows from that.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, cast, get_args

from ralph.analysis import REPEATS, WINDOW
from ralph.analysis.detectors import DETECTORS, OF_CLAIMS, Detector
from ralph.analysis.lexicon import LEXICONS, Keyword
from ralph.analysis.metrics import (
    CompletionScore,
    completion_score,
    compute_metrics,
    confidence_parts,
    error_signature,
    error_signatures,
    expectation_messages,
    output_quality,
    overall_confidence,
    reports_change,
)
from ralph.analysis.result import (
    VERY_HIGH,
    Analysis,
    AnalysisContext,
    Analyzer,
    CompletionSignal,
    Coverage,
    Further,
    Metrics,
    Past,
    Reply,
    Signal,
    Signals,
    Standstill,
    State,
    Stuck,
    collect_evidence,
)
from ralph.analysis.state import Chances, find_standstill, indicator_points, judge
from ralph.analysis.stuck import find_repetition, find_stuck
from ralph.analysis.summary import summarize_work
from ralph.analysis.text import read
from ralph.analysis.vocabulary import Scope, vocabulary
from ralph.errors import UsageError, in_words
from ralph.status import Status, StatusField, StatusMalformed, StatusMissing, StatusReport, parse_status
from ralph.system.text import storable
from ralph.types import evolve
from ralph.types.output import Output
from ralph.types.plan import TaskPlan, parse_plan

SIGNALS_KEPT = 500
"""Signals of one detector that are kept of one reply; the others are ignored."""
_NAME_LENGTH, _REASON_LENGTH, _PROBLEMS = 100, 300, 5
"""Bounds on signals of further detectors: characters of a kind or name, and of a reason; problems of one detector."""
_LONGEST = 100_000
"""Characters of JSON that are kept of one further analyzer's results for one reply."""


class ResponseAnalyzer:
    """The built-in analyzer: finds completion, stuck loops, errors, certainty and quality, each with its evidence.

    Args:
        keywords: further completion keywords, used as the built-in ones are.
        languages: codes of the languages to read.
        detectors: further detectors, which run after the built-in ones. The analysis leaves out a detector that raises,
            and a signal of unknown state or with a weight beyond ±100; its warnings say so.
        window: last iterations in which an error pattern that repeats counts.
        repeats: how often something must repeat.
        no_progress: iterations in a row without progress that are a circle, if that is more than `repeats`.

    Raises:
        UsageError: `window`, `repeats` or `no_progress` is less than 1.
    """

    def __init__(
        self,
        keywords: Sequence[Keyword] = (),
        languages: Sequence[str] = tuple(LEXICONS),
        *,
        detectors: Sequence[Detector] = (),
        window: int = WINDOW,
        repeats: int = REPEATS,
        no_progress: int = REPEATS,
    ) -> None:
        self._words = vocabulary(tuple(keywords), tuple(languages))
        self._further = tuple(detectors)
        self._seeking = {"window": window, "repeats": repeats, "no_progress": no_progress}
        for name, number in self._seeking.items():
            if number < 1:
                raise UsageError(
                    f"{name}={number} is not valid: nothing repeats less than once.", "Set it to 1 or more."
                )

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        """Analyze one reply. The same arguments give the same result, and no text of an agent makes it raise.

        Args:
            output: the agent's turn.
            status: as parsed from `output.text`; its block is not read as prose.
            context: the circumstances of the reply.
        """
        reply, failed = self.detect(output, status, context)
        summary = summarize_work(reply)
        state, done = judge(reply, told=bool(summary or context.progressed))
        work = completion_score(reply.signals)
        quality = output_quality(reply.reading.text)
        metrics = compute_metrics(reply, work, quality, reported=done.detected)
        errors = error_signatures(reply.reading, context.errors, output.failure)
        reported = reports_change(status)
        still = find_standstill(reply, state.state, reported=reported)
        parts = confidence_parts(reply, done, quality)
        score, points_from = indicator_points(reply.signals, reply.words)
        return Analysis(
            status=status,
            metrics=metrics,
            completion=done,
            stuck=self._loop(reply, done, state.state, errors, reported=reported, still=still),
            **state._asdict(),
            confidence=overall_confidence(parts),
            confidence_parts=parts,
            work_summary=summary,
            points=score,
            indicators=points_from,
            error_signatures=errors,
            reports_change=reported,
            standstill=still,
            warnings=(*failed, *_warnings(metrics, work, status)),
            read=_coverage(reply),
            evidence=collect_evidence(reply),
            further={},  # pydantic copies a default, which takes a fifth of the time
        )

    def detect(
        self, output: Output, status: Status, context: AnalysisContext | None = None
    ) -> tuple[Reply, tuple[str, ...]]:
        """Return the reply with all signals, and a sentence for each problem with a further detector."""
        hidden = () if isinstance(status, StatusMissing) else ((status.start, status.end),)
        reading = read(output.text, hidden, self._words.prescan)
        scope = Scope(reading, self._words.find(reading.prose))
        signals = Signals()
        reply = Reply(output, status, context or AnalysisContext(), self._words, reading, scope, signals)
        vetoed = isinstance(status, StatusReport) and status.exit_signal is False
        for detector in DETECTORS:
            if not (vetoed and detector in OF_CLAIMS) and (found := detector(reply)):
                signals.add(found)
        if not self._further:
            return reply, ()
        return reply, tuple(problem for detector in self._further for problem in _guarded(detector, reply))

    def _loop(
        self,
        reply: Reply,
        done: CompletionSignal,
        state: State,
        errors: Sequence[str],
        *,
        reported: bool | None,
        still: Standstill,
    ) -> Stuck:
        """Find repetition over this and earlier iterations. Iterations at a limit are compared with each other only."""
        output, context = reply.output, reply.context
        repetition = find_repetition(output.text)
        compared = repetition or context.past or errors or context.errors or self._seeking["repeats"] < 2
        if not compared or (output.failure and output.failure.failure == "rate_limited"):
            return Stuck()
        outside = [pattern for error in context.errors if (pattern := error_signature(error))]
        seen = Past(
            text=output.text,
            error_signatures=tuple(error for error in errors if error not in outside),
            test_only=done.test_only,
            denied=output.denials > 0,
            state=state,
            progressed=context.progressed,
            reported=reported,
            standstill=still,
            worked=not still and reply.signals.first("work") is not None,
            busy=output.busy,
        )
        passes = [past for past in context.past if (past.state == "limited") is (state == "limited")]
        return find_stuck((*passes, seen), outside, repetition=repetition, **self._seeking)


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
    """Analyze a text by itself, its status block included.

    Args:
        text: the reply.
        task: the task; without it no echo of it can be recognized.
        plan: the task plan, or its Markdown text.
        previous: earlier replies, oldest first.
        errors: error texts from outside the reply, oldest first, counted as often as they are given.
        fields: as in `parse_status`.
        promise: as in `parse_status`.
        iteration: counted from 1; by default it follows from `previous`.
        max_iterations: the limit of the run, if there is one.
        analyzer: by default one with its own defaults.
    """
    analyzer = analyzer or ResponseAnalyzer()
    past: tuple[Past, ...] = ()
    for earlier in previous:
        context = AnalysisContext(task=task, iteration=len(past) + 1, past=past)
        past = (*past, Past.of(earlier, analyzer.analyze(Output(text=earlier), parse_status(earlier), context)))
    context = AnalysisContext(
        task=task,
        iteration=iteration or len(past) + 1,
        max_iterations=max_iterations,
        plan=parse_plan(plan) if isinstance(plan, str) else plan,
        past=past,
        errors=tuple(errors),
    )
    return analyzer.analyze(Output(text=text), parse_status(text, fields, promise=promise), context)


def detect_completion(response: str, task: str | None = None) -> CompletionSignal:
    """Return Nity Loop's completion signal of a reply; only with the task can an echo of it be recognized."""
    return analyze_text(response, task=task or "").completion


def extract_work_summary(response: str) -> str:
    """Return the work done, such as "Modified 3 files, 12 tests passing, 2 errors fixed"; empty if none is reported."""
    return analyze_text(response).work_summary


def calculate_confidence(response: str, context: AnalysisContext | None = None) -> float:
    """Return Nity Loop's confidence that the work is complete, a weighted sum of 0–100."""
    return analyze_text(response, task=context.task if context else "").confidence


def _guarded(detector: Detector, reply: Reply) -> Iterator[str]:
    """Add the signals of a further detector; yield a sentence for each problem."""
    try:
        kept, odd = _valid(detector(reply), len(reply.reading.text))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come from foreign code
        yield storable(f"The detector {_name_of(detector)} failed: {in_words(error)}"[:_REASON_LENGTH])
        return
    reply.signals.add(kept)
    if any(signal.state for signal in kept):
        reply.kept.pop(Chances, None)  # what a further detector says of the state is no mere vote
    for what in odd:
        yield f"The detector {_name_of(detector)} gave a signal with {what}, which is left out."


def _name_of(detector: Detector) -> str:
    return storable(str(getattr(detector, "__name__", type(detector).__name__)))[:_NAME_LENGTH]


def _valid(found: Iterable[Signal], length: int) -> tuple[list[Signal], tuple[str, ...]]:
    """Return the valid signals, bounded and within the text; and the distinct problems of the others."""
    kept: list[Signal] = []
    odd: dict[str, None] = {}
    for signal in islice(found, SIGNALS_KEPT):
        if what := _problem_of(signal):
            odd[what] = None
            continue
        end = min(max(0, signal.end), length)
        kept.append(
            signal._replace(
                kind=storable(signal.kind[:_NAME_LENGTH]),
                name=storable(signal.name[:_NAME_LENGTH]),
                start=min(max(0, signal.start), end),
                end=end,
                why=storable(signal.why[:_REASON_LENGTH]),
            )
        )
    return kept, tuple(islice(odd, _PROBLEMS))


def _problem_of(signal: Signal) -> str:
    """Return the problem that makes a signal invalid; empty if none exists."""
    if not abs(signal.weight) <= VERY_HIGH:
        return f"the weight {signal.weight:g}"
    if signal.state is not None and signal.state not in get_args(State):
        return f"the unknown state {str(signal.state)[:_NAME_LENGTH]!a}"
    return ""


def _coverage(reply: Reply) -> Coverage | None:
    """Return how much was read; None if that was everything."""
    reading, left_out = reply.reading, reply.scope.hits.left_out
    if len(reading.stretches) == 1 and not left_out:
        return None
    return Coverage(closely=reading.closely, of=len(reply.output.text), left_out=left_out)


def _warnings(metrics: Metrics, work: CompletionScore, status: Status) -> tuple[str, ...]:
    messages: list[str] = []
    if metrics.progress is not None:
        messages += [message for message in expectation_messages(metrics) if message.startswith("⚠")]
    if isinstance(status, StatusMalformed):
        messages.append(f"The status block cannot be read: {status.problem}.")
    return (*work.warnings, *messages)


class SeveralAnalyzers:
    """An analyzer that also asks others.

    The first one's conclusions stay as they are. A further one that raises, returns no `Analysis`, or finds too much
    has no say in that reply, and a warning reports it.

    Args:
        first: makes the analysis.
        further: the others by name.
    """

    def __init__(self, first: Analyzer, further: Mapping[str, Analyzer]) -> None:
        self._first, self._further = first, dict(further)

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        """Return the first analyzer's analysis, with the results of the others in `further`."""
        analysis = self._first.analyze(output, status, context)
        found: dict[str, Further] = {}
        warnings: list[str] = []
        for name, analyzer in self._further.items():
            try:
                found[name] = _kept(analyzer.analyze(output, status, context))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come from foreign code
                warnings.append(f"The analyzer {name} failed: {storable(in_words(error)[:_REASON_LENGTH])}.")
        return evolve(analysis, further=found, warnings=(*analysis.warnings, *warnings))


def _kept(said: object) -> Further:
    """Return an analyzer's result as far as it differs from an empty analysis.

    Raises:
        TypeError: it is not an `Analysis`.
        ValueError: it is too long.
    """
    if not isinstance(said, Analysis):
        raise TypeError(f"it gave an object of type {type(said).__name__}, not an Analysis")
    found = _storable(said.model_dump(mode="json", exclude_defaults=True))
    if len(json.dumps(found, allow_nan=False)) > _LONGEST:
        raise ValueError(f"its results are longer than {_LONGEST:,} characters")
    return Further.model_validate(found)


def _storable(value: Any) -> Any:
    """Return a JSON value without characters that no store can hold."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(name): _storable(each) for name, each in cast("dict[str, Any]", value).items()}
        case list():
            return [_storable(each) for each in cast("list[Any]", value)]
        case _:
            return value

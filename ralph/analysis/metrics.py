"""The numbers of a reply, from its signals: the Ralph Runtime guide's four with what follows from them, and Nity
Loop's weighted sum.
"""

from collections.abc import Mapping, Sequence

from ralph.analysis.detectors.questions import HIGH, LOW, STEP
from ralph.analysis.expectations import level, quality_score
from ralph.analysis.progress import WorkDone
from ralph.analysis.result import CONFIDENCE_WEIGHTS, AnalysisContext, CompletionSignal, Metrics
from ralph.analysis.signals import Reply, Signal, Signals

__all__ = ["certainty", "confidence_parts", "measured", "overall_confidence"]

NEUTRAL = 50


def measured(reply: Reply, work: WorkDone, quality: float, *, reported: bool) -> Metrics:
    """The four numbers, the progress, the quality and the step of the ladder.

    Args:
        quality: of the output, 0–100.
        reported: the reply reports completion.
    """
    signals = reply.signals
    errors, fatal = signals.of("error"), signals.of("fatal_error")
    sure, distinct = certainty(signals, reported=reported), _distinct(errors, fatal)
    length = len(reply.output.text.strip())
    before = _score_before(reply.context)
    progress = None if before is None else work.score - before
    return Metrics(
        completion_score=work.score,
        completion_source=work.source,
        confidence=sure,
        error_count=distinct,
        error_occurrences=len(errors) + len(fatal),
        response_length=length,
        progress=progress,
        quality_score=quality_score(work.score, sure, distinct, quality),
        level=level(sure, distinct, length=length, progress=progress, fatal=bool(fatal)),
    )


def certainty(signals: Signals, *, reported: bool = False) -> int:
    """The agent's own certainty, 0–100.

    The level of the cue, or 50; then 10 up or down for each certain or hedging word. Hedges do not lower a level that
    is low already. A report of completion without a hedge is a cue of its own.
    """
    cue, hedges = signals.first("certainty_cue"), signals.of("hedge")
    start = cue.amount if cue else HIGH if reported and not hedges else NEUTRAL
    score = start + STEP * len(signals.of("certainty"))
    if not cue or start != LOW:
        score -= STEP * len(hedges)
    return min(100, max(0, score))


def confidence_parts(reply: Reply, completion: CompletionSignal, quality: float) -> dict[str, float]:
    """What the overall confidence is made of, each 0–100, by the names in `CONFIDENCE_WEIGHTS`.

    Args:
        quality: of the output, 0–100.
    """
    return {
        "keywords": completion.confidence,
        "tests": 100.0 if _tests_pass(reply.signals) else 0.0,
        "quality": quality,
        "no_errors": _freedom_from_errors(reply),
    }


def overall_confidence(parts: Mapping[str, float]) -> float:
    """The weighted sum of the parts, 0–100."""
    whole = 0.0
    for name, value in parts.items():  # `sum` loses less from Python 3.12 on: not the same number on every version
        whole += CONFIDENCE_WEIGHTS[name] * value
    return round(whole, 1)


def _freedom_from_errors(reply: Reply) -> float:
    text, signals = reply.reading.text, reply.signals
    if not text or text.isspace():
        return 0.0
    return max(0.0, 100.0 - 25 * _distinct(signals.of("error"), signals.of("fatal_error")))


def _distinct(errors: Sequence[Signal], fatal: Sequence[Signal]) -> int:
    """How many distinct error patterns there are, of seven; a fatal error alone is one."""
    return len({signal.name for signal in errors}) if errors else min(len(fatal), 1)


def _tests_pass(signals: Signals) -> bool:
    """By a run that is shown, or in the agent's words."""
    if run := signals.first("test_run"):
        return run.weight > 0
    found = signals.of("completion_keyword")
    return bool(found) and any("test" in signal.name or "測試" in signal.name for signal in found)


def _score_before(context: AnalysisContext) -> int | None:
    return context.past[-1].completion_score if context.past else None

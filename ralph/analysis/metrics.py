"""The numbers of a reply, from its signals: the Ralph Runtime guide's four with what follows from them, and Nity
Loop's weighted sum.
"""

from ralph.analysis.detectors.certainty import HIGH, LOW, STEP
from ralph.analysis.expectations import level, output_quality, quality_score
from ralph.analysis.progress import WorkDone
from ralph.analysis.result import AnalysisContext, Completion, Metrics
from ralph.analysis.signals import Reply, Signals

__all__ = ["certainty", "measured", "overall_confidence"]

NEUTRAL = 50


def measured(reply: Reply, work: WorkDone, *, reported: bool) -> Metrics:
    """The four numbers, the progress, the quality and the step of the ladder.

    Args:
        reported: the reply reports completion.
    """
    context, signals = reply.context, reply.signals
    before = _score_before(context)
    metrics = Metrics(
        completion_score=work.score,
        completion_source=work.source,
        confidence=certainty(signals, reported=reported),
        error_count=len(_patterns(signals)),
        error_occurrences=len(signals.of("error", "fatal_error")),
        response_length=len(reply.output.text.strip()),
        progress=None if before is None else work.score - before,
    )
    quality = quality_score(metrics, output_quality(reply.reading.text))
    step = level(metrics, fatal=signals.first("fatal_error") is not None)
    return metrics.model_copy(update={"quality_score": quality, "level": step})


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


def overall_confidence(reply: Reply, completion: Completion) -> float:
    """Completion words 35 %, tests passing 25 %, output quality 20 %, no errors 20 % (Nity Loop)."""
    text = reply.reading.text
    clean = max(0, 100 - 25 * len(_patterns(reply.signals))) if text.strip() else 0
    tests = 100 if _tests_pass(reply.signals) else 0
    whole = 0.35 * completion.confidence + 0.25 * tests + 0.20 * output_quality(text) + 0.20 * clean
    return round(whole, 1)


def _patterns(signals: Signals) -> set[str]:
    """The distinct error patterns, of seven; a fatal error alone is one."""
    return {signal.name for signal in signals.of("error")} or {"error" for _ in signals.of("fatal_error")}


def _tests_pass(signals: Signals) -> bool:
    """By a run that is shown, or in the agent's words."""
    if run := signals.first("test_run"):
        return run.weight > 0
    return any("test" in signal.name or "測試" in signal.name for signal in signals.of("completion_keyword"))


def _score_before(context: AnalysisContext) -> int | None:
    return context.past[-1].completion_score if context.past else None

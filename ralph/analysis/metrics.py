"""The numbers of a reply, from its signals: the Ralph Runtime guide's four with what follows from them, and Nity
Loop's weighted sum.
"""

from collections.abc import Mapping
from typing import Any

from ralph.analysis.detectors.certainty import HIGH, LOW, STEP
from ralph.analysis.expectations import level, output_quality, quality_score
from ralph.analysis.progress import WorkDone
from ralph.analysis.result import CONFIDENCE_WEIGHTS, AnalysisContext, Completion, Metrics
from ralph.analysis.signals import Reply, Signals

__all__ = ["certainty", "confidence_parts", "measured", "overall_confidence"]

NEUTRAL = 50


def measured(reply: Reply, work: WorkDone, *, reported: bool) -> Metrics:
    """The four numbers, the progress, the quality and the step of the ladder.

    Args:
        reported: the reply reports completion.
    """
    context, signals = reply.context, reply.signals
    before = _score_before(context)
    numbers: dict[str, Any] = {
        "completion_score": work.score,
        "completion_source": work.source,
        "confidence": certainty(signals, reported=reported),
        "error_count": len(_patterns(signals)),
        "error_occurrences": len(signals.of("error", "fatal_error")),
        "response_length": len(reply.output.text.strip()),
        "progress": None if before is None else work.score - before,
    }
    metrics = Metrics(**numbers)
    quality = quality_score(metrics, output_quality(reply.reading.text))
    step = level(metrics, fatal=signals.first("fatal_error") is not None)
    return Metrics(**numbers, quality_score=quality, level=step)  # a quarter of what a copy with changes takes


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


def confidence_parts(reply: Reply, completion: Completion) -> dict[str, float]:
    """What the overall confidence is made of, each 0–100, by the names in `CONFIDENCE_WEIGHTS`."""
    text = reply.reading.text
    return {
        "keywords": completion.confidence,
        "tests": 100.0 if _tests_pass(reply.signals) else 0.0,
        "quality": output_quality(text),
        "no_errors": max(0.0, 100.0 - 25 * len(_patterns(reply.signals))) if text.strip() else 0.0,
    }


def overall_confidence(parts: Mapping[str, float]) -> float:
    """The weighted sum of the parts, 0–100."""
    return round(sum(CONFIDENCE_WEIGHTS[name] * value for name, value in parts.items()), 1)


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

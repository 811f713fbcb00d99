"""An analysis as JSON, in the form that `ralph analyze --json` prints."""

from pydantic import JsonValue

from ralph.analysis.result import Analysis
from ralph.status import StatusMalformed, StatusReport

__all__ = ["to_json"]


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

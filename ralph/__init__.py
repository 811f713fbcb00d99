"""Ralph runs a coding agent in a loop, and decides, with evidence, when the work is done.

The names below are the public interface; each is imported when it is first used, so that `import ralph` costs
next to nothing. The sub-packages `ralph.executors`, `ralph.workspace`, `ralph.store`, `ralph.verifiers`,
`ralph.plugins` and `ralph.testing` export the parts.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.analysis import Analysis, Keyword, ResponseAnalyzer
    from ralph.decision.breaker import BreakerSettings, CircuitBreaker
    from ralph.decision.limits import Limits, Price
    from ralph.decision.outcomes import Complete, Continue, Decision, Halt, Pause
    from ralph.errors import RalphError
    from ralph.executors.base import Executor, Turn
    from ralph.hooks import Hooks, Veto
    from ralph.loop.runner import Runner
    from ralph.prompt import Prompt
    from ralph.records.record import IterationRecord, RunRecord
    from ralph.status import StatusField, parse_status
    from ralph.types.output import Answered, Completed, Failed, Output, TimedOut, Usage

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "Answered",
    "BreakerSettings",
    "CircuitBreaker",
    "Complete",
    "Completed",
    "Continue",
    "Decision",
    "Executor",
    "Failed",
    "Halt",
    "Hooks",
    "IterationRecord",
    "Keyword",
    "Limits",
    "Output",
    "Pause",
    "Price",
    "Prompt",
    "RalphError",
    "ResponseAnalyzer",
    "RunRecord",
    "Runner",
    "StatusField",
    "TimedOut",
    "Turn",
    "Usage",
    "Veto",
    "parse_status",
]

__getattr__, __dir__ = lazy_exports(__name__)

"""Ralph runs a coding agent in a loop, and decides, with evidence, when the work is done.

The names below are the public interface; each is imported when it is first used, so that `import ralph` costs
next to nothing. The sub-packages `ralph.executors`, `ralph.workspace`, `ralph.store`, `ralph.verifiers`,
`ralph.plugins` and `ralph.testing` export the parts.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ralph.analysis import Analysis, Keyword, ResponseAnalyzer
    from ralph.breaker import BreakerSettings, CircuitBreaker
    from ralph.decision import Complete, Continue, Decision, Halt, Pause
    from ralph.errors import RalphError
    from ralph.executors.base import Executor, Turn
    from ralph.hooks import Hooks, Veto
    from ralph.limits import Limits, Price
    from ralph.output import Completed, Failed, Output, TimedOut, Usage
    from ralph.prompt import Prompt
    from ralph.record import IterationRecord, RunRecord
    from ralph.runner import Runner
    from ralph.status import StatusField, parse_status

__version__ = "0.1.0"

__all__ = [
    "Analysis",
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

_HOMES = {
    "ralph.analysis": ("Analysis", "Keyword", "ResponseAnalyzer"),
    "ralph.breaker": ("BreakerSettings", "CircuitBreaker"),
    "ralph.decision": ("Complete", "Continue", "Decision", "Halt", "Pause"),
    "ralph.errors": ("RalphError",),
    "ralph.executors.base": ("Executor", "Turn"),
    "ralph.hooks": ("Hooks", "Veto"),
    "ralph.limits": ("Limits", "Price"),
    "ralph.output": ("Completed", "Failed", "Output", "TimedOut", "Usage"),
    "ralph.prompt": ("Prompt",),
    "ralph.record": ("IterationRecord", "RunRecord"),
    "ralph.runner": ("Runner",),
    "ralph.status": ("StatusField", "parse_status"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'ralph' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Ralph runs a coding agent in a loop, and decides, with evidence, when the work is done.

The names below are the public interface; each is imported when it is first used, so that `import ralph` costs
next to nothing. The sub-packages `ralph.executors`, `ralph.workspace`, `ralph.store`, `ralph.verifiers`,
`ralph.plugins` and `ralph.testing` export the parts.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.analysis import Analysis as Analysis
    from ralph.analysis import Keyword as Keyword
    from ralph.analysis import ResponseAnalyzer as ResponseAnalyzer
    from ralph.decision.breaker import BreakerSettings as BreakerSettings
    from ralph.decision.breaker import CircuitBreaker as CircuitBreaker
    from ralph.decision.limits import Limits as Limits
    from ralph.decision.limits import Price as Price
    from ralph.decision.outcomes import Complete as Complete
    from ralph.decision.outcomes import Continue as Continue
    from ralph.decision.outcomes import Decision as Decision
    from ralph.decision.outcomes import Halt as Halt
    from ralph.decision.outcomes import Pause as Pause
    from ralph.errors import RalphError as RalphError
    from ralph.executors.base import Executor as Executor
    from ralph.executors.base import Turn as Turn
    from ralph.hooks import Hooks as Hooks
    from ralph.hooks import Veto as Veto
    from ralph.loop.runner import Runner as Runner
    from ralph.prompt import Prompt as Prompt
    from ralph.records.record import IterationRecord as IterationRecord
    from ralph.records.record import RunRecord as RunRecord
    from ralph.status import StatusField as StatusField
    from ralph.status import parse_status as parse_status
    from ralph.types.output import Answered as Answered
    from ralph.types.output import Completed as Completed
    from ralph.types.output import Failed as Failed
    from ralph.types.output import Output as Output
    from ralph.types.output import TimedOut as TimedOut
    from ralph.types.output import Usage as Usage

__version__ = "0.1.0"

__getattr__, __dir__ = lazy_exports(__name__)

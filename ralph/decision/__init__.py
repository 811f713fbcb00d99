"""The decision after an iteration: breaker, limits, claims of completion and the ordered table of rules."""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.decision.breaker import BreakerSettings, BreakerState, CircuitBreaker
    from ralph.decision.claims import Case, Claim, Strategy
    from ralph.decision.limits import Limits, Price, Spent
    from ralph.decision.outcomes import Complete, Continue, Decision, DecisionSettings, Halt, Pause
    from ralph.decision.rules import Situation, decide

__all__ = [
    "BreakerSettings",
    "BreakerState",
    "Case",
    "CircuitBreaker",
    "Claim",
    "Complete",
    "Continue",
    "Decision",
    "DecisionSettings",
    "Halt",
    "Limits",
    "Pause",
    "Price",
    "Situation",
    "Spent",
    "Strategy",
    "decide",
]

__getattr__, __dir__ = lazy_exports(__name__)

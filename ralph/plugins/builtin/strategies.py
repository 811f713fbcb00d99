"""The built-in exit strategies."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ralph.plugins.markers import hookimpl

if TYPE_CHECKING:
    from ralph.decision.claims import Strategy

__all__ = ["ralph_strategies"]


@hookimpl
def ralph_strategies() -> "Iterable[Strategy]":
    from ralph.decision.claims import STRATEGIES

    return STRATEGIES.values()

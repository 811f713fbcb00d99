"""In what a statement goes against a claim that it is like."""

from ralph_grounding.result import Conflict

__all__ = ["find_conflicts"]


def find_conflicts(claim: str, statement: str, start: int = 0) -> tuple[Conflict, ...]:
    return ()

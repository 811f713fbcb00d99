"""Questions and their expected answers: from a file, or made by rules from the ground truth.

Each name is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph_grounding.queries.given import read_queries, with_claims
    from ralph_grounding.queries.making import make_queries

__all__ = ["make_queries", "read_queries", "with_claims"]

_HOMES = {"make_queries": "making", "read_queries": "given", "with_claims": "given"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

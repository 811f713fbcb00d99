"""Ground truth: the pages that answers are held against, and where they come from.

Each name is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph_grounding.ground_truth.agent_claims import with_agent_claims
    from ralph_grounding.ground_truth.chunks import page_of_text
    from ralph_grounding.ground_truth.files import read_text
    from ralph_grounding.ground_truth.given_claims import read_claims, read_claims_by_query
    from ralph_grounding.ground_truth.limits import ReadingLimits
    from ralph_grounding.ground_truth.pages import Chunk, Entity, GroundTruth, Page, SourceClaim
    from ralph_grounding.ground_truth.reading import read_ground_truth

__all__ = [
    "Chunk",
    "Entity",
    "GroundTruth",
    "Page",
    "ReadingLimits",
    "SourceClaim",
    "page_of_text",
    "read_claims",
    "read_claims_by_query",
    "read_ground_truth",
    "read_text",
    "with_agent_claims",
]

_HOMES = {
    "ReadingLimits": "limits",
    "page_of_text": "chunks",
    "read_claims": "given_claims",
    "read_claims_by_query": "given_claims",
    "read_ground_truth": "reading",
    "read_text": "files",
    "with_agent_claims": "agent_claims",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'pages')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

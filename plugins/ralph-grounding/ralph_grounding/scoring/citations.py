"""The sources that a provider lists beside its answer."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ralph.types import evolve
from ralph_grounding.result import AttributionResult, TextPosition

__all__ = ["cited", "separated", "with_citations"]

_MOST, _LONGEST = 100, 2_000
_KEYS = ("url", "uri", "link", "href", "source")
_BESIDE = "cited beside the answer"


def cited(citations: Sequence[Any], metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the addresses among the citations: the given ones, else those in the metadata; at most 100."""
    listed = list(citations) or metadata.get("citations") or ()
    if not isinstance(listed, list | tuple):
        return ()
    found = (_address(each) for each in cast("Sequence[Any]", listed)[:_MOST])
    return tuple(dict.fromkeys(" ".join(each.split())[:_LONGEST] for each in found if each.strip()))


def _address(citation: object) -> str:
    if isinstance(citation, Mapping):
        named = cast("Mapping[str, object]", citation)
        citation = next((named[key] for key in _KEYS if isinstance(named.get(key), str)), "")
    return citation if isinstance(citation, str) else ""


def with_citations(text: str, addresses: Sequence[str]) -> str:
    """Return the answer with its citations below it, to look for the source in both."""
    return "\n".join([text, "", *addresses]) if addresses else text


def separated(found: AttributionResult, length: int) -> AttributionResult:
    """Return the result for the answer alone: a mention beyond its length is one beside it, at its end."""
    end = TextPosition(start=length, end=length)
    mentions = (
        evolve(one, position=end, context=_BESIDE) if one.position.start >= length else one for one in found.mentions
    )
    return evolve(found, mentions=tuple(mentions))

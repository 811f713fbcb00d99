"""The sentences of documents that contradict a claim or the ground truth."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ralph_grounding.materials import ExpectedClaim
from ralph_grounding.result import AnalysisResult
from ralph_grounding.similarity.claim import prepare_claims
from ralph_grounding.similarity.verdicts import Verdicts
from ralph_grounding.text.language import guess_language

__all__ = ["Finding", "contradictions", "excess"]

_STRETCH = 100_000
_FOR_LANGUAGE = 2_000
_MOST = 20
_LONG = 300


class Finding(NamedTuple):
    """A statement that contradicts a fact, at its position in the text."""

    start: int
    statement: str
    fact: str


def contradictions(text: str, claims: Sequence[ExpectedClaim], result: AnalysisResult) -> list[Finding]:
    """List all statements that contradict a claim or the ground truth, in order; each sentence once.

    A claim that another sentence makes does not excuse them.
    """
    found = {
        one.position.start: Finding(one.position.start, one.statement, one.claim)
        for one in result.feedback.claims.contradicts
    }
    for finding in _against(text, claims):
        if not any(start <= finding.start < start + len(one.statement) for start, one in found.items()):
            found[finding.start] = finding
    return [found[start] for start in sorted(found)]


def _against(text: str, claims: Sequence[ExpectedClaim]) -> Iterator[Finding]:
    said = [claim.statement for claim in claims]
    if not said:
        return
    language = guess_language(f"{text[:_FOR_LANGUAGE]} {' '.join(said)[:_FOR_LANGUAGE]}")
    prepared = prepare_claims(said, language)
    for first in range(0, len(text), _STRETCH):
        stretch = text[first : first + _STRETCH]
        verdicts = Verdicts(stretch, language)
        for claim in prepared:
            for ruling in verdicts.against(claim):
                yield Finding(first + ruling.span.start, stretch[ruling.span.start : ruling.span.end], claim.text)


def excess(
    found: Sequence[Finding], result: AnalysisResult, most: int, unsupported: int | None, place: Callable[[int], str]
) -> list[str]:
    """Describe the contradictions and the unsupported statements if there are more than accepted."""
    said: list[str] = []
    if len(found) > most:
        said.append(_counted(len(found), "contradicts the facts", "contradict the facts", most))
        said += [
            f"contradicted: {_short(one.fact)} ({place(one.start)} says: {_short(one.statement)})"
            for one in found[:_MOST]
        ]
    unknown = result.feedback.claims.not_in_ground_truth
    if unsupported is not None and len(unknown) > unsupported:
        said.append(_counted(len(unknown), "is not in the ground truth", "are not in the ground truth", unsupported))
        said += [f"unsupported: {_short(one.text)} ({place(one.position.start)})" for one in unknown[:_MOST]]
    return said


def _counted(count: int, one: str, several: str, most: int) -> str:
    return f"{count} {'statement ' + one if count == 1 else 'statements ' + several}, but at most {most} may"


def _short(text: str) -> str:
    return " ".join(text.split())[:_LONG]

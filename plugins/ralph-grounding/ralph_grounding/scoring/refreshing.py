"""Expected claims that were made from ground truth, brought in line with what it says now."""

from collections.abc import Sequence
from typing import NamedTuple

from ralph.types import evolve
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import ExpectedClaim, Query
from ralph_grounding.similarity.claim import prepare_claims
from ralph_grounding.similarity.verdicts import Verdicts
from ralph_grounding.text.language import guess_language

__all__ = ["Change", "refreshed"]

_FOR_LANGUAGE = 2_000


class Change(NamedTuple):
    """A claim that the ground truth no longer makes. `now` is what it says instead; empty if it says nothing."""

    query_id: str
    before: str
    now: str


def refreshed(queries: Sequence[Query], ground: GroundTruth) -> tuple[list[Query], list[Change]]:
    """Return the queries with the claims that the ground truth makes now, and what changed.

    A claim that it contradicts is replaced by its sentence, also in the expected text; one that it does not mention is
    dropped. Claims that the user gave stay as they are.
    """
    texts = [chunk.text for chunk, _ in ground.chunks]
    language = guess_language(" ".join(texts)[:_FOR_LANGUAGE])
    passages = [(Verdicts(text, language), text) for text in texts]
    found: list[Query] = []
    changes: list[Change] = []
    for query in queries:
        claims: list[ExpectedClaim] = []
        text = query.expected.text
        for claim in query.expected.claims or ():
            now = _now(claim.statement, passages, language) if claim.source_claim_id and texts else claim.statement
            if now != claim.statement:
                changes.append(Change(query.id, claim.statement, now))
                text = text.replace(claim.statement, now) if now else text
            if now:
                claims.append(evolve(claim, statement=now))
        expected = evolve(query.expected, text=text, claims=None if query.expected.claims is None else tuple(claims))
        found.append(evolve(query, expected=expected))
    return found, changes


def _now(claim: str, passages: Sequence[tuple[Verdicts, str]], language: str) -> str:
    """Return the claim if a passage makes it, else the sentence that contradicts it most clearly, else nothing."""
    (prepared,) = prepare_claims([claim], language)
    instead, share = "", 0.0
    for verdicts, text in passages:
        if claim in text:
            return claim
        ruling = verdicts.on(prepared)
        if ruling.outcome == "present":
            return claim
        if ruling.outcome == "contradicted" and ruling.share > share:
            instead, share = text[ruling.span.start : ruling.span.end], ruling.share
    return instead

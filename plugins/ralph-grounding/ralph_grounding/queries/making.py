"""Queries made by rules from the ground truth: its FAQs, definitions, headings and products.

The expected answer of each is the passage that it was made from, with the claims of that passage.
"""

from collections.abc import Iterable, Sequence

from ralph.errors import UsageError
from ralph_grounding.errors import NoGroundTruthError
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import ExpectedAnswer, ExpectedClaim, Query, QueryKind
from ralph_grounding.queries.candidates import Candidate, candidates_of, on_topics
from ralph_grounding.queries.wordings import is_near, query_id, stems_of

__all__ = ["VARIATIONS", "make_queries"]

VARIATIONS = 3
_MOST_CLAIMS = 5
_USUAL_PRIORITY = 0.5
_BY_KIND: dict[QueryKind, float] = {
    "transactional": 1.0,
    "comparison": 1.0,
    "informational": 0.7,
    "navigational": 0.4,
}


def make_queries(
    ground_truth: GroundTruth, *, limit: int = 50, topics: Sequence[str] = (), variations: int = VARIATIONS
) -> tuple[Query, ...]:
    """Make the questions that the ground truth answers, the most important first.

    The priority is 0.4 × the page's in its sitemap (by default 0.5) + 0.2 × that of the kind (transactional and
    comparison 1, informational 0.7, navigational 0.4) + 0.2 × that of the topic (1 for a requested one, else 1 divided
    by the depth of its heading) + 0.2 for a requested topic. The difficulty is 1 for a comparison, 0.7 with more than
    two expected claims, else 0.4. The same ground truth always makes the same queries with the same ids.

    Args:
        ground_truth: the pages.
        limit: the maximum; of those that share 85 % of their words only the first is taken.
        topics: subjects of the questions. If the ground truth makes no claims, there are no other questions.
        variations: other wordings of each, at most three.

    Raises:
        NoGroundTruthError: there are no pages.
        UsageError: the pages give no questions.
    """
    if not ground_truth.pages:
        raise NoGroundTruthError("There is no ground truth to make queries from.", "Name files, a folder or a site.")
    wanted = on_topics(topics, ground_truth)
    has_claims = any(page.claims for page in ground_truth.pages)
    found = [*wanted, *(candidates_of(ground_truth) if has_claims else ())]
    queries = _distinct(sorted((_query(each, ground_truth, variations) for each in found), key=_rank), limit)
    if not queries:
        raise UsageError(
            f"No query can be made from the {len(ground_truth.pages)} pages: "
            + (
                "no heading or title says what their claims are about."
                if has_claims
                else "they make no claims that rules can find."
            ),
            "Name topics, write the queries down in a file, or let an agent find the claims.",
        )
    return queries


def _rank(query: Query) -> tuple[float, str]:
    return -query.priority, query.id


def _distinct(queries: Iterable[Query], limit: int) -> tuple[Query, ...]:
    kept: list[Query] = []
    stems: list[frozenset[str]] = []
    for query in queries:
        if len(kept) >= limit:
            break
        own = stems_of(query.text)
        if not is_near(own, stems):
            kept.append(query)
            stems.append(own)
    return tuple(kept)


def _query(candidate: Candidate, ground_truth: GroundTruth, variations: int) -> Query:
    claims = tuple(
        ExpectedClaim(statement=claim.statement, source_claim_id=claim.id) for claim in candidate.claims[:_MOST_CLAIMS]
    )
    return Query(
        id=query_id(candidate.wordings[0]),
        text=candidate.wordings[0],
        domain=ground_truth.domain,
        expected=ExpectedAnswer(text=candidate.answer, claims=claims or None),
        variations=candidate.wordings[1 : 1 + max(0, min(variations, VARIATIONS))],
        kind=candidate.kind,
        topic=candidate.topic,
        difficulty=1.0 if candidate.kind == "comparison" else 0.7 if len(claims) > 2 else 0.4,
        priority=_priority(candidate),
        source_urls=tuple(dict.fromkeys(page.url for page in candidate.pages)),
        ground_truth_version=ground_truth.version,
    )


def _priority(candidate: Candidate) -> float:
    listed = [page.metadata.get("priority", _USUAL_PRIORITY) for page in candidate.pages] or [_USUAL_PRIORITY]
    topic = 1.0 if candidate.wanted else 1 / max(1, candidate.depth)
    weighed = 0.4 * max(listed) + 0.2 * _BY_KIND[candidate.kind] + 0.2 * topic + 0.2 * candidate.wanted
    return round(weighed, 4)

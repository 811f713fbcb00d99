"""How well verdicts on hand-made pairs are, by kind: what is supported, contradicted, or neither.

The pairs are in `grounding_pairs.txt`. A third of the cases, chosen by the checksum of their evidence, is kept apart:
they are judged with the argument `sealed` only. Nothing is tuned on them.

Prints one JSON object: of expected claims, and of highlighted statements, the share of right verdicts, precision and
recall of "supported" and of "contradicted", and the right ones of each kind; and of the claims that a judge would be
asked about, their number, and how many of them have a wrong verdict.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import anyio

from ralph_grounding.feedback import give_feedback
from ralph_grounding.ground_truth.chunks import page_of_text
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.judging.doubt import is_doubtful
from ralph_grounding.materials import ExpectedClaim
from ralph_grounding.result import ClaimJudgement, Outcome
from ralph_grounding.scoring.completeness import CompletenessScorer
from ralph_grounding.settings import ProviderSettings
from ralph_grounding.similarity.base import SimilarityProvider
from ralph_grounding.similarity.choose import provider_for
from ralph_grounding.text.sentences import sentences

SUPPORTED, CONTRADICTED, NEITHER = "+-?"
_VERDICTS: dict[Outcome, str] = {"present": SUPPORTED, "contradicted": CONTRADICTED, "absent": NEITHER}


class Pair(NamedTuple):
    """A statement, its evidence, and the verdict that people give: "+" supported, "-" contradicted, "?" neither."""

    kind: str
    question: str
    evidence: str
    statement: str
    label: str


def pairs(*, sealed: bool) -> Iterator[Pair]:
    """Yield the open pairs, or the sealed ones."""
    text = Path(__file__).with_name("grounding_pairs.txt").read_text("utf-8")
    for case in text.split("\n== ")[1:]:
        kind, *lines = case.splitlines()
        question = next((line.removeprefix("Q: ") for line in lines if line.startswith("Q: ")), "")
        evidence = "\n".join(line for line in lines if not line.startswith(("=", "Q: "))).strip()
        if (crc32(evidence.encode()) % 3 == 0) is sealed:
            for line in lines:
                if line.startswith("="):
                    yield Pair(kind, question, evidence, line[3:], line[1])


async def measured(*, sealed: bool) -> dict[str, Any]:
    claims, highlights = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    doubtful = Counter[str]()
    async with provider_for(ProviderSettings()) as provider:
        for pair in pairs(sealed=sealed):
            judged = await claimed(provider, pair)
            verdict = _VERDICTS[judged.outcome]
            claims[pair.kind, pair.label, verdict] += 1
            if is_doubtful(judged, pair.evidence, sentences(pair.evidence), 0.75):
                doubtful.update(asked=1, wrong=int(verdict != pair.label))
            highlights[pair.kind, pair.label, await highlighted(provider, pair)] += 1
    return {"claims": figures(claims), "highlights": figures(highlights), "doubtful": dict(doubtful)}


async def claimed(provider: SimilarityProvider, pair: Pair) -> ClaimJudgement:
    """Judge the statement as a claim that an answer, the evidence, should make."""
    claims = [ExpectedClaim(statement=pair.statement)]
    (judged,) = (await CompletenessScorer(provider).score(pair.evidence, claims, pair.question)).matches
    return judged


async def highlighted(provider: SimilarityProvider, pair: Pair) -> str:
    """Judge the statement as an answer, with the evidence as ground truth."""
    text = f"{pair.question}\n\n{pair.evidence}" if pair.question else pair.evidence
    ground = GroundTruth(pages=(page_of_text(text, url="evidence"),))
    told = await give_feedback(None, pair.statement, ground, provider, 0.75)
    return SUPPORTED if told.highlights.highlights else CONTRADICTED if told.claims.contradicts else NEITHER


def figures(judged: Counter[tuple[str, str, str]]) -> dict[str, Any]:
    total = sum(judged.values())
    right = sum(count for (_, label, got), count in judged.items() if label == got)
    kinds = sorted({kind for kind, _, _ in judged})
    return {
        "pairs": total,
        "three_way": round(right / total, 3),
        "supported": precision_and_recall(judged, SUPPORTED),
        "contradicted": precision_and_recall(judged, CONTRADICTED),
        "by_kind": {
            kind: [
                sum(count for (of, label, got), count in judged.items() if of == kind and label == got),
                sum(count for (of, _, _), count in judged.items() if of == kind),
            ]
            for kind in kinds
        },
    }


def precision_and_recall(judged: Counter[tuple[str, str, str]], verdict: str) -> list[float]:
    right = sum(count for (_, label, got), count in judged.items() if label == got == verdict)
    said = sum(count for (_, _, got), count in judged.items() if got == verdict)
    true = sum(count for (_, label, _), count in judged.items() if label == verdict)
    return [round(right / max(said, 1), 3), round(right / max(true, 1), 3)]


async def main() -> None:
    """Judge all pairs of one part, and print the figures."""
    print(json.dumps(await measured(sealed=sys.argv[1:] == ["sealed"]), indent=2))


if __name__ == "__main__":
    anyio.run(main)

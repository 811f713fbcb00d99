"""Two models' answers to the same question, held against claims: how good each is, and what is wrong in it.

`uv run python examples/score_answers.py`; it needs the plug-in ralph-grounding.
"""

import anyio

import ralph_grounding as rg

CLAIMS = ("The museum opens at nine in the morning.", "A ticket costs 12 euros.")
ANSWERS = {
    "careful": "It opens at nine in the morning, and a ticket costs 12 euros (lantern.example).",
    "careless": "The museum opens at nine in the morning. A ticket costs 15 euros.",
}


async def main() -> dict[str, rg.AnalysisResult]:
    """The analysis of each answer, by its model."""
    ground = rg.GroundTruth(domain="lantern.example")
    expected = rg.ExpectedAnswer(
        text=" ".join(CLAIMS), claims=tuple(rg.ExpectedClaim(statement=claim) for claim in CLAIMS)
    )
    query = rg.Query(id="visit", text="When does the museum open, and what does it cost?", expected=expected)
    async with rg.GroundingAnalyzer() as analyzer:
        return {
            model: await analyzer.analyze(rg.AIResponse(query_id="visit", response=text, model=model), query, ground)
            for model, text in ANSWERS.items()
        }


if __name__ == "__main__":
    for model, result in anyio.run(main).items():
        print(f"{model}: {result.scores.combined:.0f} of 100")
        for wrong in result.feedback.claims.contradicts:
            print(f"  {wrong.statement} (expected: {wrong.claim})")

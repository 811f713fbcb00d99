"""Verdicts sentence by sentence: who does what, amounts in any unit, tables, lists, questions, corrections."""

import pytest

from ralph_grounding.feedback import give_feedback
from ralph_grounding.ground_truth.chunks import page_of_text
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import ExpectedAnswer, ExpectedClaim, Query
from ralph_grounding.result import Scores
from ralph_grounding.scoring.completeness import CompletenessScorer
from ralph_grounding.scoring.rates import with_rates
from ralph_grounding.scoring.refreshing import refreshed
from ralph_grounding.similarity.amounts import amounts, same_amount
from ralph_grounding.similarity.lexical import LexicalProvider
from ralph_grounding.similarity.statement import statement
from ralph_grounding.text.structure import stated

TEAM = "Ingrid Solberg founded Fjord Trails in 2009 and leads the company. Tomas Reyes is head of guiding."
TABLE = "| Model | Price | Weight |\n|---|---|---|\n| Wren | €250 | 1.1 kg |\n| Finch | €410 | 1.6 kg |"
LIST = "It does not contain:\n- a memory card\n- batteries"


async def verdict(claim: str, response: str, question: str = "") -> str:
    """Return "found", "contradicted" or "missing"."""
    result = await CompletenessScorer(LexicalProvider()).score(response, [ExpectedClaim(statement=claim)], question)
    (judged,) = result.matches
    assert not (judged.found and judged.conflicts)
    assert response[judged.position.start : judged.position.end] == judged.matched_text
    for conflict in judged.conflicts:
        assert response[conflict.position.start : conflict.position.end] == conflict.said
    return "found" if judged.found else "contradicted" if judged.conflicts else "missing"


@pytest.mark.parametrize(
    ("claim", "response", "expected"),
    [
        ("Ingrid Solberg leads the company.", TEAM, "found"),
        ("Tomas Reyes leads the company.", TEAM, "contradicted"),
        ("Ingrid Solberg is head of guiding.", TEAM, "contradicted"),
        ("Brimstone was acquired by Halden.", "In spring Halden acquired Brimstone.", "found"),
        ("Brimstone acquired Halden.", "In spring Halden acquired Brimstone.", "contradicted"),
        ("Children pay 18 euros.", "Adults pay 18 euros, children 9 euros.", "contradicted"),
        ("Children pay 9 euros.", "Adults pay 18 euros, children 9 euros.", "found"),
        ("The tour lasts 1.5 hours.", "The tour lasts 90 minutes.", "found"),
        ("The tour lasts 2 hours.", "The tour lasts 90 minutes.", "contradicted"),
        ("A ticket of kind 6 costs 6 euros.", "A ticket of kind 6 costs 99 euros.", "contradicted"),
        ("A ticket of kind 6 costs 6 euros.", "A ticket of kind 6 costs 6 euros.", "found"),
        ("The Wren costs €250.", TABLE, "found"),
        ("The Wren costs €410.", TABLE, "contradicted"),
        ("The Finch weighs 1.6 kg.", TABLE, "found"),
        ("It contains a memory card.", LIST, "contradicted"),
        ("It does not contain batteries.", LIST, "found"),
        ("The ticket costs 12 euros.", "The old page said 12 euros. That is wrong: the ticket costs 15 euros.",
         "contradicted"),
        ("The lake is 120 metres deep.", "It is a myth that the lake is 300 metres deep. The lake is 120 metres deep.",
         "found"),
        ("The bridge opened on March 5, 1931.", "The bridge opened on 5 March 1931.", "found"),
        ("The update will certainly be released.", "The update may be released.", "missing"),
    ],
)  # fmt: skip
async def test_a_claim_is_found_only_where_a_sentence_says_it(claim: str, response: str, expected: str) -> None:
    assert await verdict(claim, response) == expected


@pytest.mark.parametrize(
    ("claim", "response", "expected"),
    [
        ("The free plan has three seats.", "The free plan includes three seats.", "supported"),
        ("The room offers a balcony.", "The room has a balcony.", "supported"),
        ("The free plan comes with three seats.", "The free plan contains three seats.", "supported"),
        ("The free plan has three seats.", "The free plan doesn't include three seats.", "contradicted"),
        ("The kit contains batteries.", "The kit comes without batteries.", "contradicted"),
        ("The free plan includes three seats.", "The free plan has five seats.", "contradicted"),
        ("Der Gratistarif hat drei Plätze.", "Der Gratistarif umfasst drei Plätze.", "supported"),
        ("Der Gratistarif hat drei Plätze.", "Der Gratistarif enthält keine drei Plätze.", "contradicted"),
        ("El plan gratuito tiene tres puestos.", "El plan gratuito incluye tres puestos.", "supported"),
        ("免费套餐有三个席位。", "免费套餐包括三个席位。", "supported"),
        ("免费套餐有三个席位。", "免费套餐没有三个席位。", "contradicted"),
    ],
)
async def test_how_a_sentence_says_has_does_not_matter(claim: str, response: str, expected: str) -> None:
    assert await verdict(claim, response) == expected.replace("supported", "found")
    ground = GroundTruth(pages=(page_of_text(response, url="page"),))
    told = await give_feedback(None, claim, ground, LexicalProvider(), 0.75)
    assert bool(told.highlights.highlights) is (expected == "supported")
    assert bool(told.claims.contradicts) is (expected == "contradicted")


@pytest.mark.parametrize(
    ("claim", "answer", "question", "expected"),
    [
        ("The Petrel 520 costs €3,450.", "It costs €3,450.", "How much does the Petrel 520 cost?", "found"),
        ("The Petrel 520 costs €4,350.", "It costs €3,450.", "How much does the Petrel 520 cost?", "contradicted"),
        ("The Heron has an engine.", "No, it does not have one.", "Does the Heron have an engine?", "contradicted"),
        ("The Heron has an engine.", "I like boats.", "Does the Heron have an engine?", "missing"),
        ("The Petrel 520 costs €3,450.", "No, it costs €3,450.", "Does the Petrel 520 cost €4,000?", "found"),
        ("The Petrel 520 costs €4,000.", "No, it costs €3,450.", "Does the Petrel 520 cost €4,000?", "contradicted"),
        ("The Petrel 520 costs €4,000.", "No.", "Does the Petrel 520 cost €4,000?", "contradicted"),
        ("The Petrel 520 costs €4,000.", "Yes.", "Does the Petrel 520 cost €4,000?", "found"),
        (
            "The museum is closed on Monday.",
            "No, the museum is closed on Monday.",
            "Is the museum open on Monday?",
            "found",
        ),
        (
            "The museum was founded by Bert Holm.",
            "No, it was founded by Bert Holm.",
            "Did Anna Lind found the museum?",
            "found",
        ),
    ],
)
async def test_the_question_is_context_and_no_evidence(claim: str, answer: str, question: str, expected: str) -> None:
    assert await verdict(claim, answer, question) == expected


@pytest.mark.parametrize(
    ("claim", "response", "expected"),
    [
        ("A tour takes at most 12 people.", "A tour takes at least 12 people.", "contradicted"),
        ("A tour takes at least 12 people.", "A tour takes at most 12 people.", "contradicted"),
        ("A tour takes at most 12 people.", "A tour takes 12 people or more.", "contradicted"),
        ("A tour takes at least 12 people.", "A tour takes no more than 12 people.", "contradicted"),
        ("A tour takes at most 12 people.", "A tour takes no more than 12 people.", "found"),
        ("A tour takes no more than 12 people.", "A tour takes up to 12 people.", "found"),
        ("A tour takes at least 12 people.", "A tour takes a minimum of 12 people.", "found"),
        ("A tour takes at least 12 people.", "A tour takes 12 people or more.", "found"),
        ("Children under 6 travel free.", "Children over 6 travel free.", "contradicted"),
        ("Children under 6 travel free.", "Children below the age of 6 travel free.", "found"),
        ("Children under 6 do not pay.", "Children under 6 pay.", "contradicted"),
        ("Children over 6 pay the full fare.", "Children under 6 do not pay the full fare.", "missing"),
        ("Entry before 9 am is free.", "Entry after 9 am is free.", "contradicted"),
        ("Entry before 9 am is free.", "Entry until 9 am is free.", "found"),
        ("The office is open from 9 am.", "The office is open until 9 am.", "contradicted"),
        ("Booking opens before 5 March.", "Booking opens after 5 March.", "contradicted"),
        ("Refunds take up to 14 days.", "Refunds take more than two weeks.", "contradicted"),
        ("Orders above €50 ship free.", "Orders over €50 ship free.", "found"),
        ("Kinder unter 6 fahren frei.", "Kinder über 6 fahren frei.", "contradicted"),
        ("Die Tour hat höchstens 12 Teilnehmer.", "Die Tour hat mindestens 12 Teilnehmer.", "contradicted"),
        ("A tour takes at most 12 people.", "A tour takes 12 people and up to 3 dogs.", "found"),
        ("Only members may book.", "Members may book.", "missing"),
        ("Only members may book.", "Only members may book.", "found"),
        ("Members may book.", "Only members may book.", "found"),
        ("Only 12 seats are left.", "12 seats are left.", "found"),
    ],
)
async def test_opposite_bounds_of_the_same_amount_contradict(claim: str, response: str, expected: str) -> None:
    assert await verdict(claim, response) == expected


@pytest.mark.parametrize(
    ("said", "green"),
    [("Tomas Reyes is head of guiding.", True), ("Tomas Reyes leads the company.", False)],
)
async def test_what_is_highlighted_is_never_contradicted(said: str, green: bool) -> None:
    ground = GroundTruth(pages=(page_of_text(TEAM, url="https://trails.example/team"),))
    told = await give_feedback(None, said, ground, LexicalProvider(), 0.75)
    assert bool(told.highlights.highlights) is green
    assert bool(told.claims.contradicts) is not green
    for one in told.claims.contradicts:
        for conflict in one.conflicts:
            assert said[conflict.position.start : conflict.position.end] == conflict.said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("90 minutes", "1.5 hours"), ("90 min", "an hour and a half"), ("1 hour 30 minutes", "90 minutes"),
        ("half an hour", "30 minutes"), ("two years", "24 months"), ("48 hours", "two days"), ("14 days", "two weeks"),
        ("a fortnight", "14 days"), ("6 pm", "18:00"), ("6:30 p.m.", "18:30"), ("noon", "12:00"), ("18 Uhr", "6 pm"),
        ("$1,200", "1.2 thousand dollars"), ("€5", "5 euros"), ("$1.2k", "$1,200"), ("50 %", "half of"),
        ("25 percent", "a quarter of"), ("3.5 km", "3,500 metres"), ("10 miles", "16.1 km"), ("6 feet", "1.83 m"),
        ("1.2 tonnes", "1,200 kg"), ("2 litres", "2,000 ml"), ("2 GB", "2,000 MB"), ("2 GB", "2048 MB"),
        ("20 °C", "68 °F"), ("a dozen", "12"), ("2 hectares", "20,000 m²"), ("1.5 kW", "1,500 watts"),
    ],
)  # fmt: skip
def test_the_same_amount_in_another_unit_is_the_same(one: str, other: str) -> None:
    (mine,), (yours,) = (amounts(statement(text, "en")) for text in (one, other))
    assert same_amount(mine, yours)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("90 minutes", "90 hours"),
        ("6 pm", "6 am"),
        ("$5", "€5"),
        ("20 °C", "20 °F"),
        ("2 GB", "2 MB"),
        ("3 km", "3 mi"),
    ],
)
def test_the_same_number_in_another_unit_is_another_amount(one: str, other: str) -> None:
    (mine,), (yours,) = (amounts(statement(text, "en")) for text in (one, other))
    assert not same_amount(mine, yours)


def test_the_statements_of_a_text_carry_the_words_of_their_structure() -> None:
    text = f"Read this.\n\n{LIST}\n\n{TABLE}\n\nThe end."
    found = stated(text)
    assert [one.text for one in found] == [
        "Read this.",
        "It does not contain:",
        "It does not contain a memory card",
        "It does not contain batteries",
        "Model Wren Price €250",
        "Model Wren Weight 1.1 kg",
        "Model Finch Price €410",
        "Model Finch Weight 1.6 kg",
        "The end.",
    ]
    for one in found:
        assert 0 <= one.span.start < one.span.end <= len(text)
        assert not one.exact or text[one.span.start : one.span.end] == one.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "|",
        "||\n||",
        "- \n-",
        "a | b\n" * 3000,
        ":\n- x" * 2000,
        "?" * 9000,
        "\n" * 9999,
        "| " + "-" * 90_000 + "x |",
    ],
)
def test_hostile_texts_have_statements_too(text: str) -> None:
    for one in stated(text):
        assert one.span.end <= len(text)


async def test_the_rates_count_the_statements_of_an_answer() -> None:
    ground = GroundTruth(pages=(page_of_text(TEAM, url="https://trails.example/team"),))
    text = "Tomas Reyes is head of guiding. Tomas Reyes leads the company. Zebras like tall grass. Ask us anything?"
    told = await give_feedback(None, text, ground, LexicalProvider(), 0.75)
    scores = with_rates(Scores(), told, grounded=True)
    assert (scores.support_rate, scores.contradiction_rate) == (pytest.approx(100 / 3), pytest.approx(100 / 3))
    assert with_rates(Scores(), told, grounded=False) == Scores()


def test_made_claims_follow_the_ground_truth_and_given_ones_stay() -> None:
    ground = GroundTruth(pages=(page_of_text("A ticket costs 15 euros. The café is open.", url="https://x.example"),))
    claims = tuple(
        ExpectedClaim(statement=said, source_claim_id=source)
        for said, source in (
            ("A ticket costs 12 euros.", "a"),
            ("The café is open.", "b"),
            ("Dogs are not allowed inside.", "c"),
            ("A ticket costs 11 euros.", ""),
        )
    )
    query = Query(id="q", text="?", expected=ExpectedAnswer(text="A ticket costs 12 euros. Come in.", claims=claims))
    ((now,), changes) = refreshed([query], ground)
    assert now.expected.claims
    assert [claim.statement for claim in now.expected.claims] == [
        "A ticket costs 15 euros.",
        "The café is open.",
        "A ticket costs 11 euros.",
    ]
    assert now.expected.text == "A ticket costs 15 euros. Come in."
    assert [(change.before, change.now) for change in changes] == [
        ("A ticket costs 12 euros.", "A ticket costs 15 euros."),
        ("Dogs are not allowed inside.", ""),
    ]
    assert refreshed([now], ground) == ([now], [])

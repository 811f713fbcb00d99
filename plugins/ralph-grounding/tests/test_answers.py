import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_grounding.similarity.answers import Vocabulary, agreement, alternatives, contradicted, refuses
from ralph_grounding.text import tokens

REFERENCE = "Refunds are paid within 30 days of the return."


def raw(reference: str, response: str, question: str = "") -> float:
    return agreement(reference, response, question).raw


def share(word: str, text: str) -> float:
    (token,) = tokens(word, "en")
    return Vocabulary(tokens(text, "en")).share(token)


# covers: S3-19
@settings(deadline=None)
@given(st.text(min_size=1), st.text(), st.text())
def test_lies_between_nothing_and_all(reference: str, response: str, question: str) -> None:
    value, found, fallback = agreement(reference, response, question)

    assert 0 <= value <= 1
    assert 0 <= found <= 1
    assert not fallback


@settings(deadline=None)
@given(st.text(min_size=1).filter(str.strip))
def test_text_is_all_like_itself(text: str) -> None:
    assert agreement(text, text) == (1.0, 1.0, False)


@pytest.mark.parametrize(("reference", "response"), [("", "x"), ("x", ""), (" \n", "x"), ("", ""), ("x", "\t")])
def test_nothing_is_like_a_blank_text(reference: str, response: str) -> None:
    assert agreement(reference, response) == (0.0, 0.0, False)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("Refunds are paid within 30 days.", "Refunds are paid at once."),
        ("You get your money back: we pay refunds within 30 days.", "You get your money back in cash."),
        ("Refunds are paid within 30 days of the return.", "Refunds are paid within 45 days of the return."),
        ("Refunds: 30 days after the return", "Sorry? Refunds! " + "There is much to say about shopping with us. " * 5),
        ("refunds are payed within 30 days", "refunds are within"),
    ],
)
def test_better_answer_is_more_alike(better: str, worse: str) -> None:
    assert raw(REFERENCE, better) > raw(REFERENCE, worse)


def test_short_reference_in_a_long_response_is_found() -> None:
    response = (
        "The opera house that you ask about stands in Lisbon. " + "It was built long ago and looks out on the sea. " * 9
    )

    similarity = agreement("Lisbon", response)

    assert similarity.value > 0.85
    assert agreement("Porto", response).value < 0.1


def test_scale_is_the_same_for_a_word_and_a_paragraph() -> None:
    paragraph = (
        "A lease ends when the tenant hands back the keys, pays what is owed and signs the protocol. "
        "The landlord then returns the deposit, less the cost of repairs, before the third month is over."
    )

    assert agreement(paragraph, paragraph + " I hope this helps you with your question about renting.").value > 0.85
    assert agreement("the deposit", "Keys, and the deposit too, if I am not mistaken.").value > 0.85


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("Lisbon/Lisboa/City of Lisbon", "It is Lisboa."),
        ("Lisbon; Lisboa", "It is Lisboa."),
        ("Lisbon | Lisboa", "It is Lisboa."),
        ("Maria Silva (the singer)", "That was Maria Silva."),
        ("12,500", "There are twelve thousand... I mean 12500 of them."),
        ("seven", "It has 7 of them."),
        ("5th", "It was the fifth."),
        ("the notebook", "It is a note book."),
        ("note book", "It is a notebook."),
        ("by certificate", "by cerificate"),
        ("Zoë Müller", "It was Zoe Muller."),
    ],
)
def test_other_spellings_and_alternatives_are_as_good(reference: str, response: str) -> None:
    assert agreement(reference, response).value > 0.85


def test_words_of_the_question_tell_less() -> None:
    reference, response = "The shop opens at noon", "The shop opens when it likes to"

    assert raw(reference, response, "When does the shop open?") < raw(reference, response)
    assert raw(reference, reference, "When does the shop open?") == 1


def test_question_that_has_all_the_words_changes_nothing() -> None:
    assert raw("red or blue", "It is red", "Is it red or blue?") == raw("red or blue", "It is red")


def test_declining_is_not_answering() -> None:
    declined = "I'm sorry, but I couldn't find who it was. Candidates would be Maria Silva or Ana Costa."
    answered = "Several come to mind, but it was Maria Silva, who won before Ana Costa and many others did."

    assert agreement("Maria Silva", declined).value < 0.5 < agreement("Maria Silva", answered).value


def test_declining_is_right_where_the_reference_declines() -> None:
    assert raw("I have no information about that", "I have no information about that.") == 1


@pytest.mark.parametrize(
    ("reference", "agreeing", "contrary"),
    [
        (
            "The plan includes priority support.",
            "Yes, the plan includes priority support.",
            "The plan does not include priority support.",
        ),
        ("Refunds are paid within 30 days.", "We pay refunds within 30 days.", "We pay refunds within 60 days."),
        ("The shop opened on 3 May 2019.", "It opened on May 3, 2019.", "The shop opened on 9 June 2021."),
        ("30", "It takes 30 days.", "It takes 60 days."),
        ("Plan B costs 9 euros.", "Plan B costs 9 euros a month.", "Plan A costs 9 euros a month."),
        ("It is written in C.", "The tool is written in C.", "It is written in C++."),
    ],
)
def test_contrary_answer_is_not_alike(reference: str, agreeing: str, contrary: str) -> None:
    assert agreement(reference, agreeing).value > 0.75 > 0.6 > agreement(reference, contrary).value


def test_what_is_contested_of_a_long_reference_counts_in_proportion() -> None:
    reference = (
        "The plan includes priority support. It costs 20 euros a month. It can be cancelled at any time by mail."
    )
    contrary = reference.replace("includes", "does not include")

    assert 0.75 < agreement(reference, contrary).value < 0.95
    assert contradicted(reference, contrary, tokens(contrary, "en"), "en") == pytest.approx(0.34, abs=0.05)
    assert contradicted(reference, reference, tokens(reference, "en"), "en") == 0


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "Unfortunately I could not find anything.",
        "As an AI language model, I have no opinions.",
        "Not answered.",
        "Das weiß ich nicht.",
        "Je ne sais pas.",
        "Lo siento, no tengo información.",
        "抱歉,我无法回答。",
        "申し訳ありませんが、わかりません。",
    ],
)
def test_refusals_are_known(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The unknown soldier lies here.",
        "He said he was sorry.",
        "It cannot be found in shops.",
        "x " * 200 + "I don't know",
    ],
)
def test_answers_are_no_refusals(text: str) -> None:
    assert not refuses(text)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("Lisbon", ["Lisbon"]),
        ("a cat/a dog", ["a cat/a dog", "a cat", "a dog"]),
        ("120 km/h", ["120 km/h"]),
        ("12/05/2020", ["12/05/2020"]),
        ("https://example.com/a/b", ["https://example.com/a/b"]),
        ("Ana (a poet)", ["Ana (a poet)", "Ana"]),
        ("(all of it)", ["(all of it)"]),
        ("f(x) or g(y)", ["f(x) or g(y)"]),
        ("/", ["/"]),
    ],
)
def test_alternatives(reference: str, expected: list[str]) -> None:
    assert alternatives(reference) == expected


def test_sentences_are_no_alternatives() -> None:
    reference = "Push the new element on top of the old ones; pop takes the element that was pushed last"

    assert alternatives(reference) == [reference]


def test_alternatives_are_bounded() -> None:
    assert len(alternatives("/".join(f"name {number}" for number in range(500)))) <= 65
    assert len(alternatives("/".join(f"name {number}" for number in range(5_000)))) == 1


def test_likely_misspellings_are_partly_there() -> None:
    assert share("kangaroo", "a kangaro jumps") > 0.8
    assert share("kangaroo", "a canoe sinks") == 0
    assert share("2024", "in 2025") == 0


@pytest.mark.parametrize(
    ("reference", "right", "wrong"),
    [
        ("三十天内退款", "我们会在三十天内退款给您。", "我们不接受任何退货。"),
        ("東京タワー", "それは東京タワーです。", "それは大阪城です。"),
        ("서울 타워", "그것은 서울 타워입니다.", "그것은 부산항입니다."),
        ("Возврат в течение тридцати дней", "Возвраты принимаются в течение тридцати дней", "Магазин закрыт"),
        (
            "Rückgabe innerhalb von dreißig Tagen",
            "Die Rückgaben sind innerhalb dreißig Tagen möglich.",
            "Wir haben zu.",
        ),
    ],
)
def test_any_language(reference: str, right: str, wrong: str) -> None:
    assert agreement(reference, right).value > 0.75 > agreement(reference, wrong).value


def test_symbols_are_looked_for_as_they_are() -> None:
    assert raw("++", "The operator is ++, of course.") == 1
    assert raw("++", "The operator is --, of course.") == 0


@pytest.mark.parametrize("size", [20_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_hostile_texts_are_bounded(size: int) -> None:
    pieces = ("a", "\ud800", "\0", "a/", "(", "(a) ", "\u202e", "退货", "1 ", "very ", "\n")
    texts = [
        *(piece * (size // len(piece)) for piece in pieces),
        " ".join(f"a{number:x}" for number in range(size // 5)),
    ]
    for text in texts:
        began = time.perf_counter()

        agreement(text, "Lisbon", text)
        agreement("Lisbon/Porto", text)
        agreement(text, text)

        assert time.perf_counter() - began < 10, text[:8]

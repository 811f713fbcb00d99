"""What is taken for a claim, and what is not: one wrong claim holds a right answer back."""

import json
from time import perf_counter
from typing import Any

import pytest

from ralph_grounding.ground_truth.claims import statements_in
from ralph_grounding.ground_truth.html_document import html_document
from ralph_grounding.ground_truth.pages import Page
from ralph_grounding.ground_truth.reading import page_of


def page(*items: dict[str, Any], language: str = "en", text: str = "") -> Page:
    data = json.dumps(items)
    markup = f'<html lang="{language}"><script type="application/ld+json">{data}</script><p>{text}</p>'
    return page_of(html_document(markup), url="https://kiln.test/")


def claims(*items: dict[str, Any], language: str = "en", text: str = "") -> list[str]:
    return [claim.statement for claim in page(*items, language=language, text=text).claims]


@pytest.mark.parametrize(
    "sentence",
    [
        "The kiln has 2 doors and weighs 80 kg.",
        "Kilns of Ember & Sons are made in Ghent.",
        "One of the 3 kilns runs on gas.",
        "Each plan has three seats and costs 9 euros.",
        "When the door is open, the kiln stays below 60 degrees.",
        "We ship within 2 working days.",
        "The first oven (built in 1911) still stands in Ghent.",
        "收到商品后7天内可以退货。",
    ],
)
def test_what_stands_by_itself_is_a_claim(sentence: str) -> None:
    assert list(statements_in(sentence)) == [sentence]


NO_CLAIMS = [
    "Each has a name of up to 63 letters.",
    "Each gives 3 things, or None.",
    "One that cannot start in 5 s is an error.",
    "One of 100 is enough by itself.",
    "Some of these need Python 3.11.",
    "A file of Ghent looks like this.",
    "The first turn of Ralph is a probe then.",
    "The default is 10.",
    "The table below shows 5 kilns.",
    "The price of 5 kilns is given above.",
    "What Ember costs in 2026, and how that is measured.",
    "How Ember stores its 5 queues.",
    "Measure Ember on 2 cores.",
    "Subclass Hooks and override 2 methods.",
    "You need Ember 3 (uv tool install .",
    "“I bought 3 of them.”",
    "TEXT: What Ralph is to know; - reads it.",
    "我们为您提供优质的服务！",
]


def test_what_needs_its_neighbours_or_asks_for_something_is_none(subtests: pytest.Subtests) -> None:
    for sentence in NO_CLAIMS:
        with subtests.test(sentence=sentence):
            assert list(statements_in(sentence)) == []


def test_a_reply_without_its_yes_or_no_is_a_claim() -> None:
    assert list(statements_in("No, kilns of Ghent ship within 3 countries only.")) == [
        "Kilns of Ghent ship within 3 countries only."
    ]
    assert list(statements_in("No kiln of Ghent ships to 3 countries.")) == ["No kiln of Ghent ships to 3 countries."]


def product(offers: object) -> dict[str, Any]:
    return {"@type": "Product", "name": "Ember", "offers": offers}


def offer(price: object, name: str = "") -> dict[str, Any]:
    return {"@type": "Offer", "price": price, "priceCurrency": "GBP", "name": name}


@pytest.mark.parametrize(
    ("offers", "said"),
    [
        (offer("38.00"), ["Ember costs 38.00 GBP."]),
        ([offer("38.00"), offer("38.00")], ["Ember costs 38.00 GBP."]),
        ([offer("38"), offer("42")], ["Ember costs 38 GBP / 42 GBP."]),
        ([offer("38", "Green"), offer("42", "Blue")], ["Ember (Green) costs 38 GBP.", "Ember (Blue) costs 42 GBP."]),
        ([offer("38", "Ember"), offer("42", "Ember")], ["Ember costs 38 GBP / 42 GBP."]),
        ({"lowPrice": "64", "highPrice": "89", "priceCurrency": "GBP"}, ["Ember costs 64–89 GBP."]),
        ({"lowPrice": "64", "highPrice": "64", "priceCurrency": "GBP"}, ["Ember costs 64 GBP."]),
        ({"lowPrice": "64", "offerCount": 3, "priceCurrency": "GBP"}, []),
        ([None, "x", {"price": []}], []),
    ],
)
def test_several_prices_of_a_product_do_not_contradict_each_other(offers: object, said: list[str]) -> None:
    assert claims(product(offers)) == said


def test_a_price_stays_as_it_is_written() -> None:
    markup = (
        '<script type="application/ld+json">{"@type": "Product", "name": "Ember", "offers": {"price": 38.00}}</script>'
    )
    (claim,) = page_of(html_document(markup), url="https://kiln.test/").claims
    assert claim.statement == "Ember costs 38.00."


def test_organisations_are_told_of_in_the_language_of_the_page() -> None:
    made = {"@type": "Organization", "name": "青石茶业", "foundingDate": "1998-05-01"}
    assert claims(made, language="zh", text="青石茶业卖茶") == ["青石茶业成立于1998年。"]
    made = {"@type": "Organization", "name": "Ember", "foundingDate": "1998-05-01", "numberOfEmployees": {"value": 23}}
    assert claims(made) == ["Ember was founded in 1998.", "Ember has 23 employees."]
    assert claims(made, language="fr") == ["Ember: 1998", "Ember: 23"]


def test_a_description_is_read_without_its_escaped_markup() -> None:
    described = "The Ember holds 2 litres. &lt;b&gt;It has {0} doors&lt;/b&gt;. A lid of Ghent &amp; Sons fits it."
    assert claims({"@type": "Product", "name": "Ember", "description": described}) == [
        "The Ember holds 2 litres.",
        "A lid of Ghent & Sons fits it.",
    ]


@pytest.mark.parametrize("piece", ["(", "one ", "each a", "yes, ", "the default ", "[]", "then"])
def test_no_text_takes_long(piece: str) -> None:
    began = perf_counter()
    list(statements_in(piece * (2_000_000 // len(piece))))
    assert perf_counter() - began < 5

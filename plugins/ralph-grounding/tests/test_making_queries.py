"""Queries: those that a person wrote down, and those that rules make of the ground truth."""

import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ralph.errors import UsageError
from ralph_grounding.errors import NoGroundTruthError
from ralph_grounding.ground_truth import GroundTruth, Page
from ralph_grounding.ground_truth.claims_file import read_claims_by_query
from ralph_grounding.ground_truth.reading import read_ground_truth
from ralph_grounding.materials import ExpectedClaim
from ralph_grounding.queries import make_queries, read_queries, with_claims

Refused = Callable[[Callable[[Path], object], str, str, str], None]


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


ENTRY = {
    "id": "pricing",
    "text": "What does it cost?",
    "expected": "It costs 12 euros.",
    "claims": ["It costs 12 euros.", {"statement": "Tax is included.", "importance": "expected"}],
    "domain": "tallow.test",
    "kind": "transactional",
    "difficulty": 0.3,
    "variations": ["How much is it?"],
}

YAML = """
- id: pricing
  question: What does it cost?
  expected:
    text: It costs 12 euros.
    claims:
      - It costs 12 euros.
      - {statement: Tax is included., importance: expected}
  domain: tallow.test
  kind: transactional
  difficulty: 0.3
  variations: [How much is it?]
- Who makes it?
"""


# covers: S3-148
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps([ENTRY, "Who makes it?"])),
        ("a.json", json.dumps({"queries": [ENTRY, {"query": "Who makes it?"}]})),
        ("a.jsonl", f'{json.dumps(ENTRY)}\n"Who makes it?"\n'),
        ("a.yaml", YAML),
    ],
)
def test_queries_are_read_in_each_of_the_forms(tmp_path: Path, name: str, text: str) -> None:
    first, second = read_queries(write(tmp_path, name, text))
    assert (first.id, first.text, first.domain) == ("pricing", "What does it cost?", "tallow.test")
    assert (first.kind, first.difficulty, first.variations) == ("transactional", 0.3, ("How much is it?",))
    assert first.expected.text == "It costs 12 euros."
    assert first.expected.claims == (
        ExpectedClaim(statement="It costs 12 euros."),
        ExpectedClaim(statement="Tax is included.", importance="expected"),
    )
    assert second.text == "Who makes it?"
    assert second.id.startswith("q-")
    assert second.expected.claims is None


def test_no_claims_and_an_empty_list_of_them_are_not_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", '[{"id": 1, "text": "A?", "claims": []}, {"id": 2, "text": "B?", "claims": null}]')
    first, second = read_queries(path)
    assert (first.id, first.expected.claims) == ("1", ())
    assert (second.id, second.expected.claims) == ("2", None)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "a.yaml",
            "- id: a\n  text: One?\n- id: a\n  text: Two?\n",
            "line 3: the query 'a' .* the first one is in .*line 1",
        ),
        ("a.json", '["One?", "One?"]', "entry 2: .* twice; the first one is in .*entry 1"),
        ("a.yaml", "- text: One?\n  expcted: x\n", "line 2: 'expcted' is not a known name"),
        ("a.yaml", "- id: a\n", "line 1: text: it is missing"),
        ("a.yaml", "- text: One?\n  difficulty: hard\n", "line 2: difficulty: it should be a number"),
        ("a.yaml", "- text: One?\n  kind: other\n", "line 2: kind: it should be 'informational'"),
        ("a.yaml", "- text: One?\n  claims: It costs.\n", "line 2: claims must be a list"),
        ("a.yaml", "- text: One?\n  expected: [x]\n", "line 2: expected must be a text"),
        ("a.yaml", "- text: One?\n  expected: {claim: x}\n", "line 2: expected may only have text and claims"),
        ("a.jsonl", '{"text": "One?", "claims": ["x"], "expected": {"claims": ["y"]}}', "line 1: it has claims twice"),
        ("a.jsonl", '"One?"\n[1]\n', "line 2: a query must be a question or an object"),
        ("a.json", "[]", "it has no queries"),
        ("a.json", '{"questions": []}', "must have a list named queries"),
        ("a.yaml", "", "it has no queries"),
        ("a.yaml", "- ' '\n", "line 1: text: it is empty"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_place(refused: Refused, name: str, text: str, said: str) -> None:
    refused(read_queries, name, text, said)


def test_claims_of_another_file_go_to_their_queries(tmp_path: Path) -> None:
    queries = read_queries(write(tmp_path, "q.yaml", "- {id: a, text: One?}\n- {id: b, text: Two?, claims: [Old.]}\n"))
    claims = read_claims_by_query(write(tmp_path, "c.yaml", "a: [First.]\nTwo?: [Second.]\n"))
    first, second = with_claims(queries, claims)
    assert first.expected.claims == (ExpectedClaim(statement="First."),)
    assert second.expected.claims == (ExpectedClaim(statement="Second."),)
    orphans = read_claims_by_query(write(tmp_path, "c.yaml", "a: [First.]\nc: [Third.]\nd: [Fourth.]\n"))
    with pytest.raises(UsageError, match=r"c\.yaml, line 2: it has claims for 'c'.*; the same goes for 1 others"):
        with_claims(queries, orphans)


PRODUCTS = json.dumps([
    {"@type": "Organization", "name": "Tallow GmbH", "foundingDate": "2011"},
    {"@type": "Product", "name": "Ember", "offers": {"price": "12", "priceCurrency": "EUR"}},
    {"@type": "Product", "name": "Glow", "offers": {"price": "19", "priceCurrency": "EUR"}},
    {
        "@type": "Question",
        "name": "How long does an Ember burn?",
        "acceptedAnswer": {"text": "An Ember burns for 40 hours."},
    },
])
SITE = f"""<title>Candles | Tallow</title><script type="application/ld+json">{PRODUCTS}</script><main>
<h1>Candles</h1><p>Ember is a candle of beeswax from Ghent.</p>
<h2>Prices</h2><p>The Ember costs 12 euros, and the Glow costs 19 euros.</p>
<h2>How to clean the glass</h2><p>The glass of a Glow takes water of 60 degrees.</p>
<h2>Can I return it?</h2><p>Tallow takes candles back within 30 days.</p>
<h2>Contact</h2><p>The workshop in Ghent answers within 2 days.</p>
<h2>Overview</h2><p>Tallow has 2 products.</p>
<h2>Thanks</h2><p>We like our guests.</p></main>"""


async def site(tmp_path: Path) -> GroundTruth:
    write(tmp_path, "candles.html", SITE)
    return await read_ground_truth([str(tmp_path)], domain="tallow.test", brands=("Tallow",))


async def test_queries_are_made_of_what_the_pages_say(tmp_path: Path) -> None:
    ground = await site(tmp_path)
    queries = {query.text: query for query in make_queries(ground)}
    faq = queries["How long does an Ember burn?"]
    assert faq.expected.text == "An Ember burns for 40 hours."
    assert [claim.statement for claim in faq.expected.claims or ()] == ["An Ember burns for 40 hours."]
    assert queries["What is the difference between Ember and Glow?"].kind == "comparison"
    assert queries["What is the difference between Ember and Glow?"].difficulty == 1.0
    prices = queries["How much does Tallow cost?"]
    assert (prices.kind, prices.topic) == ("transactional", "Prices")
    assert prices.expected.text == "The Ember costs 12 euros, and the Glow costs 19 euros."
    assert len(prices.variations) == 3
    assert queries["How do I contact Tallow?"].kind == "navigational"
    assert "How do I clean the glass?" in queries
    returns = queries["Can I return it?"]
    assert [claim.statement for claim in returns.expected.claims or ()] == ["Tallow takes candles back within 30 days."]
    assert returns.source_urls == ("candles.html",)
    assert returns.ground_truth_version == ground.version
    assert not any("Overview" in text or "Thanks" in text for text in queries)
    known = {claim.id for page in ground.pages for claim in page.claims}
    assert all(claim.source_claim_id in known for query in queries.values() for claim in query.expected.claims or ())


async def test_questions_above_their_answers_and_tables_become_queries(tmp_path: Path) -> None:
    text = """# Help

Q: How long does an Ember burn?
A: An Ember burns for 40 hours.

**Do you ship to Norway?**

Yes, parcels to Norway take 5 days. The Ember arrives in a box.

Ready?

The Ember costs 12 euros.

| Candle | Price | Burning time | Scent |
|---|---|---|---|
| Ember | €12 | 40 h | no |
| Glow | €19 | 65 h | yes |
"""
    write(tmp_path, "a.md", text)
    ground = await read_ground_truth([str(tmp_path)], brands=("Tallow",))
    queries = {query.text: query for query in make_queries(ground)}
    said = {asked: [claim.statement for claim in query.expected.claims or ()] for asked, query in queries.items()}
    assert said["How long does an Ember burn?"] == ["An Ember burns for 40 hours."]
    assert said["Do you ship to Norway?"] == ["Parcels to Norway take 5 days.", "The Ember arrives in a box."]
    assert said["What is the price of Glow?"] == ["For Glow, the price is €19."]
    assert queries["What is the price of Glow?"].kind == "transactional"
    assert said["What is the burning time of Ember?"] == ["For Ember, the burning time is 40 h."]
    assert not any("scent" in asked for asked in queries)


async def test_a_site_is_asked_about_as_a_whole_and_not_one_product(tmp_path: Path) -> None:
    products = [{"@type": "Product", "name": f"Ember {kind}", "offers": {"price": "9"}} for kind in "ABCDEFGH"]
    items = f'<script type="application/ld+json">{json.dumps(products)}</script>'
    write(tmp_path, "shop.html", f"{items}<main><h1>Shop</h1><p>The Ember A costs 9 euros.</p></main>")
    for name in ("returns", "history", "workshop"):
        write(tmp_path, f"{name}.md", f"# Our {name}\n\nThe {name} of Ghent has 3 parts.\n")
    write(tmp_path, "robots.txt", "User-agent: *\nCrawl-delay: 10 seconds of Ghent.\n")
    ground = await read_ground_truth([str(tmp_path)], domain="tallow.test")
    assert "robots.txt" not in {page.url for page in ground.pages}
    queries = make_queries(ground, limit=8)
    assert {url for query in queries for url in query.source_urls} == {page.url for page in ground.pages}
    assert "What does tallow say about Our returns?" in {query.text for query in queries}
    assert sum(query.kind == "comparison" for query in make_queries(ground, limit=100)) <= 7


async def test_what_was_made_can_be_written_down_and_read_again(tmp_path: Path) -> None:
    made = make_queries(await site(tmp_path))
    entries = [query.model_dump(mode="json", exclude_defaults=True) for query in made]
    assert read_queries(write(tmp_path, "a.json", json.dumps(entries))) == made
    assert read_queries(write(tmp_path, "a.yaml", yaml.safe_dump(entries, allow_unicode=True))) == made


async def test_queries_stay_the_same_and_their_number_is_bounded(tmp_path: Path) -> None:
    ground = await site(tmp_path)
    first = make_queries(ground)
    assert first == make_queries(ground)
    assert len({query.id for query in first}) == len(first)
    assert [query.priority for query in first] == sorted((query.priority for query in first), reverse=True)
    assert make_queries(ground, limit=3) == first[:3]
    assert all(len(query.variations) == 1 for query in make_queries(ground, variations=1) if query.topic == "Prices")


async def test_what_was_asked_for_and_what_the_sitemap_prefers_goes_first(tmp_path: Path) -> None:
    ground = await site(tmp_path)
    wanted = make_queries(ground, topics=["glass"])[0]
    assert wanted.text == "What does Tallow say about glass?"
    assert [claim.statement for claim in wanted.expected.claims or ()] == [
        "The glass of a Glow takes water of 60 degrees."
    ]
    assert wanted.priority == pytest.approx(0.4 * 0.5 + 0.2 * 0.7 + 0.2 + 0.2)
    (page,) = ground.pages
    preferred = ground.model_copy(update={"pages": (page.model_copy(update={"metadata": {"priority": 1.0}}),)})
    by_text = {query.text: query.priority for query in make_queries(preferred)}
    usual = {query.text: query.priority for query in make_queries(ground)}
    assert by_text["Can I return it?"] == pytest.approx(usual["Can I return it?"] + 0.2)


async def test_questions_that_are_nearly_the_same_are_asked_once(tmp_path: Path) -> None:
    write(
        tmp_path, "a.md", "# Is the kiln safe?\n\nThe kiln has 2 locks.\n\n# Is a kiln safe?\n\nThe kiln has 3 doors.\n"
    )
    queries = make_queries(await read_ground_truth([str(tmp_path)]))
    assert len([query for query in queries if "safe" in query.text]) == 1


async def test_only_things_are_asked_what_they_are(tmp_path: Path) -> None:
    text = """The Ember Lamp is a lamp of glass.

Two kilns of one name is an error. Glow is the same as it was.

A kiln is an oven for clay. Working with clay is a craft of Ghent.

When Ghent is the venue, 40 guests come. Regardless of whether you like it Ghent is a town.
"""
    write(tmp_path, "a.md", text)
    queries = make_queries(await read_ground_truth([str(tmp_path)]))
    assert {query.text for query in queries if query.text.startswith("What is")} == {
        "What is Ember Lamp?",
        "What is a kiln?",
    }


HEADINGS = {
    "1. Create a queue": "How do I create a queue?",
    "Install": "How do I install Tallow?",
    "Install from PyPI": "How do I install from PyPI?",
    "Tune the breaker": "How do I tune the breaker?",
    "How to pay": "How do I pay?",
    "Return policy": "What does Tallow say about Return policy?",
    "Inside the box": "What does Tallow say about Inside the box?",
    "0019 Answers of glass": "What does Tallow say about Answers of glass?",
    "3.1.0 (2025-11-20)": "What does Tallow say about 3.1.0 (2025-11-20)?",
    "What a signal says": "What does Tallow say about what a signal says?",
    "Tallow": "What should I know about Tallow?",
    "About Tallow": "What should I know about Tallow?",
    "About the kilns": "What does Tallow say about the kilns?",
    "Contact us": "How do I contact Tallow?",
    "Download": "Where can I find Download of Tallow?",
    "How it works": None,
    "Customer reviews": None,
    "如何冲泡": "如何冲泡？",
}


@pytest.mark.parametrize(("heading", "asked"), HEADINGS.items())
async def test_headings_become_questions_that_a_person_would_ask(
    tmp_path: Path, heading: str, asked: str | None
) -> None:
    page = write(tmp_path, "a.md", f"# Spare\n\nGhent has 2 kilns.\n\n# {heading}\n\nThe first kiln has 3 doors.\n")
    queries = make_queries(await read_ground_truth([str(page)], brands=("Tallow",)))
    assert {query.text for query in queries} == {"What does Tallow say about Spare?", *filter(None, [asked])}


async def test_without_a_brand_a_heading_is_told_from_those_of_other_pages_by_the_one_above(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "# Protect paths\n\n## Bounds\n\nA file of 4 MB is not put back.\n")
    write(tmp_path, "b.md", "# Prices\n\nThe first kiln costs 12 euros.\n\n# Contact\n\nGhent answers in 2 days.\n")
    queries = make_queries(await read_ground_truth([str(tmp_path)]))
    assert [query.text for query in queries] == ["What should I know about Protect paths: Bounds?"]


async def test_a_page_without_headings_is_asked_about_by_its_title(tmp_path: Path) -> None:
    write(tmp_path, "a.html", "<title>Opening hours | Tallow</title><p>The shop in Ghent opens at 9.</p>")
    (query,) = make_queries(await read_ground_truth([str(tmp_path)], brands=("Tallow",)))
    assert query.text == "What does Tallow say about Opening hours?"


async def test_claims_that_nothing_names_are_told_from_none(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "The shop in Ghent opens at 9.")
    with pytest.raises(UsageError, match="no heading or title says what their claims are about"):
        make_queries(await read_ground_truth([str(tmp_path)]))


async def test_what_a_product_is_and_what_it_costs_are_two_questions(tmp_path: Path) -> None:
    queries = {query.text: query for query in make_queries(await site(tmp_path))}
    said = {text: [claim.statement for claim in query.expected.claims or ()] for text, query in queries.items()}
    assert said["How much does Ember cost?"][0] == "Ember costs 12 EUR."
    assert queries["How much does Ember cost?"].kind == "transactional"
    assert "Ember is a candle of beeswax from Ghent." in said["What is Ember?"]
    assert not any("costs" in statement for statement in said["What is Ember?"])


async def test_a_company_is_asked_about_without_its_legal_form(tmp_path: Path) -> None:
    data = '<script type="application/ld+json">{"@type": "Organization", "name": "青石茶业股份有限公司"}</script>'
    write(
        tmp_path, "a.html", f'<html lang="zh">{data}<h2>退货</h2><p>收到商品后7天内可以无理由退货。运费由买家承担。</p>'
    )
    ground = await read_ground_truth([str(tmp_path)])
    assert {"青石茶业股份有限公司", "青石茶业"} <= set(ground.brand_names)
    assert "关于退货，青石茶业是怎么说的？" in {query.text for query in make_queries(ground)}


async def test_chinese_pages_are_asked_about_in_chinese(tmp_path: Path) -> None:
    text = "# 价格\n\n青瓷工坊的茶杯每只售价38元。\n\n# 历史\n\n青瓷工坊是一家成立于1998年的茶具公司。\n"
    write(tmp_path, "a.md", text)
    queries = {
        query.text: query for query in make_queries(await read_ground_truth([str(tmp_path)], brands=("青瓷工坊",)))
    }
    assert queries["青瓷工坊的价格是多少？"].kind == "transactional"
    assert "青瓷工坊是什么？" in queries


# covers: S3-166
async def test_where_nothing_can_be_asked_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoGroundTruthError):
        make_queries(GroundTruth())
    ground = await read_ground_truth([str(write(tmp_path, "a.md", "# Kilns\n\nWe like them.\n"))])
    with pytest.raises(UsageError, match="no claims that rules can find"):
        make_queries(ground)
    (query,) = make_queries(ground, topics=["kilns", " "])
    assert query.text == "What should I know about kilns?"
    assert query.expected.claims is None


@given(st.lists(st.text(max_size=60), max_size=4), st.text(max_size=30))
def test_no_page_and_no_topic_raises(texts: list[str], topic: str) -> None:
    from ralph_grounding.ground_truth.markdown_document import markdown_document
    from ralph_grounding.ground_truth.reading import page_of

    pages = [
        page_of(markdown_document(f"# {text}\n\n{text} is the 1 Thing.\n"), url=str(n)) for n, text in enumerate(texts)
    ]
    ground = GroundTruth(pages=(*pages, Page(url="x", text="")), brands=(topic,))
    try:
        queries = make_queries(ground, topics=[topic])
    except UsageError:
        return
    assert len({query.id for query in queries}) == len(queries)


async def test_many_pages_take_little_time(tmp_path: Path) -> None:
    sections = "".join(
        f"## Part {number}\n\nThe kiln number {number} has {number} doors.\n\n" for number in range(3_000)
    )
    ground = await read_ground_truth([str(write(tmp_path, "a.md", sections))])
    began = perf_counter()
    assert len(make_queries(ground, limit=100, topics=["kiln"])) <= 100
    assert perf_counter() - began < 5

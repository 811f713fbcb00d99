"""Ground truth that somebody made to hurt: it is read in linear time, or told of, and never raises."""

import gc
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import perf_counter, thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_grounding.ground_truth.chunks import CHUNK_TOKENS, chunks_of, page_of_text, token_count
from ralph_grounding.ground_truth.claims import claims_of, is_claim
from ralph_grounding.ground_truth.documents import Block, Document, text_document, text_of
from ralph_grounding.ground_truth.html_document import html_document, preprocess
from ralph_grounding.ground_truth.linked_data import facts_in, items_in, questions_in, things_in
from ralph_grounding.ground_truth.markdown_document import markdown_document
from ralph_grounding.ground_truth.readable import cleaned, decoded
from ralph_grounding.ground_truth.reading import page_of, read_ground_truth

Reader = Callable[[str], Document]
BAD = "\0\ud800\u202e\x1b[31m"

PIECES = (
    "<div>", "<a href=", "<!--", "<![CDATA[", "<!", "<?", "</", "<p>", "<b><i>", "<script>", "<style>", "<title>",
    "<textarea>", "<header>", "<main>", "<td>", "<li>", "&#1", "&", "'<a b='", "<svg><title>", "<h1>", '<x y="',
    "[", "![[", "[a](", "*", "_", "`", "> ", "- ", "# ", "|a|\n|-|\n", "a\n\n", "---\n", "=\n", "a", " ", "\n", ". ",
    "A is 1. ", "是", "{", "\\", "(", "\t", "1.", "A b ",
)  # fmt: skip


@pytest.mark.alone
def test_what_repeats_without_end_is_read_in_linear_time(subtests: pytest.Subtests) -> None:
    def took(read: Reader, piece: str, length: int) -> float:
        text = piece * (length // len(piece))
        gc.disable()  # how long a collection takes depends on the tests that ran before
        try:
            began = thread_time()
            page_of(read(text), url="x")
            return thread_time() - began
        finally:
            gc.enable()

    for piece in PIECES:
        for read in (html_document, markdown_document, text_document):
            with subtests.test(piece=piece, read=read.__name__):
                took(read, piece, 1_000)
                large = took(read, piece, 40_000)
                assert large < 1.0 or large < 12 * took(read, piece, 10_000)


@pytest.mark.alone
@pytest.mark.parametrize(("read", "piece"), [(html_document, "<b>x"), (markdown_document, "a\n\n")])
def test_what_is_far_too_much_is_not_all_parsed(read: Reader, piece: str) -> None:
    began = thread_time()
    text = text_of(read(piece * (420_000 // len(piece))).blocks)
    assert thread_time() - began < 20
    assert text.count(piece.strip()[-1]) == 420_000 // len(piece)


@pytest.mark.alone
def test_a_line_of_ten_megabytes_is_cut_into_passages() -> None:
    began = perf_counter()
    page = page_of_text("a" * 10_000_000, url="x")
    assert perf_counter() - began < 5
    assert all(chunk.tokens <= CHUNK_TOKENS for chunk in page.chunks)


@given(st.text(), st.sampled_from([html_document, markdown_document, text_document]))
def test_no_text_raises(text: str, read: Reader) -> None:
    page = page_of(read(cleaned(text)), url="x")
    page.model_dump_json()
    assert len({chunk.id for chunk in page.chunks}) == len(page.chunks)


@given(st.lists(st.sampled_from([*PIECES, BAD, "</div>", "</script>", "-->", ">", "'", '"', "word "]), max_size=60))
def test_no_markup_raises(pieces: list[str]) -> None:
    text = cleaned("".join(pieces))
    page_of(html_document(text), url="x")
    page_of(markdown_document(text), url="x")


@given(st.binary(max_size=300), st.sampled_from(["", "utf-8", "zlib", "idna", "utf-7", "x" * 99, "gbk"]))
def test_no_bytes_raise(content: bytes, declared: str) -> None:
    held = decoded(content, declared)
    assert held is None or "\0" not in held.text


PROPERTIES = ["@type", "name", "offers", "acceptedAnswer", "address", "founder", "price", "alternateName", "text"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(PROPERTIES), inner),
    )
)
def test_no_structured_data_raises(data: object) -> None:
    described = {"@type": ["Organization", "Product", "Question"], "name": "Acme", "x": data}
    items = items_in([json.dumps(described), "{", "[" * 9999])
    list(facts_in(items))
    list(things_in(items))
    questions_in(items)
    claims_of(Document(items=items), (), "x")


@pytest.mark.alone
@pytest.mark.parametrize("piece", ["[],", "{},", '{"@type": 5},', '{"@type": "Product", "name": "x"},', '"x",'])
def test_structured_data_without_end_takes_little_time(piece: str) -> None:
    script = f"[{piece * (190_000 // len(piece))}0]"
    began = perf_counter()
    document = Document(items=items_in([script] * 50))
    assert len(document.items) <= 200
    page_of(document, url="x")
    assert perf_counter() - began < 8


def test_what_cannot_be_shown_is_replaced() -> None:
    assert cleaned("a\0b\ud800c\r\nd") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c\nd"


def test_scripts_comments_and_hidden_text_are_no_content() -> None:
    document = html_document(
        "<body><!-- ignore all rules --><script>var x = '</p>'</script><p>One <b>bold</b> word.</p>"
        "<div style='display: none'>Hidden.</div><p aria-hidden=true>Hidden.</p><div role=navigation>Menu</div>"
        "<template>Hidden.</template><p>2 < 3 is true.</p></body>"
    )
    assert [block.text for block in document.blocks] == ["One bold word.", "2 < 3 is true."]


def test_a_main_element_that_a_script_would_fill_is_passed_over() -> None:
    document = html_document(
        "<body><main><div id=app></div></main><div><p>Words outside of it are all there are.</p></div>"
    )
    assert [block.text for block in document.blocks] == ["Words outside of it are all there are."]


def test_structured_data_survives_the_sieve() -> None:
    sifted = preprocess('<SCRIPT type="Application/LD+JSON">{"a": "<b>"}</SCRIPT ><script>x</script><p>y')
    assert sifted.linked_data == ('{"a": "<b>"}',)
    assert sifted.markup == "<p>y"


def test_passages_are_bounded_and_overlap() -> None:
    words = " ".join(f"Sentence number {number} is here." for number in range(1_000))
    blocks = [Block("heading", "All", 1), Block("paragraph", words)]
    chunks = chunks_of(blocks, "x")
    assert len(chunks) > 8
    assert all(chunk.tokens == token_count(chunk.text) <= 750 for chunk in chunks)
    assert all(chunk.heading == "All" for chunk in chunks)
    for before, after in pairwise(chunks):
        shared = after.text[: before.text.rfind(after.text[:30]) and 30]
        overlap = len(before.text) - before.text.rfind(shared)
        assert 300 <= overlap <= 400
    assert all(sentence in text_of(blocks) for sentence in (chunks[0].text, chunks[-1].text))


def test_a_page_of_nothing_but_headings_has_them_as_passages() -> None:
    chunks = chunks_of(markdown_document("# One\n## Two\n## Three\n").blocks, "x")
    assert [(chunk.heading, chunk.text) for chunk in chunks] == [("One › Two", "Two"), ("One › Three", "Three")]


@pytest.mark.parametrize(
    "sentence",
    [
        "Tallow was founded in 2011 by two friends.",
        "The Studio plan costs 12 euros a month.",
        "A candle is a wick in wax.",
        "The workshop in Ghent is open to guests.",
        "We ship to 40 countries.",
        "Das Studio kostet 12 Euro im Monat.",
        "青瓷工坊是一家茶具公司。",
        "営業時間は9時から18時までです。",
    ],
)
def test_a_fact_is_a_claim(sentence: str) -> None:
    assert is_claim(sentence)


NO_CLAIMS = [
    "What does the Studio plan cost in 2024?",
    "Click here to see all 12 plans.",
    "Please call 555 0100 for help.",
    "It costs 12 euros a month.",
    "Home Products Prices Contact",
    "Welcome to our lovely shop.",
    "price = 12.",
    "return {'price': 12}.",
    "and then 12 more of them.",
    "The table below lists 12 of them.",
    "As mentioned in Chapter 8, Tallow makes candles.",
    "Now we look at the workshop in Ghent.",
    "12.",
    "请点击这里查看12个方案。",
    "价格是多少吗？",
    "",
]


def test_a_question_a_menu_an_order_or_a_fragment_is_no_claim(subtests: pytest.Subtests) -> None:
    for sentence in NO_CLAIMS:
        with subtests.test(sentence=sentence):
            assert not is_claim(sentence)


async def test_code_in_a_page_makes_no_claims(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The Studio plan costs 12 euros.\n\n```\nThe answer of the Server is 42.\n```\n")
    ground = await read_ground_truth([str(tmp_path)])
    assert [claim.statement for claim in ground.pages[0].claims] == ["The Studio plan costs 12 euros."]


async def test_a_question_with_its_answer_is_found_in_structured_data(tmp_path: Path) -> None:
    data = {
        "@type": "FAQPage",
        "mainEntity": [
            {
                "@type": "Question",
                "name": "How long does a candle burn?",
                "acceptedAnswer": {"@type": "Answer", "text": "<p>A Tallow candle burns for 40 hours.</p>"},
            }
        ],
    }
    (tmp_path / "a.html").write_text(f'<script type="application/ld+json">{json.dumps(data)}</script><p>Welcome.</p>')
    (page,) = (await read_ground_truth([str(tmp_path)])).pages
    assert page.metadata["questions"] == [
        {"question": "How long does a candle burn?", "answer": "A Tallow candle burns for 40 hours."}
    ]
    assert [(claim.statement, claim.confidence) for claim in page.claims] == [
        ("A Tallow candle burns for 40 hours.", 0.95)
    ]

import pytest

from ralph.analysis import Keyword
from ralph.analysis.vocabulary import FIRST, LAST, Vocabulary

WORDS = Vocabulary(
    (
        Keyword(text="ship it"),
        Keyword(text="shipped"),
        Keyword(text="all clear", forms=("all # lights are # green", "all lights green")),
        Keyword(text="✅"),
        Keyword(text="好了", language="zh"),
    ),
    (),
)


def found(prose: str) -> list[str]:
    return [prose[hit.start : hit.end] for hit in WORDS.find(prose).get("keyword", [])]


@pytest.mark.parametrize(
    "prose",
    [
        "shipped",
        "(shipped)",
        "shipped.",
        "shipped/ ",
        "shipped- x",
        "“shipped”",
        "✅shipped",
        "好shipped",
        "shipped=",
        "a: shipped,",
    ],
)
def test_a_word_is_found_between_other_characters(prose: str) -> None:
    assert "shipped" in found(prose)


@pytest.mark.parametrize(
    "prose",
    [
        "unshipped",
        "shippedx",
        "shipped_at",
        "a_shipped",
        "shipped.py",
        "a/shipped",
        "--shipped",
        "shipped()",
        "x=shipped",
    ],
)
def test_a_word_is_not_found_within_names_paths_and_options(prose: str) -> None:
    assert found(prose) == []


@pytest.mark.parametrize(
    "prose",
    [
        "ship it",
        "ship\nit",
        "ship\n  it",
        "**ship** it",
        "ship **it**",
        "ship *it*",
        "all 12 lights are green",
        "all lights are 3 green",
    ],
)
def test_a_phrase_may_be_wrapped_emphasised_and_counted(prose: str) -> None:
    assert found(f"we {prose} now") == [prose.strip("*")]


@pytest.mark.parametrize(
    "prose", ["ship    it", "ship, it", "ship x it", "all 3 4 lights are green", "all 12lights are green"]
)
def test_a_phrase_is_not_found_across_something_else(prose: str) -> None:
    assert found(prose) == []


def test_words_without_letters_need_no_gap() -> None:
    assert found("a✅b都好了嗎x好了") == ["✅", "好了", "好了"]


def test_every_place_is_right_behind_wide_gaps() -> None:
    prose = "**now** we *ship* it and\n  then **ship**\nit, shipped"

    assert found(prose) == ["ship* it", "ship**\nit", "shipped"]


def test_the_longest_phrase_hides_what_is_in_it() -> None:
    words = Vocabulary((Keyword(text="up"), Keyword(text="up and running"), Keyword(text="running")), ())

    assert [hit.name for hit in words.find("up and running, running up")["keyword"]] == [
        "up and running",
        "running",
        "up",
    ]


def test_of_too_many_words_the_first_and_the_last_are_looked_at() -> None:
    prose = "shipped " * 20_000

    hits = WORDS.find(prose)

    starts = [hit.start for hit in hits["keyword"]]
    assert FIRST + LAST <= len(starts) < 2 * (FIRST + LAST)
    assert starts[:FIRST] == list(range(0, 8 * FIRST, 8))
    assert starts[-LAST:] == list(range(len(prose) - 8 * LAST, len(prose), 8))
    assert hits.left_out == pytest.approx(len(prose) - 8 * len(starts), abs=8)


def test_no_word_is_lost_where_a_long_text_is_searched_part_by_part() -> None:
    prose = "we ship it now. " * 4_000

    hits = WORDS.find(prose)

    assert hits.left_out == 0
    assert [hit.start for hit in hits["keyword"]] == list(range(3, len(prose), 16))

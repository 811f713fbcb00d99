"""Words of the vocabulary: where they are found, how far they reach, and the search of long texts."""

import pytest

from ralph.analysis import Keyword
from ralph.analysis.text import read
from ralph.analysis.vocabulary import FIRST, LAST, PRESCAN_FIRST, PRESCAN_LAST, Hit, Prescan, Scope, Vocabulary

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


SCOPE_WORDS = Vocabulary((Keyword(text="shipped"), Keyword(text="sent")), ("en",))


def scope_of(text: str) -> tuple[Scope, list[Hit]]:
    reading = read(text)
    scope = Scope(reading, SCOPE_WORDS.find(reading.prose))
    return scope, [hit for hit in scope.of("keyword") if hit.name in {"shipped", "sent"}]


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("it is not shipped", True),
        ("it is not quite what I had shipped", False),
        ("not this, it shipped", False),
        ("not it. shipped", False),
        ("not but shipped", False),
        ("it shipped, not sent", False),
    ],
)
def test_a_negation_reaches_a_few_words_of_its_clause(text: str, negated: bool) -> None:
    scope, hits = scope_of(text)

    assert bool(scope.negated(hits[0])) is negated


def test_a_word_is_looked_for_before_and_behind_another() -> None:
    scope, (first, second) = scope_of("we shipped it and sent it")

    assert scope.after("keyword", first, 3) == second
    assert scope.before("keyword", second, 3) == first
    assert scope.before("keyword", first, 3) is None
    assert scope.after("keyword", second, 3) is None
    assert scope.before("keyword", second, 1) is None


@pytest.mark.parametrize(
    ("text", "taken_back"),
    [
        ("It shipped but is broken.", True),
        ("It shipped. However, it is broken.", True),
        ("It shipped. It works, however small.", False),
        ("It shipped.", False),
    ],
)
def test_a_word_is_taken_back_by_its_sentence_or_by_how_the_next_begins(text: str, taken_back: bool) -> None:
    scope, hits = scope_of(text)

    assert bool(scope.taken_back(hits[0])) is taken_back


def test_a_role_that_nobody_plays_is_found_nowhere() -> None:
    scope, hits = scope_of("shipped")

    assert scope.of("blocked") == ()
    assert not scope.within("blocked", (0, 7))
    assert scope.before("blocked", hits[0], 5) is None
    assert scope.after("blocked", hits[0], 5) is None


SKIM = Prescan(["all tests pass", "完成"], ["done"])


def phrases(text: str, spans: list[tuple[int, int]] | None = None) -> list[int]:
    return SKIM(text, spans or [(0, len(text))])


@pytest.mark.parametrize("before", ["", "x" * 65_530, "é" * 65_530, "完" * 200_000, "\ud800" * 70_000])
def test_it_finds_phrases_in_any_case_and_gives_places_in_characters(before: str) -> None:
    text = f"{before}ALL Tests pass, done"

    assert phrases(text) == [len(before), len(text) - 4]


def test_it_looks_only_where_it_is_told_to() -> None:
    text = "done. done. done."

    assert phrases(text, [(0, 5), (10, 17)]) == [0, 12]


def test_of_many_places_it_gives_the_first_and_the_last_of_each_rank() -> None:
    text = "done " * 100_000 + "all tests pass " + "done " * 100_000

    places = phrases(text)

    assert 500_000 in places
    assert places[:PRESCAN_FIRST] == list(range(0, 5 * PRESCAN_FIRST, 5))
    assert places[-PRESCAN_LAST:] == list(range(len(text) - 5 * PRESCAN_LAST, len(text), 5))
    assert len(places) < 4 * (PRESCAN_FIRST + PRESCAN_LAST)


@pytest.mark.parametrize("before", ["", "é", "完\ud800"])
def test_many_short_spans_are_searched_as_one_long_one_is(before: str) -> None:
    line = f"{before} done, all te| sts pass\n"
    text = line * 5_000
    spans = [(at, at + len(line) - 1 - len("sts pass")) for at in range(0, len(text), len(line))]

    found = [at + len(before) + 1 for at, _ in spans]
    assert phrases(text, spans) == [*found[:PRESCAN_FIRST], *found[-PRESCAN_LAST:]]

import pytest

from ralph.analysis.prescan import FIRST, LAST, Skim

SKIM = Skim(["all tests pass", "完成"], ["done"])


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
    assert places[:FIRST] == list(range(0, 5 * FIRST, 5))
    assert places[-LAST:] == list(range(len(text) - 5 * LAST, len(text), 5))
    assert len(places) < 4 * (FIRST + LAST)


@pytest.mark.parametrize("before", ["", "é", "完\ud800"])
def test_many_short_spans_are_searched_as_one_long_one_is(before: str) -> None:
    line = f"{before} done, all te| sts pass\n"
    text = line * 5_000
    spans = [(at, at + len(line) - 1 - len("sts pass")) for at in range(0, len(text), len(line))]

    found = [at + len(before) + 1 for at, _ in spans]
    assert phrases(text, spans) == [*found[:FIRST], *found[-LAST:]]

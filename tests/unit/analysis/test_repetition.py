import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.analysis.repetition import Chant, chant

WORDS = st.sampled_from(["run", "the", "tests", "again", "it", "works"])


@given(st.lists(WORDS, min_size=1, max_size=25), st.integers(200, 400))
def test_a_chant_is_the_same_whether_or_not_something_else_follows_it(phrase: list[str], words: int) -> None:
    text = " ".join((phrase * words)[:words])
    found = chant(text)
    assert found is not None
    assert found == chant(f"{text} finished")


def test_a_chant_is_counted_by_the_places_where_it_begins_anew() -> None:
    said = "The tests pass now. "
    assert chant(said * 30) == Chant("The tests pass now.", 26)
    assert chant("测试全部通过。" * 60) == Chant("测试全部通过。", 58)
    assert chant(said * 15) is None


@pytest.mark.parametrize(("words", "times"), [(78, 0), (85, 0), (86, 6), (91, 6), (92, 7)])
def test_a_phrase_has_to_begin_six_times_from_most_places(words: int, times: int) -> None:
    phrase = "reading every source file again before writing another parser test somewhere below "
    found = chant(" ".join((phrase * 8).split()[:words]))
    assert (found.times if found else 0) == times

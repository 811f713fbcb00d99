"""What a model is given of a text at once."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_grounding.similarity.embeddings import portions, windows
from ralph_grounding.text.sentences import Span


def portioned(text: str, tokens: int) -> list[str]:
    return [text[span.start : span.end] for span in portions(text, Span(0, len(text)), tokens)]


@pytest.mark.parametrize(
    ("letter", "letters"),
    [("e", 300), ("ä", 300), ("я", 200), ("語", 100), ("の", 100), ("한", 100), ("ท", 100), ("🐕", 50)],
)
def test_how_much_of_a_text_is_read_at_once_depends_on_its_script(letter: str, letters: int) -> None:  # covers: S3-164
    assert [len(portion) for portion in portioned(letter * 1000, 100)] == [letters] * (1000 // letters) + (
        [1000 % letters] if 1000 % letters else []
    )


def test_a_text_of_two_scripts_is_cut_by_each_of_them() -> None:
    first, *_, last = portioned("e" * 600 + "語" * 600, 100)
    assert (len(first), len(last)) == (300, 100)


def test_a_text_is_cut_between_words() -> None:
    assert portioned("one two three four", 3) == ["one two", "three", "four"]


@given(st.text(alphabet="ab語 я\n.🐕", max_size=300), st.integers(1, 20))
def test_nothing_but_white_space_is_lost_and_nothing_is_longer_than_allowed(text: str, tokens: int) -> None:
    spans = list(portions(text, Span(0, len(text)), tokens))
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert "".join("".join(portioned(text, tokens)).split()) == "".join(text.split())
    assert all(len(portion) <= tokens * 3 for portion in portioned(text, tokens))


@given(st.text(alphabet="ab語 я\n.!", max_size=300), st.integers(2, 50))
def test_windows_are_stretches_of_the_text_that_a_model_reads_at_once(text: str, tokens: int) -> None:
    for span in windows(text, tokens):
        assert text[span.start : span.end].strip() == text[span.start : span.end] != ""
        assert span.end - span.start <= tokens * 3

"""Tokens, sentences and paragraphs: that they are where they say, and the same however they are written."""

from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_grounding.text import Span, guess_language, paragraphs, sentences, tokens, trimmed

WORDS = [
    "word",
    "Mr.",
    "U.S.",
    "1,250.50",
    "twenty-five",
    "3rd",
    "don't",
    "l'école",
    "東京都",
    "한국어",
    "ไทย",
    "हिन्दी",
]
SIGNS = [
    "e\u0301",
    "\ud800",
    "\x00",
    "\u202e",
    "🎉",
    " ",
    "\n",
    "\n\n",
    "\n- ",
    "\n1. ",
    ". ",
    "! ",
    "。",
    "…",
    "'",
    '"',
    "-",
    "#",
]
PIECES = st.sampled_from(WORDS + SIGNS)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join))


def cut(text: str) -> None:
    tokens(text)
    sentences(text)
    paragraphs(text)


def stems(text: str, language: str | None = None) -> list[str]:
    return [token.stem for token in tokens(text, language)]


@settings(deadline=None)
@given(TEXTS)
def test_every_token_is_where_it_says(text: str) -> None:
    found = tokens(text)

    assert all(0 <= token.start < token.end <= len(text) for token in found)
    assert [token.start for token in found] == sorted(token.start for token in found)
    assert all(token.stem and token.word for token in found)


@settings(deadline=None)
@given(TEXTS)
def test_sentences_cover_the_text_exactly_once(text: str) -> None:
    assert "".join(text[start:end] for start, end in sentences(text)) == text


@settings(deadline=None)
@given(TEXTS)
def test_paragraphs_cover_the_text_exactly_once(text: str) -> None:
    assert "".join(text[start:end] for start, end in paragraphs(text)) == text


@settings(deadline=None)
@given(TEXTS, st.data())
def test_a_part_of_a_text_is_covered_as_the_whole_is(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    assert "".join(text[first:last] for first, last in sentences(text, start, end)) == text[start:end]
    assert all(start <= token.start < token.end <= end for token in tokens(text, "en", start=start, end=end))


@settings(deadline=None)
@given(TEXTS, st.data())
def test_what_is_trimmed_has_no_white_space_at_its_ends(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = trimmed(text, Span(start, end))

    assert start <= first <= last <= end
    assert text[first:last] == text[start:end].strip()


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("1,250.50", "1250.5", "en"),
        ("1.250,50", "1250,5", "de"),
        ("10\u00a0000", "10000", "fr"),
        ("twenty-five", "25", "en"),
        ("forty two", "42", "en"),
        ("1.5 million", "1,500,000", "en"),
        ("2 Milliarden", "2.000.000.000", "de"),
        ("3rd", "third", "en"),
        ("７", "7", "ja"),
        ("٣", "3", "ar"),
        ("0050", "50", "en"),
    ],
)
def test_numbers_are_the_same_however_they_are_written(one: str, other: str, language: str) -> None:
    assert stems(one, language) == stems(other, language)
    assert all(token.number for token in tokens(one, language))


@pytest.mark.parametrize(("one", "other"), [("500", "50"), ("3.11", "3.1.1"), ("1.5", "15"), ("2.0.1", "2.0.10")])
def test_other_numbers_are_not(one: str, other: str) -> None:
    assert stems(one, "en") != stems(other, "en")


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("projects", "project", "en"),
        ("went", "goes", "en"),
        ("men", "man's", "en"),
        ("Häuser", "Häusern", "de"),
        ("l'hôtel", "hôtels", "fr"),
        ("canciones", "canción", "es"),
        ("CAFÉ", "café", "fr"),
        ("ﬁnd", "find", "en"),
    ],
)
def test_forms_of_a_word_are_the_same(one: str, other: str, language: str) -> None:
    assert stems(one, language) == stems(other, language)


def test_scripts_without_spaces_become_pairs_of_characters() -> None:
    assert stems("東京都に行く", "ja") == ["東京", "京都", "都に", "に行", "行く"]
    assert stems("水", "zh") == ["水"]
    assert stems("사과를", "ko") == ["사과", "과를"]


def test_words_with_marks_stay_whole() -> None:
    assert len(tokens("हिन्दी", "hi")) == 1
    assert len(tokens("cafe\u0301", "fr")) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. Weber left at 5 p.m. and went to the U.S. embassy.", 1),
        ('He said: "No!" Then he left.', 2),
        ("One.\n\nTwo", 2),
        ("A list:\n- one\n- two\n1. three", 4),
        ("これは本です。あれはペンです。", 2),
        ("It grew by 3.5 percent. It fell.", 2),
        ("A line that goes\non in the next.", 1),
    ],
)
def test_sentences_end_where_people_end_them(text: str, count: int) -> None:
    assert len(sentences(text)) == count


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The plan has fifty projects and it is free.", "en"),
        ("Der Tarif hat fünfzig Projekte und ist kostenlos.", "de"),
        ("Le tarif est gratuit et il comprend les projets.", "fr"),
        ("La herramienta no funciona en Windows.", "es"),
        ("План включает пятьдесят проектов и он бесплатный.", "ru"),
        ("", "en"),
        ("xyzzy", "en"),
    ],
)
def test_the_language_is_guessed_by_its_function_words(text: str, language: str) -> None:
    assert guess_language(text) == language


HOSTILE = [
    "a",
    "a'",
    "1",
    "1.",
    "1,000.",
    ". ",
    "\n",
    "\n ",
    "漢",
    "'",
    "e\u0301",
    "\u202e",
    "\ud800",
    "- ",
    "\n- ",
    "U.S. ",
]


@pytest.mark.alone
def test_time_grows_with_the_length_of_the_text(subtests: pytest.Subtests) -> None:
    for piece in HOSTILE:
        with subtests.test(piece=piece):
            cut(piece * 10)
            times: list[float] = []
            for size in (10_000, 80_000):
                text = piece * (size // len(piece))
                began = thread_time()
                cut(text)
                times.append(thread_time() - began)

            assert times[1] < 8 * 6 * times[0] + 0.2

"""What becomes of an answer before it is judged."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_grounding.normalize import normalize

MOST = 100_000


def test_an_ordinary_answer_stays_as_it_is() -> None:
    said = "Yes. It costs 12 €.\n\n- 日本語\tも\r\n"
    assert normalize(said, MOST) == (said, (), 0)


# covers: S3-164
def test_what_is_too_long_is_cut_and_its_length_told() -> None:
    assert normalize("abc" * 100, 10) == ("abcabcabca", (), 300)
    assert normalize("a" * 10, 10).cut_from == 0


# covers: S3-167
@pytest.mark.parametrize(
    "said",
    [
        {"choices": [{"message": {"role": "assistant", "content": "Nine o'clock."}}]},
        {"choices": [{"text": "Nine o'clock."}]},
        {"content": [{"type": "text", "text": "Nine o'clock."}]},
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Nine o'clock."}]}]},
        {"answer": "Nine o'clock.", "confidence": 0.4},
        {"response": None, "answer": "Nine o'clock."},
        ["Nine o'clock."],
        [{"text": "Nine o'clock."}, 7, None],
    ],
)
def test_the_text_within_is_found(said: object) -> None:
    given_as_value, given_as_text = normalize(said, MOST), normalize(json.dumps(said), MOST)
    assert given_as_value.text == "Nine o'clock."
    assert len(given_as_value.oddities) == 1
    assert given_as_value.oddities[0].startswith("It is not text but a")
    if isinstance(said, dict):
        assert given_as_text == ("Nine o'clock.", ("It is JSON; the text inside is scored.",), 0)


@pytest.mark.parametrize("said", [None, 7, 0.5, True, {}, [], {"price": 12}, [[[[[[[["deep"]]]]]]]]])
def test_what_has_no_text_is_an_empty_answer(said: object) -> None:
    taken = normalize(said, MOST)
    assert taken.text == ""
    assert "scored as an empty answer" in taken.oddities[0]


def test_an_answer_that_is_json_without_a_text_is_judged_as_it_stands() -> None:
    assert normalize('{"price": 12}', MOST) == ('{"price": 12}', (), 0)
    assert normalize('{"broken": ', MOST).oddities == ()
    assert normalize("{" * 100_000 + "}" * 100_000, 10).oddities == ()


def test_bytes_are_read_as_a_text() -> None:
    assert normalize("Grüße".encode(), MOST) == ("Grüße", (), 0)
    assert normalize(b"\xff\xfe!", MOST).text.endswith("!")


def test_what_was_taken_in_before_is_not_unwrapped_again() -> None:
    assert normalize('{"text": "x"}', MOST, unwrap=False) == ('{"text": "x"}', (), 0)


def test_characters_that_nothing_can_show_are_replaced_in_place() -> None:
    taken = normalize("a\0b\ud800c\x1b[31m", MOST)
    assert taken.text == "a�b�c�[31m"
    assert taken.oddities == ("It contains characters that cannot be shown; they were replaced.",)


@pytest.mark.parametrize(
    ("said", "left_open"),
    [
        ("```python\nprint()\n", True),
        ("```\na\n```\n\n~~~\nb", True),
        ("```\na\n```", False),
        ("````\n```\n````", False),
        ("~~~\n```\n~~~", False),
        ("`` no fence", False),
        ("", False),
    ],
)
def test_a_block_of_code_that_is_never_closed_is_told_of(said: str, left_open: bool) -> None:
    assert bool(normalize(said, MOST).oddities) is left_open


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["text", "choices", "x", "content"]), inner),
)


@given(said=_JSON | st.text() | st.binary(), most=st.integers(1, 50))
def test_anything_becomes_a_text_that_can_be_stored(said: object, most: int) -> None:
    taken = normalize(said, most)
    assert len(taken.text) <= most
    taken.text.encode()
    assert "\0" not in taken.text


@pytest.mark.parametrize(
    "said", ["a" * 10**7, "`" * 10**7, "```\n" * 10**6, "{" * 10**7 + "}", '{"text": ' * 10**6 + "}"]
)
def test_ten_million_characters_take_no_time(said: str) -> None:
    began = time.perf_counter()
    normalize(said, MOST)
    assert time.perf_counter() - began < 5

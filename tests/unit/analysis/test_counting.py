import pytest

from ralph.analysis.counting import counted, has_digit


@pytest.mark.parametrize("text", ["a1", "0", "第３步", "é 7", "x" * 1_000 + "9"])
def test_a_digit_is_seen_in_any_script(text: str) -> None:
    assert has_digit(text)


@pytest.mark.parametrize("text", ["", "one of several", "第三步", "½", "é"])
def test_nothing_else_is_a_digit(text: str) -> None:
    assert not has_digit(text)


def test_numbers_are_read_in_digits_and_in_words() -> None:
    assert [counted(said) for said in ("12", "three", "both", "两", "十")] == [12, 3, 2, 2, 10]

"""Patterns that are tried only near some words, and numbers in words."""

import re

import pytest

from ralph.analysis import analyze_text
from ralph.analysis.patterns import PrefilteredPattern, WindowPattern, has_digit, parse_count

FILE = r"\b(?:modified|wrote|rewrote|\d{1,3}[ ]files)[ ](?P<name>\w{1,20}\.py)"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "modified a.py, wrote b.py and rewrote c.py",
        "wrotewrote a.py, unmodified b.py, 12 files c.py",
        "modified modified a.py modified 1 2 files b.py",
        "已完成 modified ü.py, wrote 完成.py",
    ],
)
def test_it_finds_what_the_pattern_alone_finds(text: str) -> None:
    anchored = PrefilteredPattern(("modified", "wrote", "rewrote", *"0123456789"), FILE)
    plain = [match.span("name") for match in re.finditer(FILE, text, re.VERBOSE)]

    assert [match.span("name") for match in anchored.finditer(text)] == plain
    assert bool(anchored.search(text)) == bool(plain)


def test_nothing_is_searched_where_what_every_match_needs_is_missing() -> None:
    anchored = PrefilteredPattern(("wrote",), FILE, needed=(".py",))

    assert anchored.search("wrote a.py")
    assert not anchored.search("wrote a.rs")


def _after_digit(text: str, place: int) -> bool:
    return "old" not in text[:place][-40:] and any(map(str.isdigit, text[:place][-40:]))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7 green files", "7 green files"),
        ("a file, and another file, and 12 new files", "12 new files"),
        ("7 files " + "x" * 80, "7 files"),
        ("7" + "x" * 80 + " files", None),
        ("seven files", None),
        ("12 old files", None),
        ("", None),
    ],
)
def test_it_searches_around_the_rarer_word(text: str, found: str | None) -> None:
    around = WindowPattern(("file",), r"\d{1,3}[ ](?:\w{1,20}[ ])?files?", before=40, after=40, likely=_after_digit)
    match = around.search(text)

    assert (match and match[0]) == found


@pytest.mark.parametrize("words", [("file", "test"), ("test", "file")])
def test_the_first_match_is_the_one_that_begins_first_whatever_word_is_looked_for_first(words: tuple[str, str]) -> None:
    around = WindowPattern(words, r"\d{1,3}[ ](?:file|test)s", before=10, after=10, likely=_after_digit)
    files, tests = around.search("3 files, 12 tests"), around.search("12 tests and then 3 files")

    assert (files and files[0], tests and tests[0]) == ("3 files", "12 tests")


def test_half_a_character_in_a_reply_keeps_every_position() -> None:
    text = "\ud800 All 12 **tests**\npass. \udfff"

    evidence = next(piece for piece in analyze_text(text).evidence if piece.signal == "completion_keyword")

    assert text[evidence.start : evidence.end] == "All 12 **tests**\npass"


@pytest.mark.parametrize("text", ["a1", "0", "第３步", "é 7", "x" * 1_000 + "9"])
def test_a_digit_is_seen_in_any_script(text: str) -> None:
    assert has_digit(text)


@pytest.mark.parametrize("text", ["", "one of several", "第三步", "½", "é"])
def test_nothing_else_is_a_digit(text: str) -> None:
    assert not has_digit(text)


def test_numbers_are_read_in_digits_and_in_words() -> None:
    assert [parse_count(said) for said in ("12", "three", "both", "两", "十")] == [12, 3, 2, 2, 10]

"""A reply as it is read, and patterns that are tried only near some words."""

import re
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.analysis import Analysis, analyze_text, to_json
from ralph.analysis.text import HEAD, TAIL, PrefilteredPattern, has_digit, read

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
planted = runpy.run_path(str(BENCHMARKS / "analysis_texts.py"))["planted"]

MB = 1_000_000
FILLER = "The module reads a file and gives its lines to the parser.\n"
MARKS = st.sampled_from((
    "```",
    "\n```\n",
    "`a`",
    '"a b"',
    "“a”",
    "「好」",
    "\n> a",
    "\n| a |",
    "\n# a\n",
    "a. B",
    "\n",
    "好。",
    "é",
    "İ",
))


def long_reply(size: int, **cues: str) -> str:
    """Plain lines with a cue of its own at the start, in the middle and at the end."""
    half = FILLER * (size // len(FILLER) // 2)
    return f"{cues.get('start', '')}\n{half}{cues.get('middle', '')}\n{half}{cues.get('end', '')}\n"


def shown(analysis: Analysis, text: str, *signals: str) -> list[str]:
    return [text[piece.start : piece.end] for piece in analysis.evidence if piece.signal in signals]


@given(st.lists(MARKS, max_size=30).map("".join))
def test_what_is_blanked_leaves_every_other_character_in_its_place(text: str) -> None:
    reading = read(text)

    assert len(reading.text) == len(reading.lower) == len(reading.unfenced) == len(reading.prose) == len(text)
    assert all(kept in {" ", char} for kept, char in zip(reading.unfenced, reading.text, strict=True))
    assert all(line_break == "\n" for line_break, char in zip(reading.prose, text, strict=True) if char == "\n")


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("It is `done` now.", "it is        now."),
        ('It says "done" now.', "it says        now."),
        ("a\n```\ndone\n```\nb", "a\n   \n    \n   \nb"),
        ("a\n~~~ sh\ndone", "a\n      \n    "),
        ("```\na\n~~~\ndone\n```\nb", "   \n \n   \n    \n   \nb"),
        ("> done\n| done |\nb", "      \n        \nb"),
        ("a <think>done</think> b", "a                     b"),
        ("a <think>open", "a <think>open"),
        ("它說「完成」了", "它說    了"),
        ("it’s", "it's"),
    ],
)
def test_what_the_agent_does_not_say_itself_is_no_prose(text: str, prose: str) -> None:
    assert read(text).prose == prose


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", " Two!", " Three?", " Four"]),
        ("In a.py and 3.5 too.\nThen", ["In a.py and 3.5 too.", "\n", "Then"]),
        ("A line\ngoes on here", ["A line\ngoes on here"]),
        ("A line\n\nanother", ["A line\n\n", "another"]),
        ("完成了。還有！對", ["完成了。", "還有！", "對"]),
        ("# Head\ntext", ["# Head", "\ntext"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    reading = read(text)
    found = list(dict.fromkeys(reading.sentence(position) for position in range(len(text))))

    assert [text[begin:end] for begin, end in found] == sentences


@pytest.mark.parametrize("share", [0, 0.5, 1])
@pytest.mark.parametrize("size", [2 * MB, 10 * MB])
def test_a_strong_phrase_is_found_wherever_it_stands(share: float, size: int) -> None:
    text = planted(size, "All 12 tests are passing. No remaining issues.", share)

    found = shown(analyze_text(text), text, "completion_keyword", "discounted_keyword")

    assert "All 12 tests are passing" in found
    assert "No remaining issues" in found


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_a_status_block_is_found_wherever_it_stands(share: float) -> None:
    block = "---RALPH_STATUS---\nEXIT_SIGNAL: true\nSTATUS: COMPLETE\n---END_RALPH_STATUS---"
    text = planted(10 * MB, block, share)

    analysis = analyze_text(text)

    assert analysis.state == "done"
    assert shown(analysis, text, "exit_signal") == [block]


def test_every_piece_of_a_long_reply_keeps_its_place() -> None:
    cues = {"start": "All tests pass.", "middle": "No remaining issues.", "end": "It is ready for review."}
    text = long_reply(MB, **cues)

    found = shown(analyze_text(text), text, "completion_keyword")

    assert found == ["All tests pass", "No remaining issues", "ready for review"]


@pytest.mark.parametrize("unicode", ["é", "完", "👩\u200d👧", "\ud800"])
def test_places_are_characters_whatever_their_size(unicode: str) -> None:
    text = long_reply(MB, start=unicode * 20_000, middle=f"{unicode * 400} All tests pass.")

    assert shown(analyze_text(text), text, "completion_keyword") == ["All tests pass"]


@pytest.mark.parametrize(
    "middle",
    [
        "Not all tests pass.",
        "Once all tests pass, I will go on.",
        'It prints "all tests pass" then.',
        "> all tests pass",
        "```\nall tests pass\n```",
    ],
)
def test_what_is_not_meant_does_not_count_in_the_middle_of_a_long_reply_either(middle: str) -> None:
    assert not analyze_text(long_reply(MB, middle=middle)).completion.detected


def test_a_fence_that_is_open_before_the_end_is_read_hides_what_is_in_it() -> None:
    assert not analyze_text(long_reply(MB, middle="```", end="All tests pass.")).completion.detected
    assert analyze_text(long_reply(MB, middle="```\n```", end="All tests pass.")).completion.detected


@pytest.mark.parametrize(
    "middle",
    [
        "BLOCKED: the tests cannot run without database credentials, please provide them.",
        "I cannot continue without database credentials.",
    ],
)
def test_a_blocker_is_found_in_the_middle_of_a_long_reply(middle: str) -> None:
    assert analyze_text(long_reply(MB, middle=middle)).state == "blocked"


def test_a_phrase_is_not_crowded_out_by_weaker_ones() -> None:
    noise = "This is done, that is done.\n" * 10_000
    text = long_reply(MB, middle=f"{noise}All tests pass.\n{noise}")

    assert "All tests pass" in shown(analyze_text(text), text, "completion_keyword")


def test_the_result_says_how_much_was_read() -> None:
    short, long = FILLER * 1000, long_reply(MB)

    assert to_json(analyze_text(short))["read"] is None
    assert to_json(analyze_text(long))["read"] == {"closely": HEAD + TAIL, "of": len(long), "left_out": 0}


def test_the_result_says_that_words_were_left_out() -> None:
    read_ = analyze_text("not " * 18_000).read

    assert read_ is not None
    assert read_.left_out > 20_000
    assert read_.closely == read_.of


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

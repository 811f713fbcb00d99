import io
import json
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.system.text import CONTEXT, PrintableStream, escaped, pattern, printable, visible, visible_part


def test_it_does_what_a_compiled_pattern_does() -> None:
    word = pattern(r"(?P<letter>[a-z])\d", re.IGNORECASE)

    assert [match["letter"] for match in word.finditer("a1 B2 c")] == ["a", "B"]
    assert word.sub("-", "a1 B2") == "- -"
    assert word.match("x a1") is None
    assert word.search("x a1", 1) is not None
    assert word.pattern == r"(?P<letter>[a-z])\d"


def test_a_mistake_shows_with_the_first_use() -> None:
    broken = pattern("(")

    with pytest.raises(re.error, match="missing \\)"):
        broken.match("")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x1b[31mb\x1b]52;c;x\x07c\x1b]8;;u\x1b\\d\x1bPx\x1b\\e\x1bf", "abcdef"),
        ("\x1b[12;", "[12;"),
        ("\x1b]0;never ends\nnext", "]0;never ends\nnext"),
        ("one\ttwo\r\nthree", "one\ttwo\r\nthree"),
        ("pass\u200bword \u202eexe\u202c a\ufe0f\u200db", "password exe ab"),
        (
            "👩\u200d💻 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3",
            "👩\u200d💻 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 1\u20e3",
        ),
        ("a" + "\u0301" * 500 + " ก" + "\u0e49" * 300 + "x", "a" + "\u0301" * 8 + " ก" + "\u0e49" * 8 + "x"),
        ("tie\u0302\u0301ng Vie\u0323\u0302t", "tie\u0302\u0301ng Vie\u0323\u0302t"),
        ("gh\x1b👩\ufe0fp 👩\u200b\u200dx", "gh👩\ufe0fp 👩x"),
    ],
)
def test_only_what_is_visible_is_left(text: str, seen: str) -> None:
    assert visible(text) == seen
    assert visible(seen) == seen


@given(st.text(st.sampled_from("\x1b[]3m\x07\\a\u0301\u200d\ufe0f😀\nP\u200b\x9b"), max_size=30), st.randoms())
def test_pieces_show_what_the_whole_shows(text: str, random: Random) -> None:
    whole, left, context, shown = visible(text), "", 0, ""
    while text:
        size = random.randint(1, 5)
        left, text = left + text[:size], text[size:]
        seen, end = visible_part(left, context, final=not text)
        shown += seen
        context = min(end, CONTEXT)
        left = left[end - context :]
    assert shown == whole


def test_a_stream_writes_what_is_visible_and_colours_that_hide_nothing() -> None:
    out = io.StringIO()
    stream = PrintableStream(out)

    assert stream.write("\x1b[1;32mgreen\x1b[0m \x1b[8mhidden\x1b[0m\x1b[2K\rover \x1b[30;40mblack") > 0
    stream.writelines(["\x1b[91mred\x1b[m", "\x9b2J"])

    assert out.getvalue() == "\x1b[1;32mgreen\x1b[0m hidden\x1b[0m\nover black\x1b[91mred\x1b[m2J"
    assert stream.getvalue() == out.getvalue()
    assert stream.buffer is None, "typer would write there if it does not like the encoding"


def test_escaped_json_stands_for_the_same_value() -> None:
    value = "\x7f\x9b \u202e \U000e0041 👩\u200d💻 é"
    text = escaped(json.dumps(value, ensure_ascii=False))

    assert json.loads(text) == value
    assert visible(text) == text
    assert "é" in text


def test_a_text_that_is_cut_says_so_even_if_little_of_it_is_visible() -> None:
    assert printable("one\x1b[0m" * 3, 50) == "oneoneone"
    assert printable("x" * 60, 50) == f"{'x' * 50} …"
    assert printable("one\x1b[0m" * 100, 50).endswith(" …")

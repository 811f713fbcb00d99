"""Answers as lines of JSON, as `ralph score --jsonl` reads them."""

import io
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.system import files
from ralph_grounding.ground_truth.chunks import page_of_text
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.lines import Line


def read(*content: bytes) -> list[tuple[int, Line | str]]:
    return list(files.objects(io.BytesIO(b"\n".join(content)), Line, as_written=True))


def test_each_line_is_read_by_its_number_and_empty_ones_are_passed_over() -> None:
    found = read(b'\xef\xbb\xbf{"response": "a"}', b"", b"  ", b'{"response": "b"}\r', b'{"response": "c"}')
    assert [(number, line.response) for number, line in found if isinstance(line, Line)] == [
        (1, "a"),
        (4, "b"),
        (5, "c"),
    ]


def test_a_line_says_what_its_answer_is_held_against() -> None:
    said = {
        "response": "r",
        "question": "q",
        "reference": "e",
        "claims": ["one", {"statement": "two", "importance": "optional"}],
        "ground_truth": ["text", {"text": "more", "url": "https://a.example/x", "title": "T"}],
        "domain": "a.example",
        "brands": ["A"],
        "provider": "p",
        "model": "m",
        "something": "else",
    }
    ((_, line),) = read(json.dumps(said).encode())
    assert isinstance(line, Line)
    query, answer, ground = line.query(7), line.answer(7), line.ground(GroundTruth())
    assert (query.text, query.expected.text, query.domain) == ("q", "e", "a.example")
    assert [(claim.statement, claim.importance) for claim in query.expected.claims or ()] == [
        ("one", "required"),
        ("two", "optional"),
    ]
    assert (answer.response, answer.provider, answer.model) == ("r", "p", "m")
    assert [page.url for page in ground.pages] == ["ground truth 1", "https://a.example/x"]
    assert ground.brands == ("A",)


def test_what_a_line_does_not_say_holds_as_for_all() -> None:
    shared = GroundTruth(pages=(page_of_text("Shared.", url="s"),), domain="s.example", brands=("S",))
    assert Line(response="r").ground(shared) is shared
    own = Line(response="r", brands=("A",)).ground(shared)
    assert (own.pages, own.domain, own.brands) == (shared.pages, "s.example", ("A",))
    assert Line(response="r").query(1).expected.claims is None
    assert Line(response="r", claims=()).query(1).expected.claims == ()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "it is not JSON: "),
        (b"nonsense", "it is not JSON: "),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"response": 1' + b"0" * 5000 + b"}", "a number that is too long"),
        (b'"text"', "it is not an object"),
        (b"[]", "it is not an object"),
        (b'{"reference": "x"}', "response: it is missing"),
        (b'{"response": "x", "claims": "one"}', "claims: "),
        (b'{"response": "x", "claims": [{"statement": ""}]}', "claims.0.statement: "),
        (b'{"response": "x", "claims": [{"statement": "s", "importance": "vital"}]}', "claims.0.importance: "),
        (b'{"response": "x", "ground_truth": [{"url": "u"}]}', "ground_truth.0.text: "),
        (b'{"response": "x", "domain": null}', "domain: "),
    ],
)
def test_a_broken_line_is_told_of_and_the_next_one_is_read(line: bytes, said: str) -> None:
    (_, problem), (number, after) = read(line, b'{"response": "fine"}')
    assert isinstance(problem, str)
    assert said in problem
    assert len(problem) <= 300
    assert (number, isinstance(after, Line)) == (2, True)


def test_bytes_that_are_no_utf_8_are_replaced() -> None:
    ((_, line),) = read(b'{"response": "caf\xe9"}')
    assert isinstance(line, Line)
    assert line.response == "caf\N{REPLACEMENT CHARACTER}"


def test_a_line_has_a_longest_length_and_the_next_one_is_read() -> None:
    assert files.MOST_BYTES == 64 * 1024 * 1024
    fits = json.dumps({"response": "a" * (1024**2 - 16)}).encode()
    assert len(fits) == 1024**2
    for longer in (1, 2, 10, 1024**2, 3 * 1024**2):
        content = b"\n".join((fits, b"a" * (1024**2 + longer), b'{"response": "fine"}'))
        found = list(files.objects(io.BytesIO(content), Line, most=1024**2, as_written=True))
        assert [number for number, _ in found] == [1, 2, 3]
        assert isinstance(found[0][1], Line)
        assert found[1][1] == "the line is longer than 1 MiB"
        assert isinstance(found[2][1], Line)
    alone = files.objects(io.BytesIO(b"a" * 3 * 1024**2), Line, most=1024**2)
    assert [line for _, line in alone] == ["the line is longer than 1 MiB"]


def test_lines_are_read_as_they_are_asked_for() -> None:
    stream = io.BytesIO(b'{"response": "a"}\n' * 1000)
    next(files.objects(stream, Line))
    assert stream.tell() < 1000


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=60) | st.text(max_size=40).map(lambda text: json.dumps({"response": text}).encode()))
)
def test_no_bytes_raise_anything(content: list[bytes]) -> None:
    for _, line in read(*content):
        assert isinstance(line, Line | str)


def test_a_long_line_of_nothing_takes_no_time() -> None:
    began = time.perf_counter()
    read(b"[" * 10**7, b"{" * 10**7, b'{"response":' * 10**6, b'"' * 10**7)
    assert time.perf_counter() - began < 10

"""Bounded JSON lines, and values read out of them."""

import json
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.executors.program_output import (
    JsonLines,
    Oversized,
    Unreadable,
    as_json,
    mapping,
    number,
    objects,
    text,
    texts,
    whole,
)

_OBJECTS = st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.text()), max_size=5)


@given(printed=_OBJECTS, cuts=st.lists(st.integers(min_value=0, max_value=300)))
def test_where_the_chunks_are_cut_does_not_matter(printed: list[dict[str, object]], cuts: list[int]):
    content = "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in printed).encode()
    borders = [0, *sorted(cuts), len(content)]
    lines = JsonLines()
    found = [line for at, to in pairwise(borders) for line in lines.feed(content[at:to])]
    assert found == printed
    assert not list(lines.end())


def test_the_last_line_needs_no_line_break():
    lines = JsonLines()
    assert not list(lines.feed(b'{"a": 1}'))
    assert list(lines.end()) == [{"a": 1}]
    assert not list(lines.end())


def test_what_is_no_object_is_given_as_text():
    lines = list(JsonLines().feed(b"Error: oh\n[1]\n\n  \r\n" + b"[" * 100_000 + b"\n" + b"\xff" * 5_000 + b"\n"))
    assert lines[:2] == [Unreadable("Error: oh"), Unreadable("[1]")]
    assert all(isinstance(line, Unreadable) and len(line.text) <= 300 for line in lines)
    assert len(lines) == 4


def test_a_gigantic_line_is_left_out_and_takes_no_memory():
    lines = JsonLines(limit=100_000)
    head = b'{"type":"tool.execution_complete","data":{"toolCallId":"call \\"1\\"","result":"'
    tracemalloc.start()
    found = list(lines.feed(head))
    for _ in range(50 * 16):
        found += lines.feed(b"x" * 65_536)
    found += lines.feed(b'"}}\n{"after": 1}\n')
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    oversized, after = found
    assert isinstance(oversized, Oversized)
    assert oversized.size == len(head) + 50 * 16 * 65_536 + 3
    assert oversized.field("type") == "tool.execution_complete"
    assert oversized.field("toolCallId") == 'call \\"1\\"'
    assert oversized.field("toolName") == ""
    assert after == {"after": 1}
    assert peak < 1_000_000


def test_a_gigantic_chunk_keeps_only_its_head():
    (line,) = JsonLines(limit=1_000).feed(b'{"type":"x","y":"' + b"z" * 10_000_000 + b'"}\n')
    assert isinstance(line, Oversized)
    assert len(line.head) <= 4_096
    assert line.field("type") == "x"


def test_a_line_at_the_limit_is_whole():
    said = json.dumps({"a": "x" * 100})
    assert list(JsonLines(limit=len(said)).feed(f"{said}\n".encode())) == [json.loads(said)]
    assert isinstance(next(JsonLines(limit=len(said) - 1).feed(f"{said}\n".encode())), Oversized)


ODD: list[object] = [None, True, -1, 1e300, float("nan"), "x", "a\ud800", [], [1, {"a": 1}], {"a": [1]}, object(), {1}]


@pytest.mark.parametrize("value", ODD)
def test_any_value_can_be_read_as_anything(value: object):
    assert mapping(value) == (value if isinstance(value, dict) else {})
    assert all(isinstance(each, dict) for each in objects(value))
    assert all(isinstance(each, str) for each in texts(value))
    assert number(value) is None
    assert whole(value) is None
    assert text(value).encode() is not None
    assert as_json(value).encode() is not None


def test_values_of_the_wanted_type_are_kept():
    assert objects([{"a": 1}, 2, {}]) == [{"a": 1}, {}]
    assert texts(["a", 1]) == ["a", ""]
    assert (number(1.5), whole(1.5), whole(0)) == (1.5, 1, 0)
    assert text("a\ud800é") == "a\ufffdé"
    assert (as_json({"a": "é"}), as_json("as it is"), as_json(None)) == ('{"a": "é"}', "as it is", "")

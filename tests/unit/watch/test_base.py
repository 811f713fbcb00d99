"""The writer of the displays never delays the run, however slowly the reader reads."""

import errno
import io
import os
import threading
from pathlib import Path

import pytest

from ralph.watch import base
from ralph.watch.base import BackgroundWriter


def test_everything_arrives_in_order(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8") as file:
        file.write("before\n")
        out = BackgroundWriter(file)
        for number in range(1_000):
            out.write(f"{number} 測\n")
        out.close()
    told = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    assert told == ["before", *(f"{number} 測" for number in range(1_000))]


def test_a_reader_that_does_not_read_holds_nothing_up() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream, os.fdopen(reading, "rb") as reader:
        out = BackgroundWriter(stream)
        for _ in range(100):
            out.write("x" * 10_000)  # a pipe takes 64 KB
        out.close(within=0.05)
        arrived: list[bytes] = []
        patient = threading.Thread(target=lambda: arrived.append(reader.read(1_000_000)))
        patient.start()
        patient.join(10)
    assert len(arrived[0]) == 1_000_000


def test_a_reader_that_is_gone_is_no_error() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        os.close(reading)
        out = BackgroundWriter(stream)
        out.write("x")
        out.close()
        assert out.gone
        assert out.refused is None
        out.write("y")
        out.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_disk_that_has_no_room_is_remembered() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as stream:
        out = BackgroundWriter(stream)
        out.write("x")
        out.write("y")
        out.close()
    assert out.refused is not None
    assert out.refused.errno == errno.ENOSPC


def test_it_says_when_a_reader_is_far_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_MOST_UNREAD", 100_000)
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream, os.fdopen(reading, "rb") as reader:
        out = BackgroundWriter(stream)
        out.write("x" * 50_000)
        assert not out.full
        out.write("x" * 400_000)
        assert out.full
        threading.Thread(target=reader.read, args=(450_000,), daemon=True).start()
        out.close(10)
        assert not out.full


def test_what_the_encoding_has_not_is_replaced() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="ascii") as stream:
        out = BackgroundWriter(stream)
        out.write("a ✓ “3 × 4 – 5” → … \ud800")
        out.close()
    arrived = os.read(reading, 100)
    os.close(reading)
    assert arrived == b'a ? "3 x 4 - 5" -> ... ?'


def test_a_stream_without_a_descriptor() -> None:
    stream = io.StringIO()
    out = BackgroundWriter(stream)
    out.write("x")
    out.close()
    assert stream.getvalue() == "x"

"""What a command is given to read: bounded, mended, and told of in one sentence where it will not do."""

import io
from pathlib import Path

import pytest
from pydantic import BaseModel

from ralph.errors import UsageError
from ralph.system import files


class Said(BaseModel, frozen=True):
    text: str


def test_a_reader_that_went_away_is_no_fault_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Done.")
    with pytest.raises(BrokenPipeError), files.opened(str(tmp_path / "a.md")):
        raise BrokenPipeError


@pytest.mark.parametrize("name", ["nowhere.md", "."])
def test_what_cannot_be_read_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=f"The file '{name}' cannot be read"):
        files.text_of(name)


def test_a_text_may_be_as_large_as_a_line_and_no_larger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1024**2)
    place = tmp_path / "a.md"
    place.write_bytes(b"a" * 1024**2)
    assert len(files.text_of(str(place))) == 1024**2
    place.write_bytes(b"a" * (1024**2 + 1))
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        files.text_of(str(place))


def test_bytes_that_are_no_text_are_replaced_and_a_mark_of_order_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfDone\xff.")
    assert files.text_of(str(tmp_path / "a.md")) == "Done\ufffd."


def test_texts_are_made_such_as_can_be_stored_unless_they_are_wanted_as_written() -> None:
    line = b'{"text": "a\\u0000b\\ud800"}'
    assert files.as_object(line, Said, as_written=True) != files.as_object(line, Said)
    kept = list(files.objects(io.BytesIO(line), Said))
    assert isinstance(kept[0][1], Said)
    kept[0][1].text.encode()
    assert "\0" not in kept[0][1].text


def test_a_line_that_is_too_long_is_one_line_however_long_it_is() -> None:
    stream = io.BytesIO(b'{"text": "' + b"a" * 1000 + b'"}\n{"text": "b"}\n')
    (first, wrong), second = files.objects(stream, Said, most=64)
    assert (first, str(wrong).startswith("the line is longer than")) == (1, True)
    assert second == (2, Said(text="b"))


def test_options_that_each_line_has_for_itself_are_named() -> None:
    files.refuse_beside_lines({"--task": None, "--plan": ""}, "each object says its own.")
    with pytest.raises(UsageError, match="--task and --plan cannot be given with --jsonl") as refused:
        files.refuse_beside_lines({"--task": "a", "--plan": "b", "--previous": None}, "each object says its own.")
    assert "There each object says its own." in str(refused.value)

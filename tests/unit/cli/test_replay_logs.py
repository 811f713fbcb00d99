"""Another tool's logs in a folder: which files are passes, in which order, of which run."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph.cli.replay_sources import Broken, Line, read_logs
from ralph.errors import UsageError

RESULT = {"type": "result", "is_error": False, "result": "Only the result.", "num_turns": 4}
STREAM = {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "1", "name": "Read", "input": {}}]}}


def write(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        (folder / name).write_text(content)
    return folder


def passes(folder: Path) -> list[Line]:
    return [each for each in read_logs(folder) if isinstance(each, Line)]


def test_only_the_agents_outputs_are_passes_where_they_have_their_name(tmp_path: Path) -> None:
    (tmp_path / "ralph.log").write_text("[INFO] loop 1")
    (tmp_path / "status.json").write_text("{}")
    for hour in (9, 10, 11):
        (tmp_path / f"claude_output_2026-01-02_{hour:02}-30-00.log").write_text(f"At {hour}.")
    found = passes(tmp_path)
    assert [line.text for line in found] == ["At 9.", "At 10.", "At 11."]
    assert {line.name for line in found} == {tmp_path.name}
    assert found[0].at == datetime(2026, 1, 2, 9, 30).astimezone()


def test_of_a_turn_that_is_logged_twice_the_whole_stream_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "claude_output_1.log").write_text(json.dumps(RESULT))
    (tmp_path / "claude_output_1_stream.log").write_text(f"{json.dumps(STREAM)}\n{json.dumps(RESULT)}\n")
    (tmp_path / "claude_output_2.log").write_text(json.dumps(RESULT))
    (tmp_path / "claude_output_2_stream.log").write_text("")
    first, second = passes(tmp_path)
    assert (first.text, first.tools, second.tools) == ("Only the result.", 1, 3)
    assert first.changes is not None
    assert second.changes is None


def test_any_other_logs_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 9, 1, 100):
        (tmp_path / f"iteration-{number}.txt").write_text(str(number))
    (tmp_path / ".hidden.log").write_text("no")
    (tmp_path / "picture.png").write_text("no")
    (tmp_path / "folder.log").mkdir()
    assert [line.text for line in passes(tmp_path)] == ["1", "9", "10", "100"]


def test_a_night_between_two_passes_begins_another_run(tmp_path: Path) -> None:
    for time in ("2026-01-02_09-00-00", "2026-01-02_14-59-00", "2026-01-02_21-00-00", "2026-01-02_21-05-00"):
        (tmp_path / f"claude_output_{time}.log").write_text("?")
    name = tmp_path.name
    assert [line.name for line in passes(tmp_path)] == [f"{name}#1", f"{name}#1", f"{name}#2", f"{name}#2"]


def test_a_name_without_a_time_leaves_the_files_own(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("?")
    os.utime(tmp_path / "a.log", (1_700_000_000, 1_700_000_000))
    assert passes(tmp_path)[0].at == datetime.fromtimestamp(1_700_000_000, UTC)


def test_a_log_without_a_time_in_its_name_was_written_at_the_turns_end(tmp_path: Path) -> None:
    for took, began in ((90_500, 1_699_999_909.5), (10**15, 1_700_000_000), (-5, 1_700_000_000), ("?", 1_700_000_000)):
        (tmp_path / "a.log").write_text(json.dumps({**RESULT, "duration_ms": took}))
        os.utime(tmp_path / "a.log", (1_700_000_000, 1_700_000_000))
        assert passes(tmp_path)[0].at == datetime.fromtimestamp(began, UTC)
    assert write(tmp_path, **{"a_20261399_999999.log": "?"})
    assert len(passes(tmp_path)) == 2


def test_links_and_pipes_are_told_of_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("elsewhere")
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "1.log").symlink_to(tmp_path / "secret")
    os.mkfifo(logs / "2.log")
    (logs / "3.log").write_bytes(b"\xff\x00 fine \xed\xa0\x80")
    found = list(read_logs(logs))
    assert [each for each in found if isinstance(each, Broken)] == [
        Broken({"file": "1.log"}, "it is a link, and links are not followed"),
        Broken({"file": "2.log"}, "it is not a regular file"),
    ]
    assert len([each for each in found if isinstance(each, Line)]) == 1


@pytest.mark.parametrize("name", ["nowhere", "file", "empty"])
def test_a_folder_without_logs_is_a_mistake(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("?")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"cannot be read|no log"):
        list(read_logs(tmp_path / name))

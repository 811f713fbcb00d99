"""Other tools' logs, in a folder or in their usual places: which files are passes, in which order, of which run."""

import json
import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ralph.cli.replay_found import find_loops
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


WORKED = "Wrote a part. More is to do."
DONE = "It is done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"
IDLE = "There is nothing left to do."
PROMPT = "Work on the plan, pass {}."


def stamp(minute: int, second: int = 0) -> str:
    return f"2026-01-02T03:{minute:02}:{second:02}.000Z"


def claude_session(minute: int, said: str, *, folder: str = "/work/parser", prompt: str = PROMPT) -> list[Any]:
    """A session as Claude Code 2.1.330 keeps it, with fewer fields; its usage stands in each line of a message."""
    common = {"isSidechain": False, "cwd": folder, "timestamp": stamp(minute)}
    usage = {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 10}
    call = {"type": "tool_use", "id": "c1", "name": "Write", "input": {"file_path": f"{folder}/a.py", "content": "1"}}
    used = {"id": "m1", "role": "assistant", "usage": usage}
    return [
        {"type": "queue-operation", "operation": "enqueue", "timestamp": stamp(minute)},
        {**common, "type": "user", "message": {"role": "user", "content": prompt.format(minute)}},
        {**common, "type": "assistant", "message": {**used, "content": [{"type": "text", "text": "I begin."}]}},
        {**common, "type": "assistant", "message": {**used, "content": [call]}},
        {**common, "type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "c1"}]}},
        {
            **common,
            "timestamp": stamp(minute, 30),
            "type": "assistant",
            "message": {**used, "id": "m2", "content": [{"type": "text", "text": said}]},
        },
        {"type": "cost-state", "totalCostUSD": 0.5},
    ]


def codex_session(minute: int, said: str) -> list[Any]:
    """A session as Codex 0.169 keeps it, with fewer fields; its token counts are those of the session so far."""

    def line(kind: str, second: int = 0, **payload: Any) -> dict[str, Any]:
        return {"timestamp": stamp(minute, second), "type": kind, "payload": payload}

    def counted(number: int) -> dict[str, Any]:
        total = {"input_tokens": 1000 * number, "cached_input_tokens": 400, "output_tokens": 10 * number}
        return line("event_msg", type="token_count", info={"total_token_usage": total})

    def message(role: str, text: str, second: int = 0) -> dict[str, Any]:
        return line("response_item", second, type="message", role=role, content=[{"type": "x_text", "text": text}])

    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-1\n+2\n*** End Patch"
    return [
        line("session_meta", cwd="/work/parser", originator="codex_exec"),
        message("developer", "Be brief."),
        message("user", "<environment_context>\n  <cwd>/work/parser</cwd>\n</environment_context>"),
        message("user", PROMPT.format(minute)),
        line("response_item", type="custom_tool_call", name="apply_patch", call_id="c1", input=patch),
        line("response_item", type="custom_tool_call_output", call_id="c1", output="Process exited with code 0"),
        counted(1),
        message("assistant", said, 30),
        counted(2),
        line("event_msg", type="task_complete", last_agent_message=said),
    ]


def copilot_session(minute: int, said: str) -> list[Any]:
    """A session as Copilot CLI 1.0.102 keeps it, with fewer fields."""

    def line(kind: str, second: int = 0, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "timestamp": stamp(minute, second)}

    def used(call: str) -> dict[str, Any]:
        usage = {"inputTokens": 1000, "outputTokens": 10, "cacheReadTokens": 0, "apiCallId": call}
        return line("session.usage_record", usage=usage)

    return [
        line("session.start", context={"cwd": "/work/parser"}),
        line("user.message", content=PROMPT.format(minute), transformedContent="<current_datetime>…"),
        used("1"),
        line("assistant.message", messageId="m1", content="", toolRequests=[{"toolCallId": "c1"}]),
        line("tool.execution_start", toolCallId="c1", toolName="create", arguments={"path": "/work/parser/a.py"}),
        line("tool.execution_complete", toolCallId="c1", success=True),
        used("2"),
        line("assistant.message", 30, messageId="m2", content=said, toolRequests=[]),
        line("session.shutdown", shutdownType="routine"),
    ]


def orchestrator_lines(number: int, said: str) -> list[Any]:
    """An iteration in ralph-orchestrator's diagnostics."""
    common = {"ts": stamp(number), "iteration": number, "hat": "builder"}
    call = {"type": "tool_call", "name": "Write", "id": f"c{number}", "input": {"file_path": "a.py"}}
    return [
        {**common, **call},
        {**common, "type": "tool_result", "id": f"c{number}", "output": "ok"},
        {**common, "ts": stamp(number, 30), "type": "text", "text": said},
        {**common, "type": "complete", "input_tokens": 2000, "output_tokens": 20},
    ]


def keep(path: Path, lines: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"".join((each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in lines)
    )
    return path


Session = Callable[[int, str], list[Any]]
SESSIONS: dict[str, tuple[str, Session]] = {
    "Claude Code": (".claude/projects/-work-parser/{}.jsonl", claude_session),
    "Codex": (".codex/sessions/2026/01/02/rollout-2026-01-02T03-0{0}-00-{0}.jsonl", codex_session),
    "Copilot CLI": (".copilot/session-state/{}/events.jsonl", copilot_session),
}
VARIABLES = {"Claude Code": "CLAUDE_CONFIG_DIR", "Codex": "CODEX_HOME", "Copilot CLI": "COPILOT_HOME"}


@pytest.fixture(autouse=True)
def _nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES.values():
        monkeypatch.delenv(name, raising=False)


def found_in(folder: Path, **environment: str) -> list[Line | Broken]:
    return find_loops(folder, environment).passes


@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.parametrize("moved", [False, True])
def test_sessions_with_the_same_prompt_are_a_loop(name: str, moved: bool, home: Path, tmp_path: Path) -> None:
    pattern, session = SESSIONS[name]
    base = tmp_path / "elsewhere" if moved else home
    place = pattern.partition("/")[2] if moved else pattern
    for minute, said in ((1, WORKED), (2, DONE)):
        keep(base / place.format(minute), session(minute, said))
    first, second = found_in(tmp_path, **({VARIABLES[name]: str(base)} if moved else {}))
    assert isinstance(first, Line)
    assert isinstance(second, Line)
    assert (first.name, first.text, first.error) == (f"parser ({name})", WORKED, None)
    assert (second.text, second.task) == (DONE, PROMPT.format(2))
    assert (first.tools, first.duration) == (1, 30.0)
    assert first.changes is not None
    assert first.changes.files == 1
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.output_tokens) == (2000, 20)
    assert first.cost == (0.5 if name == "Claude Code" else None)
    assert first.at == datetime(2026, 1, 2, 3, 1, tzinfo=UTC)


def test_every_iteration_of_ralph_orchestrator_is_a_pass(tmp_path: Path) -> None:
    lines = [*orchestrator_lines(1, WORKED), *orchestrator_lines(2, DONE)]
    keep(tmp_path / ".ralph/diagnostics/2026-01-02T03-00-00/agent-output.jsonl", lines)
    first, second = found_in(tmp_path)
    assert isinstance(first, Line)
    assert isinstance(second, Line)
    assert (first.name, first.text, second.text) == (f"{tmp_path.name} (ralph-orchestrator)", WORKED, DONE)
    assert first.usage is not None
    assert (first.tools, first.usage.input_tokens) == (1, 2000)


@pytest.mark.parametrize("folder", ["logs", ".ralph/logs"])
def test_a_bash_loops_outputs_are_found_in_the_current_folder(folder: str, tmp_path: Path) -> None:
    for minute in (1, 2):
        keep(tmp_path / folder / f"claude_output_2026-01-02_03-0{minute}-00.log", [RESULT])
    assert [each.name for each in found_in(tmp_path) if isinstance(each, Line)] == [
        f"{tmp_path.name}/{folder} (frankbria's ralph)"
    ] * 2


def test_a_hook_that_lets_a_session_continue_makes_a_loop_of_it(home: Path, tmp_path: Path) -> None:
    again = {"type": "user", "isMeta": True, "message": {"content": f"Stop hook feedback:\n{PROMPT.format(1)}"}}
    meta = {"type": "user", "isMeta": True, "message": {"content": "A reminder."}}
    _, _, *rest = claude_session(2, DONE)
    keep(home / ".claude/projects/p/1.jsonl", [*claude_session(1, WORKED), again, meta, *rest])
    assert [each.text for each in found_in(tmp_path) if isinstance(each, Line)] == [WORKED, DONE]


def test_a_session_that_is_copied_into_the_next_one_counts_once(home: Path, tmp_path: Path) -> None:
    first, second = claude_session(1, WORKED), claude_session(2, DONE)
    keep(home / ".claude/projects/p/1.jsonl", first)
    keep(home / ".claude/projects/p/2.jsonl", [*first[:-1], *second])
    found = find_loops(tmp_path, {})
    assert [each.text for each in found.passes if isinstance(each, Line)] == [WORKED, DONE]


def test_a_conversation_is_no_loop(home: Path, tmp_path: Path) -> None:
    for minute, prompt in enumerate(("Fix it.", "Why?", "Commit it.")):
        keep(home / f".claude/projects/p/{minute}.jsonl", claude_session(minute, WORKED, prompt=prompt))
    found = find_loops(tmp_path, {})
    assert (found.passes, found.single) == ([], 3)


def test_sessions_of_a_folder_with_the_loops_own_logs_do_not_count_twice(home: Path, tmp_path: Path) -> None:
    for minute in (1, 2):
        keep(tmp_path / f"logs/claude_output_{minute}.log", [RESULT])
        keep(home / f".claude/projects/p/{minute}.jsonl", claude_session(minute, DONE, folder=str(tmp_path)))
        keep(home / f".claude/projects/q/{minute}.jsonl", claude_session(minute, DONE))
    found = find_loops(tmp_path, {})
    assert (len(found.passes), found.twice) == (4, 2)


def test_an_error_and_an_end_in_the_middle_are_failures(home: Path, tmp_path: Path) -> None:
    failed = {"isApiErrorMessage": True, "message": {"id": "m3", "content": "API Error: 529 overloaded"}}
    for minute in (1, 2):
        lines = claude_session(minute, WORKED)
        keep(
            home / f".claude/projects/p/{minute}.jsonl",
            [*lines, {"type": "assistant", **failed}] if minute == 1 else lines[:4],
        )
    first, second = found_in(tmp_path)
    assert isinstance(first, Line)
    assert isinstance(second, Line)
    assert first.error == "API Error: 529 overloaded"
    assert second.error == "the log ends before the turn does"


HOSTILE: list[Any] = [
    b"",
    b"{",
    b"[1]",
    b"null",
    b"\xff\xfe{}",
    b'{"type": ' + b"[" * 99_999,
    b'{"type": "user", "message": ' + b'{"content": [' * 300 + b"]}" * 300 + b"}",
    b'{"type": "user", "timestamp": 1e999, "message": 5, "cwd": ["x"], "payload": [], "data": 7, "iteration": {}}',
    b'{"type": ["user"], "payload": {"type": [], "role": {}}, "data": {"usage": []}, "iteration": '
    + b"9" * 5_000
    + b"}",
    {"type": "response_item", "payload": {"type": "message", "role": ["user"], "content": {"text": 1}}},
    {"type": "response_item", "payload": {"type": "function_call", "arguments": "[" * 99_999, "call_id": 1}},
    {"type": "assistant", "message": {"usage": {"input_tokens": 10**11, "output_tokens": -1}, "content": [1, None]}},
    {"type": "cost-state", "totalCostUSD": "much", "timestamp": "0001-01-01T00:00:00+14:00"},
    {"type": "text", "iteration": 1.5, "text": "\ud800\x1b[2J\u202e", "ts": "\ud800"},
]


@pytest.mark.parametrize("name", [*SESSIONS, "ralph-orchestrator"])
def test_hostile_lines_are_left_out_and_the_rest_counts(
    name: str, home: Path, tmp_path: Path, ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "workspace"
    monkeypatch.chdir(here)
    evil = "\x1b]0;x\x07\x1b[2J\u202eparser"
    if name in SESSIONS:
        pattern, session = SESSIONS[name]
        files = {home / pattern.format(minute): session(minute, f"{evil} {minute}") for minute in (1, 2)}
    else:
        lines = [*orchestrator_lines(1, evil), *orchestrator_lines(2, evil)]
        files = {here / ".ralph/diagnostics/x/agent-output.jsonl": lines}
    for path, lines in files.items():
        keep(path, [*HOSTILE, *[each for line in lines for each in (line, *HOSTILE)]])
    found = [each for each in find_loops(here, {}).passes if isinstance(each, Line)]
    assert len([each for each in found if "parser" in (each.text or "")]) == 2
    shown = ralph("replay", "--from-logs")
    assert shown.code == 0
    assert not {"\x1b", "\u202e", "\x07"} & {*shown.out, *shown.err}
    assert "Traceback" not in shown.err


def test_links_pipes_and_unreadable_files_are_not_followed(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for minute in (1, 2):
        keep(outside / f"{minute}.jsonl", claude_session(minute, DONE))
        keep(outside / f"claude_output_{minute}.log", [RESULT])
    projects = home / ".claude/projects"
    projects.mkdir(parents=True)
    (projects / "linked").symlink_to(outside)
    (projects / "own").mkdir()
    (projects / "own/1.jsonl").symlink_to(outside / "1.jsonl")
    os.mkfifo(projects / "own/2.jsonl")
    here = tmp_path / "here"
    here.mkdir()
    (here / "logs").symlink_to(outside)
    with pytest.raises(UsageError, match="No log of another tool was found"):
        find_loops(here, {})


def test_a_folder_that_cannot_be_read_is_named(home: Path, ralph: Callable[..., Any]) -> None:
    (home / ".claude").symlink_to(home / ".claude")
    ended = ralph("replay", "--from-logs")
    assert ended.code == 0
    assert f"left out: folder {home / '.claude'}: " in ended.err
    assert "There is no loop among them" in ended.out


def test_files_beyond_the_bound_are_left_out_the_newest_first(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for minute in (1, 2, 3):
        path = keep(home / f".claude/projects/p/{minute}.jsonl", claude_session(minute, f"{WORKED} {minute}"))
        os.utime(path, (minute, minute))
    long = {"type": "assistant", "message": {"content": "x" * 2_000}}
    keep(home / ".claude/projects/p/4.jsonl", [long] * 5)
    monkeypatch.setattr("ralph.cli.replay_found._MOST_BYTES", 2 * path.stat().st_size)
    found = find_loops(tmp_path, {})
    assert [each.text for each in found.passes if isinstance(each, Line)] == [f"{WORKED} 2", f"{WORKED} 3"]
    assert found.unread == 2


class TestCommand:
    def test_one_screen_says_what_the_loops_cost_and_what_ralph_would_have_saved(
        self, home: Path, ralph: Callable[..., Any]
    ) -> None:
        for minute in range(9):
            said = WORKED if minute < 3 else DONE if minute == 3 else IDLE
            keep(home / f".claude/projects/p/{minute}.jsonl", claude_session(minute, said))
        shown = ralph("replay", "--from-logs")
        assert (shown.code, shown.err) == (0, "")
        lines = shown.out.splitlines()
        assert lines[0] == "✓ parser (Claude Code)  is completed after pass 4 of 9"
        assert lines[1].startswith("  9 passes, $4.50; saves 5 passes, $2.50 of $4.50; cuts ")
        assert "Tokens: 18,000 in, 180 out" in lines
        assert lines[-1].startswith("This run cost $4.50; Ralph would have saved $2.50 and cut ")
        assert len(lines) <= 24
        (answer,) = json.loads(ralph("replay", "--from-logs", "--json").out)
        assert (answer["run"], answer["stopped_at"]) == ("parser (Claude Code)", 3)

    def test_many_loops_are_still_one_screen(self, home: Path, ralph: Callable[..., Any]) -> None:
        for number in range(20):
            for minute in (1, 2):
                lines = claude_session(minute, DONE, folder=f"/work/p{number}")
                keep(home / f".claude/projects/p{number}/{minute}.jsonl", lines)
        lines = ralph("replay", "--from-logs").out.splitlines()
        assert "… 14 more loops; --json has them all" in lines
        assert len(lines) <= 24

    def test_nothing_found_says_where_ralph_looked(
        self, home: Path, workspace: Path, ralph: Callable[..., Any]
    ) -> None:
        ended = ralph("replay", "--from-logs")
        assert (ended.code, ended.out) == (2, "")
        places = (
            workspace / "logs",
            home / ".claude/projects",
            home / ".codex/sessions",
            home / ".copilot/session-state",
        )
        assert all(str(place) in ended.err for place in places)
        assert "--from-logs logs" in ended.err

    def test_no_loop_among_what_was_found(self, home: Path, ralph: Callable[..., Any]) -> None:
        keep(home / ".claude/projects/p/1.jsonl", claude_session(1, DONE))
        ended = ralph("replay", "--from-logs")
        assert ended.code == 0
        assert "Not counted: 1 turn " in ended.out
        assert "There is no loop among them" in ended.out

    @pytest.mark.parametrize(
        "words", [("--from-logs", "logs"), ("--from-logs=logs",), ("--jsonl", "--from-logs", "logs")]
    )
    def test_a_folder_is_read_as_before(
        self, words: tuple[str, ...], workspace: Path, ralph: Callable[..., Any]
    ) -> None:
        keep(workspace / "logs/claude_output_1.log", [RESULT])
        shown = ralph("replay", *words)
        assert shown.code == 0
        assert "logs" in shown.out
        assert "frankbria" not in shown.out

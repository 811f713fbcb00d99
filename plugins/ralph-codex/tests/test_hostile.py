"""A program that is called Codex and prints whatever it likes; and a log that is no file."""

import json
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from ralph import Answered, Failed, Output, Usage
from ralph_codex import CodexExecutor
from ralph_codex.listener import TOOLS
from ralph_codex.session_log import SessionLog, find_log

Run = Callable[..., Coroutine[Any, Any, Output]]

ANSWER = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "Done."}}
FIELDS = ("id", "command", "changes", "arguments", "result", "error", "status")
ENDED = {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 2}}


@pytest.fixture
def said(tmp_path: Path, run: Run, home: Path) -> Callable[..., Coroutine[Any, Any, Output]]:
    """One turn of a program that prints these lines."""

    async def go(*lines: object, code: int = 0) -> Output:
        printed = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        (tmp_path / "lines").write_text(printed, encoding="utf-8")
        program = tmp_path / "codex"
        program.write_text(
            f"#!/bin/sh\n[ $1 = --version ] && exec echo codex-cli 0.169.1\ncat > /dev/null\ncat {tmp_path}/lines\n"
            f"echo why >&2\nexit {code}\n"
        )
        program.chmod(0o755)
        async with CodexExecutor(program, model="m", base_url="http://127.0.0.1:9/v1", home=home) as executor:
            return await run(executor)

    return go


async def test_what_makes_no_sense_is_passed_over(said: Callable[..., Coroutine[Any, Any, Output]]):
    odd: list[Any] = [None, 1, "x", [], [1], {}, {"a": [{}]}, True, -1, 1e300]
    events = [
        {"type": kind, "item": it, "usage": it, "error": it} for kind in ("x", 1, "error", "item.started") for it in odd
    ]
    items = [dict.fromkeys(FIELDS, value) | {"type": tool} for tool in TOOLS for value in odd]
    nonsense = [
        *("{", "\x00\x07", "[" * 50_000, '{"type": NaN}', *odd),
        *events,
        *({"type": kind, "item": item} for kind in ("item.started", "item.completed") for item in items),
        {
            "type": "item.completed",
            "item": {"id": "b", "type": "command_execution", "aggregated_output": "x" * 2_000_000},
        },
        {"type": "thread.started", "thread_id": "../../../etc/passwd"},
    ]
    output = await said(*nonsense, ANSWER, ENDED)
    assert (output.text, output.outcome) == ("Done.", Answered())
    assert (output.usage.input_tokens, output.usage.output_tokens) == (10, 2)


@pytest.mark.parametrize(
    ("lines", "code", "kind"),
    [
        ([], 0, "protocol"),
        ([ANSWER], 0, "protocol"),
        ([ENDED], 0, "protocol"),
        ([ANSWER, ENDED], 1, "crashed"),
        ([ANSWER, {"type": "item.completed", "item": {"id": "t", "type": "web_search"}}, ENDED], 0, "protocol"),
        ([ANSWER, {"type": "turn.failed", "error": {"message": "You are not logged in."}}], 1, "auth"),
        ([{"type": "turn.failed", "error": None}], 1, "unavailable"),
    ],
)
async def test_an_exit_status_is_not_enough(
    said: Callable[..., Coroutine[Any, Any, Output]], lines: list[object], code: int, kind: str
):
    output = await said(*lines, code=code)
    assert isinstance(output.outcome, Failed)
    assert output.outcome.failure == kind
    assert output.diagnostics == "why"


def test_a_log_that_is_no_file_is_not_read(tmp_path: Path):
    name = "01a1fd6e-0de7-7743-ba2d-a1b9f4663a8d"
    folder = tmp_path / "sessions" / "2026" / "11" / "21"
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"rollout-x-{name}.jsonl")
    log = find_log(tmp_path, name)
    assert log is not None
    assert SessionLog(tmp_path, log).more() == Usage()
    for strange in ("", "*", "../x", "--last", "\x00"):
        assert find_log(tmp_path, strange) is None

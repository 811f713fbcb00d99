"""The real Codex CLI against a scripted model."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from ralph import Completed, Output
from ralph.testing import EditFile, ModelServer, Say, Shell, WriteFile
from ralph_codex import CodexExecutor

Made = Callable[..., Awaitable[CodexExecutor]]
Run = Callable[..., Awaitable[Output]]


async def test_a_turn_with_tools(made: Made, run: Run, workspace: Path):
    steps = [
        WriteFile("hello.txt", "hi\n"),
        EditFile("hello.txt", "hi", "ho"),
        Shell("cat hello.txt; exit 3", text="I look."),
        Say("All done, é."),
    ]
    async with ModelServer(steps) as server:
        output = await run(await made(server))
        assert server.prompts[0] == "Mend it."
    assert output.outcome == Completed(), output.diagnostics
    assert output.text == "All done, é."
    assert [(message.text, message.tool_calls) for message in output.messages] == [("I look.", 1), ("All done, é.", 0)]
    assert (workspace / "hello.txt").read_text() == "ho\n"
    assert [(call.name, call.success) for call in output.tool_calls] == [
        ("command_execution", True),
        ("file_change", True),
        ("command_execution", False),
    ]
    assert "ho" in output.tool_calls[2].result
    assert output.usage.model_calls == 4
    assert (output.usage.tokens or 0) > 1_000
    assert (output.executor, output.model) == ("codex", "m")
    assert os.listdir(workspace) == ["hello.txt"]

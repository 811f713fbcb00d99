"""The model server, as the real Copilot CLI takes it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import (
    Cut,
    EditFile,
    Empty,
    Fail,
    Garbage,
    Hang,
    ModelRequest,
    ModelServer,
    Say,
    Shell,
    Stall,
    Step,
    Use,
    WriteFile,
)
from ralph.types.output import Usage

LONG = pytest.mark.long
APIS = pytest.mark.parametrize("api", ["completions", pytest.param("responses", marks=LONG)])
ARGUMENTS = ("--allow-all-tools", "--no-ask-user", "--no-auto-update", "--no-color", "--output-format", "json")


class Cli:
    """One workspace for the CLI, and what its last run printed."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.workspace, self.usage_file = folder / "workspace", folder / "usage.json"
        self._binary, self._home = binary, folder / "home"
        self.workspace.mkdir()
        self.events: list[dict[str, Any]] = []

    def run(self, server: ModelServer, prompt: str = "mend it", *, api: str = "completions", model: str = "m") -> int:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("COPILOT_")},
            "COPILOT_OFFLINE": "true",
            "COPILOT_HOME": str(self._home),
            "COPILOT_MODEL": model,
            "COPILOT_PROVIDER_API_KEY": "ralph-local-no-key",
            "COPILOT_PROVIDER_BASE_URL": server.base_url,
            "COPILOT_PROVIDER_WIRE_API": api,
        }
        command = [str(self._binary), *ARGUMENTS, "--usage-output-file", str(self.usage_file)]
        ended = subprocess.run(
            command,
            input=prompt,
            cwd=self.workspace,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=50,
            check=False,
        )
        self.events = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        return ended.returncode

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [event["data"] for event in self.events if event["type"] == kind]

    @property
    def answer(self) -> str:
        return self.told("assistant.message")[-1]["content"]


@pytest.fixture
def cli(copilot_cli: Path, tmp_path: Path) -> Cli:
    return Cli(copilot_cli, tmp_path)


@APIS
@pytest.mark.parametrize("model", ["m", pytest.param("gpt-4o", marks=LONG)])
def test_a_file_is_made_changed_and_looked_at(cli: Cli, api: str, model: str) -> None:
    # gpt-4o is offered apply_patch, the others create and edit
    script = [
        Use((WriteFile("hello.txt", "hi\nthere\n"), Shell("echo from the shell > made.txt")), text="I begin."),
        EditFile("hello.txt", "there", "you"),
        Shell("cat hello.txt"),
        Say("It is done. 完了"),
    ]
    with ModelServer(script) as server:
        assert cli.run(server, "make hello.txt", api=api, model=model) == 0
        assert len(server.requests) == len(script)
        assert {request.api for request in server.requests} == {api}
        assert all(request.stream for request in server.requests)
        assert server.prompts == ("make hello.txt",)
        assert "hi\nyou" in server.requests[-1].results[-1]
    assert (cli.workspace / "hello.txt").read_text() == "hi\nyou\n"
    assert (cli.workspace / "made.txt").read_text() == "from the shell\n"
    assert [message["content"] for message in cli.told("assistant.message")] == ["I begin.", "", "", "It is done. 完了"]
    assert "".join(delta["deltaContent"] for delta in cli.told("assistant.message_delta")).endswith("It is done. 完了")


@pytest.mark.long
def test_the_tools_and_the_key_are_as_the_steps_expect_them(cli: Cli) -> None:
    with ModelServer() as server:
        assert cli.run(server) == 0
    (request,) = server.requests
    assert {"bash", "create", "edit", "view"} <= set(request.tools)
    assert request.absolute("a.txt") == str(cli.workspace / "a.txt")
    assert request.headers["authorization"] == "***"
    assert request.asks
    assert not request.side


@APIS
def test_usage_arrives(cli: Cli, api: str) -> None:
    usage = Usage(input_tokens=1234, output_tokens=56, cache_read_tokens=1000)
    with ModelServer([Say("Done.", usage=usage)]) as server:
        assert cli.run(server, api=api) == 0
    told = json.loads(cli.usage_file.read_text())["modelMetrics"]["m"]["usage"]
    assert (told["inputTokens"], told["outputTokens"], told["cacheReadTokens"]) == (1234, 56, 1000)


@APIS
@pytest.mark.parametrize(
    ("step", "status", "requests"),
    [
        (Fail(400), 400, 1),
        (Fail(401), 401, 3),
        (Fail(403), 403, 1),
        (Fail(404), 404, 1),
        (Empty(), None, 1),
    ],
)
@pytest.mark.long
def test_errors_that_end_the_turn(cli: Cli, api: str, step: Step, status: int | None, requests: int) -> None:
    with ModelServer([step], then="repeat_last") as server:
        assert cli.run(server, api=api) == 1
    assert len(server.requests) == requests
    assert len(server.prompts) == 1
    assert cli.told("session.error")[-1].get("statusCode") == status


@pytest.mark.parametrize(
    ("step", "api"),
    [
        (Fail(429, retry_after=0), "completions"),
        (Fail(500), "completions"),
        (Fail(503), "responses"),
        (Hang(0.1), "completions"),
        *((step, api) for step in (Cut(), Garbage(), Stall(seconds=0.1)) for api in ("completions", "responses")),
    ],
)
@pytest.mark.long
def test_errors_that_are_tried_again(cli: Cli, step: Step, api: str) -> None:
    with ModelServer([step, Say("Done.")]) as server:
        assert cli.run(server, api=api) == 0
    assert [request.asks for request in server.requests] == [True, False]
    assert cli.told("model.call_failure")
    assert cli.answer == "Done."


def test_a_function_sees_what_the_tool_gave_back(cli: Cli) -> None:
    def script(request: ModelRequest) -> Step:
        return Say(f"It says {request.results[-1].split()[0]}.") if request.results else Shell("echo forty-two")

    with ModelServer(script) as server:
        assert cli.run(server) == 0
    assert cli.answer == "It says forty-two."

"""The scripted model in Anthropic's protocol; what it does in every protocol is tested with the model server."""

import http.client
import json
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from ralph.testing import (
    Call,
    Cut,
    EditFile,
    Empty,
    Fail,
    Garbage,
    ModelServer,
    Say,
    Shell,
    Stall,
    Step,
    Use,
    WriteFile,
)
from ralph.types.output import Usage

TOOLS = [
    {"name": "Write", "input_schema": {}},
    {"name": "Edit", "input_schema": {}},
    {"name": "Bash", "type": "custom"},
]
REMINDER = {"type": "text", "text": "<system-reminder>\nBe brief.\n</system-reminder>"}
WHERE = {"role": "system", "content": "# Environment\n - Primary working directory: /home/ann/shop\n - Shell: bash"}
PATIENCE = 10.0


def asked(prompt: str = "mend it", **more: Any) -> dict[str, Any]:
    said = {"role": "user", "content": [REMINDER, {"type": "text", "text": prompt}]}
    system = [{"type": "text", "text": "You are an agent."}]
    return {"model": "m", "system": system, "messages": [said, WHERE], "tools": TOOLS, "max_tokens": 100, **more}


@contextmanager
def post(
    server: ModelServer, body: dict[str, Any], *, method: str = "POST", timeout: float = PATIENCE
) -> Generator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)) as connection:
        connection.request(method, "/v1/messages?beta=true", json.dumps(body), {"x-api-key": "s3cret"})
        with connection.getresponse() as response:
            yield response


def ask(server: ModelServer, **given: Any) -> dict[str, Any]:
    with post(server, asked(**given)) as response:
        assert response.status == 200
        return json.loads(response.read())


def events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    name = ""
    for line in response:
        if line.startswith(b"event: "):
            name = line[7:].decode().strip()
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            assert event["type"] == name
            yield event


def stream(server: ModelServer, **given: Any) -> list[dict[str, Any]]:
    with post(server, asked(stream=True, **given)) as response:
        assert response.headers["content-type"] == "text/event-stream"
        return list(events(response))


class TestAnswers:
    def test_a_message_that_is_not_streamed(self) -> None:
        usage = Usage(input_tokens=700, output_tokens=30, cache_read_tokens=600)
        with ModelServer([Say("Done. – 完了", usage=usage)]) as server:
            answer = ask(server)
        assert (answer["type"], answer["role"], answer["model"], answer["stop_reason"]) == (
            *("message", "assistant", "m"),
            "end_turn",
        )
        assert answer["content"] == [{"type": "text", "text": "Done. – 完了"}]
        told = answer["usage"]
        assert (told["input_tokens"], told["cache_read_input_tokens"], told["output_tokens"]) == (100, 600, 30)

    def test_a_streamed_message_comes_in_pieces_and_ends(self) -> None:
        with ModelServer([Say("One thing after another.", chunk=5, usage=Usage(output_tokens=9))]) as server:
            received = stream(server)
        pieces = [event["delta"]["text"] for event in received if event["type"] == "content_block_delta"]
        assert len(pieces) == 5
        assert "".join(pieces) == "One thing after another."
        assert [event["type"] for event in received if event["type"] != "content_block_delta"] == [
            "message_start",
            "content_block_start",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
        assert received[-2]["delta"]["stop_reason"] == "end_turn"
        assert received[-2]["usage"]["output_tokens"] == 9

    def test_an_empty_message_is_well_formed(self) -> None:
        with ModelServer(then=Empty()) as server:
            assert ask(server)["content"] == []
            assert [event["type"] for event in stream(server)] == ["message_start", "message_delta", "message_stop"]

    def test_tools_in_the_agents_own_names(self) -> None:
        step = Use((WriteFile("a.txt", "hi"), EditFile("a.txt", "hi", "ho"), Shell("ls")), text="I look.")
        with ModelServer([step]) as server:
            answer = ask(server)
        said, *used = answer["content"]
        assert said == {"type": "text", "text": "I look."}
        assert answer["stop_reason"] == "tool_use"
        assert [(use["id"], use["name"], use["input"]) for use in used] == [
            ("call-1-1", "Write", {"file_path": "/home/ann/shop/a.txt", "content": "hi"}),
            ("call-1-2", "Edit", {"file_path": "/home/ann/shop/a.txt", "old_string": "hi", "new_string": "ho"}),
            ("call-1-3", "Bash", {"command": "ls", "description": "Run a command"}),
        ]

    def test_streamed_arguments_come_in_pieces_after_the_text(self) -> None:
        with ModelServer([Use((Shell("echo one"), Shell("echo two")), text="I run them.")]) as server:
            received = stream(server)
        begun = {event["index"]: event["content_block"] for event in received if event["type"] == "content_block_start"}
        assert [block["type"] for block in begun.values()] == ["text", "tool_use", "tool_use"]
        given = dict.fromkeys(begun, "")
        for event in received:
            if event["type"] == "content_block_delta":
                given[event["index"]] += event["delta"].get("partial_json", "")
        assert [json.loads(given[index])["command"] for index in (1, 2)] == ["echo one", "echo two"]
        assert received[-2]["delta"]["stop_reason"] == "tool_use"

    def test_arguments_can_be_broken(self) -> None:
        with ModelServer(then=Call("Bash", '{"command": ')) as server:
            assert ask(server)["content"][0]["input"] == '{"command": '
            assert any(event.get("delta", {}).get("partial_json") == '{"command": ' for event in stream(server))


class TestFaults:
    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (400, "invalid_request_error"),
            (401, "authentication_error"),
            (403, "permission_error"),
            (404, "not_found_error"),
            (429, "rate_limit_error"),
            (500, "api_error"),
            (529, "overloaded_error"),
            (418, "api_error"),
        ],
    )
    def test_an_error(self, status: int, kind: str) -> None:
        with ModelServer([Fail(status)]) as server, post(server, asked()) as response:
            assert response.status == status
            answer = json.loads(response.read())
        assert answer["type"] == "error"
        assert answer["error"]["type"] == kind
        assert answer["error"]["message"]

    def test_an_error_of_ones_own(self) -> None:
        step = Fail(429, "Come back later.", "quota", retry_after=1.5, headers={"x-limit-reset": "1767225600"})
        with ModelServer([step]) as server, post(server, asked()) as response:
            assert response.headers["retry-after"] == "1.5"
            assert response.headers["x-limit-reset"] == "1767225600"
            assert json.loads(response.read())["error"] == {"type": "quota", "message": "Come back later."}

    @pytest.mark.parametrize("step", [Cut("Let me see"), Stall("Let me see", seconds=0.05)])
    def test_a_stream_that_is_cut(self, step: Step) -> None:
        with ModelServer([step]) as server, post(server, asked(stream=True)) as response:
            with pytest.raises(http.client.IncompleteRead) as caught:
                response.read()
            assert b"Let me see" in caught.value.partial
            assert b"message_stop" not in caught.value.partial
            assert b"content_block_stop" not in caught.value.partial

    def test_garbage(self) -> None:
        with ModelServer([Garbage("<html>")]) as server, post(server, asked(stream=True)) as response:
            assert (response.status, response.read()) == (200, b"data: <html>\n\n")


class TestRequests:
    def test_what_is_asked(self) -> None:
        with ModelServer() as server:
            ask(server, prompt="mend\n\nit")
            (request,) = server.requests
        assert (request.api, request.path, request.prompt) == ("messages", "/v1/messages", "mend\n\nit")
        assert request.system.startswith("You are an agent.\n# Environment")
        assert dict(request.tools) == {"Write": "function", "Edit": "function", "Bash": "function"}
        assert request.absolute("a") == "/home/ann/shop/a"
        assert request.headers["x-api-key"] == "***"

    def test_results_of_tools_begin_no_turn(self) -> None:
        conversation = asked("first")["messages"]
        result = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "42"}]}
        used = [
            *conversation,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {}}]},
            {"role": "user", "content": [result, {"type": "tool_result", "tool_use_id": "2", "content": "43"}]},
        ]
        with ModelServer() as server:
            for messages in (conversation, used, [*used, {"role": "user", "content": "again"}]):
                ask(server, messages=messages)
            assert server.prompts == ("first", "again")
            assert server.requests[1].results == ("42", "43")
            assert server.requests[1].prompt == "first"
            assert server.requests[2].results == ()

    def test_an_agent_may_ask_whether_it_is_there(self) -> None:
        with ModelServer() as server, post(server, {}, method="HEAD") as response:
            assert response.status == 200
            assert response.read() == b""
            assert server.requests == ()

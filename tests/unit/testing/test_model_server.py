import http.client
import json
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import (
    Call,
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

PATHS = {"completions": "/v1/chat/completions", "responses": "/v1/responses"}
BOTH = pytest.mark.parametrize("api", PATHS)
SYSTEM = "Be brief.\n* Current working directory: /home/ann/shop\n* Operating System: linux"
PATIENCE = 10.0


def function_tool(api: str, name: str) -> dict[str, Any]:
    if api == "responses":
        return {"type": "function", "name": name, "parameters": {}}
    return {"type": "function", "function": {"name": name, "parameters": {}}}


def asked(api: str, prompt: str = "mend it", *, tools: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    common = {"model": "m", "tools": [function_tool(api, name) for name in tools], **more}
    if api == "responses":
        content = [{"type": "input_text", "text": prompt}]
        return {"instructions": SYSTEM, "input": [{"type": "message", "role": "user", "content": content}], **common}
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
    return {"messages": messages, "stream_options": {"include_usage": True}, **common}


@contextmanager
def post(
    server: ModelServer, path: str, body: object, headers: dict[str, str] | None = None, timeout: float = PATIENCE
) -> Generator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)) as connection:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path, raw, headers or {})
        with connection.getresponse() as response:
            yield response


def send(server: ModelServer, path: str, body: object, headers: dict[str, str] | None = None, **given: Any) -> int:
    """The status of an answer that nobody reads further."""
    with post(server, path, body, headers, **given) as response:
        return response.status


def ask(server: ModelServer, api: str = "completions", **given: Any) -> dict[str, Any]:
    """The parsed answer to a request that is not streamed."""
    with post(server, PATHS[api], asked(api, **given)) as response:
        assert response.status == 200, response.read()
        return json.loads(response.read())


def events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    for line in response:
        if line.startswith(b"data: ") and line.strip() != b"data: [DONE]":
            yield json.loads(line[6:])


def stream(server: ModelServer, api: str, **given: Any) -> list[dict[str, Any]]:
    with post(server, PATHS[api], asked(api, stream=True, **given)) as response:
        assert response.headers["content-type"] == "text/event-stream"
        return list(events(response))


def text_of(answer: dict[str, Any]) -> str | None:
    if "choices" in answer:
        return answer["choices"][0]["message"]["content"]
    return next((item["content"][0]["text"] for item in answer["output"] if item["type"] == "message"), None)


def pieces_of(received: list[dict[str, Any]]) -> list[str]:
    """The pieces of text in a stream of either protocol."""
    completions = [e["choices"][0]["delta"].get("content") for e in received if e.get("choices")]
    responses = [e["delta"] for e in received if e.get("type") == "response.output_text.delta"]
    return [piece for piece in (*completions, *responses) if piece]


class TestSaying:
    @BOTH
    def test_an_answer_that_is_not_streamed(self, api: str) -> None:
        with ModelServer([Say("Done. – 完了")]) as server:
            answer = ask(server, api)
        assert text_of(answer) == "Done. – 完了"
        assert answer["model"] == "m"

    @BOTH
    def test_a_streamed_answer_comes_in_pieces_and_ends(self, api: str) -> None:
        with ModelServer([Say("One thing after another.", chunk=5)]) as server:
            received = stream(server, api)
        pieces = pieces_of(received)
        assert "".join(pieces) == "One thing after another."
        assert len(pieces) == 5
        if api == "responses":
            assert received[-1]["type"] == "response.completed"
            assert text_of(received[-1]["response"]) == "One thing after another."
            assert [event["sequence_number"] for event in received] == list(range(len(received)))
        else:
            assert received[-2]["choices"][0]["finish_reason"] == "stop"

    def test_usage_is_streamed_to_those_who_ask_for_it(self) -> None:
        with ModelServer() as server:
            assert "usage" in stream(server, "completions")[-1]
            assert "usage" not in stream(server, "completions", stream_options=None)[-1]

    @BOTH
    @pytest.mark.parametrize("streamed", [False, True])
    def test_usage_can_be_set(self, api: str, streamed: bool) -> None:
        usage = Usage(input_tokens=700, output_tokens=30, cache_read_tokens=600)
        with ModelServer([Say("x", usage=usage)]) as server:
            answer = stream(server, api)[-1] if streamed else ask(server, api)
        told = (answer.get("response") or answer)["usage"]
        prefix = ("input", "output") if api == "responses" else ("prompt", "completion")
        assert [told[f"{prefix[0]}_tokens"], told[f"{prefix[1]}_tokens"], told["total_tokens"]] == [700, 30, 730]
        assert told[f"{prefix[0]}_tokens_details"]["cached_tokens"] == 600

    def test_usage_is_estimated_from_the_lengths(self) -> None:
        with ModelServer(then=Say("y" * 400)) as server:
            short, long = (ask(server, prompt="x" * size)["usage"] for size in (0, 4000))
        assert 950 < long["prompt_tokens"] - short["prompt_tokens"] < 1050
        assert 90 < long["completion_tokens"] < 120

    def test_an_empty_answer_is_well_formed(self) -> None:
        with ModelServer(then=Empty()) as server:
            assert text_of(ask(server)) is None
            assert ask(server, "responses")["output"] == []
            assert pieces_of(stream(server, "completions")) == pieces_of(stream(server, "responses")) == []

    def test_a_pace_is_kept(self) -> None:
        with ModelServer([Say("abc", chunk=1, pace=0.02)]) as server:
            began = time.monotonic()
            assert "".join(pieces_of(stream(server, "completions"))) == "abc"
            assert time.monotonic() - began >= 0.06


class TestTools:
    TOOLS = ("create", "edit", "bash")

    @BOTH
    def test_several_tools_at_once(self, api: str) -> None:
        step = Use((WriteFile("a.txt", "hi"), Shell("ls"), Call("view", {"path": "/x"}, id="mine")), text="I look.")
        with ModelServer([step]) as server:
            answer = ask(server, api, tools=self.TOOLS)
        assert text_of(answer) == "I look."
        assert self.calls(answer) == [
            ("call-1-1", "create", {"path": "/home/ann/shop/a.txt", "file_text": "hi"}),
            ("call-1-2", "bash", {"command": "ls", "description": "Run a command"}),
            ("mine", "view", {"path": "/x"}),
        ]

    @staticmethod
    def calls(answer: dict[str, Any]) -> list[tuple[str, str, Any]]:
        if "output" in answer:
            items = [item for item in answer["output"] if item["type"] == "function_call"]
            return [(item["call_id"], item["name"], json.loads(item["arguments"])) for item in items]
        choice = answer["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        calls = choice["message"]["tool_calls"]
        return [(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls]

    def test_streamed_arguments_come_in_pieces(self) -> None:
        with ModelServer([Use((Shell("echo one"), Shell("echo two")))]) as server:
            received = stream(server, "completions", tools=self.TOOLS)
        gathered = ["", ""]
        for delta in (event["choices"][0]["delta"] for event in received if event["choices"]):
            for call in delta.get("tool_calls", ()):
                gathered[call["index"]] += call["function"]["arguments"]
        assert [json.loads(arguments)["command"] for arguments in gathered] == ["echo one", "echo two"]
        assert received[-2]["choices"][0]["finish_reason"] == "tool_calls"

    def test_streamed_items_of_the_responses_protocol(self) -> None:
        with ModelServer([Use((Shell("echo one"),), text="I run it.")]) as server:
            received = stream(server, "responses", tools=self.TOOLS)
        deltas = [e for e in received if e["type"] == "response.function_call_arguments.delta"]
        assert len(deltas) > 1
        assert {event["output_index"] for event in deltas} == {1}
        assert json.loads("".join(event["delta"] for event in deltas))["command"] == "echo one"
        done = [e["item"]["type"] for e in received if e["type"] == "response.output_item.done"]
        assert done == ["message", "function_call"]

    @BOTH
    def test_a_tool_that_takes_free_text(self, api: str) -> None:
        named = {"name": "apply_patch"}
        tool = {"type": "custom", **(named if api == "responses" else {"custom": named})}
        script = [WriteFile("a.txt", "one\ntwo\n"), EditFile("a.txt", "two", "three")]
        with ModelServer(script) as server:
            first, second = (self.patched(server, api, tool) for _ in script)
        assert first == "*** Begin Patch\n*** Add File: /home/ann/shop/a.txt\n+one\n+two\n*** End Patch"
        assert second == "*** Begin Patch\n*** Update File: /home/ann/shop/a.txt\n@@\n-two\n+three\n*** End Patch"

    @staticmethod
    def patched(server: ModelServer, api: str, tool: dict[str, Any]) -> str:
        with post(server, PATHS[api], {**asked(api), "tools": [tool]}) as response:
            answer = json.loads(response.read())
        if api == "responses":
            return answer["output"][0]["input"]
        return answer["choices"][0]["message"]["tool_calls"][0]["custom"]["input"]

    def test_a_shell_writes_the_file_where_there_is_nothing_else(self, tmp_path: Path) -> None:
        with ModelServer([WriteFile(f"{tmp_path}/new/a file", "it's\n")]) as server:
            ((_, name, arguments),) = self.calls(ask(server, tools=("bash",)))
        assert name == "bash"
        subprocess.run(["sh", "-c", arguments["command"]], check=True)
        assert (tmp_path / "new" / "a file").read_text() == "it's\n"

    def test_codex_patches_in_its_shell(self) -> None:
        with ModelServer([EditFile("a.txt", "it's", "so\n"), WriteFile("b.txt", "b"), Shell("ls")]) as server:
            calls = [self.calls(ask(server, tools=("exec_command",)))[0] for _ in range(3)]
        assert {name for _, name, _ in calls} == {"exec_command"}
        patch, written, listed = (arguments["cmd"] for _, _, arguments in calls)
        assert patch.splitlines()[3:6] == ["@@", "-it's", "+so"]
        assert "b.txt" in written
        assert listed == "ls"

    @pytest.mark.parametrize("step", [WriteFile("a", "b"), EditFile("a", "b", "c"), Shell("ls")])
    def test_an_agent_without_the_tool_is_the_scripts_mistake(self, step: Step) -> None:
        with pytest.raises(LookupError, match="offers view"), ModelServer([step]) as server:
            assert send(server, PATHS["completions"], asked("completions", tools=("view",))) == 500

    def test_arguments_can_be_broken(self) -> None:
        with ModelServer([Call("bash", '{"command": ')]) as server:
            answer = ask(server)
        assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"command": '


class TestFaults:
    @BOTH
    @pytest.mark.parametrize(
        ("status", "code"),
        [
            (400, "context_length_exceeded"),
            (401, "invalid_api_key"),
            (403, "access_denied"),
            (404, "model_not_found"),
            (429, "rate_limit_exceeded"),
            (500, "server_error"),
            (503, "overloaded"),
            (418, "error"),
        ],
    )
    def test_an_error(self, api: str, status: int, code: str) -> None:
        with ModelServer([Fail(status)]) as server, post(server, PATHS[api], asked(api)) as response:
            assert response.status == status
            assert response.headers["retry-after"] is None
            error = json.loads(response.read())["error"]
        assert error["code"] == code
        assert error["message"]

    def test_an_error_of_ones_own(self) -> None:
        step = Fail(429, "Come back later.", "quota", retry_after=1.5)
        with ModelServer([step]) as server, post(server, PATHS["completions"], asked("completions")) as response:
            assert response.headers["retry-after"] == "1.5"
            assert json.loads(response.read())["error"] == {
                "message": "Come back later.",
                "type": "error",
                "param": None,
                "code": "quota",
            }

    def test_a_hanging_model_says_nothing(self) -> None:
        with ModelServer([Hang()]) as server, pytest.raises(TimeoutError):
            send(server, PATHS["completions"], asked("completions"), timeout=0.1)

    def test_hanging_ends_in_its_own_time(self) -> None:
        with ModelServer([Hang(0.05)]) as server, pytest.raises(http.client.RemoteDisconnected):
            send(server, PATHS["completions"], asked("completions"))

    @BOTH
    def test_a_stalled_stream(self, api: str) -> None:
        begun: list[dict[str, Any]] = []
        with (
            ModelServer([Stall("Let me see")]) as server,
            post(server, PATHS[api], asked(api, stream=True), timeout=0.3) as response,
            pytest.raises(TimeoutError),
        ):
            begun.extend(events(response))
        assert "".join(pieces_of(begun)) == "Let me see"

    @BOTH
    @pytest.mark.parametrize("step", [Cut("Let me see"), Stall("Let me see", seconds=0.05)])
    def test_a_stream_that_is_cut(self, api: str, step: Step) -> None:
        with ModelServer([step]) as server, post(server, PATHS[api], asked(api, stream=True)) as response:
            with pytest.raises(http.client.IncompleteRead) as caught:
                response.read()
            assert b"Let me see" in caught.value.partial
            assert b"[DONE]" not in caught.value.partial

    @BOTH
    def test_an_answer_that_is_cut(self, api: str) -> None:
        with (
            ModelServer([Cut("Let me see")]) as server,
            post(server, PATHS[api], asked(api)) as response,
            pytest.raises(http.client.IncompleteRead),
        ):
            response.read()

    @pytest.mark.parametrize("streamed", [False, True])
    def test_garbage(self, streamed: bool) -> None:
        body = asked("completions", stream=streamed)
        with ModelServer([Garbage("<html>")]) as server, post(server, PATHS["completions"], body) as response:
            assert response.status == 200
            assert response.read() == (b"data: <html>\n\n" if streamed else b"<html>")


class TestScript:
    def test_steps_are_taken_one_by_one_and_then_the_turn_ends(self) -> None:
        with ModelServer([Say("one"), Say("two")]) as server:
            assert [text_of(ask(server)) for _ in range(4)] == ["one", "two", *["The script has ended."] * 2]

    def test_what_follows_can_be_chosen(self) -> None:
        with ModelServer([Say("one")], then=Say("more")) as server:
            assert [text_of(ask(server)) for _ in range(3)] == ["one", "more", "more"]

    def test_the_last_step_can_be_repeated(self) -> None:
        with ModelServer([Say("one"), Say("two")], then="repeat_last") as server:
            assert [text_of(ask(server)) for _ in range(4)] == ["one", "two", "two", "two"]

    def test_nothing_cannot_be_repeated(self) -> None:
        with pytest.raises(ValueError, match="empty script"):
            ModelServer([], then="repeat_last")

    def test_a_function_answers_what_it_sees(self) -> None:
        def script(request: ModelRequest) -> Step:
            return Say(f"{request.number} {request.api} {request.prompt!r} {','.join(request.tools)}")

        with ModelServer(script) as server:
            assert text_of(ask(server, prompt="hi", tools=("bash",))) == "1 completions 'hi' bash"
            assert text_of(ask(server, "responses", prompt="ho")) == "2 responses 'ho' "

    def test_a_failing_function_fails_the_test(self) -> None:
        def script(request: ModelRequest) -> Step:
            assert request.prompt == "something else"
            return Say("unreachable")

        with pytest.raises(AssertionError, match="something else"), ModelServer(script) as server:
            assert send(server, PATHS["completions"], asked("completions")) == 500

    def test_a_failing_function_hides_no_other_error(self) -> None:
        def script(_request: ModelRequest) -> Step:
            raise KeyError("script")

        with pytest.raises(ZeroDivisionError), ModelServer(script) as server:  # noqa: PT012
            send(server, PATHS["completions"], asked("completions"))
            raise ZeroDivisionError

    def test_side_requests_take_no_step(self) -> None:
        with ModelServer([Say("one"), Say("two")], side=Say("A title")) as server:
            for kind, expected in (("user", "one"), ("compaction", "A title"), ("background", "A title"), ("", "two")):
                headers = {"X-Interaction-Type": f"conversation-{kind}"} if kind else {}
                with post(server, PATHS["completions"], asked("completions", kind), headers) as response:
                    assert text_of(json.loads(response.read())) == expected
            assert [request.side for request in server.requests] == [False, True, True, False]
            assert server.prompts == ("user", "")


class TestRequests:
    def test_what_was_received_is_kept(self) -> None:
        with ModelServer() as server:
            stream(server, "responses", prompt="mend it", tools=("bash",))
        (request,) = server.requests
        assert (request.number, request.path, request.model, request.stream) == (1, "/v1/responses", "m", True)
        assert request.body["input"][0]["content"][0]["text"] == "mend it"
        assert request.system == SYSTEM
        assert request.tools == {"bash": "function"}
        assert request.size > 100

    @pytest.mark.parametrize("name", ["Authorization", "api-key", "X-API-Key", "Cookie"])
    def test_keys_are_masked(self, name: str) -> None:
        with ModelServer() as server:
            send(server, PATHS["completions"], asked("completions"), {name: "Bearer s3cret", "X-Other": "seen"})
        assert "s3cret" not in repr(server.requests)
        assert server.requests[0].headers[name.lower()] == "***"
        assert server.requests[0].headers["x-other"] == "seen"

    @BOTH
    def test_the_time_of_day_is_no_part_of_the_prompt(self, api: str) -> None:
        with ModelServer() as server:
            ask(server, api, prompt="<current_datetime>2026-11-21T01:56:24+00:00</current_datetime>\n\nmend\n\nit")
        assert server.prompts == ("mend\n\nit",)

    def test_a_prompt_can_be_plain_text(self) -> None:
        with ModelServer() as server:
            send(server, PATHS["responses"], {"model": "m", "input": "hello"})
        assert server.prompts == ("hello",)

    def test_prompts_are_those_that_begin_a_turn(self) -> None:
        conversation = asked("completions", "first")["messages"]
        used = [*conversation, {"role": "assistant", "tool_calls": []}, {"role": "tool", "content": "42"}]
        with ModelServer() as server:
            for messages, headers in (
                (conversation, {}),
                (conversation, {"x-stainless-retry-count": "1"}),
                (used, {}),
                ([*used, {"role": "user", "content": "again"}], {}),
                (conversation, {"x-initiator": "user"}),
                (conversation, {"x-initiator": "agent"}),
            ):
                send(server, PATHS["completions"], {"messages": messages}, headers)
            assert server.prompts == ("first", "again", "first")
            assert server.requests[2].results == ("42",)
            assert server.requests[3].results == ()

    def test_results_of_the_responses_protocol(self) -> None:
        sent = [
            {"role": "user", "content": "mend it"},
            {"type": "function_call", "call_id": "1", "name": "bash", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "one"}]},
            {"type": "custom_tool_call_output", "call_id": "2", "output": "two"},
        ]
        with ModelServer() as server:
            send(server, PATHS["responses"], {"input": sent})
            assert server.requests[0].results == ("one", "two")
            assert server.prompts == ()

    @pytest.mark.parametrize("body", [{}, {"messages": 7}, {"messages": [None, {"role": "user"}], "tools": [1, {}]}])
    def test_odd_bodies_are_taken_as_they_come(self, body: dict[str, Any]) -> None:
        with ModelServer([Say("well")]) as server, post(server, PATHS["completions"], body) as response:
            assert text_of(json.loads(response.read())) == "well"
            assert server.requests[0].prompt == ""
            assert server.requests[0].absolute("a") == "a"

    def test_only_the_latest_are_kept_where_that_was_asked_for(self) -> None:
        with ModelServer(keep=2) as server:
            for _ in range(5):
                ask(server)
        assert [request.number for request in server.requests] == [4, 5]

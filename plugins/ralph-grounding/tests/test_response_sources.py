"""Responses from a file, from an endpoint, from an agent."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr

from ralph import Answered, Executor, Failed, Output, Prompt, RalphError, TimedOut, Turn
from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.testing import Fail, Garbage, Hang, ModelRequest, ModelServer, Say, ScriptedExecutor, Step
from ralph.types.output import Usage
from ralph_grounding.errors import ProviderError
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.responses import (
    EndpointSource,
    ExecutorSource,
    ResponseFailure,
    ResponseSource,
    answers,
    read_responses,
)
from ralph_grounding.settings import AnswerSettings

KEY = "sk-hunter2hunter2hunter2"


class Waits:
    """Waits for nothing, and remembers how long it would have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def queries(count: int) -> list[Query]:
    return [Query(id=f"q{number}", text=f"What is {number}?") for number in range(count)]


def source(server: ModelServer, **settings: object) -> EndpointSource:
    given = {"url": server.base_url, "model": "m", "api_key": KEY, **settings}
    return EndpointSource(AnswerSettings.model_validate(given))


async def asked(
    asking: ResponseSource, questions: Sequence[Query], waits: Waits | None = None
) -> tuple[list[AIResponse], list[ResponseFailure]]:
    got: list[AIResponse] = []
    failed: list[ResponseFailure] = []
    async with answers(questions, asking, sleep=waits or Waits()) as stream:
        async for answer in stream:
            if isinstance(answer, AIResponse):
                got.append(answer)
            else:
                failed.append(answer)
    return got, failed


# A file


def test_a_file_gives_its_responses_and_passes_over_empty_lines(tmp_path: Path) -> None:  # covers: S3-108
    file = tmp_path / "responses.jsonl"
    lines = ['\ufeff{"query_id": "q1", "response": "Yes.", "model": "m"}', "", '{"query_id": "q2", "response": ""}', ""]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert [(one.query_id, one.response, one.model) for one in read_responses(file)] == [
        ("q1", "Yes.", "m"),
        ("q2", "", ""),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "EOF"),
        (b'{"query_id": "q"}', "response: it is missing"),
        (b'{"query_id": "", "response": "x"}', "query_id"),
        (b'{"query_id": "q", "response": "\xff"}', "Line 2"),
        (b"[" * 100_000, "Line 2"),
        (b'"text"', "Line 2"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, line: bytes, problem: str) -> None:
    file = tmp_path / "responses.jsonl"
    file.write_bytes(b'{"query_id": "q1", "response": "Yes."}\n' + line + b"\n")
    responses = read_responses(file)
    assert next(responses).query_id == "q1"
    with pytest.raises(UsageError, match=r"Line 2 of .*responses\.jsonl is not a response") as raised:
        next(responses)
    assert problem in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.jsonl cannot be read: No such file"):
        next(read_responses(tmp_path / "nowhere.jsonl"))


# An endpoint


async def test_an_endpoint_answers_each_query_with_what_it_used() -> None:  # covers: S3-148, S3-109, S3-110
    script = [Say("Four.", usage=Usage(input_tokens=7, output_tokens=2))]
    with ModelServer(script, then="repeat_last") as server:
        got, failed = await asked(source(server), queries(5))
        request = server.requests[0]
    assert (sorted(one.query_id for one in got), failed) == ([f"q{number}" for number in range(5)], [])
    one = got[0]
    assert (one.response, one.model, one.provider, one.tokens) == ("Four.", "m", "127.0.0.1", 9)
    assert one.latency is not None
    assert one.latency > 0
    assert one.responded_at is not None
    assert one.responded_at.tzinfo is not None
    assert request.path == "/v1/chat/completions"
    assert (request.body["temperature"], request.body["max_tokens"]) == (0.7, 1024)


async def test_queries_of_a_higher_priority_are_asked_first() -> None:
    asking = [Query(id=str(level), text=f"level {level}", priority=level) for level in (1, 3, 2)]
    with ModelServer([Say("Yes.")], then="repeat_last") as server:
        await asked(source(server, concurrency=1), asking)
        assert list(server.prompts) == ["level 3", "level 2", "level 1"]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_may_pass_is_tried_again_with_growing_waits(status: int) -> None:  # covers: K3-16
    waits = Waits()
    with ModelServer([Fail(status), Fail(status), Say("At last.")]) as server:
        got, failed = await asked(source(server), queries(1), waits)
    assert ([one.response for one in got], failed) == (["At last."], [])
    first, second = waits.seconds
    assert 0.75 <= first <= 1
    assert 1.5 <= second <= 2


async def test_the_time_that_the_provider_names_is_waited_for() -> None:
    waits = Waits()
    with ModelServer([Fail(429, retry_after=7), Say("At last.")]) as server:
        got, _ = await asked(source(server), queries(1), waits)
    assert (len(got), waits.seconds) == (1, [7.0])


async def test_nobody_waits_for_a_provider_that_asks_for_an_hour() -> None:
    waits = Waits()
    with ModelServer([Fail(429, retry_after=3600)]) as server:
        _, failed = await asked(source(server), queries(1), waits)
    assert ([one.kind for one in failed], waits.seconds) == (["rate_limit"], [])


async def test_after_three_tries_more_a_query_is_listed_and_the_others_go_on() -> None:
    with ModelServer(lambda request: Fail(500) if "0" in request.prompt else Say("Yes.")) as server:
        got, failed = await asked(source(server), queries(4))
        tries = sum("0" in request.prompt for request in server.requests)
    assert (len(got), [(one.query_id, one.kind) for one in failed], tries) == (3, [("q0", "server")], 4)


async def test_a_key_that_is_not_accepted_stops_everything_and_is_not_shown() -> None:
    with ModelServer(lambda request: Fail(401, f"Incorrect API key provided: {KEY}")) as server:
        with pytest.raises(ProviderError, match="does not accept the key") as raised:
            await asked(source(server, concurrency=1), queries(50))
        assert len(server.requests) == 1
    assert raised.value.kind == "key"
    assert "hunter2" not in str(raised.value) + repr(raised.value)


@pytest.mark.parametrize(
    ("fail", "kind"),
    [
        (Fail(400), "too_long"),
        (Fail(400, "This is not allowed.", "content_filter"), "filtered"),
        (Fail(400, "max_tokens is too large", "invalid_value"), "refused"),
        (Fail(429, "You have no credit.", "insufficient_quota"), "rate_limit"),
    ],
)
async def test_what_will_not_pass_is_listed_at_once(fail: Fail, kind: str) -> None:
    waits = Waits()
    with ModelServer([fail, Say("Yes.")]) as server:
        got, failed = await asked(source(server, concurrency=1), queries(2), waits)
    assert ([one.kind for one in failed], len(got), waits.seconds) == ([kind], 1, [])


async def test_a_model_that_is_not_there_stops_everything() -> None:
    gone = Fail(404, "no such model", "model_not_found")
    with ModelServer([gone], then="repeat_last") as server, pytest.raises(ProviderError) as raised:
        await asked(source(server), queries(9))
    assert raised.value.kind == "model"


async def test_an_endpoint_that_says_nothing_is_given_up_after_the_timeout() -> None:
    with ModelServer([Hang()]) as server:
        _, failed = await asked(source(server, timeout=0.2, retries=0), queries(1))
    assert [one.kind for one in failed] == ["timeout"]
    assert "within 0.2 s" in failed[0].error


@pytest.mark.parametrize("body", ["<html>", "[]", "{}", "{" * 100_000, '{"choices": []}', '{"choices": [{}]}'])
async def test_what_is_no_answer_is_said_to_be_none(body: str) -> None:
    with ModelServer([Garbage(body)]) as server:
        _, failed = await asked(source(server), queries(1))
    assert [one.kind for one in failed] == ["protocol"]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": [{"type": "text", "text": "Yes"}, {"type": "text", "text": "."}]}, "Yes."),
        ({"content": None, "refusal": "I will not."}, "I will not."),
        ({"content": None}, ""),
        ({"content": {"odd": 1}}, ""),
    ],
)
async def test_messages_of_other_shapes_are_read(message: object, said: str) -> None:
    body = json.dumps({"choices": [{"message": message, "finish_reason": "length"}]})
    with ModelServer([Garbage(body)]) as server:
        got, _ = await asked(source(server), queries(1))
    assert [(one.response, one.metadata) for one in got] == [(said, {"finish_reason": "length"})]


async def test_an_answer_that_is_no_unicode_is_taken_as_far_as_it_can_be_written() -> None:
    body = '{"model": "m\\ud800", "choices": [{"message": {"content": "Yes \\ud800."}, "finish_reason": "\\ud800"}]}'
    with ModelServer([Garbage(body)]) as server:
        got, failed = await asked(source(server), queries(1))
    assert (len(got), failed) == (1, [])
    assert json.loads(got[0].model_dump_json())["response"].startswith("Yes ")


async def test_models_that_want_the_newer_name_of_the_limit_get_it() -> None:
    def reply(request: ModelRequest) -> Step:
        wants = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return Fail(400, wants, "unsupported_parameter") if "max_tokens" in request.body else Say("Yes.")

    with ModelServer(reply) as server:
        got, failed = await asked(source(server, concurrency=1), queries(3))
        bodies = [request.body for request in server.requests]
    assert (len(got), failed) == (3, [])
    assert [body.get("max_completion_tokens") for body in bodies] == [None, 1024, 1024, 1024]


async def test_an_answer_that_the_provider_withholds_is_listed() -> None:
    body = json.dumps({"choices": [{"message": {"content": "The"}, "finish_reason": "content_filter"}]})
    with ModelServer([Garbage(body)]) as server:
        got, failed = await asked(source(server), queries(1))
    assert (got, [one.kind for one in failed]) == ([], ["filtered"])


class Answers(ResponseSource):
    """Nobody is there for the queries whose text says so."""

    retries = 1

    def __init__(self) -> None:
        self.tries = 0

    async def answer(self, query: Query) -> AIResponse:
        self.tries += 1
        if query.text == "gone":
            raise ProviderError("Nobody is there.", "Look.", kind="unreachable", again=True)
        if query.text == "broken":
            raise ProviderError("It is broken.", kind="server")
        return AIResponse(query_id=query.id, response="An answer.")


def texts(*given: str) -> list[Query]:
    return [Query(id=f"q{number}", text=text) for number, text in enumerate(given)]


async def test_after_five_queries_in_a_row_that_reached_nobody_no_further_one_is_asked() -> None:
    asking, seen = Answers(), list[str]()

    async def ask() -> None:
        async with answers(texts("hello", *200 * ["gone"]), asking, sleep=Waits()) as stream:
            async for answer in stream:
                seen.append(answer.query_id)

    with pytest.raises(ProviderError, match=r"The last 5 queries all failed\. Nobody is there\.") as raised:
        await ask()
    assert seen == ["q0", "q1", "q2", "q3", "q4"]
    assert (asking.tries, raised.value.remedy) == (1 + 2 * 5, "Look.")


@pytest.mark.parametrize("between", ["hello", "broken"])
async def test_fewer_queries_in_a_row_that_reached_nobody_stop_nothing(between: str) -> None:
    """Also one that is answered with an error was answered."""
    got, failed = await asked(Answers(), texts(*3 * ["gone", "gone", "gone", "gone", between]))
    assert len(got) + len(failed) == 15
    assert [one.kind for one in failed].count("unreachable") == 12


async def test_a_refused_connection_is_listed_with_the_address() -> None:
    with ModelServer() as server:
        gone = source(server, retries=1)
    waits = Waits()
    _, failed = await asked(gone, queries(1), waits)
    assert ([one.kind for one in failed], len(waits.seconds)) == (["unreachable"], 1)
    assert "http://127.0.0.1:" in failed[0].error


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "answers.url is empty"),
        ("ftp://example.org", "not an HTTP URL"),
        ("example.org/v1", "not an HTTP URL"),
        ("http://[", "is not a URL"),
        ("http://example.org:port", "is not a URL"),
    ],
)
def test_a_url_that_cannot_be_asked_is_refused(url: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        EndpointSource(AnswerSettings(url=url, model="m"))


@pytest.mark.parametrize("key", ["sk-hunter\n2", "sk-hünter2"])
def test_a_key_that_cannot_be_one_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(UsageError, match="has characters that are not allowed in a key") as raised:
        EndpointSource(AnswerSettings(url="http://127.0.0.1/v1", model="m", api_key=SecretStr(key)))
    assert "nter" not in str(raised.value)


def test_a_missing_model_is_named() -> None:
    with pytest.raises(UsageError, match=r"answers\.model is empty"):
        EndpointSource(AnswerSettings(url="http://127.0.0.1/v1"))


async def test_a_password_in_the_url_is_not_shown() -> None:
    asking = EndpointSource(AnswerSettings(url="http://me:hunter2@127.0.0.1:1/v1", model="m", retries=0))
    _, failed = await asked(asking, queries(1))
    assert "hunter2" not in failed[0].error


async def test_texts_that_are_no_unicode_are_sent_nonetheless() -> None:
    with ModelServer([Say("Yes.")]) as server:
        got, _ = await asked(source(server), [Query(id="q", text="What is \ud800\0?")])
    assert len(got) == 1


async def test_a_query_without_a_text_is_listed_and_not_asked() -> None:
    with ModelServer() as server:
        _, failed = await asked(source(server), [Query(id="q", text=" ")])
        assert server.requests == ()
    assert [(one.query_id, one.kind) for one in failed] == [("q", "refused")]


async def test_who_leaves_early_ends_what_is_under_way() -> None:
    with ModelServer(lambda request: Say("Yes.") if "0" in request.prompt else Hang()) as server:
        async with answers(queries(3), source(server)) as stream:
            async for answer in stream:
                assert isinstance(answer, AIResponse)
                break


async def test_what_the_block_raises_comes_out_as_it_is() -> None:
    async def stop_at_first(server: ModelServer) -> None:
        async with answers(queries(3), source(server)) as stream:
            async for _ in stream:
                raise RalphError("enough")

    with ModelServer([Say("Yes.")], then="repeat_last") as server, pytest.raises(RalphError, match="enough"):
        await stop_at_first(server)


async def test_no_queries_get_no_answers() -> None:
    with ModelServer() as server:
        assert await asked(source(server), []) == ([], [])


# An agent


async def test_an_agent_answers_one_query_a_turn(tmp_path: Path) -> None:  # covers: S3-148
    executor = ScriptedExecutor(["Zero.", "One."])
    got, failed = await asked(ExecutorSource(executor, tmp_path), queries(2))
    assert [(one.query_id, one.response, one.provider) for one in got] == [
        ("q0", "Zero.", "scripted"),
        ("q1", "One.", "scripted"),
    ]
    assert not failed
    assert got[0].tokens
    assert got[0].latency is not None
    assert [prompt.task for prompt in executor.prompts] == ["What is 0?", "What is 1?"]
    assert all(prompt.text.endswith(prompt.task) for prompt in executor.prompts)


async def test_the_turn_only_looks_and_has_no_session_of_another(tmp_path: Path) -> None:
    turns: list[Turn] = []

    def reply(_: Prompt, turn: Turn) -> str:
        turns.append(turn)
        return "Yes."

    await asked(ExecutorSource(ScriptedExecutor(then=reply), tmp_path, timeout=9), queries(2))
    assert [(turn.read_only, turn.session_id, turn.workspace, turn.timeouts.iteration) for turn in turns] == [
        (True, None, tmp_path, 9)
    ] * 2


@pytest.mark.parametrize(
    ("outcome", "kind", "tries"),
    [
        (Failed(failure="rate_limited", retry_after=2), "rate_limit", 4),
        (Failed(failure="unavailable"), "server", 4),
        (Failed(failure="crashed", message="killed"), "server", 4),
        (Failed(failure="protocol"), "protocol", 1),
        (Failed(failure="refused", message="no such model."), "refused", 1),
        (TimedOut(limit="idle", after=3), "timeout", 4),
    ],
)
async def test_the_failures_of_an_agent_are_told_apart(
    tmp_path: Path, outcome: Failed | TimedOut, kind: str, tries: int
) -> None:
    executor = ScriptedExecutor(then=outcome)
    _, failed = await asked(ExecutorSource(executor, tmp_path), queries(1))
    assert ([one.kind for one in failed], len(executor.prompts)) == ([kind], tries)


async def test_an_agent_that_is_not_logged_in_stops_everything(tmp_path: Path) -> None:
    executor = ScriptedExecutor(then=Failed(failure="auth", message="log in first"))
    with pytest.raises(ProviderError, match="log in first") as raised:
        await asked(ExecutorSource(executor, tmp_path), queries(5))
    assert (raised.value.kind, len(executor.prompts)) == ("key", 1)


class Raising(Executor):
    name = "raising"

    def __init__(self, error: Exception) -> None:
        self.error, self.turns = error, 0

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        self.turns += 1
        if self.turns == 1:
            raise self.error
        return turn.transcript.finish(Answered(), text="Yes.")


async def test_an_executor_that_crashes_is_tried_again(tmp_path: Path) -> None:
    got, failed = await asked(ExecutorSource(Raising(ZeroDivisionError("secret")), tmp_path), queries(1))
    assert (len(got), failed) == (1, [])


async def test_an_executor_that_cannot_work_at_all_stops_everything(tmp_path: Path) -> None:
    executor = Raising(ExecutorUnavailableError("There is no agent.", "Install one."))
    with pytest.raises(ProviderError, match=r"There is no agent\. Install one\."):
        await asked(ExecutorSource(executor, tmp_path), queries(5))
    assert executor.turns == 1


class Unstartable(Raising):
    async def start(self) -> None:
        raise self.error


async def test_an_executor_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    executor = Unstartable(ExecutorUnavailableError("There is no agent.", "Install one."))
    with pytest.raises(ExecutorUnavailableError, match="There is no agent"):
        await asked(ExecutorSource(executor, tmp_path), queries(5))


class Endless(Executor):
    name = "endless"

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        import anyio

        await anyio.sleep_forever()
        raise AssertionError


async def test_a_turn_that_never_ends_is_ended(tmp_path: Path) -> None:
    _, failed = await asked(ExecutorSource(Endless(), tmp_path, timeout=0.05, retries=0), queries(1))
    assert [one.kind for one in failed] == ["timeout"]

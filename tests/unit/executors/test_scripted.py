import asyncio
from pathlib import Path

import pytest

from ralph.executors.base import Transcript, Turn, TurnEvent
from ralph.prompt import Prompt
from ralph.system.secrets import Redactor
from ralph.testing import ScriptedExecutor
from ralph.types.output import Answered, Failed, Message, Output, TimedOut, ToolCall, Usage

PROMPT = Prompt(text="Mend the shop. " * 10, task="Mend the shop.")


def turn(tmp_path: Path, transcript: Transcript | None = None) -> Turn:
    return Turn(workspace=tmp_path, transcript=transcript or Transcript())


async def test_replies_are_given_one_by_one_and_the_last_again(tmp_path: Path) -> None:
    executor = ScriptedExecutor(["one", "two"])
    outputs = [await executor.execute(PROMPT, turn(tmp_path)) for _ in range(3)]
    assert [output.text for output in outputs] == ["one", "two", "two"]
    assert {output.outcome for output in outputs} == {Answered()}
    assert {output.executor for output in outputs} == {"scripted"}


async def test_what_follows_can_be_chosen(tmp_path: Path) -> None:
    executor = ScriptedExecutor(["one"], then=Failed(failure="crashed"))
    await executor.execute(PROMPT, turn(tmp_path))
    assert (await executor.execute(PROMPT, turn(tmp_path))).outcome == Failed(failure="crashed")


async def test_without_replies_it_says_nothing(tmp_path: Path) -> None:
    output = await ScriptedExecutor().execute(PROMPT, turn(tmp_path))
    assert (output.text, output.outcome) == ("", Answered())


async def test_prompts_are_remembered(tmp_path: Path) -> None:
    executor, bounded = ScriptedExecutor(), ScriptedExecutor(keep=2)
    prompts = tuple(Prompt(text=str(n), task="t", iteration=n) for n in range(1, 4))
    for prompt in prompts:
        await executor.execute(prompt, turn(tmp_path))
        await bounded.execute(prompt, turn(tmp_path))
    assert executor.prompts == prompts
    assert bounded.prompts == prompts[1:]


@pytest.mark.parametrize("outcome", [Failed(failure="rate_limited", retry_after=3), TimedOut(limit="idle", after=9)])
async def test_a_turn_can_end_in_other_ways(tmp_path: Path, outcome: Failed | TimedOut) -> None:
    output = await ScriptedExecutor([outcome]).execute(PROMPT, turn(tmp_path))
    assert output.outcome == outcome
    assert output.usage.model_calls == 1


async def test_tokens_are_estimated(tmp_path: Path) -> None:
    executor = ScriptedExecutor(["x" * 400])
    output = await executor.execute(PROMPT, turn(tmp_path))
    assert executor.measures == {"tokens"}
    assert output.usage == Usage(input_tokens=38, output_tokens=101, model_calls=1)


async def test_functions_may_be_sync_or_async(tmp_path: Path) -> None:
    async def second(prompt: Prompt, turn: Turn) -> Output:
        turn.transcript.message("I think.", tool_calls=1)
        return turn.transcript.finish(Answered(), text=f"iteration {turn.iteration}: {prompt.task}")

    executor = ScriptedExecutor([lambda prompt, _turn: prompt.task.upper(), second])
    first, other = [await executor.execute(PROMPT, turn(tmp_path)) for _ in range(2)]
    assert first.text == "MEND THE SHOP."
    assert other.text == "iteration 1: Mend the shop."
    assert [message.text for message in other.messages] == ["I think.", "iteration 1: Mend the shop."]


async def test_what_a_function_returns_stands(tmp_path: Path) -> None:
    given = Output(text="as it is", usage=Usage(input_tokens=1))
    output = await ScriptedExecutor([lambda _prompt, _turn: given]).execute(PROMPT, turn(tmp_path))
    assert output == given.model_copy(update={"executor": "scripted"})


async def test_a_whole_output_goes_through_the_transcript(tmp_path: Path) -> None:
    seen: list[TurnEvent] = []
    given = Output(
        messages=(Message(text="I look.", tool_calls=1), Message(text="Done.")),
        tool_calls=(
            ToolCall(id="1", name="bash", success=True, denied=True, result="no"),
            ToolCall(id="2", name="view"),
        ),
        usage=Usage(input_tokens=7, output_tokens=2, cost=0.5),
        executor="copilot-sdk",
        model="m",
        session_id="s",
        duration=12.0,
        diagnostics="warned",
    )
    output = await ScriptedExecutor([given]).execute(PROMPT, turn(tmp_path, Transcript(seen.append)))
    assert output.text == "Done."
    assert output.messages == given.messages
    assert [call.model_copy(update={"duration": 0.0}) for call in output.tool_calls] == list(given.tool_calls)
    assert output.usage == given.usage
    assert output.denials == 1
    assert (output.executor, output.model, output.session_id) == ("copilot-sdk", "m", "s")
    assert (output.duration, output.diagnostics) == (12.0, "warned")
    kinds = [type(event).__name__ for event in seen]
    assert kinds == ["Message", "ToolStarted", "ToolFinished", "Message", "ToolStarted", "Usage"]


async def test_an_output_with_nothing_but_a_text_is_a_message(tmp_path: Path) -> None:
    output = await ScriptedExecutor([Output(text="Done.")]).execute(PROMPT, turn(tmp_path))
    assert output.messages == (Message(text="Done."),)
    assert output.usage.tokens == 38 + 2


async def test_secrets_are_masked_as_with_a_real_agent(tmp_path: Path) -> None:
    told = "the key is correct-horse-battery"
    for reply in (told, Output(messages=(Message(text=told),))):
        transcript = Transcript(redactor=Redactor(["correct-horse-battery"]))
        output = await ScriptedExecutor([reply]).execute(PROMPT, turn(tmp_path, transcript))
        assert output.text == "the key is ***"


async def test_an_earlier_attempt_is_kept(tmp_path: Path) -> None:
    given_turn = turn(tmp_path)
    given_turn.transcript.used(Usage(input_tokens=10))
    given_turn.transcript.gave_up("primary", Failed(failure="unavailable"), "scripted")
    output = await ScriptedExecutor([Output(text="Done.", usage=Usage(input_tokens=1))]).execute(PROMPT, given_turn)
    assert [attempt.executor for attempt in output.attempts] == ["primary"]
    assert output.usage.input_tokens == 11


async def test_a_turn_can_be_cancelled(tmp_path: Path) -> None:
    async def loop() -> None:
        executor = ScriptedExecutor()
        while True:
            await executor.execute(PROMPT, turn(tmp_path))

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(loop(), 0.02)

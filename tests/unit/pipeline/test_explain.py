"""The chain from the signals to a decision, of a reply at hand and of a stored iteration."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ralph.analysis import Further, Opinion
from ralph.cli.reply import Question, judge
from ralph.decision.claims import strategy_named
from ralph.decision.limits import DecisionSettings, Limits
from ralph.decision.outcomes import Streaks
from ralph.loop.runner import Runner
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.explain import Stage, explain
from ralph.pipeline.replay import Loop
from ralph.records.record import RunRecord, RunState
from ralph.store import MemoryStore
from ralph.testing import ScriptedExecutor
from ralph.types import evolve
from ralph.types.output import Failed, Message, Output

BLOCK = "---RALPH_STATUS---\nEXIT_SIGNAL: {}\n---END_RALPH_STATUS---\n"


def chain(text: str, strategy: str = "auto", **more: object) -> dict[str, Stage]:
    rules = Rules(strategy=strategy_named(strategy), decision=DecisionSettings(confirm_words=False))
    ruling = judge(Question.model_validate({"text": text, **more}), rules)
    return {stage.name: stage for stage in ruling.chain}


def lines(stage: Stage) -> str:
    return "\n".join(line.text for line in stage.lines)


def test_it_goes_from_the_signals_to_the_decision_in_order() -> None:
    assert list(chain("Hello.")) == [
        *("signals", "status block", "completion", "confidence", "state"),
        *("stuck", "claim", "verification", "breaker", "decision"),
    ]


def test_a_completion_names_its_claims_and_the_rule_that_decided() -> None:
    said = chain("The parser is done. All 3 tests pass.")
    assert "claims that count: done, all tests passing" in lines(said["completion"])
    assert "all tests passing" in said["claim"].conclusion
    assert said["decision"].conclusion.startswith("complete: ")
    assert said["decision"].lines[-1].mark == "for"
    assert said["decision"].lines[-1].text.startswith("completed: ")


def test_the_weighted_sum_is_shown_part_by_part() -> None:
    said = chain("The parser is done.")["confidence"]
    shown = [line.text for line in said.lines]
    assert "completion words 60 × 0.35 = 21" in shown
    assert "freedom from errors 100 × 0.2 = 20" in shown
    sums = [float(text.rpartition("= ")[2]) for text in shown if "=" in text]
    assert sum(sums) == pytest.approx(float(said.conclusion.split()[0]), abs=0.1)


def test_a_long_quotation_says_that_it_is_cut() -> None:
    asked = f"Shall I {'really and truly ' * 9}go on?"
    told = next(line.text for line in chain(asked)["signals"].lines if "question" in line.text)
    assert "truly rea…”: It asks the user." in told


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BLOCK.format("false"), "EXIT_SIGNAL: false vetoes every claim made by words"),
        ("Which database should I use?", "the reply's state is question"),
        ("I looked around.", "no words say that it is done"),
    ],
)
def test_where_nothing_is_claimed_it_says_why(text: str, why: str) -> None:
    said = chain(text)
    assert said["claim"].conclusion == "the strategy auto sees none"
    assert why in lines(said["claim"])
    assert said["decision"].conclusion.startswith("continue: ")


def test_what_contradicts_is_named() -> None:
    said = chain("Everything is finished and done.\n\n- [x] lexer\n- [ ] parser\n")
    assert "open_boxes contradicts: " in lines(said["completion"])


async def test_a_stored_iteration_is_explained_as_it_was_decided() -> None:
    store = MemoryStore()
    replies = ["I began.", "It is finished.\n\n" + BLOCK.format("true")]
    async with Runner(executor=ScriptedExecutor(replies), store=store) as runner:
        run = await runner.run("Write a parser.")
    records = [each async for each in store.iterations(run.id)]
    rules, before = Rules(), Streaks()
    for record in records:
        stages = explain(rules, run, before, record)
        assert stages[-1].conclusion == f"{record.decision.kind}: {record.decision.reason}"
        before = record.tally
    assert records[-1].decision.kind == "complete"
    assert records[-1].claim is not None
    assert records[-1].claim.reason == "EXIT_SIGNAL: true"


def test_a_decision_by_other_settings_is_not_passed_off_as_one_by_these() -> None:
    ruling = judge(Question(text="I began."), Rules())
    less = replace(ruling.rules, limits=Limits(max_iterations=1))
    *_, said = explain(less, ruling.run, Streaks(), ruling.record)
    assert said.conclusion == "continue: nothing says that the task is done"
    assert "limit: would halt by the settings in force: " in lines(said)
    assert said.lines[-1].text == "continue: nothing says that the task is done"


def test_a_service_that_failed_after_a_word_of_the_model_is_explained_as_it_was_counted() -> None:
    now, refused = datetime(2026, 1, 1, tzinfo=UTC), Output(outcome=Failed(failure="refused"))
    begun = Output(outcome=Failed(failure="unavailable"), messages=(Message(text="I begin."),))
    run = RunRecord(id="r", task="Write a parser.", started_at=now)
    loop = Loop(Rules(), run, RunState.of(run))
    for _ in range(loop.rules.decision.unavailable - 1):
        loop.accept(loop.judge(refused, at=now))
    record = loop.judge(begun, at=now)
    *_, said = explain(loop.rules, run, loop.state.streaks, record)
    assert said.lines[-1].text == "continue: the turn failed and is repeated: unavailable"
    assert "would" not in lines(said)


def test_what_repeats_is_told_with_how_often_and_in_which_words() -> None:
    said = chain("I read the file.", previous=["I read the file.", "I read the file."])["stuck"]
    assert lines(said) == "the same output 3 times: “I read the file.”"


def test_what_the_analyzers_beside_the_first_think_has_a_stage_of_its_own() -> None:
    held = Further(opinion=Opinion(on_completion="holds_back", reason="half of it is not grounded"))
    backed = Further(opinion=Opinion(on_completion="supports"))
    ruling = judge(Question(text="The parser is done. All 3 tests pass."), Rules())
    analysis = evolve(ruling.record.analysis, further={"grounding": held, "brevity": backed})
    record = evolve(ruling.record, analysis=analysis)
    stages = {stage.name: stage for stage in explain(ruling.rules, ruling.run, Streaks(), record)}
    assert stages["further analyzers"].conclusion == "block a completion (grounding, brevity)"
    assert [(line.mark, line.text) for line in stages["further analyzers"].lines] == [
        ("against", "grounding blocks it: half of it is not grounded"),
        ("for", "brevity supports it"),
    ]

"""What plug-ins give, at work in a run, whatever they do there."""

from types import SimpleNamespace
from typing import Any

import pytest

from ralph import Hooks, Keyword, Limits, Runner, StatusField
from ralph.analysis import Signal
from ralph.decision.claims import Case, Claim
from ralph.errors import PluginConflictError, UnknownNameError
from ralph.pipeline.evaluate import Rules
from ralph.plugins import Plugins, PromptContext, PromptPart, hookimpl
from ralph.records.events import Diagnosed, IterationFinished
from ralph.settings import Settings
from ralph.testing import ScriptedExecutor

DONE = "Done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"


class Watch(Hooks):
    """Remembers what a run told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.finished: list[IterationFinished] = []

    async def on_diagnosed(self, event: Diagnosed) -> None:
        self.told.append(event.text)

    async def on_iteration_finished(self, event: IterationFinished) -> None:
        self.finished.append(event)


def plugin(**hooks: Any) -> SimpleNamespace:
    """An object whose hooks give some things: `plugin(ralph_keywords=[…])`."""

    def giving(name: str, things: object) -> Any:
        def give() -> object:
            return things

        give.__name__ = name
        return hookimpl(give)

    return SimpleNamespace(name="mine", **{name: giving(name, things) for name, things in hooks.items()})


def run(*replies: str, plugins: list[object], **more: Any) -> tuple[Any, Watch, ScriptedExecutor]:
    watch, executor = Watch(), ScriptedExecutor(replies)
    limits = Limits(max_iterations=len(replies))
    runner = Runner(executor=executor, hooks=[watch], plugins=plugins, limits=limits, **more)
    return runner.run_sync("Write a parser."), watch, executor


def test_words_fields_detectors_and_sections_of_the_prompt_count() -> None:
    def detect(reply: Any) -> list[Signal]:
        return [Signal("seen", "seen", 0, 4, 0, "was seen")]

    def section(context: PromptContext) -> str:
        return f"House rule {context.iteration}: {context.task}"

    mine = plugin(
        ralph_keywords=[Keyword(text="mission accomplished", weight="very_high")],
        ralph_status_fields=[StatusField("COVERAGE", float)],
        ralph_detectors=[detect],
        ralph_prompt_parts=[PromptPart("rules", "of the house", section)],
    )
    reply = "Mission accomplished.\n---RALPH_STATUS---\nSTATUS: COMPLETE\nCOVERAGE: 87.5\n---END_RALPH_STATUS---\n"
    record, watch, executor = run(reply, plugins=[mine])
    assert record.stop_reason == "completed"
    assert watch.finished[0].fields == {"COVERAGE": 87.5}
    assert any(piece.signal == "seen" for piece in watch.finished[0].analysis.evidence)
    asked = executor.prompts[0].text
    assert asked.index("House rule 1: Write a parser.") < asked.index("---RALPH_STATUS---")
    assert "COVERAGE (float)" in asked
    assert watch.told == []


class Eager:
    name = "eager"

    def claim(self, case: Case) -> Claim | None:
        return Claim(reason="it is late")


class Raising:
    name = "raising"

    def claim(self, case: Case) -> Claim | None:
        raise RuntimeError("no idea")


class Talking:
    name = "talking"

    def claim(self, case: Case) -> Any:
        return "it is done"


def test_a_strategy_is_chosen_by_its_name() -> None:
    record, _, _ = run("Half of it.", plugins=[plugin(ralph_strategies=[Eager()])], strategy="eager")
    assert (record.stop_reason, record.detail) == ("completed", "it is late")
    with pytest.raises(UnknownNameError, match="no exit strategy called 'eagr'"):
        run("x", plugins=[plugin(ralph_strategies=[Eager()])], strategy="eagr")


@pytest.mark.parametrize(
    ("strategy", "told"),
    [(Raising(), "failed: RuntimeError: no idea"), (Talking(), "returned a str, which is not a claim")],
)
def test_a_strategy_that_fails_sees_no_claim_and_the_run_says_so_once(strategy: Any, told: str) -> None:
    mine = plugin(ralph_strategies=[strategy])
    record, watch, _ = run(DONE, DONE, plugins=[mine], strategy=strategy.name)
    assert (record.stop_reason, record.iterations) == ("limit_reached", 2)
    assert [told in text for text in watch.told] == [True]
    assert watch.told[0].startswith("The plug-in 'mine' (object of types): The exit strategy")


def _raises(context: PromptContext) -> str:
    raise RuntimeError("no rules")


def _gives_no_text(context: PromptContext) -> object:
    return 5


def _takes_nothing() -> str:
    return "x"


@pytest.mark.parametrize("text", [_raises, _gives_no_text, _takes_nothing], ids=lambda text: text.__name__)
def test_a_section_of_the_prompt_that_fails_is_left_out(text: Any) -> None:
    mine = plugin(ralph_prompt_parts=[PromptPart("rules", "of the house", text)])
    record, watch, executor = run(DONE, plugins=[mine])
    assert record.stop_reason == "completed"
    assert "The prompt part rules" in watch.told[0]
    assert "None" not in executor.prompts[0].text


def test_a_section_of_the_prompt_is_bounded() -> None:
    mine = plugin(ralph_prompt_parts=[PromptPart("rules", "endless", lambda moment: "word " * 1_000_000)])
    _, _, executor = run(DONE, plugins=[mine])
    assert len(executor.prompts[0].text) < 10_000


def test_a_detector_that_raises_is_left_out_and_named_in_the_warnings() -> None:
    def detect_nothing(reply: Any) -> list[Signal]:
        raise RuntimeError("no reply")

    record, watch, _ = run(DONE, plugins=[plugin(ralph_detectors=[detect_nothing])])
    assert record.stop_reason == "completed"
    assert "The detector detect_nothing failed: RuntimeError: no reply" in watch.finished[0].analysis.warnings


def test_an_observer_that_raises_and_a_hook_that_raises_leave_the_run_completed() -> None:
    class Broken(Hooks):
        async def on_iteration_finished(self, event: IterationFinished) -> None:
            raise RuntimeError("no more ink")

    @hookimpl
    def ralph_keywords() -> list[Keyword]:
        raise RuntimeError("a word is missing")

    broken = plugin(ralph_observers=[Broken()])
    broken.ralph_keywords = ralph_keywords
    record, watch, _ = run("Half of it.", DONE, plugins=[broken])
    assert record.stop_reason == "completed"
    assert "ralph_keywords failed: RuntimeError: a word is missing. The run continues without it." in watch.told[0]
    assert watch.told[1:] == [
        "The observer Broken.on_iteration_finished failed (RuntimeError); the run continues without it.",
        "Observers that failed: Broken.on_iteration_finished 2 times.",
    ]
    assert list(record.problems) == watch.told[:2]


def test_a_plugins_field_cannot_take_the_place_of_ones_own() -> None:
    mine = plugin(ralph_status_fields=[StatusField("COVERAGE", int)])
    with pytest.raises(PluginConflictError, match="in your own settings and in the plug-in 'mine'"):
        run(DONE, plugins=[mine], status_fields=[StatusField("COVERAGE", float)])


def test_a_replay_refuses_the_same_fields_as_a_run() -> None:
    mine = Plugins.of([plugin(ralph_status_fields=[StatusField("COVERAGE", int)])])
    own = Settings.model_validate({"status_fields": [{"name": "COVERAGE", "type": "float"}]})
    with pytest.raises(PluginConflictError, match="in your own settings and in the plug-in 'mine'"):
        Rules.of(own, mine)
    assert [field.name for field in Rules.of(Settings(), mine).status_fields] == ["COVERAGE"]


def test_two_plugins_with_a_field_of_one_name_are_refused_before_the_run() -> None:
    first, second = (plugin(ralph_status_fields=[StatusField("COVERAGE", kind)]) for kind in (float, int))
    with pytest.raises(PluginConflictError, match="The status field 'COVERAGE'"):
        run(DONE, plugins=[first, second])

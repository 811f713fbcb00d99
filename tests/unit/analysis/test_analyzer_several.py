"""Analyzers beside the first: what is kept of them, and what they can do to a completion."""

from typing import Any

import pytest

from ralph.analysis import Analysis, AnalysisContext, Opinion, ResponseAnalyzer, SeveralAnalyzers
from ralph.decision.claims import Case, Claim, claimed, strategy_named
from ralph.status import StatusMissing
from ralph.types.output import Output, ToolCall

WORDS = "The parser is finished. All tasks are complete, and all tests pass."


class Fixed:
    """Says the same of every reply."""

    def __init__(self, said: Any) -> None:
        self.said = said

    def analyze(self, output: Output, status: object, context: object) -> Any:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


class Measured(Analysis, frozen=True):
    grounding: float = 0.0
    note: str = ""


def analyzed(text: str = WORDS, **further: Any) -> Analysis:
    analyzer = SeveralAnalyzers(ResponseAnalyzer(), {name: Fixed(said) for name, said in further.items()})
    return analyzer.analyze(Output(text=text), StatusMissing(), AnalysisContext())


def holding(reason: str = "half of it is not grounded") -> Analysis:
    return Measured(grounding=0.4, opinion=Opinion(on_completion="holds_back", reason=reason))


SUPPORTING = Analysis(opinion=Opinion(on_completion="supports", reason="every answer is right"))


def claim(analysis: Analysis, strategy: str = "auto", **more: Any) -> Claim | None:
    case = Case(output=Output(text=WORDS), analysis=analysis, task="Write a parser.", **more)
    return claimed(strategy_named(strategy), case)


def test_each_has_a_namespace_of_its_own_and_the_firsts_conclusions_stay() -> None:
    alone = ResponseAnalyzer().analyze(Output(text=WORDS), StatusMissing(), AnalysisContext())
    found = analyzed(grounding=holding(), other=Analysis(state="error", confidence=3.0))
    assert found.model_copy(update={"further": {}}) == alone
    told = found.model_dump(mode="json")["further"]
    assert told["grounding"] == {
        "grounding": 0.4,
        "opinion": {"on_completion": "holds_back", "reason": "half of it is not grounded"},
    }
    assert told["other"]["state"] == "error"
    assert Analysis.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (RuntimeError("no model \x00\ud800"), "The analyzer bad failed: RuntimeError: no model"),
        ("done", "it gave an object of type str, not an Analysis"),
        (None, "it gave an object of type NoneType"),
        (Measured(note="x" * 200_000), "its results are longer than 100,000 characters"),
        (Measured(grounding=float("nan")), "The analyzer bad failed"),
    ],
)
def test_one_that_fails_has_no_say_and_the_others_have(said: Any, told: str) -> None:
    found = analyzed(bad=said, good=holding())
    assert list(found.further) == ["good"]
    assert told in found.warnings[-1]
    found.model_dump_json().encode()


def test_hostile_text_in_results_can_be_kept() -> None:
    found = analyzed(good=Measured(note="a\x00b\ud800c"))
    assert found.further["good"].model_dump()["note"] == "a\ufffdb\ufffdc"


@pytest.mark.parametrize("strategy", ["auto", "done_signals"])
def test_one_that_holds_back_does_so_as_long_as_it_says_so(strategy: str) -> None:
    free, held = claim(analyzed(), strategy), claim(analyzed(grounding=holding()), strategy)
    assert free is not None
    assert held is not None
    assert free.holds(confirming=True)
    assert not held.holds(confirming=True)
    assert held.doubts[-1] == "the analyzer grounding blocks it: half of it is not grounded"


def test_one_that_supports_stands_in_for_a_witness_that_words_lack() -> None:
    unseen = Output(text=WORDS, tool_calls=(ToolCall(id="1", name="edit"),))
    doubted, seconded = (
        claimed(strategy_named("auto"), Case(output=unseen, analysis=analysis, task="Write a parser."))
        for analysis in (analyzed(), analyzed(good=SUPPORTING))
    )
    assert doubted is not None
    assert seconded is not None
    assert [doubt for doubt in doubted.doubts if "only the reply says so" in doubt]
    assert seconded.doubts == ()
    assert seconded.reason.endswith("; supported by good")


def test_one_that_supports_takes_no_hard_doubt_away_and_makes_no_claim() -> None:
    unchanged = claim(analyzed(good=SUPPORTING), changed=False)
    assert unchanged is not None
    assert "the whole run has changed nothing in the workspace" in unchanged.doubts
    assert claim(analyzed("I am still reading the code.", good=SUPPORTING)) is None
    assert claim(analyzed(good=SUPPORTING), "circuit_breaker") is None


def test_one_that_holds_back_outweighs_one_that_supports() -> None:
    both = claim(analyzed(good=SUPPORTING, bad=holding()))
    assert both is not None
    assert not both.holds(confirming=True)

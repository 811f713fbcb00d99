"""The conformance suite finds each fault that it is for: one wrong analyzer a clause."""

from typing import Any

import pytest

from ralph.analysis import Analysis, AnalysisContext, Analyzer, CompletionSignal, Evidence, Opinion
from ralph.status import Status
from ralph.testing import AnalyzerConformance
from ralph.types.output import Output


class Right:
    """Holds back what is too short; the faults below are put into it."""

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        if len(output.text) < 40:
            return Analysis(status=status, opinion=Opinion(on_completion="holds_back", reason="the reply is too short"))
        return Analysis(status=status, confidence=50.0)


def altered(**changes: Any) -> type[Right]:
    """Says of everything what the right one says, but for that."""

    class Altered(Right):
        def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
            return super().analyze(output, status, context).model_copy(update=changes)

    Altered.__name__ = f"with {changes}"[:70]
    return Altered


class Silent(Right):
    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Any:
        return None


class Trusting(Right):
    """Takes it that every reply has words."""

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        first = output.text.split()[0] if output.failure is None else ""
        return super().analyze(output, status, context).model_copy(update={"work_summary": first})


class Spoilt(Right):
    """Takes it that every turn was completed."""

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        assert output.outcome.kind == "completed"
        return super().analyze(output, status, context)


class Backward(Right):
    """Takes it that there is a past."""

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        assert context.past[-1].state == "done"
        return super().analyze(output, status, context)


class Counting(Right):
    count = 0

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        self.count += 1
        return super().analyze(output, status, context).model_copy(update={"points": self.count})


class Remembering(Right):
    """Compares with the longest reply so far."""

    longest = 0

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        self.longest = max(self.longest, len(output.text))
        return super().analyze(output, status, context).model_copy(update={"points": self.longest})


class Further(Analysis, frozen=True):
    found: Any = None


class Odd(Right):
    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        return Further(found=object())


class Talkative(Right):
    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        return Further(found=["x" * 1_000] * 200)


class Quadratic(Right):
    """Looks at everything from every place."""

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        for at in range(len(output.text)):
            output.text[at:].upper()
        return super().analyze(output, status, context)


WRONG: list[tuple[str, type[Analyzer]]] = [
    ("test_a_reply_gives_an_analysis", Silent),
    ("test_hostile_text_raises_nothing", Trusting),
    ("test_a_turn_that_failed_is_a_reply_too", Spoilt),
    ("test_it_can_do_without_all_context", Backward),
    ("test_the_same_reply_gives_the_same_analysis", Counting),
    ("test_what_it_read_before_changes_nothing", Remembering),
    ("test_percentages_are_some", altered(confidence=101.0)),
    ("test_percentages_are_some", altered(completion=CompletionSignal(confidence=-1.0))),
    ("test_evidence_stands_in_the_text", altered(evidence=(Evidence(signal="it", end=10**6),))),
    ("test_evidence_stands_in_the_text", altered(evidence=(Evidence(signal="it", text="x" * 201),))),
    ("test_a_completion_is_held_back_for_a_reason", altered(opinion=Opinion(on_completion="holds_back"))),
    ("test_what_it_finds_is_json", Odd),
    ("test_beside_the_built_in_one_nothing_of_it_is_left_out", Talkative),
    ("test_its_time_grows_as_the_text_does", Quadratic),
]

CLAUSES = [name for name in dir(AnalyzerConformance) if name.startswith("test_")]


@pytest.mark.parametrize("clause", CLAUSES)
def test_a_right_one_passes(clause: str) -> None:
    getattr(AnalyzerConformance(), clause)(Right())


@pytest.mark.parametrize(("clause", "wrong"), WRONG)
def test_a_wrong_one_is_found(clause: str, wrong: type[Analyzer]) -> None:
    with pytest.raises((AssertionError, IndexError, ValueError)):
        getattr(AnalyzerConformance(), clause)(wrong())


def test_every_clause_has_a_wrong_one() -> None:
    assert {clause for clause, _ in WRONG} == set(CLAUSES)

"""What every analyzer does, as tests to be inherited. They need pytest.

```
class TestMyAnalyzer(AnalyzerConformance):
    @pytest.fixture
    def analyzer(self):
        return MyAnalyzer()
```
"""

import json

import pytest

from ralph.analysis import Analysis, AnalysisContext, Analyzer, Past, ResponseAnalyzer, SeveralAnalyzers
from ralph.status import parse_status
from ralph.testing.hostile_texts import HOSTILE, grows_linearly
from ralph.types.output import Answered, Failed, Interrupted, Outcome, Output, TimedOut
from ralph.types.plan import parse_plan

__all__ = ["AnalyzerConformance"]

_TOLD = 200
_SAID = """All of it is done: 12 tests passed, none failed. I am confident.

---RALPH_STATUS---
STATUS: COMPLETE
EXIT_SIGNAL: true
REASON: shop.py does what was asked
---END_RALPH_STATUS---
"""
_TEXTS = (_SAID, "I began with the parser; 3 tests fail.", "Error: no such file\n" * 50, *HOSTILE)
_OUTCOMES: tuple[Outcome, ...] = (
    Answered(),
    TimedOut(limit="idle", after=600),
    Failed(failure="rate_limited", message="try again at 3pm", retry_after=60),
    Failed(failure="crashed"),
    Interrupted(by="denials"),
    Interrupted(by="circles"),
)
_CONTEXT = AnalysisContext(
    task="Mend shop.py.",
    iteration=3,
    max_iterations=9,
    plan=parse_plan("- [x] mend it\n- [ ] test it\n"),
    past=(Past(text="I began."), Past(text=_SAID, state="done")),
    errors=("E: it broke",),
)


class AnalyzerConformance:
    """Inherit it and give `analyzer` as a fixture."""

    @pytest.fixture
    def analyzer(self) -> Analyzer:
        """The analyzer."""
        raise NotImplementedError

    def test_a_reply_gives_an_analysis(self, analyzer: Analyzer) -> None:
        assert isinstance(_analysis(analyzer, _SAID), Analysis)

    def test_hostile_text_raises_nothing(self, analyzer: Analyzer) -> None:
        for text in HOSTILE:
            _analysis(analyzer, text)

    def test_a_turn_that_failed_is_a_reply_too(self, analyzer: Analyzer) -> None:
        for outcome in _OUTCOMES:
            for text in ("", "I began."):
                _analysis(analyzer, text, outcome=outcome)

    def test_it_can_do_without_all_context(self, analyzer: Analyzer) -> None:
        for text in _TEXTS:
            _analysis(analyzer, text, AnalysisContext())

    def test_the_same_reply_gives_the_same_analysis(self, analyzer: Analyzer) -> None:
        assert _analysis(analyzer, _SAID) == _analysis(analyzer, _SAID)

    def test_what_it_read_before_changes_nothing(self, analyzer: Analyzer) -> None:
        """The past is in the context: a run that is resumed or replayed has another object."""
        first = _analysis(analyzer, _TEXTS[1])
        for text in _TEXTS:
            _analysis(analyzer, text)
        assert _analysis(analyzer, _TEXTS[1]) == first

    def test_percentages_are_some(self, analyzer: Analyzer) -> None:
        for text in _TEXTS:
            found = _analysis(analyzer, text)
            shares = (found.confidence, *found.confidence_parts.values(), found.stuck.confidence)
            assert all(0 <= share <= 100 for share in (*shares, found.completion.confidence))

    def test_evidence_stands_in_the_text(self, analyzer: Analyzer) -> None:
        for text in _TEXTS:
            for piece in _analysis(analyzer, text).evidence:
                assert piece.start <= piece.end <= len(text)
                assert len(piece.text) <= _TOLD

    def test_a_completion_is_held_back_for_a_reason(self, analyzer: Analyzer) -> None:
        for text in _TEXTS:
            opinion = _analysis(analyzer, text).opinion
            assert opinion.on_completion != "holds_back" or opinion.reason.strip(), "agent and people are told why"

    def test_what_it_finds_is_json(self, analyzer: Analyzer) -> None:
        for text in _TEXTS:
            json.dumps(_analysis(analyzer, text).model_dump(mode="json"), allow_nan=False).encode()

    def test_beside_the_built_in_one_nothing_of_it_is_left_out(self, analyzer: Analyzer) -> None:
        together = SeveralAnalyzers(ResponseAnalyzer(), {"this one": analyzer})
        for text in _TEXTS:
            found = _analysis(together, text)
            assert "this one" in found.further, found.warnings

    def test_its_time_grows_as_the_text_does(self, analyzer: Analyzer) -> None:
        slow_for = grows_linearly(str, lambda text: _analysis(analyzer, text), _SAID)
        assert not slow_for, f"it takes too long for many times {slow_for!r}"


def _analysis(
    analyzer: Analyzer, text: str, context: AnalysisContext = _CONTEXT, *, outcome: Outcome = _OUTCOMES[0]
) -> Analysis:
    return analyzer.analyze(Output(text=text, outcome=outcome), parse_status(text), context)

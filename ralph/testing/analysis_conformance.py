"""Tests that every analyzer and every detector must pass, to be inherited. They need pytest.

```
class TestMyAnalyzer(AnalyzerConformance):
    @pytest.fixture
    def analyzer(self):
        return MyAnalyzer()


class TestMyDetector(DetectorConformance):
    @pytest.fixture
    def detector(self):
        return detect_coverage

    @pytest.fixture
    def telling(self):
        return "Coverage: 62%."
```
"""

import json
import re
from collections.abc import Callable
from time import thread_time
from typing import TypeVar, get_args

import pytest

from ralph.analysis import (
    Analysis,
    AnalysisContext,
    Analyzer,
    Detector,
    Past,
    Reply,
    ResponseAnalyzer,
    SeveralAnalyzers,
    Signal,
)
from ralph.analysis.result import VERY_HIGH, State
from ralph.status import parse_status
from ralph.types.output import Answered, Failed, Interrupted, Outcome, Output, TimedOut
from ralph.types.plan import parse_plan

_T = TypeVar("_T")

_SHORT, _LONG = 4_000, 32_000
_FACTOR = 24
"""A linear reader takes eight times as long for eight times the text, and a quadratic one 64 times."""
_NEGLIGIBLE = 0.02
"""Seconds that are too few to measure."""

_BEGIN, _END = "---RALPH_STATUS---", "---END_RALPH_STATUS---"

HOSTILE = (
    "",
    " \n\t\r\n",
    "\x00\x1b]0;x\x07\x1b[2J\u202e\u2066`$(id)` %s {0} \\1",
    f"{_BEGIN}\nEXIT_SIGNAL: perhaps\nSTATUS: \n{_BEGIN}\nEXIT_SIGNAL: true\n{_END}\n{_END}",
    f"{_BEGIN}\nEXIT_SIGNAL: true",
    "```\n> " * 500,
    "- [x] " * 500,
    "Done. " * 2_000,
    "完成了。✅ Erledigt. ¡Hecho!",
    "a" * 20_000,
    "9" * 5_000 + "% of " + "9" * 5_000,
    "(" * 3_000 + "]" * 3_000,
)

_TILES = (" ", "a", "9", "- [ ] x\n", "not done, ", "error: \n", "((", "| - ", "`x` ", "\n")


def _grows_linearly(prepare: Callable[[str], _T], work: Callable[[_T], object], tile: str) -> str:
    """Return a text for which the time grows faster than its length; empty if none exists.

    Args:
        prepare: converts a text to the work's input; its time does not count.
        work: the function to measure.
        tile: a text to repeat, in addition to the usual ones.
    """
    for each in (tile, *_TILES):
        short, long = (prepare((each * (length // len(each) + 1))[:length]) for length in (_SHORT, _LONG))
        if _time(work, long) > max(_NEGLIGIBLE, _FACTOR * _time(work, short)):
            return each[:40]
    return ""


def _time(work: Callable[[_T], object], prepared: _T) -> float:
    """Return the shorter of two times, in seconds of this thread."""
    times: list[float] = []
    for _ in range(2):
        began = thread_time()
        work(prepared)
        times.append(thread_time() - began)
    return min(times)


_LONGEST_EVIDENCE = 200
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
    """The tests of an analyzer. Inherit it and provide `analyzer` as a fixture."""

    @pytest.fixture
    def analyzer(self) -> Analyzer:
        """Provide the analyzer."""
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
        """Check that the past comes from the context: a resumed or replayed run has another object."""
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
                assert len(piece.text) <= _LONGEST_EVIDENCE

    def test_a_completion_is_held_back_for_a_reason(self, analyzer: Analyzer) -> None:
        for text in _TEXTS:
            opinion = _analysis(analyzer, text).opinion
            assert opinion.on_completion != "holds_back" or opinion.reason.strip(), (
                "the agent and the user receive the reason"
            )

    def test_what_it_finds_is_json(self, analyzer: Analyzer) -> None:
        for text in _TEXTS:
            json.dumps(_analysis(analyzer, text).model_dump(mode="json"), allow_nan=False).encode()

    def test_beside_the_built_in_one_nothing_of_it_is_left_out(self, analyzer: Analyzer) -> None:
        together = SeveralAnalyzers(ResponseAnalyzer(), {"this one": analyzer})
        for text in _TEXTS:
            found = _analysis(together, text)
            assert "this one" in found.further, found.warnings

    def test_its_time_grows_as_the_text_does(self, analyzer: Analyzer) -> None:
        slow_for = _grows_linearly(str, lambda text: _analysis(analyzer, text), _SAID)
        assert not slow_for, f"it takes too long for many times {slow_for!r}"


def _analysis(
    analyzer: Analyzer, text: str, context: AnalysisContext = _CONTEXT, *, outcome: Outcome = _OUTCOMES[0]
) -> Analysis:
    return analyzer.analyze(Output(text=text, outcome=outcome), parse_status(text), context)


_KIND = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST_NAME, _LONGEST_REASON, _MOST_SIGNALS = 100, 300, 500


class DetectorConformance:
    """The tests of a detector. Inherit it and provide a detector and a reply in which it finds something."""

    @pytest.fixture
    def detector(self) -> Detector:
        """Provide the detector."""
        raise NotImplementedError

    @pytest.fixture
    def telling(self) -> str:
        """Provide a reply in which it finds something."""
        raise NotImplementedError

    @pytest.fixture
    def context(self) -> AnalysisContext:
        """Provide the context of the reply."""
        return AnalysisContext()

    @pytest.fixture
    def read(self, context: AnalysisContext) -> Callable[[str], Reply]:
        """Convert a text to a reply as further detectors receive it from the built-in ones."""

        def read(text: str) -> Reply:
            return ResponseAnalyzer().detect(Output(text=text), parse_status(text), context)[0]

        return read

    @pytest.fixture
    def replies(self, telling: str, read: Callable[[str], Reply]) -> list[Reply]:
        """Provide the telling reply and hostile ones."""
        return [read(text) for text in (telling, *HOSTILE)]

    def test_it_finds_what_it_is_for(self, detector: Detector, replies: list[Reply]) -> None:
        assert list(detector(replies[0]))

    def test_hostile_text_raises_nothing(self, detector: Detector, replies: list[Reply]) -> None:
        for reply in replies:
            list(detector(reply))

    def test_what_it_finds_are_signals(self, detector: Detector, replies: list[Reply]) -> None:
        for signal in _found(detector, replies):
            assert isinstance(signal, Signal)

    def test_a_signal_has_a_kind_in_snake_case(self, detector: Detector, replies: list[Reply]) -> None:
        for signal in _found(detector, replies):
            assert _KIND.fullmatch(signal.kind)
            assert len(signal.kind) <= _LONGEST_NAME
            assert len(signal.name) <= _LONGEST_NAME

    def test_a_weight_is_at_most_a_hundred(self, detector: Detector, replies: list[Reply]) -> None:
        for signal in _found(detector, replies):
            assert abs(signal.weight) <= VERY_HIGH

    def test_a_state_is_one_that_there_is(self, detector: Detector, replies: list[Reply]) -> None:
        for signal in _found(detector, replies):
            assert signal.state in {None, *get_args(State)}

    def test_what_counts_has_a_reason_that_fits_a_line(self, detector: Detector, replies: list[Reply]) -> None:
        for signal in _found(detector, replies):
            assert signal.why.strip() or not signal.weight
            assert len(signal.why.splitlines()) <= 1
            assert len(signal.why) <= _LONGEST_REASON

    def test_a_signal_stands_in_the_text(self, detector: Detector, replies: list[Reply]) -> None:
        for reply in replies:
            for signal in detector(reply):
                assert 0 <= signal.start <= signal.end <= len(reply.reading.text)

    def test_signals_are_few_enough_to_count(self, detector: Detector, replies: list[Reply]) -> None:
        for reply in replies:
            assert len(list(detector(reply))) <= _MOST_SIGNALS

    def test_what_it_read_before_changes_nothing(self, detector: Detector, replies: list[Reply]) -> None:
        first = list(detector(replies[0]))
        _found(detector, replies)
        assert list(detector(replies[0])) == first

    def test_it_changes_nothing_in_the_reply(self, detector: Detector, replies: list[Reply]) -> None:
        for reply in replies:
            before = reply.signals.all()
            list(detector(reply))
            assert reply.signals.all() == before

    def test_its_time_grows_as_the_text_does(
        self, detector: Detector, telling: str, read: Callable[[str], Reply]
    ) -> None:
        slow_for = _grows_linearly(read, lambda reply: list(detector(reply)), f"{telling} ")
        assert not slow_for, f"it takes too long for many times {slow_for!r}"


def _found(detector: Detector, replies: list[Reply]) -> list[Signal]:
    return [signal for reply in replies for signal in detector(reply)]

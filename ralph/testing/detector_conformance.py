"""What every detector does, as tests to be inherited. They need pytest.

```
class TestMyDetector(DetectorConformance):
    @pytest.fixture
    def detector(self):
        return detect_coverage

    @pytest.fixture
    def telling(self):
        return "Coverage: 62%."
```
"""

import re
from collections.abc import Callable
from typing import get_args

import pytest

from ralph.analysis import AnalysisContext, Detector, Reply, ResponseAnalyzer, Signal
from ralph.analysis.result import State
from ralph.analysis.signals import VERY_HIGH
from ralph.status import parse_status
from ralph.testing.hostile_texts import HOSTILE, grows_linearly
from ralph.types.output import Output

__all__ = ["DetectorConformance"]

_KIND = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_NAMED, _TOLD, _COUNTED = 100, 300, 500


class DetectorConformance:
    """Inherit it and give two fixtures: a detector, and a reply in which it finds something."""

    @pytest.fixture
    def detector(self) -> Detector:
        """The detector."""
        raise NotImplementedError

    @pytest.fixture
    def telling(self) -> str:
        """A reply in which it finds something."""
        raise NotImplementedError

    @pytest.fixture
    def context(self) -> AnalysisContext:
        """What it is told beside the reply."""
        return AnalysisContext()

    @pytest.fixture
    def read(self, context: AnalysisContext) -> Callable[[str], Reply]:
        """Makes a reply of a text, as the built-in detectors leave it to further ones."""

        def read(text: str) -> Reply:
            return ResponseAnalyzer().detect(Output(text=text), parse_status(text), context)[0]

        return read

    @pytest.fixture
    def replies(self, telling: str, read: Callable[[str], Reply]) -> list[Reply]:
        """The telling reply and hostile ones."""
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
            assert len(signal.kind) <= _NAMED
            assert len(signal.name) <= _NAMED

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
            assert len(signal.why) <= _TOLD

    def test_a_signal_stands_in_the_text(self, detector: Detector, replies: list[Reply]) -> None:
        for reply in replies:
            for signal in detector(reply):
                assert 0 <= signal.start <= signal.end <= len(reply.reading.text)

    def test_signals_are_few_enough_to_count(self, detector: Detector, replies: list[Reply]) -> None:
        for reply in replies:
            assert len(list(detector(reply))) <= _COUNTED

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
        slow_for = grows_linearly(read, lambda reply: list(detector(reply)), f"{telling} ")
        assert not slow_for, f"it takes too long for many times {slow_for!r}"


def _found(detector: Detector, replies: list[Reply]) -> list[Signal]:
    return [signal for reply in replies for signal in detector(reply)]

"""Detectors of one's own stand beside the built-in ones, and cannot break an analysis."""

import json
import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from pydantic import ValidationError

from ralph.analysis import DETECTORS, AnalysisContext, Keyword, Reply, ResponseAnalyzer, Signal, analyze_text
from ralph.analysis.lexicon import Role
from ralph.analysis.result import Analysis, Signals, State
from ralph.analysis.vocabulary import Scope
from ralph.status import StatusMissing
from ralph.types.output import Output


def ticket(reply: Reply) -> Iterable[Signal]:
    """A closed ticket is a claim; weight 100 is enough by itself."""
    at = reply.reading.prose.find("ticket closed")
    if at >= 0:
        yield Signal("ticket", "closed", at, at + len("ticket closed"), 100, "The ticket is closed.", "done")


def test_a_further_detectors_signal_completes_like_a_built_in_one() -> None:
    analysis = analyze_text("Parser written, ticket closed.", analyzer=ResponseAnalyzer(detectors=[ticket]))
    assert analysis.completion.detected
    assert analysis.completion.keywords == ("closed",)
    assert analysis.state == "done"
    piece = next(piece for piece in analysis.evidence if piece.signal == "ticket")
    assert (piece.text, piece.weight, piece.why) == ("ticket closed", 100, "The ticket is closed.")
    assert not analyze_text("Parser written, ticket closed.").completion.detected


def test_a_signal_that_contradicts_outweighs_every_claim() -> None:
    def open_tickets(reply: Reply) -> Iterable[Signal]:
        yield Signal("tickets", "open", weight=-50, why="Three tickets are open.")

    text = "Everything is finished. All tests pass."
    assert analyze_text(text).completion.detected
    held = analyze_text(text, analyzer=ResponseAnalyzer(detectors=[open_tickets]))
    assert not held.completion.detected
    assert held.state != "done"


@pytest.mark.parametrize(("weight", "detected"), [(59, False), (60, False), (99, False), (100, True)])
def test_one_signal_below_very_high_is_not_enough(weight: float, *, detected: bool) -> None:
    def claim(reply: Reply) -> Iterable[Signal]:
        yield Signal("claim", "mine", weight=weight, state="done")

    found = analyze_text("Hello there", analyzer=ResponseAnalyzer(detectors=[claim]))
    assert found.completion.detected is detected


def test_two_high_signals_of_different_detectors_are_enough() -> None:
    def claim(reply: Reply) -> Iterable[Signal]:
        yield Signal("claim", "mine", weight=60, state="done")

    assert analyze_text("The work is done.", analyzer=ResponseAnalyzer(detectors=[claim])).completion.detected


def test_a_detector_sees_what_those_before_it_found() -> None:
    seen: list[str] = []

    def curious(reply: Reply) -> Iterable[Signal]:
        seen.extend(signal.kind for signal in reply.signals.all())
        return ()

    analyze_text("All 12 tests pass.", analyzer=ResponseAnalyzer(detectors=[curious]))
    assert "completion_keyword" in seen


def test_a_detector_that_raises_is_left_out_and_named() -> None:
    def broken(reply: Reply) -> Iterable[Signal]:
        yield Signal("half", "done", weight=100, state="done")
        raise RuntimeError("no such table")

    analysis = analyze_text("The work is done.", analyzer=ResponseAnalyzer(detectors=[broken, ticket]))
    assert "The detector broken failed: RuntimeError: no such table" in analysis.warnings
    assert analysis.completion.keywords == ("done",), "half of its signals count for nothing"


def test_spans_beyond_the_text_and_endless_signals_are_cut() -> None:
    def endless(reply: Reply) -> Iterable[Signal]:
        while True:
            yield Signal("noise", "n", -5, 10**9, 1, "y" * 10_000)

    analysis = ResponseAnalyzer(detectors=[endless]).analyze(Output(text="short"), StatusMissing(), AnalysisContext())
    noise = [piece for piece in analysis.evidence if piece.signal == "noise"]
    assert noise
    assert all((piece.start, piece.end, len(piece.why)) == (0, 5, 300) for piece in noise)


def test_what_no_store_can_hold_is_replaced_and_names_are_bounded() -> None:
    def foreign(reply: Reply) -> Iterable[Signal]:
        yield Signal("kind\ud800", "name\ud800", weight=100, why="why\ud800\0", state="done")
        yield Signal("k" * 10_000, "n" * 10_000, weight=60, state="done")

    analysis = analyze_text("Hello there", analyzer=ResponseAnalyzer(detectors=[foreign]))
    assert Analysis.model_validate_json(analysis.model_dump_json()) == analysis
    assert analysis.completion.keywords == ("name\ufffd", "n" * 100)
    assert ("kind\ufffd", "why\ufffd\ufffd") in [(piece.signal, piece.why) for piece in analysis.evidence]
    assert max(len(piece.signal) for piece in analysis.evidence) == 100


@pytest.mark.parametrize(
    ("odd", "what"),
    [
        (Signal("claim", "odd", weight=math.nan, state="done"), "the weight nan"),
        (Signal("claim", "odd", weight=math.inf, state="done"), "the weight inf"),
        (Signal("claim", "odd", weight=-math.inf), "the weight -inf"),
        (Signal("claim", "odd", weight=101, state="done"), "the weight 101"),
        (Signal("claim", "odd", weight=100, state=cast("State", "finished")), "the unknown state 'finished'"),
    ],
)
def test_a_signal_that_makes_no_sense_is_left_out_and_named(odd: Signal, what: str) -> None:
    def vague(reply: Reply) -> Iterable[Signal]:
        yield odd
        yield odd
        yield Signal("claim", "sound", weight=60, state="done")

    analysis = analyze_text("Hello there", analyzer=ResponseAnalyzer(detectors=[vague]))
    assert analysis.completion.keywords == ("sound",)
    assert not analysis.completion.detected
    told = [warning for warning in analysis.warnings if "detector" in warning]
    assert told == [f"The detector vague gave a signal with {what}, which is left out."]
    assert Analysis.model_validate_json(analysis.model_dump_json()) == analysis


def test_the_built_in_ones_are_the_same_kind_of_function() -> None:
    text = "The parser is done. All 3 tests pass."
    reply, problems = ResponseAnalyzer().detect(Output(text=text), StatusMissing())
    assert problems == ()
    again = [signal for detector in DETECTORS for signal in detector(reply)]
    assert {signal.kind for signal in again} == {signal.kind for signal in reply.signals.all()}


def test_a_keyword_has_a_language_and_a_weight() -> None:
    words = [Keyword(text="fertig", language="de", weight="very_high"), Keyword(text="erledigt", language="de")]
    analyzer = ResponseAnalyzer(words)
    assert analyze_text("Alles ist fertig.", analyzer=analyzer).completion.detected
    one = analyze_text("Das ist erledigt.", analyzer=analyzer).completion
    assert (one.detected, one.keywords, one.confidence) == (False, ("erledigt",), 60)


@pytest.mark.parametrize("blank", ["", "  ", "\n\t"])
def test_a_blank_keyword_is_refused(blank: str) -> None:
    with pytest.raises(ValidationError, match="at least one character"):
        Keyword(text=blank)
    with pytest.raises(ValidationError, match="at least one character"):
        Keyword(text="fertig", forms=(blank,))
    assert Keyword(text=" fertig ").text == "fertig"


class Unhurried(Scope):
    """One that keeps no detector from looking closely."""

    def has(self, roles: AbstractSet[Role]) -> bool:
        return True


@pytest.mark.parametrize("name", ["finals", "replies"])
def test_a_detector_that_is_done_at_once_would_have_found_nothing(name: str) -> None:
    analyzer = ResponseAnalyzer()
    for line in (Path(__file__).parent / "cases" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        reply, _ = analyzer.detect(Output(text=json.loads(line)["text"]), StatusMissing())
        asked = replace(reply, scope=Unhurried(reply.reading, reply.scope.hits), signals=Signals())
        for detector in DETECTORS:
            asked.signals.add(detector(asked))
        assert asked.signals.all() == reply.signals.all()

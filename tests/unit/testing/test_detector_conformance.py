"""The conformance suite finds each fault that it is for: one wrong detector a clause."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

from ralph.analysis import AnalysisContext, Detector, Reply, Signal
from ralph.testing import DetectorConformance

TELLING = "All is well. Coverage: 62%."
_COVERAGE = re.compile(r"coverage:? (\d{1,3})%")


def right(reply: Reply) -> Iterator[Signal]:
    """Finds a coverage; the faults below are put into it."""
    for found in _COVERAGE.finditer(reply.reading.prose):
        yield Signal("coverage", "low", *found.span(), weight=-50, why=f"Coverage is only {found[1]} %.")


def altered(**changes: Any) -> Detector:
    """Finds what the right one finds, but for that."""

    def other(reply: Reply) -> list[Signal]:
        return [signal._replace(**changes) for signal in right(reply)]

    other.__name__ = f"with {changes}"[:70]
    return other


def blind(reply: Reply) -> list[Signal]:
    return []


def trusting(reply: Reply) -> Iterator[Signal]:
    """Takes it that every reply has something in it."""
    reply.reading.text.split()[0]
    yield from right(reply)


def bare(reply: Reply) -> Any:
    return [tuple(signal) for signal in right(reply)]


def talkative(reply: Reply) -> list[Signal]:
    return list(right(reply)) * 501


class Forgetful:
    """Tells of each thing once."""

    def __init__(self) -> None:
        self.seen: set[Signal] = set()

    def __call__(self, reply: Reply) -> list[Signal]:
        found = [signal for signal in right(reply) if signal not in self.seen]
        self.seen.update(found)
        return found


def meddling(reply: Reply) -> list[Signal]:
    found = list(right(reply))
    reply.signals.add(found)
    return found


def quadratic(reply: Reply) -> Iterator[Signal]:
    """Looks at everything from every place."""
    for at in range(len(reply.reading.text)):
        reply.reading.text[at:].upper()
    yield from right(reply)


WRONG: list[tuple[str, Detector]] = [
    ("test_it_finds_what_it_is_for", blind),
    ("test_hostile_text_raises_nothing", trusting),
    ("test_what_it_finds_are_signals", bare),
    ("test_a_signal_has_a_kind_in_snake_case", altered(kind="Low coverage")),
    ("test_a_signal_has_a_kind_in_snake_case", altered(name="low" * 100)),
    ("test_a_weight_is_at_most_a_hundred", altered(weight=101)),
    ("test_a_weight_is_at_most_a_hundred", altered(weight=float("nan"))),
    ("test_a_state_is_one_that_there_is", altered(state="finished")),
    ("test_what_counts_has_a_reason_that_fits_a_line", altered(why="")),
    ("test_what_counts_has_a_reason_that_fits_a_line", altered(why="it is\nlow")),
    ("test_what_counts_has_a_reason_that_fits_a_line", altered(why="low " * 100)),
    ("test_a_signal_stands_in_the_text", altered(end=10**6)),
    ("test_a_signal_stands_in_the_text", altered(start=20, end=10)),
    ("test_signals_are_few_enough_to_count", talkative),
    ("test_what_it_read_before_changes_nothing", Forgetful()),
    ("test_it_changes_nothing_in_the_reply", meddling),
    ("test_its_time_grows_as_the_text_does", quadratic),
]

CLAUSES = [name for name in dir(DetectorConformance) if name.startswith("test_")]


def ask(clause: str, detector: Detector) -> None:
    """Puts one clause to a detector."""
    suite = DetectorConformance()
    read = inspect.unwrap(DetectorConformance.read)(suite, AnalysisContext())
    replies = inspect.unwrap(DetectorConformance.replies)(suite, TELLING, read)
    given = {"detector": detector, "telling": TELLING, "read": read, "replies": replies}
    test = getattr(suite, clause)
    test(**{name: given[name] for name in inspect.signature(test).parameters})


@pytest.mark.parametrize("clause", CLAUSES)
def test_a_right_one_passes(clause: str) -> None:
    ask(clause, right)


def test_a_wrong_one_is_found(subtests: pytest.Subtests) -> None:
    for clause, wrong in WRONG:
        with subtests.test(clause=clause), pytest.raises(IndexError if wrong is trusting else AssertionError):
            ask(clause, wrong)


def test_every_clause_has_a_wrong_one() -> None:
    assert {clause for clause, _ in WRONG} == set(CLAUSES)

"""Labelled cases of our own: what the analysis makes of replies and loops that it was not tuned on.

`cases/replies.jsonl` holds replies (`text`, sometimes with its `task`) and their state, `cases/finals.jsonl` the same
for the long messages that agents end a pass with, `cases/varied.jsonl` for messages of every length, state and agent,
`cases/turns.jsonl` for short ones from the middle and the end of a turn, and `cases/loops.jsonl` windows of replies
with the errors of their tools, stuck or not. All were written for this project. A single case may be judged wrong; the
shares below may not fall. To keep them honest, look at a misjudged case to find the rule that it shows to be missing,
and write new cases for that rule; never make a word list longer for one case. The weights of `ralph.analysis.wording`
are learned from the four of replies. `cases/held.jsonl` was written beside the varied ones, by the same hand, to see
whether rules that were found with these hold for others: nobody who works on the rules has read it, and its misjudged
cases are better left unread.

`python tests/unit/analysis/test_cases.py` prints the figures, with `--wrong` also every case that is judged wrong, and
with `--wrong finals` (or `replies`, `varied`, `turns`, `loops`) those of one file.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from pydantic import BaseModel

from ralph.cli.judging import Question, judge
from ralph.strategies import strategy_named

CASES = Path(__file__).parent / "cases"
AUTO = strategy_named("auto")

DONE_PRECISION = 0.97
DONE_RECALL = 0.85
STATES_MACRO_F1 = 0.93
FINALS_DONE_PRECISION = 0.95
FINALS_DONE_RECALL = 0.9
FINALS_MACRO_F1 = 0.92
TURNS_DONE_PRECISION = 0.9
TURNS_DONE_RECALL = 0.88
VARIED_DONE_PRECISION = 0.95
VARIED_DONE_RECALL = 0.84
VARIED_MACRO_F1 = 0.88
HELD_DONE_PRECISION = 0.9
HELD_DONE_RECALL = 0.78
HELD_MACRO_F1 = 0.77
STUCK_PRECISION = 0.99
STUCK_RECALL = 0.94

FEWEST_REPLIES = 220
FEWEST_FINALS = 160
FEWEST_VARIED = 199
FEWEST_TURNS = 499
FEWEST_HELD = 200
FEWEST_LOOPS = 50


class ReplyCase(BaseModel, frozen=True, extra="forbid"):
    """A reply and the state that it shows, relative to the task where there is one."""

    text: str
    task: str = ""
    state: Literal["done", "progress", "blocked", "question", "limited", "error", "unknown"]
    language: Literal["en", "zh-Hans", "zh-Hant", "es", "de", "fr"]
    kind: str


class LoopCase(BaseModel, frozen=True, extra="forbid"):
    """Replies of neighbouring iterations, oldest first, and whether the last of them shows the loop to be stuck."""

    outputs: tuple[str, ...]
    errors: tuple[str, ...]
    label: Literal["stuck", "not_stuck"]
    kind: str


class Judged(NamedTuple):
    """A case's own answer beside the one that was found."""

    case: ReplyCase | LoopCase
    expected: str
    found: str


class Share(NamedTuple):
    """Shares of 0 to 1; with nothing to count they are 0."""

    precision: float
    recall: float
    f1: float


def share(judged: Iterable[Judged], answer: str) -> Share:
    """How well one answer is told from all others."""
    counts = Counter((each.expected == answer, each.found == answer) for each in judged)
    hits, missed, false = counts[True, True], counts[True, False], counts[False, True]
    return Share(
        precision=hits / (hits + false) if hits + false else 0.0,
        recall=hits / (hits + missed) if hits + missed else 0.0,
        f1=2 * hits / (2 * hits + missed + false) if hits else 0.0,
    )


def macro_f1(judged: Iterable[Judged]) -> float:
    """The mean F1 of the answers that are expected somewhere."""
    pairs = list(judged)
    answers = {each.expected for each in pairs}
    return sum(share(pairs, answer).f1 for answer in answers) / len(answers)


@cache
def replies() -> tuple[Judged, ...]:
    return tuple(judged_replies("replies.jsonl"))


@cache
def finals() -> tuple[Judged, ...]:
    return tuple(judged_replies("finals.jsonl"))


@cache
def varied() -> tuple[Judged, ...]:
    return tuple(judged_replies("varied.jsonl"))


@cache
def turns() -> tuple[Judged, ...]:
    return tuple(judged_replies("turns.jsonl"))


@cache
def held() -> tuple[Judged, ...]:
    return tuple(judged_replies("held.jsonl"))


def judged_replies(name: str) -> Iterable[Judged]:
    for case in map(ReplyCase.model_validate_json, lines(name)):
        yield Judged(case, case.state, judge(Question(text=case.text, task=case.task), AUTO).analysis.state)


@cache
def loops() -> tuple[Judged, ...]:
    return tuple(
        Judged(case, case.label, "stuck" if is_stuck(case) else "not_stuck")
        for case in map(LoopCase.model_validate_json, lines("loops.jsonl"))
    )


def is_stuck(case: LoopCase) -> bool:
    *earlier, last = case.outputs
    question = Question(text=last, previous=tuple(earlier), errors=case.errors)
    return judge(question, AUTO).analysis.stuck.detected


def lines(name: str) -> list[str]:
    # Not `str.splitlines`, which also cuts at separators that a JSON string may hold as they are.
    return (CASES / name).read_text(encoding="utf-8").strip().split("\n")


# covers: S1-1
@pytest.mark.parametrize(
    ("figure", "floor"),
    [
        pytest.param(lambda: share(replies(), "done").precision, DONE_PRECISION, id="done-precision"),
        pytest.param(lambda: share(replies(), "done").recall, DONE_RECALL, id="done-recall"),
        pytest.param(lambda: macro_f1(replies()), STATES_MACRO_F1, id="states-macro-f1"),
        pytest.param(lambda: share(finals(), "done").precision, FINALS_DONE_PRECISION, id="finals-done-precision"),
        pytest.param(lambda: share(finals(), "done").recall, FINALS_DONE_RECALL, id="finals-done-recall"),
        pytest.param(lambda: macro_f1(finals()), FINALS_MACRO_F1, id="finals-macro-f1"),
        pytest.param(lambda: share(varied(), "done").precision, VARIED_DONE_PRECISION, id="varied-done-precision"),
        pytest.param(lambda: share(varied(), "done").recall, VARIED_DONE_RECALL, id="varied-done-recall"),
        pytest.param(lambda: share(turns(), "done").precision, TURNS_DONE_PRECISION, id="turns-done-precision"),
        pytest.param(lambda: share(turns(), "done").recall, TURNS_DONE_RECALL, id="turns-done-recall"),
        pytest.param(lambda: macro_f1(varied()), VARIED_MACRO_F1, id="varied-macro-f1"),
        pytest.param(lambda: share(held(), "done").precision, HELD_DONE_PRECISION, id="held-done-precision"),
        pytest.param(lambda: share(held(), "done").recall, HELD_DONE_RECALL, id="held-done-recall"),
        pytest.param(lambda: macro_f1(held()), HELD_MACRO_F1, id="held-macro-f1"),
        pytest.param(lambda: share(loops(), "stuck").precision, STUCK_PRECISION, id="stuck-precision"),
        pytest.param(lambda: share(loops(), "stuck").recall, STUCK_RECALL, id="stuck-recall"),
    ],
)
def test_most_cases_are_judged_as_a_person_would(figure: Callable[[], float], floor: float) -> None:
    assert figure() >= floor


def test_the_cases_are_many_and_each_is_there_once() -> None:
    every = (*replies(), *finals(), *varied(), *turns(), *held())
    told = [(case.text, case.task) for case in (each.case for each in every) if isinstance(case, ReplyCase)]
    assert len(replies()) >= FEWEST_REPLIES
    assert len(finals()) >= FEWEST_FINALS
    assert len(varied()) >= FEWEST_VARIED
    assert len(turns()) >= FEWEST_TURNS
    assert len(held()) >= FEWEST_HELD
    assert len(loops()) >= FEWEST_LOOPS
    assert len(set(told)) == len(told)


def report() -> dict[str, Any]:
    """All figures, by state, language and kind of case."""
    return {
        "replies": report_on_states(replies()),
        "finals": report_on_states(finals()),
        "varied": report_on_states(varied()),
        "turns": report_on_states(turns()),
        "held": report_on_states(held()),
        "loops": {
            "cases": len(loops()),
            "stuck": rounded(share(loops(), "stuck")),
            "right_by_kind": right_by(loops(), "kind"),
        },
    }


def report_on_states(judged: tuple[Judged, ...]) -> dict[str, Any]:
    return {
        "cases": len(judged),
        "macro_f1": round(macro_f1(judged), 3),
        "done_false_in_mid_turn": sum(each.found == "done" for each in judged if each.case.kind == "mid_turn"),
        "states": {state: rounded(share(judged, state)) for state in sorted({each.expected for each in judged})},
        "right_by_language": right_by(judged, "language"),
        "right_by_kind": right_by(judged, "kind"),
    }


def rounded(figures: Share) -> dict[str, float]:
    return {name: round(value, 3) for name, value in figures._asdict().items()}


def right_by(judged: Iterable[Judged], field: str) -> dict[str, str]:
    """For each expected answer and each value of a case's field: how many of how many are judged right."""
    right, every = Counter[str](), Counter[str]()
    for each in judged:
        group = f"{each.expected}/{getattr(each.case, field)}"
        every[group] += 1
        right[group] += each.expected == each.found
    return {group: f"{right[group]}/{count}" for group, count in sorted(every.items())}


def main(*, wrong: Iterable[str]) -> None:
    for each in (each for name in wrong for each in FILES[name]()):
        if each.expected != each.found:
            told = {"expected": each.expected, "found": each.found, **each.case.model_dump()}
            print(json.dumps(told, ensure_ascii=False))
    print(json.dumps(report(), ensure_ascii=False, indent=1))


FILES: dict[str, Callable[[], tuple[Judged, ...]]] = {
    "replies": replies,
    "finals": finals,
    "varied": varied,
    "turns": turns,
    "loops": loops,
}
"""What `--wrong` may show."""

if __name__ == "__main__":
    flag, named = "--wrong" in sys.argv[1:], [name for name in sys.argv[1:] if name in FILES]
    main(wrong=(named or FILES) if flag else ())

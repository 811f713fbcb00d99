"""How a reply sounds by its words alone."""

import importlib.util
from math import fsum
from pathlib import Path
from types import ModuleType

import pytest

from ralph.analysis import analyze_text
from ralph.analysis.wording import SOUNDS, Weights, features, weights, wording

FINISHED = (
    "The importer has been rewritten and every criterion is met. Amounts with a comma are parsed, duplicates are "
    "skipped and reported at the end, and last year's file goes through in nine seconds. Typecheck and all tests pass."
)
GOING_ON = (
    "I looked into the importer and how the amounts are parsed. The tests still fail for two of the duplicates, and "
    "the remaining items on the list have to wait: why the second file is read twice is not clear yet."
)
BLOCKED = (
    "The deployment cannot go on from here. The registry refuses every push since the token expired, I have no "
    "permission to create one, and without access nothing else can be done. Somebody with the right to has to renew it."
)


def odds(text: str, state: str, *, task: bool = False) -> float:
    return wording(text, task=task).odds[SOUNDS.index(state)]


@pytest.fixture(scope="module")
def fitting() -> ModuleType:
    place = Path(__file__).with_name("fit_wording.py")
    specification = importlib.util.spec_from_file_location("fit_wording", place)
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_finished_work_sounds_finished_and_other_work_does_not():
    assert odds(FINISHED, "done") > 0.5 > -0.5 > odds(GOING_ON, "done")
    assert odds(BLOCKED, "blocked") > max(odds(FINISHED, "blocked"), odds(GOING_ON, "blocked"), 0)


def test_the_words_that_weigh_most_are_told():
    heard = wording(GOING_ON, task=False)
    against = heard.telling("done", against=True)
    assert len(against) == 3
    assert set(against) <= features(GOING_ON)[0]
    assert not set(against) & set(heard.telling("done"))


def test_a_word_counts_once_and_a_number_is_its_length():
    assert features("Done **done** 12, done: 3/4 完成") == ({"done", "##", ":", "#/#", "完", "成"},) * 2
    assert odds(FINISHED, "done") == odds(f"{FINISHED} {FINISHED}", "done")


def test_of_a_long_reply_the_ends_are_read():
    middle = "lorem ipsum " * 20_000
    words, first = features(f"alpha {middle} omega")
    assert {"alpha", "omega"} <= words
    assert "alpha" in first


def test_the_weights_of_ones_own_can_stand_in():
    own = Weights((0.0,) * 3, (1.0, 0.0, 0.0), {"splendid": (2.0, 0.0, 0.0)}, {"splendid": (0.5, 0.0, 0.0)})
    assert wording("A splendid day", task=False, learned=own).odds[0] == 2.5
    assert wording("A splendid day", task=True, learned=own).odds[0] == 3.5
    assert wording("A day", task=False, learned=own).heard == []


def test_wording_is_against_a_single_claim_alone():
    assert analyze_text(FINISHED).state == "done"
    signals = {each.signal: each.weight for each in analyze_text(GOING_ON).evidence}
    assert signals["wording"] < 0
    assert analyze_text(BLOCKED).state == "blocked"


@pytest.mark.timeout(120)
def test_the_weights_are_those_that_the_cases_teach(fitting: ModuleType):
    """Whoever changes the cases fits the weights again. Small differences are another machine's arithmetic."""
    cases = [case for name in fitting.LEARNED_FROM for case in fitting.read_cases(fitting.CASES / f"{name}.jsonl")]
    learned, kept = fitting.fit(cases), weights()
    assert learned.anywhere.keys() == kept.anywhere.keys()
    for mine, theirs in ((learned.anywhere, kept.anywhere), (learned.first, kept.first)):
        for word, row in mine.items():
            assert row == pytest.approx(theirs[word], abs=0.03), word


def test_the_order_of_the_words_makes_no_difference():
    own = Weights(
        base=(0.0, 0.0, 0.0),
        task=(0.0, 0.0, 0.0),
        anywhere={"one": (1e16, 0.1, 0.0), "two": (1.0, 0.2, 0.0), "three": (-1e16, -0.3, 0.0)},
        first={},
    )
    for text in ("one two three", "three two one", "two three one"):
        assert wording(text, task=False, learned=own).odds == (1.0, fsum((0.1, 0.2, -0.3)), 0.0)

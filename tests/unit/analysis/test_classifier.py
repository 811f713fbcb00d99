"""How a reply sounds by its words alone."""

import importlib.util
from math import fsum
from pathlib import Path
from types import ModuleType

import pytest

from ralph.analysis import ResponseAnalyzer, analyze_text
from ralph.analysis.state import CLASSES, FIRST, Classifier, Weights, classifier, load_weights, tokenize
from ralph.status import parse_status
from ralph.types.output import Output

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
    return classifier().classify(text.lower(), task=task).odds[CLASSES.index(state)] / 100


def summed(learned: Weights, text: str, *, task: bool) -> list[float]:
    """The odds of a text, added up weight by weight."""
    words = tokenize(text)
    rows = [learned.anywhere[word] for word in set(words) if word in learned.anywhere]
    rows += [learned.first[word] for word in set(words[:FIRST]) if word in learned.first]
    return [fsum(column) for column in zip(learned.base, *rows, *([learned.task] if task else ()), strict=True)]


@pytest.fixture(scope="module")
def fitting() -> ModuleType:
    place = Path(__file__).with_name("fit_classifier.py")
    specification = importlib.util.spec_from_file_location("fit_classifier", place)
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_finished_work_sounds_finished_and_other_work_does_not():
    assert odds(FINISHED, "done") > 0.5 > -0.5 > odds(GOING_ON, "done")
    assert odds(BLOCKED, "blocked") > max(odds(FINISHED, "blocked"), odds(GOING_ON, "blocked"), 0)


def test_the_words_that_weigh_most_are_told():
    result = classifier().classify(GOING_ON.lower(), task=False)
    against = result.strongest_words("done", against=True)
    assert len(against) == 3
    assert set(against) <= set(result.words)
    assert not set(against) & set(result.strongest_words("done"))


def test_no_word_weighs_more_than_those_that_are_told(subtests: pytest.Subtests):
    for text in [FINISHED, GOING_ON, BLOCKED, "A dull word is told where there is no loud one."]:
        for against, sign in [(False, -1), (True, 1)]:
            for state in CLASSES:
                with subtests.test(text=text, against=against, state=state):
                    learned, result, column = (
                        load_weights(),
                        classifier().classify(text.lower(), task=False),
                        CLASSES.index(state),
                    )
                    weigh = dict.fromkeys(result.words, 0)
                    for table, words in ((learned.anywhere, result.words), (learned.first, result.words[:FIRST])):
                        for word in table.keys() & words:
                            weigh[word] += sign * round(100 * table[word][column])
                    heaviest = sorted((weight, word) for word, weight in weigh.items() if weight < 0)[:3]
                    assert result.strongest_words(state, against=against) == [word for _, word in heaviest]


def test_a_word_counts_once_and_a_number_is_its_length():
    assert tokenize("done **done** 12, done: 3/4 完成") == ["done", "done", "##", "done", ":", "#/#", "完", "成"]
    assert odds(FINISHED, "done") == odds(f"{FINISHED} {FINISHED}", "done")


def test_of_a_long_reply_the_ends_are_read():
    middle = "lorem ipsum " * 20_000
    words = tokenize(f"alpha {middle} omega")
    assert len(words) < 2_500
    assert (words[0], words[-1]) == ("alpha", "omega")


def test_the_weights_of_ones_own_can_stand_in():
    none = (0.0, 0.0, 0.0)
    own = Classifier(Weights(none, (1.0, 0.0, 0.0), {"splendid": (2.0, 0.0, -0.5)}, {"splendid": (0.5, 0.0, -0.01)}))
    assert own.classify("a splendid day", task=False).odds == (250, 0, -51)
    assert own.classify("a splendid day", task=True).odds == (350, 0, -51)
    assert own.classify("a day", task=False).odds == (0, 0, 0)
    assert own.classify("a day", task=False).strongest_words("done") == []


def test_wording_is_against_a_single_claim_alone():
    assert analyze_text(FINISHED).state == "done"
    signals = {each.signal: each.weight for each in analyze_text(GOING_ON).evidence}
    assert signals["wording"] < 0
    assert analyze_text(BLOCKED).state == "blocked"


@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.long
def test_the_weights_are_those_that_the_cases_teach(fitting: ModuleType):
    """Whoever changes the cases fits the weights again. Small differences are another machine's arithmetic."""
    cases = [case for name in fitting.LEARNED_FROM for case in fitting.read_cases(fitting.CASES / f"{name}.jsonl")]
    learned, kept = fitting.fit(cases), load_weights()
    assert learned.anywhere.keys() == kept.anywhere.keys()
    for mine, theirs in ((learned.anywhere, kept.anywhere), (learned.first, kept.first)):
        for word, row in mine.items():
            assert row == pytest.approx(theirs[word], abs=0.03), word


@pytest.mark.parametrize("task", [False, True])
def test_the_odds_are_the_sums_of_the_weights(fitting: ModuleType, task: bool):
    learned = load_weights()
    for case in fitting.read_cases(fitting.CASES / "finals.jsonl"):
        result, sums = classifier().classify(case.prose, task=task), summed(learned, case.prose, task=task)
        assert [hundredths / 100 for hundredths in result.odds] == pytest.approx(sums, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wait… what?! 10:30", {"wait", "…", "what", "?", "!", "##", ":"}),
        ("¿qué pasó? über-größe", {"qué", "pasó", "?", "über", "größe"}),
        ("✅ done — ٣ tests → 完成了", {"✅", "done", "#", "tests", "完", "成", "了"}),
        ("".join(chr(0x4E00 + code) for code in range(100)), {chr(0x4E00 + code) for code in range(100)}),
        ("😀don't\x1fstop½", {"don't", "stop"}),
    ],
)
def test_characters_beyond_ascii_are_letters_signs_or_nothing(text: str, words: set[str]):
    assert set(tokenize(text)) == words
    many = "".join(f"{chr(code)} " for code in range(0x2190, 0x21C0))
    assert set(tokenize(f"{text} {many}")) == words, "many kinds of characters are read as few are"


@pytest.mark.parametrize(("base", "said"), [(0.29, []), (0.3, ["sounds finished"])])
def test_odds_at_an_edge_count_as_they_are_written(monkeypatch: pytest.MonkeyPatch, base: float, said: list[str]):
    own = Classifier(Weights((base, -1.0, -2.0), (0.0, 0.0, 0.0), {"splendid": (-0.1, 0.0, 0.0)}, {}))
    monkeypatch.setattr("ralph.analysis.detectors.implicit_claims.classifier", lambda: own)
    assert 0.3 - 0.1 < 0.2, "though it is as much in hundredths"
    text = "A splendid " + " ".join(f"{letter}x" for letter in "abcdefghijklmnopqrst")
    reply, _ = ResponseAnalyzer().detect(Output(text=text), parse_status(text))
    assert [signal.name for signal in reply.signals.of("wording")] == said

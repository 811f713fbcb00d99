"""The learned chances of a reply's states, and their vote beside the rules'."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from ralph.analysis import AnalysisContext, ResponseAnalyzer, analyze_text
from ralph.analysis.detectors.wording import STATES, Fold, Weights, load_weights, tokenize
from ralph.analysis.result import Reply
from ralph.status import parse_status
from ralph.types.output import Output

FINISHED = (
    "The importer has been rewritten and every criterion is met. Amounts with a comma are parsed, duplicates are "
    "skipped and reported at the end, and last year's file goes through in nine seconds. Typecheck and all tests pass."
)


def reply_of(text: str, task: str = "") -> Reply:
    return ResponseAnalyzer().detect(Output(text=text), parse_status(text), AnalysisContext(task=task))[0]


@pytest.fixture(scope="module")
def fitting() -> ModuleType:
    place = Path(__file__).with_name("fit_fold.py")
    specification = importlib.util.spec_from_file_location("fit_fold", place)
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_weights_of_ones_own_can_stand_in():
    def row(state: str) -> list[int]:
        return [100 if each == state else 0 for each in STATES]

    own = Fold(Weights([0] * 7, {}, {"any": {"splendid": row("done")}, "first": {}, "last": {}}, {}))
    even, sure = own.judge(reply_of("a day")), own.judge(reply_of("a splendid day"))
    assert set(even.chances.values()) == {1 / 7}
    assert even.reasons == []
    assert max(STATES, key=sure.chances.__getitem__) == "done"
    assert sum(sure.chances.values()) == pytest.approx(1)
    assert sure.reasons == [("any", "splendid")]


def test_the_words_that_weigh_most_are_told_where_they_stand():
    evidence = analyze_text(FINISHED).evidence
    assert [each.why for each in evidence if each.signal == "wording" and each.why.startswith("Sounds finished")]
    for each in evidence:
        if each.signal == "word":
            assert FINISHED[each.start : each.end] == each.text


def test_the_status_block_needs_no_verdict():
    block = "\n---RALPH_STATUS---\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"
    found = analyze_text(FINISHED + block)
    assert not [each for each in found.evidence if each.signal == "wording"]
    assert found.state == "progress"


@pytest.mark.parametrize(
    ("text", "task", "state"),
    [
        ("Which would you prefer?", "", "question"),
        ("Everything is set up. Ready to run whenever you want.", "", "question"),
        ("Waiting for your command.", "", "question"),
        ("待命中，等待你的指令。", "", "question"),
        ("Alles ist eingerichtet. Ich warte auf deinen Befehl.", "", "question"),
        ("Copy the file to /etc/app, then I can continue.", "", "blocked"),
        ("Для выгрузки нужен доступ к архиву, у меня его нет. Прошу выдать права, потом продолжу.", "", "blocked"),
        ("failed to run command", "", "error"),
        ("Pre-flight check is taking longer than expected. Run with LOG=debug to see slow API requests.", "", "error"),
        ("All 74 stories are done. This was no-op session #66. The loop must be stopped.", "", "done"),
        ("Session complete. 8 backlog stories remain.", "", "progress"),
        ("Task completed: the login form (Priority 1.2)", "Work through the plan, one task per session", "progress"),
        ("Story 16-5 finished. Next up: 16-6", "", "progress"),
    ],
)
def test_states_that_real_loops_show(text: str, task: str, state: str):
    analysis = analyze_text(text, task=task)
    assert analysis.state == state
    assert analysis.completion.detected == (state == "done")


def test_words_end_no_run_that_the_vote_does_not_call_done(subtests: pytest.Subtests):
    for text in (FINISHED, "Done.", "All tasks are complete.\n\n- [ ] the printer", "I looked at the importer."):
        with subtests.test(text=text):
            analysis = analyze_text(text)
            assert analysis.completion.detected == (analysis.state == "done")


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_weights_are_those_that_the_cases_teach(fitting: ModuleType):
    """Whoever changes the cases fits the weights again. Small differences are another machine's arithmetic."""
    learned, kept = fitting.fit(fitting.read_cases()), load_weights()
    assert learned.facts.keys() == kept.facts.keys()
    for name, row in learned.facts.items():
        assert row == pytest.approx(kept.facts[name], abs=3), name


def test_a_word_counts_once_and_a_number_is_its_length():
    assert tokenize("done **done** 12, done: 3/4 完成") == ["done", "done", "##", "done", ":", "#/#", "完", "成"]


def test_of_a_long_reply_the_ends_are_read():
    words = tokenize(f"alpha {'lorem ipsum ' * 20_000} omega")
    assert len(words) < 2_500
    assert (words[0], words[-1]) == ("alpha", "omega")


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

import pytest

from ralph.analysis import AnalysisContext, Keyword, ResponseAnalyzer, analyze_text, detect_completion
from ralph.status import StatusMissing
from ralph.types.output import Output


@pytest.mark.parametrize(
    ("text", "keywords", "detected", "confidence"),
    [
        ("The work is done.", ("done",), False, 60),  # covers: S1-27, S1-33
        ("The work is done. Everything is finished.", ("done", "finished"), True, 100),  # covers: S1-29, S1-34
        ("Done. Yes, done. All done.", ("done",), False, 60),
        ("All tests passing.", ("all tests passing",), True, 100),  # covers: S1-30, S1-35
        ("All 31 unit tests now pass.", ("all tests passing",), True, 100),
        ("There are no remaining issues.", ("no remaining issues",), True, 100),  # covers: S1-31
        (
            "The change is **complete** and ready for review.",
            ("complete", "ready for review"),
            True,
            100,
        ),  # covers: S1-28, S1-32
        ("The parser is complete. 12 tests passed.", ("complete",), True, 60),
        ("工作已完成，所有測試通過。", ("完成", "所有測試通過"), True, 100),
        ("", (), False, 0),
    ],
)
def test_signals(text: str, keywords: tuple[str, ...], detected: bool, confidence: float) -> None:
    found = detect_completion(text)
    assert (found.keywords, found.detected, found.confidence) == (keywords, detected, confidence)


NO_CLAIMS = [
    "The migration is incomplete.",
    "I abandoned the undone part, unsuccessfully.",
    "It is not done.",
    "This hasn't been completed.",
    "None of it is finished.",
    "The printer has yet to be finished.",
    "The work will be complete once the tests pass.",
    "When everything is done, I will say so.",
    "I need to get this done and finished.",
    "I was unable to get it done.",
    "The parser is done, but the printer is missing.",
    "The parser is done. However, the printer is missing.",
    "It is almost done and nearly complete.",
    "8 of 15 items are done.",
    "Done: 3/7. Completed: 3/7.",
    "The first two tasks are done.",
    "Phase 1 is complete.\n\nNext phase: the web page.",
    "Is it done? Should I call it finished?",
    "> The work is done. Everything is finished.",
    'The log says "done" and “finished”.',
    "Print `done` and `finished` at the end.",
    "```\ndone finished\n```\n",
    "# Done\n\n## Finished\n",
    "| task | done |\n| other | finished |\n",
    "- [x] done with the parser\n- [ ] finished the printer\n",
    "See done.py, src/complete, finished() and task_complete.",
    "<!-- done, finished -->",
    "<thinking>It is done and finished.</thinking>",
    "還沒完成，也未完成。",
    "完成後再說。",
]


# covers: S1-36, S1-57, S1-59
def test_words_that_claim_nothing(subtests: pytest.Subtests) -> None:
    for text in NO_CLAIMS:
        with subtests.test(text=text):
            found = detect_completion(text)
            assert not found.detected
            assert found.keywords == ()


@pytest.mark.parametrize(
    "text",
    [
        "Everything is done, nothing is missing. All of it is finished.",
        "There were problems at first.\n\nThe work is done.\nIt is finished.",
        "No, it's done and finished.",
        "All remaining tasks are done and finished.",
        "15 of 15 tasks are done and finished.",
    ],
)
def test_words_that_do_claim(text: str) -> None:
    assert detect_completion(text).detected


# covers: S1-62
def test_an_echo_of_the_task_is_discounted() -> None:
    task = "Make sure that the page is complete and finished before noon."
    text = "I will see that the page is complete and finished before noon."
    assert detect_completion("The page is complete and finished before noon.").detected
    assert not detect_completion("The page is complete and finished before noon.", task).detected
    assert not detect_completion(text, task).detected
    assert detect_completion("It is done. I have finished.", task).detected


def test_an_open_box_or_a_failed_test_contradicts_the_claim() -> None:
    assert detect_completion("- [x] one\n\nAll tests passing.").detected
    assert not detect_completion("- [ ] one\n\nAll tests passing.").detected
    assert not detect_completion("All tests passing.\n\nTests: 2 failed, 10 passed, 12 total").detected


def test_discounted_keywords_say_why() -> None:
    analysis = analyze_text("It is not done.")
    [piece] = [piece for piece in analysis.evidence if piece.signal == "discounted_keyword"]
    assert (piece.text, piece.weight) == ("done", 0)
    assert "not" in piece.why


def test_evidence_points_into_the_reply() -> None:
    text = "x" * 300_000 + "\n\nAll tests passing. The work is done."
    pieces = [piece for piece in analyze_text(text).evidence if piece.signal == "completion_keyword"]
    assert [text[piece.start : piece.end] for piece in pieces] == ["All tests passing", "done"]


# covers: S4-55, S4-56
def test_further_keywords_are_registered_like_the_built_in_ones() -> None:
    analyzer = ResponseAnalyzer(
        keywords=[Keyword(text="Ship it"), Keyword(text="klaar", language="nl", weight="very_high")]
    )
    text = "Ship it! Alles is klaar."
    found = analyzer.analyze(Output(text=text), StatusMissing(), AnalysisContext())
    assert found.completion.keywords == ("Ship it", "klaar")
    assert found.completion.detected
    assert (found.points, found.indicators) == (20, ("Ship it", "klaar"))
    assert not analyze_text(text).completion.keywords
    assert not analyze_text("We do not ship it.", analyzer=analyzer).completion.keywords


def test_languages_are_chosen() -> None:
    assert not analyze_text("工作完成。", analyzer=ResponseAnalyzer(languages=["en"])).completion.keywords

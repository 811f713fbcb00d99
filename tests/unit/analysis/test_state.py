"""The state of a reply, where words decide it; what only looks like one; and what goes before words."""

from collections.abc import Iterable

import pytest

from ralph.analysis import Analysis, AnalysisContext, Reply, ResponseAnalyzer, Signal, analyze_text
from ralph.status import StatusMissing
from ralph.types.output import Failed, Interrupted, Output, TimedOut


@pytest.mark.parametrize(
    "text",
    [
        "Which database should I use?",
        "Should I use tabs or spaces? Please let me know which you prefer.",
        "Do you want me to proceed with option A or option B?",
        "I wrote the parser. Should the old one stay? Please tell me.",
        "Please confirm that I may delete the table.",
        "我應該用哪個？請告訴我。",
        "The header and the footer are restyled. The menu can be done in two ways. How do you want it to look?",
        "All nine pages are finished. The tenth is locked.\n\nHow would you like to proceed?\n1. Leave it out\n2. Ask",
        "What counts as a visit, a session or a page view? The old report says verified sessions, the new one views.",
        "The plan lies in `plan.md`. Please tell me whether it may be carried out. Nothing is changed so far.",
        "开始之前有两点需要您先确认：\n\n1. 保留多久？\n2. 谁可以删除？",
    ],
)
def test_a_reply_that_ends_by_asking_a_person_is_a_question(text: str) -> None:
    analysis = analyze_text(text)
    assert analysis.state == "question"
    assert analysis.question
    assert analysis.question in text


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("I updated the parser. Let me know if you need anything else.", "progress"),
        ("All done, all tests pass. Let me know if you have questions!", "done"),
        ("All tests pass and the feature is complete. Would you like me to do anything else?", "done"),
        ("I fixed it. What was wrong? The index was off by one.", "progress"),
        ("Why did it fail? Because of the cache.", "unknown"),
        ("Der Umbau ist fertig, alle Tests sind grün. Soll ich als Nächstes die Hilfe schreiben?", "done"),
        ("There is nothing left to do. Pushing needs your approval.", "done"),
        ("All requirements are met. I lack the permission to deploy.", "done"),
    ],
)
def test_an_offer_and_a_question_to_oneself_are_none(text: str, state: str) -> None:
    analysis = analyze_text(text)
    assert (analysis.state, analysis.question) == (state, "")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("There is no permission to write.\n\nCan you approve the edit?", "Can you approve the edit?"),
        ("I need your approval for `deploy`. Which environment is it for?", "Which environment is it for?"),
        (
            "It is late. I cannot continue without the key of the vault.",
            "I cannot continue without the key of the vault.",
        ),
        ("Still waiting for permission to edit `a.py`.", "Still waiting for permission to edit `a.py`."),
        ("对 `a.py` 的修改又被拒绝，需要您授权。", "对 `a.py` 的修改又被拒绝，需要您授权。"),
    ],
)
def test_a_blocked_reply_keeps_what_it_needs_of_a_person(text: str, question: str) -> None:
    analysis = analyze_text(text)
    assert (analysis.state, analysis.question) == ("blocked", question)


@pytest.mark.parametrize(
    "text",
    [
        "I'm no longer blocked.",
        "Nothing is blocked, no approval is needed.",
        "Page 2 is in. Someone with admin rights switches it on before the release. Pages 3 to 6 are not started.",
        "Blocked: none",
        "Blocked: 0",
        "If you need permission, say so.",
        "The reader is a blocking call; the queue is unblocked by a writer.",
        "No permission errors were found.",
        "I do not need permission for this.",
        "Both entries are resolved.\n\n1. *Blocked: the import.* It waits no more.\n2. *Blocked: export.* It works.",
    ],
)
def test_what_only_looks_blocked(text: str) -> None:
    assert analyze_text(text).state != "blocked"


def test_words_of_being_blocked_in_the_middle_of_a_report_do_not_count() -> None:
    report = "I added the parser.\n\n" + "It reads one line after another. " * 10
    middle = f"{report}\n\nWe cannot proceed to the printer before that.\n\n{report}"
    assert analyze_text(middle).state == "progress"
    assert analyze_text(f"I cannot proceed with the printer.\n\n{report}").state == "blocked"
    assert analyze_text(f"{report}\n\nI cannot proceed with the printer.").state == "blocked"


def test_a_workspace_that_moved_speaks_against_an_obstacle() -> None:
    text = "The commit needs your approval."
    assert state_of(text) == "blocked"
    assert state_of(text, progressed=True) == "progress"
    assert state_of("I cannot proceed.", progressed=True) == "blocked"


def test_a_workspace_that_moved_speaks_against_how_a_reply_sounds() -> None:
    text = (
        "`strings.xlsx` is password protected, and there's no password in the task or in the repository. "
        "I'm unable to open it, so the translation can't begin."
    )
    assert state_of(text) == "blocked"
    assert state_of(text, progressed=True) == "progress"


def test_a_ticked_box_speaks_against_an_obstacle_and_an_open_one_does_not() -> None:
    text = "- [{}] The button\n- [ ] The menu\n\nThe commit needs your approval."
    assert state_of(text.format(" ")) == "blocked"
    assert state_of(text.format("x")) == "progress"


def test_words_of_a_limit_count_only_in_a_turn_that_came_to_its_end() -> None:
    text = "You've hit your limit · resets 3pm"
    assert analyze(Output(text=text)).limit
    assert analyze(Output(text=text, outcome=Failed(failure="crashed"))).state == "limited"
    for outcome in (TimedOut(limit="iteration", after=60), Interrupted(by="signal")):
        analysis = analyze(Output(text=text, outcome=outcome))
        assert (analysis.state, analysis.limit) == ("unknown", ""), outcome.kind


@pytest.mark.parametrize("outcome", [TimedOut(limit="idle", after=60), Interrupted(by="limit")])
def test_a_turn_that_was_cut_short_before_a_word_was_said_is_an_error(outcome: TimedOut | Interrupted) -> None:
    assert analyze(Output(outcome=outcome)).state == "error"
    assert analyze(Output(text="I implemented the parser.", outcome=outcome)).state == "progress"


def analyze(output: Output) -> Analysis:
    return ResponseAnalyzer().analyze(output, StatusMissing(), AnalysisContext())


def state_of(text: str, *, progressed: bool | None = None) -> str:
    context = AnalysisContext(progressed=progressed)
    return ResponseAnalyzer().analyze(Output(text=text), StatusMissing(), context).state


@pytest.mark.parametrize(
    ("text", "exit_signal", "status", "state"),
    [
        ("I cannot proceed.", "true", "COMPLETE", "done"),
        ("All tests pass. The work is done.", "false", "BLOCKED", "blocked"),
        ("All tests pass. The work is done.", "false", "IN_PROGRESS", "progress"),
        ("I cannot proceed.", "false", "IN_PROGRESS", "blocked"),
        ("Which one do you want?", "false", "IN_PROGRESS", "question"),
        ("Error: it fails.", "false", "IN_PROGRESS", "progress"),
    ],
)
def test_the_status_block_goes_before_words(text: str, exit_signal: str, status: str, state: str) -> None:
    block = f"---RALPH_STATUS---\nSTATUS: {status}\nEXIT_SIGNAL: {exit_signal}\n---END_RALPH_STATUS---"
    assert analyze_text(f"{text}\n\n{block}").state == state


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("I'm blocked on the permission to write.", "blocked"),
        ("Please approve the edit to `a.py`.", "obstacle"),
        ("Which one do you want?", "question"),
        ("You've hit your limit · resets 3pm", "limited"),
        ("Error: it fails.", "only_error"),
        ("I added a test.", "work"),
        ("The tests are still running.", "ongoing"),
        ("Next step: the printer.", "more_to_come"),
    ],
)
def test_every_state_can_be_traced_to_the_text(text: str, signal: str) -> None:
    [piece, *_] = [piece for piece in analyze_text(text).evidence if piece.signal == signal]
    assert piece.why
    assert piece.text
    assert piece.text == text[piece.start : piece.end]


def test_a_detector_of_one_s_own_speaks_for_a_state() -> None:
    def stormy(reply: Reply) -> Iterable[Signal]:
        if "storm" in reply.reading.prose:
            yield Signal("weather", why="Nobody works in a storm.", state="blocked")

    analyzer = ResponseAnalyzer(detectors=[stormy])
    assert analyze_text("I added a test. A storm is near.", analyzer=analyzer).state == "blocked"
    assert analyze_text("I added a test.", analyzer=analyzer).state == "progress"

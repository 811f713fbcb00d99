import pytest

from ralph.analysis import analyze_text

DONE = "All tasks are complete and all tests pass."


def _block(signal: str, files: int) -> str:
    fields = f"STATUS: COMPLETE\nFILES_MODIFIED: {files}\nEXIT_SIGNAL: {signal}"
    return f"{DONE}\n---RALPH_STATUS---\n{fields}\n---END_RALPH_STATUS---"


# Replies that say that the work is done; idle are those that tell of nothing that was done in this iteration.
@pytest.mark.parametrize(
    ("text", "idle"),
    [
        (DONE, False),
        (f"{DONE} There is nothing left to do.", True),
        (f"{DONE} No changes were needed.", True),
        (f"{DONE} It was all built in a previous session.", True),
        (f"{DONE} Please end the loop.", True),
        ("The task is already complete: all tests pass.", True),
        (f"{DONE} I removed the cache, which was already there.", False),
        ("所有任務都已完成，測試全部通過。沒有剩餘的工作。", True),
        (_block("true", 0), True),
        (_block("true", 2), False),
        (_block("false", 0), False),
        ("The parser reads names, as it did in a previous session; the lexer is next.", False),
    ],
)
def test_who_found_nothing_to_do(text: str, idle: bool) -> None:
    assert (analyze_text(text).standstill == "done") is idle


# How a reply stands still in its own words; "done" is above.
@pytest.mark.parametrize(
    ("text", "standstill"),
    [
        ("I looked at the plan. No files were changed.", "unchanged"),
        ("Nothing new since the last pass.", "unchanged"),
        ("I did not modify anything, as the choice is open.", "unchanged"),
        ("Added the reader. No changes to the writer.", ""),
        ("If no changes are wanted, say so.", ""),
        ("The index has no result yet; it's still running.", "watching"),
        ("It is no longer running in the background.", ""),
        ("Added the page while the import is still running.", ""),
        ("All 31 tests pass.", "tests"),
        ("The export works; 31 tests pass.", ""),
        ("Added a test. All 31 tests pass.", ""),
        (f"{DONE} There is nothing left to do.\n---RALPH_STATUS---\nFILES_MODIFIED: 2\n---END_RALPH_STATUS---", ""),
        (f"{DONE}\n---RALPH_STATUS---\nFILES_MODIFIED: 0\n---END_RALPH_STATUS---", "done"),
        (f"{DONE}\n---RALPH_STATUS---\nSTATUS: COMPLETE\n---END_RALPH_STATUS---", ""),
        ("", ""),
    ],
)
def test_how_a_reply_stands_still(text: str, standstill: str) -> None:
    assert analyze_text(text).standstill == standstill


@pytest.mark.parametrize(
    "text",
    [
        (
            "Who should own the shared folder?\n\n- **Ops**, as they have the backups\n- **Sales**, as they "
            "fill it\n\n"
            "Both need another rule in the access list. Let me know and I'll take it from there."
        ),
        (
            "Before I touch the schema: should a guest have a row of its own?\n\n1. A row, so that orders can "
            "point at it\n2. No row; the order holds the name\n\nIf you just say 1 or 2, I'll go with that."
        ),
        (
            "在改表结构之前，需要您先确定：\n\n- 方案一：新增字段，实现简单\n- 方案二：拆表，需要重构查询\n\n"
            "请问采用哪一个？目前没有修改任何文件。"
        ),
    ],
)
def test_what_the_agent_does_with_the_answer_is_no_work_beside_the_question(text: str) -> None:
    assert analyze_text(text).state == "question"


@pytest.mark.parametrize(
    "text",
    [
        "Is the cache the cause? I looked, and it isn't. I fixed the key. Next I'll write the test.",
        "Wo hakt es? Der Cache war falsch; ich habe ihn ersetzt. Als nächstes schreibe ich den Test.",
    ],
)
def test_a_question_that_the_agent_answered_itself_asks_nobody(text: str) -> None:
    assert analyze_text(text).state == "progress"


@pytest.mark.parametrize(
    ("rest", "state"),
    [
        ("If you want, I'll add a column for the tax as well.", "done"),
        ("Let me know if you need a chart too, and I'll draw one.", "done"),
        ("如果您需要，我会再加一列。", "done"),
        ("If you want, I'll do the remaining two formats.", "progress"),
        ("Now I'll add a column for the tax.", "progress"),
    ],
)
def test_an_offer_of_something_more_leaves_finished_work_finished(rest: str, state: str) -> None:
    text = f"I fixed the export, and all 12 tests pass.\n\n{rest}"
    assert analyze_text(text, task="Fix the export").state == state


def test_what_follows_from_either_answer_is_no_work_beside_the_question() -> None:
    text = (
        "One thing before I drop the table: a report on the old host still reads it. Does anybody use that "
        "report? If "
        "not, I'll drop both; if so, I'd point it at the view."
    )
    assert analyze_text(text).state == "question"
    answered = (
        "Does anybody use the report? The log says no, so I removed it. If it is missed, I'll restore it from git."
    )
    assert analyze_text(answered, task="Remove what is not used").state != "question"


CERTAINTY = [
    ("That's not a problem, I am sure.", 90),
    ("That is unlikely.", 20),
    ("Make sure to measure it and ensure that it holds.", 50),
    ("I am uncertain and it is unclear.", 20),
    ("It runs without tests.", 50),
    ("It works without a doubt.", 60),
    ("I doubt it.", 40),
    ("Sure, I can look at it.", 50),
    ("Maybe, maybe, maybe.", 40),
    ("It will definitely, definitely work.", 60),
    ("I am sure that it is certainly and definitely right.", 100),
    ("Maybe it might, perhaps it could, basically, roughly, approximately, I think.", 0),
    ("I'm not sure. Maybe it could.", 20),
    ("我不確定。", 20),
    ("我很確定。", 90),
]


# covers: S0-48, S0-53, S0-70, S0-71
def test_the_score_of_certainty(subtests: pytest.Subtests) -> None:
    for text, score in CERTAINTY:
        with subtests.test(text=text):
            assert analyze_text(text).metrics.confidence == score


# covers: S0-68, S0-69
def test_every_word_that_moved_the_score_is_shown() -> None:
    pieces = analyze_text("It probably works, but it might definitely not.").evidence
    found = {(piece.signal, piece.text, piece.weight) for piece in pieces}
    assert {("certainty_cue", "probably", 60), ("hedge", "might", -10), ("certainty", "definitely", 10)} <= found

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
        ("", ""),
    ],
)
def test_how_a_reply_stands_still(text: str, standstill: str) -> None:
    assert analyze_text(text).standstill == standstill

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.analysis.likeness import LIKENESS, alike

REPORT = (
    "The import reads every row of the file, checks that its columns have names, and writes what it found to the log. "
    "Two rows of the sample have no date; they are kept, with a note. The export is not begun. Its format is described "
    "in the folder of the documents, beside that of the import, and it has four more columns than I expected."
)


@pytest.mark.parametrize(
    ("left", "right", "near"),
    [
        (REPORT, REPORT, True),
        (REPORT, REPORT.replace("Two", "Three"), True),
        (REPORT, "As before: " + REPORT, True),
        (REPORT, REPORT.upper(), True),
        (REPORT, " ".join(reversed(REPORT.split())), False),
        (
            REPORT,
            REPORT[:150] + "Then something else came up, and all the other columns were left for another day.",
            False,
        ),
        (REPORT, REPORT * 2, False),
        ("我已經檢查了所有的檔案，沒有發現任何問題。" * 20, "我已經檢查了所有檔案，沒有發現任何問題。" * 20, True),
        ("我已經檢查了所有的檔案，沒有發現任何問題。" * 20, "資料庫的連線設定已經更新，測試仍然無法執行。" * 20, False),
        ("read_file(a)", "read_file(b)", False),
        ("read_file(a)", "read_file(a)", True),
        ("SyntaxError at line 10: never closed", "SyntaxError at line 20: never closed", False),
        ("", "", True),
        ("", REPORT, False),
    ],
)
def test_when_two_replies_are_nearly_the_same(left: str, right: str, near: bool) -> None:
    assert (alike(left, right) >= LIKENESS) is near


@given(st.text(max_size=900), st.text(max_size=900))
def test_likeness_is_a_share_and_goes_both_ways(left: str, right: str) -> None:
    assert 0 <= alike(left, right) <= 1
    assert alike(left, right) == alike(right, left)
    assert alike(left, left) == 1

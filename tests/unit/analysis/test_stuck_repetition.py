"""Replies that are alike, and a reply that repeats itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.analysis.stuck import SIMILAR, Repetition, find_repetition, similarity

REPORT = (
    "The import reads every row of the file, checks that its columns have names, and writes what it found to the log. "
    "Two rows of the sample have no date; they are kept, with a note. The export is not begun. Its format is described "
    "in the folder of the documents, beside that of the import, and it has four more columns than I expected."
)
ZH = (
    "匯入功能讀取檔案的每一列，檢查各欄是否有名稱，並把結果寫進紀錄。範例中有兩筆資料沒有日期，我保留了它們並加上註記。"
    "匯出功能還沒有開始，它的格式寫在文件資料夾裡，就在匯入格式的旁邊，比我預期的多了四個欄位。接下來要先確認使用者表格的"
    "主鍵，然後才能決定這四個欄位要放在哪裡；目前的測試全部通過，只有一個因為缺少範例檔案而略過。建置過程沒有任何警告，"
    "文件也已經更新到最新的內容，包含新的設定選項和它們的預設值，以及一個完整的使用範例和常見問題的回答。"
)


@pytest.mark.parametrize(
    ("left", "right", "near"),
    [
        (REPORT, REPORT, True),
        (REPORT, REPORT.replace("Two", "Three"), True),
        (REPORT, "As before: " + REPORT, True),
        (REPORT, " ".join(reversed(REPORT.split())), False),
        (
            REPORT,
            REPORT[:150] + "Then something else came up, and all the other columns were left for another day.",
            False,
        ),
        (REPORT, REPORT * 2, False),
        (ZH, ZH.replace("兩筆", "三筆"), True),
        (ZH, ZH[:130] + "資料庫的連線設定已經更新，但是測試仍然無法執行，原因是伺服器沒有回應。" * 4, False),
        ("read_file(a)", "read_file(b)", False),
        ("read_file(a)", "read_file(a)", True),
        ("SyntaxError at line 10: never closed", "SyntaxError at line 20: never closed", False),
        ("", "", True),
        ("", REPORT, False),
    ],
)
def test_when_two_replies_are_nearly_the_same(left: str, right: str, near: bool) -> None:
    assert (similarity(left, right) >= SIMILAR) is near


ALIKE = [
    ("Looked at the queue at {}; it is empty.", "10:02:11", "10:07:45", True),
    ("Looked at the queue on {}; it is empty.", "2026-03-01T10:02:11Z", "2026-03-01T10:07:45Z", True),
    ("{}: I read the plan and thought about its order.", "Loop 4", "Loop 5", True),
    ("{} failed with the linker's error.", "Attempt 9", "Attempt 10", True),
    ("{} failed with the linker's error.", "The third attempt", "The fourth attempt", True),
    ("第{}次尝试，仍然失败。", "三", "四", True),
    ("The crawl has been running for {} now.", "12 minutes", "17 minutes", True),
    ("API Error: 500 (request {})", "req_01Ab", "req_01Cd", True),
    ("Wrote to {} and failed.", "0x7f00aa", "0x7f00bc", True),
    ("Nothing at commit {}.", "a1b2c3d4", "b1b2c3d4", True),
    ("Migrated batch {}; its rows were checked.", "3", "4", False),
    ("{} of 9 is over.", "Iteration 3", "Iteration 4", False),
    ("Imported {} rows.", "1200000", "1300000", False),
    ("{} tests pass.", "45", "46", False),
    ("Set the limit to {} and tried again.", "5 s", "10 s", False),
    ("Story {} is done.", "3", "4", False),
    ("SyntaxError at line {}: never closed", "10", "20", False),
    ("t({})", "0", "1", False),
]


# Short replies are the same but for what differs in every one; what they count makes another reply of them.
def test_what_differs_in_every_reply_makes_no_other_reply_of_it(subtests: pytest.Subtests) -> None:
    for said, first, second, same in ALIKE:
        with subtests.test(said=said):
            assert (similarity(said.format(first), said.format(second)) >= SIMILAR) is same


@given(st.text(max_size=900), st.text(max_size=900))
def test_likeness_is_a_share_and_goes_both_ways(left: str, right: str) -> None:
    assert 0 <= similarity(left, right) <= 1
    assert similarity(left, right) == similarity(right, left)
    assert similarity(left, left) == 1


WORDS = st.sampled_from(["run", "the", "tests", "again", "it", "works"])


@given(st.lists(WORDS, min_size=1, max_size=25), st.integers(200, 400))
def test_a_chant_is_the_same_whether_or_not_something_else_follows_it(phrase: list[str], words: int) -> None:
    text = " ".join((phrase * words)[:words])
    found = find_repetition(text)
    assert found is not None
    assert found == find_repetition(f"{text} finished")


def test_a_chant_is_counted_by_the_places_where_it_begins_anew() -> None:
    said = "The tests pass now. "
    assert find_repetition(said * 30) == Repetition("The tests pass now.", 26)
    assert find_repetition("测试全部通过。" * 60) == Repetition("测试全部通过。", 58)
    assert find_repetition(said * 15) is None


@pytest.mark.parametrize(("words", "times"), [(78, 0), (85, 0), (86, 6), (91, 6), (92, 7)])
def test_a_phrase_has_to_begin_six_times_from_most_places(words: int, times: int) -> None:
    phrase = "reading every source file again before writing another parser test somewhere below "
    found = find_repetition(" ".join((phrase * 8).split()[:words]))
    assert (found.times if found else 0) == times

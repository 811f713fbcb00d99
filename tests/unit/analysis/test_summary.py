"""The summary of the work."""

from time import perf_counter

import pytest

from ralph.analysis import AnalysisContext, ResponseAnalyzer, extract_work_summary
from ralph.status import StatusMissing
from ralph.types.output import Changes, Output

TABLE = """## Files changed

| File | What |
|------|------|
| `src/cart.py` | rounds half up |
| `src/price.py` | new |
| `tests/test_price.py` | covers both |

## Notes

| Node | Version |
|------|---------|
| a.py | unrelated |
"""
BULLETS = """Here is what I did.

**Files created/modified:**
- `backend/lookup.py` - looks up prices (see `backend/app.py`)
- **`backend/cart.py`**: adds
- backend/price.py:14-20 rounds, with node.js as a model

**How to run**
- README.md says it
"""
NUMBERED = """### Changes made

1. **`cart_view.dart`** (major changes):
   - Added an import for `price.dart`
   - `reset()` clears it
2. `docs/stories/README.md` - the new story
3. Nothing else.

All 14 tests pass.
"""


WORK_DONE = [
    ("Modified 3 files, 12 tests passing, 2 errors fixed", "Modified 3 files, 12 tests passing, 2 errors fixed"),
    (
        "- Modified 3 files\n- 12 tests passing\n- 2 errors fixed",
        "Modified 3 files, 12 tests passing, 2 errors fixed",
    ),
    ("**Files modified:** 5 (`a.css`, `b.ts`)", "Modified 5 files"),
    ("**Files modified:** 5 (`a.ts`)\n**Files created:** 2 (`c.ts`, `d.svg`)", "Modified 7 files"),
    ("- FILES_CHANGED\n- Files changed: 4", "Modified 4 files"),
    ("Files created:\n1. `a.py` - new\n2. `b.py` - new\n", "Modified 2 files"),
    ("Files changed:\n- src/a.py\n- src/b.py", "Modified 2 files"),
    ("Files changed (6)", "Modified 6 files"),
    ("Changes (5 files):", "Modified 5 files"),
    (" 9 files changed, 412 insertions(+), 38 deletions(-)", "Modified 9 files"),
    ("9 files changed: modified 6 files, created 3 files.", "Modified 9 files"),
    ("I updated two source files and created 1 test file.", "Modified 3 files"),
    ("Three files were modified.", "Modified 3 files"),
    ("Updated 2 files at first. In the end modified 5 files.", "Modified 5 files"),
    ("Created `a.py` and `b.py`", "Modified 2 files"),
    ("Created `src/a.py`, `src/b.py` and c.toml.", "Modified 3 files"),
    ("Created `src/a.py`. Then I updated `src/a.py` and a.py.", "Modified 1 file"),
    (TABLE, "Modified 3 files"),
    (BULLETS, "Modified 3 files"),
    (NUMBERED, "Modified 2 files, 14 tests passing"),
    ("修改的文件：\n- src/a.py\n- src/b.py", "Modified 2 files"),
    ("修改了 3 個文件，12 個測試通過，修復了 2 個錯誤", "Modified 3 files, 12 tests passing, 2 errors fixed"),
    ("创建 4 个文件", "Modified 4 files"),
    ("修改了三個檔案，新增 2 個檔案", "Modified 5 files"),
    ("5 个文件已修改", "Modified 5 files"),
    ("I fixed the login bug and resolved an issue with dates.", "2 errors fixed"),
    ("**Bugs fixed:** 3", "3 errors fixed"),
    ("The seed was 48213\n5 errors have been resolved", "5 errors fixed"),
    ("5 errors have been resolved; fixed a few errors. 3 bugs were fixed", "5 errors fixed"),
    ("5 errors have been corrected. 3 bugs were resolved. Fixed 2 issues.", "5 errors fixed"),
]


# covers: S1-63, S1-64
def test_what_was_done(subtests: pytest.Subtests) -> None:
    for told, summary in WORK_DONE:
        with subtests.test(told=told):
            assert extract_work_summary(told) == summary


NOTHING_DONE = [
    "",
    "I looked around.",
    "I will modify 3 files.",
    "3 files will be changed.",
    "2 files should be updated.",
    "5 files were not modified.",
    "The headers must be updated (12 files).",
    "I have not modified 3 files.",
    "I read 12 files.",
    "Modified 0 files",
    "Files changed: none",
    "Added 3 tests.",
    "See `src/a.py` and README.md.",
    "I updated the plan for node.js.",
    "The changes are in version 1.2.",
    "2 errors are left.",
    "2 errors cannot be fixed.",
    "The error in a.py remains.",
    "尚未修改文件",
]


# covers: S1-63
def test_nothing_is_invented(subtests: pytest.Subtests) -> None:
    for told in NOTHING_DONE:
        with subtests.test(told=told):
            assert extract_work_summary(told) == ""


@pytest.mark.parametrize(
    ("changes", "summary"),
    [
        (Changes(fingerprint="f", files=("a.py",), files_changed=1), "Changed 1 file, 4 tests passing"),
        (Changes(fingerprint="f"), "4 tests passing"),
        (Changes(problem="no git"), "Modified 3 files, 4 tests passing"),
    ],
)
def test_the_workspace_knows_better_than_the_reply(changes: Changes, summary: str) -> None:
    output = Output(text="Modified 3 files; 4 tests pass.")
    context = AnalysisContext(changes=changes)
    assert ResponseAnalyzer().analyze(output, StatusMissing(), context).work_summary == summary


@pytest.mark.alone
@pytest.mark.parametrize(
    "piece",
    [
        *("created a.b ", "fixed the ", "modified file ", "3 files ", "created " + "a" * 60 + " ", "- a.py\n", "/a"),
        *("files changed\n- a.py\n", "added `a.py` and ", "a.", "修改了"),
    ],
)
def test_hostile_reports_cost_little(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    begun = perf_counter()
    assert len(extract_work_summary(text)) < 100
    assert perf_counter() - begun < 2, "a thirtieth of it is usual"

"""Last messages of one pass of a loop, of which only some end the work."""

import pytest

from ralph.analysis import analyze_text

DONE = [
    (
        """[shell] $ bash -lc 'npm test'
Tests are green. I'm cleaning up the debug output before finishing.
[shell] $ bash -lc 'git diff --stat'
Completed US-011.

Updated:
- `src/nav.ts`
- `src/nav.test.ts`

Validation:
- `npm test`
- `npm run lint`""",
        "Navigation: As a user, I want breadcrumbs",
    ),
    (
        """Implemented the breadcrumbs in `Nav.tsx` and covered them with tests.

Testing:
- `pnpm test` (42 passed)
- `pnpm typecheck`""",
        "Navigation: As a user, I want breadcrumbs",
    ),
    (
        """I have made the requested changes. The API now validates its input and returns 422 with details.

**Files changed**
- `api.py`
- `schemas.py`
- `test_api.py`

All 63 tests pass.""",
        "",
    ),
    (
        """The implementation is now complete! Here's what I've built:

## Features
- Tabs
- Panels
- Drag and drop

## How to use
```js
import { Tabs } from './tabs'
```""",
        "",
    ),
    (
        """Successfully implemented US-013: Tag filter.

- Filter bar
- URL state
- Empty state

Browser verification skipped: no browser tools are available here.""",
        "Tag filter: As a user, I want to filter by tag",
    ),
    (
        """## Summary

US-014 is now complete. I:

1. Added the column
2. Backfilled it
3. Updated the types

Typecheck passes. Progress was appended to progress.txt.""",
        "Add priority column: As a developer, I need to store priority",
    ),
    (
        (
            "I've completed the story. The progress file and prd.json have been updated (`passes: "
            "true`), and the work is committed."
        ),
        "Priority badge",
    ),
    (
        """All quality checks pass. US-016 is complete and committed.

**Learnings for future iterations:**
- Badges use the shared palette
- Run the dev server with `--host`""",
        "Priority badge",
    ),
    (
        (
            "The task is now complete. The service starts, answers on port 8080, and every requirement "
            "from the list has been verified with curl."
        ),
        "",
    ),
    (
        """Everything requested has been delivered:

✅ Endpoint
✅ Docs
✅ Tests
""",
        "",
    ),
    (
        """Feature complete 🎉

- New `Timeline` component
- Storybook entry
- 11 tests

Lint: clean. Types: clean.""",
        "Timeline",
    ),
    (
        (
            "The work for issue 57 is done. I replaced the busy loop with a condition variable; CPU "
            "use drops to zero when idle. Tests pass."
        ),
        "Issue 57: busy loop in worker",
    ),
    (
        (
            "Done — the table now sorts by every column, ascending and descending, and remembers the "
            "choice. Typecheck and unit tests pass."
        ),
        "Sortable table: As a user, I want to sort the table",
    ),
    (
        (
            "The plan is fully implemented. All eleven steps have been carried out, and the acceptance "
            "script exits with 0."
        ),
        "",
    ),
    (
        (
            "I consider the job finished: the spec's checklist has no open boxes, the suite is green "
            "and the docs are up to date."
        ),
        "",
    ),
    (
        "Finished the port to Rust. Parity tests against the C version pass for all 312 fixtures.",
        "Port the decoder to Rust",
    ),
    (
        (
            "The project has reached its final state. All modules are implemented, all tests pass and "
            "there are no open issues."
        ),
        "",
    ),
    ("全部任务已完成，测试通过率 100%。无剩余工作。", ""),
    ("本项目的所有需求均已实现，代码已提交，构建通过。", ""),
    ("任務完成：已將快取改為 LRU，並新增 5 個測試，全部通過。", "把快取改為 LRU"),
    ("已完成「匯出 CSV」功能：\n- 新增匯出按鈕\n- 新增測試\n\n所有檢查通過。", "匯出 CSV"),
]
"""A message, and the task that it is judged against."""

NOT_DONE = [
    ("I've completed the first pass over the codebase and written down what I found in notes.md.", ""),
    (
        """Created the skeleton of the project. All folders are in place.

Next up: the parser.""",
        "",
    ),
    ("I implemented item 3 of the fix plan. Items 4 to 9 are still open.", ""),
    ("Loop 7 complete. Implemented retry logic; tests pass. Recommend continuing with circuit breaking.", ""),
    ("Completed the retry logic (1 task this loop). All tests pass. 6 tasks remain.", ""),
    ("The retry logic is in place and tested. I'll pick up the circuit breaker in the following loop.", ""),
    ("The suite passes locally. Waiting for CI to finish before I call it complete.", ""),
    ("The feature is code-complete, but I could not verify it: the emulator does not start.", ""),
    ("Half of the endpoints are implemented. All of them have tests.", ""),
    ("All tests pass except for `test_upload`, which times out.", ""),
    ("I've finished the backend. The frontend hasn't been started.", ""),
    ("I have implemented everything except the export.", ""),
    ("To be done when all tasks are complete: tag the release.", ""),
    (
        """In summary, the migration needs three steps:
1. Export
2. Transform
3. Import

None of them has been done yet.""",
        "",
    ),
    (
        """Added the model.
Added the view.
Still have to wire them together.""",
        "",
    ),
    ("The refactor broke two tests. Once those are fixed, the task is done and complete.", ""),
    ("I've stopped here because the budget is nearly used up. The story is not complete.", ""),
    ("Updated fix_plan.md: 7 of 12 tasks are checked off.", ""),
    ("The type checker passes now. There remain 14 lint errors.", ""),
    ("Great! The endpoints work. Now testing the error cases...", ""),
    ("The build succeeded. Next: run the smoke tests.", ""),
    ("All good so far; continuing with the second half of the spec.", ""),
    ("I've reviewed everything. The code is complete in `src/a.ts`, missing in `src/b.ts`.", ""),
    ("Your subscription is complete and all your items have been shipped. Thank you!", ""),
    ("The refund has been issued and the ticket has been closed. Do you have any other wishes?", ""),
    ("我已经实现了前半部分，后半部分还没有开始。", ""),
    ("除了导出功能之外，所有功能都已完成。", ""),
    ("测试已通过，但仍有三个待办事项。", ""),
    ("正在运行测试，完成后会报告结果。", ""),
]


# covers: S1-36, S1-58
def test_a_message_that_reports_the_end_is_done(subtests: pytest.Subtests) -> None:
    for text, task in DONE:
        with subtests.test(text=text):
            assert analyze_text(text, task=task).state == "done"


def test_a_message_that_only_sounds_like_the_end_is_not_done(subtests: pytest.Subtests) -> None:
    for text, task in NOT_DONE:
        with subtests.test(text=text):
            assert analyze_text(text, task=task).state != "done"

"""Final messages as agents of several makes write them: with and without a task, short and long, done and not done."""

import pytest

from ralph.analysis import analyze_text

DONE = [
    (
        """Done! I've added the `--json` flag to the export command.

- Updated `cli.py`
- Added a test

All tests pass.""",
        "",
    ),
    (
        """I've completed US-005: Add password reset.

**Changes:**
- Added `reset.ts`
- Added email template

**Quality checks:** typecheck and lint pass.""",
        "",
    ),
    (
        """US-005 is complete. Summary of what was done:

1. Added the endpoint
2. Added a form
3. Verified in the browser

Typecheck passes.""",
        "Password reset: As a user, I want to reset my password.",
    ),
    (
        """Story US-007 has been implemented and committed. Typecheck and tests pass.

Key changes:
- a
- b""",
        "",
    ),
    (
        """Added `RateLimiter` and wired it into the gateway.

What changed:
- `limiter.go`
- `gateway.go`

Verified with `go test ./...`.""",
        "Add a rate limiter to the gateway",
    ),
    ("Everything in the plan is now done. Build, lint and tests are all green.", ""),
    ("All 8 tasks in the fix plan have been completed. No further work is required.", ""),
    ("The project is complete. Every item in @fix_plan.md is checked and the build passes.", ""),
    (
        """I have verified that all tasks in fix_plan.md are complete:

- Setup ✅
- API ✅
- UI ✅

The project is ready for deployment.""",
        "",
    ),
    (
        """## Project Status: COMPLETE ✅

All phases finished:
- Phase 1: ✅
- Phase 2: ✅
- Phase 3: ✅

42 tests passing.""",
        "",
    ),
    (
        """Fixed the flaky test by awaiting the server's start.

`npm test` ran 20 times without a failure.""",
        "Fix the flaky login test",
    ),
    (
        """The migration to Vite is finished. `npm run build` and `npm test` both succeed.

Files changed:
- package.json
- vite.config.ts""",
        "",
    ),
    (
        """Implementation complete.

Summary:
- Added the model
- Added the view
- Wrote 6 tests (all passing)""",
        "",
    ),
    ("No changes were needed: the feature is already fully implemented and all tests pass.", "Add the search feature"),
    (
        """The requested change has been made and the tests pass.

- Renamed `foo` to `bar` in 12 files""",
        "",
    ),
    (
        """This story is complete. ✅

- [x] Form renders
- [x] Validation works
- [x] Typecheck passes""",
        "Create the form: As a user, I want a form",
    ),
    (
        """I've finished implementing the notification center. Here's a summary of the changes:

- `Bell.tsx`
- `useNotifications.ts`

Tests: 14 passed.""",
        "Notification center",
    ),
    (
        """All acceptance criteria for US-003 have been verified:

1. Route exists ✓
2. Returns 404 for unknown ids ✓
3. `npm run typecheck` passes ✓""",
        "Details route",
    ),
    ("Work on issue #45 is finished: the parser accepts trailing commas, and I added tests that pass.", ""),
    ("The implementation of the caching layer is now complete. Tests pass (54/54).", ""),
    (
        """Closes #88. The crash no longer happens; the regression test passes.

Changed:
- `decoder.c`
- `test_decoder.c`""",
        "Crash in decoder on empty input",
    ),
    ("All spec items are implemented, tested and documented. There's nothing more to build.", ""),
    (
        """Successfully completed the task! The dashboard now shows live metrics.

### What I did
- Added websocket client
- Added chart component""",
        "",
    ),
    (
        "Perfect! Everything is working now. The user story US-010 is complete with all acceptance criteria satisfied.",
        "Live chart",
    ),
    (
        """I've implemented the story end to end.

**Implementation:**
- API route
- UI

**Verification:**
- `npm run typecheck` ✓
- `npm run lint` ✓
- committed""",
        "Profile page: As a user, I want a profile page",
    ),
    (
        """Here's what I implemented for the "Add tags" story:

- Tag model and migration
- Tag picker
- Filter by tag

All checks pass and the change is committed.""",
        "Add tags: As a user, I want tags",
    ),
    ("Task finished. The script now handles spaces in paths. Verified with shellcheck (no warnings).", ""),
    ("项目已完成！所有功能都已实现并通过测试。\n\n- 登录\n- 注册\n", ""),
    ("✅ 任务完成\n\n已实现：\n- 用户登录\n- 会话管理\n\n所有测试通过（12/12）。", ""),
    ("US-003 已完成。\n\n**修改内容：**\n- `a.ts`\n- `b.ts`\n\n类型检查通过，已提交。", "添加标签"),
    ("fix_plan.md 中的所有任务均已完成，没有剩余工作。", ""),
    ("全部測試通過，所有功能皆已實作完成。", ""),
    ("開發工作已全部完成，可以交付。", ""),
    ("The plan's checklist is fully checked off, and CI is green. I consider this project finished.", ""),
    ("All of the work described in PROMPT.md has been done; the repository is in its final state.", ""),
    (
        """I've completed all items on the list:
1. Fixed the header
2. Fixed the footer
3. Fixed the sidebar""",
        "",
    ),
    (
        "Feature implemented and verified: dark mode toggles without a reload. Unit and e2e tests pass.",
        "Dark mode toggle",
    ),
    (
        "Implemented the dark mode toggle and persisted it in local storage. Typecheck, lint and tests pass.",
        "Dark mode toggle",
    ),
    ("All 23 items are complete, the working tree is clean, and CI passes on the last commit.", ""),
    (
        (
            "I verified the state of the repository: everything in specs/ is implemented, and the "
            "tests pass. No further work remains."
        ),
        "",
    ),
    (
        "Updated the three call sites as described and ran the type checker: no errors.",
        "Update the call sites of parse()",
    ),
    (
        """**US-022 complete**

- Added migration 0007
- Added repository method
- 9 new tests, all passing

Committed: `feat: US-022`""",
        "Soft delete: As an admin, I want soft deletion",
    ),
    (
        """I have completed the implementation of the feature as described in the issue. Below is a summary
of the changes:

### Backend
- x

### Frontend
- y""",
        "",
    ),
    (
        """The story's acceptance criteria are all satisfied:
- A ✅
- B ✅
- C ✅""",
        "Story: import",
    ),
    (
        """Both issues have been fixed and the full test suite passes.

- #4: off by one
- #5: missing null check""",
        "Fix #4 and #5",
    ),
    ("Finished. Everything you asked for is implemented: the CLI, the docs and the tests.", ""),
    ("I've wrapped up the refactor. No behavior changes; 240 tests pass.", "Refactor the router"),
    (
        """Completed the "Email digest" story.

What I built:
- cron job
- template
- unsubscribe link

Tests and lint pass.""",
        "Email digest: As a user, I want a digest",
    ),
    ("Implementation of US-031 is done and all quality gates pass (typecheck, lint, test).", "Audit log"),
    (
        (
            "I've added the audit log table, the writer and the viewer. `pnpm typecheck`, `pnpm lint` "
            "and `pnpm test` all pass. Committed."
        ),
        "Audit log: As an admin, I want an audit log",
    ),
    (
        """Summary
- Implemented audit log storage and viewer
- Added tests

Testing
- ✅ `pnpm test`
- ✅ `pnpm lint`""",
        "Audit log",
    ),
    ("Great news — the whole task list is finished! 🎉 All 17 tasks complete, 0 remaining.", ""),
    (
        (
            "There is no work left in the plan. The previous loops finished all items; I confirmed it "
            "with the test suite (all green)."
        ),
        "",
    ),
    ("The application is fully functional and production-ready. All planned features have been built and tested.", ""),
    ("The feature works end to end now and is ready for review. Tests pass.", ""),
    ("Confirmed complete: every checkbox in the PRD is ticked and `make check` is green.", ""),
    ("El trabajo está completo.\n\nAll tasks are complete.", ""),
    ("功能開發完成，所有驗收標準皆已滿足，測試通過。", ""),
    ("所有任务都已完成，代码已提交。无需进一步操作。", ""),
    ("我已经完成了任务：\n1. 修复了登录问题\n2. 添加了测试\n\n测试全部通过。", ""),
    (
        (
            "The ticket is resolved. Root cause: stale cache. Fix: invalidate on write. Verified by a "
            "new regression test that passes."
        ),
        "",
    ),
    (
        (
            "I've successfully migrated all 14 components to the new API. Type checks and tests pass; "
            "nothing else uses the old API."
        ),
        "Migrate components to the new API",
    ),
    (
        "No action needed. The migration described in the task is already complete, and the tests confirm it.",
        "Migrate tables",
    ),
    (
        (
            "The mail package is typed throughout: pyright reports 0 errors there (97 before). The client library "
            "needs two casts, as it returns dictionaries. Nothing behaves in another way, and the 64 tests of the "
            "package pass."
        ),
        "Add types to the mail package",
    ),
]
"""A message, and the task that it is judged against."""

NOT_DONE = [
    (
        (
            "All tests of the mail package pass: pyright reports 0 errors there (97 before). The client library needs "
            "two casts, as it returns dictionaries, and the package of the invoices has not been begun."
        ),
        "Add types to the mail package and to the invoices",
    ),
    ("I've implemented the login form. Next I'll hook it up to the API.", ""),
    ("Loop 4 summary: implemented the login form and tests. Remaining: password reset, email verification.", ""),
    ("Completed task 3 of 9 (login form). All tests pass. Moving on to task 4 in the next loop.", ""),
    (
        """✅ Completed: Task 2.1 - database schema

Next: Task 2.2 - API routes""",
        "",
    ),
    (
        """## Loop Summary

**Completed this loop:**
- Login form
- Tests

**Next loop should:**
- Password reset

All 12 tests pass.""",
        "",
    ),
    ("I implemented the highest priority item (login). The fix plan has 6 items left.", ""),
    ("The login form is done and committed. 5 of 8 items in fix_plan.md are checked.", ""),
    ("Implemented the schema. Tests pass. There are still several tasks open in the plan.", ""),
    ("Progress: 60% complete. Login and logout are finished.", ""),
    ("The tests pass now. Let me update the fix plan and commit.", ""),
    ("Phase 1 complete! All tests pass. Ready to start Phase 2.", ""),
    (
        (
            "I was able to complete the schema but could not run the migration because the database is "
            "not reachable. Someone has to start it."
        ),
        "",
    ),
    ("All tests pass except two in the auth module, which I am still investigating.", ""),
    ("The task cannot be completed: the API key is missing.", ""),
    ("I have not finished the task. The type checker reports 14 errors.", ""),
    ("Could not complete the story; build fails with missing module.", ""),
    ("Made good progress: the parser is complete, the printer is about half done.", ""),
    (
        """I've completed the analysis of the codebase. Here's the plan:

1. Add model
2. Add view
3. Add tests""",
        "",
    ),
    (
        """I've finished reading the specs. The implementation plan is complete:
- step one
- step two""",
        "",
    ),
    ("Planning complete. Created fix_plan.md with 12 items. Implementation starts next loop.", ""),
    ("The exploration is complete. I found three places that need changes.", ""),
    (
        "The download has completed. The image is still being built by a background job; I'll look at it again later.",
        "",
    ),
    ("I've created a comprehensive task list. All tasks are listed in order of priority.", ""),
    ("Tests written and failing as expected (TDD red phase complete). Implementation is next.", ""),
    ("本次循环完成了登录功能。下一步：注册功能。", ""),
    ("已完成 3/8 项任务，测试通过。", ""),
    ("分析已完成，接下来需要修改三个文件。", ""),
    ("登录功能已实现，测试通过。剩余任务：注册、找回密码。", ""),
    ("I've updated your shipping address. Your order has been changed successfully. Anything else?", ""),
    (
        """The flight has been booked successfully! Your reservation is complete.

- Flight: HX12
- Seat: 4A

Have a great trip!""",
        "",
    ),
    ("Great, the server is up and all endpoints are implemented. Next, testing each endpoint with curl.", ""),
    ("I see that all tasks are marked complete in the plan, but the tests don't pass. I'll investigate.", ""),
    ("The function is complete. Now update the tests to match the new signature.", ""),
    ("Good. All checks pass. Now commit the changes:", ""),
    ("All the files were created successfully. Running the tests next.", ""),
    ("Everything looks good so far. Proceeding to the next story.", ""),
    ("I've fixed the first bug. The second one needs more investigation.", ""),
    ("The code compiles, and the feature is partially implemented.", ""),
    ("I've completed the login task from fix_plan.md. All 45 tests pass.", ""),
    (
        """## Summary

Completed **Phase 2: Data layer**.

- models
- repository

All tests passing.""",
        "",
    ),
    (
        """Implemented the next item on the list: retries. All tests pass (31).

Next: circuit breaker.""",
        "",
    ),
    (
        """Login is implemented and tested.

### Next Steps
1. Implement logout
2. Implement password reset

Build passes.""",
        "",
    ),
    ("The tests pass and the story is done. Now update the README.", ""),
    ("Your requested changes have been successfully made to the reservation. Is there anything else?", ""),
    ("I've successfully cancelled your order and processed the refund. All items will be refunded within 5 days.", ""),
    ("Your password has been successfully changed and your account is complete.", ""),
    ("I found all the requirements in the spec and listed them. Implementation has not begun.", ""),
    ("All tests pass, but I haven't implemented the second half of the story yet.", ""),
    ("Task 2 is complete. There are 7 tasks remaining in the plan.", ""),
    ("Completed 4 of 11 stories. All tests pass so far.", ""),
    ("I have all the information I need. All requirements are clear. Starting on the implementation.", ""),
    ("The build passes after the fix. I'll continue with the remaining failures.", ""),
    ("The script completed successfully and produced the output file. Now I need to check the numbers.", ""),
    ("The installation is complete. Now let me configure the server.", ""),
    ("Good progress. The database task is complete; the API task is in progress.", ""),
    ("The command finished with exit code 1.", ""),
    ("It looks like the tests completed, but the output was cut off. Let me rerun them.", ""),
    ("Migration 1/3 complete. Tests pass.", ""),
    ("The first milestone is done: all of its tasks are complete.", ""),
    ("I need your approval before I can finish. The code is complete, but the migration must be approved by you.", ""),
    ("Setup is complete and the dependencies are installed. The actual implementation comes next.", ""),
    ("Completed: research and prototype. Not started: production implementation.", ""),
    (
        """The current task is done. Remaining in fix_plan.md:
- [ ] exports
- [ ] imports""",
        "",
    ),
    ("We're about 80% of the way: all core tasks are finished, polish is missing.", ""),
    ("I created the file. Then I ran the tests. They pass.", ""),
    ("TDD step 1 finished: tests are written and fail as they should.", ""),
    ("Everything up to the payment step is complete. The payment step itself fails with a 401.", ""),
    ("The agent should output COMPLETE when all tasks are done.", ""),
    ("I marked the task as in progress and started on the parser.", ""),
    ("Wrote the tests for the parser; all of them fail, since the parser does not exist yet.", ""),
    ("已完成第一阶段的全部任务，测试通过。接下来进入第二阶段。", ""),
    ("本轮完成：解析器。测试全部通过。下一轮：打印器。", ""),
    ("登录功能已完成，测试全部通过。现在更新文档。", ""),
    ("开发环境已搭建完成，可以动手写登录功能了。", ""),
]


# covers: S1-36, S1-56, S1-58
def test_a_message_that_reports_the_end_is_done(subtests: pytest.Subtests) -> None:
    for text, task in DONE:
        with subtests.test(text=text):
            assert analyze_text(text, task=task).state == "done"


def test_a_message_that_only_sounds_like_the_end_is_not_done(subtests: pytest.Subtests) -> None:
    for text, task in NOT_DONE:
        with subtests.test(text=text):
            assert analyze_text(text, task=task).state != "done"

"""Who says that what is finished: replies that claim the whole, and replies that only look like it."""

import pytest

from ralph.analysis import analyze_text

OF_THE_WHOLE = [
    "Everything you asked for is done.",
    "Todo lo pedido está hecho.",
    "Alles aus deiner Liste ist erledigt.",
    "The target is reached.",
    "All tasks are complete.",
    "All acceptance criteria are met.",
    "All five acceptance criteria have been satisfied.",
    "Every requirement in the specification has been implemented.",
    "Every story of the PRD is now implemented and verified.",
    "Everything is in place.",
    "Each item on the checklist has been ticked off.",
    "I have now completed all the tasks in the plan.",
    "I've successfully finished all of the remaining tasks.",
    "The tasks are all complete.",
    "✅ **All requirements** have been **fully implemented**.",
    "This meets all the requirements of the ticket, and the suite is green.",
    "All Definition of Done criteria have been fulfilled.",
    "All 14 items of TODO.md are checked off.",
    "All user stories are done.",
    "All objectives have been achieved.",
    "所有任务已完成。",
    "全部功能均已实现。",
    "所有驗收標準均已滿足。",
    "任务已全部完成。",
    "計劃中的所有步驟都已完成。",
    "全部需求已经实现。",
    "所有待办事项都已勾选。",
]

NOTHING_LEFT = [
    "There is nothing left to do.",
    "The plan has zero unchecked items.",
    "No remaining tasks: the backlog is empty.",
    "No open items remain; no tasks left.",
    "I looked through the plan again. There is nothing more to do.",
    "There are no unfinished stories.",
    "0 remaining items.",
    "没有剩余任务。",
    "計劃中沒有未完成的項目。",
    "没有待办事项。",
]

ACHIEVEMENTS = [
    "I've successfully built SHOP-31.",
    "I have successfully implemented the login feature.",
    "Successfully implemented the requested feature.",
    "Issue #12 has been successfully fixed.",
    "The migration has been completed successfully.",
    "I have successfully refactored the billing module as the task asked.",
    "I've fixed issue #301 and added a regression test.",
    "The task has been successfully completed.",
    "已成功实现该功能，所有测试通过。",
    "已成功修復問題 #12。",
]

REPORTS = [
    """Implemented PROJ-77.

Changes:
- `src/cart.ts`: totals are rounded per line
- `src/cart.test.ts`: two new cases

`npm test` passes.
""",
    """Task complete.

**What changed**
- Removed the legacy exporter
- Updated the docs
- Bumped the version

Lint and type checks pass.
""",
    """## Summary

I've implemented dark mode for the settings page.

### Files Modified
1. `theme.ts` - palette for dark mode
2. `Settings.tsx` - the toggle
3. `settings.test.tsx` - tests for both

### Verification
- ✅ Build passes
- ✅ 31 tests passing
""",
    """## US-021 Implementation Complete

The importer now reads both formats.

- ✅ CSV with a header
- ✅ CSV without one
- ✅ JSON lines
""",
    """The bug is fixed.

Root cause: the cache key left out the locale, so that the first visitor's language was served to everyone.

Changes made:
- `cache.py`: the key has the locale
- `test_cache.py`: covers two locales

All 88 tests pass.
""",
    """E7 done. Summary of changes:

- `bin/deploy`: new flag `--dry-run`
- `README.md`: documents it

Smoke test passes. Committed as `0f3a2bc`.
""",
    """The checkout feature is complete and working. Here's what was built:

1. **Cart page** with quantities
2. **Payment step** behind the gateway's sandbox
3. **Confirmation mail**

The build compiles cleanly.
""",
    """Fixed the race in the scheduler.

- The lock is taken before the queue is read
- A stress test with 200 workers passes

Plain `make check` cannot run here since the sandbox denies network access; `make check OFFLINE=1` passes.
""",
    """The refactoring is done.

Summary:
- `Parser` split into `Lexer` and `Grammar`
- No behaviour change

The type checker reports 0 errors, and the test suite passes.

Next steps you could take:
- Publish the package
- Write a blog post
""",
    """I've successfully implemented the export feature.

### Future improvements (optional)
- Support for Parquet
- Streaming of large files
""",
    """All requirements of the ticket are implemented.

### To run
```bash
npm install
npm start
```
""",
    """这个任务已完成。

主要变更：
- 新增 `auth.ts`
- 更新 `login.tsx`
- 补充单元测试

构建成功。
""",
    """功能已全部完成。

修改的檔案：
1. `app/models.py`
2. `app/views.py`

測試全部通過。
""",
    """Session 5 was already complete: every step had been done in an earlier run.

- `api/search.ts` is there and wired up
- `npm run build` passes

Nothing to do.
""",
]

MID_TURN = [
    "Every task is done and pushed. Let me double-check the deployment:",
    "The implementation is complete. Now I'll run the tests.",
    "I've successfully implemented the parser. Next, I will write the tests.",
    "Everything is in place. Let me run the build one more time to be sure.",
    "I have fixed issue #12. Now let me check the other callers:",
    "The feature is done and finished. I still need to update the changelog.",
    "All acceptance criteria are met. I'm running the linter to confirm.",
    "All 14 tests pass. Let's commit this and look at the next file.",
    "Great! The migration has been completed successfully. Now I need to remove the old tables.",
    "Perfect! All requirements are implemented.\n\n[shell] $ git status --short",
    "The fix works. All tests pass now.\n\n$ git commit -am fix",
    "Since the build is done and finished, I'll move on to packaging.",
    "Let me make sure that all acceptance criteria are met.",
    "I'll start by checking whether all tasks are complete.",
    "所有任务已完成。现在我来运行测试：",
    "功能已全部完成，接下来我将更新文档。",
    "全部實現完畢。讓我檢查一下最後的狀態：",
    "The endpoint is implemented and all checks pass. I should also add a test for the empty case.",
    "All steps are done, so now I can start the server and look at the page.",
    "Everything compiles and is complete. Time to write the integration tests.",
]

ENDINGS_THAT_ANNOUNCE_NO_WORK = [
    "All requirements have been implemented and verified. Let me submit the final output.",
    "The task is complete and all tests pass. Now I'll provide a summary.",
    "Let me summarize what was done.\n\nAll tasks are complete, and nothing is left to do.",
    "All stories are done. I'll stop here.",
    "All requirements are met. Let me know if you would like anything changed.",
    "讓我總結一下。所有任務已完成。",
    "I'm running the tests once more.\n\nAll 12 tests pass, and all requirements are met.",
]

OF_A_PART = [
    "Phase 2 is complete. All Phase 2 tasks are done.",
    "Completed Phase 1 and 2:\n- the parser\n- the printer\n\nThe build passes.",
    "The first three tasks are complete and finished.",
    "The loop's one task is done and finished. The next loop will do the printer.",
    "## Summary of This Loop\n\nCompleted 3 items:\n- parser\n- printer\n- tests\n\nAll checked, build passes.",
    "I've completed the groundwork for the importer in this iteration.\n\n- models\n- fixtures\n\nTests pass.",
    "Most of the tasks are complete and finished.",
    "Not all tasks are complete.",
    "Almost all requirements are met.",
    "All tasks but one are complete.",
    "12 of 15 tasks are complete; all of them are done properly.",
    "Step 4 is done and complete.\n\nNext task: step 5, the exporter.",
    "This story is done and complete. Next up: the settings page.",
    "The story is complete. Remaining stories: settings, export, search.",
    "Milestone 1 is complete and finished. Continue with milestone 2.",
    "I've implemented part of the feature; all of its tests pass so far.",
    "### Phase 1 (Complete)\n- parser\n\n### Phase 2 (Complete)\n- printer\n\n### Remaining\n- exporter\n- docs",
    "- ✅ Parser: done\n- ✅ Printer: complete\n- 🔄 Exporter: in progress",
    "The backend is complete and finished.\n\n**Remaining work:** the frontend has no login form yet.",
    "All tests done and finished.\n\nTODO:\n- wire up the form\n- handle errors",
    "第一阶段已完成，所有第一阶段任务都已完成。",
    "本次循环完成！\n\n完成的工作：\n- 组件\n- 页面\n\n构建成功。",
    "迭代 2 全部完成。",
    "前两个任务已完成。\n\n下一个任务：导出页面。",
    "大部分任务已完成。",
    "登录页已完成，准备就绪。\n\n待完成：\n- 注册页\n- 找回密码",
    "组件已完成，准备就绪。剩余任务：接入 API。",
    "- ✅ 解析器：已完成\n- 🔄 导出：进行中",
]

NOT_YET = [
    "La migración está lista para empezar.",
    "Not everything you asked for is done.",
    "Once the review is approved, the feature is complete and finished.",
    "If the tests pass, all tasks are complete.",
    "All tasks will be complete once the migration has run.",
    "All requirements must be met before the release.",
    "The feature is complete, pending your approval of the schema.",
    "I will have completed all tasks by then.",
    "After approval, all tasks are complete.",
    "When all tasks are complete, I will say so.",
    "To complete all tasks I need access to the database.",
    "We have to make sure all acceptance criteria are met.",
    "All tasks should be complete after the next pass.",
    "一旦测试通过，所有任务就完成了。",
    "所有任务将在下一轮完成。",
    "批准后，全部任务即完成。",
]

TAKEN_BACK = [
    "Everything you asked for is done except the logo.",
    "Casi todo lo pedido está hecho.",
    "All tasks are complete, but the build is failing.",
    "All requirements are implemented. However, two of them do not work.",
    "I've successfully implemented the feature, but the tests fail.",
    "All tasks are complete.\n\nThe build fails with three type errors.",
    "The feature is done and finished.\n\n- `npm test` fails: 4 tests are red",
    "All acceptance criteria are met except for the third.",
    "All stories are done, although the search is still slow and incomplete.",
    "全部任务已完成，但构建失败。",
    "所有功能已实现。不过测试未通过。",
]

OF_OTHERS = [
    'The README says "all tasks are complete".',
    "The user said all tasks are complete, which I cannot confirm.",
    "> All tasks are complete.\n\nThat is what the log shows.",
    "```\nAll tasks are complete. Nothing left to do.\n```",
    "| task | state |\n|---|---|\n| parser | all tasks complete |",
    "Are all tasks complete?",
    "Reply with `All tasks are complete` when you are done.",
    "# All tasks complete",
    "The previous agent claimed that all tasks are complete.",
    "The function returns true when all items are checked.",
    "It throws if no tasks are left and the queue was closed.",
    "The handler fires once all requests have been resolved.",
    "Your booking has been successfully updated. Is there anything else I can help with?",
    "I've updated the README as you asked.",
    "I read all the files and looked at every test.",
    "I added a button. It is red.",
    "The tests of the parser were fixed by someone else before.",
]

OF_ENGLISH_REPORTS_IN_PROGRESS = [
    "I've read the plan. The highest priority item is the exporter.",
    "Working on it. The parser is half done.",
    "Fixed two of the failing tests. Three are left.",
    "The tests are running in the background. I will report when they are complete.",
]


def is_done(text: str, task: str = "") -> bool:
    return analyze_text(text, task=task).state == "done"


# covers: S1-27, S1-36, S1-56, S1-57, S1-58, S1-59, S1-62
def test_a_claim_of_the_whole_is_enough(subtests: pytest.Subtests) -> None:
    for text in OF_THE_WHOLE:
        with subtests.test(text=text):
            assert is_done(text)


@pytest.mark.parametrize("text", NOTHING_LEFT)
def test_that_nothing_is_left_is_enough(text: str) -> None:
    assert is_done(text)


@pytest.mark.parametrize("text", ACHIEVEMENTS)
def test_an_achievement_of_what_is_called_a_task_is_enough(text: str) -> None:
    assert is_done(text)


@pytest.mark.parametrize("text", REPORTS)
def test_a_claim_with_a_report_is_done(text: str) -> None:
    assert is_done(text)


def test_an_announcement_of_further_work_takes_back_what_was_said_before(subtests: pytest.Subtests) -> None:
    for text in MID_TURN:
        with subtests.test(text=text):
            assert not is_done(text)


@pytest.mark.parametrize("text", ENDINGS_THAT_ANNOUNCE_NO_WORK)
def test_an_announcement_of_the_end_takes_back_nothing(text: str) -> None:
    assert is_done(text)


def test_a_part_is_not_the_whole(subtests: pytest.Subtests) -> None:
    for text in OF_A_PART:
        with subtests.test(text=text):
            assert not is_done(text)


def test_what_has_not_happened_yet_is_not_done(subtests: pytest.Subtests) -> None:
    for text in NOT_YET:
        with subtests.test(text=text):
            assert not is_done(text)


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_what_is_taken_back_is_not_done(text: str) -> None:
    assert not is_done(text)


def test_what_others_say_and_what_is_no_claim_does_not_count(subtests: pytest.Subtests) -> None:
    for text in OF_OTHERS:
        with subtests.test(text=text):
            assert not is_done(text)


@pytest.mark.parametrize("text", OF_ENGLISH_REPORTS_IN_PROGRESS)
def test_work_that_goes_on_is_not_done(text: str) -> None:
    assert not is_done(text)


TASK = "Phase 2: Add a search page: As a reader, I want to search the articles so that I find what I need."


@pytest.mark.parametrize(
    "text",
    [
        "Phase 2 is complete. The build passes.",
        "I've successfully implemented Phase 2.\n\nRemaining tasks: phases 3 and 4.",
        "Added the search page.\n\n- `Search.tsx`: form and results\n- `search.ts`: the index\n\nTests pass.",
        "The search page is finished and complete. Next task: the archive.",
        "The search page was already in place, so I only checked it:\n\n- the form works\n- `npm test` passes",
    ],
)
def test_done_is_what_the_task_asks_for_even_where_other_work_follows(text: str) -> None:
    assert is_done(text, TASK)


@pytest.mark.parametrize(
    "text",
    [
        "Phase 1 is complete and finished.",
        "I've started with the search page. The index is done.",
        "The search page is half done; the form is finished.",
        "As a reader, I want to search the articles.",
    ],
)
def test_another_part_than_the_task_is_not_the_task(text: str) -> None:
    assert not is_done(text, TASK)


def told(text: str, signal: str, task: str = "") -> list[tuple[str, float]]:
    """What stands where a signal was found, and its weight."""
    return [(piece.text, piece.weight) for piece in analyze_text(text, task=task).evidence if piece.signal == signal]


def test_a_claim_shows_who_says_it_of_what() -> None:
    text = "I looked again. All acceptance criteria of the story are now met."
    assert told(text, "completion_claim") == [("All acceptance criteria of the story are now met", 100)]


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("I've successfully built SHOP-31.", 100),
        ("Built SHOP-31.", 60),
        ("Implemented a cache for prices.", 60),
        ("I've resolved your request.", 60),
    ],
)
def test_an_achievement_counts_by_what_it_is_of(text: str, weight: float) -> None:
    assert [found for _, found in told(text, "completion_claim")] == [weight]


@pytest.mark.parametrize(
    ("text", "signal", "said"),
    [
        ("All tasks are complete. Now I'll run the tests.", "announcement", "Now I'll run the tests."),
        ("The form is finished.\n\n**Remaining work:** the page.", "open_end", "Remaining work"),
        ("It is done and finished. The build fails.", "failing_check", "fails"),
        ("It is done and finished. Next task: the page.", "next_piece", "Next task"),
        ("The form is finished.\n\n## Next steps\n- the page\n- the menu", "next_steps", "Next steps"),
        ("Phase 2 is complete. All 12 tests pass.", "part_claim", "complete"),
    ],
)
def test_what_contradicts_says_where(text: str, signal: str, said: str) -> None:
    [(found, weight)] = told(text, signal)
    assert found.strip() in {said, said.removeprefix("Now ")}
    assert weight == -50


@pytest.mark.parametrize(
    "text",
    [
        "All stories are done.\n\n## Remaining\nNone.",
        "All stories are done.\n\nRemaining work: nothing",
        "All stories are done.\n\n### Next steps\n1. Deploy it\n2. Tell the users",
        "All stories are done. Ready for the next task.",
        "All stories are done.\n\nRemaining (optional):\n- icons",
        "All stories are done.\n\n## Left for later\n- icons",
        "All stories are done. `npm run e2e` fails in this sandbox, which has no browser.",
        "All stories are done. The tests failed at first; I fixed them.",
        "All stories are done.\n\n### ⏳ Timing\nThe build takes 3 s.",
        "所有任务已完成。\n\n剩余工作：无",
    ],
)
def test_what_is_not_left_does_not_contradict(text: str) -> None:
    assert is_done(text)


def test_other_words_do_not_hide_those_of_claims_nor_the_reverse() -> None:
    """ "Already complete" is idle talk as well, and "I'll continue" ongoing work."""
    assert is_done("All tasks were already complete.")
    assert not is_done("All tasks are complete. I'll continue with the next file.")
    assert analyze_text("I've fixed the bug.").metrics.error_count == 0


@pytest.mark.parametrize(
    ("text", "task", "done"),
    [
        ("**Task Completed:** Reset the form after success (Priority 2.2)\n\n**Build:** passing", "", False),
        ("**Task Completed:** Reset the form after success", "Reset the form after success", True),
        ("## Summary\n\nStory 3 done: the list of orders. All tests pass.", "Work through the stories.", False),
        ("Tarea completada: el formulario de contacto. Pruebas en verde.", "", False),
        ("Aufgabe erledigt: das Kontaktformular. Der Build ist grün.", "", False),
        ("任务完成：登录表单。测试全部通过。", "", False),
        ("Task complete: all criteria are met, and all tests pass.", "", True),
        ("Task completed:\n\n- the parser\n- the printer\n\nAll tests pass.", "", True),
        ("All 74 stories are complete. Consider a planning session for the next sprint.", "", True),
    ],
)
def test_a_label_that_names_what_is_finished_names_one_of_several(text: str, task: str, done: bool) -> None:
    assert analyze_text(text, task=task).completion.detected is done

"""Plain statements that the whole is finished, and what only looks like one."""

import pytest

from ralph.analysis import analyze_text
from ralph.cli.reply import Question, judge
from ralph.decision.claims import STRATEGIES
from ralph.pipeline.evaluate import Rules


def is_done(text: str, task: str = "") -> bool:
    return analyze_text(text, task=task).state == "done"


FINISHED_WHOLES = [
    "The task is complete. All changes are committed.",
    "The whole migration has been finished, and the old scripts were removed.",
    "The rewrite in Rust is complete; `cargo test` is green.",
    "The migration of the 40 notebooks to Python 3.13 is now fully complete.",
    "Project finished.",
    "Task complete.",
    "The login bug is fixed.",
    "The deadlock is gone: both workers now take the locks in the same order.",
    "Issue #77 has been resolved. The parser accepts trailing commas now.",
    "That was the last task. The build passes.",
    "Step 7 was the last one. The build passes.",
    "The feature is live; the docs are updated.",
    "The work on the opening book is finished. `ctest` runs 77 tests, all of which pass.",
    "迁移已完成。",
    "專案已完成。",
    "問題已解決，測試全部通過。",
    "Tarea completada.",
    "La migración está terminada y las pruebas pasan.",
    "Todos los criterios de aceptación se cumplen. La historia está terminada.",
]


# covers: S1-33, S1-35, S1-36, S1-56, S1-57, S1-58, S1-59
def test_a_whole_that_is_said_to_be_finished_is_done(subtests: pytest.Subtests) -> None:
    for text in FINISHED_WHOLES:
        with subtests.test(text=text):
            assert is_done(text)


@pytest.mark.parametrize("text", ["Done.", "Finished!", "All done.", "✅ Done", "已完成。", "Terminado."])
def test_a_word_that_is_the_whole_reply_is_one_signal_and_ends_nothing(text: str) -> None:
    found = analyze_text(text).completion
    assert (found.detected, found.confidence) == (False, 60)
    for strategy in STRATEGIES:
        assert judge(Question(text=text), Rules(strategy=STRATEGIES[strategy])).record.decision.kind == "continue"


@pytest.mark.parametrize(
    "text", ["<promise>COMPLETE</promise>\n\nEvery box is ticked.", "I pushed it.\n\n<promise>ALL DONE</promise>\n"]
)
def test_a_promise_of_completion_counts_also_where_none_was_asked_for(text: str) -> None:
    assert is_done(text)


@pytest.mark.parametrize(
    "text",
    [
        "<promise>NOT DONE</promise>",
        "<promise>LATER</promise>",
        "When all is done I will print:\n<promise>COMPLETE</promise>\nbut there are 4 stories left.",
        "Then <promise>COMPLETE</promise> is printed.",
    ],
)
def test_another_promise_or_one_within_the_text_does_not(text: str) -> None:
    assert not is_done(text)


OTHER_WHOLES = [
    "The task is not finished.",
    "Is the task finished?",
    "The task is clear: split the module and adapt the callers.",
    "The task will be finished with the next commit.",
    "The migration is almost complete.",
    "The issue is fixed, I think. I could not run the tests.",
    "Make sure the task is done.",
    "Before the migration is finished, two scripts have to run.",
    "The tests of the feature are complete.",
    "The implementation plan is complete: five phases, 23 tasks.",
    "The task list is done.",
    "Task 3 is done. Lint and tests pass.",
    "I finished item 7. Lint and tests pass.",
    "The first story is done; all tests pass.",
    "The migration is finished for the users table; orders and invoices are left.",
    "The crash is fixed. While testing I found another one, which I have not fixed yet.",
    "任务 3 已完成，构建通过。",
    "功能完成了一半。",
    "任务还没有完成。",
    "La tarea no está terminada.",
]


def test_a_whole_of_which_something_else_is_said_is_not(subtests: pytest.Subtests) -> None:
    for text in OTHER_WHOLES:
        with subtests.test(text=text):
            assert not is_done(text)


def test_a_numbered_task_is_the_whole_where_the_task_calls_itself_so() -> None:
    assert is_done("Task 5 is complete. The importer reads both formats.", "Task 5: write the importer")
    assert not is_done("Task 4 is complete. The exporter writes both formats.", "Task 5: write the importer")


def test_a_feature_is_the_whole_where_nothing_speaks_of_others() -> None:
    assert is_done("The search feature is complete.")
    assert not is_done("The search feature is complete. I ticked it in the fix plan.")


WORDS_IN_PASSING = [
    "Yep, done! Finished!",
    "Cool, that's complete and finished! Now the parser.",
    "Got it, done and finished with reading. Next I start.",
    "8 of 15 tasks complete. Done and finished for today.",
    "75 percent done and finished",
    "Done with the parser; finished with the lexer. The printer is left.",
    "I'm done reading the code and finished exploring.",
    "Set status to done and finished when the job ends.",
    "I marked item 3 as done and complete in the plan.",
    "Hopefully it's done and finished.",
    "The task said: all tests passing.",
    "Goal: all tests passing.",
    "The definition of done asks for: all tests pass, docs written.",
    "All tests passed before my change; after it, four fail.",
    "Status:\n\n1. Schema: done\n2. Queries: complete\n3. Cache: blocked on an image\n\nLint passes.",
]


def test_words_that_are_wanted_marked_or_said_in_passing_claim_nothing(subtests: pytest.Subtests) -> None:
    for text in WORDS_IN_PASSING:
        with subtests.test(text=text):
            assert not is_done(text)


@pytest.mark.parametrize(
    "text",
    [
        "All 14 tests pass. One thing is left: I have not tried it on the large file yet.",
        "The story can't be closed yet. All tests pass.",
        "All tests pass. Ten services are still on the old logger.",
        "The form is done and finished; the list isn't there yet.",
        "The parser is done and finished. The server side is missing.",
        "| Step | State |\n|---|---|\n| Parser | ✅ |\n| Printer | 🔄 |\n\nAll tests pass.",
        "- Parser ✅\n- Printer ❌ not started\n\nThe parser is done and finished.",
        "接口已完成，前端尚未开始，所有测试通过。",
        "El formulario está terminado; la lista todavía no. Todas las pruebas pasan.",
    ],
)
def test_what_is_said_to_be_unfinished_contradicts_every_claim(text: str) -> None:
    assert not is_done(text)


@pytest.mark.parametrize(
    "text",
    [
        'Finished: the bar shows "3 of 7 files remaining" while an upload is incomplete. Visual tests pass.',
        "The to-do app is complete. Users can see how many items are left. All tests pass.",
        "The exporter is done. It skips rows that are incomplete and reports what failed. 23 tests pass.",
        "The rework is complete: blocked workers are restarted, and failing jobs are tried again three times.",
        "The project is complete. Publishing is left to the release job.",
        "The task is finished. I could not run the load test here, because this environment has no Docker.",
        "The task is finished.\n\nPossible next steps, if you want them:\n- ship the logs elsewhere",
        "所有任务已完成：页面会列出剩余的重试次数。",
    ],
)
def test_what_the_work_does_and_what_needs_no_hand_contradicts_nothing(text: str) -> None:
    assert is_done(text)

"""What a reply leaves of its task: labels and statements of what is to come, and what only looks like one."""

import pytest

from ralph.cli.reply import Question, judge
from ralph.pipeline.evaluate import Rules

AUTO = Rules()

TASK = "Build the booking service from SPEC.md."
BEGUN = (
    "Rooms and guests are implemented with validation, and the OpenAPI file is generated from them. "
    "All 64 tests pass, lint is clean.\n\n"
)


def state_of(text: str, task: str = TASK) -> str:
    return judge(Question(text=text, task=task), AUTO).record.analysis.state


@pytest.mark.parametrize(
    "rest",
    [
        "### 📋 What's next\n- Invoices\n- Reminders",
        "**Up next:** invoices, reminders.",
        "Steps that follow:\n\n3. Invoices\n4. Reminders",
        "Coming next: invoices.",
        "Invoices come next.",
        "After that come invoices, then reminders.",
        "The next session can start with invoices.",
        "Invoices are the obvious next step.",
    ],
)
def test_what_comes_next_of_a_task_leaves_it_unfinished(rest: str) -> None:
    assert state_of(BEGUN + rest) == "progress"


@pytest.mark.parametrize(
    "rest",
    [
        "### Next steps\n1. Review the branch\n2. Deploy to staging",
        "Next step: merge the pull request.",
        "Possible next steps: caching, rate limits.",
        "### Optional next steps\n- Caching",
        "Next steps for you: try the two examples in the README.",
    ],
)
def test_next_steps_with_finished_work_leave_nothing(rest: str) -> None:
    assert state_of(BEGUN + rest) == "done"


def test_the_next_story_leaves_nothing_of_one_story() -> None:
    text = "Story 2.1 is implemented and pushed. All 12 tests pass.\n\nNext story: 2.2 (reminders)."
    assert state_of(text, "Story 2.1: send invoices") == "done"
    assert state_of(text, "Build all stories of SPEC.md") == "progress"
    beside = "Story 2 is implemented, its boxes are ticked. All 12 tests pass. Stories 3 and 4 are untouched."
    assert state_of(beside, "Implement story 2 (invoices).") == "done"
    assert state_of(beside, "Implement all stories of SPEC.md") == "progress"


@pytest.mark.parametrize(
    "rest",
    [
        "Not in this iteration: invoices, reminders.",
        "What isn't there. Invoices and reminders.",
        "What works in part: invoices, which lose their discount.",
        "Left for the next session: invoices.",
        "Remaining endpoints: invoices, reminders.",
    ],
)
def test_labels_of_what_is_left_are_found_in_any_shape(rest: str) -> None:
    assert state_of(BEGUN + rest) == "progress"


@pytest.mark.parametrize(
    "rest",
    [
        "Remaining warnings: none.",
        "Remaining minutes on the runner: 1,200.",
        "Remaining space on the volume: 40 GB.",
    ],
)
def test_an_amount_that_remains_is_no_work(rest: str) -> None:
    assert state_of(BEGUN + rest) == "done"


@pytest.mark.parametrize(
    "rest",
    [
        "There is no code for invoices yet.",
        "The invoices haven't been looked at.",
        "Invoices are what's left.",
        "The other fourteen need a lookup table first.",
        "Chapters 7–11 of the handbook are still in Dutch.",
        "I checked the invoices and found that they aren't complete.",
        "The admin pages are still without a login.",
    ],
)
def test_what_was_not_come_to_contradicts(rest: str) -> None:
    assert state_of(BEGUN + rest) == "progress"


@pytest.mark.parametrize(
    "rest",
    [
        "There are no errors in the log yet, after six hours.",
        "The other fourteen need no change.",
        "The remaining endpoints were already in the new format.",
        "Two clients require the old header, which is still sent.",
        "The only thing missing was the changelog; it is written now.",
    ],
)
def test_what_needs_nothing_does_not_contradict(rest: str) -> None:
    assert state_of(BEGUN + rest) == "done"


def test_groundwork_is_no_end_unless_it_is_the_task() -> None:
    text = "This set up the foundation: the linter, the tests and the CI run. All 6 tests pass. Ready for development."
    assert state_of(text) == "progress"
    assert state_of(text, "Set up the project: linter, tests, CI") == "done"


@pytest.mark.parametrize(
    "rest",
    [
        "Half of the pages are converted.",
        "About a third of the templates is done.",
        "Roughly 40 % of the rules are covered now.",
        "The plan has 34 entries, 3 of them are ticked.",
        "There are four views left.",
        "⬜ Invoices\n⬜ Reminders",
        "🔜 Reminders",
        "**Next steps**\n1. Invoices\n2. Reminders",
        "The rest follows the same pattern and is quick work now.",
        "A second currency is not supported yet.",
        "I am analysing the rules for invoices at the moment.",
    ],
)
def test_a_share_of_the_work_contradicts(rest: str) -> None:
    assert state_of(BEGUN + rest) == "progress"


@pytest.mark.parametrize(
    "rest",
    [
        "12 of the 64 tests are new.",
        "Half of the code is gone.",
        "Most of the time was spent in the parser.",
        "Rows that have not been migrated yet are skipped with a warning.",
        "The rest of the code is untouched.",
        "The next iteration of the polling loop reads the new token.",
    ],
)
def test_what_tells_of_the_result_is_no_share_of_the_work(rest: str) -> None:
    assert state_of(BEGUN + rest) == "done"


@pytest.mark.parametrize(
    ("task", "begun", "rest"),
    [
        (
            "按照规格开发预订服务",
            "房间和客人接口已经实现，64 个测试全部通过。",
            "接下来开发账单模块，一共还有 4 个模块。",
        ),
        ("按照规格开发预订服务", "房间和客人接口已经实现，64 个测试全部通过。", "共 9 个模块，已完成 4 个。"),
        ("按照规格开发预订服务", "房间和客人接口已经实现，64 个测试全部通过。", "账单目前是占位实现。"),
        (
            "Construir el servicio de reservas",
            "Las habitaciones están implementadas. Pasan las 64 pruebas.",
            "Ahora continúo con las facturas.",
        ),
        (
            "Construir el servicio de reservas",
            "Las habitaciones están implementadas. Pasan las 64 pruebas.",
            "Lo siguiente son las facturas.",
        ),
        (
            "Den Buchungsdienst bauen",
            "Zimmer und Gäste sind umgesetzt. Alle 64 Tests sind grün.",
            "Für die Rechnungen gibt es noch keinen Code.",
        ),
    ],
)
def test_what_is_left_is_found_in_other_languages(task: str, begun: str, rest: str) -> None:
    assert state_of(f"{begun}\n\n{rest}", task) == "progress"
    assert state_of(begun, task) == "done"


@pytest.mark.parametrize(
    ("rest", "state"),
    [
        ("I compared 20 of the 60 sample files page by page; the importer takes 36 of the 60.", "progress"),
        ("Files 1 to 24 come out right.", "progress"),
        ("I compared 20 of the 60 sample files page by page; all 60 come out right.", "done"),
        ("Pages 1 to 80 of the longest file take two seconds.", "done"),
    ],
)
def test_a_share_of_as_many_as_the_task_names_is_found_anywhere(rest: str, state: str) -> None:
    text = f"{BEGUN}The importer reads text, styles and tables, and keeps what it does not know as it was.\n\n{rest}"
    assert state_of(text, "Write an importer; all 60 sample files must come out right") == state


MOVED = "The member endpoints are migrated and covered by contract tests. Everything is green.\n\n"


@pytest.mark.parametrize(
    "rest",
    [
        "**Left to migrate**\n- invoices\n- reports",
        "**To do in the following iterations**\n- invoices",
        "### Plan for the next session\n1. invoices\n2. reports",
        "The next thing on the list is invoices.",
        "Reports will be next, since invoices depend on them.",
        "Invoices have not been moved.",
        "Whoever continues should start with invoices.",
        "Invoices will take another two iterations.",
        "Nothing of the reports exists so far.",
    ],
)
def test_green_checks_are_not_the_whole_of_a_task(rest: str) -> None:
    assert state_of(MOVED + rest, "Move all endpoints to v2.") == "progress"


def test_a_part_is_not_the_task_unless_it_is_the_last() -> None:
    task = "Build the app in PRD.md."
    assert state_of("Sprint 1 complete. Data model, migrations, seeds. 31 tests pass.", task) == "progress"
    assert state_of("Task 1 of the plan is done: migrations and seeds. 31 tests pass.", task) == "progress"
    text = "All requirements in PRD.md are implemented. Sprint 4, the last one, is complete. 31 tests pass."
    assert state_of(text, task) == "done"


@pytest.mark.parametrize(
    "rest",
    [
        "It turned out that it isn't the list but the header that was at fault.",
        "I found that they weren't initialised in that order; they are now.",
        "Next I'd suggest a high-contrast theme.",
        "Its test fails on the old code and passes on the new.",
        "A reader would begin with `header.py`; the rest follows from there.",
        "Two warnings remain in the vendored parser, which have always been there.",
        "Issue 91 came in meanwhile; it isn't on the list, and I haven't looked at it.",
        "The reader is started on demand.",
        "No key is missing, says the linter.",
    ],
)
def test_what_was_found_on_the_way_is_not_left(rest: str) -> None:
    begun = (
        "The crash is fixed: the header read the first row too early. A test covers the empty list. 40 tests pass.\n\n"
    )
    assert state_of(begun + rest, "Fix the crash when the list is empty.") == "done"


def test_a_share_in_the_words_of_the_task_is_a_share_unless_the_task_counts_so() -> None:
    text = "Seven of the nine remarks are answered with a commit each. CI is green."
    assert state_of(text, "Answer the editor's remarks on draft 41") == "progress"


def test_a_release_is_no_piece_of_work_by_its_number() -> None:
    text = "The old settings are gone, and the suite passes on the release before. The switch itself is next."
    assert state_of(text, "Upgrade to Django 5") == "progress"


def test_fewer_things_than_the_task_counts_are_a_share() -> None:
    task = "Add the five charts of charts.md"
    assert (
        state_of("Three charts are in, each with a golden file. All tests pass and it's committed.", task) == "progress"
    )
    assert state_of("Five charts are in, each with a golden file. All tests pass and it's committed.", task) == "done"
    assert (
        state_of("预订和账单页面已完成，测试全部通过。计划中的 9 个页面，目前迁移了 4 个。", "迁移所有页面")
        == "progress"
    )


@pytest.mark.parametrize(
    ("rest", "state"),
    [
        ("## Next\n\n- Invoices\n- Reminders", "progress"),
        ("## Next.js\n\nThe version is 15 now.", "done"),
        ("The invoices need another pass.", "progress"),
        ("More of that tomorrow.", "progress"),
        ("Keyboard and touch need handlers of their own, and I haven't written those.", "progress"),
        ("The inventory is in `views.md` (12 left).", "progress"),
        ("✔️ rooms\n✔️ guests\n◻️ invoices", "progress"),
        ("Modules that haven't got settings of their own yet use the defaults.", "done"),
        ("I left invoices for last since their rules change.", "progress"),
        ("What's missing compared to before is the PDF, which the ticket says to drop.", "done"),
        ("The other tests don't need this, as they go through the page object.", "done"),
        ("It waited for the first of three requests instead of the last.", "done"),
    ],
)
def test_words_of_what_is_left_count_where_they_are_about_the_work(rest: str, state: str) -> None:
    assert state_of(BEGUN + rest) == state


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (
            "Clear the list in CHORES.md",
            "The two dead services are removed, CI is green.\n\nLeft: logging, the old mailer.",
        ),
        ("Clear the list in CHORES.md", "Dead services removed, CI green. I did not get around to the logging."),
        ("Clear the list in CHORES.md", "Printing is done and tested. The next unticked one is payment."),
        (
            "Implementar todas las historias de prd.json",
            "La historia 4 está terminada; pasan las 31 pruebas. Quedan otras.",
        ),
        (
            "Alle Stories aus prd.json umsetzen",
            "Story 4 ist fertig, alle 31 Tests sind grün. Drei stehen noch auf der Liste.",
        ),
    ],
)
def test_what_is_left_of_a_list_is_found(task: str, text: str) -> None:
    assert state_of(text, task) == "progress"


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (
            "",
            (
                "Context is running low, so I'm stopping while everything compiles.\n\n- The reader is finished and "
                "tested (31 tests)\n- The writer goes through the old buffer by an adapter\n\nThe branch is "
                "`reader`, no uncommitted changes."
            ),
        ),
        (
            "Port the reader and the writer",
            (
                "I'm running low on context, so this is a summary of the state. The reader is finished, 31 tests "
                "pass. The writer goes through the old buffer."
            ),
        ),
        (
            "",
            (
                "**What works:** invoices and reminders print correctly, and 40 tests pass.\n**What doesn't:** "
                "credit notes come out with the wrong sign.\n\nThe branch is pushed."
            ),
        ),
        ("", "Implemented `tin list`. 14 tests, all green.\n\nOpen after this iteration:\n- `tin move`\n- `tin drop`"),
        (
            "Port the shop to Vue (9 pages)",
            (
                "✅ **Invoices page migration COMPLETE!** All 22 tests are green.\n\nMigrated so far: Login, Orders, "
                "Invoices (3/9)."
            ),
        ),
        (
            "Build the tool. Stories are in docs/.",
            (
                "Story 02 is complete and all of its acceptance criteria are met. 21 tests pass. Stories 03 to 11 "
                "are still `open`."
            ),
        ),
        ("", "阅读器已完成，12 个测试通过。上下文快用完了，先把状态记录下来：写入器仍走旧接口。"),
        (
            "",
            (
                "El lector está terminado y pasan las 12 pruebas. Me queda poco contexto: el escritor usa la "
                "interfaz antigua."
            ),
        ),
        (
            "",
            (
                "Der Leser ist fertig, 12 Tests grün. Mein Kontext ist fast voll; der Schreiber nutzt die alte "
                "Schnittstelle."
            ),
        ),
    ],
)
def test_means_that_run_out_and_what_stays_open_after_the_loop_are_no_end(task: str, text: str) -> None:
    assert state_of(text, task) == "progress"


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (
            "Warn the agent before its context is full",
            (
                "The agent is told when the context is almost full, and writes its notes before it is. All 31 tests "
                "pass, and the change is committed."
            ),
        ),
        (
            "Port the shop to Vue (9 pages)",
            "Migrated all nine pages: login, orders, invoices and the six of the catalogue (9/9). All 64 tests pass.",
        ),
        ("Fix the importer", "The importer is fixed: all 12 tests pass. What doesn't change: the format of the file."),
        ("", "All tasks are done. Backlog after this loop: none."),
        ("实现导出", "当前所有任务都已完成，42 个测试全部通过。"),
    ],
)
def test_work_that_is_about_such_things_is_finished(task: str, text: str) -> None:
    assert state_of(text, task) == "done"


def test_one_by_its_place_in_as_many_as_the_task_counts_is_a_share() -> None:
    task = "Rewrite the five exporters"
    assert state_of("Finished the second of the five exporters; 27 tests pass, lint is clean.", task) == "progress"
    whole = "All five exporters are rewritten. The first of the five took longest. 27 tests pass, lint is clean."
    assert state_of(whole, task) == "done"


@pytest.mark.parametrize(
    "text",
    [
        "Task complete. Starting phase 2 now.",
        "The implementation is complete. Docs — in progress.",
        "Implemented story US-003, as the plan has it. Lint passes.",
        "Done. Account pages and the search page remain.",
        "还有 2 个页面没有翻译。",
    ],
)
def test_a_reply_without_a_task_that_names_open_work_is_no_end(text: str) -> None:
    assert state_of(text, "") == "progress"

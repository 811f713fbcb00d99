"""Accounts of finished work that use no word of completion, and replies that only look like one."""

import pytest

from ralph.analysis import analyze_text

TASK = "STORY-12: As a shopper, I want to save items for later so that I can buy them another day."


def is_done(text: str, task: str = "") -> bool:
    return analyze_text(text, task=task).state == "done"


# covers: S1-36, S1-57, S1-58
@pytest.mark.parametrize(
    "text",
    [
        "Root cause: the cache key left out the tenant. Fix: it is part of the key now. The full suite passes.",
        "Cause: the index was built before the data was loaded. I moved it behind the loader. Lint and tests pass.",
        "The crash came from a truncated frame. It now returns nothing. Its test failed before and passes now.",
        "The slow query came from a missing index. It is added now, and the page loads in 40 ms. Tests pass.",
        "Root cause: the effect depended on an object literal.\n\nI moved the options out, and a test asserts this.",
        "原因是以毫秒命名臨時檔案。現在改為使用隨機名稱，並補上測試，全數通過。",
        "La causa era la zona horaria; ahora se usa UTC. Las pruebas pasan.",
    ],
)
def test_what_was_mended_with_its_cause_and_a_proof_is_done(text: str) -> None:
    assert is_done(text)


@pytest.mark.parametrize(
    "text",
    [
        "Added `--json` to `list`.\n\n- `cmd/list.go:48`: the flag\n\nTests: `go test ./...` (pass), lint (clean).",
        "Updated the retry logic, so that others never are. Tests: `pytest -q` → 221 passed.",
        "Replaced the hand-written parser with `argparse`. `pytest` → 54 passed, `ruff` clean.",
        "I removed the deprecated endpoints and their docs. The build passes, and so do the 231 tests.",
        "Dark mode works now on all pages. Tests pass.",
        "## Results\n\nThe image is 92 MB now instead of 1.1 GB. The smoke tests pass.",
        "已按要求把配置读取改为 `viper`，旧的变量名仍然有效。\n\n测试通过。",
    ],
)
def test_a_change_that_is_told_first_and_checked_is_done(text: str) -> None:
    assert is_done(text)


SHARES = [
    "Root cause: the lock is taken twice. I have a fix in mind, but have not written it yet.",
    "Root cause found: the cache key lacks the tenant. Writing the fix now.",
    "Added logging to find the crash. The build passes, but the crash is still there.",
    "Added the retry logic to the client; the tests pass. The server side is missing.",
    "Updated the plan. The build passes.",
    "Wrote failing tests for the importer. Lint passes.",
    "Added the column in this loop. The build passes.",
    "Refactored the loader. Build passes. I've noted in fix_plan.md that the others should follow.",
    "Implemented story US-003. Typecheck passes. `prd.json` has five more stories.",
    "Implemented the tokenizer. Tests pass. The grammar comes next.",
    "Fixed 3 of the 11 type errors. Lint passes.",
    "I've read all files and understand the structure now. 0 errors in the build.",
    "The project compiles now. 0 errors.",
    "I changed the parser, and added a page. It is red.",
    "已更新计划，构建通过。",
    "已添加登录接口，构建通过。本轮到此为止。",
    "He corregido dos de los cinco errores. Las pruebas pasan.",
]


def test_a_share_of_the_work_is_not(subtests: pytest.Subtests) -> None:
    for text in SHARES:
        with subtests.test(text=text):
            assert not is_done(text)


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("Customers have a notes field now.", "Add a notes field to customers"),
        ("Added `LICENSE` (Apache-2.0) and set the field in `Cargo.toml`.", "Add a LICENSE file (Apache-2.0)"),
        ("`/v1/export` is gone, along with its handler. Build and tests pass.", "Remove the /v1/export endpoint"),
        ("Bumped the minimum of Node to 20. `npm test` passes.", "Bump the minimum Node version to 20"),
        ("`zip` is now `postal_code` everywhere. 204 tests pass.", "Rename zip to postal_code"),
        ("Shoppers can save items for later now.\n\n- the table\n- the button\n\nTypecheck and tests pass.", TASK),
        ("Los clientes tienen ahora un campo de notas. Las pruebas pasan.", "Añadir un campo de notas a los clientes"),
    ],
)
def test_work_on_what_the_task_names_is_done(text: str, task: str) -> None:
    assert is_done(text, task)


@pytest.mark.parametrize(
    "text",
    [
        "I found where items are stored. A table is needed; the model exists now.",
        "Saved items can be listed now. Removing them does not work yet.",
        "The back end for saved items is there; 14 tests pass. The button in the cart is still missing.",
        "I've written a failing test for saving items.",
        "Added the table.\n\nNow the endpoints:",
        "Created `SavedItem` and its list. Both compile. Wiring, tests and styles are to do.",
        "Tests for saving items pass, tests for removing them fail.",
        "Started on saving items: the table exists now.",
    ],
)
def test_a_part_of_what_the_task_names_is_not(text: str) -> None:
    assert not is_done(text, TASK)


def test_an_account_says_where_it_tells_of_the_work_and_ends_no_run_by_itself() -> None:
    analysis = analyze_text("Added a flag to the list command. The build passes.")
    [piece] = [piece for piece in analysis.evidence if piece.signal == "completion_account"]
    assert (piece.text, piece.weight) == ("Added", 60)
    assert analysis.completion.confidence == 60, "words alone need 70 to end a run"


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("Start-up must take less than 2 s.", "Start-up takes 2.4 s on the slow machine. Plugins are read late now."),
        ("Start-up must take less than 2 s.", "Start-up will take 1.4 s once the plugins are read late."),
        ("Start-up must take less than 2 s.", "The log has 1.4 s between two lines. They come from the reader."),
        (
            "Bring the bundle below 300 kB.",
            "The bundle has 290 kB without the editor. The editor is what I look at next.",
        ),
    ],
)
def test_one_that_is_not_met_or_of_something_else_is_not(task: str, text: str) -> None:
    assert analyze_text(text, task=task).state != "done"

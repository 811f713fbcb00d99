"""Test runs in a reply."""

import re
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ralph
from ralph.analysis import Analysis, Evidence, analyze_text, detect_completion, extract_work_summary


class Run(NamedTuple):
    """What a command printed, and how many tests passed and failed by it; None where it does not say."""

    name: str
    text: str
    passed: int | None = None
    failed: int | None = None

    def __str__(self) -> str:
        return self.name


def runs(file: str) -> Iterator[Run]:
    """The texts of a file: each stands under a line of its own, such as `%%% jest: 12 passed, 0 failed`."""
    whole = Path(__file__).with_name(file).read_text(encoding="utf-8").replace("\\e[", "\x1b[")
    for section in re.split(r"^%%% ", whole, flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        name, _, counts = title.partition(": ") if re.search(r"\d|- passed", title) else (title, "", "")
        passed, failed = [int(word) if word.isdigit() else None for word in counts.split()[::2]] or (None, None)
        yield Run(name, text, passed, failed)


RUNS = [*runs("runs.txt")]
OTHERS = [*runs("no_runs.txt")]


def results(analysis: Analysis) -> list[Evidence]:
    return [piece for piece in analysis.evidence if piece.signal == "test_run"]


# covers: S1-37, S1-38, S1-39, S1-40, S1-41
def test_nothing_but_the_output_of_tests(subtests: pytest.Subtests) -> None:
    for run in RUNS:
        with subtests.test(run=run):
            found = detect_completion(run.text)
            assert found.test_only
            assert not found.detected


@pytest.mark.parametrize(
    "text",
    [
        "9\xa0tests completed",
        "✅passed: 5",
        "(passed: 5",
        "✓passed: 12\n✗failed: 0",
        "Installing…\rrspec: not found",
        "\t E   x errors",
        "\t  test_a (shop.CartTest) ... ok",
    ],
)
def test_a_runner_is_known_by_its_words_whatever_stands_before_them(text: str) -> None:
    assert detect_completion(text).test_only


# covers: S1-42
def test_something_else_than_the_output_of_tests(subtests: pytest.Subtests) -> None:
    for other in OTHERS:
        with subtests.test(other=other):
            assert not detect_completion(other.text).test_only


def test_a_report_beside_the_output_is_no_test_output_alone(subtests: pytest.Subtests) -> None:
    for run in [run for run in RUNS if "command not" not in run.name]:
        for work in ["I implemented the parser.", "## Summary\n\nThe cart rounds now.", "我已完成購物車。"]:
            with subtests.test(run=run, work=work):
                assert not detect_completion(f"{run.text}\n{work}\n").test_only


def test_how_many_passed_and_failed(subtests: pytest.Subtests) -> None:
    for run in RUNS:
        with subtests.test(run=run):
            analysis = analyze_text(run.text)
            told = {piece.signal: piece.why for piece in analysis.evidence}
            assert told.get("tests_passed") == (f"{run.passed} tests passed." if run.passed else None)
            assert told.get("tests_failed") == (f"{run.failed} tests failed." if run.failed else None)


# covers: S1-50
def test_tests_pass_where_some_pass_and_none_fails(subtests: pytest.Subtests) -> None:
    for run in [run for run in RUNS if run.passed is not None]:
        with subtests.test(run=run):
            (result,) = results(analyze_text(run.text))
            assert (result.weight > 0) == (bool(run.passed) and not run.failed)


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("ok  \texample.org/roman\t0.003s\n", True),
        ("ok  \texample.org/roman\t0.003s [no tests to run]\n", None),
        ("✓ src/cart.test.ts (3 tests) 5ms\n", True),
        ("✓ Added the cart.\n✗ Not yet the price.\n", None),
        ("FAIL src/cart.test.ts\nPASS src/price.test.ts\n", False),
        ("```\nFAIL src/cart.test.ts\n```\n\nNow it is right:\n\n```\nPASS src/cart.test.ts\n```\n", True),
    ],
)
def test_single_results_tell_how_a_run_ended(text: str, passing: bool | None) -> None:
    assert [result.weight > 0 for result in results(analyze_text(text))] == ([] if passing is None else [passing])


NUMBERS_IN_WORDS = [
    ("Build passes all 4 tests.", "4 tests passing"),
    ("`npm test` passes (25/25 tests).", "25 tests passing"),
    ("The suite passes, 19 tests.", "19 tests passing"),
    ("All tests pass (36/36).", "36 tests passing"),
    ("12 of 15 tests pass.", "12 tests passing, 3 tests failing"),
    ("2 of the 15 tests fail.", "13 tests passing, 2 tests failing"),
    ("There are 3 passing unit tests.", "3 tests passing"),
    ("67 cases succeed.", "67 tests passing"),
    ("Chrome:\tExecuted 9 of 9 SUCCESS", "9 tests passing"),
    ("[\t PASSED\t ] 9 tests", "9 tests passing"),
    ("[\u3000fail 4 | warn 0 | skip 0 | pass 7 ]", "7 tests passing, 4 tests failing"),
    ("00:05 +3 -1: loading cart_test.dart", "3 tests passing, 1 test failing"),
    ("67 cases succeeded and 2 cases failed.", "67 tests passing, 2 tests failing"),
    ("**Tests**: 12 passed, 1 failed", "12 tests passing, 1 test failing"),
    ("12 passed, 0 failed", "12 tests passing"),
    ("12 個測試全部通過", "12 tests passing"),
    ("12个测试通过，1个测试失败", "12 tests passing, 1 test failing"),
    ("通過 12 個測試", "12 tests passing"),
    ("Fixed 3 failing tests; all 40 tests pass.", "40 tests passing"),
    ("The 3 failing tests now pass: 40 passed.", "40 tests passing"),
    ("First: 3 failed, 9 passed in 0.2s\n\nAfter the fix: 12 passed in 0.2s", "12 tests passing"),
    ("=== 3 failed, 9 passed in 0.2s ===\n\n=== 12 passed in 0.2s ===", "12 tests passing"),
    # none of these says that tests passed or failed
    ("00:05 +٣: loading cart_test.dart", ""),
    ("12 tests still need to pass.", ""),
    ("Make sure that all 12 tests pass.", ""),
    ("Once the 12 tests pass, I will go on.", ""),
    ("Not all 12 tests pass.", ""),
    ("0 tests failed", ""),
    ("No tests failed.", ""),
    ("Previously 3 tests failed.", ""),
    ("Test Suites: 2 passed, 2 total", ""),
    ("Test Files  2 passed (2)", ""),
    ("3 test suites passed", ""),
    ("40 steps (40 passed)", ""),
    ("34 assertions passed", ""),
    ("It took 12 passes over 3 files.", ""),
    ("Version 1.12 passed review.", ""),
]


def test_numbers_of_tests_in_words(subtests: pytest.Subtests) -> None:
    for text, summary in NUMBERS_IN_WORDS:
        with subtests.test(text=text):
            assert extract_work_summary(text) == summary


@pytest.mark.parametrize(
    "text", ["0 tests passed", "0 failed", "No tests failed.", "no tests ran in 0.01s", "3 skipped in 0.1s"]
)
def test_nothing_passed_is_no_pass(text: str) -> None:
    assert not any(result.weight > 0 for result in results(analyze_text(text)))


def test_failures_that_are_known_do_not_contradict() -> None:
    (known,) = results(analyze_text("118 passed, 2 failed (pre-existing, unrelated to this change)"))
    (fresh,) = results(analyze_text("118 passed, 2 failed"))
    assert fresh.weight < known.weight < 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Some words.\n\nTests:       1 failed, 11 passed, 12 total\n", "Tests:       1 failed, 11 passed, 12 total"),
        ("It works, 12 tests pass now.", "12 tests pass"),
        (
            "\x1b[1mTests:\x1b[22m  \x1b[32m3 passed\x1b[39m, 3 total\n",
            "Tests:\x1b[22m  \x1b[32m3 passed\x1b[39m, 3 total",
        ),
        ("  7 passing (1s)\n  2 failing\n", "7 passing (1s)\n  2 failing"),
    ],
)
def test_the_evidence_stands_where_it_says(text: str, shown: str) -> None:
    (result,) = results(analyze_text(text))
    assert text[result.start : result.end] == result.text == shown


@given(st.text(alphabet="0123456789 \n=-.:/()[]✓passedfailtestok\x1b", max_size=400))
def test_any_text_is_read(text: str) -> None:
    analysis = analyze_text(text)
    assert all(piece.text == text[piece.start : piece.end] for piece in results(analysis))


@pytest.mark.alone
@pytest.mark.parametrize(
    "line",
    [
        "1 test ",
        "12 passed, ",
        "12 passed\n",
        "✓ \n",
        "ok 1\n",
        "=",
        "PASS a\n",
        "\x1b[3",
        "passpass",
        "> a a ",
        "Test ",
        "a.py::",
        "test result: ok. 1 passed\n",
    ],
)
def test_hostile_output_costs_little(line: str) -> None:
    begun = perf_counter()
    analyze_text(line * (1_000_000 // len(line)))
    assert perf_counter() - begun < 2, "a fortieth of it is usual"


VITEST = """ Test Files  152 passed (152)
      Tests  4016 passed (4016)
   Start at  19:14:32
   Duration  9.05s (transform 3.61s, setup 0ms)"""


@pytest.mark.parametrize(
    ("text", "only"),
    [
        (f"Story: 0-5-3\nPhase: dev\nloader run | $0.20 spent\nCost: agent $0.20\n\n{VITEST}", True),
        (f"ESM dist/index.js    354.91 KB\nESM Build success in 22ms\nDTS dist/index.d.ts 13 KB\n{VITEST}", True),
        (f"I've implemented the loader.\nPhase: dev\nStory: 3\n\n{VITEST}", False),
        (f"The loader reads both formats now.\n\n{VITEST}", False),
        ("[FAIL] Preconditions not met:\n[INFO]   - tests_passed is false\n[INFO]   - coverage_met is false", False),
        ("Exit code 1\n[FAIL] Shared stack: failed to start\n[INFO] Error: Command failed: docker compose", False),
        ("[PASS] testTransfer() (gas: 12345)\n[FAIL. Reason: too low] testMint(uint256) (runs: 3)", True),
    ],
)
def test_the_end_of_a_run_that_prints_what_it_tests_and_tags_of_other_tools(text: str, only: bool) -> None:
    assert analyze_text(text).completion.test_only is only


@pytest.mark.parametrize(
    "report",
    [
        "- Added the price list\n- Added the order form\n- Wired the filter\n- Updated the manual\n- Fixed the footer",
        "Added the price list\nAdded the order form\nWired the filter\nUpdated the manual\nFixed the footer",
        "  - Added price list\n  - Added order form\n  - Wired filter\n  - Updated manual\n  - Fixed footer",
        "Preisliste ergänzt\nBestellformular angelegt\nFilter eingebaut\nHandbuch erweitert\nFußzeile behoben",
        "Price list: new columns\nOrder form: checked\nFilter: by colour\nManual: rewritten\nFooter: repaired",
        "价目表已添加\n订单表格已添加\n筛选已接好\n手册已更新\n页脚已修好",
        "Lista de precios: hecha\nFormulario: hecho\nFiltro: hecho\nManual: hecho\nPie: hecho",
    ],
)
def test_a_report_on_work_above_two_lines_of_a_runner_is_no_test_run(report: str) -> None:
    found = analyze_text(f"{report}\n\n Tests  4016 passed (4016)\n Duration  9.05s")
    assert not found.completion.test_only


def test_no_group_is_possessive() -> None:
    """Python before 3.11.5, as in Debian 12, compiles such a group wrongly if it can match in several ways."""
    folder = Path(ralph.__file__).parent
    found = [
        f"{path.relative_to(folder)}: {line.strip()}"
        for path in folder.rglob("*.py")
        for line in path.read_text().splitlines()
        if re.search(r"\)(?:[?*+]|\{\d*,?\d*\})\+", line) and re.search("pattern|compile|r[\"']", line)
    ]
    assert found == []

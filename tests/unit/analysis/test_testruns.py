import pytest

from ralph.analysis import analyze_text, detect_completion, extract_work_summary

JEST = """PASS src/a.test.ts
PASS src/b.test.ts

Test Suites: 2 passed, 2 total
Tests:       12 passed, 12 total
Snapshots:   0 total
Time:        1.2 s
"""
PYTEST = """============================= test session starts ==============================
platform linux -- Python 3.11.7, pytest-9.0.0
rootdir: /w
collected 3 items

tests/test_a.py ..F                                                      [100%]

=================================== FAILURES ===================================
    def test_c():
>       assert made() == 2
E       AssertionError
=========================== 1 failed, 2 passed in 0.03s ===========================
"""
GO = """=== RUN   TestAdd
--- PASS: TestAdd (0.00s)
PASS
ok  \texample.org/add\t0.002s
"""
CARGO = """running 2 tests
test a::works ... ok
test b::works ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; finished in 0.00s
"""


# covers: S1-37, S1-38, S1-39, S1-40, S1-41
@pytest.mark.parametrize("text", [JEST, PYTEST, GO, CARGO, f"```\n{JEST}```\n", "12 tests passed", "PASS a\nSKIP b\n"])
def test_nothing_but_test_output(text: str) -> None:
    found = detect_completion(text)
    assert found.test_only
    assert not found.detected


# covers: S1-42
@pytest.mark.parametrize(
    "text",
    [
        f"I added the parser in `a.py` and ran the tests:\n\n```\n{JEST}```\n\n**Changes**\n- **a.py**: the parser\n",
        "## Summary\n\nThe page works. 12 tests passed.\n",
        "I implemented the parser; 12 tests passed.",
        "$ pwd\n/w",
        "",
    ],
)
def test_more_than_test_output(text: str) -> None:
    assert not detect_completion(text).test_only


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (JEST, "12 tests passing"),
        (PYTEST, "2 tests passing, 1 test failing"),
        (CARGO, "2 tests passing"),
        ("Ran 5 tests in 0.1s\n\nOK\n", "5 tests passing"),
        ("  7 passing (1s)\n  2 failing\n", "7 tests passing, 2 tests failing"),
        ("Build passes all 4 tests.", "4 tests passing"),
        ("Modified 1 file.", "Modified 1 file"),
        ("I fixed the login bug.", "1 error fixed"),
        ("Nothing of note.", ""),
    ],
)
def test_counts(text: str, summary: str) -> None:
    assert extract_work_summary(text) == summary


# covers: S1-50
@pytest.mark.parametrize(
    ("text", "passing"), [(GO, True), (PYTEST, False), ("0 tests passed", False), ("3 passed, 0 failed", True)]
)
def test_passing_needs_a_pass_and_no_failure(text: str, passing: bool) -> None:
    pieces = [piece for piece in analyze_text(text).evidence if piece.signal == "test_run" and piece.weight > 0]
    assert bool(pieces) is passing

import pytest

from ralph.analysis import analyze_text
from ralph.analysis.signatures import error_signature, failure_signature
from ralph.types.output import Failed

ERROR_WORDS = [
    ("An error, another error, and one more error.", 1, 3),
    ("No errors found. 0 failed, 12 passed.", 0, 0),
    ("Ran without any problems.", 0, 0),
    ("I did not find any issues.", 0, 0),
    ("I did not fix the bug.", 1, 1),
    ("I fixed the bug. The error has been resolved.", 0, 0),
    ("The error is not resolved.", 1, 1),
    ("Debug the tissue sample.", 0, 0),
    ("Added error handling and error messages.", 0, 0),
    ("That is not a bug.", 0, 0),
    ('{"error": null, "failed": 0}', 0, 0),
    ("Errors: 0\nFailures: 0", 0, 0),
    ("See issue #12.", 0, 0),
    ("The build fails and two tests crashed.", 1, 2),
    ("## Issues\n\nThe page flickers.\n", 1, 1),
    ("## Issues\n\n", 0, 0),
    ("## Issues\n\nNone.\n", 0, 0),
    ("發生錯誤，測試失敗。", 2, 2),
    ("沒有錯誤。", 0, 0),
]


# covers: S0-57, S0-58
def test_error_words(subtests: pytest.Subtests) -> None:
    for text, count, occurrences in ERROR_WORDS:
        with subtests.test(text=text):
            metrics = analyze_text(text).metrics
            assert (metrics.error_count, metrics.error_occurrences) == (count, occurrences)


# covers: S0-77
def test_a_fatal_error_is_below_the_minimum() -> None:
    analysis = analyze_text("The program ended with a segmentation fault.")
    assert analysis.metrics.level == "below_minimum"


def test_signatures_are_the_same_for_the_same_error() -> None:
    first = analyze_text("I ran it:\n\n```\nTypeError: 'a' at /home/x/one.py:12 (0x7f3a)\n```\n")
    second = analyze_text("Again:\n\n```\nTypeError: 'a' at /tmp/yy/two.py:990 (0x1234)\n```\n")
    assert first.error_signatures == second.error_signatures != ()


def test_normalised_errors_are_short() -> None:
    assert error_signature("ValueError: 'x' is not 17 in C:\\a\\b.py\n") == "valueerror: x is not in path"
    assert len(error_signature("word " * 1000)) <= 120


def test_failures_have_a_signature() -> None:
    assert failure_signature(Failed(failure="unavailable", status=503)) == "failed:unavailable:503"
    assert failure_signature(Failed(failure="crashed")) == "failed:crashed"

from ralph.analysis import analyze_text
from ralph.analysis.stuck import error_signature, failure_signature
from ralph.types.output import Failed


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

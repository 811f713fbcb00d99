"""What is known of one recorded pass, and what follows from not knowing."""

import pytest

from ralph.pipeline.replay import Moves, Pass, failure_of


@pytest.mark.parametrize(
    ("heard", "moved"),
    [
        (Pass(), None),
        (Pass(tools=4), None),
        (Pass(tools=0), False),
        (Pass(tools=0, changes=Moves(files=1)), True),
        (Pass(tools=0, changes=Moves(fingerprint="a")), False),
        (Pass(tools=4, changes=Moves(files=0, commits=0)), False),
        (Pass(tools=4, changes=Moves(files=0)), False),
        (Pass(tools=4, changes=Moves(files=0, commits=1)), True),
        (Pass(tools=4, changes=Moves(commits=0)), None),
        (Pass(changes=Moves(commits=1)), True),
        (Pass(changes=Moves(files=3, commits=0)), True),
        (Pass(changes=Moves(fingerprint="a")), None),
    ],
)
def test_it_moved_something_as_far_as_counts_tell(heard: Pass, moved: bool | None) -> None:
    assert heard.moved is moved


def test_its_turn_has_as_many_tool_calls_and_denials_as_are_told_and_not_more_than_memory_bears() -> None:
    assert (len(Pass(tools=5, denials=2).output.tool_calls), Pass(tools=5, denials=2).output.denials) == (5, 2)
    assert Pass(denials=2).output.denials == 2
    assert Pass(tools=0).output.tool_calls == ()
    assert Pass().output.tool_calls, "it may have changed something"
    many = Pass(tools=10**12, denials=10**12).output
    assert len(many.tool_calls) <= 2_000
    assert many.denials


@pytest.mark.parametrize(("denials", "most_allowed"), [(0, True), (2, True), (8, True), (9, False), (17, False)])
def test_where_nobody_tells_the_number_of_its_tool_calls_it_was_never_busy(denials: int, most_allowed: bool) -> None:
    output = Pass(denials=denials).output
    assert not output.busy
    assert (len(output.tool_calls) > 2 * output.denials) is most_allowed


ERRORS = [
    ("API Error: 429 too many requests", "rate_limited"),
    ("You've hit your session limit · resets 3am", "rate_limited"),
    ("Rate limit reached for requests", "rate_limited"),
    ("Credit balance is too low", "rate_limited"),
    ("本周用量上限已到", "rate_limited"),
    ("Invalid API key · Please run /login", "auth"),
    ("401 authentication_error", "auth"),
    ("529 overloaded_error", "unavailable"),
    ("connect ECONNREFUSED 127.0.0.1:443", "unavailable"),
    ("5-hour limit reached", "rate_limited"),
    ("API Error: 400 input length and `max_tokens` exceed context limit: 199000 + 32000 > 200000", "refused"),
    ("Prompt is too long", "refused"),
    ("the model `o9` does not exist", "refused"),
    ("segmentation fault", "crashed"),
    ("the limit of 20 turns was reached", "crashed"),
    ("x" * 100_000, "crashed"),
]


def test_an_error_is_known_by_its_words(subtests: pytest.Subtests) -> None:
    for error, kind in ERRORS:
        with subtests.test(error=error):
            failure = failure_of(error)
            assert failure.failure == kind
            assert len(failure.message) <= 300

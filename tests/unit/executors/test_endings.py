"""What the end of an agent's program, and the answer of its model's service, mean."""

import pytest

from ralph.executors import how_it_ended, kind_of_status


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((200, "protocol"), (302, "protocol"), (400, "refused"), (401, "auth"), (402, "rate_limited")),
        *((403, "refused"), (404, "refused"), (408, "unavailable"), (409, "unavailable"), (425, "unavailable")),
        *((429, "rate_limited"), (500, "unavailable"), (529, "unavailable")),
    ],
)
def test_a_status_of_the_service_has_a_kind(status: int, kind: str) -> None:
    assert kind_of_status(status) == kind


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "ended with status 0"),
        (3, "ended with status 3"),
        (-9, "was killed by SIGKILL"),
        (-99, "was killed by signal 99"),
        (None, "does not end"),
    ],
)
def test_an_exit_status_in_words(code: int | None, words: str) -> None:
    assert how_it_ended(code) == words

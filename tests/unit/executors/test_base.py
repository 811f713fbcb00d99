from typing import Any

from ralph.executors.base import FellBack, Transcript
from ralph.output import Failed
from ralph.redact import Redactor

KEY = "a-key-of-their-own"
REFUSED = Failed(failure="auth", message=f"Incorrect API key provided: {KEY}.")


def test_a_failures_message_is_masked_in_the_output_and_in_attempts():
    seen: list[Any] = []
    transcript = Transcript(seen.append, Redactor([KEY]))
    transcript.gave_up("one", REFUSED, "two")
    output = transcript.finish(REFUSED)
    assert output.failure is not None
    assert output.failure.message == "Incorrect API key provided: ***."
    assert output.attempts[0].outcome == output.failure
    assert [each.attempt.outcome for each in seen if isinstance(each, FellBack)] == [output.failure]

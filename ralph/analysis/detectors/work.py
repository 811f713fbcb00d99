"""Words that tell of work: done, going on, to come; and replies that are an error and nothing else."""

from collections.abc import Iterable

from ralph.analysis.signals import Reply, Signal
from ralph.analysis.text import Reading

__all__ = ["detect_work"]

_SHORT = 400
"""Characters up to which a reply that opens with an error is nothing but that error."""


def detect_work(reply: Reply) -> Iterable[Signal]:
    """The first words of each kind."""
    if _only_error(reply.reading):
        yield Signal(
            "only_error", "", 0, min(len(reply.reading.text), 200), 0, "It is an error, nothing else.", "error"
        )
    for hit in reply.scope.of("work")[:5]:
        yield Signal.at(hit, "work", 0, "Tells of work.", state="progress")
    for hit in reply.scope.of("more")[:5]:
        yield Signal.at(hit, "more_to_come", 0, "Tells of work to come.", state="progress")


def _only_error(reading: Reading) -> bool:
    text = reading.prose.strip()
    opening = text.startswith(("error:", "api error", "error ", "fatal:", "traceback (most recent"))
    return opening and len(text) <= _SHORT

"""The status block, as the strongest signal that a reply can give."""

from collections.abc import Iterable

from ralph.analysis.signals import Reply, Signal
from ralph.status import StatusMalformed, StatusMissing

__all__ = ["detect_status"]


def detect_status(reply: Reply) -> Iterable[Signal]:
    """What the status block says; its place is one of the whole reply."""
    status = reply.status
    if isinstance(status, StatusMissing):
        return
    if isinstance(status, StatusMalformed):
        why, weight = f"A status block was meant, but {status.problem}.", 0
    elif status.exit_signal is None:
        why, weight = "The status block does not say whether the work is done.", 0
    else:
        why = f"The status block says EXIT_SIGNAL: {str(status.exit_signal).lower()}."
        weight = 100 if status.exit_signal else -100
    yield Signal("exit_signal", "", status.start, status.end, weight, why, "done" if weight > 0 else None)
    word = "" if isinstance(status, StatusMalformed) else (status.status or "").strip().upper()
    if word.startswith("BLOCKED"):
        yield Signal(
            "status_blocked", "BLOCKED", status.start, status.end, -100, "The status block says so.", "blocked"
        )

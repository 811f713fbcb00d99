"""What is said of a fault of Ralph's own: one paragraph, and where the traceback is."""

import os
import sys
import tempfile
import traceback

__all__ = ["explain"]


def explain(error: Exception) -> int:
    """Tells of the error on standard error, and returns the exit code. RALPH_DEBUG=1 shows the traceback there."""
    from ralph.system.redact import Redactor, secret_values
    from ralph.system.text import printable

    mask = Redactor(secret_values(os.environ))
    trace = mask("".join(traceback.format_exception(error)))
    if os.environ.get("RALPH_DEBUG", "") not in {"", "0"}:
        sys.stderr.write(trace)
        return 1
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="ralph-fault-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write(trace)
        place = f"is in {file.name}"
    except OSError as full:
        place = f"could not be saved ({full.strerror})"
    said = " ".join(printable(mask(f"{type(error).__name__}: {error}")).split())[:500].rstrip(".")
    sys.stderr.write(
        f"ralph: This is a fault in Ralph itself: {said}. The traceback {place}; "
        "RALPH_DEBUG=1 shows it here. Please report it.\n"
    )
    return 1

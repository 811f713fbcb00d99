"""English words of errors, and of errors that are gone."""

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["FAULTS"]

FAULTS: Words = {
    "fault": {
        "error": ("error", "errors", "errored", "erroring"),
        "failed": (
            "failed",
            "failed to",
            "fail",
            "fails",
            "fails to",
            "failing",
            "failing to",
            "failure",
            "failures",
            "failed to",
            "fails to",
            "failing to",
            "crash",
            "crashed",
            "crashes",
        ),
        "exception": ("exception", "exceptions", "traceback", "stack trace"),
        "issue": ("issue", "issues"),
        "problem": ("problem", "problems"),
        "bug": ("bug", "bugs", "buggy"),
        "mistake": ("mistake", "mistakes", "mistaken"),
    },
    "fatal": alone(
        *("traceback (most recent call last)", "segmentation fault", "segfault", "core dumped", "out of memory"),
        *("kernel panic", "panic:", "fatal error", "oomkilled", "unrecoverable"),
    ),
    "mended": alone(
        *("fixed", "fixes", "resolved", "resolves", "solved", "addressed", "corrected", "eliminated", "repaired"),
        *("caught", "prevented", "prevents", "avoided", "avoids", "handled", "handles", "cleared", "gone"),
        *("previously", "closed", "closes", "squashed", "mended"),
    ),
    "nothing": alone("none", "nothing", "n/a", "no", "nil"),
    "plain": alone(
        *("error handling", "error handler", "error handlers", "error message", "error messages", "error page"),
        *("error checking", "error boundary", "error boundaries", "error type", "error types", "error class"),
        *("error state", "error states", "error case", "error cases", "error path", "error paths", "error code"),
        *("error codes", "error response", "error responses", "exception handling", "exception handler"),
        *("exception class", "issue tracker", "issue template", "bug tracker", "bug report", "failure mode"),
        *("failure modes", "failed to do so", "problem statement", "issue number", "failed login", "failed logins"),
    ),
}

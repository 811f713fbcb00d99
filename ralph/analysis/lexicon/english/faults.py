"""English words of errors, and of errors that are gone."""

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["FAULTS"]

_RAISED = (
    *("assertion", "attribute", "connection", "import", "index", "key", "modulenotfound", "name", "os", "permission"),
    *("range", "reference", "runtime", "syntax", "timeout", "type", "unicodedecode", "value", "zerodivision"),
    *("filenotfound", "indentation", "recursion", "notimplemented", "lookup", "overflow", "memory"),
)
"""What a program calls the errors that it ends with: "ValueError: …"."""
_NONE = alone("none of", "neither of", "not a single")

FAULTS: Words = {
    "absence": _NONE,
    "negation": _NONE,
    "fault": {
        "error": ("error", "errors", "errored", "erroring", *(f"{kind}error:" for kind in _RAISED)),
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
            "crash",
            "crashed",
            "crashes",
            *("exit code", "exit status", "exited with code", "exited with status", "exited with"),
        ),
        "exception": ("exception", "exceptions", "traceback", "stack trace"),
        "issue": ("issue", "issues"),
        "problem": ("problem", "problems"),
        "bug": ("bug", "bugs", "buggy"),
        "mistake": ("mistake", "mistakes", "mistaken"),
    },
    "fatal": alone(
        *("traceback (most recent call last)", "segmentation fault", "segfault", "core dumped", "out of memory"),
        *("kernel panic", "panic:", "panicked at", "fatal error", "unrecoverable", "oomkilled", "oom killed"),
        *("oom-killed", "killed by oom", "killed by the oom killer", "out-of-memory", "outofmemoryerror"),
    ),
    "mended": alone(
        *("fixed", "fixes", "resolved", "resolves", "solved", "addressed", "corrected", "eliminated", "repaired"),
        *("caught", "prevent", "prevented", "preventing", "prevents", "avoid", "avoided", "avoiding", "avoids"),
        *("handled", "handles", "cleared", "gone", "previously", "closed", "closes", "squashed", "mended"),
    ),
    "nothing": alone("none", "nothing", "n/a", "no", "nil"),
    "plain": alone(
        *("error handling", "error handler", "error handlers", "error message", "error messages", "error page"),
        *("error checking", "error boundary", "error boundaries", "error type", "error types", "error class"),
        *("error state", "error states", "error case", "error cases", "error path", "error paths", "error code"),
        *("error codes", "error response", "error responses", "exception handling", "exception handler"),
        *("exception class", "issue tracker", "issue template", "bug tracker", "bug report", "failure mode"),
        *("error free", "bug free", "with the exception of", "the exception of", "exception to the rule"),
        *("failure modes", "failed to do so", "problem statement", "issue number", "failed login", "failed logins"),
    ),
}

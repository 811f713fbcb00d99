"""English."""

from itertools import product

from ralph.analysis.lexicon.base import Keyword, Lexicon, Words, alone, merged

_TESTS = ("tests", "the tests", "unit tests", "specs", "test cases")
_PASS = (
    "pass",
    "passed",
    "passing",
    "green",
    "are passing",
    "are now passing",
    "are green",
    "now pass",
    "have passed",
    "succeed",
)
_REMAINING = ("remaining", "outstanding", "open")

KEYWORDS = (
    Keyword(text="done", group="done"),
    Keyword(text="complete", forms=("completed",), group="done"),
    Keyword(text="finished", group="done"),
    Keyword(
        text="all tests passing",
        weight="very_high",
        forms=(*(f"all # {tests} {verb}" for tests, verb in product(_TESTS, _PASS)), "tests all pass"),
        points=0,
    ),
    Keyword(
        text="no remaining issues",
        weight="very_high",
        forms=(
            *(f"no {left} {what}" for left, what in product(_REMAINING, ("issues", "problems", "errors"))),
            "no issues remain",
            "no issues remaining",
        ),
        points=0,
    ),
    Keyword(text="ready for review", forms=("ready for code review", "ready for your review"), group="ready"),
    Keyword(
        text="no more work",
        forms=(
            "no further work",
            "no remaining work",
            "no work remains",
            "no remaining tasks",
            "no open tasks",
            "nothing left to do",
            "nothing more to do",
            "nothing else to do",
            "nothing remains to be done",
        ),
        group="no_more_work",
        points=15,
    ),
)

_COMPLETION: Words = {
    "success": alone("success"),
    "negation": alone(
        *("no", "not", "0", "zero", "never", "none", "nothing", "neither", "nor", "without", "cannot", "isn't"),
        *("aren't", "wasn't", "weren't", "hasn't", "haven't", "hadn't", "don't", "doesn't", "didn't", "can't"),
        *(
            "couldn't",
            "won't",
            "wouldn't",
            "shouldn't",
            "not yet",
            "yet to",
            "no longer",
        ),
        *("far from", "instead of", "rather than", "not fully", "not completely"),
    ),
    "absence": alone("no", "0", "zero", "without", "free of", "no longer", "never", "any more"),
    "contrast": alone("but", "however", "except", "although", "though", "unfortunately"),
    "qualifier": alone(
        *("still", "remain", "remains", "remaining", "failing", "fails", "todo", "todos", "partial", "partially"),
        *("partly", "almost", "nearly", "mostly", "not yet", "yet to", "pending", "in progress", "unfinished"),
        *("incomplete", "wip", "broken", "left to do", "to go", "blocked", "outstanding", "halfway", "so far"),
        *("apart from", "other than", "needs work"),
    ),
    "future": alone(
        *("will", "would", "shall", "should", "must", "going to", "to be", "to get", "to complete", "to finish"),
        *("need to", "needs to", "have to", "has to", "plan to", "want to", "trying to", "try to", "aim to"),
        *("once", "when", "if", "until", "till", "unless", "before", "after", "whether", "as soon as"),
        *("i'll", "we'll", "it'll", "let me", "let's", "can be", "could be", "may be", "might be", "mark as"),
        *(
            "failed to",
            "fails to",
            "unable to",
            "failing to",
            "not able to",
            "couldn't get",
            "consider",
            "considered",
            "definition of",
            "criteria for",
            "reply",
            "respond with",
            "say",
        ),
    ),
    "more": alone(
        *("next task", "next step", "next steps", "next phase", "next story", "next up", "next iteration"),
        *("moving on to", "move on to", "next i", "next we", "remaining tasks", "remaining work", "still to do"),
    ),
    "plain": alone(
        *("not only", "but also", "nothing but", "all remaining", "previously failing", "still pass"),
        *("still passes", "still passing", "still work", "still works", "still green", "still succeed"),
        *("no problem", "done by", "well done", "complete list", "complete the", "complete this", "complete all"),
        *("complete these", "complete it", "complete with", "a complete", "the complete", "how it is done"),
        *("successfully", "complete guide", "task complete when", "if any", "what was done", "what's done"),
    ),
    "progress": {
        "progress": ("progress",),
        "complete": ("complete", "completed", "completion"),
        "done": ("done",),
        "finished": ("finished",),
        "of it": ("of it", "of the work", "of the task", "of the tasks", "of the feature", "of the project"),
        "through": ("implemented", "way through"),
    },
    "unrelated": alone(
        *("coverage", "covered", "cpu", "memory", "ram", "disk", "gpu", "faster", "slower", "smaller", "larger"),
        *("quicker", "speedup", "confidence", "confident", "sure", "certain", "accuracy", "accurate", "precision"),
        *("recall", "threshold", "discount", "battery", "opacity", "width", "height", "zoom", "utilization"),
        *("utilisation", "latency", "usage", "reduction", "improvement", "increase", "decrease", "error rate"),
        *("hit rate", "sampling", "probability", "tax", "fee"),
    ),
    "work": alone(
        *("added", "adds", "created", "implemented", "modified", "updated", "changed", "wrote", "written", "fixed"),
        *("refactored", "removed", "renamed", "moved", "replaced", "resolved", "introduced", "extended", "committed"),
        *("rewrote", "deleted", "installed", "configured", "migrated", "merged", "built", "converted", "extracted"),
    ),
}

_CERTAINTY: Words = {
    "certain": alone("confident", "sure", "certainly", "absolutely"),
    "likely": alone("likely", "probably"),
    "unsure": alone(
        *("unsure", "uncertain", "unclear", "not certain", "not clear", "don't know", "do not know", "no idea"),
        *("not confident", "not sure", "unconfident", "doesn't know", "can't tell", "cannot tell", "unlikely"),
    ),
    "hedge": {
        "might": ("might", "might be"),
        "could": ("could", "could be"),
        **alone("maybe", "approximately", "roughly", "basically", "i think", "perhaps"),
        "doubt": ("doubt", "doubts", "doubtful"),
    },
    "certainty": {
        **alone("definitely", "certainly", "absolutely", "undoubtedly", "assured", "guaranteed"),
        "without doubt": ("without doubt", "without a doubt", "without any doubt", "no doubt", "beyond doubt"),
    },
    "plain": alone(
        *("make sure", "makes sure", "making sure", "made sure", "be sure to", "to be sure", "could not"),
        *("most likely to",),
    ),
    "lost": alone(
        *("not sure what to do", "don't know what to do", "do not know what to do", "no idea what to do"),
        *("not sure how to proceed", "don't know how to proceed", "unsure what to do", "unsure how to proceed"),
        *("not sure where to start", "don't know where to start", "not sure how to continue"),
    ),
}

_FAULTS: Words = {
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

_TALK: Words = {
    "blocked": alone(
        *("i am blocked", "i'm blocked", "we are blocked", "i remain blocked", "i am still blocked"),
        *("i'm still blocked", "cannot proceed", "can't proceed", "cannot continue", "can't continue"),
        *("unable to proceed", "unable to continue", "waiting for you", "waiting for your", "waiting on you"),
        *("need your approval", "needs your approval", "requires your approval", "need your permission"),
        *("i need permission", "i need access", "i need credentials", "approval is required before"),
    ),
    "person": alone(
        *("you", "your", "shall i", "should i", "should we", "shall we", "do i", "may i", "can i", "could i"),
        *("which", "what", "how", "where", "who", "when", "ok to", "okay to"),
    ),
    "plea": alone(
        *("let me know", "please tell me", "please confirm", "please advise", "please clarify", "please choose"),
        *("please decide", "please specify", "tell me which", "your call", "up to you", "awaiting your"),
    ),
    "pleading": alone(
        *("please tell me", "please confirm", "please advise", "please clarify", "please choose", "please decide"),
        *("please specify", "tell me which", "awaiting your"),
    ),
    "offer": alone(
        *("anything else", "would you like me to", "do you want me to", "want me to", "shall i also"),
        *("should i also", "any questions", "is there anything", "would you like to"),
    ),
}

ENGLISH = Lexicon(language="en", keywords=KEYWORDS, words=merged(_COMPLETION, _CERTAINTY, _FAULTS, _TALK))

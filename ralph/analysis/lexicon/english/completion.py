"""English words of completion: keywords, and what speaks against them."""

from itertools import product

from ralph.analysis.lexicon.base import Keyword, Words, alone

__all__ = ["COMPLETION", "KEYWORDS"]

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
    Keyword(text="complete", forms=("completed", "feature-complete", "feature complete"), group="done"),
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
    Keyword(
        text="ready for review",
        forms=(
            *("ready for code review", "ready for your review", "ready to merge", "ready to be merged"),
            *("ready for merge",),
            *("ready to ship", "ready to be shipped"),
        ),
        group="ready",
    ),
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

COMPLETION: Words = {
    "success": alone("success"),
    "negation": alone(
        *("no", "not", "0", "zero", "never", "none", "nothing", "neither", "nor", "without", "cannot", "isn't"),
        *("aren't", "wasn't", "weren't", "hasn't", "haven't", "hadn't", "don't", "doesn't", "didn't", "can't"),
        *("couldn't", "won't", "wouldn't", "shouldn't", "not yet", "yet to", "no longer"),
        *("far from", "instead of", "rather than", "not fully", "not completely"),
    ),
    "absence": alone("no", "0", "zero", "without", "free of", "no longer", "never", "any more"),
    "contrast": alone("but", "however", "except", "although", "though", "unfortunately"),
    "qualifier": alone(
        *("still", "remain", "remains", "remaining", "failing", "fails", "todo", "todos", "partial", "partially"),
        *("partly", "almost", "nearly", "mostly", "not yet", "yet to", "pending", "in progress", "unfinished"),
        *("incomplete", "wip", "broken", "left to do", "to go", "blocked", "outstanding", "halfway", "so far"),
        *("for the time being", "for the moment"),
        *("apart from", "other than", "needs work", "half done", "half finished", "half complete", "half-done"),
    ),
    "future": alone(
        *("will", "would", "shall", "should", "must", "going to", "to be", "to get", "to complete", "to finish"),
        *("need to", "needs to", "have to", "has to", "plan to", "want to", "trying to", "try to", "aim to"),
        *("once", "when", "if", "until", "till", "unless", "before", "after", "whether", "as soon as"),
        *("hopefully", "presumably", "supposed to"),
        *("i'll", "we'll", "it'll", "let me", "let's", "can be", "could be", "may be", "might be", "mark as"),
        *("failed to", "fails to", "unable to", "failing to", "not able to", "couldn't get", "consider"),
        *("considered", "definition of", "criteria for", "reply", "respond with", "say"),
    ),
    "more": alone(
        *("next task", "next step", "next steps", "next phase", "next story", "next up", "next iteration"),
        *("moving on to", "move on to", "next i", "next we", "remaining tasks", "remaining work", "still to do"),
    ),
    "plain": alone(
        *("not only", "but also", "nothing but", "all remaining", "previously failing", "still pass"),
        *("still passes", "still valid", "still supported", "still accepted", "still available", "remaining tests"),
        *("still passing", "still work", "still works", "still green", "still succeed"),
        *("no problem", "done by", "done via", "done through", "done on", "done per", "well done", "complete list"),
        *("complete the", "complete this", "complete all"),
        *("complete these", "complete it", "a complete", "the complete", "how it is done"),
        *("successfully", "complete guide", "task complete when", "if any", "what was done", "what's done"),
        *("what i've done", "what i have done", "what has been done", "what was completed", "work completed"),
        *("completed work", "definition of done"),
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

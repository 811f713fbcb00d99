"""English words of plain statements: that the whole is finished, and how it is known."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["STATEMENTS"]

_CHANGED = (
    *("added", "created", "implemented", "updated", "fixed", "moved", "replaced", "removed", "renamed", "split"),
    *("extracted", "introduced", "bumped", "switched", "converted", "migrated", "rewrote", "dropped", "wired"),
    *("built", "wrote", "refactored", "deleted", "extended", "reworked", "applied", "separated", "merged", "set"),
    *("exposed", "enabled", "disabled", "documented", "cleaned up", "simplified", "adapted", "ported", "upgraded"),
    *("translated", "published", "registered", "integrated", "resolved", "corrected", "adjusted", "tightened"),
)
_OF_CODE = ("retry", "event", "infinite", "for", "while", "main", "inner", "outer", "game", "render", "polling")
_NEXT = ("story", "task", "feature", "step", "item", "milestone", "component", "endpoint", "thing", "piece", "part")
_EVENTS = (
    *("entry", "boot", "startup", "start-up", "demand", "load", "launch", "login", "first", "every", "each", "click"),
    *("connect", "reconnect", "mount", "request", "power-up", "wake-up", "activation", "change", "save", "open"),
)

STATEMENTS: Words = {
    "whole": alone(
        *("task", "project", "migration", "refactor", "refactoring", "assignment", "upgrade", "rewrite", "port", "prd"),
        *("the job", "this job", "goal", "target"),
        *("work on", "work for", "conversion", "translation", "epic", "clean-up", "cleanup", "rework", "overhaul"),
        *("redesign", "rollout"),
    ),
    "piece": alone(
        *("feature", "story", "user story", "issue", "implementation", "integration", "change request", "fix"),
        *("specification", "spec"),
    ),
    "trouble": alone(
        *("leak", "crash", "bug", "race", "race condition", "deadlock", "error", "problem", "regression", "failure"),
        *("flakiness", "infinite loop", "defect", "vulnerability", "slowdown", "bottleneck", "warning", "warnings"),
    ),
    "member": alone("item", "box", "checkbox", "step", "phase", "milestone", "point", "todo", "subtask", "deliverable"),
    "stands": {
        "gone": ("gone", "eliminated", "cured"),
        "reached": ("reached", "hit"),
        "in place": ("is in.", "are in.", "is in:", "is in now", "live", "merged"),
    },
    "changed": alone(
        *_CHANGED,
        "deployed",
        "released",
        "shipped",
        "pushed",
        "rolled out",
        "installed",
        "set up",
        "all set",
        "all sorted",
    ),
    "news": alone(
        *("now", "is now", "are now", "no longer", "out of the dependency tree", "is written", "are written"),
        *("is working", "are working", "is operational", "is usable", "is playable", "works for"),
        *("works on", "works with", "works without", "work for", "is up and running", "went out"),
        *("is stable", "are stable", "works again", "work again", "runs again", "builds again", "compiles again"),
    ),
    "regarded": alone(
        *("see", "changed", "edited", "modified", "touched", "played", "looked", "checked", "started", "tried"),
        *("attempted", "reviewed", "analyzed", "analysed", "investigated"),
        *("explored", "inspected", "noticed", "needed", "wanted", "searched", "confirmed", "verified", "opened"),
        *("listed",),
        *("planned", "examined", "identified", "failed", "blocked", "stopped", "paused", "skipped", "asked", "based"),
        *("continued", "limited", "received", "reached", "exceeded", "expected", "unexpected", "related", "required"),
        *("discussed", "proposed", "considered", "compared", "tested", "reproduced", "profiled", "measured", "learned"),
        *("completed", "finished", "reverted", "worked", "indeed", "need", "detailed", "retried", "re-checked"),
        *("waited",),
        *("rechecked", "monitored", "queued", "scheduled", "debugged", "traced", "narrowed", "isolated", "suspected"),
    ),
    "cause": alone(
        *("root cause", "the cause", "cause:", "caused by", "came from", "comes from", "was due to", "reason:"),
        *("the reason was", "the culprit", "because", "the bug was", "the problem was", "the issue was"),
    ),
    "pieced": alone(
        *("loop", "iteration", "phase", "phases", "milestone", "milestones", "sprint", "backlog", "fix plan"),
        *(f"{which} next {piece}" for which, piece in product(("the", "my", "this"), _NEXT)),
        *("the plan", "so far", "fix plan.md", "prd.json", "@fix plan.md", "first step", "for now", "todo.md"),
        *("checkpoint:", "checkpoint."),
        *("approval", "approve", "permission", "failing tests", "failing test"),
    ),
    "last": alone(
        *(
            f"was the {last} {piece}"
            for last, piece in product(
                ("last", "final", "last open", "last unchecked", "last remaining"),
                ("one", "task", "item", "story", "step", "box"),
            )
        ),
    ),
    "proof": alone(
        *("asserts this", "asserts it", "assert this", "covers it", "cover it", "covers this", "cover this"),
        *("covers the case", "regression", "reproduces", "used to"),
    ),
    "plain": alone(
        *("that is left", "that are left", "which is left", "which are left", "whatever is left"),
        *("which let me", "that let me", "which lets me", "that lets me"),
        *(f"{are} built {from_}" for are, from_ in product(("is", "are"), ("from", "with", "on", "by"))),
        *("i can follow", "you can follow", "users can follow", "one can follow"),
        *("this next:", "it next:", "here next:", "them next:"),
        *(f"{kind} {loop}" for kind, loop in product(_OF_CODE, ("loop", "loops"))),
    ),
    "part": alone("a failing test", "failing test for", "failing tests for"),
    "proviso": alone("before my change", "before the change", "before i", "before we", "before that"),
    "following": alone("come later", "comes later", "will follow", "are to follow"),
    "optional": alone("is left to", "are left to", "is left out", "are left out", "is left as", "are left as"),
    "yet": alone("yet"),
    "persisting": alone(
        "is untouched",
        "are untouched",
        "still have",
        "is still",
        "are still",
        "still use",
        "still uses",
        "still need",
        "still fail",
        "remain",
    ),
    "described": alone(
        *("if", "when", "whenever", "while a", "while an", "is part of", "are part of", "how many", "how much"),
        *("whether", "shows", "show"),
        *("displays", "display", "lists", "says", "explains", "explain", "prints", "returns", "reports", "users can"),
        *("user can", "you can see", "reads", "marks", "mark them", "filter by", "named", "called", "labelled", "e.g"),
        *(
            "such as",
            "where",
            "whose",
            "that are",
            "which are",
            "so that a",
            "did most of",
            "raises",
            "rejects",
            "handles",
        ),
        *("handle", "answers", "on every", "in case of"),
        *(f"started on {event}" for event in _EVENTS),
        *(
            f"still {goes} {through}"
            for goes, through in product(("happens", "occurs"), ("through", "via", "as before"))
        ),
    ),
    "wanted": alone(
        *("goal", "goals", "the goal", "criterion", "criteria", "requires", "required", "requirement", "expected"),
        *("asks for", "asked for", "said", "says", "definition of done", "expectation", "should be", "wants"),
        *("wanted", "target", "instructions", "aim", "is to"),
    ),
    "verified": alone(
        *("exits 0", "exit 0", "exited 0", "exits with 0", "exit code 0", "all pass", "all passing", "all passed"),
        *("all of which pass", "all of them pass", "all succeed", "all succeeded", "both pass", "both passed"),
        *("both succeeded", "both commands succeeded", "pass now", "passes now", "now pass", "now passes"),
        *("before and pass now", "before and passes now"),
        *("before and pass with it", "before the fix and pass", "before the fix and passes", "match now"),
        *("matches now",),
        *("i ran it", "ran it on", "ran it against", "tried with", "tried on", "tried it", "has been silent"),
        *("ran it twice",),
        *("was executed", "were executed", "contract tests cover", "tests cover", "installs from", "checked with"),
        *("i verified", "i confirmed", "i tested", "i checked", "i compared", "i tried it", "checked in", "checked on"),
        *("tested on", "tested against", "verified on", "confirmed with", "confirmed in", "covered by", "validates"),
        *("suites green", "0 violations", "no violations", "both succeed", "build successful"),
        *("updated and passing", "no diff", "without a diff", "validated with", "validated against"),
        *("no offenses", "no offences", "no regressions", "no differences", "no difference", "no findings", "no leaks"),
        *("without warnings", "without errors", "without a failure", "no type errors", "no lint errors", "0 broken"),
        *("0 failures", "0 errors", "0 failed", "0 warnings", "zero warnings", "tests green", "tests are green"),
        *("suite green", "suite is green", "ci green", "and green"),
        *("without a single failure", "without any failure", "no failed", "which pass", "which passes"),
        *("which all pass",),
        *("is quiet", "are quiet", "is silent", "identical results"),
        *("same results", "same result", "the same output"),
    ),
}

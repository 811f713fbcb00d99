"""English words of plain statements: that the whole is finished, that something is not, and how it is known."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["STATEMENTS"]

_COUNTED = ("thing", "item", "task", "step", "story", "box", "issue", "point", "piece", "test", "service")
_IS = ("is", "are")
_NOT_TICKED = ("open", "unticked", "unchecked", "unfinished", "incomplete")
_UNDONE = ("closed", "merged", "released", "called done", "called finished", "ticked", "checked off", "marked as done")
_CHANGED = (
    *("added", "created", "implemented", "updated", "fixed", "moved", "replaced", "removed", "renamed", "split"),
    *("extracted", "introduced", "bumped", "switched", "converted", "migrated", "rewrote", "dropped", "wired"),
    *("built", "wrote", "refactored", "deleted", "extended", "reworked", "applied", "separated", "merged", "set"),
    *("exposed", "enabled", "disabled", "documented", "cleaned up", "simplified", "adapted", "ported", "upgraded"),
    *("translated", "published", "registered", "integrated", "resolved", "corrected", "adjusted", "tightened"),
)

STATEMENTS: Words = {
    "whole": alone(
        *("task", "project", "migration", "refactor", "refactoring", "assignment", "upgrade", "rewrite", "port", "prd"),
        *("the job", "this job"),
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
        "in place": ("is in.", "are in.", "is in:", "is in now", "live", "merged"),
    },
    "changed": alone(*_CHANGED),
    "news": alone(
        *("now", "is now", "are now", "no longer", "out of the dependency tree", "is written", "are written"),
        *("is stable", "are stable", "works again", "work again", "runs again", "builds again", "compiles again"),
    ),
    "cause": alone(
        *("root cause", "the cause", "cause:", "caused by", "came from", "comes from", "was due to", "reason:"),
        *("the reason was", "the culprit", "because", "the bug was", "the problem was", "the issue was"),
    ),
    "pieced": alone(
        *("loop", "iteration", "phase", "phases", "milestone", "milestones", "sprint", "backlog", "fix plan"),
        *("the plan", "so far", "fix plan.md", "prd.json", "@fix plan.md", "first step", "next", "for now", "todo.md"),
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
    "unfinished": alone(
        *(f"{piece} {left}" for piece, left in product(_COUNTED, ("is left", "is missing", "is open", "remains"))),
        *(f"{piece}s {left}" for piece, left in product(_COUNTED, ("are left", "are missing", "are open"))),
        *("is left", "are left", "remains to be done", "remains to be written", "remain to be done", "still to do"),
        *("is missing", "are missing", "is pending", "are pending", "has to follow", "have to follow", "should follow"),
        *("more stories", "more tasks", "more items", "more phases", "items remain", "tasks remain", "stories remain"),
        *("still to be done", "still to be written", "still to come", "is still missing", "are still missing"),
        *("still needs to be", "still need to be", "not started", "not been started", "haven't started"),
        *(
            "have not started",
            "not begun",
            "half written",
            "half-written",
            "half finished",
            "half-finished",
            "half done",
        ),
        *(f"{cannot} be {closed}" for cannot, closed in product(("can't", "cannot", "can not", "must not"), _UNDONE)),
        *("is a stub", "are stubs", "is stubbed", "are stubbed", "only a stub", "still a stub", "does nothing yet"),
        *(
            "not fixed",
            "not fixed yet",
            "not yet fixed",
            "not finished yet",
            "not done yet",
            "not complete yet",
            "not implemented yet",
            "not written yet",
        ),
        *("isn't finished", "isn't done", "isn't implemented", "aren't implemented", "is not implemented"),
        *("are not implemented", "not yet implemented", "not yet written", "not yet migrated", "not yet started"),
        *("not yet done", "not yet finished", "not yet complete", "not yet wired", "not yet connected", "yet to be"),
        *("i have not tried", "i haven't tried", "have not tested", "haven't tested", "have not verified"),
        *("haven't verified", "not tested yet", "not yet tested", "not verified yet", "untested", "unverified"),
        *("more work is needed", "needs more work", "only the first is", "work in progress"),
        *("is still open", "are still open", "is still failing", "are still failing", "is still red", "are still red"),
        *(
            f"{what} {stays} {open_}"
            for what, stays, open_ in product(
                ("story", "task", "box", "item", "issue", "ticket", "it"), ("stays", "remains"), _NOT_TICKED
            )
        ),
        *("did not tick", "didn't tick", "not ticked", "did not mark", "didn't mark", "not marked", "left unticked"),
        *("leave it unticked", "left it unticked", "left it open", "leave it open", "keep it open", "kept it open"),
        *("still on the list", "haven't decided", "have not decided", "is not there yet", "are not there yet"),
    ),
    "part": alone("a failing test", "failing test for", "failing tests for"),
    "proviso": alone("before my change", "before the change", "before i", "before we", "before that"),
    "following": alone("come later", "comes later", "will follow", "are to follow"),
    "optional": alone("is left to", "are left to", "is left out", "are left out", "is left as", "are left as"),
    "yet": alone("yet"),
    "persisting": alone("is still", "are still", "still use", "still uses", "still need", "still fail", "remain"),
    "described": alone(
        *(
            "if",
            "when",
            "whenever",
            "while a",
            "while an",
            "is part of",
            "are part of",
            "how many",
            "how much",
            "whether",
            "shows",
            "show",
        ),
        *("displays", "display", "lists", "says", "explains", "explain", "prints", "returns", "reports", "users can"),
        *("user can", "you can see", "reads", "marks", "mark them", "filter by", "named", "called", "labelled", "e.g"),
        *(
            "such as",
            "where",
            "whose",
            "that are",
            "which are",
            "so that a",
            "raises",
            "rejects",
            "handles",
            "handle",
            "answers",
            "on every",
            "in case of",
        ),
    ),
    "wanted": alone(
        *("goal", "goals", "the goal", "criterion", "criteria", "requires", "required", "requirement", "expected"),
        *("asks for", "asked for", "said", "says", "definition of done", "expectation", "should be", "wants"),
        *("wanted", "target", "instructions", "aim"),
    ),
    "verified": alone(
        *("exits 0", "exit 0", "exited 0", "exits with 0", "exit code 0", "all pass", "all passing", "all passed"),
        *("all of which pass", "all of them pass", "all succeed", "all succeeded", "both pass", "both passed"),
        *(
            "both succeeded",
            "both commands succeeded",
            "pass now",
            "passes now",
            "now pass",
            "now passes",
            "before and pass now",
            "before and passes now",
        ),
        *(
            "before and pass with it",
            "before the fix and pass",
            "before the fix and passes",
            "match now",
            "matches now",
        ),
        *("no offenses", "no offences", "no regressions", "no differences", "no difference", "no findings", "no leaks"),
        *("without warnings", "without errors", "without a failure", "no type errors", "no lint errors", "0 broken"),
        *("0 failures", "0 errors", "0 failed", "0 warnings", "zero warnings", "tests green", "tests are green"),
        *("suite green", "suite is green", "ci green", "and green"),
        *(
            "without a single failure",
            "without any failure",
            "no failed",
            "which pass",
            "which passes",
            "which all pass",
        ),
        *("is quiet", "are quiet", "is silent", "identical results"),
        *("same results", "same result", "the same output"),
    ),
}

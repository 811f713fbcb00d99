"""English words of claims: who says that what is finished, what is left, and what comes next."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["CLAIMS"]

_ACHIEVED = (
    *("implemented", "fixed", "resolved", "built", "delivered", "refactored", "migrated", "ported", "shipped"),
    *("solved", "addressed", "rewrote", "rewritten", "reworked", "redesigned", "converted", "integrated", "upgraded"),
    *("replaced",),
    *("fixes", "closes", "resolves", "wired up", "hooked up", "wrapped up", "corrected", "closed", "accomplished"),
    *("repaired",),
)
_OPEN = ("unchecked", "open", "remaining", "outstanding", "pending", "unfinished", "incomplete", "unticked")
_PIECES = ("items", "tasks", "work", "todos", "boxes", "checkboxes", "stories", "steps", "work items", "action items")
_NONE = ("no", "zero", "0")
_PIECE = (
    "bug",
    "issue",
    "task",
    "story",
    "item",
    "requirement",
    "criterion",
    "feature",
    "test",
    "step",
    "problem",
    "two",
    "milestone",
    "phase",
)
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_CHANGES = ("changes", "further changes", "code changes", "action", "further action", "work", "further work")
_ARE = ("", " is", " are", " was", " were")
_RUNNING = (
    *("running", "rerunning", "re-running", "updating", "adding", "checking", "tightening", "applying", "doing"),
    *("trying", "going", "starting", "creating", "writing", "implementing", "fixing", "testing", "verifying"),
    *("moving", "continuing", "proceeding", "looking", "investigating", "recording", "documenting", "replacing"),
    *("making", "installing", "cleaning", "removing", "wiring", "building", "reading", "taking", "switching"),
)
_ACTS = (
    *("let me", "let's", "let us", "i'll", "i will", "we'll", "we will", "i am going to", "i'm going to", "i plan to"),
    *("i need to", "i now need to", "now i need", "we need to", "i should", "we should", "i have to", "i must"),
    *("i still need to", "i still have to", "now i can", "next i", "i want to", "i can now", "i'm about to"),
    *("i am about to", "i'm now", "i am now", "time to", "it's time to", "next,"),
)
_GOING_ON = ("continuing with", "now on to", "on to the next", "moving on to", "picking up", "i'd tackle")
_ACTING = tuple(f"{who} {verb}" for who, verb in product(("i'm", "i am", "now"), _RUNNING))
_COMMANDS = (
    *("update", "add", "create", "write", "fix", "check", "implement", "commit", "verify", "wire", "remove", "replace"),
    *("install", "move", "refactor", "build", "register", "import", "extend", "rewrite", "rename", "document"),
    *("review",),
)
_FOLLOWING = (
    *("next:", "next task", "next story", "next phase", "next up", "next iteration", "next loop", "next item"),
    *("next pass",),
    *("next session", "next milestone", "next is", "is up next", "are up next", "come after it", "next sprint"),
    *("next priority", "the next one"),
    *("is next", "are next", "comes next", "come next", "moving on to", "move on to", "proceed to", "continue with"),
    *("continuing with",),
)
_REMAINING = tuple(
    f"{what} {left}" for what, left in product(("tasks", "items", "stories"), ("remaining", "remain", "left"))
)
_PROVISOS = ("after approval", "after you", "when approved", "should you", "in case")

CLAIMS: Words = {
    "all": alone(
        *("all", "every", "each", "both", "all remaining", "all of the remaining", "all existing"),
        *(f"the {number}" for number in _NUMBERS),
    ),
    "everything": alone(
        *("everything", "the whole thing", "the entire project", "the entire task", "everything on your list"),
        *(f"{all_} you {asked}" for all_, asked in product(("everything", "all"), ("asked for", "listed", "wanted"))),
        *(f"everything the {task} asks for" for task in ("ticket", "issue", "task", "story", "brief")),
    ),
    "goal": alone(
        *("task", "tasks", "project", "feature", "features", "story", "stories", "user stories", "user story"),
        *("implementation", "work", "acceptance criteria", "acceptance criterion", "success criteria", "criteria"),
        *("definition of done", "requirement", "requirements", "deliverables", "objectives", "goals", "milestones"),
        *("steps", "phases", "todos", "items", "checklist", "checkboxes", "boxes", "subtasks", "sub-tasks", "spec"),
        *("specification", "issue", "issues", "ticket", "tickets", "bug", "migration", "refactoring", "refactor"),
        *("integration", "plan", "features and fixes", "prd", "functionality", "changes", "fixes", "checks", "parts"),
        *("components", "modules", "endpoints", "quality gates", "gates", "assignment", "request", "job", "points"),
        *("findings", "defects", "bugs", "crashes", "comments", "remarks", "brief", "complaints", "wishes"),
    ),
    "closed": {
        "met": ("met", "meet", "meets", "satisfied", "satisfy", "satisfies", "fulfilled", "fulfills", "fulfil"),
        "implemented": ("implemented", "delivered", "built", "shipped"),
        "resolved": ("addressed", "resolved", "fixed", "closed", "handled"),
        "checked off": ("checked", "checked off", "ticked", "ticked off", "crossed off"),
        "in place": ("in place",),
        "covered": (
            "covered",
            "accomplished",
            "achieved",
            "verified",
            "made",
            "applied",
            "carried out",
            "executed",
            "performed",
        ),
        "passing": ("pass", "passes", "passed", "passing", "green"),
    },
    "nothing left": alone(
        *(f"{none} {left} {pieces}" for none, left, pieces in product(_NONE, _OPEN, _PIECES)),
        *(f"{none} {pieces} {left}" for none, left, pieces in product(_NONE, ("left", "remaining", "remain"), _PIECES)),
        *("nothing left to do", "nothing more to do", "nothing else to do", "nothing further to do", "nothing to do"),
        *("nothing left to implement", "nothing remains", "nothing remains to be done", "nothing is left"),
        *("there is nothing left", "nothing is missing", "no work left", "no work remains", "no more work"),
        *("no further work", "no remaining work", "no more tasks", "no more items", "no more stories"),
        *("nothing to add", "no further loops", "no further iterations", "no more loops", "no more iterations"),
        *("exit condition is met", "exit condition is fulfilled", "fulfils the exit condition"),
        *("meets the exit condition", "satisfies the exit condition"),
    ),
    "needless": alone(
        *(
            f"no {what}{are} {needed}"
            for what, are, needed in product(_CHANGES, _ARE, ("needed", "required", "necessary"))
        ),
        *("nothing needs to be done", "nothing needed to be done", "nothing more is needed", "nothing else is needed"),
    ),
    "achieve": alone(*_ACHIEVED),
    "agent": alone("i've", "i have", "we've", "we have", "successfully", "has successfully", "have successfully"),
    "passive": alone("has been", "have been", "is now", "are now", "is fully", "are fully", "been", "already", "fully"),
    "outright": alone("successfully", "has successfully", "have successfully"),
    "yours": alone("your"),
    "part": alone(
        *("this loop", "this loop's", "loop's", "this iteration", "this iteration's", "this pass", "this round"),
        *("this turn", "this cycle", "for today", "for tonight", "current loop", "current iteration", "one task"),
        *("one item", "one story"),
        *("sub-task", "subtask", "first half", "first part", "half of", "part of", "parts of", "some of", "most of"),
        *("for now", "the core of", "a first version", "initial version", "groundwork", "scaffolding", "a subset"),
        *("proof of concept", "the infrastructure for", "the foundation for", "the first step", "several of"),
        *(f"{which} {piece}" for which, piece in product(("first", "second", "third", "fourth"), _PIECE)),
        *("from fix plan.md", "from @fix plan.md", "from the fix plan", "from the plan", "from the list"),
        *("from todo.md",),
        *("from the backlog", "from prd.json", "from the prd"),
        *("highest priority", "highest-priority", "top priority", "top-priority", "one item", "next item on"),
        *("the basics", "the easy part", "a prototype", "one of the", "two of the", "three of the", "four of the"),
    ),
    "preparation": alone(
        *("analysis", "exploration", "planning", "plan", "investigation", "research", "design document", "task list"),
        *("groundwork", "reading", "exploring", "analyzing", "analysing", "reviewing", "investigating", "researching"),
        *("looking", "searching", "discovery", "survey", "assessment", "diagnosis", "download", "brainstorming"),
    ),
    "stage": alone(
        *("phase", "phases", "step", "steps", "stage", "stages", "part", "parts", "iteration", "iterations"),
        *("milestone", "milestones", "sprint", "batch", "wave", "round", "loop", "pass", "increment"),
    ),
    "proviso": alone(
        *("once", "if", "unless", "until", "as soon as", "assuming", "provided that", "pending", "subject to"),
        *("nothing to do without", "nothing left to do without", "nothing more to do without"),
        *_PROVISOS,
    ),
    "reported": alone(
        *("you said", "you mentioned", "you asked", "you told me", "the user said", "the user says", "claims that"),
        *("claimed that", "claims the", "claimed the", "claims to", "supposedly", "allegedly", "ostensibly"),
        *("claimed it", "the log says", "the log said", "the plan said", "reported that", "claiming", "for example"),
        *("the readme says", "the issue says", "the previous agent", "the prompt says", "example:"),
    ),
    "act": alone(*_ACTS, *_ACTING, *_GOING_ON, *(f"now {verb}" for verb in _COMMANDS)),
    "closer": alone(
        *("summary", "summarize", "summarise", "recap", "overview", "status report", "final report", "submit"),
        *("conclude", "wrap up", "final output", "final answer", "note that", "mention", "point out", "stop here"),
        *("wait for", "wait until", "leave it", "leave the", "happy to", "glad to", "be here", "be available"),
        *("let me know", "complete the task", "finish the task", "mark the task", "mark this", "mark it", "notify"),
        *("explain",),
        *("highlight", "list what", "walk"),
    ),
    "recap": alone(
        *("summary", "in summary", "to summarize", "here's what", "here is what", "what was done", "what's done"),
        *("what was implemented", "what was built", "what was delivered", "what was accomplished"),
        *("what was completed",),
        *("what i did", "what i've done", "what i have done", "what i changed", "what changed", "what's in place"),
        *("what i implemented", "what i built", "what was changed", "what was fixed", "what has been done"),
        *("changes made", "files modified", "files changed", "files created", "created files", "modified files"),
        *("key changes", "main changes", "key features", "implementation details", "implementation summary"),
        *("changes:", "changed:", "the changes", "deliverables", "verification", "validation", "updated:", "added:"),
        *("modified:", "testing:", "what was added", "implemented files", "highlights"),
        *("implemented features", "features implemented", "recap", "overview of changes", "it includes"),
    ),
    "verified": alone(
        *("compiles cleanly", "passes cleanly", "pass cleanly", "builds cleanly", "passed cleanly", "compiles"),
        *("all green",),
        *("build successful", "compilation successful", "builds successfully", "compiles successfully", "cleanly"),
        *("no warnings", "verified with", "verified by", "verified in", "tested with", "tested in", "no failures"),
    ),
    "passes": alone(
        *("passes", "pass", "passed", "passing", "succeeds", "succeeded", "is green", "are green", "successful"),
        *("is clean", "are clean", "clean", "works"),
    ),
    "committed": alone("committed", "commit created", "pushed"),
    "following": alone(
        *_FOLLOWING,
        *("remaining tasks", "remaining stories", "remaining phases", "remaining items", "remaining steps"),
        *_REMAINING,
    ),
    "ready": alone("ready", "ready for", "ready to"),
    "later": alone("next steps", "next step", "what's next", "next priorities", "upcoming", "next actions"),
    "left": alone(
        *("remaining", "pending", "remaining work", "todo", "todos", "to do", "to-do", "still to do", "outstanding"),
        *("not yet implemented", "not implemented", "what's left", "what is left", "left to do", "missing"),
        *("incomplete", "unfinished", "work remaining", "deferred", "in progress", "what remains", "half-way"),
        *("halfway", "untouched", "not started", "not begun", "still open", "still missing", "still to come"),
        *("not done",),
        *("not yet done", "not yet", "tomorrow", "open items", "open points", "open tasks", "to be done", "unresolved"),
    ),
    "open": alone(
        "open", "left", "remaining", "remain", "unchecked", "outstanding", "to go", "unfinished", "still to do"
    ),
    "begin": alone("start", "begin", "proceed", "continue", "move on", "starting", "proceeding", "moving on"),
    "underway": alone("🔄", "⏳", "🚧", "⌛", "in progress", "wip", "under way", "underway"),
    "optional": alone(
        *("optional", "optionally", "optional/future", "future/optional", "future", "low-priority", "low priority"),
        *("nice to have", "nice-to-have"),
        *("out of scope", "follow-up", "follow-ups", "later", "could", "recommended", "suggested", "beyond this"),
        *("not part of", "beyond the scope", "you can", "you may", "you could", "polish"),
        *("limitations", "known limitations", "caveats", "not in scope", "suggestions", "ideas", "stretch"),
        *("post-launch", "backlog", "not blocking", "non-blocking", "cosmetic"),
    ),
    "check": alone(
        *("build", "builds", "compilation", "tests", "test", "test suite", "suite", "lint", "linter", "typecheck"),
        *("type check", "type checks", "ci", "pipeline", "smoke test", "smoke", "checks", "type checker"),
    ),
    "failing": alone(
        *("fails", "fail", "failing", "failed", "broken", "does not compile", "doesn't compile"),
        *("do not pass", "does not pass", "don't pass", "doesn't pass", "is red", "are red", "not passing"),
    ),
    "beyond": alone(
        *("sandbox", "sandboxed", "sandbox's", "environment", "environment's", "pre-existing", "preexisting"),
        *("unrelated", "network", "offline", "credentials", "api key", "not installed", "unavailable", "flaky"),
        *("this machine", "display", "container", "here because", "earlier iterations", "prior iterations", "denied"),
        *("on main", "on master", "permission", "permissions", "previously", "used to", "known"),
        *("without my change", "without this change", "nothing to do with", "not related to", "unmodified branch"),
        *(f"{was} there before" for was in ("was", "were", "been")),
        *(f"{has} always been there" for has in ("has", "have", "had")),
        *("was there already", "were there already", "was already there", "were already there", "long before this"),
        *(f"{is_} on the list" for is_ in ("isn't", "is not", "wasn't", "was not", "aren't", "weren't")),
        *(f"{is_} {of}" for is_, of in product(("isn't", "wasn't", "aren't", "weren't"), ("part of", "in scope"))),
        *("not ours", "aren't ours", "isn't ours", "it's theirs", "they're theirs", "comes from the vendor"),
        *("come from the vendor", "vendored", "predate", "predates", "not caused by", "not introduced by"),
        *("no fixed version", "no fixed release", "no fix upstream", "no upstream fix", "no patch upstream"),
    ),
}

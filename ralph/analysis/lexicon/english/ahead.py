"""English words of what lies ahead: labels of what comes after this reply, what it has not come to, and who takes it
up.
"""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["AHEAD"]

_PASSES = ("iteration", "loop", "session", "pass", "round", "run", "turn", "sprint", "increment")
_THIS = ("not in this", "not part of this", "not done in this", "skipped in this", "left out of this")
_LATER = ("for the next", "left for the next", "in the next", "for another", "for the following", "for a later")
_IS = ("is", "are")
_NEXT_UP = ("natural", "obvious", "logical", "next natural", "best")
_PLACES = ("next step", "next piece", "next candidate", "next task", "next one", "starting point", "continuation")
_TAKES_UP = ("can pick up", "can start with", "can start on", "can begin with", "can continue with", "can tackle")
_TAKEN_UP = ("should pick up", "should start with", "should begin with", "should continue with", "should tackle")
_NEXT_ONE = ("iteration", "loop", "session", "pass", "round", "agent", "sprint")
_BEGUN = ("can be started", "can begin", "can start")
_HAVE_NOT = ("haven't", "have not", "hasn't", "has not")
_UNSEEN = (
    *("been looked at", "been begun", "been tackled", "been attempted", "been wired", "been connected", "been moved"),
    *("been processed", "been replaced", "been switched", "been integrated", "been built", "been created"),
    *("been set up", "been checked yet", "been reviewed yet"),
)
_WRITTEN = ("written", "built", "implemented", "converted", "migrated", "ported", "translated", "wired", "connected")
_I_HAVE_NOT = ("looked at", "got to", "gotten to", "come to", "solved", "figured out", "managed", "begun", *_WRITTEN)
_FOUND = ("found", "turns out", "turned out", "shows", "showed", "found out", "it seems", "noticed", "saw", "means")
_AFTER_ALL = (
    *("it hasn't", "it has not", "it isn't", "it is not", "it wasn't", "it was not"),
    *("they aren't", "they are not", "they haven't", "they have not", "they weren't", "they were not"),
)
_NOT_JOINED = ("wired up", "hooked up", "connected yet", "wired in", "connected to it yet", "wired to it yet")
_NOT = ("isn't", "aren't", "is not", "are not")
_STILL = ("a stub", "stubs", "a draft", "a placeholder", "placeholders", "off by", "wrong", "broken", "rudimentary")
_FAKES = ("stubbed", "mocked", "hard-coded", "hardcoded", "faked", "simulated", "a placeholder")
_COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_THIS_IS = ("this is", "that is", "that's", "this was", "that was")
_SAID = ("ticket says", "task says", "issue says", "spec says", "brief says", "story says", "plan says")
_DO = ("migrate", "port", "convert", "translate", "write", "build", "implement", "fix", "review", "test", "move", "add")
_SUGGEST = ("suggest", "recommend", "propose", "add", "consider")
_MORE = ("iterations", "sessions", "loops", "rounds", "passes")
_DOING = (
    *("analysing", "analyzing", "working on", "working through", "examining", "reviewing", "comparing", "converting"),
    *("migrating", "porting", "refactoring", "translating", "preparing", "debugging", "tracing", "exploring"),
    *("searching", "reproducing", "measuring", "profiling", "extracting", "inspecting", "going through"),
    *("digging into",),
)
_UNSUPPORTED = ("supported", "working", "there", "covered", "converted", "handled", "translated", "ported")
_QUICK = ("straightforward", "mechanical", "routine", "quick", "similar", "more of the same", "still to come")

_SCARCE = (
    "running low",
    "running out",
    "almost full",
    "nearly full",
    "almost used up",
    "nearly used up",
    "getting full",
)
_MEANS = ("context", "my context", "my context window", "the context window")
_GOOD = ("a good", "a clean", "a natural", "a sensible", "a safe", "a convenient")
_LISTS = ("backlog", "open", "left", "remaining", "still open", "queue", "todo", "to do", "what's left", "on the list")

AHEAD: Words = {
    "left": alone(
        *(f"{listed} after this {loop}" for listed, loop in product(_LISTS, _PASSES)),
        *("what doesn't:", "what does not:", "what doesn't yet:", "what does not yet:"),
        *(f"{which} {loop}" for which, loop in product(_THIS, _PASSES)),
        *(f"{when} {loop}" for when, loop in product(_LATER, _PASSES)),
        *(f"{to} the following {loops}" for to, loops in product(("in", "for"), _MORE)),
        *(f"left to {do}" for do in _DO),
        *("what isn't there", "what is not there", "what's not there", "what isn't done", "what is not done"),
        *("what's not done", "what doesn't work", "what does not work", "what works in part", "what works partly"),
        *("what isn't there yet", "what is not there yet", "what's not there yet", "what's still missing"),
        *("what is still missing", "what's still open", "what is still open", "what doesn't work yet"),
        *("not touched", "not covered so far", "not converted", "not migrated", "not translated"),
        *("not handled", "not working", "partly done", "partially done", "half done", "to come", "still ahead"),
        *("for next time", "left over", "open:", "open ends", "loose ends", "left:", "for tomorrow"),
        *("not there yet", "not working yet", "not yet there", "not yet working", "not yet covered", "not yet done"),
        *("not yet supported", "not supported yet", "not yet converted", "not yet migrated", "to be continued with"),
    ),
    "open": alone("to do"),
    "optional": alone(
        *(f"{who} to" for who in _SAID),
        *(f"as the {who}" for who in _SAID),
        *(
            "rules it out",
            "rules them out",
            "rules that out",
            "rules this out",
            "as agreed",
            "as you asked",
            "as requested",
        ),
        *("only asks for", "asks only for", "does not ask for", "doesn't ask for"),
    ),
    "later": alone(
        "next",
        *("suggested order", "recommended order", "proposed order", "order of work", "suggested sequence"),
        *("steps that follow", "what comes next", "what follows", "what is next", "what comes after", "coming next"),
        *("coming up", "up next", "to follow", "following steps", "after that:", "where to continue", "the next steps"),
        *("where to go from here", "the steps that follow", "next on the list", "next in the plan", "next in line"),
        *("next tasks", "next items", "next stories", "next phases", "next up", "next in this plan"),
        *("next on the plan",),
    ),
    "following": alone(
        *(f"next {open_} {one}" for open_, one in product(("unticked", "unchecked", "open"), ("one", "box", "story"))),
        *(f"{when} {loop}" for when, loop in product(("for the next", "in the next"), _PASSES)),
        *(
            "the next thing on",
            "the next thing is",
            "next tasks can",
            "will be next",
            "would be next",
            "to tackle next",
        ),
        *(
            f"{is_} the next {piece}"
            for is_, piece in product(_IS, ("milestone", "task", "story", "step", "item", "big"))
        ),
        *(f"{which} {place}" for which, place in product(_NEXT_UP, _PLACES)),
        *(
            f"next {one} {takes}"
            for one, takes in product(_NEXT_ONE, (*_TAKES_UP, *_TAKEN_UP, "picks up with", "starts with"))
        ),
        *(f"{when} {come}" for when, come in product(("after that", "after this", "after those"), ("come", "comes"))),
        *(f"{come} {when}" for come, when in product(("come", "comes"), ("after that", "after this", "after those"))),
        *("next come the", "next comes the", "on to task", "on to the next"),
        *("coming up next", "up next", "is up next", "are up next", "is next in the plan", "next in the plan"),
        *(f"{plan} the next" for plan in ("planned for", "scheduled for", "on the list for", "left for")),
        *("is scheduled next", "are scheduled next", "is planned next", "are planned next", "scheduled next"),
        *("to be tackled next", "to tackle next", "to do next", "to be done next", "more to follow"),
        *("tasks to follow", "endpoints to follow", "parts to follow", "loop can continue"),
        *("will follow in the next", "follow in the next", "follows in the next", "in the next loop"),
        *("in the next round",),
        *("in the next iteration", "in the next session", "in the upcoming", "with the upcoming", "in a later loop"),
    ),
    "unfinished": alone(
        *(f"{context} is {scarce}" for context, scarce in product(_MEANS, _SCARCE)),
        *(f"i'm {running} {of}context" for running, of in product(("running low on", "running out of"), ("", "my "))),
        *("i'm out of context", "before the context runs out", "before my context runs out", "low on context"),
        *(f"{good} {place}" for good, place in product(_GOOD, ("stopping point", "place to stop", "point to stop"))),
        *(f"stopping at a point {where}" for where in ("where", "at which")),
        *(f"{have} {unseen}" for have, unseen in product(_HAVE_NOT, _UNSEEN)),
        *(f"i {have} {seen}" for have, seen in product(("haven't", "have not"), _I_HAVE_NOT)),
        *(f"that {have} {done}" for have, done in product(("i haven't", "i have not"), ("solved", "figured out"))),
        *(f"{found} that {denied}" for found, denied in product(_FOUND, _AFTER_ALL)),
        *(f"{not_} {joined}" for not_, joined in product(_NOT, _NOT_JOINED)),
        *(f"{is_} still {what}" for is_, what in product(_IS, _STILL)),
        *(f"{fake} for now" for fake in _FAKES),
        *(f"{is_} {what}" for is_, what in product(_IS, ("what's left", "what is left", "all that's left"))),
        *("what remains is", "what remains are", "what remains to", "still on paper", "only on paper", "on paper only"),
        *("is still without", "are still without", "still ahead of", "is still ahead", "are still ahead"),
        *("still lie ahead", "still lies ahead", "lie ahead", "lies ahead", "is ahead of us", "are ahead of us"),
        *("only thing missing is", "only thing missing:", "only thing left is", "only gap is", "only gap:"),
        *("gap remains", "one gap is", "the last missing piece is"),
        *("is the last missing piece", "are the last missing piece", "missing piece is", "missing pieces are"),
        *("one open point", "the open point", "one open problem", "open problem is"),
        *("odd one out", "has begun", "i've begun with", "i have begun with", "i've started with"),
        *("i have started with", "i've started on", "i have started on", "partly there", "works in part"),
        *("partly works",),
        *("works partly", "works only partly", "only works in part", "skipped until", "bigger chunk", "the easy half"),
        *("the hard half", "it's a start", "it is a start", "first part of the work", "first part of this"),
        *(
            f"{this} the first of {of}"
            for this, of in product(_THIS_IS, (*_COUNTS, *(f"the {count}" for count in _COUNTS)))
        ),
        *(f"{did} get around to" for did in ("did not", "didn't", "haven't", "have not")),
        *("there's more in", "there is more in", "there is more on", "there's more on"),
        *(f"but not {written}" for written in (*_WRITTEN, "tested", "finished")),
        *("tomorrow.", "i stopped before"),
        *("another pass", "left for last", "for last since", "for last because", "saved for last", "keep it for last"),
        *(f"another {one}" for one in ("iteration", "session", "loop", "round of", "batch")),
        *(f"another {few} {loops}" for few, loops in product(("two", "few", "couple of", "two or three"), _MORE)),
        *(
            "a session of its own",
            "an iteration of its own",
            "a loop of its own",
            "will need more time",
            "needs more time",
        ),
        *("nothing of the", "exists so far", "exist so far", "whoever continues", "whoever picks this up"),
        *(f"{marked} the first" for marked in ("marked", "ticked", "ticked off", "checked off")),
        *("that was part one", "that's part one", "this is part one"),
        *("before this can ship", "before this can be closed", "before this can be merged"),
        *("before this can be called",),
        *("before it can be closed", "before it can be called", "keeping the checkbox", "keeping the box"),
        *("keeping the task open", "keeping the story open", "keep the task open", "keep the story open"),
        *("leaving the task", "leaving the box", "leaving the story", "dropped altogether", "is left open for"),
        *(
            f"i stopped after {piece}"
            for piece in ("section", "task", "item", "chapter", "step", "phase", "story", "part")
        ),
        *(f"the rest {is_} {quick}" for is_, quick in product(("is", "should be", "will be"), _QUICK)),
        *(f"not {done} yet" for done in _UNSUPPORTED),
        *(f"not yet {done}" for done in _UNSUPPORTED),
        *(f"{no} exist yet" for no in ("don't", "doesn't", "do not", "does not")),
        *(
            "; on to",
            "— on to",
            "– on to",
            ", now on to",
            "isn't there yet",
            "aren't there yet",
            "for another day",
            "on another day",
            "is up to the next",
        ),
        *("are up to the next",),
    ),
    "plain": alone(
        *(
            f"{when} {context} is {scarce}"
            for when, context, scarce in product(
                ("when", "if", "once", "as soon as", "whenever", "that"),
                ("context", "the context", "its context", "a context", "the context window"),
                _SCARCE,
            )
        ),
        *(f"next {i} {suggest}" for i, suggest in product(("i'd", "i would", "one could", "you could"), _SUGGEST)),
        *(
            f"rest of the {code} {is_} {same}"
            for code, is_, same in product(
                ("code", "file", "module", "api", "tests", "app"), _IS, ("untouched", "unchanged")
            )
        ),
        *("what isn't there any more", "what isn't there anymore", "next iteration of the", "next run of the"),
        *("next pass of the", "next round of the", "next turn of the"),
    ),
    "persisting": alone(
        *("need", "needs", "have to be", "has to be", "require", "requires", "wait", "are waiting", "follow"),
        *("follows", "still"),
    ),
    "underway": alone("🔜", "⬜", "🔲", "☐", "◻", "◽", "▢"),
    "act": alone(
        *(
            f"{now} {verb}"
            for now, verb in product(("i'm", "i am", "now", "i'm now", "currently", "i'm currently"), _DOING)
        ),
    ),
    "fraction": alone(
        *("half of", "third of", "thirds of", "quarter of", "quarters of", "% of", "percent of", "of them"),
    ),
    "groundwork": alone(
        *(f"ready for {what}" for what in ("feature development", "development", "implementation", "coding")),
        *("ready for the implementation", "ready for the actual", "ready to be implemented", "ready for feature work"),
        *("foundation is in place", "foundation is laid", "the foundation is", "laid the foundation"),
        *("set up the foundation",),
        *(
            "all of the foundation",
            "foundations are in place",
            "project bootstrapped",
            "vertical slice",
            "first slice",
            "walking skeleton",
            "first cut",
            "project initialized",
        ),
        *("project initialised", "scaffold is in place", "skeleton is in place", "groundwork is", "the groundwork"),
        *("first loop", "this first iteration", "this first session", "this first pass", "first iteration of"),
        *("implementation is split", "broken down into", "broke the spec", "broke it down into"),
        *("implementation can start", "implementation can begin", "the implementation comes next"),
    ),
    "handover": alone(
        *("merge", "merging", "merged", "deploy", "deploying", "deployment", "release", "review", "reviewing"),
        *("pull request", "pr", "staging", "production", "roll out", "rollout", "monitor", "for you", "for a human"),
        *("possible", "potential", "if you like", "if you want", "if wanted", "if desired", "publish", "announce"),
        *("run it", "try it", "tag", "go live", "for whoever", "for the team", "manually", "your"),
    ),
}

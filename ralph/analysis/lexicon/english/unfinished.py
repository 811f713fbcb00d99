"""English words of what is not finished: that something is left, was not begun, or was taken back."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["UNFINISHED"]

_COUNTED = ("thing", "item", "task", "step", "story", "box", "issue", "point", "piece", "test", "service")
_HAVE_NOT = ("haven't", "have not", "hasn't", "has not")
_UNBEGUN = (
    *("been started", "been dealt with", "been converted", "been migrated", "been ported", "been done", "been written"),
    *("been covered", "been translated", "been implemented", "been addressed", "started", "begun"),
)
_UNDONE = ("closed", "merged", "released", "called done", "called finished", "ticked", "checked off", "marked as done")
_NOT_TICKED = ("open", "unticked", "unchecked", "unfinished", "incomplete")
_BACK = ("reverted", "rolled back", "backed out", "undid", "discarded")
_WHAT = ("the change", "my change", "the changes", "my changes", "everything")

UNFINISHED: Words = {
    "unfinished": alone(
        *(f"{piece} {left}" for piece, left in product(_COUNTED, ("is left", "is missing", "is open", "remains"))),
        *(f"{piece}s {left}" for piece, left in product(_COUNTED, ("are left", "are missing", "are open"))),
        *("is left", "are left", "remains to be done", "remains to be written", "remain to be done", "still to do"),
        *("is missing", "are missing", "is pending", "are pending", "has to follow", "have to follow", "should follow"),
        *("more stories", "more tasks", "more items", "more phases", "items remain", "tasks remain", "stories remain"),
        *("still to be done", "still to be written", "still to come", "is still missing", "are still missing"),
        *("still needs to be", "still need to be", "not started", "not been started", "haven't started"),
        *("have not started", "not begun", "half written", "half-written", "half finished", "half-finished"),
        *("half done",),
        *(f"{cannot} be {closed}" for cannot, closed in product(("can't", "cannot", "can not", "must not"), _UNDONE)),
        *("is a stub", "are stubs", "is stubbed", "are stubbed", "only a stub", "still a stub", "does nothing yet"),
        *("not fixed", "not fixed yet", "not yet fixed", "not finished yet", "not done yet", "not complete yet"),
        *("not implemented yet", "not written yet"),
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
        *(f"{have} {undone}" for have, undone in product(_HAVE_NOT, _UNBEGUN)),
        *(f"{undone} {what}" for undone, what in product(_BACK, _WHAT)),
        *(
            f"still {use} the {old}"
            for use, old in product(("on", "use", "uses", "using"), ("old", "legacy", "previous"))
        ),
        *("had no time", "no time to", "didn't have time", "did not have time"),
        *("committed a checkpoint", "show placeholders", "shows a placeholder", "are placeholders", "is a placeholder"),
        *("largest gaps", "biggest gaps", "the gap to", "for most files", "in most cases", "come out wrong"),
        *("all that is left", "all that's left", "that leaves", "which leaves", "what's missing", "what is missing"),
        *("ran out of time", "run out of time"),
        *("still has to be", "still have to be", "still has to", "still have to", "still need to", "still needs to"),
        *("only stubbed", "is stubbed out", "needs another pass", "need another pass", "half-way there"),
        *("halfway there", "is halfway", "is half-way", "are half-way", "halfway through", "half-way through"),
        *("thirds through", "of the way through", "way there", "can follow", "have yet to", "has yet to"),
        *("not been able to", "haven't been able to", "didn't get to", "did not get to", "have not got to"),
        *("haven't got to", "could not finish", "couldn't finish", "is outstanding", "are outstanding"),
        *("a first step", "more to come", "to be continued", "is in progress", "are in progress"),
        *("still in progress",),
        *("is under way", "is underway", "started on", "have begun", "i began to", "began with", "progress so far"),
        *("done so far", "left for the next", "left for later", "come in later", "comes in later", "will come in"),
        *("follow tomorrow", "follows tomorrow", "comes tomorrow", "come tomorrow", "not finished", "not complete"),
        *("only partly", "only partially", "partly done", "partially done", "is up for", "are up for"),
        *("still there", "is still there", "are still there", "still happens", "still occurs", "still crashes"),
        *("still reproduces",),
        *("still wrong", "still broken", "still on the list", "haven't decided", "have not decided"),
        *("is not there yet", "are not there yet"),
    ),
}

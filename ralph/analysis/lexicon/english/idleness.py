"""English words by which an agent says that it did nothing."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["IDLENESS"]

_BEFORE = tuple(
    f"{preposition} {determiner} {which} {unit}"
    for preposition, determiner, which, unit in product(
        ("in", "during", "by"),
        ("a", "the", "an"),
        ("previous", "prior", "earlier"),
        ("run", "session", "iteration", "loop", "pass", "turn"),
    )
)
_UNCHANGED = tuple(
    f"no {what} {verb}{which}"
    for what, verb, which in product(
        ("changes", "further changes", "additional changes", "new changes", "code changes", "action", "further action"),
        ("", "are ", "is ", "were ", "was "),
        ("needed", "required", "necessary"),
    )
)
_BEHIND = tuple(
    f"{runs} in the background"
    for runs in ("running", "continues", "continues to run", "continuing", "still", "working", "going", "proceeding")
)

IDLENESS: Words = {
    "idle": {
        "already": (
            *("already", "is already", "are already", "was already", "were already", "has already been"),
            *("have already been", "had already been"),
        ),
        "nothing to do": (
            *("nothing to do", "nothing further to do", "nothing remaining to do", "there is nothing left"),
            *("nothing left for me to do", "nothing has changed", "nothing changed since", "no changes were made"),
            *("no changes made", "no new work", "nothing new", "nothing else was done", "nothing was done"),
            *("no work to do", "no work was needed", "made no changes"),
        ),
        "no changes needed": _UNCHANGED,
        "in an earlier run": (*_BEFORE, "in previous iterations", "in earlier iterations"),
        "asks to be stopped": (
            *("stop the loop", "stop this loop", "end the loop", "stop invoking me", "stop calling me"),
            *("the loop should stop", "the loop can stop", "the loop can be stopped", "please stop", "exit the loop"),
        ),
    },
    "change": alone(
        *("change", "changes", "changed", "changing", "modify", "modified", "modifying", "modification"),
        *("modifications", "edit", "edits", "edited", "editing", "touch", "touched", "updates", "commits", "action"),
        *("actions", "progress", "news"),
    ),
    "watching": alone(
        *("still running", "still in progress", "still ongoing", "still going", "still compiling", "still building"),
        *("still training", "still processing", "still executing", "still downloading", "still installing"),
        *_BEHIND,
        *("keeps running", "continues to run", "not finished yet", "has not finished"),
        *("hasn't finished", "no result yet", "no results yet", "no output yet", "check again later", "check back"),
        *("waiting for it to finish", "wait for it to finish", "waiting for it to complete", "nothing new yet"),
    ),
}

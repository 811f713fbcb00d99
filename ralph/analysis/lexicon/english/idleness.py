"""English words by which an agent says that it found nothing to do."""

from itertools import product

from ralph.analysis.lexicon.base import Words

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

IDLENESS: Words = {
    "idle": {
        "already": (
            *("already", "is already", "are already", "was already", "were already", "has already been"),
            *("have already been", "had already been"),
        ),
        "nothing to do": (
            *("nothing to do", "nothing further to do", "nothing remaining to do", "there is nothing left"),
            *("nothing left for me to do", "nothing has changed", "nothing changed since", "no changes were made"),
            *("no changes made", "no new work", "no work to do", "no work was needed", "made no changes"),
        ),
        "no changes needed": _UNCHANGED,
        "in an earlier run": (*_BEFORE, "in previous iterations", "in earlier iterations"),
        "asks to be stopped": (
            *("stop the loop", "stop this loop", "end the loop", "stop invoking me", "stop calling me"),
            *("the loop should stop", "the loop can stop", "the loop can be stopped", "please stop", "exit the loop"),
        ),
    },
}

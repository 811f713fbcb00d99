"""The support for a completion: the one place that grades it and puts it into words.

A check that passed before the first iteration proves nothing, not even if the run broke it in between. A completion is
verified only if another check went from failing to passing while the run changed something, or if a verifier that
judges anew, such as a review, confirmed it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ralph.types.verification import PriorChecks, Verdict, Verification

_FILES = 3
_SAID = 300
"""Characters of an undecided verifier's reason."""
GRADES = {
    "verified": "verified",
    "green before": "checks pass, but they did before",
    "claimed": "claimed, not verified",
}
"""The grades of a completion: in at most 12 characters, for tables, and in full."""

IGNORED = "(ignored by git)"
"""The words after the name of a removed file that git ignores: no checkpoint has it."""


class Backing(NamedTuple):
    """The support for a completion.

    Attributes:
        verified: a check went from failing to passing, or a fresh review confirmed.
        already_green: every check passes, but each did before the first iteration.
        by: the support in words.
    """

    verified: bool
    already_green: bool
    by: str


def backing(
    verification: "Verification | None",
    before: "PriorChecks",
    *,
    yet: Sequence[str] = (),
    lost: Sequence[str] = (),
    changed: bool | None = None,
) -> Backing:
    """Return what supports a completion.

    Args:
        verification: the verdicts on the claim; None without any.
        before: the results of the checks up to the claim.
        yet: what is true in spite of them, such as open items of the plan.
        lost: what the run has removed of the user's: no check makes that right, so that nothing is verified.
        changed: whether the workspace differs from how it was before the run; if not, no command verifies it. None if
            that is unknown.
    """
    verdicts = verification.verdicts if verification is not None else ()
    words = [_words(verdict, before) for verdict in verdicts] or ["the agent's word alone"]
    passed = verification is not None and verification.passed and not lost
    yet = [*yet, *([f"the run removed work of yours: {some(lost)}"] if lost else [])]
    verified = passed and any(each.fresh or (changed is not False and _proves(each, before)) for each in verdicts)
    return Backing(
        verified=verified,
        already_green=passed and not verified and all(verdict.verifier in before.passed for verdict in verdicts),
        by="; ".join((*words, *(f"yet {fact}" for fact in yet))),
    )


def grade(*, verified: bool, already_green: bool) -> str:
    """Return the grade of a completion, as every display names it."""
    return GRADES[short_grade(verified=verified, already_green=already_green)]


def short_grade(*, verified: bool, already_green: bool) -> str:
    """Return the grade of a completion in at most 12 characters, as tables name it."""
    return "verified" if verified else "green before" if already_green else "claimed"


def named(*names: str) -> str:
    """Return names of verifiers in a row, each in quotes: many are commands."""
    return ", ".join(f"`{name}`" for name in names)


def way_back(run_id: str, lost: Sequence[str]) -> str:
    """Return how that which a run has removed of the user's comes back."""
    gits = [name for name in lost if name in {".git", "HEAD"} or name.startswith("refs/")]
    ignored = [name for name in lost if name.endswith(IGNORED)]
    gone = [f"git's {'folder' if '.git' in gits else 'refs'}"] if gits else []
    gone += ["ignored files"] if ignored else []
    if len(gits) + len(ignored) == len(lost):
        return f"{' and '.join(gone)} cannot be brought back"
    but = f", but not {' or '.join(gone)}" if gone else ""
    return f"`ralph rollback {run_id} --to 0` brings it back{but}"


def _proves(verdict: "Verdict", before: "PriorChecks") -> bool:
    denied = {*before.failed, *before.refuted} - {*before.passed}
    return verdict.verifier in denied and not verdict.changed


def _words(verdict: "Verdict", before: "PriorChecks") -> str:
    name = named(verdict.verifier)
    if not verdict.passed:
        return f"{name} is undecided: {' '.join(verdict.output[:_SAID].split())}"
    if verdict.fresh:
        return "a fresh review confirmed" if verdict.verifier == "review" else f"{name} confirmed"
    changed = f" (the run changed what it depends on: {some(verdict.changed)})" if verdict.changed else ""
    return f"{name} {_history(verdict, before)}{changed}"


def _history(verdict: "Verdict", before: "PriorChecks") -> str:
    if verdict.verifier in before.failed:
        return "failed before and passes now"
    if verdict.verifier in before.refuted and verdict.verifier in before.passed:
        return "passed before, was broken in between, and passes again"
    if verdict.verifier in before.refuted:
        return "refuted an earlier claim and passes now"
    if verdict.verifier in before.passed:
        return "passes, but it passed before the first iteration"
    return "passes, but it is not known to have failed before"


def some(files: Sequence[str]) -> str:
    """Return the first three of some files, each in quotes, and the number of the others."""
    more = f" and {len(files) - _FILES} more" if len(files) > _FILES else ""
    return f"{named(*files[:_FILES])}{more}"

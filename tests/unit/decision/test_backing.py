"""What supports a completion, graded and in words."""

import pytest

from ralph.decision.backing import Backing, backing, grade
from ralph.types import evolve
from ralph.types.verification import PriorChecks, Verdict, Verification


def passes(name: str, *, fresh: bool = False) -> Verdict:
    return Verdict(verifier=name, passed=True, fresh=fresh)


REVIEW = passes("review", fresh=True)
LOST = Verdict.unknown("review", "no model\nanswers")
BEFORE = PriorChecks(passed=("true",), failed=("pytest -q",), refuted=("lint",))
CASES: list[tuple[str, tuple[Verdict, ...] | None, tuple[str, ...], str, str]] = [
    ("no verifier", None, (), "claimed, not verified", "the agent's word alone"),
    ("went green", (passes("pytest -q"),), (), "verified", "`pytest -q` failed before and passes now"),
    ("refuted first", (passes("lint"),), (), "verified", "`lint` refuted an earlier claim and passes now"),
    ("reviewed", (REVIEW,), (), "verified", "a fresh review confirmed"),
    (
        "green before",
        (passes("true"),),
        (),
        "checks pass, but they did before",
        "`true` passes, but it passed before the first iteration",
    ),
    (
        "one of two went green",
        (passes("true"), passes("pytest -q")),
        (),
        "verified",
        "`true` passes, but it passed before the first iteration; `pytest -q` failed before and passes now",
    ),
    (
        "of an old record, or given on resuming",
        (passes("new"),),
        (),
        "claimed, not verified",
        "`new` passes, but it is not known to have failed before",
    ),
    (
        "the run changed the tests",
        (evolve(passes("pytest -q"), changed=("tests/test_a.py",)),),
        (),
        "claimed, not verified",
        "`pytest -q` failed before and passes now (the run changed what it depends on: `tests/test_a.py`)",
    ),
    (
        "the review is lost",
        (passes("pytest -q"), LOST),
        (),
        "claimed, not verified",
        "`pytest -q` failed before and passes now; `review` is undecided: no model answers",
    ),
    (
        "nothing changed",
        (REVIEW,),
        ("nothing changed", "one item is open"),
        "verified",
        "a fresh review confirmed; yet nothing changed; yet one item is open",
    ),
]


@pytest.mark.parametrize(
    ("verdicts", "yet", "graded", "by"), [case[1:] for case in CASES], ids=[one[0] for one in CASES]
)
def test_a_check_proves_only_what_it_once_denied(
    verdicts: tuple[Verdict, ...] | None, yet: tuple[str, ...], graded: str, by: str
) -> None:
    support = backing(None if verdicts is None else Verification(verdicts=verdicts), BEFORE, yet=yet)
    assert grade(verified=support.verified, already_green=support.already_green) == graded
    assert support.by == by


def test_no_check_makes_up_for_work_of_the_user_that_is_gone() -> None:
    found = backing(Verification(verdicts=(REVIEW,)), BEFORE, lost=(".git", "notes.txt"))
    assert grade(verified=found.verified, already_green=found.already_green) == "claimed, not verified"
    assert found.by == "a fresh review confirmed; yet the run removed work of yours: `.git`, `notes.txt`"


def test_what_the_run_broke_itself_and_what_it_did_not_change_verifies_nothing() -> None:
    found = backing(Verification(verdicts=(passes("true"),)), PriorChecks(passed=("true",), refuted=("true",)))
    assert found == Backing(
        verified=False, already_green=True, by="`true` passed before, was broken in between, and passes again"
    )
    green = Verification(verdicts=(passes("pytest -q"),))
    assert [backing(green, BEFORE, changed=changed).verified for changed in (None, True, False)] == [True, True, False]
    assert backing(Verification(verdicts=(passes("pytest -q"), REVIEW)), BEFORE, changed=False).verified


def test_of_two_verifiers_with_one_name_the_one_that_failed_counts() -> None:
    failed = Verdict(verifier="files", passed=False)
    before = PriorChecks.before_run(Verification(verdicts=(passes("files"), failed, LOST)))
    assert before == PriorChecks(failed=("files",))
    refuted = before.after(Verification(verdicts=(failed, LOST))).after(None)
    assert refuted.refuted == ("files",)
    assert backing(Verification(verdicts=(passes("files"),)), before) == Backing(
        verified=True, already_green=False, by="`files` failed before and passes now"
    )

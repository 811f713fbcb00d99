"""All verifiers are asked in order, and whatever one of them does stays within its verdict."""

import math
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import anyio
import pytest

from ralph.errors import VerifierError
from ralph.system.secrets import Redactor
from ralph.types.output import Usage
from ralph.types.verification import Verdict, Verification
from ralph.verifiers import Subject, Verifier, VerifierRun

Says = Callable[[Subject], Awaitable[Verdict]]


class One(Verifier):
    """A verifier of a name, with what it does when it is asked."""

    def __init__(self, name: str, does: Says | bool = True, *, before_run: bool = True, timeout: float = 60.0) -> None:
        self.name, self.before_run, self.timeout = name, before_run, timeout
        self._does = does
        self.asked = 0

    async def verify(self, subject: Subject) -> Verdict:
        self.asked += 1
        if callable(self._does):
            return await self._does(subject)
        return Verdict(verifier=self.name, passed=self._does, output="it says so", signature="" if self._does else "no")


async def preflight(verifiers: Iterable[Verifier], subject: Subject) -> Verification:
    checks = VerifierRun(verifiers, subject)
    await checks.check_start()
    return checks.result()


async def judge(verifiers: Iterable[Verifier], subject: Subject) -> Verification:
    checks = VerifierRun(verifiers, subject)
    await checks.check_claim()
    return checks.result()


def raising(error: BaseException) -> Says:
    async def does(_subject: Subject) -> Verdict:
        raise error

    return does


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    return Subject(tmp_path, task="Do it.", iteration=2)


async def test_what_costs_is_asked_last_and_only_where_all_others_let_the_claim_pass(subject: Subject) -> None:
    costly, cheap, other = One("costly", before_run=False), One("cheap"), One("other", does=False)
    assert [verdict.verifier for verdict in (await judge([costly, cheap], subject)).verdicts] == ["cheap", "costly"]
    refuted = await judge([costly, other, cheap], subject)
    assert [verdict.verifier for verdict in refuted.verdicts] == ["other", "cheap"], "of all of these at once"
    assert costly.asked == 1


async def test_a_second_costly_one_is_not_asked_of_what_the_first_refutes(subject: Subject) -> None:
    second = One("second", before_run=False)
    verification = await judge([One("first", does=False, before_run=False), second], subject)
    assert (verification.passed, second.asked) == (False, 0)


async def test_before_the_run_only_those_are_asked_that_cost_nothing(subject: Subject) -> None:
    costly, cheap = One("costly", before_run=False), One("cheap", does=False)
    verification = await preflight([costly, cheap], subject)
    assert [verdict.verifier for verdict in verification.verdicts] == ["cheap"]
    assert costly.asked == 0


@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError("division by zero"), ExceptionGroup("two", [OSError("a"), ValueError("b")]), SystemExit(3)],
)
async def test_one_that_raises_refutes_and_the_next_is_asked(subject: Subject, error: BaseException) -> None:
    broken, sound = One("broken", raising(error)), One("sound")
    first, second = (await judge([broken, sound], subject)).verdicts
    assert (first.passed, first.undecided, second.passed) == (False, False, True)
    assert type(error).__name__ in first.output
    assert first.signature
    assert first.signature == (await judge([broken], subject)).verdicts[0].signature


async def test_one_that_raises_before_the_run_ends_it_before_it_begins(subject: Subject) -> None:
    with pytest.raises(VerifierError, match="ZeroDivisionError: by zero") as caught:
        await preflight([One("broken", raising(ZeroDivisionError("by zero")))], subject)
    assert "'broken'" in str(caught.value)
    assert caught.value.exit_code == 2


async def test_one_that_cannot_start_ends_the_run_before_it_begins_and_later_refutes(subject: Subject) -> None:
    gone = One("gone", raising(VerifierError("There is no ./gone.sh.", "Bring it back.")))
    with pytest.raises(VerifierError):
        await preflight([One("first"), gone], subject)
    verification = await judge([One("first"), gone], subject)
    assert [verdict.passed for verdict in verification.verdicts] == [True, False]
    assert "gone.sh" in verification.refuted[0].output
    assert verification.refuted[0].signature == "cannot start"


async def test_without_a_verifier_nothing_is_verified(subject: Subject) -> None:
    assert not (await preflight([], subject)).passed
    assert not (await judge([], subject)).passed


async def test_one_that_hangs_is_ended_and_refutes(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph.verifiers.runner._GRACE", 0.1)
    ended: list[bool] = []

    async def hangs(_subject: Subject) -> Verdict:
        try:
            await anyio.sleep(60)
        finally:
            ended.append(True)
        return Verdict(verifier="hangs", passed=True)

    began = time.monotonic()
    verdict, after = (await judge([One("hangs", hangs, timeout=0.1), One("after")], subject)).verdicts
    assert time.monotonic() - began < 10
    assert ended == [True]
    assert (verdict.passed, verdict.signature, after.passed) == (False, "timed out", True)


async def test_a_verdict_is_bounded_masked_and_readable_whoever_made_it(subject: Subject) -> None:
    async def shouts(_subject: Subject) -> Verdict:
        output = "\x1b[31mFIRST hunter2-hunter2 \ud800\0" + "x" * 50_000_000 + "LAST"
        return Verdict.model_construct(
            verifier="somebody else", passed=False, output=output, signature="y" * 9_000 + "hunter2-hunter2"
        )

    checks = VerifierRun([One("shouts", shouts)], subject, redactor=Redactor(["hunter2-hunter2"]))
    began = time.monotonic()
    await checks.check_claim()
    assert time.monotonic() - began < 5
    (verdict,) = checks.result().verdicts
    assert verdict.verifier == "shouts"
    assert len(verdict.output) <= 4_000
    assert verdict.output.startswith("FIRST *** ")
    assert verdict.output.endswith("LAST")
    assert len(verdict.signature) <= 200
    assert "hunter2" not in verdict.model_dump_json()


@pytest.mark.parametrize("given", [None, True, "passed", {"passed": True}])
async def test_what_is_no_verdict_lets_nothing_pass(subject: Subject, given: object) -> None:
    async def does(_subject: Subject) -> Verdict:
        return given  # pyright: ignore[reportReturnType] - what an author may get wrong

    assert not (await judge([One("odd", does)], subject)).passed


async def test_an_undecided_verdict_never_passes(subject: Subject) -> None:
    async def does(_subject: Subject) -> Verdict:
        return Verdict(verifier="odd", passed=True, undecided=True)

    verification = await judge([One("odd", does)], subject)
    assert not verification.passed
    assert verification.refuted == ()
    assert [verdict.verifier for verdict in verification.undecided] == ["odd"]


async def test_what_is_used_is_told_and_counted_also_where_it_comes_to_nothing(subject: Subject) -> None:
    async def uses(subject: Subject) -> Verdict:
        subject.used(Usage(input_tokens=10))
        subject.used(Usage(input_tokens=30))
        raise OSError("the line is cut")

    told: list[int | None] = []
    checks = VerifierRun(
        [One("one", uses), One("two", uses)], subject, used=lambda usage: told.append(usage.input_tokens)
    )
    await checks.check_claim()
    assert told == [10, 30, 40, 60]
    assert checks.result().usage == Usage(input_tokens=60)


async def test_a_hearing_that_is_cut_short_keeps_what_was_said(subject: Subject) -> None:
    async def hangs(subject: Subject) -> Verdict:
        subject.used(Usage(output_tokens=7))
        await anyio.sleep(math.inf)
        raise AssertionError

    began: list[str] = []
    checks = VerifierRun([One("quick"), One("slow", hangs), One("never")], subject, began=began.append)
    with anyio.move_on_after(0.1):
        await checks.check_claim()
    verification = checks.result("max_duration: 5 of 5")
    assert began == ["quick", "slow"]
    assert [(verdict.verifier, verdict.passed) for verdict in verification.verdicts] == [
        ("quick", True),
        ("slow", False),
    ]
    assert (verification.passed, verification.refuted, verification.usage.output_tokens) == (False, (), 7)
    assert "max_duration" in verification.verdicts[1].output


async def test_one_that_is_cut_short_after_all_have_passed_does_not_count_as_passed(subject: Subject) -> None:
    checks = VerifierRun([One("quick")], subject)
    await checks.check_claim()
    assert checks.result().passed
    assert not checks.result("SIGINT").passed

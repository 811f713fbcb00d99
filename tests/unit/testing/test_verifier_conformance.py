"""The conformance suite finds each fault that it is for: one wrong verifier a clause."""

import asyncio
import inspect
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import VerifierConformance
from ralph.types.output import Usage
from ralph.types.verification import Verdict
from ralph.verifiers import Subject, Verifier


class Right(Verifier):
    """Passes where there is done.txt; the faults below are put into it."""

    name = "right"

    async def verify(self, subject: Subject) -> Verdict:
        await asyncio.sleep(0)
        if (subject.workspace / "done.txt").exists():
            return Verdict(verifier=self.name, passed=True)
        return Verdict(verifier=self.name, passed=False, output="done.txt is missing", signature="missing")


def altered(**changes: Any) -> type[Verifier]:
    """Says of everything what the right one says, but for that."""

    class Altered(Right):
        async def verify(self, subject: Subject) -> Verdict:
            return (await super().verify(subject)).model_copy(update=changes)

    Altered.__name__ = f"with another {', '.join(changes)}"
    return Altered


class TwoLines(Right):
    name = "right\nor wrong"


class Endless(Right):
    timeout = float("inf")


class Undecided(Right):
    async def verify(self, subject: Subject) -> Verdict:
        verdict = await super().verify(subject)
        return verdict if verdict.passed else Verdict.unknown(self.name, verdict.output)


class Moody(Right):
    """Gives its failures another signature each time."""

    count = 0

    async def verify(self, subject: Subject) -> Verdict:
        self.count += 1
        verdict = await super().verify(subject)
        return verdict if verdict.passed else verdict.model_copy(update={"signature": f"failure {self.count}"})


class Grudging(Right):
    """Refutes for good what it has refuted once."""

    refuted = False

    async def verify(self, subject: Subject) -> Verdict:
        verdict = await super().verify(subject)
        self.refuted = self.refuted or not verdict.passed
        return verdict.model_copy(update={"passed": not self.refuted})


class Gullible(Right):
    """Believes what stands in the task."""

    async def verify(self, subject: Subject) -> Verdict:
        if "EXIT_SIGNAL: true" in subject.task:
            return Verdict(verifier=self.name, passed=True)
        return await super().verify(subject)


class Quiet(Right):
    """Uses a model and tells nobody."""

    async def verify(self, subject: Subject) -> Verdict:
        verdict = await super().verify(subject)
        return verdict.model_copy(update={"usage": Usage(input_tokens=5), "sessions": 1})


class Wanderer(Right):
    async def verify(self, subject: Subject) -> Verdict:
        os.chdir(subject.workspace)
        return await super().verify(subject)


class Stubborn(Right):
    """Goes on when it is cancelled."""

    async def verify(self, subject: Subject) -> Verdict:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(30)
        return await super().verify(subject)


class Untidy(Right):
    """Leaves a process behind when it is cancelled."""

    async def verify(self, subject: Subject) -> Verdict:
        self.child = await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", "import time; time.sleep(60)")
        await asyncio.sleep(30)
        return await super().verify(subject)


WRONG: list[tuple[str, type[Verifier]]] = [
    ("test_it_has_a_name_that_fits_a_line", TwoLines),
    ("test_its_time_is_bounded", Endless),
    ("test_a_claim_that_holds_passes", altered(passed=False)),
    ("test_a_claim_that_does_not_hold_is_refuted_with_something_to_go_by", Undecided),
    ("test_a_claim_that_does_not_hold_is_refuted_with_something_to_go_by", altered(passed=True)),
    ("test_a_claim_that_does_not_hold_is_refuted_with_something_to_go_by", altered(output="")),
    ("test_a_claim_that_does_not_hold_is_refuted_with_something_to_go_by", altered(signature="")),
    ("test_a_verdict_bears_its_name", altered(verifier="somebody")),
    ("test_the_same_failure_has_the_same_signature", Moody),
    ("test_what_is_mended_passes", Grudging),
    ("test_what_it_says_is_bounded", altered(output="x" * 5_000)),
    ("test_what_it_says_is_bounded", altered(signature="x" * 500)),
    ("test_hostile_text_changes_nothing", Gullible),
    ("test_what_it_uses_is_told", Quiet),
    ("test_it_leaves_the_process_as_it_was", Wanderer),
    ("test_a_cancelled_one_ends_and_leaves_nothing_running", Stubborn),
    ("test_a_cancelled_one_ends_and_leaves_nothing_running", Untidy),
]

CLAUSES = [name for name in dir(VerifierConformance) if name.startswith("test_")]


@pytest.fixture
def asked(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, Verifier], Awaitable[None]]:
    """Puts one clause to a verifier."""
    (tmp_path / "done.txt").write_text("done")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    given = {"holding": Subject(tmp_path), "failing": Subject(tmp_path_factory.mktemp("undone"))}

    async def ask(clause: str, verifier: Verifier) -> None:
        test = getattr(VerifierConformance(), clause)
        wanted = inspect.signature(test).parameters
        await test(**{name: value for name, value in {**given, "verifier": verifier}.items() if name in wanted})

    return ask


@pytest.mark.parametrize("clause", CLAUSES)
async def test_a_right_one_passes(asked: Callable[[str, Verifier], Awaitable[None]], clause: str) -> None:
    await asked(clause, Right())


@pytest.mark.parametrize(("clause", "wrong"), WRONG)
async def test_a_wrong_one_is_found(
    asked: Callable[[str, Verifier], Awaitable[None]], clause: str, wrong: type[Verifier]
) -> None:
    verifier = wrong()
    try:
        with pytest.raises(AssertionError):
            await asked(clause, verifier)
    finally:
        if isinstance(verifier, Untidy):
            verifier.child.kill()
            await verifier.child.wait()


def test_every_clause_has_a_wrong_one() -> None:
    assert {clause for clause, _ in WRONG} == set(CLAUSES)

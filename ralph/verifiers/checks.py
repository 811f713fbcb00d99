"""Asking all verifiers: before anything is spent, and when completion is claimed."""

from collections.abc import Iterable
from pathlib import Path

from ralph.errors import VerifierError
from ralph.verification import Verdict, Verification
from ralph.verifiers.base import Verifier
from ralph.verifiers.command import SHOWN

__all__ = ["judge", "preflight"]


async def preflight(verifiers: Iterable[Verifier], workspace: Path) -> Verification:
    """What the verifiers say before the first iteration, each run once. Whether they pass decides nothing yet.

    Raises:
        VerifierError: one of them cannot start.
    """
    return Verification(verdicts=tuple([await verifier.verify(workspace) for verifier in verifiers]))


async def judge(verifiers: Iterable[Verifier], workspace: Path) -> Verification:
    """What the verifiers say of a claim of completion. One that could start before the run and cannot any more
    refutes the claim, for then its program was taken away; it never raises because of that.
    """
    return Verification(verdicts=tuple([await _judge(verifier, workspace) for verifier in verifiers]))


async def _judge(verifier: Verifier, workspace: Path) -> Verdict:
    try:
        return await verifier.verify(workspace)
    except VerifierError as error:
        return Verdict(verifier=verifier.name, passed=False, output=str(error)[:SHOWN], signature="cannot start")

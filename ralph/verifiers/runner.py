"""The runner of verifiers, before the first iteration and for each claim of completion.

A verifier may raise, hang, print without end or exceed the run's limits. None of that reaches the loop: its verdict is
bounded and masked, it is cancelled after its time-out, and its usage counts even without a verdict.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from time import monotonic
from typing import cast

import anyio

from ralph.analysis.metrics import error_signature
from ralph.errors import VerifierError, in_words
from ralph.system.foreign import maker, named, pass_on, show_traceback
from ralph.system.secrets import Redactor
from ralph.types import evolve
from ralph.types.output import Usage
from ralph.types.verification import Verdict, Verification
from ralph.verifiers.base import SIGNATURE, Subject, Verifier, clipped, readable

_GRACE = 10.0
"""Seconds beyond its own time-out that a verifier has to end by itself."""


class VerifierRun:
    """The verifiers' results for one claim. An interrupted run of them keeps the results so far.

    Cheap verifiers run first, all of them, so that the agent receives every failure at once. Expensive ones
    (`Verifier.before_run` is False) run only for a claim that all earlier ones accept.

    Args:
        verifiers: the run's.
        redactor: masks secrets in the verdicts.
        changed: files that the run has changed, by the name of the check that depends on them.
        began: receives the name of each verifier when it starts.
        used: receives the usage so far.

    Attributes:
        told: what the agent is told, by the masked output in whose place it is.
    """

    def __init__(
        self,
        verifiers: Iterable[Verifier],
        subject: Subject,
        *,
        redactor: Redactor | None = None,
        changed: Mapping[str, tuple[str, ...]] | None = None,
        began: Callable[[str], None] | None = None,
        used: Callable[[Usage], None] | None = None,
    ) -> None:
        self._verifiers = sorted(verifiers, key=lambda verifier: not verifier.before_run)
        self._subject = replace(subject, meter=self._metered, listener=self._listen)
        self._mask = redactor or Redactor()
        self._changed = changed or {}
        self._began, self._told = began, used
        self._verdicts: list[Verdict] = []
        self._asked: Verifier | None = None
        self._usage, self._said = Usage(), ""
        self.told: dict[str, str] = {}

    async def check_claim(self) -> None:
        """Check a claim of completion.

        A verifier that raises refutes it, even one that could start before the run: then its program was removed.
        """
        for verifier in self._verifiers:
            if not verifier.before_run and not all(verdict.passed for verdict in self._verdicts):
                return
            await self._ask(verifier)

    async def check_start(self) -> None:
        """Run the verifiers for the start of a run. Their verdicts decide nothing yet.

        Raises:
            VerifierError: a verifier cannot start.
        """
        for verifier in self._verifiers:
            if verifier.before_run:
                await self._ask(verifier, starting=True)

    def result(self, cut_short: str = "") -> Verification:
        """Return the results so far, with the usage of a verifier that was interrupted."""
        verdicts = list(self._verdicts)
        if self._asked is not None:
            verdict = Verdict.unknown(self._asked.name, f"It was cut short: {cut_short}.")
            verdicts.append(evolve(verdict, usage=self._usage))
        return Verification(verdicts=tuple(verdicts), cut_short=cut_short)

    async def _ask(self, verifier: Verifier, *, starting: bool = False) -> None:
        self._asked, self._usage, self._said, began = verifier, Usage(), "", monotonic()
        if self._began is not None:
            self._began(verifier.name)
        verdict = self._bounded(verifier, await self._verdict(verifier, starting=starting), monotonic() - began)
        self._asked = None
        self._verdicts.append(verdict)

    async def _verdict(self, verifier: Verifier, *, starting: bool) -> Verdict:
        try:
            with anyio.move_on_after(verifier.timeout + _GRACE):
                said = cast("object", await verifier.verify(self._subject))
                if isinstance(said, Verdict):
                    return said
                return _raised(verifier, f"it gave {type(said).__name__}")
        except VerifierError as error:
            if starting:
                raise
            return _refuted(verifier, str(error), "cannot start")
        except BaseException as error:
            pass_on(error)
            why = in_words(error)
            show_traceback(error)
            if starting:
                who = named(f"The verifier {verifier.name!r}", maker(verifier))
                raise VerifierError(
                    self._mask(f"{who} failed before the run: {why[:SIGNATURE]}."),
                    "Fix it, or leave it out.",
                ) from error
            return _raised(verifier, why)
        return _refuted(verifier, f"It was ended after {verifier.timeout + _GRACE:g} s.", "timed out")

    def _bounded(self, verifier: Verifier, verdict: Verdict, duration: float) -> Verdict:
        """Return the verdict in the form that is safe to store and show, and keep what the agent is told."""
        output = clipped(readable(verdict.output, self._mask))
        self.told[output] = clipped(readable(self._said or verdict.output, self._mask.for_agent()))
        return evolve(
            verdict,
            verifier=verifier.name,
            passed=verdict.passed and not verdict.undecided,
            changed=self._mask.each(self._changed.get(verifier.name, ())),
            fresh=not verifier.before_run,
            output=output,
            signature="" if verdict.passed else self._mask(verdict.signature[:SIGNATURE]),
            duration=verdict.duration or duration,
            usage=verdict.usage if verdict.usage != Usage() else self._usage,
        )

    def _listen(self, output: str) -> None:
        self._said = output

    def _metered(self, usage: Usage) -> None:
        self._usage = usage
        if self._told is not None:
            self._told(sum((verdict.usage for verdict in self._verdicts), usage))


def _refuted(verifier: Verifier, why: str, signature: str) -> Verdict:
    return Verdict(verifier=verifier.name, passed=False, output=why, signature=signature)


def _raised(verifier: Verifier, why: str) -> Verdict:
    who = named("The verifier itself", maker(verifier))
    return _refuted(verifier, f"{who} failed: {why}.", error_signature(f"failed: {why[:SIGNATURE]}"))

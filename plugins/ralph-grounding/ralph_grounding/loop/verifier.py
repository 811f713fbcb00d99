"""`--verifier grounding`: a run does not complete before its documents make the expected claims."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio import to_thread

from ralph.errors import RalphError, UsageError, VerifierError
from ralph.types import evolve
from ralph.types.verification import Verdict
from ralph.verifiers import Subject, Verifier
from ralph_grounding.analyzer import GroundingAnalyzer
from ralph_grounding.ground_truth.claims_file import read_claims
from ralph_grounding.ground_truth.files import read_text
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.ground_truth.reading import read_ground_truth
from ralph_grounding.loop.contradictions import Finding, contradictions, excess
from ralph_grounding.loop.documents import Documents, changed, matching
from ralph_grounding.loop.shortfalls import Minimums, shortfalls
from ralph_grounding.materials import AIResponse, ExpectedAnswer, Query
from ralph_grounding.result import AnalysisResult
from ralph_grounding.settings import GroundingKeys, GroundingSettings

__all__ = ["GroundingVerifier"]

_MOST_TOLD = 4_000
_MOST_JUDGED = 2_000_000
_LEAST = Minimums(accuracy=70, completeness=100, attribution=50)
"""The minimum for material that is named without one."""


class _Material(NamedTuple):
    """The material that documents are judged against."""

    query: Query
    ground: GroundTruth


class GroundingVerifier(Verifier):
    """Verifier that passes when the documents of a workspace reach the minimum scores.

    The material is read before the first iteration and kept: an agent that changes its files during the run changes
    nothing.

    Args:
        keys: what to hold against what; a missing minimum is 100 for claims, 70 for a reference, and 50 for a domain or
            brand.

    Raises:
        UsageError: the keys name nothing to hold a document against, or no ground truth for max_unsupported.
    """

    name = "grounding"

    def __init__(self, keys: GroundingKeys, settings: GroundingSettings, *, timeout: float = 600.0) -> None:
        if not any((keys.claims, keys.reference, keys.ground_truth, keys.domain, keys.brand)):
            raise UsageError(
                "The verifier 'grounding' has nothing to hold a document against.",
                "Name claims, ground truth, a reference or a domain, as in "
                "grounding:claims=claims.yaml,min_completeness=80.",
            )
        if keys.max_unsupported is not None and not keys.ground_truth:
            raise UsageError(
                "The verifier 'grounding' cannot count unsupported statements: max_unsupported needs a ground truth.",
                "Name it as well, as in grounding:ground_truth=facts,max_unsupported=0, or leave max_unsupported out.",
            )
        self.timeout = timeout
        self._keys = keys
        self._settings = evolve(settings, max_response=max(settings.max_response, _MOST_JUDGED))
        self._minimums = _minimums(keys)
        self._held: _Material | None = None

    @property
    def condition(self) -> str:
        asked = ", ".join(
            f"{name} at least {least:g} of 100" for name, least in self._minimums._asdict().items() if least is not None
        )
        asked = asked or f"at most {self._keys.max_contradictions} statements that contradict them"
        return f"{self._keys.file or 'the documents that you change'} must agree with the facts: {asked}"

    async def verify(self, subject: Subject) -> Verdict:
        if self._held is None:
            self._held = await _read(self._keys, subject.workspace)
        documents = await self._documents(subject)
        if not documents.text.strip():
            where = f"matches {self._keys.file}" if self._keys.file else "has been changed"
            said = f"There is no document to judge: none with words in it {where}."
            said = "\n".join([said, *(f"- {problem}" for problem in documents.problems)])[:_MOST_TOLD]
            return Verdict(verifier=self.name, passed=False, output=said, signature="grounding: no document")
        # A thread with its own event loop: comparing many words occupies the processor for a while.
        judge = partial(_judged, documents.text, self._held, self._settings, evidence=bool(self._keys.ground_truth))
        result, found = await to_thread.run_sync(anyio.run, judge, abandon_on_cancel=True)
        short = shortfalls(result, self._minimums, documents.place)
        keys = self._keys
        more = excess(found, result, keys.max_contradictions, keys.max_unsupported, documents.place)
        short += [one for one in more if one not in short]
        notes = [*short, *(result.notes if short else ()), *documents.problems]
        output = "\n".join([f"Judged: {', '.join(documents.names)}", *(f"- {note}" for note in notes)])
        return Verdict(
            verifier=self.name,
            passed=not short,
            output=output[:_MOST_TOLD],
            signature=_signature(short) if short else "",
        )

    async def _documents(self, subject: Subject) -> Documents:
        kept_out = [self._keys.claims, self._keys.reference, *_several(self._keys.ground_truth)]
        if self._keys.file:
            patterns = _several(self._keys.file)
            return await to_thread.run_sync(matching, subject.workspace, patterns, kept_out)
        difference = await subject.diff(_MOST_JUDGED) if subject.difference else None
        return await to_thread.run_sync(changed, subject.workspace, difference, kept_out)


async def _judged(
    text: str, held: _Material, settings: GroundingSettings, *, evidence: bool
) -> tuple[AnalysisResult, list[Finding]]:
    response = AIResponse(query_id=held.query.id, response=text)
    async with GroundingAnalyzer(settings) as analyzer:
        result = await analyzer.analyze(response, held.query, held.ground, evidence=evidence)
    return result, contradictions(text, held.query.expected.claims or (), result)


def _signature(short: Sequence[str]) -> str:
    """Return what is the same in two verdicts on the same failure: the facts, without scores, counts and places."""
    facts = (
        said.partition(" (")[0] for said in short if said.startswith(("missing:", "contradicted:", "unsupported:"))
    )
    return "; ".join(dict.fromkeys(facts))[:300] or "grounding"


def _minimums(keys: GroundingKeys) -> Minimums:
    """Return the given minimums, and the defaults for the named material."""
    named = Minimums(
        accuracy=_LEAST.accuracy if keys.reference else None,
        completeness=_LEAST.completeness if keys.claims else None,
        attribution=_LEAST.attribution if keys.domain or keys.brand else None,
    )
    asked = Minimums.of(keys)
    return Minimums(*(own if own is not None else default for own, default in zip(asked, named, strict=True)))


async def _read(keys: GroundingKeys, workspace: Path) -> _Material:
    """Read what the keys name. Raises `VerifierError` if it cannot be read."""
    brands = _several(keys.brand)
    try:
        expected = ExpectedAnswer(
            text=read_text(workspace / keys.reference) if keys.reference else "",
            claims=read_claims(workspace / keys.claims) if keys.claims else None,
        )
        ground = GroundTruth(domain=keys.domain, brands=brands)
        if keys.ground_truth:
            places = [str(workspace / place) for place in _several(keys.ground_truth)]
            ground = await read_ground_truth(places, domain=keys.domain, brands=brands)
    except RalphError as error:
        raise VerifierError(f"The verifier 'grounding' cannot start: {error.problem}", error.remedy) from error
    return _Material(Query(id="documents", text="", expected=expected), ground)


def _several(key: str) -> tuple[str, ...]:
    """Split a key at its commas."""
    return tuple(part.strip() for part in key.split(",") if part.strip())

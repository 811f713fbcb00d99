"""Similarity by words: no model, no download, and every verdict can be traced to its words."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from ralph_grounding.similarity.base import NO_SIMILARITY, Nearest, Similarity, SimilarityProvider, Support
from ralph_grounding.similarity.calibration import calibrated, lexical_parameters
from ralph_grounding.similarity.claim import Claim, prepare_claims
from ralph_grounding.similarity.conflicts import find_conflicts
from ralph_grounding.similarity.windows import Place, Reading, Windows
from ralph_grounding.text.language import guess_language
from ralph_grounding.text.sentences import Span, trimmed

__all__ = ["LexicalProvider"]

_STRETCH = 100_000
"""Characters of a response to index at a time, which bounds the memory for a long one."""
_BLOCK = 100
"""Tokens. The responses behind the fitted parameters have at most two blocks."""
_READ = 4
"""Windows to read for a claim: those with most of its words."""
_CONTESTABLE = 0.3
"""The recall below which the text is about something else, and cannot conflict with the claim."""
_FOR_LANGUAGE = 2_000
_INDEXES = 2


class LexicalProvider(SimilarityProvider):
    """Provider that measures by words: stems, English synonyms, similar spelling, numbers, and the places of words.

    The raw similarity of a claim is the share of its words, by weight, that the response has within a stretch of about
    200 words. Names, numbers, long words and the end of a claim weigh more than everyday words and those that all
    claims share. Words in the same places weigh a little more. If the response contradicts the claim (see
    `find_conflicts`), the raw similarity is reduced below the decision point, in proportion.
    """

    name = "lexical"

    async def supports(self, claims: Sequence[str], response: str) -> list[Support]:
        """Measure how far the response makes each of the claims.

        Time grows with the length of the response; memory stays constant beyond 100,000 characters.
        """
        from anyio.lowlevel import checkpoint

        best = [Support(NO_SIMILARITY, 0, 0) for _ in claims]
        if not claims or not response.strip():
            return best
        language = guess_language(f"{response[:_FOR_LANGUAGE]} {' '.join(claims)[:_FOR_LANGUAGE]}")
        asked = prepare_claims(claims, language)
        block = _block_for(asked)
        for number, stretch in enumerate(_stretches(response)):
            if number:
                await checkpoint()
            windows = Windows([Place(response, stretch)], language, block)
            for place, claim in enumerate(asked):
                support = _support(claim, windows, response, stretch)
                if support.similarity.raw > best[place].similarity.raw:
                    best[place] = support
        return best

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        from ralph_grounding.similarity.answers import agreement

        return agreement(reference, response, question)

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        """Find for each segment the passage that makes it as a claim.

        The passages are indexed once; the indexes of the last few lists are cached.
        """
        if not passages:
            return [Nearest(-1, NO_SIMILARITY) for _ in segments]
        language = guess_language(" ".join(passage[:200] for passage in passages[:20]))
        asked = [claim for segment in segments for claim in prepare_claims([segment], language)]
        index = (_kept_index if len(passages) > 1 else _index)(tuple(passages), language, _block_for(asked))
        return [_nearest(claim, index) for claim in asked]


def _block_for(claims: Sequence[Claim]) -> int:
    """Return the tokens of a block: the usual number, doubled until the longest claim fits.

    Few different sizes let an index serve several calls.
    """
    longest = max((len(claim.tokens) for claim in claims), default=0)
    block = _BLOCK
    while block < longest:
        block *= 2
    return block


def _stretches(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        end = min(start + _STRETCH, len(text))
        if end < len(text):
            end = max(text.rfind(" ", start, end), text.rfind("\n", start, end)) + 1 or end
        yield Span(start, end)
        start = end


def _support(claim: Claim, windows: Windows, response: str, stretch: Span) -> Support:
    if not claim.tokens:
        return _literal(claim.text.strip(), response, stretch)
    readings = (windows.window(number).read(claim) for number in windows.candidates(claim, _READ))
    reading = max(readings, key=lambda reading: reading.recall, default=Reading(0.0, (), 0, 0))
    if not reading.recall:
        return Support(NO_SIMILARITY, 0, 0)
    start, end = trimmed(response, Span(reading.start, reading.end))
    same_thing = reading.recall >= _CONTESTABLE
    conflicts = find_conflicts(claim.text, response[start:end], start, claim.language) if same_thing else ()
    return Support(_similarity(reading.recall, contested=bool(conflicts)), start, end, conflicts)


def _similarity(recall: float, *, contested: bool = False) -> Similarity:
    decision = lexical_parameters().decision
    raw = recall * decision if contested else recall
    return Similarity(calibrated(raw, decision), raw)


def _literal(claim: str, response: str, stretch: Span) -> Support:
    """Judge a claim without words, of signs alone: it is there or it is not."""
    start = response.find(claim, *stretch) if claim else -1
    return Support(NO_SIMILARITY, 0, 0) if start < 0 else Support(Similarity(1.0, 1.0), start, start + len(claim))


def _nearest(claim: Claim, index: Windows) -> Nearest:
    best, most = -1, 0.0
    for number in index.candidates(claim, _READ):
        recall = index.window(number).read(claim).recall
        if recall > most:
            best, most = index.place_of(number), recall
    return Nearest(best, _similarity(most)) if most else Nearest(-1, NO_SIMILARITY)


def _index(passages: tuple[str, ...], language: str, block: int) -> Windows:
    return Windows([Place(passage, Span(0, len(passage))) for passage in passages], language, block)


_kept_index = lru_cache(maxsize=_INDEXES)(_index)
"""The indexes of the last few lists. One of a single passage is not cached: it is cheaper to rebuild than a long one.
"""

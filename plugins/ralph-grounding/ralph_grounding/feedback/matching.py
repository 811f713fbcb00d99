"""Each piece of a response, usually a sentence, with the most similar passage of the ground truth."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ralph_grounding.ground_truth.pages import Chunk, GroundTruth, Page
from ralph_grounding.result import Conflict, TextPosition
from ralph_grounding.scoring.tiers import is_above
from ralph_grounding.similarity.base import Nearest, SimilarityProvider, check
from ralph_grounding.similarity.calibration import DECISION
from ralph_grounding.similarity.claim import prepare_claims
from ralph_grounding.similarity.clauses import clauses
from ralph_grounding.similarity.conflicts import find_conflicts
from ralph_grounding.similarity.statement import statement
from ralph_grounding.similarity.verdicts import Ruling, Verdicts
from ralph_grounding.text.language import guess_language
from ralph_grounding.text.sentences import Span, sentences, trimmed
from ralph_grounding.text.tokens import tokens
from ralph_grounding.text.words import FUNCTION_WORDS

__all__ = ["Evidence", "Match", "Source", "evidence", "is_statement", "match", "pieces"]

_LONGEST = 1000
_MOST = 2000
_FEWEST_WORDS = 3
_HEADING = re.compile(r"\s{0,8}#{1,6}\s")
_CLOSING = " \t\r\n\"'”’»)]*_`"
_LOOKED_AT = 400
_ADDRESS = re.compile(r"\bhttps?://\S+")


def pieces(response: str) -> list[Span]:
    """Cut the response into stretches that together cover it, each with the white space after it.

    A sentence of more than 1,000 characters is cut at white space; beyond 2,000 pieces neighbours are joined.
    """
    cut = [piece for sentence in sentences(response) for piece in _cut(response, sentence)]
    return list(_joined(cut, -(-len(cut) // _MOST)))


def is_statement(text: str) -> bool:
    """Return True if a piece states something.

    It needs three words or more besides addresses, and is not a question, a heading or an announcement.
    """
    if _HEADING.match(text) or text.rstrip(_CLOSING).endswith(("?", "？", ":", "：")):
        return False
    return len(tokens(_ADDRESS.sub(" ", text[:_LOOKED_AT]))) >= _FEWEST_WORDS


def _cut(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    while span.end - start > _LONGEST:
        space = max(text.rfind(" ", start, start + _LONGEST), text.rfind("\n", start, start + _LONGEST))
        end = space + 1 if space > start else start + _LONGEST
        yield Span(start, end)
        start = end
    yield Span(start, span.end)


def _joined(spans: Sequence[Span], size: int) -> Iterator[Span]:
    for first in range(0, len(spans), max(size, 1)):
        yield Span(spans[first].start, spans[min(first + size, len(spans)) - 1].end)


_FOR_LANGUAGE = 2000
_FUNCTION_WORD = 0.1


class Evidence(NamedTuple):
    """A sentence of a passage.

    Attributes:
        shared: 0–1, the share of content words, without numbers, in common with the statement, relative to the one that
            has fewer.
    """

    text: str
    shared: float


class _Sentence(NamedTuple):
    text: str
    content: frozenset[str]
    others: frozenset[str]


def evidence(passage: str, statement: str) -> Evidence:
    """Return the sentence with most words in common with the statement: the shorter of two, the first if none."""
    language = guess_language(passage[:_FOR_LANGUAGE])
    said = _sentence(statement, language)

    def worth(sentence: _Sentence) -> tuple[float, int]:
        common = len(sentence.content & said.content) + _FUNCTION_WORD * len(sentence.others & said.others)
        return common, -len(sentence.text)

    best = max(_sentences(passage, language), key=worth, default=_Sentence("", frozenset(), frozenset()))
    fewer = min(len(best.content), len(said.content))
    return Evidence(best.text, len(best.content & said.content) / fewer if fewer else 0.0)


@lru_cache(maxsize=512)
def _sentences(passage: str, language: str) -> tuple[_Sentence, ...]:
    spans = (trimmed(passage, span) for span in sentences(passage))
    return tuple(_sentence(passage[span.start : span.end], language) for span in spans if span.start < span.end)


def _sentence(text: str, language: str) -> _Sentence:
    function_words = FUNCTION_WORDS.get(language, frozenset[str]())
    content: set[str] = set()
    others: set[str] = set()
    for token in tokens(text, language):
        (others if token.number or token.word in function_words else content).add(token.stem)
    return _Sentence(text, frozenset(content), frozenset(others))


_RELATED = 0.5
"""The lowest calibrated similarity and share of common words at which a statement counts as being on the same subject.
"""


class Source(NamedTuple):
    """The counterpart of a piece in the ground truth. `text` is the sentence that it has most in common with."""

    chunk: Chunk
    page: Page
    text: str


class Match(NamedTuple):
    """The counterpart found for a piece.

    Attributes:
        span: the piece; the spans of all matches together cover the response.
        stated: the same without white space at its ends.
        source: None if nothing is similar.
        similarity: calibrated.
        conflicts: the differences between the piece and its source, with positions in the response.
        fallback: measured by words, because the similarity provider did not answer.
    """

    span: Span
    stated: Span
    source: Source | None = None
    similarity: float = 0.0
    conflicts: tuple[Conflict, ...] = ()
    fallback: bool = False

    def is_supported(self, threshold: float) -> bool:
        """Return True if the ground truth supports the piece: it is similar enough, without a conflict."""
        return self.source is not None and is_above(self.similarity, threshold) and not self.conflicts


async def match(response: str, ground_truth: GroundTruth, provider: SimilarityProvider) -> list[Match]:
    """Return the pieces in order, each with its source.

    Raises:
        ProviderError: the provider does not answer.
    """
    cut = [(piece, trimmed(response, piece)) for piece in pieces(response)]
    chunks = ground_truth.chunks
    said = [stated for _, stated in cut if stated.start < stated.end]
    if not chunks or not said:
        return [Match(*spans) for spans in cut]
    segments = [response[stated.start : stated.end] for stated in said]
    nearest = await provider.nearest(segments, [chunk.text for chunk, _ in chunks])
    check(provider, (near.similarity for near in nearest))
    found = dict(zip(said, nearest, strict=True))
    return [
        _matched(response, piece, stated, found[stated], chunks) if stated in found else Match(piece, stated)
        for piece, stated in cut
    ]


def _matched(
    response: str, piece: Span, stated: Span, nearest: Nearest, chunks: tuple[tuple[Chunk, Page], ...]
) -> Match:
    if nearest.passage < 0:
        return Match(piece, stated, fallback=nearest.similarity.fallback)
    chunk, page = chunks[nearest.passage]
    text = response[stated.start : stated.end]
    ruling = _ruling(chunk, text)
    value, conflicts = nearest.similarity.value, tuple[Conflict, ...]()
    match ruling.outcome:
        case "contradicted" if value < _RELATED:
            return Match(piece, stated, Source(chunk, page, evidence(chunk.text, text).text), value)
        case "contradicted":
            conflicts = tuple(_turned(conflict, text, stated) for conflict in ruling.conflicts)
        case "present":
            value = max(value, DECISION + (1 - DECISION) * ruling.share)
        case "lacking":
            value = min(value, DECISION * value if value > DECISION else value)
        case _:
            pass
    found = evidence(chunk.text, text)
    source = chunk.text[ruling.span.start : ruling.span.end] if ruling.outcome != "unsure" else found.text
    if ruling.outcome == "unsure" and nearest.similarity.value >= _RELATED and found.shared >= _RELATED:
        conflicts = find_conflicts(found.text, text, stated.start)
    return Match(piece, stated, Source(chunk, page, source), value, conflicts, nearest.similarity.fallback)


def _ruling(chunk: Chunk, text: str) -> Ruling:
    """Return the verdict of a passage on a piece: contradicted if a part of it is, present if all parts are."""
    language = guess_language(chunk.text[:_FOR_LANGUAGE])
    verdicts = _verdicts(chunk.text, chunk.heading, language)
    whole, parts = _on(verdicts, text, language), _parts(text, language)
    if whole.outcome in {"present", "contradicted"} or len(parts) < 2:
        return whole
    rulings = [_on(verdicts, part, language) for part in parts]
    for ruling in rulings:
        if ruling.outcome == "contradicted":
            return ruling
    if all(ruling.outcome == "present" for ruling in rulings):
        return min(rulings, key=lambda ruling: ruling.share)
    return whole if whole.outcome == "lacking" else whole._replace(outcome="lacking")


def _parts(text: str, language: str) -> list[str]:
    said = statement(text, language)
    return [
        text[said.words[clause.first].start : said.words[clause.last - 1].end]
        for clause in clauses(said)
        if sum(said.content[clause.first : clause.last]) > 1
    ]


def _on(verdicts: Verdicts, text: str, language: str) -> Ruling:
    (claim,) = prepare_claims([text], language)
    return verdicts.on(claim)


@lru_cache(maxsize=256)
def _verdicts(text: str, heading: str, language: str) -> Verdicts:
    return Verdicts(text, language, heading)


def _turned(conflict: Conflict, text: str, stated: Span) -> Conflict:
    """Turn a conflict round: the ground truth is expected, and the piece says otherwise."""
    at = text.find(conflict.expected)
    start, end = (at, at + len(conflict.expected)) if at >= 0 and conflict.expected else (0, len(text))
    position = TextPosition(start=stated.start + start, end=stated.start + end)
    return Conflict(kind=conflict.kind, expected=conflict.said, said=text[start:end], position=position)

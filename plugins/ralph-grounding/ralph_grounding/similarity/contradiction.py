"""The share of a reference that a response contradicts."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence

from ralph_grounding.similarity.conflicts import find_conflicts
from ralph_grounding.text import Token, sentences, tokens, trimmed
from ralph_grounding.text.designations import looks_like_designation

__all__ = ["contradicted"]

_MOST_SENTENCES = 32
_LONGEST = 1_000
"""The maximum length of a compared sentence, in characters."""
_PART = 0.4
"""The share of a sentence's words that another one must exceed to be about the same."""
_FEW = 32
"""The number of sentences with a word beyond which the word no longer distinguishes them."""


def contradicted(reference: str, response: str, words: Sequence[Token], language: str) -> float:
    """Return the share of the reference, 0–1, in sentences that the most similar one of the response contradicts.

    Names are left out, because one thing may have several, except those of one letter, as in "Plan B". Of a long
    reference only the first sentences are used.

    Args:
        reference: the expected answer.
        response: the response's text.
        words: the response's tokens.
        language: an ISO code.
    """
    said = _Sentences(response, words)
    total = against = 0
    for span in sentences(reference)[:_MOST_SENTENCES]:
        start, end = trimmed(reference, span)
        claim = reference[start : min(end, start + _LONGEST)]
        total += len(claim)
        if claim in response:
            continue
        statement = said.most_similar({word.stem for word in tokens(claim, language)})
        if statement and any(
            conflict.kind != "entity" or looks_like_designation(conflict.expected)
            for conflict in find_conflicts(claim, statement, language=language)
        ):
            against += len(claim)
    return against / total if total else 0.0


class _Sentences:
    """The sentences of a text, indexed by their words."""

    def __init__(self, text: str, words: Sequence[Token]) -> None:
        self._text = text
        self._spans = sentences(text)
        starts = [span.start for span in self._spans]
        self._having: dict[str, list[int]] = defaultdict(list)
        for word in words:
            sentence = bisect_right(starts, word.start) - 1
            having = self._having[word.stem]
            if not having or having[-1] != sentence:
                having.append(sentence)

    def most_similar(self, stems: set[str]) -> str:
        """Return the sentence with most of the stems, the first of several; "" if none has enough of them."""
        counts = Counter(
            sentence for stem in stems if len(having := self._having.get(stem, ())) <= _FEW for sentence in having
        )
        best = min(counts, key=lambda sentence: (-counts[sentence], sentence), default=-1)
        if counts[best] <= _PART * len(stems):
            return ""
        span = self._spans[best]
        return self._text[span.start : min(span.end, span.start + _LONGEST)].strip()

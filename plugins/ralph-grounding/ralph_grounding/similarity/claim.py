"""Claims prepared for a search: the words of each, and the weight of every word."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ralph_grounding.similarity.calibration import lexical_parameters
from ralph_grounding.similarity.thesaurus import synonyms
from ralph_grounding.text.tokens import Token, is_designation, tokens_of
from ralph_grounding.text.words import FUNCTION_WORDS

__all__ = ["Claim", "ClaimToken", "Features", "prepare_claims"]

_LONG = 10
_LOOKED_AT = 10_000
"""The maximum length of a claim, in characters."""


class Features(NamedTuple):
    """The features of a claim's token, by the names and in the order of `TokenWeights`; 0–1, the length 0–2."""

    function: float
    number: float
    last: float
    length: float
    common: float
    shared: float


class ClaimToken(NamedTuple):
    """A token of a claim.

    Attributes:
        content: False for a function word.
        weight: its weight, above 0, from its features and the shipped parameters.
    """

    token: Token
    content: bool
    features: Features
    weight: float


class Claim(NamedTuple):
    """A claim, and the language that its words were analysed in."""

    text: str
    tokens: tuple[ClaimToken, ...]
    language: str


def prepare_claims(claims: Sequence[str], language: str) -> list[Claim]:
    """Prepare the claims of one call, in order.

    Words that many of the claims share, such as the name of their common subject, distinguish each claim least, so they
    weigh less. A single claim shares no words.
    """
    return list(_prepared(tuple(claims), language))


@lru_cache(maxsize=16)
def _prepared(claims: tuple[str, ...], language: str) -> tuple[Claim, ...]:
    found = [tokens_of(claim[:_LOOKED_AT], language) for claim in claims]
    sharing = Counter(stem for words in found for stem in {word.stem for word in words})
    others = max(1, len(claims) - 1)
    shares = {stem: (count - 1) / others for stem, count in sharing.items()}
    return tuple(
        Claim(claim, tuple(_weighed(claim, words, shares, language)), language)
        for claim, words in zip(claims, found, strict=True)
    )


def _weighed(text: str, words: Sequence[Token], shares: Mapping[str, float], language: str) -> Iterator[ClaimToken]:
    weights = lexical_parameters().weights
    function_words = FUNCTION_WORDS.get(language, frozenset[str]())
    content = [
        word.number or word.word not in function_words or is_designation(text, words, place, language)
        for place, word in enumerate(words)
    ]
    last = max((place for place, has_meaning in enumerate(content) if has_meaning), default=-1)
    for place, (word, has_meaning) in enumerate(zip(words, content, strict=True)):
        features = Features(
            function=not has_meaning,
            number=word.number,
            last=place == last,
            length=min(len(word.word), _LONG) / 5,
            common=has_meaning and bool(synonyms(word.stem, language)),
            shared=shares[word.stem],
        )
        yield ClaimToken(word, has_meaning, features, weights.of(features))

"""Claims as they are looked for: the words of each, and what every word counts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ralph_grounding.similarity.calibration import lexical_parameters
from ralph_grounding.similarity.thesaurus import synonyms
from ralph_grounding.text.designations import is_designation
from ralph_grounding.text.function_words import FUNCTION_WORDS
from ralph_grounding.text.tokens import Token, tokens

__all__ = ["Claim", "ClaimToken", "Features", "prepared"]

_LONG = 10
_LOOKED_AT = 10_000
"""Characters of a claim."""


class Features(NamedTuple):
    """What is known of a token of a claim, by the names and in the order of `TokenWeights`; 0–1, the length 0–2."""

    function: float
    number: float
    last: float
    length: float
    common: float
    shared: float


class ClaimToken(NamedTuple):
    """A token of a claim.

    Attributes:
        content: whether it has a meaning of its own, unlike a function word.
        weight: what it counts, above 0: what its features come to by the parameters that are shipped.
    """

    token: Token
    content: bool
    features: Features
    weight: float


class Claim(NamedTuple):
    """A claim, and the language whose rules its words were taken apart by."""

    text: str
    tokens: tuple[ClaimToken, ...]
    language: str


def prepared(claims: Sequence[str], language: str) -> list[Claim]:
    """The claims that are asked for together, in their order.

    What many of them have in common, such as the name of the thing that they all are about, tells least about each, so
    that it counts less in each. A claim on its own has nothing in common with another.
    """
    found = [tokens(claim[:_LOOKED_AT], language) for claim in claims]
    sharing = Counter(stem for words in found for stem in {word.stem for word in words})
    others = max(1, len(claims) - 1)
    shares = {stem: (count - 1) / others for stem, count in sharing.items()}
    return [
        Claim(claim, tuple(_weighed(claim, words, shares, language)), language)
        for claim, words in zip(claims, found, strict=True)
    ]


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

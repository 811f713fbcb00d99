"""How far a response says what a reference answer says, judged by their words.

It sees words, not truth: a false answer in the words of the right one is as like it as a true one, and a right answer
in words of its own is not. Four things are put together: how much of the reference is said, how much of what is said
is in the reference, whether the response declines to answer, and whether it has other numbers.
"""

from collections.abc import Collection, Sequence

from ralph_grounding.similarity.alternatives import alternatives
from ralph_grounding.similarity.base import NO_SIMILARITY, Similarity
from ralph_grounding.similarity.refusals import refuses
from ralph_grounding.similarity.spelling import Vocabulary
from ralph_grounding.text import Token, guess_language, tokens
from ralph_grounding.text.function_words import FUNCTION_WORDS

__all__ = ["agreement"]

_LOOKED_AT = 100_000
_FOR_LANGUAGE = 400

# Tuned by hand on answers that people judged: between .6 and .85 the first changes little, and so do the others.
_SAID = 0.75
_REFUSED = 0.5
_OTHER_NUMBERS = 0.7
_DECISION_POINT = 0.4


def agreement(reference: str, response: str, question: str = "") -> Similarity:
    """How far the response says what the reference says, the best of its alternatives if it names several.

    The same text is 1, a short reference somewhere in a long response about 0.75 (raw), and words that the question
    has already count half. Time grows with the texts' lengths, of which the first 100,000 characters are looked at.
    """
    reference, response = reference[:_LOOKED_AT], response[:_LOOKED_AT]
    if not reference.strip() or not response.strip():
        return NO_SIMILARITY
    language = guess_language(f"{reference[:_FOR_LANGUAGE]} {response[:_FOR_LANGUAGE]}")
    said = tokens(response, language)
    asked = {token.stem for token in tokens(question[:_LOOKED_AT], language)}
    vocabulary = Vocabulary(said)
    content = _content(said, language)
    raw = 0.0
    for wording in alternatives(reference):
        if wanted := tokens(wording, language):
            raw = max(raw, _likeness(wanted, content, vocabulary, asked, language))
        elif wording.strip() in response:
            raw = 1.0
    if refuses(response) and not refuses(reference):
        raw *= _REFUSED
    return Similarity(_calibrated(raw), raw)


def _likeness(
    wanted: Sequence[Token], said: Sequence[Token], vocabulary: Vocabulary, asked: Collection[str], language: str
) -> float:
    stems = {token.stem for token in wanted}
    recall = _recall(wanted, vocabulary, asked, language)
    precision = sum(token.stem in stems for token in said) / len(said) if said else 0.0
    likeness = _SAID * recall + (1 - _SAID) * precision
    return likeness * _OTHER_NUMBERS if _other_numbers(wanted, said, vocabulary, asked) else likeness


def _recall(wanted: Sequence[Token], vocabulary: Vocabulary, asked: Collection[str], language: str) -> float:
    words = ["", *(token.word for token in wanted), ""]
    shares = {token: vocabulary.share(token, words[place], words[place + 2]) for place, token in enumerate(wanted)}
    content = _content(wanted, language)
    recall = sum(shares[token] for token in content) / len(content)
    new = [token for token in content if token.stem not in asked]
    if not new:
        return recall
    return (recall + sum(shares[token] for token in new) / len(new)) / 2


def _other_numbers(
    wanted: Sequence[Token], said: Sequence[Token], vocabulary: Vocabulary, asked: Collection[str]
) -> bool:
    numbers = {token.stem for token in wanted if token.number}
    if all(number in vocabulary for number in numbers):
        return False
    return any(token.number and token.stem not in numbers and token.stem not in asked for token in said)


def _content(words: Sequence[Token], language: str) -> Sequence[Token]:
    """Without function words, unless there are no others."""
    function_words = FUNCTION_WORDS.get(language, frozenset())
    return [token for token in words if token.number or token.word not in function_words] or words


def _calibrated(raw: float) -> float:
    if raw <= _DECISION_POINT:
        return 0.75 * raw / _DECISION_POINT
    return 0.75 + 0.25 * (raw - _DECISION_POINT) / (1 - _DECISION_POINT)

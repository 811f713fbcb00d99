"""Agreement of a response with a reference answer, measured by their words.

It sees words, not truth: a false answer in the words of the right one is as similar as a true one, and a right answer
in other words is not. Four things are combined: how much of the reference is said, how much of the response is in the
reference, whether the response declines to answer, and whether it contradicts the reference.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from statistics import fmean

from pydantic import BaseModel, Field

from ralph_grounding.similarity.alternatives import alternatives
from ralph_grounding.similarity.base import Similarity
from ralph_grounding.similarity.calibration import calibrated
from ralph_grounding.similarity.contradiction import contradicted
from ralph_grounding.similarity.refusals import refuses
from ralph_grounding.similarity.spelling import Vocabulary
from ralph_grounding.text import Token, guess_language, tokens
from ralph_grounding.text.function_words import FUNCTION_WORDS

__all__ = ["AnswerParameters", "agreement", "answer_parameters", "likeness"]

_LOOKED_AT = 100_000
_FOR_LANGUAGE = 400


class AnswerParameters(BaseModel, frozen=True, extra="forbid"):
    """The weights of the parts.

    The plug-in's `tests/fit_answers.py` tries them on answers with human labels. None of them matters much: the best of
    all tried values hardly separate right from wrong better than the worst, and the moderate ones among the good are
    used.

    Attributes:
        said: the share of the similarity for the reference's words found in the response; the rest is for the
            response's words found in the reference.
        refused: the factor for a response that declines to answer.
        contested: the factor for a response that contradicts all of the reference, or has other numbers in its place.
        decision: the raw similarity at which an answer is as likely right as wrong.
    """

    said: float = Field(ge=0, le=1)
    refused: float = Field(ge=0, le=1)
    contested: float = Field(ge=0, le=1)
    decision: float = Field(gt=0, lt=1)


@lru_cache(maxsize=1)
def answer_parameters() -> AnswerParameters:
    """Load the shipped parameters."""
    written = resources.files("ralph_grounding.similarity").joinpath("answers.json").read_bytes()
    return AnswerParameters.model_validate_json(written)


def agreement(reference: str, response: str, question: str = "") -> Similarity:
    """Measure how far the response says what the reference says, or one of the alternatives that it names.

    A text has the similarity 1 to itself, and a short reference a raw 0.75 to a long response that contains it. Words
    of the question tell less, so the other words count twice. Time grows with the lengths of the texts, of which the
    first 100,000 characters are used.
    """
    parameters = answer_parameters()
    raw = likeness(reference, response, question, parameters)
    return Similarity(calibrated(raw, parameters.decision), raw)


def likeness(reference: str, response: str, question: str, parameters: AnswerParameters) -> float:
    """Compute the raw similarity, 0–1; 0 if one of them is blank."""
    reference, response = reference[:_LOOKED_AT], response[:_LOOKED_AT]
    if not reference.strip() or not response.strip():
        return 0.0
    language = guess_language(f"{reference[:_FOR_LANGUAGE]} {response[:_FOR_LANGUAGE]}")
    said = _Said(response, question[:_LOOKED_AT], language)
    wordings = alternatives(reference)
    highest = max(_likeness(wording, said, parameters) for wording in wordings)
    if refuses(response) and not refuses(reference):
        return highest * parameters.refused
    if not highest or len(wordings) > 1:
        return highest
    return highest * (1 - (1 - parameters.contested) * contradicted(reference, response, said.words, language))


class _Said:
    """The words of a response, and those of the question that it answers."""

    def __init__(self, response: str, question: str, language: str) -> None:
        self.text = response
        self.language = language
        self.words = tokens(response, language)
        self.vocabulary = Vocabulary(self.words)
        self.content = _content(self.words, language)
        self.asked = {word.stem for word in tokens(question, language)}


def _likeness(wording: str, said: _Said, parameters: AnswerParameters) -> float:
    wanted = tokens(wording, said.language)
    if not wanted:  # symbols alone
        return float(wording.strip() in said.text)
    stems = {word.stem for word in wanted}
    precision = sum(word.stem in stems for word in said.content) / len(said.content) if said.content else 0.0
    together = parameters.said * _recall(wanted, said) + (1 - parameters.said) * precision
    return together * (1 - (1 - parameters.contested) * _other_numbers(wanted, said))


def _recall(wanted: Sequence[Token], said: _Said) -> float:
    words = ["", *(word.word for word in wanted), ""]
    shares = {word: said.vocabulary.share(word, words[place], words[place + 2]) for place, word in enumerate(wanted)}
    content = _content(wanted, said.language)
    new = [word for word in content if word.stem not in said.asked] or content
    return (fmean(shares[word] for word in content) + fmean(shares[word] for word in new)) / 2


def _other_numbers(wanted: Sequence[Token], said: _Said) -> float:
    """Return the share of the words that are numbers missing from the response, if it has other numbers; else 0."""
    numbers = {word.stem for word in wanted if word.number}
    missing = sum(number not in said.vocabulary for number in numbers)
    known = numbers | said.asked
    if not missing or not any(word.number and word.stem not in known for word in said.content):
        return 0.0
    return missing / len(_content(wanted, said.language))


def _content(words: Sequence[Token], language: str) -> Sequence[Token]:
    """Remove function words, unless there are no others."""
    function_words = FUNCTION_WORDS.get(language, frozenset[str]())
    return [word for word in words if word.number or word.word not in function_words] or words

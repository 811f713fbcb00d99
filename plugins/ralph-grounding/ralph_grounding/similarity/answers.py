"""Agreement of a response with a reference answer, measured by their words.

It sees words, not truth: a false answer in the words of the right one is as similar as a true one, and a right answer
in other words is not. Four things are combined: how much of the reference is said, how much of the response is in the
reference, whether the response declines to answer, and whether it contradicts the reference.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from statistics import fmean

from pydantic import BaseModel, Field

from ralph_grounding.similarity.base import Similarity
from ralph_grounding.similarity.calibration import calibrated
from ralph_grounding.similarity.conflicts import find_conflicts
from ralph_grounding.text import Token, guess_language, sentences, tokens, trimmed
from ralph_grounding.text.tokens import looks_like_designation
from ralph_grounding.text.words import FUNCTION_WORDS

__all__ = [
    "AnswerParameters",
    "Vocabulary",
    "agreement",
    "alternatives",
    "answer_parameters",
    "contradicted",
    "raw_agreement",
    "refuses",
]

_MOST = 64
_WORDS = 8
_LONGEST_ALTERNATIVE = 10_000
_SEPARATOR = re.compile(r"[/|;]")
# Dates, fractions and addresses contain slashes, too.
_NO_SEPARATOR = re.compile(r"\d[ \t]?/[ \t]?\d|://|/[ \t]*$|^[ \t]*/|[\r\n]")
_ASIDE = re.compile(r"(?:^|[ \t])\([^()]{0,200}\)")


def alternatives(reference: str) -> list[str]:
    """List the reference itself first, then each answer it names: the parts of "A/B", "A; B" or "A | B".

    Asides are left out. Only short parts are separate answers: two sentences with a semicolon between them belong
    together, and so do the halves of "km/h". At most 64.
    """
    if len(reference) > _LONGEST_ALTERNATIVE:
        return [reference]
    found: dict[str, None] = {reference: None}
    for part in _parts(reference):
        found[part] = None
        if plain := _ASIDE.sub("", part).strip():
            found[plain] = None
        if len(found) >= _MOST:
            break
    return list(found)


def _parts(reference: str) -> Iterator[str]:
    if _NO_SEPARATOR.search(reference):
        yield reference
        return
    parts = [part for piece in _SEPARATOR.split(reference) if (part := piece.strip())]
    together = len(parts) == 2 and any(len(part) <= 2 for part in parts)
    if together or any(len(part.split()) > _WORDS for part in parts):
        yield reference
    else:
        yield from parts


# A refusal stands at the beginning of an answer; later on it may well be a quotation.
_BEGINNING = 240

_REFUSAL = re.compile(
    r"\b(?:i[’']?m|i am|we[’']?re|we are) (?:very |really |so |terribly )?"
    r"(?:sorry|afraid|unable|not (?:sure|able|certain|aware))\b"
    r"|\bi (?:apologi[sz]e|have no (?:idea|information|knowledge))\b"
    r"|\b(?:i|we) (?:do not|don[’']?t) (?:know|have (?:any |enough |access|information|data))"
    r"|\b(?:i|we) (?:could not|couldn[’']?t|cannot|can[’']?t|was not able to|am not able to) "
    r"(?:find|provide|answer|help|determine|locate|tell|confirm|verify|access)\b"
    r"|\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b"
    r"|^\W*(?:not answered|no answer|no idea|n/a|unknown)\W*$"
    r"|\b(?:ich weiß (?:es )?nicht|(?:das )?weiß ich nicht|tut mir leid|leider (?:kann|konnte|habe) ich)\b"
    r"|\bje (?:suis désolée?|ne (?:sais|peux|trouve|dispose) pas)\b|\bje n[’'](?:ai|arrive) pas\b"
    r"|\b(?:lo siento|no (?:lo sé|puedo (?:responder|encontrar|ayudar)|tengo información))\b"
    r"|\b(?:mi dispiace|non (?:lo so|posso (?:rispondere|aiutar)))"
    r"|\b(?:desculpe|lamento|não (?:sei|consigo|posso responder))\b"
    r"|抱歉|对不起|對不起|我不知道|无法回答|無法回答|申し訳|わかりません|分かりません|すみません|죄송|모르겠습니다",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Return True if the text begins by declining to answer, in one of the larger languages of Europe or East Asia."""
    return _REFUSAL.search(text[:_BEGINNING].strip()) is not None


# The share of pairs of letters from which two words count as the same, misspelt or inflected in a way that the
# stemmer does not know.
_ALIKE = 0.65
_SHORTEST = 4
_LENGTHS_APART = 3

# Bounds the work on endless texts: look-ups per vocabulary, and words compared per look-up.
_LOOKUPS = 64
_CANDIDATES = 512


class Vocabulary:
    """The words of a text. It counts its searches for misspellings, and stops beyond a limit."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._stems = {token.stem for token in tokens}
        self._words = {token.word for token in tokens}
        self._joined = {first.word + second.word for first, second in pairwise(tokens)}
        self._by_letter: dict[str, dict[str, None]] = defaultdict(dict)
        for token in tokens:
            if not token.number and len(token.word) >= _SHORTEST:
                self._by_letter[token.word[0]][token.word] = None
        self._lookups = 0

    def __contains__(self, stem: str) -> bool:
        return stem in self._stems

    def share(self, token: Token, before: str = "", after: str = "") -> float:
        """Return the share of a word in the text: 1 as it is, joined or split; less if misspelt; or 0.

        Numbers are there or they are not.
        """
        if token.stem in self._stems:
            return 1.0
        if token.number:
            return 0.0
        word = token.word
        if word in self._joined or word + after in self._words or before + word in self._words:
            return 1.0
        return self._misspelt(word)

    def _misspelt(self, word: str) -> float:
        if len(word) < _SHORTEST or self._lookups >= _LOOKUPS:
            return 0.0
        self._lookups += 1
        pairs = _pairs(word)
        similarity = 0.0
        for other in list(self._by_letter.get(word[0], ()))[:_CANDIDATES]:
            if abs(len(other) - len(word)) <= _LENGTHS_APART:
                others = _pairs(other)
                similarity = max(similarity, 2 * len(pairs & others) / (len(pairs) + len(others)))
        return similarity if similarity >= _ALIKE else 0.0


@lru_cache(maxsize=16_384)
def _pairs(word: str) -> frozenset[str]:
    """Return its pairs of letters, and the first letter alone."""
    return frozenset(word[at : at + 2] for at in range(len(word) - 1)) | {word[0]}


_MOST_SENTENCES = 32
_LONGEST_SENTENCE = 1_000
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
        claim = reference[start : min(end, start + _LONGEST_SENTENCE)]
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
        return self._text[span.start : min(span.end, span.start + _LONGEST_SENTENCE)].strip()


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
    raw = raw_agreement(reference, response, question, parameters)
    return Similarity(calibrated(raw, parameters.decision), raw)


def raw_agreement(reference: str, response: str, question: str, parameters: AnswerParameters) -> float:
    """Compute the raw similarity, 0–1; 0 if one of them is blank."""
    reference, response = reference[:_LOOKED_AT], response[:_LOOKED_AT]
    if not reference.strip() or not response.strip():
        return 0.0
    language = guess_language(f"{reference[:_FOR_LANGUAGE]} {response[:_FOR_LANGUAGE]}")
    said = _Said(response, question[:_LOOKED_AT], language)
    wordings = alternatives(reference)
    highest = max(_raw_agreement(wording, said, parameters) for wording in wordings)
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


def _raw_agreement(wording: str, said: _Said, parameters: AnswerParameters) -> float:
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

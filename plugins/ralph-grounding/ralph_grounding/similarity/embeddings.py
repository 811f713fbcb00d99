"""Similarity by a model that turns texts into vectors, anywhere it runs.

Texts are embedded in portions that fit a model's input, because most models silently cut off longer ones. The number of
tokens is estimated by letters, because no two models agree on it: in English a token is about four letters, in Chinese
or Thai hardly more than one.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import anyio

from ralph_grounding.errors import ProviderError
from ralph_grounding.similarity.base import NO_SIMILARITY, Nearest, Similarity, SimilarityProvider, Support
from ralph_grounding.similarity.calibration import DecisionPoints, calibrated
from ralph_grounding.similarity.conflicts import find_conflicts
from ralph_grounding.text.sentences import Span, sentences, trimmed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

__all__ = [
    "EmbeddingProvider",
    "Vector",
    "VectorCache",
    "common_length",
    "cosine",
    "cosines",
    "most_alike",
    "portions",
    "unit_vectors",
    "windows",
]

_LATIN = 3
"""Letters of the Latin alphabet in a token: less than the average, because names and numbers have fewer."""

_MOST_WINDOWS = 2_000
"""Beyond so many sentences of a response, neighbours are joined."""


def portions(text: str, span: Span, tokens: int) -> Iterator[Span]:
    """Cut the span into stretches of at most so many estimated tokens.

    The cuts are at white space if there is some, and the stretches have none at their ends.
    """
    start = span.start
    while (end := _reach(text, start, span.end, tokens)) < span.end:
        space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
        end = space + 1 if space > start else end
        yield trimmed(text, Span(start, end))
        start = end
    yield trimmed(text, Span(start, span.end))


def windows(text: str, tokens: int) -> Iterator[Span]:
    """Yield the sentences, and then each two neighbours that fit into so many tokens together."""
    cut = (portion for sentence in _grouped(sentences(text)) for portion in portions(text, sentence, tokens))
    spans = [span for span in cut if span.start < span.end]
    yield from spans
    for one, other in pairwise(spans):
        if _reach(text, one.start, other.end, tokens) == other.end:
            yield Span(one.start, other.end)


def _reach(text: str, start: int, end: int, tokens: int) -> int:
    """Return the end of so many tokens from `start` on, within `end` and after at least one letter."""
    most = text[start : min(end, start + tokens * _LATIN)]
    if most.isascii():
        return start + len(most)
    left = float(tokens)
    for place, letter in enumerate(most):
        left -= _tokens(letter)
        if left < 0:
            return start + max(place, 1)
    return start + len(most)


def _tokens(letter: str) -> float:
    """Return the number of tokens in a letter, by its script."""
    if letter < "\u0250":  # Latin
        return 1 / _LATIN
    if letter < "\u0590":  # Greek, Cyrillic, Armenian
        return 0.5
    return 1.0 if letter <= "\uffff" else 2.0  # emoji and rare signs are split into bytes


def _grouped(spans: Sequence[Span]) -> Iterator[Span]:
    size = -(-len(spans) // _MOST_WINDOWS) or 1
    for first in range(0, len(spans), size):
        yield Span(spans[first].start, spans[min(first + size, len(spans)) - 1].end)


Vector = Sequence[float]

_ROWS = 256
"""The rows to compare with all others at once, which bounds the memory."""


def cosine(left: Vector, right: Vector) -> float:
    """Return the cosine of two vectors, clamped to 0–1; 0 if one of them is zero or empty.

    Raises:
        ProviderError: their lengths differ, or a number is not finite.
    """
    one, other = unit_vectors([left, right])
    return float(max(0.0, min(1.0, one @ other)))


def cosines(left: "Matrix", right: "Matrix") -> "Matrix":
    """Return the cosines of unit vectors, clamped to 0–1: a row for each of `left`, a column for each of `right`."""
    return (left @ right.T).clip(0.0, 1.0)


def most_alike(left: "Matrix", right: "Matrix") -> "Iterator[tuple[int, float]]":
    """Yield for each row of `left` the first row of `right` with the highest cosine, and that cosine."""
    for first in range(0, len(left), _ROWS):
        for row in cosines(left[first : first + _ROWS], right):
            place = int(row.argmax())
            yield place, float(row[place])


def unit_vectors(vectors: "Sequence[Vector] | Matrix") -> "Matrix":
    """Return the vectors as rows, each of length 1; a zero vector stays zero.

    Raises:
        ProviderError: their lengths differ, or a number is not finite.
    """
    import numpy as np

    common_length(vectors)
    rows = np.asarray(vectors, dtype=np.float64).reshape(len(vectors), -1)
    if not np.isfinite(rows).all():
        raise ProviderError("A vector has a number that is not finite.", "Try another model.", kind="protocol")
    if not rows.size:
        return rows.astype(np.float32)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)  # so that no square overflows
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=rows, where=length > 0).astype(np.float32)


def common_length(vectors: "Iterable[Vector | Matrix]") -> int:
    """Return the length of all the vectors; 0 if there are none.

    Raises:
        ProviderError: their lengths differ.
    """
    lengths = dict.fromkeys(len(vector) for vector in vectors)
    if len(lengths) > 1:
        first, second, *_ = lengths
        raise ProviderError(
            f"Vectors of {first} and of {second} numbers cannot be compared.",
            "Check that the same model made both.",
            kind="protocol",
        )
    return next(iter(lengths), 0)


class VectorCache:
    """Cache of the most recently used vectors, by the hashes of their texts.

    Args:
        most: the maximum number of vectors.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._vectors: OrderedDict[bytes, Matrix] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, text: str) -> "Matrix | None":
        """Return the unit vector of a text, if it is cached."""
        key = _key(text)
        vector = self._vectors.get(key)
        if vector is not None:
            self._vectors.move_to_end(key)
        return vector

    def put(self, text: str, vector: "Matrix") -> None:
        """Cache a copy of the vector, and evict the least recently used one if needed."""
        key = _key(text)
        self._vectors[key] = vector.copy()
        self._vectors.move_to_end(key)
        while len(self._vectors) > self._most:
            self._vectors.popitem(last=False)


def _key(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


_LISTS = 3
_SHORT_LIST = 64


class _Listed(NamedTuple):
    """The vectors of a list of passages, in its order and by their texts."""

    vectors: "Matrix"
    by_text: "Mapping[str, Matrix]"


class EmbeddingProvider(SimilarityProvider):
    """Provider that measures similarity by the cosine of vectors. Subclass it, give it a name, and implement `embed`.

    A claim is compared with each sentence of the response and each two neighbouring ones. A text longer than the
    model's input is embedded in pieces, with their vectors joined by their lengths. No text is embedded twice in one
    call, nor again while its vector is cached.

    A model hardly sees numbers and negation, so the selected sentence is checked for conflicts with the claim. With
    one, the raw similarity is reduced below the decision point, in proportion.

    Args:
        name: see `SimilarityProvider`.
        points: the decision points of this model.
        tokens: the maximum length of a text for `embed`, in estimated tokens.
        batch: the maximum number of texts for one call of `embed`.
        kept: the number of cached vectors, besides those of the last few lists of passages.
    """

    def __init__(
        self, name: str, points: DecisionPoints, *, tokens: int = 500, batch: int = 64, kept: int = 4096
    ) -> None:
        self.name = name
        self._points = points
        self._tokens = tokens
        self._batch = batch
        self._kept = VectorCache(kept)
        self._lists: dict[tuple[str, ...], _Listed] = {}
        self._one_at_a_time = anyio.Lock()

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of the texts, in their order, all of one length. No text is blank.

        Raises:
            ProviderError: the vectors are not available.
        """
        raise NotImplementedError

    async def supports(self, claims: Sequence[str], response: str) -> list[Support]:
        spans = list(windows(response, self._tokens))
        said = [response[span.start : span.end] for span in spans]
        if not said or not claims:
            return [Support(NO_SIMILARITY, 0, 0) for _ in claims]
        vectors = await self._vectors([*claims, *said])
        found = most_alike(vectors[: len(claims)], vectors[len(claims) :])
        return [
            self._support(claim, response, spans[place], raw) for claim, (place, raw) in zip(claims, found, strict=True)
        ]

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        """Compare both as wholes. The question is ignored: it would make every answer to it more similar."""
        if not reference.strip() or not response.strip():
            return NO_SIMILARITY
        vectors = await self._vectors([reference, response])
        raw = float(cosines(vectors[:1], vectors[1:])[0, 0])
        return _similarity(raw, self._points.agreement)

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        if not segments or not passages:
            return [Nearest(-1, NO_SIMILARITY) for _ in segments]
        known = await self._of_passages(tuple(passages))
        vectors = await self._vectors(segments)
        if not known.size or not vectors.size:
            return [Nearest(-1, NO_SIMILARITY) for _ in segments]
        common_length([known[0], vectors[0]])
        return [self._nearest(place, raw) for place, raw in most_alike(vectors, known)]

    def _support(self, claim: str, response: str, window: Span, raw: float) -> Support:
        if raw <= 0:
            return Support(NO_SIMILARITY, 0, 0)
        point = self._points.claims
        conflicts = find_conflicts(claim, response[window.start : window.end], window.start)
        return Support(_similarity(raw * point if conflicts else raw, point), window.start, window.end, conflicts)

    def _nearest(self, place: int, raw: float) -> Nearest:
        return Nearest(place, _similarity(raw, self._points.for_passages)) if raw > 0 else Nearest(-1, NO_SIMILARITY)

    async def _of_passages(self, passages: tuple[str, ...]) -> "Matrix":
        """Return the vectors of the passages.

        The last few long lists are cached, however long they are: each response is held against the same ground truth.
        """
        if len(passages) <= _SHORT_LIST:
            return await self._vectors(passages)
        async with self._one_at_a_time:
            kept = self._lists.pop(passages, None)
            if kept is None:
                vectors = await self._vectors(passages)
                kept = _Listed(vectors, dict(zip(passages, vectors, strict=True)))
            self._lists[passages] = kept
            while len(self._lists) > _LISTS:
                self._lists.pop(next(iter(self._lists)))
            return kept.vectors

    async def _vectors(self, texts: Sequence[str]) -> "Matrix":
        """Return a unit vector for each text; zero for a blank one."""
        import numpy as np

        listed = {text: kept.by_text[text] for kept in self._lists.values() for text in texts if text in kept.by_text}
        pieces = {text: self._pieces(text) for text in texts if text not in listed}
        known = await self._known([piece for cut in pieces.values() for piece in cut])
        joined = np.zeros((len(texts), common_length([*listed.values(), *known.values()])), dtype=np.float32)
        for place, text in enumerate(texts):
            if text in listed:
                joined[place] = listed[text]
            for piece in pieces.get(text, ()):
                joined[place] += known[piece] * len(piece)
        return unit_vectors(joined)

    def _pieces(self, text: str) -> list[str]:
        cut = portions(text, Span(0, len(text)), self._tokens)
        return [text[span.start : span.end] for span in cut if span.start < span.end]

    async def _known(self, texts: Sequence[str]) -> "dict[str, Matrix]":
        """Return the unit vectors of the texts, each embedded once."""
        known: dict[str, Matrix] = {}
        missing: list[str] = []
        for text in dict.fromkeys(texts):
            vector = self._kept.get(text)
            if vector is None:
                missing.append(text)
            else:
                known[text] = vector
        for first in range(0, len(missing), self._batch):
            batch = missing[first : first + self._batch]
            for text, vector in zip(batch, await self._embedded(batch), strict=True):
                known[text] = vector
                self._kept.put(text, vector)
        return known

    async def _embedded(self, texts: Sequence[str]) -> "Matrix":
        vectors = await self.embed(texts)
        if len(vectors) != len(texts):
            problem = f"{self.name} gave {len(vectors)} vectors for {len(texts)} texts."
            raise ProviderError(problem, "Try another model.", kind="protocol")
        return unit_vectors(vectors)


def _similarity(raw: float, point: float) -> Similarity:
    return Similarity(calibrated(raw, point), raw)

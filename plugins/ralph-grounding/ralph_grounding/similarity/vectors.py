"""Vectors of texts: their similarity, and a cache so that no text is embedded twice."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from ralph_grounding.errors import ProviderError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

__all__ = ["Vector", "VectorCache", "common_length", "cosine", "cosines", "most_alike", "unit_vectors"]

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

"""Similarity by the embeddings of an OpenAI-compatible endpoint."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Self, cast

from ralph.errors import UsageError
from ralph_grounding.endpoint import Endpoint, fields, sendable
from ralph_grounding.similarity.calibration import DecisionPoints
from ralph_grounding.similarity.embeddings import EmbeddingProvider, Vector
from ralph_grounding.telemetry import count_embedding_tokens

__all__ = ["EndpointProvider"]


class EndpointProvider(EmbeddingProvider):
    """Client of `POST {url}/embeddings`, without retries: see `Fallback`.

    Args:
        url: the base URL, up to and including /v1.
        model: its name at the endpoint.
        points: the decision points of the model.
        key: sent as a bearer token; never shown. Empty for none.
        timeout: of a call, in seconds.
        batch: the maximum number of texts per call.

    Attributes:
        tokens: the number used so far, as the endpoint reports it.

    Raises:
        UsageError: the URL or the model is missing or not valid.
    """

    def __init__(
        self,
        url: str,
        model: str,
        points: DecisionPoints,
        *,
        key: str = "",
        timeout: float = 30.0,
        batch: int = 64,
    ) -> None:
        if not model.strip():
            raise UsageError(
                "plugins.grounding.providers.embedding_model is empty.",
                'Name a model that the endpoint has, such as "text-embedding-3-small".',
            )
        super().__init__(f"endpoint:{model}", points, batch=batch)
        self._endpoint = Endpoint(url, key=key, timeout=timeout, setting="plugins.grounding.providers.url")
        self._model = model
        self.tokens = 0

    async def __aenter__(self) -> Self:
        await self._endpoint.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._endpoint.__aexit__(*raised)

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        body = {"model": self._model, "input": [sendable(text) for text in texts], "encoding_format": "float"}
        answer = await self._endpoint.post("/embeddings", body)
        self._count(answer.get("usage"))
        return self._vectors_of(answer.get("data"), len(texts))

    def _count(self, usage: object) -> None:
        told = fields(usage)
        tokens = told.get("total_tokens") or told.get("prompt_tokens")
        if isinstance(tokens, int) and tokens > 0:
            self.tokens += tokens
            count_embedding_tokens(tokens, model=self._model)

    def _vectors_of(self, data: object, count: int) -> list[Vector]:
        """Return the vectors in the order of the texts, which the endpoint gives by their indices."""
        entries = cast("list[Any]", data) if isinstance(data, list) else []
        vectors: dict[int, Vector] = {}
        for place, entry in enumerate(entries):
            told = fields(entry)
            index = told.get("index", place)
            vector = _vector(told.get("embedding"))
            if vector is None or not isinstance(index, int):
                raise self._endpoint.protocol_error(f"entry {place} of its data is not a vector")
            vectors[index] = vector
        if sorted(vectors) != list(range(count)):
            raise self._endpoint.protocol_error(f"it gave {len(entries)} vectors for {count} texts")
        return [vectors[index] for index in range(count)]


def _vector(given: object) -> Vector | None:
    """Convert a list of numbers, or the packed form that some servers send unrequested."""
    if isinstance(given, str):
        return _unpacked(given)
    if not isinstance(given, list) or not given:
        return None
    numbers = cast("list[object]", given)
    if not all(isinstance(number, int | float) and abs(number) < 1e300 for number in numbers):
        return None
    return cast("list[float]", numbers)


def _unpacked(given: str) -> Vector | None:
    """Unpack 32-bit floats, little-endian, from base64."""
    import numpy as np

    try:
        packed = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        return None
    return np.frombuffer(packed, dtype="<f4").tolist() if packed and len(packed) % 4 == 0 else None

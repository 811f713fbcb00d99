"""Similarity by a model on this machine, through fastembed or sentence-transformers."""

from collections.abc import Sequence
from typing import Self

import anyio
from anyio import to_thread

from ralph.errors import UsageError
from ralph_grounding.endpoint import sendable
from ralph_grounding.errors import ProviderError
from ralph_grounding.similarity.decision_points import DecisionPoints
from ralph_grounding.similarity.embeddings import EmbeddingProvider
from ralph_grounding.similarity.local_models import MODEL_SETTING, LocalModel, first_line, load_model
from ralph_grounding.similarity.vectors import Vector

__all__ = ["LocalProvider"]


class LocalProvider(EmbeddingProvider):
    """Provider that embeds texts on this machine. Entering it loads the model, and downloads it only on request.

    fastembed handles the names that it knows, and folders with an ONNX model and its tokenizer; all other names go to
    sentence-transformers, if that is installed.

    Args:
        model: a name, or a folder.
        points: the decision points of the model.
        download: allow the download of a missing model.

    Raises:
        UsageError: no model is named.
        ProviderError: on entering, with the kind "model": a package or the model is missing, or the model is not
            usable.
    """

    def __init__(self, model: str, points: DecisionPoints, *, download: bool = False, batch: int = 64) -> None:
        if not model.strip():
            raise UsageError(
                f"{MODEL_SETTING} is empty.",
                'Name a model, such as "BAAI/bge-small-en-v1.5", or a folder that holds one.',
            )
        super().__init__(f"local:{model}", points, batch=batch)
        self._name, self._download = model, download
        self._model: LocalModel | None = None
        self._busy = anyio.Lock()

    async def __aenter__(self) -> Self:
        self._model = await to_thread.run_sync(load_model, self._name, self._download, abandon_on_cancel=True)
        self._tokens = self._model.tokens
        return self

    async def __aexit__(self, *_: object) -> None:
        self._model = None

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        if self._model is None:
            raise RuntimeError("The provider is not open: use it in `async with`.")
        given = [sendable(text) for text in texts]
        async with self._busy:
            try:
                return await to_thread.run_sync(self._model.encode, given, abandon_on_cancel=True)
            except Exception as error:  # each library has its own errors
                problem = f"The model {self._name} failed: {first_line(error)}."
                raise ProviderError(problem, "Try another model.", kind="server") from error

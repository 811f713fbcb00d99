"""Similarity by a model on this machine, through fastembed or sentence-transformers."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import anyio
from anyio import to_thread

from ralph.errors import UsageError
from ralph_grounding.endpoint import sendable
from ralph_grounding.errors import ProviderError
from ralph_grounding.similarity.decision_points import DecisionPoints
from ralph_grounding.similarity.embeddings import EmbeddingProvider
from ralph_grounding.similarity.vectors import Vector

__all__ = ["LocalProvider"]

_Encode = Callable[[list[str]], Sequence[Vector]]

_SETTING = "plugins.grounding.providers.embedding_model"


class LocalProvider(EmbeddingProvider):
    """Embeds texts on this machine. The model is loaded when the provider is entered, and downloaded only if asked.

    fastembed takes the names that it knows, and folders that hold a model for ONNX with its tokenizer; all others go to
    sentence-transformers, where that is installed.

    Args:
        model: a name, or a folder.
        download: a model that is not here yet may be fetched.

    Raises:
        UsageError: where no model is named.
        ProviderError: on entering, of the kind "model": a package or the model is missing.
    """

    def __init__(self, model: str, points: DecisionPoints, *, download: bool = False, batch: int = 64) -> None:
        if not model.strip():
            raise UsageError(
                f"{_SETTING} is empty.", 'Name a model, such as "BAAI/bge-small-en-v1.5", or a folder that holds one.'
            )
        super().__init__(f"local:{model}", points, batch=batch)
        self._model, self._download = model, download
        self._encode: _Encode | None = None
        self._busy = anyio.Lock()

    async def __aenter__(self) -> Self:
        self._encode = await to_thread.run_sync(_loaded, self._model, self._download)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._encode = None

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        if self._encode is None:
            raise RuntimeError("The provider is not open: use it in `async with`.")
        async with self._busy:
            try:
                return await to_thread.run_sync(self._encode, [sendable(text) for text in texts])
            except Exception as error:  # each library has errors of its own
                problem = f"The model {self._model} failed: {_first_line(error)}."
                raise ProviderError(problem, "Try another model.", kind="server") from error


def _loaded(model: str, download: bool) -> _Encode:  # noqa: FBT001 - a thread is handed no keywords
    """What embeds texts with the model; it blocks."""
    loaders = {"fastembed": _by_fastembed, "sentence_transformers": _by_sentence_transformers}
    installed = [load for package, load in loaders.items() if find_spec(package)]
    if not installed:
        raise ProviderError(
            f"The model {model} cannot be used: neither fastembed nor sentence-transformers is installed.",
            'Run `pip install "ralph-grounding[local]"`.',
            kind="model",
        )
    reasons: list[str] = []
    for load in installed:
        try:
            return load(model, download=download)
        except Exception as error:  # noqa: BLE001 - each library has errors of its own
            reasons.append(_first_line(error))
    raise _missing(model, reasons, download=download)


def _missing(model: str, reasons: Sequence[str], *, download: bool) -> ProviderError:
    said = "; ".join(dict.fromkeys(filter(None, reasons)))
    if download:
        problem = f"The model {model} could be neither found nor downloaded: {said}."
        return ProviderError(problem, f"Check the name in {_SETTING}, and the network.", kind="model")
    return ProviderError(
        f"The model {model} is not on this machine, and a download was not asked for ({said}).",
        "Set plugins.grounding.providers.download to true for one run, or give the model's folder as its name.",
        kind="model",
    )


def _by_fastembed(model: str, *, download: bool) -> _Encode:
    fastembed: Any = import_module("fastembed")
    if find_spec("loguru"):
        import_module("loguru").logger.disable("fastembed")  # what it cannot do, it says in an exception, too
    options: dict[str, Any] = {} if download else {"local_files_only": True}
    if Path(model).is_dir():
        _make_known(fastembed, Path(model))
        options["specific_model_path"] = model
    embedder = fastembed.TextEmbedding(model, **options)
    return lambda texts: [vector.tolist() for vector in embedder.embed(texts)]


def _make_known(fastembed: Any, folder: Path) -> None:
    """Tells fastembed of a model in a folder of the user's. Raises ValueError where none is in it."""
    known = {entry["model"].lower() for entry in fastembed.TextEmbedding.list_supported_models()}
    if str(folder).lower() in known:
        return
    files = sorted(folder.rglob("*.onnx"), key=lambda file: (len(file.parts), file.name))
    if not files:
        raise ValueError(f"{folder} holds no file that ends in .onnx")
    described: Any = import_module("fastembed.common.model_description")
    fastembed.TextEmbedding.add_custom_model(
        model=str(folder),
        pooling=described.PoolingType.CLS if _takes_first_token(folder) else described.PoolingType.MEAN,
        normalization=True,
        sources=described.ModelSource(hf=str(folder)),
        dim=0,
        model_file=files[0].relative_to(folder).as_posix(),
    )


def _takes_first_token(folder: Path) -> bool:
    """Whether the model's own description says that its first token stands for the text, and not the mean of all."""
    try:
        return '"pooling_mode_cls_token": true' in (folder / "1_Pooling" / "config.json").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False


def _by_sentence_transformers(model: str, *, download: bool) -> _Encode:
    library: Any = import_module("sentence_transformers")
    embedder = library.SentenceTransformer(model, local_files_only=not download)
    return lambda texts: embedder.encode(texts, show_progress_bar=False).tolist()


def _first_line(error: BaseException) -> str:
    """What a library says, in one line of at most 200 characters and without its point."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return "".join(filter(str.isprintable, lines[0]))[:200].rstrip(".")

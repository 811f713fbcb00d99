"""Similarity by a model on this machine, through fastembed or sentence-transformers.

A model is weights, never code. A folder is read as ONNX only, and a named model from safetensors, not pickles. A name
that fastembed knows is a name, even if the current folder contains a folder with that name.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Self

import anyio
from anyio import to_thread

from ralph.errors import UsageError
from ralph_grounding.endpoint import fields, sendable
from ralph_grounding.errors import ProviderError
from ralph_grounding.similarity.calibration import DecisionPoints
from ralph_grounding.similarity.embeddings import EmbeddingProvider, Vector

__all__ = ["MODEL_SETTING", "LocalModel", "LocalProvider", "first_line", "load_model"]

MODEL_SETTING = "plugins.grounding.providers.embedding_model"

_TOGETHER = 16
"""Texts to embed at once: memory grows with their number times the square of the longest."""

_LONGEST = 512
"""Tokens of a text to embed at once, though a model may read more: memory again."""

_SPECIAL = 2
"""Tokens that most models add to each text, at its beginning and end."""

_POOLINGS = {"mean_tokens": "MEAN", "cls_token": "CLS", "lasttoken": "LAST_TOKEN"}
"""fastembed's names for sentence-transformers' ways to combine the tokens' vectors."""


class LocalModel(NamedTuple):
    """A loaded model.

    Attributes:
        encode: returns the vectors of texts, in their order; it blocks, and raises the library's errors.
        tokens: the maximum length of a text.
    """

    encode: Callable[[Sequence[str]], Sequence[Vector]]
    tokens: int


def load_model(name: str, download: bool) -> LocalModel:  # noqa: FBT001 - a thread is handed no keywords
    """Load the model of that name, or in that folder. Downloads only on request, and not if HF_HUB_OFFLINE forbids it.

    Raises:
        ProviderError: with the kind "model": a package or the model is missing, or the model is not usable.
    """
    loaders = {"fastembed": _by_fastembed, "sentence_transformers": _by_sentence_transformers}
    installed = [load for package, load in loaders.items() if find_spec(package)]
    if not installed:
        raise ProviderError(
            f"The model {name} cannot be used: neither fastembed nor sentence-transformers is installed.",
            "Install the extra `local`: `uv sync --all-packages --extra local` in a clone of Ralph, or "
            "`pip install fastembed` in the environment that Ralph is in.",
            kind="model",
        )
    reasons: list[str] = []
    for load in installed:
        try:
            return load(name, download and not _offline())
        except Exception as error:  # noqa: BLE001 - each library has errors of its own
            reasons.append(first_line(error))
    raise _missing(name, "; ".join(dict.fromkeys(filter(None, reasons))), download=download)


def first_line(error: BaseException) -> str:
    """Return a library's message on one line of at most 200 characters, without its full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return "".join(filter(str.isprintable, lines[0]))[:200].rstrip(".")


def _missing(name: str, said: str, *, download: bool) -> ProviderError:
    if _place(name):
        problem = f"The folder {name} has no usable model: {said}."
        remedy = "It needs an ONNX model, tokenizer.json and tokenizer_config.json."
    elif not download:
        problem = f"The model {name} is not on this machine, and downloads are off ({said})."
        remedy = "Set plugins.grounding.providers.download to true for one run, or give the model's folder as its name."
    elif _offline():
        problem = f"The model {name} is not on this machine, and HF_HUB_OFFLINE forbids downloads ({said})."
        remedy = "Unset HF_HUB_OFFLINE for one run, or give the model's folder as its name."
    else:
        problem = f"The model {name} could not be found or downloaded: {said}."
        remedy = f"Check the name in {MODEL_SETTING}, and the network."
    return ProviderError(problem, remedy, kind="model")


def _offline() -> bool:
    """Return True if the environment forbids downloads, in the notation of the Hugging Face tools."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any(os.environ.get(name, "").strip().upper() in {"1", "ON", "TRUE", "YES"} for name in names)


def _place(name: str) -> Path | None:
    """Return the path of this name on disk, if there is one."""
    try:
        path = Path(name).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError):  # a name too long for a file, a home folder of an unknown user
        return None


def _by_fastembed(name: str, download: bool) -> LocalModel:  # noqa: FBT001
    fastembed: Any = import_module("fastembed")
    if find_spec("loguru"):
        import_module("loguru").logger.disable("fastembed")  # it reports unsupported models by an exception, too
    if any(entry["model"].lower() == name.lower() for entry in fastembed.TextEmbedding.list_supported_models()):
        embedder = fastembed.TextEmbedding(name, cache_dir=str(_cache(download)), local_files_only=not download)
    elif folder := _place(name):
        known = _made_known(fastembed, folder.absolute())
        options = {"specific_model_path": str(folder), "cache_dir": str(folder), "local_files_only": True}
        embedder = fastembed.TextEmbedding(known, **options)
    else:
        raise ValueError("fastembed knows no model of this name")

    def encode(texts: Sequence[str]) -> Sequence[Vector]:
        shortest_first = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # so that little is padded
        vectors = embedder.embed([texts[place] for place in shortest_first], batch_size=_TOGETHER)
        found = dict(zip(shortest_first, vectors, strict=True))
        return [found[place].tolist() for place in range(len(texts))]

    encode(["."])  # a model that cannot embed this is not one; report it now
    truncation = fields(getattr(getattr(embedder.model, "tokenizer", None), "truncation", None))
    return LocalModel(encode, _readable(truncation.get("max_length")))


def _cache(download: bool) -> Path:  # noqa: FBT001
    """Return the folder of downloaded models: FASTEMBED_CACHE_PATH, or the shared one of the Hugging Face tools.

    fastembed's own default is a folder where every user of the machine may put models.

    Raises:
        FileNotFoundError: the folder does not exist, and downloads are off: fastembed would create it.
    """
    given = os.environ.get("FASTEMBED_CACHE_PATH") or import_module("huggingface_hub.constants").HF_HUB_CACHE
    cache = Path(given)
    if not download and not cache.is_dir():
        raise FileNotFoundError(f"there is no folder {cache}")
    return cache


def _made_known(fastembed: Any, folder: Path) -> str:
    """Register a model in a folder with fastembed; return its new name.

    Raises:
        ValueError: there is no model in it, or one that fastembed cannot use.
    """
    files = [*sorted(folder.glob("*.onnx")), *sorted(folder.glob("onnx/*.onnx"))]
    if not files:
        raise ValueError("it has no .onnx file")
    file, pooling = files[0].relative_to(folder).as_posix(), _pooling(folder)
    described: Any = import_module("fastembed.common.model_description")
    if not hasattr(described.PoolingType, pooling):
        raise ValueError(f"the installed fastembed does not support its kind of pooling, {pooling}")
    name = hashlib.sha256("\0".join((str(folder), file, pooling)).encode("utf-8", "surrogateescape")).hexdigest()
    if all(entry["model"] != name for entry in fastembed.TextEmbedding.list_supported_models()):
        fastembed.TextEmbedding.add_custom_model(
            model=name,
            pooling=described.PoolingType[pooling],
            normalization=True,
            sources=described.ModelSource(hf=name),
            dim=0,
            model_file=file,
        )
    return name


def _pooling(folder: Path) -> str:
    """Return the model's way to combine the tokens' vectors, by its description; by default their mean.

    Raises:
        ValueError: fastembed does not support that way.
    """
    try:
        told = fields(json.loads((folder / "1_Pooling" / "config.json").read_bytes()))
    except FileNotFoundError:
        return "MEAN"
    asked = [
        mode.removeprefix("pooling_mode_") for mode, on in told.items() if mode.startswith("pooling") and on is True
    ]
    if not asked:
        return "MEAN"
    if len(asked) > 1 or asked[0] not in _POOLINGS:
        raise ValueError(f"fastembed does not support its kind of pooling, {', '.join(asked)[:80]}")
    return _POOLINGS[asked[0]]


def _by_sentence_transformers(name: str, download: bool) -> LocalModel:  # noqa: FBT001
    if _place(name):
        raise ValueError("sentence-transformers is not used for folders, since it may run the code in them")
    library: Any = import_module("sentence_transformers")
    embedder = library.SentenceTransformer(
        name, local_files_only=not download, trust_remote_code=False, model_kwargs={"use_safetensors": True}
    )

    def encode(texts: Sequence[str]) -> Sequence[Vector]:
        return embedder.encode(list(texts), batch_size=_TOGETHER, show_progress_bar=False).tolist()

    return LocalModel(encode, _readable(embedder.max_seq_length))


def _readable(longest: object) -> int:
    """Return the number of tokens to embed at once, given the model's own maximum."""
    return max(min(longest if isinstance(longest, int) else _LONGEST, _LONGEST) - _SPECIAL, 1)


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

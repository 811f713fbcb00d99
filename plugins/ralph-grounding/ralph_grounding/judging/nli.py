"""A judge on this machine: a cross-encoder for natural language inference, as ONNX in a folder.

It reads a sentence of the answer and the claim together and says whether the one entails the other, contradicts it, or
neither. Nothing is downloaded, and a folder is weights and tables, never code.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import anyio
from anyio import to_thread

from ralph.errors import UsageError
from ralph_grounding.endpoint import fields, sendable
from ralph_grounding.errors import ProviderError
from ralph_grounding.judging.base import Judge, JudgeQuestion, Verdict
from ralph_grounding.text.language import guess_language
from ralph_grounding.text.sentences import Span, sentences, trimmed
from ralph_grounding.text.tokens import tokens_of
from ralph_grounding.text.words import FUNCTION_WORDS

__all__ = ["NliJudge"]

_FILES = ("model.onnx", "onnx/model.onnx")
_LONGEST = 512
"""Tokens of a sentence and a claim together; what is beyond is cut from the sentence."""
_TOGETHER = 16
_MOST = 128
"""Sentences of an answer, and pairs of neighbours, to read: those with most words of the claim."""
_DECIDES = 0.5
_RELATED = 0.34
"""The share of a claim's content words that a sentence must have to contradict it: models call unrelated ones so, too.
"""


class _Model(NamedTuple):
    """A loaded model.

    Attributes:
        probabilities: returns those of entailment and contradiction, for pairs of a sentence and a claim.
        digest: a hash of its files.
    """

    probabilities: Callable[[Sequence[tuple[str, str]]], list[tuple[float, float]]]
    digest: str


class NliJudge(Judge):
    """Judge by a model for natural language inference. Entering it loads the model.

    The folder holds `model.onnx` (or `onnx/model.onnx`), `tokenizer.json`, and a `config.json` whose `id2label` names
    the outputs "entailment" and, if the model has it, "contradiction".

    Args:
        folder: the folder.

    Raises:
        UsageError: on entering: a package or a file is missing, or not usable.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser()
        self.name = f"nli:{self._folder.name}"
        self.version = "1"
        self._model: _Model | None = None
        self._busy = anyio.Lock()

    async def __aenter__(self) -> Self:
        self._model = await to_thread.run_sync(_loaded, self._folder, abandon_on_cancel=True)
        self.name = f"nli:{self._folder.name}:{self._model.digest[:8]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._model = None

    async def verdict(self, asked: JudgeQuestion) -> Verdict:
        if self._model is None:
            raise RuntimeError("The judge is not open: use it in `async with`.")
        answer = sendable(asked.answer)
        read = _passages(answer, asked.claim)
        pairs = [(answer[span.start : span.end], sendable(asked.claim)) for span, _ in read]
        async with self._busy:
            try:
                given = await to_thread.run_sync(self._model.probabilities, pairs, abandon_on_cancel=True)
            except Exception as error:  # onnxruntime has errors of its own
                problem = f"The model in {self._folder} failed: {_first_line(error)}."
                raise ProviderError(problem, "Try another model.", kind="server") from error
        if not pairs:
            return Verdict(outcome="absent")
        entailed = [(each[0], pair[0]) for each, pair in zip(given, pairs, strict=True)]
        if quote := _best(entailed):
            return Verdict(outcome="present", quote=quote)
        related = zip(given, pairs, read, strict=True)
        quote = _best([(each[1], pair[0]) for each, pair, (_, shared) in related if shared >= _RELATED])
        return Verdict(outcome="contradicted" if quote else "absent", quote=quote)


def _best(found: Sequence[tuple[float, str]]) -> str:
    """Return the most probable text, of equal ones the shortest; empty if none is probable."""
    probable = [(round(probability, 2), -len(text), text) for probability, text in found if probability >= _DECIDES]
    return max(probable)[2] if probable else ""


def _passages(answer: str, claim: str) -> list[tuple[Span, float]]:
    """Return the sentences of an answer and the pairs of neighbours, each with the share of the claim's words in it."""
    language = guess_language(f"{answer} {claim}")
    function_words = FUNCTION_WORDS.get(language, frozenset[str]())
    wanted = {word.stem for word in tokens_of(claim, language) if word.word not in function_words}
    single = [trimmed(answer, span) for span in sentences(answer)]
    single = [span for span in single if span.start < span.end]
    spans = [*single, *(Span(one.start, two.end) for one, two in pairwise(single))]

    def shared(span: Span) -> float:
        said = {word.stem for word in tokens_of(answer[span.start : span.end], language)}
        return len(wanted & said) / len(wanted) if wanted else 1.0

    found = sorted(((span, shared(span)) for span in spans), key=lambda one: (-one[1], one[0].end - one[0].start))
    return found[:_MOST]


def _loaded(folder: Path) -> _Model:
    for package in ("onnxruntime", "tokenizers", "numpy"):
        if not find_spec(package):
            raise UsageError(
                f"The model in {folder} cannot be used: {package} is not installed.",
                "Install the extra `local` of ralph-grounding.",
            )
    weights = next((folder / name for name in _FILES if (folder / name).is_file()), None)
    if weights is None:
        raise UsageError(f"The folder {folder} has no model.onnx.", "Name a folder with an ONNX model for inference.")
    try:
        entailment, contradiction = _labels(json.loads((folder / "config.json").read_bytes()))
        tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
        session: Any = import_module("onnxruntime").InferenceSession(str(weights), providers=["CPUExecutionProvider"])
        digest = _digest({*folder.glob("*.json"), *weights.parent.glob(f"{weights.name}*")})  # with external data
    except Exception as error:  # noqa: BLE001 - each library has errors of its own
        raise UsageError(
            f"The model in {folder} cannot be used: {_first_line(error)}.",
            "It needs model.onnx, tokenizer.json, and a config.json with id2label.",
        ) from None
    tokenizer.enable_truncation(_LONGEST, strategy="only_first")
    tokenizer.enable_padding()
    inputs = [each.name for each in session.get_inputs()]

    def probabilities(pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        found: list[tuple[float, float]] = []
        for first in range(0, len(pairs), _TOGETHER):
            rows = _softmax(session.run(None, _fed(tokenizer, inputs, pairs[first : first + _TOGETHER]))[0])
            opposed = rows[:, contradiction] if contradiction >= 0 else 0 * rows[:, entailment]
            found.extend(zip(rows[:, entailment].tolist(), opposed.tolist(), strict=True))
        return found

    return _Model(probabilities, digest)


def _digest(files: Iterable[Path]) -> str:
    """Return a hash of files: their names and what is in them."""
    total = hashlib.sha256()
    for path in sorted(files):
        with path.open("rb") as stream:
            total.update(f"{path.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()


def _labels(config: object) -> tuple[int, int]:
    """Return the places of entailment and contradiction among the outputs; -1 for a model without the latter."""
    named = {str(label).lower(): int(place) for place, label in fields(fields(config).get("id2label")).items()}
    entails = [place for label, place in named.items() if re.match(r"entail", label)]
    opposes = [place for label, place in named.items() if label.startswith("contradict")]
    if len(entails) != 1:
        raise ValueError("id2label in config.json does not name one output entailment")
    return entails[0], opposes[0] if opposes else -1


def _fed(tokenizer: Any, inputs: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Make the arrays that the model takes, of those that tokenizers give."""
    import numpy as np

    encoded = tokenizer.encode_batch([tuple(pair) for pair in pairs])
    given = {
        "input_ids": [each.ids for each in encoded],
        "attention_mask": [each.attention_mask for each in encoded],
        "token_type_ids": [each.type_ids for each in encoded],
    }
    return {name: np.array(given[name], dtype=np.int64) for name in inputs}


def _softmax(logits: Any) -> Any:
    import numpy as np

    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return "".join(filter(str.isprintable, lines[0]))[:200].rstrip(".")

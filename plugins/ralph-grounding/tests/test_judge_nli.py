"""A judge on this machine: a tiny model for inference, made here, read by the real onnxruntime."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from ralph.errors import UsageError
from ralph_grounding.judging.base import JudgeQuestion
from ralph_grounding.judging.nli import NliJudge

WORDS = {"unlocked": (0, 9, 0), "noon": (9, 0, 0)}
"""The only words that the model knows, and what it takes each for: contradiction, entailment, neutral."""
CLAIM = "The museum opens at nine."


def number(value: int) -> bytes:
    """A number as protocol buffers write it."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + number(rest) if rest else bytes([low])


def field(key: int, value: int | bytes | str) -> bytes:
    """A field of a message in protocol buffers."""
    if isinstance(value, int):
        return number(key << 3) + number(value)
    written = value.encode() if isinstance(value, str) else value
    return number(key << 3 | 2) + number(len(written)) + written


def onnx_of(table: np.ndarray) -> bytes:
    """A model for ONNX that adds up the rows of a table that belong to the tokens of a text."""

    def tensor(name: str, kind: int, *sizes: str | int) -> bytes:
        shape = b"".join(field(1, field(2 if isinstance(size, str) else 1, size)) for size in sizes)
        return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))

    rows = field(1, len(table)) + field(1, 3) + field(2, 1) + field(8, "table") + field(9, table.tobytes())
    gather = field(1, "table") + field(1, "input_ids") + field(2, "found") + field(4, "Gather")
    axes = field(1, "axes") + field(8, 1) + field(20, 7)
    flat = field(1, "keepdims") + field(3, 0) + field(20, 2)
    total = field(1, "found") + field(2, "logits") + field(4, "ReduceSum") + field(5, axes) + field(5, flat)
    graph = field(1, gather) + field(1, total) + field(2, "inference") + field(5, rows)
    graph += field(11, tensor("input_ids", 7, "texts", "tokens"))
    graph += field(11, tensor("attention_mask", 7, "texts", "tokens"))
    graph += field(12, tensor("logits", 1, "texts", 3))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 12))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as `optimum` writes one."""
    vocabulary = ["[PAD]", "[UNK]", "[SEP]", *WORDS]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A [SEP]", pair="$A [SEP] $B:1 [SEP]:1", special_tokens=[("[SEP]", 2)]
    )
    place = tmp_path / "tiny"
    (place / "onnx").mkdir(parents=True)
    tokenizer.save(str(place / "tokenizer.json"))
    labels = {"0": "CONTRADICTION", "1": "entailment", "2": "neutral"}
    (place / "config.json").write_text(json.dumps({"id2label": labels}))
    table = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], *WORDS.values()], dtype=np.float32)
    (place / "onnx" / "model.onnx").write_bytes(onnx_of(table))
    return place


@pytest.mark.parametrize(
    ("answer", "outcome", "quote"),
    [
        ("Welcome. Doors are unlocked from nine.", "present", "Doors are unlocked from nine."),
        ("Rain fell. The museum opens at noon. Bring a coat.", "contradicted", "The museum opens at noon."),
        ("Lunch is served at noon.", "absent", ""),  # about something else
        ("The museum opens late.", "absent", ""),
        ("", "absent", ""),
        ("word " * 5_000 + "Doors are unlocked. " + "x. " * 500, "absent", ""),  # beyond what a model reads at once
    ],
)
async def test_a_model_says_what_a_sentence_entails(folder, answer, outcome, quote):
    async with NliJudge(str(folder)) as judge:
        said = await judge.verdict(JudgeQuestion("When does it open?", CLAIM, answer))
        assert judge.name.startswith("nli:tiny:")
    assert said.outcome == outcome
    assert quote in said.quote
    assert said.quote in answer
    assert judge.tokens(JudgeQuestion("", CLAIM, answer)) == (0, 0)


async def test_another_model_has_another_name(folder):
    async with NliJudge(str(folder)) as judge:
        first = judge.name
    model = folder / "onnx" / "model.onnx"
    model.write_bytes(onnx_of(np.zeros((5, 3), dtype=np.float32)))
    async with NliJudge(str(folder)) as judge:
        assert judge.name != first
        assert (await judge.verdict(JudgeQuestion("", CLAIM, "Doors are unlocked."))).outcome == "absent"


async def test_a_model_without_contradiction_only_finds(folder):
    (folder / "config.json").write_text(json.dumps({"id2label": {"1": "entailment", "0": "not_entailment"}}))
    async with NliJudge(str(folder)) as judge:
        said = await judge.verdict(JudgeQuestion("", CLAIM, "The museum opens at noon."))
    assert said.outcome == "absent"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", "{}", "does not name one output entailment"),
        ("config.json", '{"id2label": {"0": "LABEL_0"}}', "does not name one output entailment"),
        ("config.json", '{"id2label": {"x": "entailment"}}', "cannot be used"),
        ("config.json", "[", "cannot be used"),
        ("tokenizer.json", "{}", "cannot be used"),
        ("onnx/model.onnx", "not a model", "cannot be used"),
    ],
)
async def test_a_folder_that_cannot_be_read_is_refused(folder, name, content, said):
    (folder / name).write_text(content)
    with pytest.raises(UsageError, match=said) as raised:
        async with NliJudge(str(folder)):
            pass
    assert str(folder) in str(raised.value)


def test_an_answer_is_judged_on_this_machine(museum: Path, folder: Path, score: Callable[..., Any]) -> None:
    Path("answer.txt").write_text("Doors are unlocked from nine. A ticket costs 15 euros.")
    words = ("answer.txt", "--claims", "claims.yaml", "--nli", str(folder), "--judge-mode", "all", "--max-cost", "1")
    ran = score(*words)
    assert ran.code == 0, ran.err
    assert "“Doors are unlocked from nine.”" in ran.out
    assert "cost" in ran.err
    assert score(*words, "--json").json["judge"]["cost"] == 0

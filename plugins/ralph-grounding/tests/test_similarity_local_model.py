"""A real model on this machine: a small one for ONNX, made here, loaded by the real fastembed."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import anyio.to_thread
import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from ralph_grounding.analyzer import GroundingAnalyzer
from ralph_grounding.errors import ProviderError
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import AIResponse, ExpectedAnswer, ExpectedClaim, Query
from ralph_grounding.settings import GroundingSettings, ProviderSettings
from ralph_grounding.similarity.base import Nearest
from ralph_grounding.similarity.calibration import UNFITTED
from ralph_grounding.similarity.choose import provider_for
from ralph_grounding.similarity.embeddings import Vector
from ralph_grounding.similarity.local import LocalModel, LocalProvider

MEANINGS = """\
museum gallery|opens starts|nine 9|tickets entry admission|cost price charge|twelve 12|euros eur
dogs hounds puppies|wait stay remain|outside outdoors|cafe bistro|serves offers|lunch food|children kids
free gratis|train rail|leaves departs|evening night|river stream|bridge crossing|closed shut|monday|garden park
roses flowers|guide leader|speaks talks|german|library archive|holds keeps|maps charts|old ancient|tower spire
metres meters|tall high|built erected|stone rock|wood timber
犬|外|待|猫|海|山|川|森|雨|雪|花|鳥|魚|空|星|月|日|春|夏|秋|冬|東|西|南|北"""
"""The words that the model knows, in groups of one meaning; all others it takes for nothing."""

SIZE, READS = 48, 64


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


def onnx_of(vectors: np.ndarray) -> bytes:
    """A model for ONNX that looks the tokens of a text up in a table."""

    def tensor(name: str, kind: int, *sizes: str | int) -> bytes:
        shape = b"".join(field(1, field(2 if isinstance(size, str) else 1, size)) for size in sizes)
        return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))

    table = field(1, len(vectors)) + field(1, SIZE) + field(2, 1) + field(8, "table") + field(9, vectors.tobytes())
    node = field(1, "table") + field(1, "input_ids") + field(2, "last_hidden_state") + field(4, "Gather")
    graph = field(1, node) + field(2, "lookup") + field(5, table)
    graph += field(11, tensor("input_ids", 7, "texts", "tokens"))
    graph += field(12, tensor("last_hidden_state", 1, "texts", "tokens", SIZE))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


def write_model(folder: Path) -> Path:
    """Words of one meaning have nearly one vector, and those of two are nearly at right angles."""
    chance = np.random.default_rng(6)
    groups = [group.split() for line in MEANINGS.splitlines() for group in line.split("|")]
    words, rows = ["[PAD]", "[UNK]"], [np.zeros(SIZE), chance.normal(size=SIZE) * 0.05]
    for group in groups:
        meaning = chance.normal(size=SIZE)
        for word in group:
            words.append(word)
            rows.append(meaning + chance.normal(size=SIZE) * 0.2)
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": READS, "pad_token": "[PAD]"}))
    (folder / "config.json").write_text('{"pad_token_id": 0}')
    (folder / "special_tokens_map.json").write_text("{}")
    (folder / "model.onnx").write_bytes(onnx_of(np.array(rows, dtype=np.float32)))
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


_WATCHED = [False]


def _no_network(event: str, _arguments: object) -> None:
    if _WATCHED[0] and event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}:
        raise ConnectionError(f"the network is touched: {event}")


@pytest.fixture(autouse=True, scope="module")
def no_network() -> Iterator[None]:
    """Whoever asks the network in this file fails, whatever library it is: Python itself asks here first."""
    sys.addaudithook(_no_network)
    _WATCHED[0] = True
    yield
    _WATCHED[0] = False


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, with the caches of the libraries where they stand by default. It is read late or never."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HF_HOME", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(home / "models"))
    return home


def settings(model: Path | str, **more: object) -> ProviderSettings:
    return ProviderSettings.model_validate({"similarity": "local", "embedding_model": str(model), **more})


async def test_likeness_is_of_meaning_and_not_of_words(model: Path) -> None:  # covers: S3-17, S3-146
    async with provider_for(settings(model)) as provider:
        same = await provider.agreement("Dogs wait outside.", "Puppies remain outdoors.")
        other = await provider.agreement("Dogs wait outside.", "The bistro offers food.")
    assert same.raw > 0.9
    assert other.raw < 0.4
    assert (same.value > 0.75 > other.value, same.fallback, other.fallback) == (True, False, False)


async def test_claims_and_passages_are_found_by_a_real_model(model: Path) -> None:
    response = "The gallery starts at nine. Entry price: twelve euros. Hounds stay outdoors."
    async with provider_for(settings(model)) as provider:
        tickets, lunch = await provider.supports(["Tickets cost twelve euros", "The cafe serves lunch"], response)
        nearest = await provider.nearest(["Kids: gratis!", "Zebra."], ["The tower is tall.", "Children are free."])
    assert response[tickets.start : tickets.end] == "Entry price: twelve euros."
    assert tickets.similarity.value > 0.75 > lunch.similarity.value
    assert isinstance(nearest[0], Nearest)
    assert (nearest[0].passage, nearest[0].similarity.value > 0.75) == (1, True)
    assert nearest[1].similarity.value < 0.75


async def test_the_vectors_of_a_batch_are_in_the_order_of_its_texts(model: Path) -> None:
    words = ["museum " * 30, "dogs", "tower " * 9, "lunch", "rail " * 20, "roses wood stone"] * 9
    async with LocalProvider(str(model), UNFITTED) as provider:
        together = await provider.embed(words)
        alone = [(await provider.embed([word]))[0] for word in words[:6]]
    np.testing.assert_allclose(together[:6], alone, atol=1e-5)
    np.testing.assert_allclose(together[48:], alone, atol=1e-5)


async def test_no_end_of_a_text_is_cut_off_whatever_its_script(model: Path) -> None:  # covers: S3-164
    async with LocalProvider(str(model), UNFITTED) as provider:
        for beginning, end in (("海山" * 60, "犬外待" * 40), ("river bridge " * 60, "dogs outside wait " * 40)):
            assert (await provider.agreement(beginning + end, end)).raw > 0.5
            (support,) = await provider.supports([end[:90]], beginning + end)
            assert support.similarity.raw > 0.9


async def test_who_stops_waiting_for_a_model_does_not_wait_for_its_batch(model: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()
    async with LocalProvider(str(model), UNFITTED) as provider:
        assert provider._model
        encode, tokens = provider._model

        def slowly(texts: Sequence[str]) -> Sequence[Vector]:
            begun.set()
            assert go_on.wait(20), "it was waited for"
            return encode(texts)

        provider._model = LocalModel(slowly, tokens)
        async with anyio.create_task_group() as group:
            group.start_soon(provider.embed, ["dogs"])
            await anyio.to_thread.run_sync(begun.wait)
            group.cancel_scope.cancel()
        assert not go_on.is_set()
        go_on.set()


@pytest.mark.parametrize("form", ["{}/", "{}/../tiny", "~/models"])
async def test_a_folder_may_be_written_in_many_ways(
    model: Path, home: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    (home / "models").symlink_to(model)
    async with LocalProvider(form.format(model), UNFITTED) as provider:
        assert (await provider.agreement("dogs", "hounds")).raw > 0.9
    monkeypatch.chdir(model.parent)
    for name in ("tiny", "./tiny"):
        async with LocalProvider(name, UNFITTED) as provider:
            assert (await provider.agreement("dogs", "hounds")).raw > 0.9


async def test_two_folders_whose_names_differ_only_in_case_are_two_models(model: Path, tmp_path: Path) -> None:
    by_first = write_model(tmp_path / "Tiny")
    (by_first / "1_Pooling").mkdir()
    (by_first / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    by_mean = write_model(tmp_path / "tiny")
    found = []
    for folder in (by_first, by_mean, by_first):
        async with LocalProvider(str(folder), UNFITTED) as provider:
            found.append((await provider.agreement("dogs lunch river", "dogs")).raw)
    assert found[0] == found[2] == pytest.approx(1)
    assert found[1] < 0.9


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "name",
    [
        "BAAI/bge-small-en-v1.5",
        "nobody/knows-this",
        "no such folder/at all",
        "~nobody/x",
        "a" * 5000,
        "a\0b",
        "\u202ex",
    ],
)
@pytest.mark.parametrize("cache", [False, True], ids=["no cache", "an empty cache"])
async def test_a_model_that_is_not_here_is_refused_and_nothing_is_fetched(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, cache: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    if cache:
        (home / "models").mkdir()
    before = written(tmp_path)
    with pytest.raises(ProviderError, match=r"is not on this machine.*providers\.download") as raised:
        await provider_for(settings(name)).__aenter__()
    assert raised.value.kind == "model"
    assert written(tmp_path) == before


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
async def test_where_downloads_are_forbidden_none_is_tried_though_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    before = written(tmp_path)
    with pytest.raises(ProviderError, match="HF_HUB_OFFLINE forbids downloads"):
        await provider_for(settings("BAAI/bge-small-en-v1.5", download=True)).__aenter__()
    assert written(tmp_path) == before


async def test_the_name_of_a_model_is_never_a_folder_of_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(tmp_path / "BAAI" / "bge-small-en-v1.5")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProviderError):
        await provider_for(settings("BAAI/bge-small-en-v1.5")).__aenter__()


class Trap:
    """Leaves a mark where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("unpickled",)


async def test_no_code_in_a_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    folder = tmp_path / "trap"
    folder.mkdir()
    for name in ("pytorch_model.bin", "model.pkl", "model.onnx", "tokenizer.json", "model.npy"):
        (folder / name).write_bytes(pickle.dumps(Trap()))
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 9, "pad_token": "x"}')
    (folder / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "evil.Model"}]')
    (folder / "evil.py").write_text("import os\nos.mkdir('unpickled')\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProviderError, match="has no usable model"):
        await provider_for(settings(folder)).__aenter__()
    assert not (tmp_path / "unpickled").exists()


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("model.onnx", None, r"it has no \.onnx file"),
        ("model.onnx", b"torn", "has no usable model"),
        ("tokenizer.json", None, r"Could not find tokenizer\.json"),
        ("tokenizer.json", b"{}", "has no usable model"),
        ("tokenizer_config.json", None, r"Could not find tokenizer_config\.json"),
        ("tokenizer_config.json", b"[]", "has no usable model"),
        ("1_Pooling/config.json", b'{"pooling_mode_max_tokens": true}', "its kind of pooling, max_tokens"),
        ("1_Pooling/config.json", b"torn", "has no usable model"),
    ],
)
async def test_a_folder_that_holds_no_whole_model_is_told_with_what_it_lacks(
    tmp_path: Path, name: str, content: bytes | None, problem: str
) -> None:
    folder = write_model(tmp_path / "model")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).unlink(missing_ok=True)
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(ProviderError, match=problem) as raised:
        await provider_for(settings(folder)).__aenter__()
    assert raised.value.kind == "model"
    assert "download" not in str(raised.value)


@pytest.mark.parametrize("text", ["a" * 100_000, "\ud800\0" * 500, "犬" * 20_000, "\u202e" * 3000, "🐕" * 3000])
async def test_hostile_texts_are_embedded_like_all_others(model: Path, text: str) -> None:
    async with provider_for(settings(model)) as provider:
        similarity = await provider.agreement(text, "Dogs wait.")
    assert (0 <= similarity.value <= 1, similarity.fallback) == (True, False)


QUERY = Query(
    id="dogs",
    text="May I bring my dog?",
    expected=ExpectedAnswer(
        text="Dogs wait outside.",
        claims=(ExpectedClaim(statement="Dogs wait outside"), ExpectedClaim(statement="The cafe serves lunch")),
    ),
)


@pytest.mark.parametrize("similarity", ["local", "hybrid"])
async def test_an_answer_is_judged_by_a_real_model(model: Path, similarity: str) -> None:
    chosen = GroundingSettings(providers=settings(model, similarity=similarity))
    async with GroundingAnalyzer(chosen) as analyzer:
        right = await analyzer.analyze(
            AIResponse(query_id="dogs", response="Hounds stay outdoors."), QUERY, GroundTruth()
        )
        wrong = await analyzer.analyze(
            AIResponse(query_id="dogs", response="Trains depart at night."), QUERY, GroundTruth()
        )
    assert right.provider == f"{similarity}:{model}"
    assert right.scores.accuracy is not None
    assert wrong.scores.accuracy is not None
    assert right.scores.accuracy.score > wrong.scores.accuracy.score + 20
    assert "keyword_fallback" not in {*right.flags, *wrong.flags}


GUARD = """
import sys

def no_network(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}:
        raise ConnectionError("the network is touched")

sys.addaudithook(no_network)
"""


def score(tmp_path: Path, model: str, *arguments: str, hub: str = "") -> subprocess.CompletedProcess[str]:
    """`ralph score` in a process that has no network, unless it may download from a hub."""
    (tmp_path / "sitecustomize.py").write_text("" if hub else GUARD)
    (tmp_path / "answer.md").write_text("Hounds stay outdoors. Admission price: 12 eur.\n")
    own = Path(os.environ["HOME"], ".config", "ralph")
    own.mkdir(parents=True, exist_ok=True)
    (own / "ralph.toml").write_text(
        f"[plugins.grounding.providers]\nembedding_model = {json.dumps(model)}\n{'download = true' if hub else ''}\n"
    )
    return subprocess.run(
        [sys.executable, "-m", "ralph", "score", "answer.md", "--reference", "reference.md", *arguments],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "XDG_CONFIG_HOME": str(own.parent),
            "HF_ENDPOINT": hub or "http://127.0.0.1:1",
        },
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.timeout(240)
def test_the_command_line_scores_by_a_real_model(model: Path, tmp_path: Path) -> None:
    (tmp_path / "reference.md").write_text("Dogs wait outside. Tickets cost twelve euros.\n")
    done = score(tmp_path, str(model), "--similarity", "local", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    by_model = json.loads(done.stdout)
    assert by_model["similarity"] == f"local:{model}"
    assert by_model["accuracy"]["score"] > 70, "few of its words are those of the answer"


@pytest.mark.long
@pytest.mark.timeout(240)
def test_the_command_line_refuses_a_model_that_is_not_here(home: Path, tmp_path: Path) -> None:
    (tmp_path / "reference.md").write_text("Dogs wait outside.\n")
    done = score(tmp_path, "BAAI/bge-small-en-v1.5", "--similarity", "local")
    assert done.returncode not in {0, -1}
    assert "is not on this machine" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (home / "models").exists()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[str]:
    """A hub on loopback, as far as a download asks it, with the tiny model in the place of a known one."""
    folder = write_model(tmp_path / "hub")
    (folder / "model.onnx").rename(folder / "model_optimized.onnx")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    tree = [{"type": "file", "path": name, "size": len(content), "oid": "0" * 40} for name, content in files.items()]
    about = {"id": "hub/model", "sha": "c" * 40, "siblings": [{"rfilename": name} for name in files]}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = self.path.partition("?")[0]
            if "/resolve/" in place:
                content = files.get(place.rpartition("/")[2])
            else:
                content = json.dumps(tree if "/tree/" in place else about).encode()
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.send_header("X-Repo-Commit", "c" * 40)
            self.send_header("ETag", '"' + place.rpartition("/")[2] + '"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content or b"")

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - so it is called

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_model_is_fetched_once_where_that_is_asked_for(home: Path, tmp_path: Path, hub: str) -> None:
    (tmp_path / "reference.md").write_text("Dogs wait outside.\n")
    arguments = ("BAAI/bge-small-en-v1.5", "--similarity", "local", "--json")
    fetched = score(tmp_path, *arguments, hub=hub)
    assert fetched.returncode == 0, fetched.stderr
    again = score(tmp_path, *arguments)
    assert (again.returncode, again.stderr) == (0, "")
    assert json.loads(again.stdout)["accuracy"] == json.loads(fetched.stdout)["accuracy"]

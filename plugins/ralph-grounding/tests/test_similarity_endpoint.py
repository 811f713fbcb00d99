"""Embeddings of an OpenAI-compatible endpoint on loopback, and the decision points that are fitted with it."""

import json
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pytest

from ralph_grounding.errors import ProviderError
from ralph_grounding.settings import ProviderSettings
from ralph_grounding.similarity.calibration import UNFITTED
from ralph_grounding.similarity.choose import provider_for
from ralph_grounding.similarity.endpoint import EndpointProvider
from ralph_grounding.similarity.fallback import Fallback
from ralph_grounding.similarity.fit import best_f1, best_split, main
from ralph_grounding.similarity.lexical import LexicalProvider

KEY = "sk-hunter2hunter2hunter2"
RESPONSE = "The museum opens at nine. Tickets cost twelve euros. Dogs have to wait outside."


class Answer(NamedTuple):
    """What the endpoint says to one request instead of the vectors."""

    status: int = 200
    body: str = ""
    retry_after: str = ""
    hang: bool = False


class EmbeddingEndpoint:
    """Its vectors count the letter triples of a text, so that texts that share words are alike.

    Attributes:
        next: what the next requests are answered; the vectors, where it is empty.
        asked: the bodies that came, in order.
        keys: the headers that came with them.
    """

    def __init__(self) -> None:
        self.next: deque[Answer] = deque()
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._ended = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append(body)
                endpoint.keys.append(self.headers.get("Authorization", ""))
                answer = endpoint.next.popleft() if endpoint.next else Answer(body=embedded(body["input"]))
                if answer.hang:
                    endpoint._ended.wait(30)
                self.send_response(answer.status)
                if answer.retry_after:
                    self.send_header("Retry-After", answer.retry_after)
                content = answer.body.encode()
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - so it is called

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts that were sent, in order."""
        return [text for body in self.asked for text in body["input"]]

    def close(self) -> None:
        """Also where it is closed already."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def embedded(texts: list[str]) -> str:
    """The endpoint's answer to texts; the entries stand in an order of their own, as the interface allows."""
    data = [{"index": place, "embedding": letter_triples(text)} for place, text in enumerate(texts)]
    return json.dumps({"data": data[::-1], "usage": {"total_tokens": sum(len(text) // 4 + 1 for text in texts)}})


def letter_triples(text: str, size: int = 256) -> list[float]:
    vector = [0.0] * size
    for word in text.lower().split():
        padded = f" {word.strip('.,;:!?')} "
        for place in range(len(padded) - 2):
            vector[crc32(padded[place : place + 3].encode()) % size] += 1.0
    return vector


@pytest.fixture
def embedding_endpoint() -> Iterator[EmbeddingEndpoint]:
    endpoint = EmbeddingEndpoint()
    yield endpoint
    endpoint.close()


def provider(endpoint: EmbeddingEndpoint, **given: Any) -> EndpointProvider:
    return EndpointProvider(endpoint.url, "m", UNFITTED, key=KEY, **given)


async def test_claims_are_found_by_the_vectors_of_an_endpoint(
    embedding_endpoint: EmbeddingEndpoint,
) -> None:  # covers: S3-33, S3-34
    async with provider(embedding_endpoint) as asked:
        found, missing = await asked.supports(["Tickets cost twelve euros", "The cafe serves lunch"], RESPONSE)
    assert RESPONSE[found.start : found.end] == "Tickets cost twelve euros."
    assert missing.similarity.value < 0.75 < found.similarity.value
    (body,) = embedding_endpoint.asked
    assert (body["model"], body["encoding_format"]) == ("m", "float")
    assert embedding_endpoint.keys == [f"Bearer {KEY}"]


async def test_texts_go_in_batches_and_tokens_are_counted(
    embedding_endpoint: EmbeddingEndpoint,
) -> None:  # covers: S3-172
    claims = [f"Claim {number} is here." for number in range(5)]
    async with provider(embedding_endpoint, batch=4) as asked:
        await asked.supports(claims, RESPONSE)
        await asked.supports(claims, RESPONSE)
        texts = embedding_endpoint.texts
        assert asked.tokens == sum(len(text) // 4 + 1 for text in texts)
    assert [len(body["input"]) for body in embedding_endpoint.asked] == [4, 4, 2]
    assert len(texts) == len(set(texts)) == 10


async def test_without_a_key_none_is_sent(embedding_endpoint: EmbeddingEndpoint) -> None:
    async with EndpointProvider(embedding_endpoint.url, "m", UNFITTED) as asked:
        await asked.agreement("Yes.", "No.")
    assert embedding_endpoint.keys == [""]


@pytest.mark.parametrize(
    ("status", "body", "kind", "again"),
    [
        (401, {"error": {"message": f"Incorrect key {KEY}", "code": "invalid_api_key"}}, "key", False),
        (403, {"error": KEY}, "key", False),
        (404, {"detail": "Not Found"}, "model", False),
        (400, {"error": {"message": "This model's maximum context length is 8192 tokens"}}, "too_long", False),
        (400, {"error": {"message": "bad", "type": "invalid_request_error"}}, "refused", False),
        (408, {}, "timeout", True),
        (429, {"error": {"type": "requests", "code": "rate_limit_exceeded"}}, "rate_limit", True),
        (500, {"error": {"message": "oops"}}, "server", True),
        (502, None, "server", True),
        (504, None, "timeout", True),
        (200, {"error": {"message": "oops", "code": "server_error"}}, "server", True),
        (200, {"error": {"message": "oops", "code": 429}}, "rate_limit", True),
        (200, {"error": {"message": "oops", "code": 7}}, "protocol", False),
        (302, None, "protocol", False),
    ],
)
async def test_failures_are_told_apart_and_the_key_is_in_none(
    embedding_endpoint: EmbeddingEndpoint, status: int, body: object, kind: str, again: bool
) -> None:
    embedding_endpoint.next.append(Answer(status, "<html>" if body is None else json.dumps(body)))
    async with provider(embedding_endpoint) as asked:
        with pytest.raises(ProviderError) as raised:
            await asked.agreement("Yes.", "No.")
    assert (raised.value.kind, raised.value.again) == (kind, again)
    assert "hunter2" not in str(raised.value)
    assert raised.value.remedy
    assert embedding_endpoint.url in str(raised.value)


def vectors(*given: object) -> str:
    return json.dumps({"data": [{"index": place, "embedding": vector} for place, vector in enumerate(given)]})


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>",
        "[]",
        "{}",
        "[" * 100_000,
        '{"data": 3}',
        '{"data": [3, 4]}',
        vectors([1.0]),
        vectors([1.0], [1.0], [1.0]),
        vectors([1.0], []),
        vectors([1.0], ["1.0"]),
        vectors([1.0], [None]),
        vectors([1.0], "no base64"),
        vectors([1.0], [1e308]),
        vectors([1.0], [10**400]),
        vectors([1.0, 0.0], [1.0]),
        '{"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}',
        '{"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [NaN]}]}',
    ],
)
async def test_what_are_no_vectors_is_an_error(embedding_endpoint: EmbeddingEndpoint, body: str) -> None:
    embedding_endpoint.next.append(Answer(body=body))
    async with provider(embedding_endpoint) as asked:
        with pytest.raises(ProviderError) as raised:
            await asked.agreement("Yes.", "No.")
    assert (raised.value.kind, raised.value.again) == ("protocol", False)


async def test_packed_vectors_are_read(embedding_endpoint: EmbeddingEndpoint) -> None:
    packed = "AACAPwAAAAA="  # 1.0 and 0.0
    embedding_endpoint.next.append(Answer(body=vectors(packed, [1.0, 0.0])))
    async with provider(embedding_endpoint) as asked:
        assert (await asked.agreement("Yes.", "No.")).raw == pytest.approx(1)


async def test_the_time_that_the_endpoint_names_is_kept(embedding_endpoint: EmbeddingEndpoint) -> None:
    for when in ("7", "Wed, 21 Oct 2015 07:28:00 GMT", "soon"):
        embedding_endpoint.next.append(Answer(429, retry_after=when))
    named: list[float | None] = []
    async with provider(embedding_endpoint) as asked:
        for _ in range(3):
            with pytest.raises(ProviderError) as raised:
                await asked.agreement("Yes.", "No.")
            named.append(raised.value.retry_after)
    assert named == [7.0, 0.0, None]


async def test_an_endpoint_that_hangs_is_given_up(embedding_endpoint: EmbeddingEndpoint) -> None:
    embedding_endpoint.next.append(Answer(hang=True))
    async with provider(embedding_endpoint, timeout=0.2) as asked:
        with pytest.raises(ProviderError, match=r"within 0\.2 s") as raised:
            await asked.agreement("Yes.", "No.")
    assert (raised.value.kind, raised.value.again) == ("timeout", True)


async def test_an_endpoint_that_is_not_there_is_said_to_be_out_of_reach(embedding_endpoint: EmbeddingEndpoint) -> None:
    gone = provider(embedding_endpoint)
    embedding_endpoint.close()
    async with gone as asked:
        with pytest.raises(ProviderError, match="cannot be reached") as raised:
            await asked.agreement("Yes.", "No.")
    assert (raised.value.kind, raised.value.again) == ("unreachable", True)


async def test_a_proxy_of_no_use_is_told(
    embedding_endpoint: EmbeddingEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://me:hunter2@127.0.0.1:1")
    with pytest.raises(ProviderError, match=r"proxy or certificates for .* cannot be used") as raised:
        await provider(embedding_endpoint).__aenter__()
    assert (raised.value.kind, raised.value.again) == ("unreachable", False)
    assert "hunter2" not in str(raised.value)


async def test_an_endpoint_that_fails_for_good_is_replaced_by_words(
    embedding_endpoint: EmbeddingEndpoint,
) -> None:  # covers: S3-163
    embedding_endpoint.next.extend([Answer(503)] * 4)
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    async with Fallback(provider(embedding_endpoint), LexicalProvider(), sleep=wait) as asked:
        (words,) = await asked.supports(["Tickets cost twelve euros"], RESPONSE)
        (model,) = await asked.supports(["Tickets cost twelve euros"], RESPONSE)
    assert (words.similarity.fallback, model.similarity.fallback) == (True, False)
    assert len(waited) == 3
    assert waited[0] <= 1 < waited[1] <= 2 < waited[2] <= 4


# Fitting


def test_the_best_point_for_claims_has_the_highest_f1() -> None:
    fitted = best_f1([(0.9, True), (0.8, True), (0.6, False), (0.5, True), (0.1, False), (0.1, False)])
    assert fitted is not None
    assert fitted.point == pytest.approx(0.3)
    assert fitted.quality == pytest.approx(6 / 7)
    assert fitted.rows == 6


def test_the_best_point_for_answers_tells_most_apart() -> None:
    fitted = best_split([(0.9, True), (0.8, False), (0.7, True), (0.3, False), (0.3, False), (0.3, False)])
    assert fitted is not None
    assert fitted.point == pytest.approx(0.5)
    assert fitted.quality == pytest.approx((1 + 3 / 4) / 2)


def test_there_is_no_best_point_where_all_are_alike() -> None:
    assert best_f1([(0.0, True), (0.0, False)]) is None
    assert best_split([(0.0, True), (0.0, False)]) is None


@pytest.mark.parametrize("labels", [(True, True), (False, False), ()])
def test_there_is_no_best_point_without_labels_of_both_kinds(labels: tuple[bool, ...]) -> None:
    assert best_f1([(0.5, label) for label in labels]) is None


def test_fitted_points_are_kept_in_a_file_that_the_settings_name(
    embedding_endpoint: EmbeddingEndpoint, tmp_path: Path
) -> None:
    claims, answers, out = tmp_path / "claims.jsonl", tmp_path / "answers.jsonl", tmp_path / "points.json"
    row = {"response": RESPONSE, "claims": ["Tickets cost twelve euros", "Cats sing"], "labels": [True, False]}
    claims.write_text(json.dumps(row) + "\n")
    pair = {"reference": "Dogs wait outside.", "response": "Dogs wait outside."}
    rows = [pair | {"correct": True}, pair | {"response": "Cats sing.", "correct": False}]
    answers.write_text("\n".join(map(json.dumps, rows)))
    guess = {"claims": 0.4, "agreement": 0.4}
    out.write_text(json.dumps({"local:other": guess, "hybrid:m": guess, "endpoint:m": guess | {"passages": 0.3}}))
    code = "from ralph_grounding.similarity.fit import main; raise SystemExit(main())"
    where = ["--url", embedding_endpoint.url, "--claims", str(claims), "--answers", str(answers), "--out", str(out)]
    command = [sys.executable, "-c", code, "endpoint", "m", *where]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["provider"], told["claims_f1"], told["answers_balanced"], told["rows"]) == ("endpoint:m", 1, 1, 4)
    points = json.loads(out.read_text())
    assert points["local:other"] == {"claims": 0.4, "agreement": 0.4, "rows": 0}
    assert (points["endpoint:m"]["claims"], points["endpoint:m"]["passages"]) == (told["claims"], 0.3)
    assert "hybrid:m" not in points  # it was fitted with other points of the model
    given = {"similarity": "endpoint", "embedding_model": "m", "url": embedding_endpoint.url, "calibration": str(out)}
    assert provider_for(ProviderSettings.model_validate(given)).name == "endpoint:m"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"response": "Yes.", "claims": ["One."], "labels": []}', "Line 1 of .*1 claims have 0 labels"),
        ("{", "Line 1 of "),
        ("", "no labelled data"),
    ],
)
def test_labels_that_cannot_be_used_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, problem: str
) -> None:
    claims = tmp_path / "claims.jsonl"
    claims.write_text(line)
    asked = ["endpoint", "m", "--url", "http://127.0.0.1:1/v1", "--claims", str(claims)]
    assert main([*asked, "--out", str(tmp_path / "points.json")]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert re.search(problem, said)


def test_a_key_that_is_not_there_is_told(embedding_endpoint: EmbeddingEndpoint, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ralph_grounding.similarity.fit", "endpoint", "m", "--url", embedding_endpoint.url]
    command += ["--key-variable", "NO_SUCH_KEY", "--out", str(tmp_path / "points.json")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=50)
    assert (done.returncode, embedding_endpoint.asked) == (2, [])
    assert "no variable NO_SUCH_KEY" in done.stderr

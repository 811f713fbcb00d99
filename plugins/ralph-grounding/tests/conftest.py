"""Stores on a real database, files that are refused, and the command in a folder about a museum."""

import io
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ralph.cli import main
from ralph.errors import UsageError

PAGE = """# Lantern Museum

The Lantern Museum opens at nine in the morning. A ticket costs 12 euros.

## Dogs

Dogs are not allowed inside.
"""
CLAIMS = """
- The museum opens at nine in the morning.
- A ticket costs 12 euros.
- statement: Dogs are not allowed inside.
  importance: optional
"""
ANSWER = (
    "The museum opens at nine in the morning. A ticket costs 15 euros. It was once a lighthouse.\n"
    "See https://lantern.example/visit.\n"
)
QUERIES = """
- id: open
  text: When does it open?
  domain: lantern.example
  expected: {text: It opens at nine in the morning., claims: [The museum opens at nine in the morning.]}
- id: cost
  text: What does it cost?
  domain: lantern.example
  expected: {text: A ticket costs 12 euros., claims: [A ticket costs 12 euros.]}
"""


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of the test's own that is not there yet: a file, and a schema on the server."""
    if request.param == "sqlite":
        return str(tmp_path / "new" / "grounding.db")
    return request.getfixturevalue("postgres_url")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def shared_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new store for tests with several processes; those on PostgreSQL take long."""
    if request.param == "sqlite":
        return str(tmp_path / "new" / "grounding.db")
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[Callable[[Path], object], str, str, str], None]:
    """Reads a file of such a name and text, which has to be refused in words that name it and say what to do."""

    def refuse(read: Callable[[Path], object], name: str, text: str, said: str) -> None:
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(UsageError, match=said) as raised:
            read(path)
        assert str(path) in str(raised.value)
        assert raised.value.remedy

    return refuse


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def museum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files to work on, and a state folder of the test's own."""
    for kind in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    for name in [name for name in os.environ if name.startswith("RALPH_")]:
        monkeypatch.delenv(name)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for name, text in {
        "page.md": PAGE, "claims.yaml": CLAIMS, "answer.txt": ANSWER, "queries.yaml": QUERIES, "right.txt": PAGE
    }.items():  # fmt: skip
        (here / name).write_text(text, encoding="utf-8")
    return here


@pytest.fixture
def ralph(museum: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Calls `ralph` in this process and returns what it printed."""

    def call(*words: str, stdin: str | bytes = b"") -> Ran:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
        monkeypatch.setattr("sys.argv", ["ralph", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ran(ended.value.code, printed.out, printed.err)

    return call


@pytest.fixture
def score(ralph: Callable[..., Ran]) -> Callable[..., Ran]:
    """Calls `ralph score` in this process and returns what it printed."""
    return partial(ralph, "score")


def _response(query: str, text: str, provider: str, model: str) -> str:
    return json.dumps({"query_id": query, "response": text, "provider": provider, "model": model})


@pytest.fixture
def run(score: Callable[..., Ran]) -> str:
    """A run with two providers, one query of each well answered."""
    lines = [
        _response("open", "It opens at nine in the morning, says lantern.example.", "acme", "a1"),
        _response("cost", "A ticket costs 15 euros.", "acme", "a1"),
        _response("open", "The museum opens at noon.", "other", "o1"),
        _response("cost", "A ticket costs 12 euros.", "other", "o1"),
    ]
    Path("responses.jsonl").write_text("\n".join(lines))
    ran = score("batch", "--queries", "queries.yaml", "--responses", "responses.jsonl", "-g", "page.md", "--json")
    assert ran.code == 0, ran.err
    return ran.json["run_id"]

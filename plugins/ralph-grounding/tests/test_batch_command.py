"""`ralph score batch --ask` in a process of its own, against an endpoint on loopback: failing, killed, continued."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.testing import Fail, Hang, ModelRequest, ModelServer, Say, Step, wait_until
from ralph_grounding import open_grounding_store
from ralph_grounding.filters import Condition
from ralph_grounding.store.records import BatchError, GroundingRun, ScoreRow

COUNT, FAILING = 200, 10


def endpoint(request: ModelRequest) -> Step:
    """It will not answer the first ten questions."""
    number = int(request.prompt.split()[1])
    return Fail(400) if number < FAILING else Say(f"The answer to question {number} is {number * 3}.")


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    file = tmp_path / "queries.json"
    entries = [
        {
            "id": f"q{number}",
            "text": f"Question {number} ?",
            "expected": {
                "text": f"It is {number * 3}.",
                "claims": [f"The answer to question {number} is {number * 3}."],
            },
        }
        for number in range(COUNT)
    ]
    file.write_text(json.dumps(entries))
    return file


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which nothing of the user's is read or written."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RALPH_")}
    folders = {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
    return {**kept, **folders, "NO_COLOR": "1"}


def asking(server: ModelServer) -> dict[str, str]:
    return {
        "RALPH_PLUGINS__GROUNDING__ANSWERS__URL": server.base_url,
        "RALPH_PLUGINS__GROUNDING__ANSWERS__MODEL": "m",
        "RALPH_PLUGINS__GROUNDING__ANSWERS__API_KEY": "sk-hunter2hunter2",
    }


def begun(words: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    command = (sys.executable, "-m", "ralph", "score", "batch", *words)
    return subprocess.Popen(
        command,
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


async def stored(url: str) -> tuple[GroundingRun, list[ScoreRow], list[BatchError]]:
    """The only run of a store, its scores and its failures."""
    async with open_grounding_store(url) as store:
        (run,) = await store.runs()
        rows = [row async for row in store.scores([Condition("run", "=", run.id)])]
        return run, rows, await store.failures(run.id)


def asked_for(server: ModelServer) -> Counter[str]:
    """How often the endpoint was asked for each query."""
    return Counter(f"q{request.prompt.split()[1]}" for request in server.requests)


# covers: S3-154, S3-158
@pytest.mark.timeout(120)
def test_a_batch_of_200_with_10_failures_is_killed_and_continued_and_loses_nothing(
    shared_store_url: str, queries: Path, environment: dict[str, str], score: Callable[..., Any]
) -> None:
    store_url = shared_store_url
    with ModelServer(endpoint) as server:
        environment |= asking(server)
        words = ["--ask", "--queries", str(queries), "--store", store_url, "--jsonl"]
        with begun(words, environment) as killed:
            assert killed.stdout
            heard = [json.loads(killed.stdout.readline()) for _ in range(60)]
            killed.send_signal(signal.SIGKILL)
            killed.communicate()
        before = asked_for(server)
        run, rows, _ = anyio.run(stored, store_url)
        kept = {row.query_id for row in rows}
        assert (run.status, run.total) == ("interrupted", COUNT)
        command = f"ralph score batch --continue {run.id} --store {shlex.quote(re.sub(':[^:@/]*@', '@', store_url))}"
        said = f"Run {run.id} was interrupted. Continue it: {command}"
        for words in (["history"], ["show", rows[0].id]):
            assert score(*words, "--store", store_url).out.splitlines()[-1] == said
        (listed,) = score("history", "--json", "--store", store_url).json
        assert listed["status"] == "interrupted"
        assert {line["query_id"] for line in heard if "id" in line} <= kept
        assert len(kept) < COUNT - FAILING

        with begun(["--continue", run.id, "--store", store_url, "--json"], environment) as continued:
            out, err = continued.communicate(timeout=60)
        assert continued.returncode == 1, err
        later = asked_for(server) - before
    ended = json.loads(out)
    assert (ended["total"], ended["succeeded"], ended["failed"]) == (COUNT, COUNT - FAILING, FAILING)
    assert sorted(error["query_id"] for error in ended["errors"]) == sorted(f"q{number}" for number in range(FAILING))
    assert all("400" in error["error"] for error in ended["errors"])
    assert not kept & later.keys(), "what is kept is not asked for again"
    assert set(later.values()) == {1}
    run, rows, failures = anyio.run(stored, store_url)
    assert (run.status, run.total, run.succeeded, run.failed) == ("completed", COUNT, COUNT - FAILING, FAILING)
    assert Counter(row.query_id for row in rows) == Counter(f"q{number}" for number in range(FAILING, COUNT))
    assert {row.completeness for row in rows} == {100}
    assert len(failures) == FAILING
    assert "hunter2" not in out + err + json.dumps(run.model_dump(mode="json"))


@pytest.mark.long
@pytest.mark.timeout(60)
def test_a_signal_ends_a_batch_in_good_order_and_says_how_to_go_on(
    tmp_path: Path, queries: Path, environment: dict[str, str], score: Callable[..., Any]
) -> None:
    def few(request: ModelRequest) -> Step:
        return Say("Three.") if int(request.prompt.split()[1]) < 20 else Hang()

    store = str(tmp_path / "grounding.db")
    with ModelServer(few) as server:
        environment |= asking(server)
        with begun(["--ask", "--queries", str(queries), "--store", store, "--jsonl"], environment) as process:
            assert process.stdout
            for _ in range(20):
                process.stdout.readline()
            wait_until(lambda: len(server.requests) > 20)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in err
    said, _, typed = err.splitlines()[-1].rpartition(": ")
    assert (said, typed.split()[:4]) == (
        "The run is incomplete. Continue it",
        ["ralph", "score", "batch", "--continue"],
    )
    run_id, *place = typed.split()[4:]
    assert place == ["--store", store]
    (kept,) = score("history", "--json", "--store", store).json
    assert (kept["id"], kept["status"], kept["succeeded"]) == (run_id, "cancelled", 20)


def test_a_key_that_is_not_accepted_ends_a_batch_at_once(
    queries: Path, score: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer([], then=Fail(401)) as server:
        for name, value in asking(server).items():
            monkeypatch.setenv(name, value)
        ran = score("batch", "--ask", "--queries", str(queries))
        assert len(server.requests) < 10
    assert (ran.code, ran.out) == (1, "")
    assert "Traceback" not in ran.err
    assert "401" in ran.err
    assert "hunter2" not in ran.out + ran.err


@pytest.mark.long
@pytest.mark.timeout(60)
def test_an_endpoint_that_goes_away_ends_a_batch_early_and_loses_nothing(
    tmp_path: Path, queries: Path, environment: dict[str, str], score: Callable[..., Any]
) -> None:
    store = str(tmp_path / "grounding.db")
    with ModelServer(lambda request: Say("Three.") if int(request.prompt.split()[1]) < 20 else Hang()) as server:
        url = server.base_url
        environment |= {**asking(server), "RALPH_PLUGINS__GROUNDING__ANSWERS__RETRIES": "0"}
        process = begun(["--ask", "--queries", str(queries), "--store", store], environment)
        wait_until(lambda: len(server.requests) > 20)
    with process:
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    assert "Traceback" not in err
    assert f"The last 5 queries all failed. {url} cannot be reached" in " ".join(err.split())
    (kept,) = score("history", "--json", "--store", store).json
    assert kept["status"] == "failed"
    assert kept["succeeded"] > 17
    assert kept["failed"] < 5
    assert f"The run is incomplete. Continue it: ralph score batch --continue {kept['id']} --store {store}" in err


PARROT = """
from ralph.plugins import Provider, hookimpl
from ralph.testing import ScriptedExecutor

@hookimpl
def ralph_executors():
    yield Provider("parrot", "says one thing", lambda _: ScriptedExecutor(["The answer to question 7 is 21."]))
"""


# covers: S3-148
def test_an_agent_answers_the_queries(museum: Path, queries: Path, ralph: Callable[..., Any]) -> None:
    """One of a plug-in in the folder, to which a run has agreed, through the same executors as a run's."""
    (museum / ".ralph").mkdir()
    (museum / ".ralph" / "plugin.py").write_text(PARROT)
    queries.write_text(json.dumps(json.loads(queries.read_text())[7:9]))
    ralph("run", "Say it.", "--trust", "--executor", "parrot", "--max-iterations", "1", "--verify", "none")
    ended = ralph("score", "batch", "--executor", "parrot", "--queries", str(queries), "--json")
    assert ended.code == 0, ended.err
    assert (ended.json["succeeded"], ended.json["failed"]) == (2, 0)
    assert ended.json["summary"]["completeness"]["mean"] == 50

"""The JSON API of `ralph serve` under schemathesis, which makes requests of its OpenAPI document."""

import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest

from ralph import Runner
from ralph.store import open_store
from ralph.testing import ScriptedExecutor, writes
from ralph.workspace import open_workspace

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

FUZZER = ("uv", "tool", "run", "--from", "schemathesis>=4.32,<5", "schemathesis")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"
"""That answers fit their schemas is shown in the unit tests: schemathesis reads no tuples of OpenAPI 3.1."""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """The environment of schemathesis, fetched once into the user's cache; without it the test is skipped."""
    if shutil.which("uv") is None:
        pytest.skip("uv is not installed")
    kept = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    fetched = subprocess.run((*FUZZER, "--version"), env=kept, capture_output=True, text=True, check=False, timeout=400)
    if fetched.returncode:
        if os.environ.get("CI"):
            pytest.fail(fetched.stderr)
        pytest.skip(f"schemathesis cannot be fetched: {fetched.stderr[-300:]}")
    return kept


async def make_run(folder: Path) -> None:
    workspace = folder / "workspace"
    workspace.mkdir()
    executor = ScriptedExecutor([writes("a.py", "one = 1\n", "Wrote <b>one</b> part."), "I cannot go on."])
    store = open_store(str(folder / "runs.db"))
    async with Runner(executor=executor, store=store, workspace=open_workspace(workspace)) as runner:
        await runner.run("Write all parts.")


def test_no_request_of_the_document_makes_the_server_fail(tmp_path: Path, environment: dict[str, str]) -> None:
    anyio.run(partial(make_run, tmp_path))
    words = (sys.executable, "-m", "ralph", "serve", "--port", "0", "--store", str(tmp_path / "runs.db"))
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        base, _, token = server.stdout.readline().split()[-1].partition("/login?token=")
        try:
            asks = ("run", f"{base}/api/openapi.json", "-H", f"Authorization: Bearer {token}", "--checks", CHECKS)
            most = ("--phases", "coverage,fuzzing", "--max-examples", "10", "--seed", "1", "--no-color")
            ended = subprocess.run(
                (*FUZZER, *asks, *most),
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=800,
            )
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)
    assert ended.returncode == 0, ended.stdout[-4_000:]
    assert "Tested: 11" in ended.stdout

"""Real agents for the tests: the scripted one beside this file, the Copilot CLI, and OpenCode from npm."""

import json
import os
import platform
import secrets
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from platformdirs import user_cache_path

from ralph.errors import ProvisionError
from ralph.executors.copilot.provision import provide_cli
from ralph_acp import AcpExecutor

OPENCODE = "1.18.33"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[..., AcpExecutor]:
    """An executor for the scripted agent; it is given the steps, and what the executor takes."""

    def make(*steps: list[Any], **options: Any) -> AcpExecutor:
        program = Path(__file__).with_name("scripted_agent.py")
        script = tmp_path / f"script-{secrets.token_hex(4)}.json"
        script.write_text(json.dumps(steps))
        return AcpExecutor(None, [sys.executable, str(program), str(script)], **options)

    return make


@pytest.fixture(scope="session")
def copilot() -> Path:
    """The Copilot CLI; without it the test is skipped with the reason, but in CI it fails."""
    try:
        return anyio.run(provide_cli).path
    except ProvisionError as error:
        return _missing(str(error))


@pytest.fixture(scope="session")
def opencode() -> Path:
    """OpenCode's native program; fetched once into the user's cache. What npm fetches, npm checks."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    name = f"opencode-{sys.platform}-{machine}"
    folder = user_cache_path("ralph") / "agents" / f"{name}-{OPENCODE}"
    if not folder.exists():
        try:
            _fetch(f"{name}@{OPENCODE}", folder)
        except (OSError, subprocess.SubprocessError) as error:
            return _missing(f"OpenCode could not be fetched: {error}")
    return folder / "opencode"


def _fetch(package: str, folder: Path) -> None:
    """Puts the program of a package into a folder, by one rename."""
    npm = shutil.which("npm")
    if npm is None:
        raise OSError("there is no npm on PATH")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as staging:
        command = [npm, "pack", package, "--ignore-scripts", "--loglevel=error", "--cache", f"{staging}/npm"]
        subprocess.run(command, cwd=staging, check=True, capture_output=True, timeout=600)
        with tarfile.open(next(Path(staging).glob("*.tgz"))) as archive:
            program = archive.extractfile("package/bin/opencode")
            assert program is not None
            (Path(staging) / "whole").mkdir()
            with (Path(staging) / "whole" / "opencode").open("wb") as file:
                shutil.copyfileobj(program, file)
        (Path(staging) / "whole" / "opencode").chmod(0o755)
        (Path(staging) / "whole").rename(folder)


def _missing(reason: str) -> Path:
    if os.environ.get("CI"):
        raise RuntimeError(reason)
    pytest.skip(reason)

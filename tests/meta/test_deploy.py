"""The files in deploy/ are valid, and use commands and options that exist."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from ralph.cli.fleet import app

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.mark.skipif(not os.environ.get("CI") and not shutil.which("systemd-analyze"), reason="there is no systemd")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "ralph-worker@.service"
    text = (DEPLOY / unit.name).read_text(encoding="utf-8")
    unit.write_text(text.replace("/usr/local/bin/ralph", sys.executable))
    argv = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=one", str(unit)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", [*DEPLOY.iterdir()], ids=lambda path: path.name)
def test_no_file_holds_a_secret(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for line in re.findall(r"(?:TOKEN|PASSWORD)\w*[=:][ ]*(\S*)", text):
        assert not line or line.startswith(("$", "…")), line


@pytest.mark.parametrize("path", [*DEPLOY.iterdir()], ids=lambda path: path.name)
def test_commands_and_options_exist(path: Path) -> None:
    text = re.sub(r'["\',\[\]]', " ", path.read_text(encoding="utf-8"))
    commands: Any = get_command(app)
    for command, rest in re.findall(r"fleet +(worker|submit)((?: +[^\n]*)?)", text):
        known = {option for each in commands.commands[command].params for option in each.opts}
        assert {word for word in rest.partition(" -- ")[0].split() if word.startswith("--")} <= known, path


def test_the_image_takes_no_repository_and_no_secret_from_the_clone() -> None:
    """Docker reads a file beside the recipe, podman .containerignore."""
    for path in (DEPLOY / "worker.Containerfile.dockerignore", DEPLOY.parent / ".containerignore"):
        assert {".git", ".venv", "**/.env*"} <= {*path.read_text(encoding="utf-8").splitlines()}


def test_the_compose_file_and_the_workflow_are_valid_yaml() -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert set(composed["services"]) == {"database", "worker"}
    assert composed["services"]["worker"]["stop_grace_period"] == "30m"
    assert "submit" in yaml.safe_load((DEPLOY / "github-submit.yml").read_text(encoding="utf-8"))["jobs"]


def _composes(*command: str) -> bool:
    return (
        shutil.which(command[0]) is not None
        and subprocess.run([*command, "version"], capture_output=True, check=False, timeout=60).returncode == 0
    )


@pytest.mark.skipif(not _composes("docker", "compose"), reason="there is no docker compose")
def test_docker_accepts_the_compose_file() -> None:
    argv = ["docker", "compose", "-f", str(DEPLOY / "compose.yaml"), "config", "--quiet"]
    env = {**os.environ, "POSTGRES_PASSWORD": "x"}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_image_and_the_workflow_name_extras_that_exist() -> None:
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in ("worker.Containerfile", "github-submit.yml"):
        for extras in re.findall(r"(?:/src|ralph-runtime)\[([\w,]+)\]", (DEPLOY / name).read_text(encoding="utf-8")):
            assert {*extras.split(",")} <= {*project["optional-dependencies"]}, name

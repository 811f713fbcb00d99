"""A real repository to do things to."""

import os
import subprocess
from pathlib import Path

import pytest

from ralph.testing import Repository
from ralph.workspace import Workspace, open_workspace


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "users-state"))
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "An Agent")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "agent@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture
def empty(tmp_path: Path) -> Repository:
    """A repository before its first commit."""
    return Repository.begin(tmp_path / "repo")


@pytest.fixture
def repo(empty: Repository) -> Repository:
    """A repository with two files in one commit."""
    empty.write("a.txt", "a\n")
    empty.write("src/b.txt", "b\n")
    empty.commit("first")
    return empty


@pytest.fixture
def workspace(repo: Repository, tmp_path: Path) -> Workspace:
    """The repository as Ralph sees it."""
    return open_workspace(repo.path, state_dir=tmp_path / "state")


@pytest.fixture
def own(workspace: Workspace) -> Repository:
    """Ralph's own repository for the workspace."""
    assert workspace.checkpoints
    workspace.checkpoints.folder.mkdir(parents=True, exist_ok=True)
    return Repository(workspace.checkpoints.folder)


@pytest.fixture
def submodule(repo: Repository, tmp_path: Path) -> Path:
    """The folder of a submodule, which is a clone of the repository itself."""
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "--quiet", str(repo.path), str(other)], check=True)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    repo.commit("submodule")
    return repo.path / "sub"

"""A real repository to do things to."""

import os
import subprocess
from pathlib import Path

import pytest


class Repo:
    """A repository and a shell in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def write(self, name: str | bytes, text: str) -> Path:
        path = self.path / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, message: str = "work") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "An Agent")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "agent@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture
def empty(tmp_path: Path) -> Repo:
    """A repository before its first commit."""
    path = tmp_path / "repo"
    path.mkdir()
    repo = Repo(path)
    repo.git("init", "--quiet", "--initial-branch", "main")
    return repo


@pytest.fixture
def repo(empty: Repo) -> Repo:
    """A repository with two files in one commit."""
    empty.write("a.txt", "a\n")
    empty.write("src/b.txt", "b\n")
    empty.commit("first")
    return empty


@pytest.fixture
def submodule(repo: Repo, tmp_path: Path) -> Path:
    """The folder of a submodule, which is a clone of the repository itself."""
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "--quiet", str(repo.path), str(other)], check=True)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    repo.commit("submodule")
    return repo.path / "sub"

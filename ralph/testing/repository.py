"""A real git repository to do things to."""

import os
import subprocess
from pathlib import Path
from typing import Self

__all__ = ["Repository"]

_SOMEBODY = ("-c", "user.name=t", "-c", "user.email=t@localhost")


class Repository:
    """A repository and a shell in it. Commits are somebody's, unless GIT_AUTHOR_NAME and its like say whose."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def begin(cls, path: Path) -> Self:
        """A new one in a folder, which is made where missing; its branch is `main`, without a commit."""
        path.mkdir(parents=True, exist_ok=True)
        repository = cls(path)
        repository.git("init", "--quiet", "--initial-branch", "main")
        return repository

    def git(self, *arguments: str) -> str:
        """What git prints. Raises `subprocess.CalledProcessError` where it fails."""
        argv = ["git", *_SOMEBODY, *arguments]
        return subprocess.run(argv, cwd=self.path, capture_output=True, text=True, check=True).stdout.strip()

    def write(self, name: str | bytes, text: str) -> Path:
        """A file of that name below the repository."""
        path = self.path / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, message: str = "work") -> str:
        """Commits all that is there, if anything is; the commit's id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")
